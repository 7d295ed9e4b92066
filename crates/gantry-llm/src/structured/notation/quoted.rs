//! Texts in quotes: JSON's own, apostrophes, and the curly ones of word processors.

use super::{Halt, Mend, Reader, wrong};

/// The quotes around a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    Single,
    CurlyDouble,
    CurlySingle,
}

impl Quote {
    /// The quotes that begin with this character.
    pub fn of(letter: char) -> Option<Self> {
        match letter {
            '"' => Some(Self::Double),
            '\'' => Some(Self::Single),
            '“' | '”' | '„' => Some(Self::CurlyDouble),
            '‘' | '’' => Some(Self::CurlySingle),
            _ => None,
        }
    }

    fn closes(self, letter: char) -> bool {
        match self {
            Self::Double => letter == '"',
            Self::Single => letter == '\'',
            Self::CurlyDouble => matches!(letter, '”' | '“'),
            Self::CurlySingle => letter == '’',
        }
    }

    /// Tells whether the text ends where we do not know it: half curly and half straight.
    fn mixes(self, letter: char) -> bool {
        match self {
            Self::Double | Self::Single => false,
            Self::CurlyDouble => letter == '"',
            Self::CurlySingle => letter == '\'',
        }
    }
}

impl Reader<'_> {
    /// Reads a text whose first quote is next.
    pub(super) fn quoted(&mut self, quote: Quote) -> Result<String, Halt> {
        self.begun = true;
        self.at += self.peek().map_or(0, char::len_utf8);
        match quote {
            Quote::Double => {}
            Quote::Single => drop(self.mends.insert(Mend::SingleQuotes)),
            Quote::CurlyDouble | Quote::CurlySingle => drop(self.mends.insert(Mend::CurlyQuotes)),
        }
        let mut text = String::new();
        loop {
            let plain =
                self.run(|letter| letter != '\\' && letter >= ' ' && !quote.closes(letter) && !quote.mixes(letter));
            text.push_str(plain);
            let Some(letter) = self.peek() else {
                return Err(Halt::End);
            };
            if quote.closes(letter) {
                self.at += letter.len_utf8();
                return Ok(text);
            }
            match letter {
                '\\' => text.push(self.escape()?),
                '\n' | '\r' | '\t' => {
                    self.at += 1;
                    self.mends.insert(Mend::RawBreaks);
                    text.push(letter);
                }
                letter if letter < ' ' => {
                    let code = u32::from(letter);
                    return Err(wrong(&format!("a text holds the control character U+{code:04X}; leave it out")));
                }
                _ => return Err(wrong("a text mixes curly and straight quotes, so its end is not clear")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Halt> {
        let Some(letter) = self.rest()[1..].chars().next() else {
            return Err(Halt::End);
        };
        let meant = match letter {
            '"' | '\\' | '/' => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '\'' => {
                self.mends.insert(Mend::EscapedApostrophes);
                '\''
            }
            'u' => return self.unicode(),
            _ => return Err(wrong("this is no escape of JSON; a backslash itself is written as two")),
        };
        self.at += 1 + letter.len_utf8();
        Ok(meant)
    }

    fn unicode(&mut self) -> Result<char, Halt> {
        let from = self.at;
        let first = self.unit()?;
        let code = match first {
            0xD800..=0xDBFF => {
                if self.rest().is_empty() || self.rest() == "\\" {
                    return Err(Halt::End);
                }
                let second = if self.rest().starts_with("\\u") { self.unit()? } else { 0 };
                match second {
                    0xDC00..=0xDFFF => 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00),
                    _ => first,
                }
            }
            _ => first,
        };
        char::from_u32(code).ok_or_else(|| {
            self.at = from;
            wrong("this is half of a character that needs two escapes (a lone surrogate)")
        })
    }

    /// Reads `\uXXXX`.
    fn unit(&mut self) -> Result<u32, Halt> {
        let digits = self.rest()[2..].bytes().take(4).take_while(u8::is_ascii_hexdigit).count();
        let digits = &self.rest()[2..2 + digits];
        if digits.len() < 4 {
            if self.at + 2 + digits.len() == self.text.len() {
                return Err(Halt::End);
            }
            return Err(wrong("`\\u` needs four hexadecimal digits"));
        }
        let unit = u32::from_str_radix(digits, 16).map_err(|_| wrong("`\\u` needs four hexadecimal digits"))?;
        self.at += 6;
        Ok(unit)
    }
}
