//! Reading: free paths from the scope, fields and elements from values.

use std::fmt::Write as _;

use super::error::{EvalError, Span};
use super::eval::{Evaluated, Evaluator, NAMED_CHARS_MAX, shortened};
use super::syntax::{Kind, NodeId};
use super::value::Value;

/// Why a path has no value.
#[derive(Clone, Copy)]
pub(super) enum Absent {
    /// So many leading segments are there, the next one is not.
    Missing { known: usize },
    /// So many leading segments are there, and lead to something without fields.
    NotMap { known: usize, found: &'static str },
    /// The value nests too deeply, or holds a number out of range.
    Unreadable,
}

impl<'a> Evaluator<'a> {
    pub(super) fn path(&mut self, segments: &'a [String], span: Span) -> Evaluated {
        self.read(segments).map_err(|absent| absent.error(segments, span))
    }

    fn read(&mut self, segments: &'a [String]) -> Result<Value, Absent> {
        if let Some(known) = self.reads.get(segments) {
            return known.clone();
        }
        let names: Vec<&str> = segments.iter().map(String::as_str).collect();
        let read = match self.scope.lookup_path(&names) {
            Some(json) => Value::from_json(json).ok_or(Absent::Unreadable),
            None => Err(self.absent(&names)),
        };
        self.reads.insert(segments, read.clone());
        read
    }

    /// Finds out how far a path without value leads, in few lookups however long it is.
    fn absent(&self, names: &[&str]) -> Absent {
        let (mut known, mut unknown) = (0, names.len());
        let mut last = None;
        // Mostly the last segment alone is missing; otherwise the rest is halved.
        let mut probe = names.len().saturating_sub(1);
        while unknown - known > 1 {
            match self.scope.lookup_path(&names[..probe]) {
                Some(json) => {
                    known = probe;
                    last = Some(json);
                }
                None => unknown = probe,
            }
            probe = known.midpoint(unknown);
        }
        let found = match last {
            // A field of null is missing rather than wrong, so that `default` covers it.
            None | Some(serde_json::Value::Null | serde_json::Value::Object(_)) => {
                return Absent::Missing { known };
            }
            Some(serde_json::Value::Bool(_)) => "a bool",
            Some(serde_json::Value::Number(_)) => "a number",
            Some(serde_json::Value::String(_)) => "a string",
            Some(serde_json::Value::Array(_)) => "a list",
        };
        Absent::NotMap { known, found }
    }

    pub(super) fn member(&mut self, base: NodeId, name: &str, span: Span) -> Evaluated {
        let found = self.eval(base)?;
        self.field(&found, name, base, span)?.ok_or_else(|| self.missing(span))
    }

    /// Returns a field if it is there, or says why the value has no fields.
    fn field(&self, value: &Value, name: &str, base: NodeId, span: Span) -> Evaluated<Option<Value>> {
        match value {
            Value::Map(fields) => Ok(fields.get(name).cloned()),
            Value::Null => Ok(None),
            other => {
                let base = self.named(self.program.node(base).span);
                let kind = other.with_kind();
                let message = format!("`{base}` is {kind} and has no field `{name}`");
                Err(EvalError::wrong_type(span, message))
            }
        }
    }

    pub(super) fn has(&mut self, id: NodeId) -> Evaluated {
        let program = self.program;
        let node = program.node(id);
        let found = match &node.kind {
            Kind::Path(segments) => match self.read(segments) {
                Ok(_) => true,
                Err(Absent::Missing { known }) if known + 1 == segments.len() => false,
                Err(absent) => return Err(absent.error(segments, node.span)),
            },
            Kind::Member { base, name } => {
                let value = self.eval(*base)?;
                self.field(&value, name, *base, node.span)?.is_some()
            }
            // The parser lets nothing else in.
            _ => return Err(EvalError::wrong_type(node.span, "`has` takes one field")),
        };
        Ok(Value::Bool(found))
    }

    pub(super) fn index(&mut self, base: NodeId, index: NodeId, span: Span) -> Evaluated {
        let value = self.eval(base)?;
        let found = match (&value, self.eval(index)?) {
            (Value::List(items), Value::Int(place)) => {
                let place = usize::try_from(place).ok();
                place.and_then(|place| items.get(place).cloned())
            }
            (Value::List(items), Value::Uint(place)) => {
                let place = usize::try_from(place).ok();
                place.and_then(|place| items.get(place).cloned())
            }
            (Value::Map(_) | Value::Null, Value::Text(name)) => self.field(&value, &name, base, span)?,
            (_, index) => {
                let (value, index) = (value.with_kind(), index.with_kind());
                let message = format!("cannot index {value} with {index}");
                return Err(EvalError::wrong_type(span, message));
            }
        };
        found.ok_or_else(|| self.missing(span))
    }

    fn missing(&self, span: Span) -> EvalError {
        EvalError::Missing { path: self.named(span), span }
    }
}

impl Absent {
    fn error(self, segments: &[String], span: Span) -> EvalError {
        match self {
            Self::Missing { known } => EvalError::Missing { path: path_text(&segments[..=known]), span },
            Self::NotMap { known, found } => EvalError::Type {
                message: format!(
                    "`{}` is {found} and has no field `{}`",
                    path_text(&segments[..known]),
                    shortened(&segments[known], NAMED_CHARS_MAX),
                ),
                span,
            },
            Self::Unreadable => {
                EvalError::TooLarge { message: format!("`{}` nests too deeply to be read", path_text(segments)), span }
            }
        }
    }
}

/// Writes a path as one would in an expression: `tasks["a-b"].x`.
fn path_text(segments: &[String]) -> String {
    let mut text = String::new();
    for segment in segments {
        let plain = segment.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && segment.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !plain {
            let quoted = Value::text(segment).shown(NAMED_CHARS_MAX);
            // Writing to a string cannot fail.
            let _ = write!(text, "[{quoted}]");
        } else if text.is_empty() {
            text.push_str(segment);
        } else {
            text.push('.');
            text.push_str(segment);
        }
    }
    shortened(&text, NAMED_CHARS_MAX)
}
