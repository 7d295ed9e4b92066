//! Moving through the text.

use super::Parser;

impl<'text> Parser<'text> {
    /// Returns the text that is still to be read.
    pub(super) fn rest(&self) -> &'text str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the next character.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Moves past `expected` if it is next.
    pub(super) fn eat(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Moves past spaces and tabs, staying on the line.
    pub(super) fn skip_blanks(&mut self) {
        self.skip_while(|c| c != '\n' && is_space(c));
    }

    /// Moves past all whitespace, newlines included.
    pub(super) fn skip_whitespace(&mut self) {
        self.skip_while(is_space);
    }

    /// Moves past everything that may stand between two statements.
    pub(super) fn skip_separators(&mut self) {
        self.skip_while(|c| c == ';' || is_space(c));
    }

    /// Moves to the end of the line.
    pub(super) fn skip_line(&mut self) {
        self.skip_while(|c| c != '\n');
    }

    fn skip_while(&mut self, mut wanted: impl FnMut(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    }

    /// Returns whether a statement may end here.
    pub(super) fn at_statement_end(&self) -> bool {
        matches!(self.peek(), None | Some('\n' | ';'))
    }
}

/// Returns whether the character separates words; a byte order mark counts.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// Returns how many bytes at the start of the text are `byte`.
pub(super) fn run_length(text: &str, byte: u8) -> usize {
    text.bytes().take_while(|found| *found == byte).count()
}
