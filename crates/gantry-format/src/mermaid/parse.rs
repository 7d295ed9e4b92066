//! Reading: text in, chart or problems out.
//!
//! The text is first cleared of comments and directives (same length, so spans stay true), then
//! read statement by statement. A statement that cannot be read becomes a problem, and reading
//! goes on with the next line.

mod build; // in reading order
mod cursor;
mod label;
mod link;
mod prepare;
mod shape_data;
mod statement;
mod vertex;

use std::fmt;

use super::chart::{Direction, Flowchart, IgnoredKind, Span};
use super::limits::{INPUT_BYTES_MAX, PROBLEMS_MAX};
use build::Builder;

/// Something in the text that is not a flowchart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MermaidError {
    /// Where it stands, in bytes.
    pub span: Span,
    /// What is wrong, as a lowercase fragment.
    pub message: String,
    /// What would likely repair it.
    pub hint: String,
}

impl MermaidError {
    fn new(span: Span, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: hint.into() }
    }
}

impl fmt::Display for MermaidError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for MermaidError {}

/// Reads a flowchart, or returns every problem found on the way.
pub fn parse(text: &str) -> Result<Flowchart, Vec<MermaidError>> {
    if text.len() > INPUT_BYTES_MAX {
        return Err(vec![MermaidError::new(
            0..0,
            format!("the chart has {} bytes, and at most {INPUT_BYTES_MAX} are read", text.len()),
            "split it into several charts",
        )]);
    }
    let prepared = prepare::prepare(text);
    let mut parser = Parser {
        text: &prepared.text,
        at: 0,
        builder: Builder::new(prepared.title, prepared.ignored),
        problems: prepared.problems,
    };
    if parser.problems.is_empty() {
        parser.chart();
    }
    let Parser { builder, mut problems, .. } = parser;
    let chart = builder.finish(&mut problems);
    if problems.is_empty() { Ok(chart) } else { Err(problems) }
}

/// The state of reading: the prepared text, how far we are, and what came out so far.
struct Parser<'text> {
    text: &'text str,
    /// Always at a character boundary, and never moved past something that failed to read.
    at: usize,
    builder: Builder,
    problems: Vec<MermaidError>,
}

impl Parser<'_> {
    fn chart(&mut self) {
        match self.header() {
            Ok(direction) => {
                self.builder.set_direction(direction);
                self.document();
            }
            Err(problem) => self.problems.push(problem),
        }
    }

    /// Reads `flowchart LR` or `graph TD;`.
    fn header(&mut self) -> Result<Direction, MermaidError> {
        self.skip_whitespace();
        let start = self.at;
        let word: String = self.rest().chars().take_while(|c| c.is_alphanumeric() || *c == '-' || *c == '`').collect();
        let end = start + word.len();
        if !matches!(word.as_str(), "graph" | "flowchart" | "flowchart-elk") {
            return Err(wrong_header(start..end, &word));
        }
        self.at = end;
        self.skip_blanks();
        let rest = self.rest();
        let keyword_len = rest.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(rest.len());
        let keyword = &rest[..keyword_len];
        if keyword.is_empty() {
            return Ok(Direction::default());
        }
        let Some(direction) = Direction::from_keyword(keyword) else {
            return Err(MermaidError::new(
                self.at..self.at + keyword_len,
                format!("`{keyword}` is not a direction"),
                "use TB, TD, BT, LR or RL, and start the first node on a new line",
            ));
        };
        self.at += keyword_len;
        Ok(direction)
    }

    /// Reads all statements; a bad one is noted and its line skipped.
    fn document(&mut self) {
        loop {
            self.skip_separators();
            if self.rest().is_empty() || self.builder.is_full() {
                break;
            }
            let start = self.at;
            if let Err(problem) = self.statement() {
                self.problems.push(problem);
                self.at = self.at.max(start);
                self.skip_line();
                if self.problems.len() >= PROBLEMS_MAX {
                    self.problems.push(MermaidError::new(
                        self.at..self.at,
                        format!("reading stopped after {PROBLEMS_MAX} problems"),
                        "repair the ones above first",
                    ));
                    return;
                }
            }
        }
        self.builder.check_all_closed(&mut self.problems);
    }

    fn ignore(&mut self, kind: IgnoredKind, span: Span) {
        self.builder.ignore(kind, span);
    }
}

fn wrong_header(span: Span, word: &str) -> MermaidError {
    if word.is_empty() {
        MermaidError::new(span, "this does not start like a flowchart", "start with a line such as `flowchart LR`")
    } else if word.starts_with('`') {
        MermaidError::new(span, "this starts with a code fence", "give only the text between the fences")
    } else {
        MermaidError::new(
            span,
            format!("`{word}` is not a flowchart"),
            "only charts that start with `flowchart` or `graph` can be read",
        )
    }
}
