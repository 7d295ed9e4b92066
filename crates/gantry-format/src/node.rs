//! The untyped tree that YAML, JSON and the text DSL are all read into.
//!
//! Every node remembers where it stood in the source, so that whatever is found wrong later, by
//! the typed reading or by the plan's own checks, can be shown at its place. Order is the order of
//! the source. Scalars follow the YAML 1.2 core schema: `no`, `on` and `yes` are text.
//!
//! The readers build no tree deeper than [`DEPTH_MAX`], so recursion over a tree is bounded, the
//! compiler's own recursive `Drop` included.

use std::ops::Range;

/// The deepest nesting a plan file may have.
///
/// A plan nests a handful of levels; what goes deeper is an attack on somebody's stack.
pub const DEPTH_MAX: usize = 64;

/// The most nodes a plan file may have, with every alias counted as if it were written out.
pub const NODES_MAX: usize = 2_000_000;

/// The largest plan file, in bytes; also the most text that aliases may add.
pub const BYTES_MAX: usize = 64 * 1024 * 1024;

/// A half-open range of bytes in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// Makes a span; an end before the start is read as an empty span at the start.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// Makes an empty span.
    pub fn at(offset: usize) -> Self {
        Self::new(offset, offset)
    }

    /// Returns the smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// Returns the span as a range of byte offsets.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// The name of a map entry and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The name, after unescaping.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it stands; for an alias, the place of the alias.
    pub span: Span,
    /// What it is.
    pub value: Value,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing: `null`, `~` or an empty YAML value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A finite number, as it was written.
    Number(String),
    /// A text.
    Str {
        /// The text, after unescaping.
        text: String,
        /// Whether it was written without quotes (YAML only).
        plain: bool,
    },
    /// A list.
    Seq(Vec<Node>),
    /// A map in source order, without duplicate keys.
    Map(Vec<(Key, Node)>),
}

impl Node {
    /// Makes a node.
    pub fn new(span: Span, value: Value) -> Self {
        Self { span, value }
    }

    /// Makes a text node.
    pub fn text(span: Span, text: impl Into<String>) -> Self {
        Self::new(span, Value::Str { text: text.into(), plain: false })
    }

    /// Returns the text of a string node.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Str { text, .. } => Some(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Seq(_) | Value::Map(_) => None,
        }
    }

    /// Returns the entries of a map node.
    pub fn as_map(&self) -> Option<&[(Key, Node)]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Str { .. } | Value::Seq(_) => None,
        }
    }

    /// Returns the items of a list node.
    pub fn as_seq(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Seq(items) => Some(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Str { .. } | Value::Map(_) => None,
        }
    }

    /// Returns the value of a map's entry.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let (_, node) = self.as_map()?.iter().find(|(name, _)| name.text == key)?;
        Some(node)
    }

    /// Names what the node is, for messages: "a list", "the number 3".
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(value) => format!("`{value}`"),
            Value::Number(raw) => format!("the number {}", crate::suggest::shorten(raw)),
            Value::Str { text, .. } => format!("the text {:?}", crate::suggest::shorten(text)),
            Value::Seq(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
        }
    }
}

/// Finds the entries whose key was already used, as pairs (first place, second place) in source
/// order of the second.
pub(crate) fn duplicate_keys(entries: &[(Key, Node)]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|&left, &right| entries[left].0.text.cmp(&entries[right].0.text));
    let mut pairs = Vec::new();
    let mut first = 0;
    for position in 1..order.len() {
        if entries[order[position]].0.text == entries[order[first]].0.text {
            pairs.push((order[first], order[position]));
        } else {
            first = position;
        }
    }
    pairs.sort_by_key(|&(_, second)| second);
    pairs
}
