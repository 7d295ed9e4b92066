//! Builds a tree of nodes within the limits of [`crate::node`], without recursion.
//!
//! The readers of YAML, JSON and the text DSL call the builder as they meet the parts of a
//! document. It refuses what is too deep or too large, and keys that are used twice. A key used
//! twice does not stop the reading, so that a file shows all its faults at once.

use crate::diagnostic::{Diagnostic, Findings};
use crate::node::{DEPTH_MAX, Key, NODES_MAX, Node, Span, Value, duplicate_keys};
use crate::suggest::shorten;

/// What a reader made of a text.
#[derive(Debug)]
pub struct Parsed {
    /// The tree, unless the text could not be read to its end.
    pub node: Option<Node>,
    /// What was wrong.
    pub findings: Findings,
}

/// Says that reading cannot go on; the reason is among the builder's findings.
#[derive(Debug)]
pub(crate) struct Stop;

enum Frame {
    Seq { start: usize, items: Vec<Node> },
    Map { start: usize, entries: Vec<(Key, Node)>, key: Option<Key> },
}

/// A tree in the making.
#[derive(Default)]
pub(crate) struct Builder {
    stack: Vec<Frame>,
    root: Option<Node>,
    nodes: usize,
    findings: Findings,
}

impl Builder {
    /// Records a problem and goes on.
    pub(crate) fn note(&mut self, problem: Diagnostic) {
        self.findings.push(problem);
    }

    /// Records a problem after which reading cannot go on.
    pub(crate) fn stop(&mut self, problem: Diagnostic) -> Stop {
        self.note(problem);
        Stop
    }

    /// Returns how many collections are open.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Tells whether the next node is a key of a map rather than a value.
    pub(crate) fn wants_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame::Map { key: None, .. }))
    }

    /// Starts a list.
    pub(crate) fn open_seq(&mut self, at: Span) -> Result<(), Stop> {
        self.open(at, Frame::Seq { start: at.start, items: Vec::new() })
    }

    /// Starts a map.
    pub(crate) fn open_map(&mut self, at: Span) -> Result<(), Stop> {
        self.open(at, Frame::Map { start: at.start, entries: Vec::new(), key: None })
    }

    fn open(&mut self, at: Span, frame: Frame) -> Result<(), Stop> {
        self.count(1, at)?;
        if self.stack.len() >= DEPTH_MAX {
            return Err(self.stop(too_deep(at)));
        }
        self.stack.push(frame);
        Ok(())
    }

    /// Names the next value of the innermost map.
    pub(crate) fn key(&mut self, name: Key) {
        if let Some(Frame::Map { key, .. }) = self.stack.last_mut() {
            *key = Some(name);
        }
    }

    /// Adds a value that stands alone.
    pub(crate) fn scalar(&mut self, node: Node) -> Result<(), Stop> {
        self.count(1, node.span)?;
        self.place(node);
        Ok(())
    }

    /// Puts a node that is already counted where it belongs.
    pub(crate) fn place(&mut self, node: Node) {
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(Frame::Seq { items, .. }) => items.push(node),
            Some(Frame::Map { entries, key, .. }) => {
                if let Some(key) = key.take() {
                    entries.push((key, node));
                }
            }
        }
    }

    /// Takes the innermost collection off the stack and returns it, still to be placed.
    ///
    /// It ends at `end`, or with its last part when the format has no closing mark.
    pub(crate) fn close(&mut self, end: Option<usize>) -> Option<Node> {
        match self.stack.pop()? {
            Frame::Seq { start, items } => {
                let end = end.or(items.last().map(|item| item.span.end));
                let span = Span::new(start, end.unwrap_or(start));
                Some(Node::new(span, Value::Seq(items)))
            }
            Frame::Map { start, mut entries, .. } => {
                let end = end.or(entries.last().map(|(_, value)| value.span.end));
                self.refuse_duplicates(&mut entries);
                let span = Span::new(start, end.unwrap_or(start));
                Some(Node::new(span, Value::Map(entries)))
            }
        }
    }

    /// Reports the keys that are used twice and keeps the first of each.
    pub(crate) fn refuse_duplicates(&mut self, entries: &mut Vec<(Key, Node)>) {
        let pairs = duplicate_keys(entries);
        for &(first, second) in &pairs {
            let (first, second) = (&entries[first].0, &entries[second].0);
            let name = shorten(&first.text);
            self.note(
                Diagnostic::error("file::duplicate-key", format!("`{name}` is given twice"))
                    .at(second.span)
                    .label("given again here")
                    .other(first.span, "first given here"),
            );
        }
        let mut again = pairs.into_iter().map(|(_, second)| second).peekable();
        let mut position = 0;
        entries.retain(|_| {
            let keep = again.next_if_eq(&position).is_none();
            position += 1;
            keep
        });
    }

    /// Counts nodes against the limit.
    pub(crate) fn count(&mut self, nodes: usize, at: Span) -> Result<(), Stop> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > NODES_MAX {
            return Err(self.stop(
                Diagnostic::error("file::too-large", format!("the file has more than {NODES_MAX} values"))
                    .at(at)
                    .label("the limit is passed here")
                    .hint("split the plan, or repeat less through aliases"),
            ));
        }
        Ok(())
    }

    /// Ends the building. After a [`Stop`] there is no tree.
    pub(crate) fn finish(self, outcome: &Result<(), Stop>) -> Parsed {
        Parsed { node: outcome.is_ok().then_some(self.root).flatten(), findings: self.findings }
    }
}

/// The refusal of what nests too deeply.
pub(crate) fn too_deep(at: Span) -> Diagnostic {
    Diagnostic::error("file::too-deep", format!("the file nests deeper than {DEPTH_MAX} levels"))
        .at(at)
        .label("one level too many")
}
