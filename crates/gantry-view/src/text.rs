//! Texts of tasks and people, in one line, harmless and bounded.

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

/// The first line of a text, no longer than this many characters.
pub fn first_line(text: &str, chars_max: usize) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default().trim_end();
    let cut: String = line.chars().take(chars_max).collect();
    let whole = cut.len() == text.len();
    plain(&if whole { cut } else { format!("{}…", cut.trim_end()) })
}

/// `1 error`, `2 errors`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_passed_on() {
        assert_eq!(plain("a\u{1b}[2Jb\u{202e}c\u{2066}d\te"), r"a\u{1b}[2Jb\u{202e}c\u{2066}d    e");
    }
}
