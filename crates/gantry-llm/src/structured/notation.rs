//! Reads one JSON value, tolerating what models write instead of JSON as long as it can mean only one thing.
//!
//! Invariant: what is tolerated is noted ([`Mend`]), and what could mean two things is refused: no number, word or key is
//! invented, converted or dropped.
//! Invariant: reading takes time in proportion to the text, and no text makes it overflow the stack.

mod quoted; // in reading order
mod number;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use quoted::Quote;

/// How deep values may nest. Nobody means more, and recursion stays within the smallest stacks.
const DEPTH_MAX: usize = 100;

/// How many values one value may hold: more is no answer but a flood.
const VALUES_MAX: usize = 500_000;

/// A value, and what it took to read it.
#[derive(Debug)]
pub(super) struct Parsed {
    pub value: Value,
    pub mends: BTreeSet<Mend>,
    /// Where the text goes on.
    pub end: usize,
}

/// Why there is no value.
#[derive(Debug)]
pub(super) struct Broken {
    pub halt: Halt,
    /// Something of a value was there already, so that it is more than a bracket in a sentence.
    pub begun: bool,
    /// How far it was read.
    pub at: usize,
}

impl Broken {
    /// Says what is wrong with this text, and where. Made only for what is shown, as it counts lines.
    pub fn sentence(&self, text: &str) -> String {
        let what = match &self.halt {
            Halt::Limit(sentence) => return sentence.clone(),
            Halt::Wrong(what) => what,
            Halt::End => "the value is not closed",
        };
        let before = &text[..self.at];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let found = super::faults::excerpt(&text[self.at..], 24);
        let found = if found.is_empty() { String::new() } else { format!(", at `{found}`") };
        format!("The text is not JSON at line {line}, column {column}{found}: {what}.")
    }
}

/// What stopped the reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Halt {
    /// The text ends before the value does.
    End,
    /// Something is there that cannot be: what, as a part of a sentence.
    Wrong(String),
    /// A limit is passed, as a sentence; nothing else of this text is worth reading.
    Limit(String),
}

/// Something that is not JSON and means only one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mend {
    Spaces,
    Comments,
    TrailingCommas,
    MissingCommas,
    BareKeys,
    SingleQuotes,
    CurlyQuotes,
    RawBreaks,
    EscapedApostrophes,
    PythonWords,
    LooseNumbers,
    InText,
    EscapedText,
}

impl Mend {
    /// What was done, for the record.
    pub fn words(self) -> &'static str {
        match self {
            Self::Spaces => "unusual spaces",
            Self::Comments => "comments",
            Self::TrailingCommas => "trailing commas",
            Self::MissingCommas => "missing commas between lines",
            Self::BareKeys => "keys without quotes",
            Self::SingleQuotes => "single quotes",
            Self::CurlyQuotes => "curly quotes",
            Self::RawBreaks => "raw line breaks or tabs in texts",
            Self::EscapedApostrophes => "escaped apostrophes",
            Self::PythonWords => "True, False or None",
            Self::LooseNumbers => "numbers like .5 or +5",
            Self::InText => "a value written into a text",
            Self::EscapedText => "escaped quotes around keys",
        }
    }
}

/// Reads a text that is one value and nothing else.
pub(super) fn whole(text: &str) -> Result<Parsed, Broken> {
    let mut reader = Reader::at(text, 0);
    let read = reader.skip().and_then(|_| reader.value()).and_then(|value| {
        reader.skip()?;
        if reader.at < text.len() {
            return Err(wrong("there is more text after the value"));
        }
        Ok(value)
    });
    reader.finish(read)
}

/// Reads the value that begins at `start`, whatever comes after it.
pub(super) fn value_at(text: &str, start: usize) -> Result<Parsed, Broken> {
    let mut reader = Reader::at(text, start);
    let read = reader.value();
    reader.finish(read)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    values: usize,
    begun: bool,
    mends: BTreeSet<Mend>,
}

impl<'a> Reader<'a> {
    fn at(text: &'a str, at: usize) -> Self {
        Self { text, at, depth: 0, values: 0, begun: false, mends: BTreeSet::new() }
    }

    fn finish(self, read: Result<Value, Halt>) -> Result<Parsed, Broken> {
        match read {
            Ok(value) => Ok(Parsed { value, mends: self.mends, end: self.at }),
            Err(halt) => {
                // A bracket at the very end is the beginning of a value, unless a comment swallowed the rest.
                let begun = self.begun || (halt == Halt::End && !self.mends.contains(&Mend::Comments));
                Err(Broken { halt, begun, at: self.at })
            }
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.at += wanted.len_utf8();
        }
        there
    }

    /// Takes characters as long as they belong.
    fn run(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|letter| !belongs(letter)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Skips spaces and comments; tells whether there was a line break.
    fn skip(&mut self) -> Result<bool, Halt> {
        let mut broke = false;
        while let Some(letter) = self.peek() {
            match letter {
                ' ' | '\t' => self.at += 1,
                '\n' | '\r' => {
                    self.at += 1;
                    broke = true;
                }
                // `#fff` is no comment but a value that lacks its quotes.
                '#' if self.rest()[1..].starts_with([' ', '\t', '#', '!', '\n']) => broke |= self.comment(1, "\n")?,
                '/' => match self.rest().as_bytes().get(1) {
                    Some(b'/') => broke |= self.comment(2, "\n")?,
                    Some(b'*') => broke |= self.comment(2, "*/")?,
                    Some(_) => return Err(wrong("a slash stands outside of any text")),
                    None => return Err(Halt::End),
                },
                other if other.is_whitespace() || matches!(other, '\u{feff}' | '\u{200b}' | '\u{2060}') => {
                    self.at += other.len_utf8();
                    self.mends.insert(Mend::Spaces);
                }
                _ => break,
            }
        }
        Ok(broke)
    }

    /// Skips a comment, unless it says that something was left out.
    fn comment(&mut self, opening: usize, close: &str) -> Result<bool, Halt> {
        self.mends.insert(Mend::Comments);
        let body = &self.rest()[opening..];
        let Some(length) = body.find(close) else {
            if close == "\n" {
                self.at = self.text.len();
                return Ok(true);
            }
            self.at = self.text.len();
            return Err(Halt::End);
        };
        let words = &body[..length];
        if words.contains("...") || words.contains('…') {
            return Err(wrong("a comment stands for something that was left out; write everything"));
        }
        self.at += opening + length + close.len();
        Ok(close == "\n" || words.contains('\n'))
    }

    fn value(&mut self) -> Result<Value, Halt> {
        self.values += 1;
        if self.values > VALUES_MAX {
            return Err(Halt::Limit(format!("The answer holds more than {VALUES_MAX} values.")));
        }
        let Some(letter) = self.peek() else {
            return Err(Halt::End);
        };
        match letter {
            '{' => self.nested(Self::object),
            '[' => self.nested(Self::array),
            '.' | '…' if self.ellipsis() => Err(self.left_out()),
            '-' | '+' | '.' | '0'..='9' => self.number(),
            letter if letter.is_alphabetic() || letter == '_' => self.word(),
            letter => match Quote::of(letter) {
                Some(quote) => self.quoted(quote).map(Value::String),
                None => Err(wrong("a value was expected: a text in quotes, a number, true, false, null, `{` or `[`")),
            },
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, Halt>) -> Result<Value, Halt> {
        if self.depth == DEPTH_MAX {
            return Err(Halt::Limit(format!("The answer nests deeper than {DEPTH_MAX} levels.")));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Value, Halt> {
        let mut object = Map::new();
        loop {
            self.skip()?;
            if self.take('}') {
                return Ok(Value::Object(object));
            }
            let from = self.at;
            let key = self.key()?;
            self.skip()?;
            if !self.take(':') {
                return Err(self.end_or("`:` was expected after the key"));
            }
            self.begun = true;
            if object.contains_key(&key) {
                self.at = from;
                return Err(wrong("the same key stands in this object before"));
            }
            self.skip()?;
            let value = self.value()?;
            object.insert(key, value);
            let broke = self.skip()?;
            if self.take(',') {
                self.skip()?;
                if self.peek() == Some('}') {
                    self.mends.insert(Mend::TrailingCommas);
                }
            } else if broke && self.peek().is_some_and(begins_key) {
                // Unambiguous: only a key can stand here, and the colon after it is demanded above.
                self.mends.insert(Mend::MissingCommas);
            } else if self.peek() != Some('}') {
                return Err(self.end_or("`,` or `}` was expected"));
            }
        }
    }

    fn array(&mut self) -> Result<Value, Halt> {
        let mut array = Vec::new();
        loop {
            self.skip()?;
            if self.take(']') {
                return Ok(Value::Array(array));
            }
            let value = self.value()?;
            self.begun = true;
            let text_before = value.is_string();
            array.push(value);
            let broke = self.skip()?;
            if self.take(',') {
                self.skip()?;
                if self.peek() == Some(']') {
                    self.mends.insert(Mend::TrailingCommas);
                }
            } else if let Some(next) = self.peek().filter(|next| broke && begins_value(*next)) {
                // Two texts without a comma may be one text on two lines, as in Python.
                if text_before && Quote::of(next).is_some() {
                    return Err(wrong("`,` or `]` was expected after a text"));
                }
                self.mends.insert(Mend::MissingCommas);
            } else if self.peek() != Some(']') {
                return Err(self.end_or("`,` or `]` was expected"));
            }
        }
    }

    fn key(&mut self) -> Result<String, Halt> {
        let Some(letter) = self.peek() else {
            return Err(Halt::End);
        };
        if let Some(quote) = Quote::of(letter) {
            return self.quoted(quote);
        }
        if self.ellipsis() {
            return Err(self.left_out());
        }
        if !begins_key(letter) {
            return Err(wrong("a key in quotes was expected"));
        }
        let key = self.run(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '-'));
        if self.rest().is_empty() {
            return Err(Halt::End);
        }
        self.mends.insert(Mend::BareKeys);
        Ok(key.to_owned())
    }

    fn word(&mut self) -> Result<Value, Halt> {
        let from = self.at;
        let word = self.run(|letter| letter.is_alphanumeric() || letter == '_');
        if self.depth > 0 && self.rest().is_empty() {
            return Err(Halt::End);
        }
        let value = match word {
            "true" => return Ok(Value::Bool(true)),
            "false" => return Ok(Value::Bool(false)),
            "null" => return Ok(Value::Null),
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            "None" => Value::Null,
            other => {
                self.at = from;
                return Err(match other {
                    "NaN" | "nan" | "Infinity" | "inf" => {
                        wrong("this is no number; give a number, or null if that is allowed")
                    }
                    "undefined" => wrong("`undefined` is no value; give one, or null if that is allowed"),
                    _ => wrong("a text needs double quotes around it"),
                });
            }
        };
        self.mends.insert(Mend::PythonWords);
        Ok(value)
    }

    fn ellipsis(&self) -> bool {
        self.rest().starts_with("...") || self.rest().starts_with('…')
    }

    /// An ellipsis at the end of the text is a cut; one in the middle stands for something that we do not know.
    fn left_out(&self) -> Halt {
        let after = self.rest().trim_start_matches(['.', '…']);
        if after.trim().is_empty() {
            return Halt::End;
        }
        wrong("an ellipsis stands for something that was left out; write everything")
    }

    fn end_or(&self, what: &str) -> Halt {
        if self.rest().is_empty() {
            return Halt::End;
        }
        if self.ellipsis() {
            return self.left_out();
        }
        wrong(what)
    }
}

/// Something is there that cannot be; where is known from how far was read.
fn wrong(what: &str) -> Halt {
    Halt::Wrong(what.to_owned())
}

fn begins_key(letter: char) -> bool {
    letter.is_alphabetic() || matches!(letter, '_' | '$') || Quote::of(letter).is_some()
}

fn begins_value(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '{' | '[' | '-') || Quote::of(letter).is_some()
}
