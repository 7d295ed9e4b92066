//! The lines of a document: where each starts, how far it is indented, what belongs below it.

use crate::node::Span;

/// A line that says something.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    /// Its text without indentation and trailing space.
    pub(super) text: &'a str,
    /// Where the text starts in the source.
    pub(super) start: usize,
    /// How many spaces stand before it.
    pub(super) indent: usize,
    /// Where a tab stands in the indentation.
    pub(super) tab: Option<usize>,
    /// Where the line itself begins.
    begin: usize,
}

impl Line<'_> {
    pub(super) fn span(&self) -> Span {
        Span::new(self.start, self.start + self.text.len())
    }
}

/// Goes through a source line by line; empty lines and comments are passed over.
pub(super) struct Lines<'a> {
    source: &'a str,
    offset: usize,
    last_end: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, offset: 0, last_end: 0 }
    }

    /// Returns where the last line that was read ends.
    pub(super) fn last_end(&self) -> usize {
        self.last_end
    }

    /// Reads the next line that says something.
    pub(super) fn next(&mut self) -> Option<Line<'a>> {
        let (line, after) = self.peek()?;
        self.offset = after;
        self.last_end = line.span().end;
        Some(line)
    }

    /// Reads the next line if it is indented further than this.
    pub(super) fn next_deeper(&mut self, indent: usize) -> Option<Line<'a>> {
        let (line, _) = self.peek()?;
        if line.indent <= indent {
            return None;
        }
        self.next()
    }

    /// Passes over the lines that are indented further than this.
    pub(super) fn skip_deeper(&mut self, indent: usize) {
        while self.next_deeper(indent).is_some() {}
    }

    /// Returns a line together with all deeper lines below it, comments and empty lines included,
    /// and where that text starts in the source.
    pub(super) fn block(&mut self, line: &Line<'a>) -> (&'a str, usize) {
        let mut end = self.offset;
        let mut offset = self.offset;
        while offset < self.source.len() {
            let (next, after) = self.line_at(offset);
            let is_empty = next.text.is_empty();
            if !is_empty && next.indent <= line.indent {
                break;
            }
            offset = after;
            if !is_empty {
                end = after;
                self.last_end = next.span().end;
            }
        }
        self.offset = end;
        (&self.source[line.begin..end], line.begin)
    }

    fn peek(&self) -> Option<(Line<'a>, usize)> {
        let mut offset = self.offset;
        while offset < self.source.len() {
            let (line, after) = self.line_at(offset);
            if !line.text.is_empty() && !line.text.starts_with('#') {
                return Some((line, after));
            }
            offset = after;
        }
        None
    }

    fn line_at(&self, begin: usize) -> (Line<'a>, usize) {
        let rest = &self.source[begin..];
        let (line, after) = match rest.find('\n') {
            Some(end) => (&rest[..end], begin + end + 1),
            None => (rest, self.source.len()),
        };
        let indented = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - indented.len();
        let tab = line[..indent].find('\t').map(|at| begin + at);
        (Line { text: indented.trim_end(), start: begin + indent, indent, tab, begin }, after)
    }
}
