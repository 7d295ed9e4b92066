//! How plans are shown to people: the words, the times, the tables, and what to type next.

pub mod words; // in reading order
pub mod elapsed;
pub mod style;
pub mod table;
pub mod parts;
pub mod timeline;
pub mod times;
pub mod next;
pub mod under_way;
pub mod forecast;
pub mod standing;
pub mod results;
pub mod shortfalls;
pub mod page;
pub mod json;

/// Tells whether the terminal can draw over what it has shown: dumb ones, and those that nobody names, cannot.
pub fn can_move_cursor() -> bool {
    std::env::var("TERM").is_ok_and(|term| !term.is_empty() && term != "dumb")
}

/// Keeps colours from a terminal that says it understands none, also where automation is known to show them (`CI`),
/// unless somebody insists.
pub fn spare_dumb_terminals() {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let insisted = std::env::var_os("CLICOLOR_FORCE").is_some_and(|force| force != "0");
    if dumb && !insisted {
        anstream::ColorChoice::Never.write_global();
    }
}

/// Makes text of tasks and people harmless for a terminal: control characters, and those that turn the direction of
/// writing, are shown, not obeyed.
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\t' => shown.push_str("    "),
            letter if letter.is_control() || turns_direction(letter) => shown.extend(letter.escape_default()),
            letter => shown.push(letter),
        }
    }
    shown
}

/// How much of a name that someone gave is shown.
const NAME_CHARS_MAX: usize = 100;

/// A name or path that someone gave, in one line of bounded length.
pub fn named(text: &str) -> String {
    let shown = plain(text);
    match shown.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

/// Marks, embeddings, overrides and isolates of the bidirectional algorithm, and the separators of lines.
fn turns_direction(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What stays on a line that was drawn over: a program that shows its progress goes back to the beginning with `\r`.
pub fn overwritten(line: &str) -> &str {
    let line = line.trim_end_matches(['\r', '\n']);
    line.rsplit_once('\r').map_or(line, |(_, last)| last)
}

/// A sentence without the colon that was meant for a reason that nobody gave.
pub fn without_empty_reason(text: &str) -> &str {
    text.trim_end().strip_suffix(':').unwrap_or(text)
}

/// What was taken back from the beginning on was taken back since nothing that has a name.
pub fn without_empty_name(text: &str) -> String {
    text.replace(" since ``", "")
}

/// `12 B`, `3.4 KiB`, `5.0 MiB`.
pub fn bytes(bytes: u64) -> String {
    const STEPS: [(u32, &str); 3] = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    for (shift, unit) in STEPS {
        if bytes >> shift > 0 {
            let tenths = (u128::from(bytes) * 10) >> shift;
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} B")
}

/// Lines, each with its end.
pub fn text_of(lines: Vec<String>) -> String {
    let mut text = lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// The first line of a text, no longer than this many characters.
pub fn first_line(text: &str, chars_max: usize) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default().trim_end();
    let cut: String = line.chars().take(chars_max).collect();
    let whole = cut.len() == text.len();
    plain(&if whole { cut } else { format!("{}…", cut.trim_end()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_passed_on() {
        assert_eq!(plain("a\u{1b}[2Jb\u{202e}c\u{2066}d\te"), r"a\u{1b}[2Jb\u{202e}c\u{2066}d    e");
    }

    #[test]
    fn of_a_progress_display_the_last_state_stays() {
        assert_eq!(overwritten("10%\r50%\r100%\r\n"), "100%");
        assert_eq!(overwritten("plain"), "plain");
    }
}
