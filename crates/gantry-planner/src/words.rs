//! The words of a text: lower case, with the place of each and the sentence it stands in.
//!
//! Hyphens part words ("black-ops" is two words), apostrophes and dots between digits do not ("women's", "3.14.3").
//! Signs that cannot be seen, such as a zero-width space, are skipped, so that nobody can hide a word with them.

use std::ops::Range;

/// One word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The word in lower case.
    pub text: String,
    /// Its first two bytes, to tell most other words from it at a glance.
    pub begins: u16,
    /// Where it stands in the text, in bytes.
    pub range: Range<usize>,
    /// The number of its sentence, from 0.
    pub sentence: usize,
    /// Whether a comma, colon, bracket or other sign (but no hyphen or quote) stands between this word and the one before.
    pub after_sign: bool,
}

/// Words before which a full stop does not end a sentence.
const ABBREVIATIONS: [&str; 12] = ["e.g", "i.e", "approx", "dr", "mr", "mrs", "st", "no", "vs", "incl", "etc", "prof"];

/// Splits a text into its words.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut found: Vec<Word> = Vec::new();
    let mut sentence = 0;
    let mut after_sign = false;
    let mut at = 0;
    while let Some(&(start, char)) = chars.get(at) {
        if char.is_alphanumeric() {
            let end = end_of_word(&chars, at);
            let end_byte = chars.get(end).map_or(text.len(), |&(byte, _)| byte);
            let lower = chars[at..end].iter().filter(|(_, char)| !unseen(*char)).flat_map(|(_, char)| lower(*char));
            let text: String = lower.collect();
            found.push(Word { begins: begins(&text), text, range: start..end_byte, sentence, after_sign });
            after_sign = false;
            at = end;
            continue;
        }
        if ends_sentence(&chars, at, found.last()) && found.last().is_some_and(|word| word.sentence == sentence) {
            sentence += 1;
        }
        after_sign |= !char.is_whitespace()
            && !unseen(char)
            && !matches!(char, '-' | '‑' | '\'' | '’' | '‘' | '"' | '“' | '”' | '*' | '_');
        at += 1;
    }
    found
}

/// The first two bytes of a text; what is not there is zero.
pub(crate) fn begins(text: &str) -> u16 {
    let byte = |at: usize| text.as_bytes().get(at).copied().unwrap_or(0);
    u16::from_be_bytes([byte(0), byte(1)])
}

/// Returns whether a letter is Hangul.
pub(crate) fn hangul(char: char) -> bool {
    matches!(char, '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}')
}

/// Returns whether a letter belongs to a script that puts no spaces between words.
pub(crate) fn unspaced(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{0e00}'..='\u{0e7f}')
}

fn end_of_word(chars: &[(usize, char)], start: usize) -> usize {
    let mut at = start;
    while let Some(&(_, char)) = chars.get(at) {
        let before = at.checked_sub(1).map(|before| chars[before].1);
        let next = chars.get(at + 1).map(|&(_, next)| next);
        let inside = match char {
            '\'' | '’' => next.is_some_and(char::is_alphabetic),
            '.' | ',' => {
                before.is_some_and(|before| before.is_ascii_digit()) && next.is_some_and(|next| next.is_ascii_digit())
            }
            _ => char.is_alphanumeric() || unseen(char),
        };
        if !inside {
            break;
        }
        at += 1;
    }
    at
}

fn lower(char: char) -> impl Iterator<Item = char> {
    let char = if char == '’' { '\'' } else { char };
    char.to_lowercase()
}

fn unseen(char: char) -> bool {
    matches!(char, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

/// A full stop ends a sentence when a space follows and no abbreviation stands before it; a line ends one when the next
/// line is empty or begins an item of a list.
fn ends_sentence(chars: &[(usize, char)], at: usize, last: Option<&Word>) -> bool {
    let next = chars.get(at + 1).map(|&(_, next)| next);
    match chars[at].1 {
        '!' | '?' | ';' | '。' | '！' | '？' => true,
        '.' => {
            let abbreviated = last.is_some_and(|word| {
                ABBREVIATIONS.contains(&word.text.as_str()) || word.text.chars().count() == 1 && word.text != "i"
            });
            next.is_none_or(char::is_whitespace) && !abbreviated
        }
        '\n' => {
            let rest =
                chars[at + 1..].iter().map(|&(_, char)| char).find(|char| *char == '\n' || !char.is_whitespace());
            rest.is_none_or(|first| matches!(first, '\n' | '-' | '*' | '•' | '#' | '+') || first.is_ascii_digit())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for word in words(text) {
            match all.get_mut(word.sentence) {
                Some(line) => *line = format!("{line} {}", word.text),
                None => all.push(word.text),
            }
        }
        all
    }

    #[test]
    fn words_are_lower_case_and_sentences_are_counted() {
        let text = "Build a black-ops site, e.g. near Bonn. It's 3.5 km wide!\n- one\n- two";
        assert_eq!(sentences(text), ["build a black ops site e g near bonn", "it's 3.5 km wide", "one", "two"]);
    }

    #[test]
    fn a_word_split_by_signs_nobody_sees_is_one_word() {
        let found = words("ki\u{200b}ll time");
        assert_eq!(found[0].text, "kill");
        assert_eq!(found[0].range, 0..7);
    }

    #[test]
    fn hangul_words_keep_their_places() {
        let text = "집을 짓다. 끝";
        let found = words(text);
        assert_eq!(found.len(), 3);
        assert_eq!(&text[found[1].range.clone()], "짓다");
        assert_eq!(found[2].sentence, 1);
    }
}
