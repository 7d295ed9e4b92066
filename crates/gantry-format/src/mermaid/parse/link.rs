//! Links: the line between two nodes, its heads and its text.

use super::cursor::run_length;
use super::label::decode_entities;
use super::{MermaidError, Parser};
use crate::mermaid::chart::{EdgeStyle, Span};

/// A link as written, before it is spread over the nodes on both sides.
pub(super) struct Link {
    pub(super) id: Option<String>,
    pub(super) label: Option<String>,
    pub(super) style: EdgeStyle,
    pub(super) arrow: bool,
    pub(super) both_ways: bool,
    pub(super) span: Span,
}

/// What stands at some place: a whole line, or only the start of one that has text in it.
enum Line {
    Whole { length: usize, arrow: bool },
    Opening { length: usize },
}

impl Parser<'_> {
    /// Reads a link if one comes next, even on the next line.
    pub(super) fn link(&mut self) -> Result<Option<Link>, MermaidError> {
        let before = self.at;
        self.skip_whitespace();
        let start = self.at;
        let crossed_line = self.text[before..start].contains('\n');
        let id = self.link_id(before < start);
        let Some((head_length, style)) = link_start(self.rest(), crossed_line) else {
            self.at = before;
            return Ok(None);
        };
        let mut link = Link { id, label: None, style, arrow: false, both_ways: false, span: start..start };
        match whole_or_opening(&self.rest()[head_length..], style) {
            Line::Whole { length, arrow } => {
                self.at += head_length + length;
                link.arrow = arrow;
                link.span.end = self.at;
                self.skip_whitespace();
                link.label = self.bar_label(&mut link.span)?;
            }
            Line::Opening { length } => {
                let text_at = self.at + head_length + length;
                let (label, arrow) = self.text_in_line(start, text_at, style)?;
                link.label = Some(label);
                link.arrow = arrow;
                link.span.end = self.at;
            }
        }
        link.label = link.label.filter(|label| !label.is_empty());
        link.both_ways = head_length > 0 && link.arrow;
        self.skip_whitespace();
        Ok(Some(link))
    }

    /// Returns whether a link starts here, after blanks.
    pub(super) fn at_link(&self) -> bool {
        link_start(self.rest().trim_start(), false).is_some()
    }

    /// Reads the `e1@` of `A e1@--> B`.
    fn link_id(&mut self, after_space: bool) -> Option<String> {
        if !after_space {
            return None;
        }
        let rest = self.rest();
        let length = rest.find(|c: char| c == '@' || c == '"' || c.is_whitespace())?;
        let is_id = length > 0 && rest[length..].starts_with('@');
        if !is_id || link_start(&rest[length + 1..], false).is_none() {
            return None;
        }
        self.at += length + 1;
        Some(rest[..length].to_owned())
    }

    /// Reads the `|text|` after a line.
    fn bar_label(&mut self, span: &mut Span) -> Result<Option<String>, MermaidError> {
        let opened_at = self.at;
        if !self.eat("|") {
            return Ok(None);
        }
        let (label, _) = self.enclosed_text(opened_at, &["|"])?;
        span.end = self.at;
        Ok(Some(label))
    }

    /// Reads the text of `-- text -->` and the line after it.
    fn text_in_line(&mut self, start: usize, text_at: usize, style: EdgeStyle) -> Result<(String, bool), MermaidError> {
        self.at = text_at;
        self.skip_whitespace();
        let quoted = if self.peek() == Some('"') {
            let quoted = self.quoted()?;
            self.skip_whitespace();
            Some(quoted)
        } else {
            self.at = text_at;
            None
        };
        let rest = self.rest();
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let closing = closing_line(line, style).filter(|(text_length, ..)| quoted.is_none() || *text_length == 0);
        let Some((text_length, length, arrow)) = closing else {
            self.at = start;
            return Err(MermaidError::new(
                start..text_at,
                "the text of this link is not followed by the end of the link",
                "write `A -- text --> B` or `A -->|text| B`; there is no left arrow, so write `B --> A`",
            ));
        };
        self.at += text_length + length;
        let label = quoted.unwrap_or_else(|| decode_entities(line[..text_length].trim()));
        Ok((label, arrow))
    }
}

/// Returns the length of the head at the start of a link and the style of its line.
///
/// On a new line an `x` or `o` is the id of a node, not a head.
fn link_start(text: &str, crossed_line: bool) -> Option<(usize, EdgeStyle)> {
    let head_length = match text.bytes().next()? {
        b'<' => 1,
        b'x' | b'o' if !crossed_line => 1,
        _ => 0,
    };
    let line = &text[head_length..];
    let style = if line.starts_with("--") {
        EdgeStyle::Solid
    } else if line.starts_with("==") {
        EdgeStyle::Thick
    } else if line.starts_with("-.") || dotted_run(line).is_some() {
        EdgeStyle::Dotted
    } else if line.starts_with("~~~") && head_length == 0 {
        EdgeStyle::Invisible
    } else {
        return None;
    };
    Some((head_length, style))
}

/// Tells a whole line such as `-->` from the start of one such as `--`.
fn whole_or_opening(text: &str, style: EdgeStyle) -> Line {
    match style {
        EdgeStyle::Solid => plain_line(text, b'-'),
        EdgeStyle::Thick => plain_line(text, b'='),
        EdgeStyle::Dotted => {
            let dash = usize::from(text.starts_with('-'));
            match dotted_run(&text[dash..]) {
                Some((length, arrow)) => Line::Whole { length: dash + length, arrow },
                None => Line::Opening { length: 2 },
            }
        }
        EdgeStyle::Invisible => Line::Whole { length: run_length(text, b'~'), arrow: false },
    }
}

/// Reads `-->`, `---`, `--x` and longer ones, or only `--`.
fn plain_line(text: &str, stroke: u8) -> Line {
    let strokes = run_length(text, stroke);
    if has_head(&text[strokes..]) {
        Line::Whole { length: strokes + 1, arrow: true }
    } else if strokes > 2 {
        Line::Whole { length: strokes, arrow: false }
    } else {
        Line::Opening { length: strokes }
    }
}

/// Reads `.->`, `..-` and the like; returns the length and whether there is a head.
fn dotted_run(text: &str) -> Option<(usize, bool)> {
    let dots = run_length(text, b'.');
    if dots == 0 || !text[dots..].starts_with('-') {
        return None;
    }
    let arrow = has_head(&text[dots + 1..]);
    Some((dots + 1 + usize::from(arrow), arrow))
}

fn has_head(text: &str) -> bool {
    text.starts_with(['>', 'x', 'o'])
}

/// Finds the end of a link with text; returns where it starts, its length and whether it has a head.
fn closing_line(text: &str, style: EdgeStyle) -> Option<(usize, usize, bool)> {
    let (strokes, stroke) = match style {
        EdgeStyle::Solid => ("--", b'-'),
        EdgeStyle::Thick => ("==", b'='),
        EdgeStyle::Dotted => return closing_dots(text),
        EdgeStyle::Invisible => return None,
    };
    let at = text.find(strokes)?;
    match plain_line(&text[at..], stroke) {
        Line::Whole { length, arrow } => {
            Some((blank_end(text, at), length, arrow)).map(|(end, length, arrow)| (end, at - end + length, arrow))
        }
        Line::Opening { .. } => None,
    }
}

fn closing_dots(text: &str) -> Option<(usize, usize, bool)> {
    let mut from = 0;
    while let Some(found) = text[from..].find('.') {
        let at = from + found;
        if let Some((length, arrow)) = dotted_run(&text[at..]) {
            let dash = usize::from(text[..at].ends_with('-'));
            let end = blank_end(text, at - dash);
            return Some((end, at - end + length, arrow));
        }
        from = at + run_length(&text[at..], b'.');
    }
    None
}

/// Returns where the blanks before `at` start.
fn blank_end(text: &str, at: usize) -> usize {
    text[..at].trim_end().len()
}
