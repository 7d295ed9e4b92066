//! Patterns of words: `(a|b c)`, `[a]`, `^word`, `{name}`, `{name+}`, `{name:1}`, `word*`.

use std::collections::{BTreeMap, BTreeSet};

use crate::words::hangul;

/// How many words of a message are looked at; what is behind them belongs to the last one.
const WORDS_MAX: usize = 4_000;

/// A message in words.
pub struct Words<'a> {
    text: &'a str,
    all: Vec<Word>,
}

struct Word {
    /// As it is compared: without what ends a sentence.
    bare: String,
    /// All of it, in small letters.
    whole: String,
    from: usize,
    to: usize,
    begins_line: bool,
}

impl Word {
    /// Tells whether it is what a pattern says.
    fn is(&self, wanted: &str) -> bool {
        match wanted.strip_suffix('*') {
            Some(begin) => self.bare.starts_with(begin),
            None => self.bare == wanted || self.whole == wanted,
        }
    }
}

/// What is quoted is one word, when it is on one line.
const QUOTES: [(char, char); 4] = [('"', '"'), ('“', '”'), ('«', '»'), ('`', '`')];

impl<'a> Words<'a> {
    /// The words of a message.
    pub fn of(text: &'a str) -> Self {
        let mut all: Vec<Word> = Vec::new();
        let (mut at, mut begins_line) = (0, true);
        while let Some(first) = text[at..].chars().next() {
            if first.is_whitespace() {
                begins_line |= first == '\n';
                at += first.len_utf8();
                continue;
            }
            if all.len() == WORDS_MAX {
                if let Some(last) = all.last_mut() {
                    last.to = text.trim_end().len();
                }
                break;
            }
            let from = at;
            at = quoted(text, from, first).unwrap_or_else(|| {
                let end = text[from..].find(char::is_whitespace).map_or(text.len(), |length| from + length);
                particle(&text[from..end]).map_or(end, |length| from + length)
            });
            let whole = text[from..at].to_lowercase();
            let bare = whole.trim_end_matches(['.', '?', '!', ',']).to_owned();
            all.push(Word { bare, whole, from, to: at, begins_line });
            begins_line = false;
        }
        Self { text, all }
    }

    /// Tells whether one of these is among them.
    pub fn any(&self, wanted: &[&String]) -> bool {
        self.all.iter().any(|word| wanted.iter().any(|wanted| word.is(wanted)))
    }

    /// The words from one to before another, without quotes around them.
    fn between(&self, from: usize, to: usize) -> String {
        let (first, last) = (&self.all[from], &self.all[to - 1]);
        let text = self.text[first.from..last.to].trim();
        let ends = |text: &'a str| {
            let plain = text.trim_end_matches(['.', '?', '!', ',']);
            QUOTES.iter().find_map(|(open, close)| {
                let inside = plain.strip_prefix(*open)?.strip_suffix(*close)?;
                (!inside.contains(*open) && !inside.contains(*close)).then_some(inside)
            })
        };
        ends(text).map_or_else(|| text.to_owned(), |inside| inside.trim().to_owned())
    }
}

/// The end of what is quoted from here, with what follows up to the next blank.
fn quoted(text: &str, from: usize, first: char) -> Option<usize> {
    let (_, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
    let line = text[from..].split('\n').next()?;
    // The quote that ends it stands before a blank or the end of the line, so that quotes inside stay inside.
    let inside = &line[first.len_utf8()..];
    let end = inside.char_indices().find(|(at, found)| {
        let behind = inside[at + found.len_utf8()..].trim_start_matches(['.', '?', '!', ',']);
        found == close && (behind.is_empty() || behind.starts_with(ends_quote))
    })?;
    let after = from + first.len_utf8() + end.0 + close.len_utf8();
    let rest = text[after..].find(ends_quote).map_or(text.len(), |length| after + length);
    Some(rest)
}

/// Tells whether what is quoted is over before this: a blank, or a Korean particle.
fn ends_quote(next: char) -> bool {
    next.is_whitespace() || hangul(next)
}

/// Where Hangul begins behind something else: Korean says `3번` and `작업 4를`, where the number is a word of its own.
fn particle(word: &str) -> Option<usize> {
    let mut letters = word.char_indices().peekable();
    while let Some((_, letter)) = letters.next() {
        let next = letters.peek().copied().filter(|(_, next)| hangul(*next));
        if let Some((at, _)) = next.filter(|_| letter.is_ascii_alphanumeric()) {
            return Some(at);
        }
    }
    None
}

enum Part {
    /// One of these, each a row of words; perhaps none of them.
    One { of: Vec<Vec<String>>, perhaps: bool, begins_line: bool },
    /// Words that are kept under a name.
    Kept { name: String, how: How },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Few,
    Many,
    Single,
}

/// A pattern of words.
pub struct Pattern(Vec<Part>);

impl Pattern {
    /// Reads a pattern.
    pub fn read(text: &str) -> Result<Self, String> {
        let (mut parts, mut rest) = (Vec::new(), text.trim());
        while let Some(first) = rest.chars().next() {
            let close = match first {
                '(' => Some(')'),
                '[' => Some(']'),
                '{' => Some('}'),
                _ => None,
            };
            let end = match close {
                Some(close) => rest.find(close).ok_or_else(|| format!("`{text}` has a `{first}` without its end"))? + 1,
                None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
            };
            let (part, behind) = rest.split_at(end);
            let inside = part.get(1..part.len().saturating_sub(1)).unwrap_or_default();
            let rows = |text: &str| -> Vec<Vec<String>> {
                text.split('|').map(|row| row.split_whitespace().map(str::to_lowercase).collect()).collect()
            };
            parts.push(match first {
                '(' | '[' => Part::One { of: rows(inside), perhaps: first == '[', begins_line: false },
                '{' => {
                    let (name, how) = match (inside.strip_suffix('+'), inside.strip_suffix(":1")) {
                        (Some(name), _) => (name, How::Many),
                        (_, Some(name)) => (name, How::Single),
                        _ => (inside, How::Few),
                    };
                    Part::Kept { name: name.to_owned(), how }
                }
                '^' => Part::One { of: rows(&part[1..]), perhaps: false, begins_line: true },
                _ => Part::One { of: rows(part), perhaps: false, begins_line: false },
            });
            rest = behind.trim_start();
        }
        Ok(Self(parts))
    }

    /// What is kept of a message that fits, all of it.
    pub fn fits(&self, words: &Words<'_>) -> Option<BTreeMap<String, String>> {
        let mut found = BTreeMap::new();
        let mut tried = BTreeSet::new();
        self.from(words, (0, 0), &mut tried, &mut found).then(|| {
            let kept = found.into_iter().filter(|(name, _)| name != "_");
            kept.map(|(name, (from, to))| {
                let text = words.between(from, to);
                // References and names are no sentences: what ends one is no part of them.
                let is_words = matches!(name.as_str(), "goal" | "words");
                let text = if is_words { text } else { text.trim_end_matches(['.', '?', '!', ',']).to_owned() };
                let text = if name == "plan" { text.trim_start_matches('#').to_owned() } else { text };
                (name, text)
            })
            .collect()
        })
    }

    /// Fits the parts from one on to the words from one on. What was tried in vain is not tried again.
    fn from(
        &self,
        words: &Words<'_>,
        (part, at): (usize, usize),
        tried: &mut BTreeSet<(usize, usize)>,
        found: &mut BTreeMap<String, (usize, usize)>,
    ) -> bool {
        let Some(now) = self.0.get(part) else { return at == words.all.len() };
        if !tried.insert((part, at)) {
            return false;
        }
        match now {
            Part::One { of, perhaps, begins_line } => {
                for row in of {
                    let there = words.all.get(at..at + row.len());
                    let same = |there: &[Word]| {
                        there.iter().zip(row).all(|(word, wanted)| word.is(wanted))
                            && (!begins_line || there.first().is_some_and(|word| word.begins_line))
                    };
                    if there.is_some_and(same) && self.from(words, (part + 1, at + row.len()), tried, found) {
                        return true;
                    }
                }
                *perhaps && self.from(words, (part + 1, at), tried, found)
            }
            Part::Kept { name, how } => {
                let left = words.all.len() - at;
                let mut lengths: Vec<usize> = match how {
                    How::Single => (1..=left.min(1)).collect(),
                    // What is thrown away may be nothing.
                    _ => (usize::from(name != "_")..=left).collect(),
                };
                if *how == How::Many {
                    lengths.reverse();
                }
                // Where a word has to follow, only the places before it are tried.
                let next = match self.0.get(part + 1) {
                    Some(Part::One { of, perhaps: false, .. }) => Some(of),
                    _ => None,
                };
                for length in lengths {
                    let could = next.is_none_or(|of| {
                        let word = words.all.get(at + length);
                        word.is_some_and(|word| of.iter().any(|row| row.first().is_none_or(|first| word.is(first))))
                    });
                    let ends = self.0.len() != part + 1 || length == left;
                    if could && ends && self.from(words, (part + 1, at + length), tried, found) {
                        found.insert(name.clone(), (at, at + length));
                        return true;
                    }
                }
                false
            }
        }
    }
}
