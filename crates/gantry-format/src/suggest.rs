//! Words for messages: the nearest known name, and short forms of long texts.

pub use gantry_core::suggest::nearest;

/// A text quoted in a message is cut after this many characters.
const QUOTE_CHARS_MAX: usize = 60;

/// Returns a text cut to what a message can show.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(QUOTE_CHARS_MAX) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_for_a_message() {
        assert_eq!(shorten(&"a".repeat(1 << 20)).chars().count(), QUOTE_CHARS_MAX + 1);
        assert_eq!(shorten("short"), "short");
    }
}
