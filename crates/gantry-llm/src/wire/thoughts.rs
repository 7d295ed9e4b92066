//! Parts the words of an answer from thoughts that stand between tags before them: not every server that lets models think
//! says which is which.

use crate::structured::THOUGHTS;

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The answer itself.
    Words(String),
    /// What the model thought before it.
    Thoughts(String),
}

/// Reads an answer piece by piece; a tag may come in pieces, too.
#[derive(Debug, Default)]
pub struct Thoughts {
    place: Place,
    /// What came last, and may be the beginning of a tag.
    held: String,
    /// Thoughts have ended: the space behind them belongs to nobody.
    ended: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Place {
    /// Nothing but space has come.
    #[default]
    Before,
    /// Between tags, of which this is the closing one.
    Within(&'static str),
    /// Words have come: a tag from now on is one of them.
    Words,
}

impl Thoughts {
    /// Takes the next piece, and gives what is known of it by now.
    pub fn read(&mut self, piece: String) -> Vec<Part> {
        if matches!(self.place, Place::Words) {
            return some(Part::Words, piece).into_iter().collect();
        }
        self.held += &piece;
        let mut parts = Vec::new();
        while self.step(&mut parts) {}
        parts
    }

    /// Nothing more comes: what was held back is what it looks like. Thoughts that were never closed stay thoughts.
    pub fn finish(&mut self) -> Vec<Part> {
        let held = std::mem::take(&mut self.held);
        let part = match self.place {
            Place::Within(_) => some(Part::Thoughts, held),
            Place::Before if self.ended && held.trim().is_empty() => None,
            Place::Before | Place::Words => some(Part::Words, held),
        };
        part.into_iter().collect()
    }

    /// Goes on to the next place; false when more has to come first.
    fn step(&mut self, parts: &mut Vec<Part>) -> bool {
        match self.place {
            Place::Before => {
                let begun = self.held.trim_start();
                let is = |open: &str| begun.get(..open.len()).is_some_and(|start| start.eq_ignore_ascii_case(open));
                if let Some((open, close)) = THOUGHTS.iter().find(|(open, _)| is(open)) {
                    self.held = begun[open.len()..].to_owned();
                    self.place = Place::Within(close);
                    return true;
                }
                let may_be =
                    |open: &str| open.get(..begun.len()).is_some_and(|start| start.eq_ignore_ascii_case(begun));
                if THOUGHTS.iter().any(|(open, _)| may_be(open)) {
                    return false;
                }
                let words = if self.ended { begun.to_owned() } else { self.held.clone() };
                self.held.clear();
                self.place = Place::Words;
                parts.extend(some(Part::Words, words));
                false
            }
            Place::Within(close) => {
                let end = self.held.find(close);
                let kept = end.map_or_else(|| longest_start(&self.held, close), |at| self.held.len() - at);
                let mut rest = self.held.split_off(self.held.len() - kept);
                if end.is_some() {
                    rest.drain(..close.len());
                    (self.place, self.ended) = (Place::Before, true);
                }
                parts.extend(some(Part::Thoughts, std::mem::replace(&mut self.held, rest)));
                end.is_some()
            }
            Place::Words => false,
        }
    }
}

fn some(part: impl FnOnce(String) -> Part, text: String) -> Option<Part> {
    (!text.is_empty()).then(|| part(text))
}

/// How many bytes at the end of a text may be the beginning of a tag.
fn longest_start(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|length| text.ends_with(&tag[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words and the thoughts of an answer that comes in pieces of so many characters.
    fn parted(text: &str, length: usize) -> (String, String) {
        let letters: Vec<char> = text.chars().collect();
        let mut thoughts = Thoughts::default();
        let mut parts: Vec<Part> =
            letters.chunks(length).flat_map(|piece| thoughts.read(piece.iter().collect())).collect();
        parts.extend(thoughts.finish());
        let (mut words, mut thought) = (String::new(), String::new());
        for part in parts {
            match part {
                Part::Words(piece) => words += &piece,
                Part::Thoughts(piece) => thought += &piece,
            }
        }
        (words, thought)
    }

    #[test]
    fn thoughts_before_an_answer_are_no_part_of_it_however_the_pieces_fall() {
        for (text, words, thoughts) in [
            ("<think>Hm, a < b.</think>\n\nFour.", "Four.", "Hm, a < b."),
            (" \n<Thinking>왜?</thinking> Four.", "Four.", "왜?"),
            ("<think></think><think>Hm.</think>Four.", "Four.", "Hm."),
            ("<think>Hm.</think>\n", "", "Hm."),
            ("<think>It never ends</th", "", "It never ends</th"),
            ("<b>Four</b> <think>no</think>", "<b>Four</b> <think>no</think>", ""),
            ("  Four.\n", "  Four.\n", ""),
            ("<thi", "<thi", ""),
            ("", "", ""),
        ] {
            for length in 1..=text.chars().count().max(1) {
                assert_eq!(parted(text, length), (words.to_owned(), thoughts.to_owned()), "{text:?} by {length}");
            }
        }
    }
}
