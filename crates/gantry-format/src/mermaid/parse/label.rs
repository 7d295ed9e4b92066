//! Texts on nodes and links: quoted, markdown or bare, with entity codes.

use super::{MermaidError, Parser};

/// What cannot stand in a text without quotes.
const NEEDS_QUOTES: &[u8] = b"[](){}|\"";

impl Parser<'_> {
    /// Reads a text up to one of the `closers` and moves past it.
    ///
    /// Returns the text and which closer it was. `opened_at` is where the bracket or bar opened.
    pub(super) fn enclosed_text(
        &mut self,
        opened_at: usize,
        closers: &[&str],
    ) -> Result<(String, usize), MermaidError> {
        let start = self.at;
        self.skip_whitespace();
        let text = if self.peek() == Some('"') {
            let quoted = self.quoted()?;
            self.skip_whitespace();
            quoted
        } else {
            self.at = start;
            match self.bare_text(opened_at, closers) {
                Ok(text) => text,
                Err(problem) => {
                    self.at = start;
                    return Err(problem);
                }
            }
        };
        match closers.iter().position(|closer| self.eat(closer)) {
            Some(position) => Ok((text, position)),
            None => Err(self.unclosed(opened_at, closers)),
        }
    }

    /// Reads up to where a closer must stand.
    fn bare_text(&mut self, opened_at: usize, closers: &[&str]) -> Result<String, MermaidError> {
        let rest = self.rest();
        let Some(stop) = first_that_needs_quotes(rest) else {
            return Err(self.unclosed(opened_at, closers));
        };
        // A closer such as `/]` starts one byte before its bracket.
        let closes_at = closers.iter().find_map(|closer| {
            let lead = first_that_needs_quotes(closer)?;
            let at = stop.checked_sub(lead)?;
            rest.get(at..)?.starts_with(closer).then_some(at)
        });
        let Some(closes_at) = closes_at else {
            if rest[..stop].contains('\n') {
                // What was found is another statement: the text was forgotten to be closed.
                return Err(self.unclosed(opened_at, closers));
            }
            let at = self.at + stop;
            let found = rest[stop..].chars().next().unwrap_or_default();
            return Err(MermaidError::new(
                at..at + found.len_utf8(),
                format!("`{found}` cannot stand in a text without quotes"),
                format!("put the whole text in double quotes, and close it with `{}`", closers.join("` or `")),
            ));
        };
        self.at += closes_at;
        Ok(decode_entities(rest[..closes_at].trim()))
    }

    /// Reads a text in double quotes, with or without the backticks of markdown.
    pub(super) fn quoted(&mut self) -> Result<String, MermaidError> {
        let opened_at = self.at;
        let inside = self.rest().get(1..).unwrap_or_default();
        let Some(length) = inside.find('"') else {
            return Err(MermaidError::new(
                opened_at..opened_at + 1,
                "this quote is never closed",
                "close it with `\"`; a quote inside of a text is written `#quot;`",
            ));
        };
        self.at += length + 2;
        let text = inside[..length].trim();
        let markdown = text.strip_prefix('`').and_then(|text| text.strip_suffix('`'));
        Ok(decode_entities(markdown.unwrap_or(text).trim()))
    }

    fn unclosed(&self, opened_at: usize, closers: &[&str]) -> MermaidError {
        let end = self.at.max(opened_at + 1);
        MermaidError::new(
            opened_at..end,
            "this text is never closed",
            format!("close it with `{}`", closers.join("` or `")),
        )
    }
}

fn first_that_needs_quotes(text: &str) -> Option<usize> {
    text.bytes().position(|byte| NEEDS_QUOTES.contains(&byte))
}

/// The entity names that people use; numbers are decoded besides these.
const ENTITIES: &[(&str, char)] = &[
    ("quot", '"'),
    ("apos", '\''),
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("nbsp", '\u{a0}'),
    ("num", '#'),
    ("semi", ';'),
    ("colon", ':'),
    ("lpar", '('),
    ("rpar", ')'),
    ("lbrack", '['),
    ("rbrack", ']'),
    ("lbrace", '{'),
    ("rbrace", '}'),
    ("vert", '|'),
    ("grave", '`'),
    ("hearts", '♥'),
    ("rarr", '→'),
    ("larr", '←'),
    ("hellip", '…'),
    ("mdash", '—'),
    ("ndash", '–'),
    ("copy", '©'),
    ("euro", '€'),
];

/// The longest entity code between `#` and `;`, in bytes.
const ENTITY_BYTES_MAX: usize = 10;

/// Replaces `#quot;`, `#35;` and `&quot;` with the characters they stand for.
///
/// A code that is not known stays as it is written.
pub(super) fn decode_entities(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['#', '&']) {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((character, length)) = entity(rest) {
            decoded.push(character);
            rest = &rest[length..];
        } else {
            decoded.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    decoded.push_str(rest);
    decoded
}

/// Returns the character of the entity code at the start of the text, and the code's length.
fn entity(text: &str) -> Option<(char, usize)> {
    let is_ampersand = text.starts_with('&');
    let code = text.strip_prefix(['#', '&'])?;
    let window = &code.as_bytes()[..code.len().min(ENTITY_BYTES_MAX + 1)];
    let length = window.iter().position(|byte| *byte == b';')?;
    let name = code.get(..length)?;
    // `&#35;` is a number too, and `&35;` is nothing.
    let number = if is_ampersand { name.strip_prefix('#') } else { Some(name) };
    let character = match number.and_then(|number| number.parse::<u32>().ok()) {
        Some(number) => char::from_u32(number).filter(|c| !c.is_control())?,
        None => ENTITIES.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((character, length + 2))
}
