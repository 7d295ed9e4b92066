//! Splits a source into tokens, each with its span.

use super::error::{Span, SyntaxError};
use super::hints;
use super::units::{parse_duration, parse_signed_duration, parse_size};
use super::value::Value;

/// The operators and brackets, longer ones before their beginnings.
const MARKS: [&str; 24] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ",", ".", "(", ")", "[", "]",
    "{", "}",
];

/// One token.
#[derive(Clone, Debug)]
pub(super) enum Token {
    /// A name or reserved word; its text is its span.
    Word,
    /// A whole number, still without the sign that may stand before it.
    Int(u64),
    /// Any other literal.
    Literal(Value),
    /// An operator or bracket.
    Mark(&'static str),
    /// The end of the source.
    End,
}

/// Splits a source into tokens. The last one is [`Token::End`].
pub(super) fn tokens(source: &str) -> Result<Vec<(Token, Span)>, Box<SyntaxError>> {
    let mut lexer = Lexer { source, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let start = lexer.at;
        let token = lexer.token()?;
        let last = matches!(token, Token::End);
        tokens.push((token, lexer.span_from(start)));
        if last {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.at }
    }

    fn skip_while(&mut self, keep: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !keep(c)).unwrap_or(rest.len());
    }

    /// Skips white space and comments, which go from `//` to the end of the line.
    fn skip_blanks(&mut self) {
        loop {
            self.skip_while(char::is_whitespace);
            if !self.rest().starts_with("//") {
                return;
            }
            self.skip_while(|c| c != '\n');
        }
    }

    fn token(&mut self) -> Result<Token, Box<SyntaxError>> {
        let start = self.at;
        let Some(first) = self.peek() else {
            return Ok(Token::End);
        };
        if first.is_ascii_digit() || self.at_leading_dot_number() {
            return self.number();
        }
        if first == '"' || first == '\'' {
            return self.text(start, Escapes::Read);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            return self.word();
        }
        if let Some((wrong, message, hint)) = hints::wrong_mark(self.rest()) {
            self.at += wrong.len();
            return Err(SyntaxError::boxed(self.span_from(start), message).hint(hint));
        }
        if let Some(mark) = MARKS.iter().find(|mark| self.rest().starts_with(**mark)) {
            self.at += mark.len();
            return Ok(Token::Mark(mark));
        }
        self.next();
        let shown = first.escape_debug();
        Err(SyntaxError::boxed(self.span_from(start), format!("unexpected character `{shown}`")))
    }

    fn at_leading_dot_number(&self) -> bool {
        let mut chars = self.rest().chars();
        chars.next() == Some('.') && chars.next().is_some_and(|c| c.is_ascii_digit())
    }

    /// Reads a name, or the prefix of a raw text.
    fn word(&mut self) -> Result<Token, Box<SyntaxError>> {
        let start = self.at;
        self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let word = &self.source[start..self.at];
        let quoted = matches!(self.peek(), Some('"' | '\''));
        if quoted && matches!(word, "r" | "R") {
            return self.text(start, Escapes::Keep);
        }
        if quoted && matches!(word, "b" | "B" | "br" | "bR" | "Br" | "BR") {
            return Err(SyntaxError::boxed(self.span_from(start), "byte literals are not part of the language")
                .hint("write the text without the `b`"));
        }
        Ok(Token::Word)
    }

    /// Reads a number, with its unit when one follows directly.
    fn number(&mut self) -> Result<Token, Box<SyntaxError>> {
        let start = self.at;
        if self.rest().starts_with("0x") || self.rest().starts_with("0X") {
            return self.hex_number();
        }
        self.skip_while(|c| c.is_ascii_digit());
        let fraction = self.at_leading_dot_number();
        if fraction {
            self.next();
            self.skip_while(|c| c.is_ascii_digit());
        }
        let exponent = self.skip_exponent();
        let number_end = self.at;
        self.skip_unit();
        let span = self.span_from(start);
        let number = &self.source[start..number_end];
        match &self.source[number_end..self.at] {
            "" if fraction || exponent => double(number, span),
            "" => int(number, 10, span).map(Token::Int),
            "u" | "U" if !fraction && !exponent => int(number, 10, span).map(|n| Token::Literal(Value::Uint(n))),
            unit => with_unit(&self.source[start..self.at], unit, span),
        }
    }

    fn hex_number(&mut self) -> Result<Token, Box<SyntaxError>> {
        let start = self.at;
        self.at += "0x".len();
        let digits_start = self.at;
        self.skip_while(|c| c.is_ascii_hexdigit());
        let digits_end = self.at;
        self.skip_while(|c| c.is_ascii_alphanumeric());
        let span = self.span_from(start);
        let digits = &self.source[digits_start..digits_end];
        match &self.source[digits_end..self.at] {
            "" if !digits.is_empty() => int(digits, 16, span).map(Token::Int),
            "u" | "U" if !digits.is_empty() => int(digits, 16, span).map(|n| Token::Literal(Value::Uint(n))),
            _ => Err(SyntaxError::boxed(span, "not a hexadecimal number")),
        }
    }

    /// Skips `e5` or `E-5`, and nothing when no digits follow.
    fn skip_exponent(&mut self) -> bool {
        let Some(after_e) = self.rest().strip_prefix(['e', 'E']) else {
            return false;
        };
        let digits = after_e.strip_prefix(['+', '-']).unwrap_or(after_e);
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return false;
        }
        self.at = self.source.len() - digits.len();
        self.skip_while(|c| c.is_ascii_digit());
        true
    }

    /// Skips what directly follows a number: `MB`, `h30m`, `h1.5m`.
    fn skip_unit(&mut self) {
        let unit_char = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == 'µ';
        if !self.peek().is_some_and(unit_char) {
            return;
        }
        loop {
            self.skip_while(unit_char);
            if !self.at_leading_dot_number() {
                return;
            }
            self.next();
        }
    }

    /// Reads a text in one or three quotes of either kind.
    fn text(&mut self, start: usize, escapes: Escapes) -> Result<Token, Box<SyntaxError>> {
        let rest = self.rest();
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote)).unwrap_or("\"");
        self.at += quote.len();
        let mut text = String::new();
        loop {
            if self.rest().starts_with(quote) {
                self.at += quote.len();
                return Ok(Token::Literal(Value::text(&text)));
            }
            let at = self.at;
            match self.next() {
                Some('\\') if escapes == Escapes::Read => text.push(self.escape(at)?),
                Some('\n' | '\r') if quote.len() == 1 => {
                    return Err(unclosed(start).hint("use three quotes for several lines"));
                }
                Some(other) => text.push(other),
                None => return Err(unclosed(start).hint(format!("close it with `{quote}`"))),
            }
        }
    }

    /// Reads the escape of which the backslash, at `start`, is already consumed.
    fn escape(&mut self, start: usize) -> Result<char, Box<SyntaxError>> {
        let kind = self.next();
        let code = match kind {
            Some('a') => Some(7),
            Some('b') => Some(8),
            Some('t') => Some(9),
            Some('n') => Some(10),
            Some('v') => Some(11),
            Some('f') => Some(12),
            Some('r') => Some(13),
            Some(same @ ('\\' | '?' | '"' | '\'' | '`')) => Some(u32::from(same)),
            Some('x' | 'X') => self.code(2, 16),
            Some('u') => self.code(4, 16),
            Some('U') => self.code(8, 16),
            Some('0'..='3') => {
                self.at -= 1;
                self.code(3, 8)
            }
            Some(_) | None => None,
        };
        code.and_then(char::from_u32).ok_or_else(|| {
            SyntaxError::boxed(self.span_from(start), "not a valid escape").hint("write a backslash as `\\\\`")
        })
    }

    fn code(&mut self, digits: usize, radix: u32) -> Option<u32> {
        let text = self.rest().get(..digits)?;
        if !text.chars().all(|c| c.is_digit(radix)) {
            return None;
        }
        let code = u32::from_str_radix(text, radix).ok()?;
        self.at += digits;
        Some(code)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    Read,
    Keep,
}

/// The error points at the opening quote: everything behind it is the text.
#[expect(clippy::unnecessary_box_returns, reason = "every caller needs it in a box")]
fn unclosed(start: usize) -> Box<SyntaxError> {
    let span = Span { start, end: start + 1 };
    SyntaxError::boxed(span, "text is not closed")
}

fn int(digits: &str, radix: u32, span: Span) -> Result<u64, Box<SyntaxError>> {
    u64::from_str_radix(digits, radix).map_err(|_| SyntaxError::boxed(span, "number is out of range"))
}

fn double(number: &str, span: Span) -> Result<Token, Box<SyntaxError>> {
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Token::Literal(Value::Double(number))),
        Ok(_) | Err(_) => Err(SyntaxError::boxed(span, "number is out of range")),
    }
}

fn with_unit(text: &str, unit: &str, span: Span) -> Result<Token, Box<SyntaxError>> {
    if let Some(bytes) = parse_size(text).and_then(|bytes| i64::try_from(bytes).ok()) {
        return Ok(Token::Literal(Value::Int(bytes)));
    }
    // `parse_duration` bounds a literal; the exact parser keeps it as a value.
    if parse_duration(text).is_some()
        && let Some(duration) = parse_signed_duration(text)
    {
        return Ok(Token::Literal(Value::Duration(duration)));
    }
    Err(SyntaxError::boxed(span, format!("`{text}` is not a number, size or duration")).hint(hints::unit(unit)))
}
