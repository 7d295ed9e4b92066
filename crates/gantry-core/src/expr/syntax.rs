//! The parsed tree: an arena of nodes that name each other by index.
//!
//! Chains of one precedence are flat (`a && b && c` is one node), so that a long expression is not
//! a deep one, and an arena is dropped without recursion.

use super::FreePath;
use super::error::Span;
use super::functions::Function;
use super::value::Value;

/// The place of a node in its program.
pub(super) type NodeId = usize;

/// A whole expression.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
}

/// One node and its place in the source.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// One more than the highest child.
    pub(super) height: usize,
}

/// What a node is.
#[derive(Debug)]
pub(super) enum Kind {
    Literal(Value),
    /// A root name and the static members after it.
    Path(Vec<String>),
    /// A variable bound by a macro, by its place from the outermost.
    Local(usize),
    Member {
        base: NodeId,
        name: String,
    },
    Index {
        base: NodeId,
        index: NodeId,
    },
    List(Vec<NodeId>),
    Map(Vec<(NodeId, NodeId)>),
    Not(NodeId),
    Negate(NodeId),
    /// Additive or multiplicative operators, from left to right.
    Arithmetic {
        first: NodeId,
        rest: Vec<(Arithmetic, NodeId)>,
    },
    Compare {
        comparison: Comparison,
        left: NodeId,
        right: NodeId,
    },
    All(Vec<NodeId>),
    Any(Vec<NodeId>),
    If {
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
    },
    Has(NodeId),
    Default {
        value: NodeId,
        otherwise: NodeId,
    },
    Call {
        function: Function,
        arguments: Vec<NodeId>,
    },
    /// A macro over the elements of a list or the keys of a map.
    Each {
        each: Each,
        source: NodeId,
        variable: String,
        /// Only for `map(x, condition, value)`.
        condition: Option<NodeId>,
        body: NodeId,
    },
}

/// An arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Arithmetic {
    pub(super) fn is_additive(self) -> bool {
        matches!(self, Self::Add | Self::Subtract)
    }
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
}

/// A macro that binds a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Each {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
}

impl Each {
    pub(super) fn find(name: &str) -> Option<Self> {
        match name {
            "all" => Some(Self::All),
            "exists" => Some(Self::Exists),
            "exists_one" => Some(Self::ExistsOne),
            "map" => Some(Self::Map),
            "filter" => Some(Self::Filter),
            _ => None,
        }
    }
}

impl Kind {
    /// Calls a function with every child.
    pub(super) fn for_each_child(&self, mut visit: impl FnMut(NodeId)) {
        match self {
            Self::Literal(_) | Self::Path(_) | Self::Local(_) => {}
            Self::Member { base: only, .. } | Self::Not(only) | Self::Negate(only) | Self::Has(only) => visit(*only),
            Self::Index { base, index } => [*base, *index].into_iter().for_each(visit),
            Self::List(items) | Self::All(items) | Self::Any(items) => {
                items.iter().copied().for_each(visit);
            }
            Self::Call { arguments, .. } => arguments.iter().copied().for_each(visit),
            Self::Map(entries) => {
                for (key, value) in entries {
                    visit(*key);
                    visit(*value);
                }
            }
            Self::Arithmetic { first, rest } => {
                visit(*first);
                for (_, operand) in rest {
                    visit(*operand);
                }
            }
            Self::Compare { left, right, .. } => [*left, *right].into_iter().for_each(visit),
            Self::If { condition, then, otherwise } => [*condition, *then, *otherwise].into_iter().for_each(visit),
            Self::Default { value, otherwise } => [*value, *otherwise].into_iter().for_each(visit),
            Self::Each { source, condition, body, .. } => {
                visit(*source);
                condition.iter().copied().for_each(&mut visit);
                visit(*body);
            }
        }
    }
}

impl Program {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(super) fn root_span(&self) -> Span {
        self.node(self.root).span
    }

    /// Tells whether it is nothing but a text.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.node(self.root).kind, Kind::Literal(Value::Text(_)))
    }

    /// Returns the paths the program reads, once each. Nodes are made in order of appearance.
    pub(super) fn paths(&self) -> Vec<FreePath> {
        let mut paths: Vec<FreePath> = Vec::new();
        for node in &self.nodes {
            if let Kind::Path(segments) = &node.kind
                && !paths.iter().any(|path| path.segments == *segments)
            {
                paths.push(FreePath { segments: segments.clone(), span: node.span });
            }
        }
        paths
    }
}
