//! Nodes: their ids, brackets, classes and `@{ }` data.

use super::{MermaidError, Parser};
use crate::mermaid::chart::{IgnoredKind, Shape};

/// The brackets of node shapes, longer ones first; some can close in two ways.
const BRACKETS: &[(&str, &[(&str, Shape)])] = &[
    ("(((", &[(")))", Shape::DoubleCircle)]),
    ("((", &[("))", Shape::Circle)]),
    ("([", &[("])", Shape::Stadium)]),
    ("(-", &[("-)", Shape::Ellipse)]),
    ("(", &[(")", Shape::Round)]),
    ("[[", &[("]]", Shape::Subroutine)]),
    ("[(", &[(")]", Shape::Cylinder)]),
    ("[/", &[("/]", Shape::LeanRight), ("\\]", Shape::Trapezoid)]),
    ("[\\", &[("\\]", Shape::LeanLeft), ("/]", Shape::InvertedTrapezoid)]),
    ("[", &[("]", Shape::Rectangle)]),
    ("{{", &[("}}", Shape::Hexagon)]),
    ("{", &[("}", Shape::Diamond)]),
    (">", &[("]", Shape::Odd)]),
];

/// What an id may contain besides letters and digits.
const ID_MARKS: &str = "!#$%'*+.`?\\_/,:";

impl Parser<'_> {
    /// Reads `A & B[text] & C`, and returns the positions of these nodes.
    pub(super) fn node_list(&mut self) -> Result<Vec<usize>, MermaidError> {
        let mut nodes = vec![self.vertex()?];
        loop {
            let after = self.at;
            self.skip_blanks();
            if !self.eat("&") {
                self.at = after;
                return Ok(nodes);
            }
            self.skip_blanks();
            nodes.push(self.vertex()?);
        }
    }

    /// Reads one node with everything attached to it.
    fn vertex(&mut self) -> Result<usize, MermaidError> {
        let start = self.at;
        let id = self.node_id()?;
        let id_end = self.at;
        let bracketed = self.bracketed()?;
        let mut end = self.at;
        let node = self.builder.node(&id, start..id_end)?;
        if let Some((label, shape)) = bracketed {
            self.builder.set_look(node, Some(label), Some(shape), start..end);
        }
        loop {
            let suffix_at = self.at;
            if self.eat(":::") {
                self.node_id()?;
                self.ignore(IgnoredKind::ClassSuffix, suffix_at..self.at);
            } else if self.rest().starts_with("@{") {
                self.shape_data(node, &id)?;
            } else {
                break;
            }
            end = self.at;
        }
        self.at = end;
        Ok(node)
    }

    /// Reads an id.
    pub(super) fn node_id(&mut self) -> Result<String, MermaidError> {
        let start = self.at;
        let text = self.rest();
        let mut length = 0;
        while let Some(c) = text[length..].chars().next() {
            let after = &text[length + c.len_utf8()..];
            let belongs = match c {
                ':' if text[length..].starts_with(":::") => false,
                '-' => !after.is_empty() && !after.starts_with(['-', '>', '.', ' ', '\n']),
                '=' => !after.starts_with('='),
                // An id may contain it, and `A& B` still means two nodes.
                '&' => length > 0 && after.starts_with(is_id_character),
                _ => is_id_character(c),
            };
            if !belongs {
                break;
            }
            length += c.len_utf8();
        }
        if length == 0 {
            return Err(self.no_node_here());
        }
        self.at += length;
        Ok(self.text[start..self.at].to_owned())
    }

    fn no_node_here(&self) -> MermaidError {
        let found = self.peek().filter(|c| *c != '\n');
        let end = self.at + found.map_or(0, char::len_utf8);
        let message = match found {
            Some(found) => format!("expected a node, found `{found}`"),
            None => "expected a node, and the statement ends here".to_owned(),
        };
        MermaidError::new(self.at..end, message, "a node starts with an id, as in `id[text]`")
    }

    /// Reads the brackets with their text, if there are any.
    fn bracketed(&mut self) -> Result<Option<(String, Shape)>, MermaidError> {
        let id_end = self.at;
        self.skip_blanks();
        if self.at > id_end && !self.rest().starts_with(['[', '(', '{']) {
            self.at = id_end;
        }
        let opened_at = self.at;
        let rest = self.rest();
        let brackets = BRACKETS.iter().find(|(open, _)| rest.starts_with(open));
        let Some((open, closings)) = brackets else {
            return Ok(None);
        };
        self.at += open.len();
        if *open == "[" && self.eat("|") {
            self.skip_properties();
        }
        let closers: Vec<&str> = closings.iter().map(|(close, _)| *close).collect();
        let (label, closing) = self.enclosed_text(opened_at, &closers)?;
        let shape = closings[closing].1.clone();
        Ok(Some((label, shape)))
    }

    /// Moves past the `field:value|` of `[|field:value|text]`.
    fn skip_properties(&mut self) {
        let start = self.at;
        let rest = self.rest();
        if let Some(length) = rest.find(['|', ']', '\n'])
            && rest[length..].starts_with('|')
        {
            self.at += length + 1;
            self.ignore(IgnoredKind::NodeData, start..self.at);
        }
    }
}

fn is_id_character(c: char) -> bool {
    c.is_alphanumeric() || ID_MARKS.contains(c)
}
