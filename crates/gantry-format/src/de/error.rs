//! Why a node does not fit a type.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::diagnostic::Diagnostic;
use crate::node::Span;
use crate::suggest::{nearest, shorten};

/// Why a node does not fit a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What kind of misfit it is.
    pub code: &'static str,
    /// What is wrong, as a lowercase fragment.
    pub message: String,
    /// Where; nothing only when no node was involved.
    pub span: Option<Span>,
    /// What would probably put it right.
    pub hint: Option<String>,
}

impl Error {
    pub(super) fn new(code: &'static str, message: String) -> Self {
        Self { code, message, span: None, hint: None }
    }

    /// Adds the place, unless a place further inside is already known.
    #[must_use]
    pub(super) fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }

    /// Turns the error into a finding of a report.
    pub fn into_diagnostic(self, otherwise: Span) -> Diagnostic {
        Diagnostic::error(self.code, self.message).at(self.span.unwrap_or(otherwise)).hint_opt(self.hint)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new("plan::invalid-value", message.to_string())
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = describe(&unexpected);
        Self::new("plan::wrong-type", format!("expected {}, found {found}", wanted(expected)))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = describe(&unexpected);
        Self::new("plan::invalid-value", format!("expected {}, found {found}", wanted(expected)))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        unknown("plan::unknown-field", "field", field, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        unknown("plan::unknown-word", "word", variant, expected)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new("plan::missing-field", format!("`{field}` is missing"))
    }
}

/// The refusal of a name that is not among the known ones.
fn unknown(code: &'static str, what: &str, name: &str, expected: &'static [&'static str]) -> Error {
    let mut error = Error::new(code, format!("unknown {what} `{}`", shorten(name)));
    error.hint = match nearest(name, expected.iter().copied()) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        // A sentence with a colon in it turns into a map without anyone noticing.
        None if name.contains(' ') => Some("a text with `: ` in it needs quotes".to_owned()),
        None if expected.is_empty() => Some("nothing may stand here".to_owned()),
        None => Some(format!("known are {}", list(expected))),
    };
    error
}

/// Writes names as a list for a sentence.
pub(crate) fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Says in words of a plan what a type asks for in words of Rust.
fn wanted(expected: &dyn Expected) -> String {
    let words = expected.to_string();
    match words.as_str() {
        "i8" | "i16" | "i32" | "i64" => "a whole number".to_owned(),
        "u8" => format!("a whole number from 0 to {}", u8::MAX),
        "u16" => format!("a whole number from 0 to {}", u16::MAX),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" | "usize" => "a whole number that is not negative".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a string" => "a text".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a sequence" => "a list".to_owned(),
        _ if words.starts_with("struct ") => "a map".to_owned(),
        _ => words,
    }
}

fn describe(unexpected: &Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Str(text) => format!("the text {:?}", shorten(text)),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a map".to_owned(),
        Unexpected::Unsigned(number) => format!("the number {number}"),
        Unexpected::Signed(number) => format!("the number {number}"),
        Unexpected::Float(number) => format!("the number {number}"),
        Unexpected::Bool(value) => format!("`{value}`"),
        other => other.to_string(),
    }
}
