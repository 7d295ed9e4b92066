//! What can go wrong, and where in the source it did.

use std::fmt;

/// A part of the source, in byte offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl Span {
    /// Returns the line and column where the span starts, both from one, columns in characters.
    pub fn line_column(self, source: &str) -> (usize, usize) {
        let before = &source[..source.floor_char_boundary(self.start)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }
}

/// Why a source is not an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The offending part of the source.
    pub span: Span,
    /// What is wrong, as a lowercase fragment.
    pub message: String,
    /// What to write instead, where that is known.
    pub hint: Option<String>,
}

impl SyntaxError {
    /// Makes an error in a box: it is rare, and large frames would cost the parser its depth.
    pub(super) fn boxed(span: Span, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { span, message: message.into(), hint: None })
    }

    #[expect(clippy::unnecessary_box_returns, reason = "every caller needs it in a box")]
    pub(super) fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the error in one line with its place: `column 3: unexpected "=": use "==" …`.
    pub fn located(&self, source: &str) -> String {
        match self.span.line_column(source) {
            (1, column) => format!("column {column}: {self}"),
            (line, column) => format!("line {line}, column {column}: {self}"),
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SyntaxError {}

/// Why an expression has no value over a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// A variable, field or element that is not there.
    Missing {
        /// The path, as far as it is missing: `tasks.sources.notes`.
        path: String,
        /// Where it is read.
        span: Span,
    },
    /// An operation on values it is not made for.
    Type {
        /// What was expected and found, as a lowercase fragment.
        message: String,
        /// The operation.
        span: Span,
    },
    /// A number, duration or timestamp out of range.
    Overflow {
        /// The operation.
        span: Span,
    },
    /// A division or remainder by zero.
    DivisionByZero {
        /// The operation.
        span: Span,
    },
    /// A value that grew past a limit of the language.
    TooLarge {
        /// Which limit, as a lowercase fragment.
        message: String,
        /// The operation that passed it.
        span: Span,
    },
    /// An evaluation that took more steps than it may.
    OutOfSteps {
        /// The limit.
        limit: u32,
        /// Where it stopped.
        span: Span,
    },
}

impl EvalError {
    /// Returns the part of the source that failed.
    pub fn span(&self) -> Span {
        match self {
            Self::Missing { span, .. }
            | Self::Type { span, .. }
            | Self::Overflow { span }
            | Self::DivisionByZero { span }
            | Self::TooLarge { span, .. }
            | Self::OutOfSteps { span, .. } => *span,
        }
    }

    /// Returns whether something was not there (yet), rather than wrong.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    /// Returns whether a limit stopped the evaluation; no operator may absorb that.
    pub(super) fn is_limit(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::OutOfSteps { .. })
    }

    pub(super) fn wrong_type(span: Span, message: impl Into<String>) -> Self {
        Self::Type { message: message.into(), span }
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { path, .. } => write!(f, "`{path}` is missing"),
            Self::Type { message, .. } | Self::TooLarge { message, .. } => f.write_str(message),
            Self::Overflow { .. } => f.write_str("the result is out of range"),
            Self::DivisionByZero { .. } => f.write_str("division by zero"),
            Self::OutOfSteps { limit, .. } => write!(f, "evaluation took more than {limit} steps"),
        }
    }
}

impl std::error::Error for EvalError {}
