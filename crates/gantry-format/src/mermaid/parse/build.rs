//! Building the chart: nodes by id, edges of products, who is inside of which subgraph, limits.

use std::collections::{BTreeMap, BTreeSet};

use super::MermaidError;
use super::link::Link;
use crate::mermaid::chart::{Direction, FlowEdge, FlowNode, Flowchart, Ignored, IgnoredKind, Shape, Span, Subgraph};
use crate::mermaid::limits::{EDGE_TEXT_BYTES_MAX, EDGES_MAX, NESTING_MAX, NODES_MAX};

/// The chart so far.
pub(super) struct Builder {
    chart: Flowchart,
    positions: BTreeMap<String, usize>,
    /// Nodes that turned out to be edges: `e1@{ animate: true }`.
    edge_nodes: BTreeSet<usize>,
    edge_ids: BTreeSet<String>,
    edge_text_bytes: usize,
    /// Where a node got a label or a shape, to tell when it was a subgraph's.
    looks: BTreeMap<usize, Span>,
    /// The subgraphs around the current statement, outermost first.
    open: Vec<usize>,
    /// Per subgraph, the nodes that its own statements name.
    named: Vec<Vec<usize>>,
    /// The subgraphs in the order in which they close: the first one to close owns a node.
    closed: Vec<usize>,
    /// Set by the first limit that is reached; nothing is added afterwards.
    full: bool,
}

impl Builder {
    pub(super) fn new(title: Option<String>, ignored: Vec<Ignored>) -> Self {
        Self {
            chart: Flowchart { title, ignored, ..Flowchart::default() },
            positions: BTreeMap::new(),
            edge_nodes: BTreeSet::new(),
            edge_ids: BTreeSet::new(),
            edge_text_bytes: 0,
            looks: BTreeMap::new(),
            open: Vec::new(),
            named: Vec::new(),
            closed: Vec::new(),
            full: false,
        }
    }

    pub(super) fn set_direction(&mut self, direction: Direction) {
        self.chart.direction = direction;
    }

    /// Sets the direction of the innermost open subgraph; returns whether there is one.
    pub(super) fn set_subgraph_direction(&mut self, direction: Direction) -> bool {
        let innermost = self.open.last();
        if let Some(subgraph) = innermost {
            self.chart.subgraphs[*subgraph].direction = Some(direction);
        }
        innermost.is_some()
    }

    pub(super) fn ignore(&mut self, kind: IgnoredKind, span: Span) {
        self.chart.ignored.push(Ignored { kind, span });
    }

    /// Returns whether a limit was reached.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn is_edge_id(&self, id: &str) -> bool {
        self.edge_ids.contains(id)
    }

    /// Returns the position of the node, which is new or known.
    pub(super) fn node(&mut self, id: &str, span: Span) -> Result<usize, MermaidError> {
        let position = if let Some(position) = self.positions.get(id) {
            *position
        } else {
            let position = self.chart.nodes.len();
            if position >= NODES_MAX {
                return Err(self.limit(span, format!("more than {NODES_MAX} nodes")));
            }
            self.positions.insert(id.to_owned(), position);
            self.chart.nodes.push(FlowNode { id: id.to_owned(), label: None, shape: Shape::default(), span });
            position
        };
        if let Some(innermost) = self.open.last() {
            self.named[*innermost].push(position);
        }
        Ok(position)
    }

    /// Takes back a node that is only data of an edge.
    pub(super) fn forget_edge_node(&mut self, node: usize) {
        self.edge_nodes.insert(node);
    }

    /// Gives a node its label or shape; the last one counts.
    pub(super) fn set_look(&mut self, node: usize, label: Option<String>, shape: Option<Shape>, span: Span) {
        let found = &mut self.chart.nodes[node];
        found.label = label.or(found.label.take());
        found.shape = shape.unwrap_or_else(|| std::mem::take(&mut found.shape));
        self.looks.insert(node, span);
    }

    /// Adds an edge from each node on the left to each on the right.
    pub(super) fn edges(&mut self, from: &[usize], to: &[usize], link: Link) -> Result<(), MermaidError> {
        let count = from.len().saturating_mul(to.len());
        if self.chart.edges.len().saturating_add(count) > EDGES_MAX {
            return Err(self.limit(link.span, format!("more than {EDGES_MAX} edges")));
        }
        self.edge_ids.extend(link.id);
        for left in from {
            for right in to {
                let from = &self.chart.nodes[*left].id;
                let to = &self.chart.nodes[*right].id;
                let label_bytes = link.label.as_ref().map_or(0, String::len);
                self.edge_text_bytes += from.len() + to.len() + label_bytes;
                if self.edge_text_bytes > EDGE_TEXT_BYTES_MAX {
                    let what = format!("more than {EDGE_TEXT_BYTES_MAX} bytes of text on edges");
                    return Err(self.limit(link.span, what));
                }
                self.chart.edges.push(FlowEdge {
                    from: from.clone(),
                    to: to.clone(),
                    label: link.label.clone(),
                    style: link.style,
                    arrow: link.arrow,
                    both_ways: link.both_ways,
                    span: link.span.clone(),
                });
            }
        }
        Ok(())
    }

    /// Opens a subgraph with the text before its `[title]`, if it has one.
    pub(super) fn open_subgraph(&mut self, head: &str, title: Option<String>, span: Span) -> Result<(), MermaidError> {
        if self.open.len() >= NESTING_MAX {
            return Err(self.limit(span, format!("more than {NESTING_MAX} subgraphs inside one another")));
        }
        let has_id = title.is_some() || !head.contains(char::is_whitespace);
        let position = self.chart.subgraphs.len();
        self.chart.subgraphs.push(Subgraph {
            id: if has_id { head.to_owned() } else { String::new() },
            title: title.unwrap_or_else(|| head.to_owned()),
            parent: self.open.last().copied(),
            nodes: Vec::new(),
            direction: None,
            span,
        });
        self.named.push(Vec::new());
        self.open.push(position);
        Ok(())
    }

    /// Closes the innermost subgraph.
    pub(super) fn close_subgraph(&mut self, span: Span) -> Result<(), MermaidError> {
        let Some(position) = self.open.pop() else {
            return Err(MermaidError::new(
                span,
                "`end` without a subgraph",
                "remove it, or give a node called `end` another id",
            ));
        };
        let subgraph = &mut self.chart.subgraphs[position];
        if subgraph.id.is_empty() {
            subgraph.id = format!("subGraph{}", self.closed.len());
        }
        self.closed.push(position);
        Ok(())
    }

    /// Reports the subgraphs that are still open at the end.
    pub(super) fn check_all_closed(&mut self, problems: &mut Vec<MermaidError>) {
        if self.full {
            return;
        }
        for position in &self.open {
            let subgraph = &self.chart.subgraphs[*position];
            problems.push(MermaidError::new(
                subgraph.span.clone(),
                format!("subgraph `{}` is never closed", subgraph.title),
                "end it with a line `end`",
            ));
        }
    }

    /// Settles who is inside of which subgraph, and returns the chart.
    pub(super) fn finish(mut self, problems: &mut Vec<MermaidError>) -> Flowchart {
        let mut subgraphs: BTreeMap<&str, usize> = BTreeMap::new();
        for (position, subgraph) in self.chart.subgraphs.iter().enumerate() {
            subgraphs.entry(&subgraph.id).or_insert(position);
        }
        let as_subgraph: Vec<Option<usize>> =
            self.chart.nodes.iter().map(|node| subgraphs.get(node.id.as_str()).copied()).collect();
        for edge in &self.chart.edges {
            // An id that edges lead to is a node, whatever else it names.
            for id in [&edge.from, &edge.to] {
                if let Some(position) = self.positions.get(id) {
                    self.edge_nodes.remove(position);
                }
            }
        }
        self.settle_owners(&as_subgraph, problems);
        for (node, span) in &self.looks {
            if as_subgraph[*node].is_some() {
                self.chart.ignored.push(Ignored { kind: IgnoredKind::SubgraphShape, span: span.clone() });
            }
        }
        let mut position = 0;
        self.chart.nodes.retain(|_| {
            let is_node = as_subgraph[position].is_none() && !self.edge_nodes.contains(&position);
            position += 1;
            is_node
        });
        self.chart.ignored.sort_by_key(|ignored| ignored.span.start);
        self.chart
    }

    /// Gives each node to the first subgraph to close that names it, and a subgraph that is
    /// named inside of another one likewise.
    fn settle_owners(&mut self, as_subgraph: &[Option<usize>], problems: &mut Vec<MermaidError>) {
        let mut owned = vec![false; self.chart.nodes.len()];
        for outer in &self.closed {
            for node in &self.named[*outer] {
                if std::mem::replace(&mut owned[*node], true) || self.edge_nodes.contains(node) {
                    continue;
                }
                match as_subgraph[*node] {
                    None => {
                        let id = self.chart.nodes[*node].id.clone();
                        self.chart.subgraphs[*outer].nodes.push(id);
                    }
                    Some(inner) => {
                        if self.chart.subgraphs[inner].parent.is_none() {
                            nest(&mut self.chart.subgraphs, inner, *outer, problems);
                        }
                    }
                }
            }
        }
    }

    fn limit(&mut self, span: Span, what: String) -> MermaidError {
        self.full = true;
        MermaidError::new(span, what, "split the chart into several")
    }
}

/// Puts one subgraph into another, unless that would be a circle.
fn nest(subgraphs: &mut [Subgraph], inner: usize, outer: usize, problems: &mut Vec<MermaidError>) {
    let mut above = Some(outer);
    for _ in 0..NESTING_MAX {
        let Some(position) = above else {
            subgraphs[inner].parent = Some(outer);
            return;
        };
        if position == inner {
            return;
        }
        above = subgraphs[position].parent;
    }
    problems.push(MermaidError::new(
        subgraphs[inner].span.clone(),
        format!("more than {NESTING_MAX} subgraphs inside one another"),
        "split the chart into several",
    ));
}
