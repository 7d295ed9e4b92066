//! Statements: chains of nodes and links, subgraphs, and what only concerns looks.

use super::{MermaidError, Parser};
use crate::mermaid::chart::{Direction, IgnoredKind, Span};

impl<'text> Parser<'text> {
    /// Reads the next statement.
    pub(super) fn statement(&mut self) -> Result<(), MermaidError> {
        let start = self.at;
        let word = self.word();
        let span = start..start + word.len();
        if let Some(kind) = accessibility(word, &self.rest()[word.len()..]) {
            self.at = span.end;
            return self.accessibility_text(start, kind);
        }
        if !self.is_keyword(word) {
            return self.chain();
        }
        self.at = span.end;
        if self.at_link() {
            self.at = span.end;
            return Err(keyword_as_id(span, word));
        }
        match word {
            "subgraph" => self.open_subgraph(start),
            "end" => self.builder.close_subgraph(span),
            "direction" => self.direction(start),
            "style" => self.looks_only(IgnoredKind::Style, start),
            "linkStyle" => self.looks_only(IgnoredKind::LinkStyle, start),
            "classDef" => self.looks_only(IgnoredKind::ClassDef, start),
            "class" => self.looks_only(IgnoredKind::Class, start),
            "click" => self.looks_only(IgnoredKind::Click, start),
            _ => Err(keyword_as_id(span, word)),
        }
    }

    /// Returns the letters at the start of the statement.
    fn word(&self) -> &'text str {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        &rest[..length]
    }

    /// Returns whether the word is a keyword here, not the start of an id.
    fn is_keyword(&self, word: &str) -> bool {
        let after = self.rest()[word.len()..].chars().next();
        let stands_alone = after.is_none_or(|c| c.is_whitespace() || c == ';');
        match word {
            "end" => after.is_none_or(|c| !(c.is_alphanumeric() || "_-.:/".contains(c))),
            "subgraph" | "graph" | "flowchart" => stands_alone,
            "direction" => {
                let rest = self.rest()[word.len()..].trim_start();
                let length = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
                stands_alone && Direction::from_keyword(&rest[..length]).is_some()
            }
            "style" | "linkStyle" | "classDef" | "class" | "click" => {
                after.is_some_and(|c| c.is_whitespace() && c != '\n')
            }
            _ => false,
        }
    }

    /// Reads `A --> B --> C`.
    fn chain(&mut self) -> Result<(), MermaidError> {
        let mut from = self.node_list()?;
        while let Some(link) = self.link()? {
            let to = self.node_list()?;
            self.builder.edges(&from, &to, link)?;
            from = to;
        }
        self.expect_statement_end()
    }

    fn expect_statement_end(&mut self) -> Result<(), MermaidError> {
        self.skip_blanks();
        if self.rest().starts_with("%%") {
            self.skip_line();
        }
        if self.at_statement_end() {
            return Ok(());
        }
        let found = self.peek().unwrap_or_default();
        Err(MermaidError::new(
            self.at..self.at + found.len_utf8(),
            format!("expected a link or the end of the statement, found `{found}`"),
            "write links as `A --> B`, quote texts with special characters, and start each statement on its own line",
        ))
    }

    /// Reads what stands after `subgraph`.
    fn open_subgraph(&mut self, start: usize) -> Result<(), MermaidError> {
        self.skip_blanks();
        let head = if self.peek() == Some('"') {
            self.quoted()?
        } else {
            let rest = self.rest();
            let length = rest.find(['[', '\n', ';']).unwrap_or(rest.len());
            self.at += length;
            rest[..length].trim().to_owned()
        };
        self.skip_blanks();
        let opened_at = self.at;
        let title = if self.eat("[") { Some(self.enclosed_text(opened_at, &["]"])?.0) } else { None };
        self.builder.open_subgraph(&head, title, start..self.at)?;
        self.expect_statement_end()
    }

    fn direction(&mut self, start: usize) -> Result<(), MermaidError> {
        self.skip_whitespace();
        let word_at = self.at;
        let keyword = self.word();
        let direction = Direction::from_keyword(keyword).unwrap_or_default();
        self.at = word_at + keyword.len();
        if !self.builder.set_subgraph_direction(direction) {
            self.ignore(IgnoredKind::Direction, start..self.at);
        }
        self.expect_statement_end()
    }

    /// Moves past a statement to its end, which is not inside of quotes.
    #[expect(clippy::unnecessary_wraps, reason = "all statements have one signature")]
    fn looks_only(&mut self, kind: IgnoredKind, start: usize) -> Result<(), MermaidError> {
        while let Some(length) = self.rest().find(['"', '\n', ';']) {
            self.at += length;
            if self.peek() != Some('"') {
                break;
            }
            let quoted = self.rest()[1..].find('"');
            // A quote that never closes is read like any other character.
            self.at += quoted.map_or(1, |quoted| quoted + 2);
        }
        if self.rest().find(['\n', ';']).is_none() {
            self.at = self.text.len();
        }
        self.ignore(kind, start..self.at);
        Ok(())
    }

    /// Moves past `: text` to the end of the line, or past `{ text }`.
    fn accessibility_text(&mut self, start: usize, opens: char) -> Result<(), MermaidError> {
        if opens == '{' {
            let Some(length) = self.rest().find('}') else {
                return Err(MermaidError::new(start..self.at, "this description is never closed", "close it with `}`"));
            };
            self.at += length + 1;
        } else {
            self.skip_line();
        }
        self.ignore(IgnoredKind::Accessibility, start..self.at);
        Ok(())
    }
}

/// Returns the `:` or `{` after `accTitle` or `accDescr`.
fn accessibility(word: &str, after: &str) -> Option<char> {
    let opens = after.trim_start().chars().next()?;
    match word {
        "accTitle" => (opens == ':').then_some(opens),
        "accDescr" => matches!(opens, ':' | '{').then_some(opens),
        _ => None,
    }
}

fn keyword_as_id(span: Span, word: &str) -> MermaidError {
    MermaidError::new(
        span,
        format!("`{word}` is a keyword here"),
        format!("give the node another id, and write `id[\"{word}\"]` for its text"),
    )
}
