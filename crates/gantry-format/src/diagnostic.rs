//! What is wrong with a file, where, and what to do about it.
//!
//! A [`Diagnostic`] is one finding; a [`Report`] is all findings of one file together with the
//! text they point into. A report is shown to a person with [`Report::render`] and to a program
//! with [`Report::to_json`]; both say the same.
//!
//! Texts of the file that end up in messages are shown with their control characters replaced, so
//! a plan file cannot write escape sequences to somebody's terminal.

mod column; // in reading order
mod render;

use serde_json::{Value as Json, json};

use crate::node::Span;

/// A report keeps this many findings and counts the rest: a person reads the first few, and a
/// hostile file could otherwise produce millions.
pub const DIAGNOSTICS_MAX: usize = 100;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file can be used, but something in it is probably not meant so.
    Warning,
    /// Nothing is wrong; this is how something was understood.
    Note,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable name, such as `plan::unknown-dependency`.
    pub code: &'static str,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// Where; nothing when it is about the file as a whole.
    pub span: Option<Span>,
    /// A few words to write under the place.
    pub label: String,
    /// Other places that belong to it, each with its words.
    pub others: Vec<(Span, String)>,
    /// What would probably put it right.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Starts a finding that makes the file unusable.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            span: None,
            label: String::new(),
            others: Vec::new(),
            hint: None,
        }
    }

    /// Starts a finding that leaves the file usable.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Starts a finding that says how something was understood.
    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::error(code, message) }
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// Says what to write under the place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn other(mut self, span: Span, label: impl Into<String>) -> Self {
        self.others.push((span, label.into()));
        self
    }

    /// Adds what would probably put it right.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what would probably put it right, if that is known.
    #[must_use]
    pub fn hint_opt(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }
}

/// Findings as they are made: the first [`DIAGNOSTICS_MAX`] are kept, the rest are counted.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The findings that are kept.
    pub kept: Vec<Diagnostic>,
    /// How many more there were.
    pub omitted: usize,
}

impl Findings {
    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.kept.len() < DIAGNOSTICS_MAX {
            self.kept.push(diagnostic);
        } else {
            self.omitted += 1;
        }
    }

    /// Adds a finding that is only made when it will be kept: suggestions take time.
    pub fn push_with(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.kept.len() < DIAGNOSTICS_MAX {
            self.kept.push(make());
        } else {
            self.omitted += 1;
        }
    }

    /// Tells whether one of them makes the file unusable.
    pub fn has_errors(&self) -> bool {
        self.kept.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// A place for people: line and column, both from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// All findings of one file.
#[derive(Debug, Clone)]
pub struct Report {
    /// The file's name as the caller gave it.
    pub file: String,
    /// The text that the spans point into.
    pub source: String,
    /// The findings, in the order of their places; see [`Report::sort`].
    pub diagnostics: Vec<Diagnostic>,
    /// How many findings beyond [`DIAGNOSTICS_MAX`] were counted but not kept.
    pub omitted: usize,
    /// The offset at which each line starts.
    line_starts: Vec<usize>,
}

impl Report {
    /// Starts a report without findings.
    pub fn new(file: impl Into<String>, source: impl Into<String>) -> Self {
        let source = source.into();
        let line_starts = std::iter::once(0)
            .chain(source.bytes().enumerate().filter_map(|(offset, byte)| (byte == b'\n').then_some(offset + 1)))
            .collect();
        Self { file: file.into(), source, diagnostics: Vec::new(), omitted: 0, line_starts }
    }

    /// Adds findings.
    pub fn absorb(&mut self, findings: Findings) {
        self.diagnostics.extend(findings.kept.into_iter().map(|finding| column::point(finding, &self.source)));
        self.omitted += findings.omitted;
    }

    /// Puts the findings in the order of their places, those about the whole file first.
    pub fn sort(&mut self) {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    }

    /// Tells whether the file cannot be used.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Returns the errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.of(Severity::Error)
    }

    /// Returns the warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.of(Severity::Warning)
    }

    fn of(&self, severity: Severity) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(move |diagnostic| diagnostic.severity == severity)
    }

    /// Translates a byte offset into a line and a column.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.character_start(offset);
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts[line - 1];
        Position { line, column: self.source[start..offset].chars().count() + 1 }
    }

    /// Writes the findings the way compilers do, with the lines they are about, and with terminal
    /// colours if wanted.
    pub fn render(&self, colour: bool) -> String {
        render::render(self, colour)
    }

    /// Returns the findings for a program: `{ok, errors: [{code, message, file, line, column,
    /// hint}], warnings: […], notes: […]}`; line, column and hint are `null` when there is none.
    pub fn to_json(&self) -> Json {
        let list = |severity| self.of(severity).map(|diagnostic| self.finding_json(diagnostic)).collect::<Vec<_>>();
        let mut json = json!({
            "ok": !self.has_errors(),
            "errors": list(Severity::Error),
            "warnings": list(Severity::Warning),
            "notes": list(Severity::Note),
        });
        if self.omitted > 0 {
            json["omitted"] = self.omitted.into();
        }
        json
    }

    fn finding_json(&self, diagnostic: &Diagnostic) -> Json {
        let position = diagnostic.span.map(|span| self.position(span.start));
        json!({
            "code": diagnostic.code,
            "message": diagnostic.message,
            "file": self.file,
            "line": position.map(|position| position.line),
            "column": position.map(|position| position.column),
            "hint": diagnostic.hint,
        })
    }

    /// Returns the nearest offset at or before this one that starts a character.
    fn character_start(&self, offset: usize) -> usize {
        self.source.floor_char_boundary(offset.min(self.source.len()))
    }

    /// Returns the text of a line without its line break, and the offset where it starts.
    fn line(&self, line: usize) -> (usize, &str) {
        let start = self.line_starts[line - 1];
        let end = self.line_starts.get(line).map_or(self.source.len(), |&next| next - 1);
        (start, self.source[start..end].trim_end_matches('\r'))
    }
}
