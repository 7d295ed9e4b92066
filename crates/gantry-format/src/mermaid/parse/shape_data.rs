//! The `@{ shape: ..., label: ... }` after an id: a small part of YAML.

use super::label::decode_entities;
use super::{MermaidError, Parser};
use crate::mermaid::chart::{IgnoredKind, Shape};

impl Parser<'_> {
    /// Reads `@{ ... }` and applies it to the node, unless the id is that of an edge.
    pub(super) fn shape_data(&mut self, node: usize, id: &str) -> Result<(), MermaidError> {
        let start = self.at;
        let inside = &self.rest()[2..];
        let Some(length) = closing_brace(inside) else {
            return Err(MermaidError::new(start..start + 2, "this `@{` is never closed", "close it with `}`"));
        };
        self.at += 2 + length + 1;
        let span = start..self.at;
        if self.builder.is_edge_id(id) {
            self.ignore(IgnoredKind::EdgeData, span);
            self.builder.forget_edge_node(node);
            return Ok(());
        }
        let mut label = None;
        let mut shape = None;
        let mut has_other = false;
        for (key, value) in pairs(&inside[..length]) {
            match key.as_str() {
                "label" => label = Some(decode_entities(value.trim())),
                "shape" => shape = Some(Shape::from_name(value.trim())),
                _ => has_other = true,
            }
        }
        if has_other {
            self.ignore(IgnoredKind::NodeData, span.clone());
        }
        if label.is_some() || shape.is_some() {
            self.builder.set_look(node, label, shape, span);
        }
        Ok(())
    }
}

/// Finds the `}` that is not in double quotes.
fn closing_brace(text: &str) -> Option<usize> {
    let mut in_quotes = false;
    text.bytes().position(|byte| {
        in_quotes ^= byte == b'"';
        byte == b'}' && !in_quotes
    })
}

/// Splits `key: value, key: "value"` into its pairs; a newline separates as well as a comma.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for piece in pieces(text) {
        if let Some((key, value)) = key_and_value(piece) {
            let value = match value {
                "|" | ">" | "|-" | ">-" => String::new(),
                _ => value.to_owned(),
            };
            pairs.push((key.to_owned(), value));
        } else if let Some((_, value)) = pairs.last_mut() {
            // No key: the text of the line before goes on.
            let between = if value.is_empty() { "" } else { " " };
            value.push_str(between);
            value.push_str(piece);
        }
    }
    for (_, value) in &mut pairs {
        let unquoted = unquote(value);
        *value = unquoted;
    }
    pairs
}

/// Cuts the text at newlines and commas outside of quotes.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut quote: Option<char> = None;
    let mut value_started = false;
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) => {
                if c == open {
                    quote = None;
                }
            }
            None if c == '\n' || (c == ',' && starts_pair(&text[at + 1..])) => {
                pieces.push(text[start..at].trim());
                start = at + 1;
                value_started = false;
            }
            // An apostrophe inside of a word is not a quote.
            None if c == '"' || (c == '\'' && !value_started) => quote = Some(c),
            None => value_started = !(c.is_whitespace() || c == ':'),
        }
    }
    pieces.push(text[start..].trim());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Returns whether a comma before this text separates pairs, rather than being part of a value.
fn starts_pair(text: &str) -> bool {
    let text = text.trim_start();
    let key_length =
        text.find(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_' || c == '"')).unwrap_or(text.len());
    text.is_empty() || (key_length > 0 && text[key_length..].trim_start().starts_with(':'))
}

fn key_and_value(piece: &str) -> Option<(&str, &str)> {
    let (key, value) = piece.split_once(':')?;
    let key = key.trim().trim_matches('"');
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
    is_key.then(|| (key, value.trim().trim_end_matches(',')))
}

fn unquote(value: &str) -> String {
    for quote in ['"', '\''] {
        let inside = value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
        if let Some(inside) = inside {
            return inside.replace("\\\"", "\"").replace("\\n", "\n");
        }
    }
    value.to_owned()
}
