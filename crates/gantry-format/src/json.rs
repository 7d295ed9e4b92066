//! JSON into nodes.
//!
//! RFC 8259 to the letter, with three refusals it leaves to us: keys that are used twice, texts
//! with half a surrogate pair, and numbers too large to be held. A byte order mark is skipped.
//! Written here because no JSON library keeps the place of every value.

use crate::diagnostic::Diagnostic;
use crate::node::{Key, Node, Span, Value};
use crate::number;
use crate::tree::{Builder, Parsed, Stop};

/// Reads a JSON document.
pub fn parse(source: &str) -> Parsed {
    let mut reader = Reader { source, offset: 0, builder: Builder::default(), closers: Vec::new() };
    let outcome = reader.document();
    reader.builder.finish(&outcome)
}

struct Reader<'a> {
    source: &'a str,
    offset: usize,
    builder: Builder,
    /// How each open collection will be closed.
    closers: Vec<u8>,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<(), Stop> {
        if self.source.starts_with('\u{feff}') {
            self.offset = '\u{feff}'.len_utf8();
        }
        self.value()?;
        while let Some(&closer) = self.closers.last() {
            self.next_part(closer)?;
        }
        self.space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("nothing more")),
        }
    }

    /// Reads one value; of a list or a map only the opening and the first part.
    fn value(&mut self) -> Result<(), Stop> {
        self.space();
        let start = self.offset;
        match self.peek() {
            Some(b'{') => {
                self.builder.open_map(Span::new(start, start + 1))?;
                self.offset += 1;
                self.closers.push(b'}');
                self.first_part(b'}')
            }
            Some(b'[') => {
                self.builder.open_seq(Span::new(start, start + 1))?;
                self.offset += 1;
                self.closers.push(b']');
                self.first_part(b']')
            }
            Some(b'"') => {
                let text = self.string()?;
                let span = Span::new(start, self.offset);
                self.builder.scalar(Node::text(span, text))
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'a'..=b'z') => self.word(),
            _ => Err(self.unexpected("a value")),
        }
    }

    /// Reads what follows `{` or `[`.
    fn first_part(&mut self, closer: u8) -> Result<(), Stop> {
        self.space();
        if self.peek() == Some(closer) {
            self.close();
            return Ok(());
        }
        self.part(closer)
    }

    /// Reads `,` and one more part of the innermost collection, or its end.
    fn next_part(&mut self, closer: u8) -> Result<(), Stop> {
        self.space();
        match self.peek() {
            Some(byte) if byte == closer => {
                self.close();
                Ok(())
            }
            Some(b',') => {
                let comma = self.offset;
                self.offset += 1;
                self.space();
                if self.peek() == Some(closer) {
                    return Err(self.builder.stop(
                        syntax("a comma before the end of a list or map")
                            .at(Span::new(comma, comma + 1))
                            .label("remove this comma"),
                    ));
                }
                self.part(closer)
            }
            _ => Err(self.unexpected(if closer == b'}' { "`,` or `}`" } else { "`,` or `]`" })),
        }
    }

    /// Reads an item of a list, or an entry of a map.
    ///
    /// It recurses through [`Reader::value`] only as deep as collections nest, which the builder
    /// bounds.
    fn part(&mut self, closer: u8) -> Result<(), Stop> {
        if closer == b'}' {
            let start = self.offset;
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let text = self.string()?;
            let span = Span::new(start, self.offset);
            self.builder.count(1, span)?;
            self.builder.key(Key { text, span });
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("`:`"));
            }
            self.offset += 1;
        }
        self.value()
    }

    fn close(&mut self) {
        self.offset += 1;
        self.closers.pop();
        if let Some(node) = self.builder.close(Some(self.offset)) {
            self.builder.place(node);
        }
    }

    fn word(&mut self) -> Result<(), Stop> {
        let rest = &self.source[self.offset..];
        let known = [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)];
        for (word, value) in known {
            let after = rest.as_bytes().get(word.len());
            if rest.starts_with(word) && !after.is_some_and(u8::is_ascii_alphanumeric) {
                let span = Span::new(self.offset, self.offset + word.len());
                self.offset = span.end;
                return self.builder.scalar(Node::new(span, value));
            }
        }
        Err(self.unexpected("a value"))
    }

    fn number(&mut self) -> Result<(), Stop> {
        let start = self.offset;
        if self.peek() == Some(b'-') {
            self.offset += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        if self.digits()? > 1 && leading_zero {
            self.offset = start;
            return Err(self.unexpected("a number without leading zeros"));
        }
        if self.peek() == Some(b'.') {
            self.offset += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.offset += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.offset += 1;
            }
            self.digits()?;
        }
        let span = Span::new(start, self.offset);
        let text = &self.source[span.range()];
        if number::is_not_finite(text) {
            self.builder.note(number::refusal(text, span));
            return self.builder.scalar(Node::new(span, Value::Null));
        }
        let value = Value::Number(text.to_owned());
        self.builder.scalar(Node::new(span, value))
    }

    /// Skips digits, at least one, and returns how many.
    fn digits(&mut self) -> Result<usize, Stop> {
        let start = self.offset;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.offset += 1;
        }
        if self.offset == start {
            return Err(self.unexpected("a digit"));
        }
        Ok(self.offset - start)
    }

    fn string(&mut self) -> Result<String, Stop> {
        let start = self.offset;
        self.offset += 1;
        let mut text = String::new();
        loop {
            let plain = self.source.as_bytes()[self.offset..]
                .iter()
                .position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20);
            let Some(plain) = plain else {
                return Err(self.builder.stop(
                    syntax("a text does not end").at(Span::new(start, self.source.len())).label("it starts here"),
                ));
            };
            text.push_str(&self.source[self.offset..self.offset + plain]);
            self.offset += plain;
            match self.peek() {
                Some(b'"') => {
                    self.offset += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => return Err(self.unexpected("`\"`; line breaks and tabs are written `\\n` and `\\t`")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Stop> {
        let start = self.offset;
        self.offset += 1;
        let letter = self.peek();
        self.offset += 1;
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => {
                self.offset = start;
                return Err(self.unexpected("one of the escapes JSON knows"));
            }
        })
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, Stop> {
        let first = self.hex(start)?;
        let code = if (0xd800..0xdc00).contains(&first) && self.source[self.offset..].starts_with("\\u") {
            self.offset += 2;
            let second = self.hex(start)?;
            if (0xdc00..0xe000).contains(&second) {
                0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            } else {
                first
            }
        } else {
            first
        };
        char::from_u32(code).ok_or_else(|| {
            self.builder.stop(
                syntax("half a surrogate pair is no character")
                    .at(Span::new(start, self.offset))
                    .label("this escape stands for nothing"),
            )
        })
    }

    fn hex(&mut self, start: usize) -> Result<u32, Stop> {
        let digits = self.source.get(self.offset..self.offset + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(code) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            self.offset = start;
            return Err(self.unexpected("four hexadecimal digits after `\\u`"));
        };
        self.offset += 4;
        Ok(code)
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.offset += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.offset).copied()
    }

    fn unexpected(&mut self, wanted: &str) -> Stop {
        let offset = self.source.floor_char_boundary(self.offset);
        let (found, length) = match self.source[offset..].chars().next() {
            Some(letter) => (format!("{letter:?}"), letter.len_utf8()),
            None => ("the end of the file".to_owned(), 0),
        };
        let hint = match self.source.as_bytes().get(offset) {
            Some(b'\'') => Some("JSON texts stand in double quotes".to_owned()),
            Some(b'/' | b'#') => Some("JSON has no comments".to_owned()),
            _ => None,
        };
        self.builder.stop(
            syntax(&format!("found {found}"))
                .at(Span::new(offset, offset + length))
                .label(format!("expected {wanted}"))
                .hint_opt(hint),
        )
    }
}

fn syntax(what: &str) -> Diagnostic {
    Diagnostic::error("file::syntax", format!("not valid JSON: {what}"))
}
