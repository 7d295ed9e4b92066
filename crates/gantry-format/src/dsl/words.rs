//! The words of a header line: bare, in quotes, or `name:value`.

use crate::diagnostic::Diagnostic;
use crate::node::{Key, Node, Span, Value};
use crate::number;

/// One word.
pub(super) struct Word {
    /// The text, without quotes.
    pub(super) text: String,
    /// Where it stands, with its quotes.
    pub(super) span: Span,
    /// Whether it begins with a quote.
    pub(super) quoted: bool,
    /// For `name:value`: how long the name is, and whether the value is in quotes.
    name: Option<(usize, bool)>,
}

/// Splits a line into words; a `#` after a space starts a comment.
pub(super) struct Words<'a> {
    text: &'a str,
    start: usize,
    at: usize,
}

impl<'a> Words<'a> {
    /// Makes words of a text that starts at this place of the source.
    pub(super) fn new(text: &'a str, start: usize) -> Self {
        Self { text, start, at: 0 }
    }
}

impl Iterator for Words<'_> {
    type Item = Result<Word, Box<Diagnostic>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.at += self.text[self.at..].len() - self.text[self.at..].trim_start().len();
        let begin = self.at;
        if self.text[begin..].is_empty() || self.text[begin..].starts_with('#') {
            return None;
        }
        let mut word = Word { text: String::new(), span: Span::default(), quoted: false, name: None };
        let mut letters = self.text[begin..].char_indices();
        let mut in_quotes = false;
        let mut end = self.text.len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' if in_quotes => in_quotes = false,
                '"' => {
                    in_quotes = true;
                    word.quoted |= at == 0;
                    if let Some((length, _)) = word.name.filter(|(length, _)| *length == word.text.len()) {
                        word.name = Some((length, true));
                    }
                }
                '\\' if in_quotes => word.text.extend(letters.next().map(|(_, escaped)| escaped)),
                ':' if !in_quotes && !word.quoted && word.name.is_none() && !word.text.is_empty() => {
                    word.name = Some((word.text.len(), false));
                }
                letter if letter.is_whitespace() && !in_quotes => {
                    end = begin + at;
                    break;
                }
                letter => word.text.push(letter),
            }
        }
        self.at = end;
        word.span = Span::new(self.start + begin, self.start + end);
        if in_quotes {
            self.at = self.text.len();
            let finding = Diagnostic::error("file::syntax", "a quote is not closed")
                .at(word.span)
                .label("it opens here")
                .hint("close it with `\"` on the same line");
            return Some(Err(Box::new(finding)));
        }
        Some(Ok(word))
    }
}

/// Splits `name:value` into a field.
pub(super) fn attribute(word: &Word) -> Option<(Key, Node)> {
    let (length, value_quoted) = word.name?;
    let (name, value) = word.text.split_at(length);
    let key = Key { text: name.to_owned(), span: Span::new(word.span.start, word.span.start + length) };
    let span = Span::new(key.span.end + 1, word.span.end);
    let value = if !value_quoted && number::is_yaml_number(value) && !number::is_not_finite(value) {
        Value::Number(value.to_owned())
    } else {
        Value::Str { text: value.to_owned(), plain: !value_quoted }
    };
    Some((key, Node::new(span, value)))
}
