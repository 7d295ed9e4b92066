//! Bytes as text: whole characters only, and what is no text is made visible.

use std::fmt::Write;

/// Reads bytes as text. What is not UTF-8, and the byte zero (which databases refuse), becomes `\xNN`.
pub(crate) fn visible(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for part in chunk.valid().split_inclusive('\0') {
            match part.strip_suffix('\0') {
                Some(before) => {
                    text.push_str(before);
                    text.push_str("\\x00");
                }
                None => text.push_str(part),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}"); // writing to a text cannot fail
        }
    }
    text
}

/// How many bytes at the end may be the beginning of a character whose rest has not come yet.
pub(crate) fn unfinished(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    for (index, byte) in tail.iter().enumerate().rev() {
        let needs = match byte {
            0x80..=0xBF => continue,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => return 0,
        };
        let has = tail.len() - index;
        let begun = std::str::from_utf8(&tail[index..]).is_err_and(|error| error.error_len().is_none());
        return if has < needs && begun { has } else { 0 };
    }
    0
}

/// The beginning and the end of a text that is too long, with a word on what is missing between them.
pub(crate) fn middle_cut(text: &str, chars_max: usize) -> String {
    let count = text.chars().count();
    if count <= chars_max {
        return text.to_owned();
    }
    let half = chars_max / 2;
    let begin: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{begin}\n[left out: {} characters]\n{end}", count - 2 * half)
}

/// Makes text out of pieces that may end within a character.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    /// Returns what can be read by now.
    pub(crate) fn read(&mut self, piece: &[u8]) -> String {
        self.held.extend_from_slice(piece);
        let whole = self.held.len() - unfinished(&self.held);
        let rest = self.held.split_off(whole);
        visible(&std::mem::replace(&mut self.held, rest))
    }

    /// Returns what is left at the end.
    pub(crate) fn finish(&mut self) -> String {
        visible(&std::mem::take(&mut self.held))
    }
}

/// The end of some bytes as text, beginning with a whole character.
pub(crate) fn tail(bytes: &[u8], bytes_max: usize) -> String {
    let mut start = bytes.len().saturating_sub(bytes_max);
    if start > 0 {
        // At most three bytes continue a character that began before.
        let over = bytes[start..].iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
        start += over;
    }
    visible(&bytes[start..])
}

/// Shortens a text for a message, at a whole character.
pub(crate) fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_text_is_made_visible() {
        assert_eq!(visible(b"a\xffb\x00c"), "a\\xffb\\x00c");
        assert_eq!(visible("früh 🚀".as_bytes()), "früh 🚀");
    }

    #[test]
    fn a_tail_begins_with_a_whole_character() {
        let text = "äöü".as_bytes();
        assert_eq!(tail(text, 5), "öü");
        assert_eq!(tail(text, 6), "äöü");
        assert_eq!(tail("🚀🚀".as_bytes(), 7), "🚀");
    }

    proptest! {
        #[test]
        fn text_in_pieces_is_the_same_text(text in ".{0,60}", cuts in prop::collection::vec(0_usize..200, 0..8)) {
            prop_assume!(!text.contains('\0'));
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut decoder = Decoder::default();
            let mut read: String = cuts.windows(2).map(|pair| decoder.read(&bytes[pair[0]..pair[1]])).collect();
            read += &decoder.finish();
            prop_assert_eq!(read, text);
        }

        #[test]
        fn bytes_in_pieces_are_the_same_text(bytes in prop::collection::vec(any::<u8>(), 0..80), cut in 0_usize..80) {
            let cut = cut.min(bytes.len());
            let mut decoder = Decoder::default();
            let read = decoder.read(&bytes[..cut]) + &decoder.read(&bytes[cut..]) + &decoder.finish();
            prop_assert_eq!(read, visible(&bytes));
        }
    }
}
