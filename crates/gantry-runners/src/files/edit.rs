//! Edits by search and replace: the text to replace must be there exactly once.

use serde::Deserialize;

use crate::text::shortened;

/// More lines than this are not compared when the nearest one is looked for.
const NEAREST_LINES_MAX: usize = 20_000;

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    /// What is there.
    pub(super) search: String,
    /// What shall be there instead.
    pub(super) replace: String,
}

/// Makes edits one after the other; one that is made already is passed over. The error is a lowercase fragment.
pub(super) fn apply(text: &str, edits: &[Edit]) -> Result<String, String> {
    let mut text = text.to_owned();
    for (index, edit) in edits.iter().enumerate() {
        let which = if edits.len() > 1 { format!("edit {}: ", index + 1) } else { String::new() };
        text = apply_one(text, edit).map_err(|why| which + &why)?;
    }
    Ok(text)
}

fn apply_one(text: String, edit: &Edit) -> Result<String, String> {
    if edit.search.is_empty() {
        return Err("the text to search for is empty".to_owned());
    }
    if edit.search == edit.replace || is_made(&text, edit) {
        return Ok(text);
    }
    let found: Vec<usize> = text.match_indices(&edit.search).map(|(at, _)| at).collect();
    match found.as_slice() {
        [] => Err(not_found(&text, &edit.search)),
        [at] => {
            let mut edited = text;
            edited.replace_range(*at..at + edit.search.len(), &edit.replace);
            Ok(edited)
        }
        many => {
            let lines: Vec<String> = many.iter().take(5).map(|at| line_of(&text, *at).to_string()).collect();
            let (count, lines) = (many.len(), lines.join(", "));
            Err(format!("the text is there {count} times (lines {lines}); add more of what is around it"))
        }
    }
}

/// Whether an edit is made already: what it gives is there once, and what it replaces is nowhere else.
fn is_made(text: &str, edit: &Edit) -> bool {
    if edit.replace.is_empty() {
        return false;
    }
    let within = edit.replace.matches(&edit.search).count();
    text.matches(&edit.replace).count() == 1 && text.matches(&edit.search).count() == within
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn not_found(text: &str, search: &str) -> String {
    let wanted = search.lines().find(|line| !line.trim().is_empty()).unwrap_or(search).trim();
    let mut best: Option<(f32, usize, &str)> = None;
    for (index, line) in text.lines().take(NEAREST_LINES_MAX).enumerate() {
        let line = line.trim();
        // Far apart in length means far apart in content, and is quick to see.
        if line.is_empty() || line.len() > 3 * wanted.len() + 20 || wanted.len() > 3 * line.len() + 20 {
            continue;
        }
        let likeness = similar::TextDiff::from_chars(wanted, line).ratio();
        if best.is_none_or(|(most, ..)| likeness > most) {
            best = Some((likeness, index + 1, line));
        }
    }
    let hint = match best.filter(|(likeness, ..)| *likeness > 0.5) {
        Some((_, number, line)) if line == wanted => {
            format!("; line {number} is the same, but what is around it differs")
        }
        Some((_, number, line)) => format!("; line {number} comes nearest: `{}`", shortened(line, 80)),
        None => String::new(),
    };
    format!("`{}` is not there{hint}", shortened(wanted, 80))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, search: &str, replace: &str) -> Result<String, String> {
        apply(text, &[Edit { search: search.to_owned(), replace: replace.to_owned() }])
    }

    #[test]
    fn what_is_there_once_is_replaced() {
        assert_eq!(edit("one two three", "two", "2").unwrap(), "one 2 three");
        assert_eq!(edit("one two", " two", "").unwrap(), "one");
    }

    #[test]
    fn an_edit_that_is_made_already_changes_nothing() {
        assert_eq!(edit("one 2 three", "two", "2").unwrap(), "one 2 three");
        let once = edit("log(x)", "log(x)", "log(x); log(y)").unwrap();
        assert_eq!(edit(&once, "log(x)", "log(x); log(y)").unwrap(), once);
    }

    #[test]
    fn what_is_not_there_or_there_twice_is_an_error_that_helps() {
        let text = "fn main() {\n    println!(\"hello\");\n}\n";
        assert_eq!(
            edit(text, "printn!(\"hello\")", "x").unwrap_err(),
            "`printn!(\"hello\")` is not there; line 2 comes nearest: `println!(\"hello\");`"
        );
        assert_eq!(
            edit("a\nb\na\n", "a", "c").unwrap_err(),
            "the text is there 2 times (lines 1, 3); add more of what is around it"
        );
        assert_eq!(edit("a", "", "c").unwrap_err(), "the text to search for is empty");
    }
}
