//! Expressions: the small, bounded language of preconditions, routes, checks, budgets and map
//! sources.
//!
//! It is a subset of CEL with three additions: sizes (`50MB`), durations (`2h30m`) and
//! `default(x, y)`. Expressions are written by people and by models, so every source is treated as
//! hostile: parsing and evaluating are pure, total and bounded by the constants below.
//!
//! **Invariant:** no input makes this module panic, loop without end or overflow a 256 KiB stack.
//! **Invariant:** the same source over the same values gives the same answer, byte for byte.
//!
//! What differs from CEL, and why, is written in `docs/adr/0002-expressions.md`.

// Reading order: units and lex, cursor and parse (over syntax), eval with access, operators and
// functions (over value), explain.
mod access;
mod cursor;
mod error;
mod eval;
mod explain;
mod functions;
mod hints;
mod lex;
mod operators;
mod parse;
mod syntax;
mod units;
mod value;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use error::{EvalError, Span, SyntaxError};
pub use units::{DURATION_MAX_MS, SIZE_MAX_BYTES, parse_duration, parse_size};

use eval::Evaluator;
use syntax::Program;
use value::Value;

/// How long a source may be, in bytes.
pub const SOURCE_BYTES_MAX: usize = 4 * 1024;

/// How deeply brackets, calls, conditionals and prefix operators may nest in the source.
pub const NESTING_MAX: usize = 32;

/// How many operators may stand on one another in the parsed tree.
///
/// It bounds the recursion of the evaluator as [`NESTING_MAX`] bounds that of the parser: one level
/// of brackets can hold several levels of operators.
pub const HEIGHT_MAX: usize = 48;

/// How many nodes the parsed tree may have.
pub const NODES_MAX: usize = 1_000;

/// How many steps one evaluation may take.
///
/// Each visited node, compared element and [`BYTES_PER_STEP`] bytes of text worked on is a step.
pub const STEPS_MAX: u32 = 100_000;

/// How many bytes of text are worked on for the price of one step.
pub const BYTES_PER_STEP: usize = 64;

/// How long a text may become by evaluation, in bytes.
pub const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// How long a list may become by evaluation. Longer lists can be read, but not made.
pub const LIST_ITEMS_MAX: usize = 10_000;

/// How deeply a value read from the scope may nest.
pub const VALUE_DEPTH_MAX: usize = 64;

/// How many characters of one value an explanation shows.
pub const SHOWN_VALUE_CHARS_MAX: usize = 80;

/// A parsed expression. Cloning is cheap; equality is that of the source.
#[derive(Clone)]
pub struct Expr(Arc<Parsed>);

struct Parsed {
    source: String,
    program: Program,
    paths: Vec<FreePath>,
}

/// A path the expression reads from its scope, for example `tasks.sources.notes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreePath {
    /// The root name and the static members after it.
    pub segments: Vec<String>,
    /// Where the path first stands in the source.
    pub span: Span,
}

/// The outcome of a test, with the clause that decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether the expression is true.
    pub holds: bool,
    /// The deciding clause and its values: `size(notes) >= 2 is false: size(notes) = 1`.
    pub because: String,
}

/// The values an expression can see.
///
/// Within one evaluation the same path must always give the same value, and a scope that has a value
/// for a path has one for each beginning of it. Each path is read at most once.
pub trait Scope {
    /// Returns the value of a root name.
    fn lookup(&self, name: &str) -> Option<serde_json::Value>;

    /// Returns the value at a path, of which the first segment is a root name.
    ///
    /// Evaluation asks for the longest static path first, so a scope that overrides this need not
    /// copy whole subtrees.
    fn lookup_path(&self, path: &[&str]) -> Option<serde_json::Value> {
        let (root, members) = path.split_first()?;
        let mut value = self.lookup(root)?;
        for member in members {
            let serde_json::Value::Object(mut fields) = value else {
                return None;
            };
            value = fields.remove(*member)?;
        }
        Some(value)
    }
}

/// A JSON object is a scope: its fields are the root names.
impl Scope for serde_json::Map<String, serde_json::Value> {
    fn lookup(&self, name: &str) -> Option<serde_json::Value> {
        self.get(name).cloned()
    }

    fn lookup_path(&self, path: &[&str]) -> Option<serde_json::Value> {
        let (root, members) = path.split_first()?;
        let mut value = self.get(*root)?;
        for member in members {
            value = value.as_object()?.get(*member)?;
        }
        Some(value.clone())
    }
}

impl Expr {
    /// Parses a source, within the limits of this module.
    pub fn parse(source: &str) -> Result<Self, SyntaxError> {
        let program = parse::program(source).map_err(|error| *error)?;
        let paths = program.paths();
        Ok(Self(Arc::new(Parsed { source: source.to_owned(), program, paths })))
    }

    /// Returns the source this expression was parsed from.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Returns every path the expression reads, once, in order of appearance.
    ///
    /// Variables bound by a macro are not among them. A path ends where it stops being static:
    /// `tasks["a-b"].x` is three segments, `items[0].x` is one.
    pub fn paths(&self) -> &[FreePath] {
        &self.0.paths
    }

    /// Tells whether it is nothing but a text in quotes.
    pub fn is_text(&self) -> bool {
        self.0.program.is_text()
    }

    /// Evaluates the expression. Durations become text such as `"600s"`, timestamps RFC 3339.
    pub fn eval(&self, scope: &dyn Scope) -> Result<serde_json::Value, EvalError> {
        let mut evaluator = Evaluator::new(&self.0.program, &self.0.source, scope);
        let value = evaluator.run()?;
        evaluator.export(value)
    }

    /// Evaluates to true or false and explains it.
    pub fn test(&self, scope: &dyn Scope) -> Result<Finding, EvalError> {
        let mut evaluator = Evaluator::new(&self.0.program, &self.0.source, scope);
        let value = evaluator.run()?;
        let Value::Bool(holds) = value else {
            return Err(EvalError::Type {
                message: format!("expected true or false, found {}", value.with_kind()),
                span: self.0.program.root_span(),
            });
        };
        let because = explain::explain(evaluator, holds);
        Ok(Finding { holds, because })
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.source() == other.source()
    }
}

impl Eq for Expr {}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expr").field(&self.source()).finish()
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.source())
    }
}

impl FromStr for Expr {
    type Err = SyntaxError;

    fn from_str(source: &str) -> Result<Self, SyntaxError> {
        Self::parse(source)
    }
}

impl Serialize for Expr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.source())
    }
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let source = String::deserialize(deserializer)?;
        Self::parse(&source).map_err(|error| serde::de::Error::custom(error.located(&source)))
    }
}
