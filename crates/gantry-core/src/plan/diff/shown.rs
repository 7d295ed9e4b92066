//! A changed field as people read it. Whatever differs is shown in full; what is the same is shown as far as it helps
//! to find the place.

use std::fmt;

use serde_json::Value;

use super::FieldChange;

/// A value up to this long is shown in one piece.
const VALUE_CHARS_MAX: usize = 80;
/// How many characters that are the same are shown on each side of what differs.
const CONTEXT_CHARS: usize = 24;
/// How many lines.
const CONTEXT_LINES: usize = 1;

impl fmt::Display for FieldChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, before, after } = self;
        match (before, after) {
            (Some(Value::String(before)), Some(Value::String(after)))
                if before.contains('\n') || after.contains('\n') =>
            {
                f.write_str(field)?;
                lines(f, before, after)
            }
            (Some(before), Some(after)) => {
                let (before, after) = parts(&before.to_string(), &after.to_string());
                write!(f, "{field} {before} -> {after}")
            }
            (before, after) => write!(f, "{field} {} -> {}", whole(before.as_ref()), whole(after.as_ref())),
        }
    }
}

fn whole(value: Option<&Value>) -> String {
    value.map_or_else(|| "(not set)".to_owned(), Value::to_string)
}

/// How many items two lists have in common at their beginnings, and then at their ends.
fn in_common<T: PartialEq>(before: &[T], after: &[T]) -> (usize, usize) {
    let first = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let rest = before.len().min(after.len()) - first;
    let last = before.iter().rev().zip(after.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    (first, last)
}

/// Both values; of long ones the part that differs, in whole words, with some of what stands around it.
fn parts(before: &str, after: &str) -> (String, String) {
    let (before, after): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
    if before.len().max(after.len()) <= VALUE_CHARS_MAX {
        return (before.iter().collect(), after.iter().collect());
    }
    let (first, last) = in_common(&before, &after);
    let part = |value: &[char]| {
        let is_gap = |at: usize| value[at] == ' ';
        let mut from = first.saturating_sub(CONTEXT_CHARS);
        while from > 0 && !is_gap(from - 1) && first - from < 2 * CONTEXT_CHARS {
            from -= 1;
        }
        let end = value.len() - last;
        let mut to = (end + CONTEXT_CHARS).min(value.len());
        while to < value.len() && !is_gap(to) && to - end < 2 * CONTEXT_CHARS {
            to += 1;
        }
        let text: String = value[from..to].iter().collect();
        format!("{}{text}{}", if from > 0 { "…" } else { "" }, if to < value.len() { "…" } else { "" })
    };
    (part(&before), part(&after))
}

/// The lines that differ, with some of what stands around them.
fn lines(f: &mut fmt::Formatter<'_>, before: &str, after: &str) -> fmt::Result {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let (first, last) = in_common(&old, &new);
    let from = first.saturating_sub(CONTEXT_LINES);
    write!(f, " from line {}:", from + 1)?;
    old[from..first].iter().try_for_each(|line| write!(f, "\n      {line}"))?;
    old[first..old.len() - last].iter().try_for_each(|line| write!(f, "\n    - {line}"))?;
    new[first..new.len() - last].iter().try_for_each(|line| write!(f, "\n    + {line}"))?;
    new[new.len() - last..].iter().take(CONTEXT_LINES).try_for_each(|line| write!(f, "\n      {line}"))?;
    if old == new {
        write!(f, " only the end of the last line differs")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(before: &str, after: &str) -> String {
        FieldChange { field: "run".to_owned(), before: Some(json!(before)), after: Some(json!(after)) }.to_string()
    }

    #[test]
    fn what_differs_at_the_end_of_a_long_value_is_shown() {
        let same = "kubectl --context staging --namespace shop apply -f manifests/shop.yaml --wait --timeout 5m";
        assert_eq!(
            shown(&format!("{same} && echo one"), &format!("{same} && echo two; rm -rf data")),
            "run …--wait --timeout 5m && echo one\" -> …--wait --timeout 5m && echo two; rm -rf data\""
        );
    }

    #[test]
    fn everything_between_two_differences_is_shown() {
        let middle = "x".repeat(200);
        let told = shown(&format!("a{middle}b"), &format!("c{middle}d"));
        assert!(told.contains(&format!("a{middle}b")) && told.contains(&format!("c{middle}d")), "{told}");
    }

    #[test]
    fn a_text_of_several_lines_is_compared_line_by_line() {
        assert_eq!(
            shown("set -e\nmake\nmake test\nmake install\n", "set -e\nmake\nmake check\nmake install\n"),
            "run from line 2:\n      make\n    - make test\n    + make check\n      make install"
        );
    }
}
