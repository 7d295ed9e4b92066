//! A task, or the plan, while its lines are being read.

use crate::node::{Key, Node, Span, Value};
use crate::tree::Builder;

/// What was read of a task or the plan so far.
pub(super) struct Draft {
    /// Its first line.
    pub(super) span: Span,
    /// How far its first line is indented.
    pub(super) indent: usize,
    /// How far its fields are indented, once one was met.
    pub(super) body_indent: Option<usize>,
    /// Its fields.
    pub(super) fields: Vec<(Key, Node)>,
    /// Every `using:`.
    pub(super) capabilities: Vec<(Key, Node)>,
    /// Every `on … -> …`.
    pub(super) routes: Vec<Node>,
    /// The tasks inside it.
    pub(super) children: Vec<Node>,
}

impl Draft {
    pub(super) fn new(span: Span, indent: usize) -> Self {
        Self {
            span,
            indent,
            body_indent: None,
            fields: Vec::new(),
            capabilities: Vec::new(),
            routes: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Tells whether a field was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(key, _)| key.text == name)
    }

    /// Makes the node of what was read; fields that were given twice are reported.
    pub(super) fn finish(self, span: Span, builder: &mut Builder) -> Node {
        let Self { mut fields, capabilities, routes, children, .. } = self;
        let gathered = [
            ("using", capabilities.into_iter().map(|(_, node)| node).collect::<Vec<_>>()),
            ("next", routes),
            ("tasks", children),
        ];
        for (name, items) in gathered {
            if let (Some(first), Some(last)) = (items.first(), items.last()) {
                let place = first.span;
                let all = place.to(last.span);
                fields.push((Key { text: name.to_owned(), span: place }, Node::new(all, Value::Seq(items))));
            }
        }
        builder.refuse_duplicates(&mut fields);
        Node::new(span, Value::Map(fields))
    }
}
