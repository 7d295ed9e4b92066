//! The graph that is drawn: without cycles, in an order, with a layer for each node.

use super::{Network, fold, reduce};
use crate::chart::moment::Moment;
use std::collections::{BTreeMap, BTreeSet};

/// What is drawn as one box: a task, or several.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub tasks: Vec<usize>,
    pub critical: bool,
    pub start: Moment,
    pub finish: Moment,
    /// How many steps it is from the beginning.
    pub layer: usize,
}

/// What is drawn as one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    pub critical: bool,
}

/// Nodes in an order in which no edge goes back, and the edges between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// How many links are not drawn because others say the same, or because they would run in circles.
    pub left_out: usize,
}

impl Graph {
    /// Returns the graph of a network, folded where it is too large.
    pub(super) fn of(network: &Network) -> Self {
        let edges = links(network);
        let order = order(network.tasks.len(), &edges);
        let mut place = vec![0; order.len()];
        for (at, task) in order.iter().enumerate() {
            place[*task] = at;
        }
        let placed = edges.iter().map(|edge| Edge { from: place[edge.from], to: place[edge.to], ..*edge });
        let mut edges: Vec<Edge> = placed.filter(|edge| edge.from < edge.to).collect();
        edges.sort_by_key(|edge| (edge.from, edge.to));
        let layers = layers(order.len(), &edges);
        let nodes = order.iter().zip(layers).map(|(task, layer)| {
            let critical = network.tasks[*task].critical;
            let (start, finish) = (network.tasks[*task].start, network.tasks[*task].finish);
            Node { tasks: vec![*task], critical, start, finish: finish.max(start), layer }
        });
        let mut graph = Self { nodes: nodes.collect(), edges, left_out: 0 };
        if graph.nodes.len() > network.boxes_max.max(1) {
            graph = fold::fold(network, &graph);
        }
        reduce::reduce(&mut graph);
        graph.left_out = links(network).len() - graph.edges.len().min(links(network).len());
        graph
    }

    /// Returns how many layers there are.
    pub(super) fn layers(&self) -> usize {
        self.nodes.iter().map(|node| node.layer + 1).max().unwrap_or(0)
    }
}

/// The links between different tasks that are there, each once.
fn links(network: &Network) -> Vec<Edge> {
    let count = network.tasks.len();
    let mut seen: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    for link in network.links.iter().filter(|link| link.from < count && link.to < count && link.from != link.to) {
        *seen.entry((link.from, link.to)).or_default() |= link.critical;
    }
    seen.into_iter().map(|((from, to), critical)| Edge { from, to, critical }).collect()
}

/// Returns an order in which as few edges as possible go back: none, unless they run in circles.
fn order(count: usize, edges: &[Edge]) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waits: Vec<usize> = vec![0; count];
    for edge in edges {
        after[edge.from].push(edge.to);
        waits[edge.to] += 1;
    }
    let mut left: BTreeSet<usize> = (0..count).collect();
    let mut ready: BTreeSet<usize> = left.iter().copied().filter(|at| waits[*at] == 0).collect();
    let mut order = Vec::with_capacity(count);
    while let Some(next) = ready.pop_first().or_else(|| left.first().copied()) {
        left.remove(&next);
        order.push(next);
        for to in &after[next] {
            waits[*to] = waits[*to].saturating_sub(1);
            if waits[*to] == 0 && left.contains(to) {
                ready.insert(*to);
            }
        }
    }
    order
}

/// Returns for each node the length of the longest way to it.
fn layers(count: usize, edges: &[Edge]) -> Vec<usize> {
    let mut layers = vec![0; count];
    // The edges are sorted by where they begin, and none goes back: each beginning is final when it is reached.
    for edge in edges {
        layers[edge.to] = layers[edge.to].max(layers[edge.from] + 1);
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{NetworkLink, NetworkTask};

    pub(crate) fn network(count: usize, links: &[(usize, usize)]) -> Network {
        let links = links.iter().map(|(from, to)| NetworkLink { from: *from, to: *to, critical: false }).collect();
        Network { tasks: vec![NetworkTask::default(); count], links, ..Network::default() }
    }

    fn drawn(graph: &Graph) -> String {
        let nodes = graph.nodes.iter().map(|node| format!("{:?}@{}", node.tasks, node.layer));
        let edges = graph.edges.iter().map(|edge| format!("{}-{}", edge.from, edge.to));
        nodes.chain(edges).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_task_lies_one_layer_behind_the_last_it_waits_for() {
        let graph = Graph::of(&network(4, &[(3, 1), (1, 0), (3, 0), (0, 2)]));
        assert_eq!(drawn(&graph), "[3]@0 [1]@1 [0]@2 [2]@3 0-1 0-2 1-2 2-3");
    }

    #[test]
    fn links_that_run_in_circles_or_lead_nowhere_are_left_out() {
        let graph = Graph::of(&network(3, &[(0, 1), (1, 2), (2, 0), (1, 1), (0, 9)]));
        assert_eq!(drawn(&graph), "[0]@0 [1]@1 [2]@2 0-1 1-2");
        assert_eq!(graph.left_out, 1);
    }
}
