//! How plans are shown to people: the words, the times, the tables, and what to type next.

pub mod words; // in reading order
pub mod elapsed;
pub mod style;
pub mod table;
pub mod timeline;
pub mod next;
pub mod standing;
pub mod page;
pub mod json;

/// Makes text of tasks and people harmless for a terminal: control characters are shown, not obeyed.
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\t' => shown.push_str("    "),
            letter if letter.is_control() => shown.extend(letter.escape_default()),
            letter => shown.push(letter),
        }
    }
    shown
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
