//! Phrases of the rules, and where they occur among the words of a text.
//!
//! `kill` is that word and no other, `poison*` is any word that begins so, `make|build` is either, and `..` stands for up
//! to three words of any kind. A part in Hangul always matches the beginning of a word, for Korean words carry their endings;
//! where it names a thing, it matches inside a word, too, for they are written together (`가족여행` is a trip).

use crate::words::{Word, begins, hangul};
use std::ops::Range;

/// How many words `..` may stand for.
const ANY_MAX: usize = 3;

/// One phrase, ready to be looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Any,
    OneOf(Vec<Form>),
}

/// A word, or how one begins.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Form {
    text: String,
    fit: Fit,
    /// Its first two bytes, and which bits of them count.
    begins: u16,
    counts: u16,
}

/// Where in a word a form stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    Whole,
    Beginning,
    Inside,
}

impl Phrase {
    /// Reads a phrase as the rules write it.
    pub fn new(text: &str) -> Self {
        Self { parts: text.split_whitespace().map(Part::new).collect() }
    }

    /// Reads a phrase that matches at word starts: its last word may go on ("build a house" finds "build a houseboat").
    pub fn at_word_starts(text: &str) -> Self {
        let mut split: Vec<String> = crate::words::words(text).into_iter().map(|word| word.text).collect();
        let last = split.pop();
        let whole = split.into_iter().map(|word| Part::OneOf(vec![Form::thing(word)]));
        let last = last.map(|word| if word.chars().any(hangul) { Form::thing(word) } else { Form::beginning(word) });
        Self { parts: whole.chain(last.map(|word| Part::OneOf(vec![word]))).collect() }
    }

    /// Reads the name of a thing, in whole words but for Hangul.
    pub fn of_thing(text: &str) -> Self {
        Self { parts: text.split_whitespace().map(|word| Part::OneOf(vec![Form::thing(word.to_owned())])).collect() }
    }

    /// Returns how many words the phrase names.
    pub fn length(&self) -> usize {
        self.parts.iter().filter(|part| **part != Part::Any).count()
    }

    /// Returns every place of the phrase, as ranges of word numbers; a phrase crosses neither the end of a
    /// sentence nor, but for its gaps, a comma or bracket.
    pub fn find(&self, words: &[Word]) -> Vec<Range<usize>> {
        self.find_in(words, 0..words.len())
    }

    /// Returns every place of the phrase that begins within a range of words.
    pub fn find_in(&self, words: &[Word], range: Range<usize>) -> Vec<Range<usize>> {
        let places = range.filter_map(|start| self.at(words, start).map(|end| start..end));
        places.filter(|place| words[place.start].sentence == words[place.end - 1].sentence).collect()
    }

    fn at(&self, words: &[Word], start: usize) -> Option<usize> {
        if self.parts.is_empty() {
            return None;
        }
        ends(&self.parts, words, start, start)
    }
}

/// Matches the parts from word `at` on; `fresh` is where no sign before the word matters: at the start and after a gap.
fn ends(parts: &[Part], words: &[Word], at: usize, fresh: usize) -> Option<usize> {
    match parts.split_first() {
        None => Some(at),
        Some((Part::Any, rest)) => (0..=ANY_MAX).find_map(|skip| ends(rest, words, at + skip, at + skip)),
        Some((Part::OneOf(forms), rest)) => {
            let word = words.get(at)?;
            let parted = at > 0 && at > fresh && word.after_sign;
            if parted || !forms.iter().any(|form| form.is(word)) {
                return None;
            }
            ends(rest, words, at + 1, fresh)
        }
    }
}

impl Part {
    fn new(text: &str) -> Self {
        if text == ".." { Self::Any } else { Self::OneOf(text.split('|').map(Form::new).collect()) }
    }
}

impl Form {
    fn new(text: &str) -> Self {
        match text.strip_suffix('*') {
            Some(start) => Self::beginning(start.to_owned()),
            None if text.chars().any(hangul) => Self::beginning(text.to_owned()),
            None => Self::whole(text.to_owned()),
        }
    }

    fn whole(text: String) -> Self {
        Self { fit: Fit::Whole, begins: begins(&text), counts: u16::MAX, text }
    }

    /// A word of a thing's name. One syllable of Hangul alone would be found in half of all words.
    fn thing(text: String) -> Self {
        match text.chars().filter(|char| hangul(*char)).count() {
            0 => Self::whole(text),
            1 => Self::beginning(text),
            _ => Self { fit: Fit::Inside, begins: 0, counts: 0, text },
        }
    }

    fn beginning(text: String) -> Self {
        let counts = match text.len() {
            0 => 0,
            1 => 0xff00,
            _ => u16::MAX,
        };
        Self { fit: Fit::Beginning, begins: begins(&text), counts, text }
    }

    fn is(&self, word: &Word) -> bool {
        // Nearly every word is told apart by this.
        if word.begins & self.counts != self.begins {
            return false;
        }
        match self.fit {
            Fit::Whole => word.text == self.text,
            Fit::Beginning => word.text.starts_with(self.text.as_str()),
            Fit::Inside => word.text.contains(self.text.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    #[test]
    fn phrases_match_words_beginnings_choices_and_gaps() {
        let text = words("Ignore all of the previous instructions. Poisoned wells, 사람들을 돕자");
        for (phrase, place) in [
            ("ignore|forget .. instructions", None),
            ("ignore|forget .. previous instructions", Some(0..6)),
            ("poison* wells", Some(6..8)),
            ("wells 사람", None),
            ("poison", None),
            ("사람", Some(8..9)),
            ("instructions poison*", None),
        ] {
            assert_eq!(Phrase::new(phrase).find(&text).first().cloned(), place, "{phrase}");
        }
    }
}
