//! Leaves out edges that say nothing new, where there are too many to follow.

use super::graph::{Edge, Graph};

/// How many edges a node may have on average before those that say nothing new are left out.
const EDGES_PER_NODE: usize = 2;

/// The most layers that all edges together may cross; each crossing takes room and time.
const CROSSINGS_MAX: usize = 6_000;

/// The most edges that are drawn at all.
const EDGES_MAX: usize = 2_000;

/// Leaves out edges where a longer way says the same, and then the longest of the rest until the graph can be drawn.
pub(super) fn reduce(graph: &mut Graph) {
    if graph.edges.len() > EDGES_PER_NODE * graph.nodes.len() {
        let implied = implied(graph);
        let mut at = 0;
        graph.edges.retain(|edge| {
            at += 1;
            edge.critical || !implied[at - 1]
        });
    }
    let length = |edge: &Edge| graph.nodes[edge.to].layer.saturating_sub(graph.nodes[edge.from].layer).max(1);
    let mut by_length: Vec<(Edge, usize)> = graph.edges.iter().map(|edge| (*edge, length(edge))).collect();
    by_length.sort_by_key(|(edge, length)| (!edge.critical, *length, edge.from, edge.to));
    let mut crossings = 0;
    let kept = by_length.into_iter().take_while(|(_, length)| {
        crossings += length;
        crossings <= CROSSINGS_MAX
    });
    graph.edges = kept.map(|(edge, _)| edge).take(EDGES_MAX).collect();
    graph.edges.sort_by_key(|edge| (edge.from, edge.to));
}

/// Says for each edge whether its end can be reached without it.
fn implied(graph: &Graph) -> Vec<bool> {
    let count = graph.nodes.len();
    let words = count.div_ceil(64);
    let mut starts = vec![0; count + 1];
    for edge in &graph.edges {
        starts[edge.from + 1] += 1;
    }
    for at in 0..count {
        starts[at + 1] += starts[at];
    }
    let mut reached = vec![0_u64; count * words];
    let mut implied = vec![false; graph.edges.len()];
    // Edges only go forward, so what a node reaches is complete before anything before it asks.
    for from in (0..count).rev() {
        let mut seen = vec![0_u64; words];
        let own = starts[from]..starts[from + 1];
        for (edge, implied) in graph.edges[own.clone()].iter().zip(&mut implied[own]) {
            let to = edge.to;
            *implied = seen[to / 64] >> (to % 64) & 1 == 1;
            seen[to / 64] |= 1 << (to % 64);
            for (word, other) in seen.iter_mut().zip(&reached[to * words..(to + 1) * words]) {
                *word |= other;
            }
        }
        reached[from * words..(from + 1) * words].copy_from_slice(&seen);
    }
    implied
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::network::graph::Node;

    fn graph(layers: &[usize], edges: &[(usize, usize)]) -> Graph {
        let node = |layer: &usize| Node {
            tasks: vec![0],
            critical: false,
            start: Default::default(),
            finish: Default::default(),
            layer: *layer,
        };
        let edges = edges.iter().map(|(from, to)| Edge { from: *from, to: *to, critical: false }).collect();
        Graph { nodes: layers.iter().map(node).collect(), edges, left_out: 0 }
    }

    #[test]
    fn an_edge_that_a_longer_way_implies_is_left_out() {
        let all: Vec<(usize, usize)> = (0..6).flat_map(|from| (from + 1..6).map(move |to| (from, to))).collect();
        let mut dense = graph(&[0, 1, 2, 3, 4, 5], &all);
        reduce(&mut dense);
        let kept: Vec<(usize, usize)> = dense.edges.iter().map(|edge| (edge.from, edge.to)).collect();
        assert_eq!(kept, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
    }

    #[test]
    fn few_edges_all_stay() {
        let mut sparse = graph(&[0, 1, 2], &[(0, 1), (0, 2), (1, 2)]);
        reduce(&mut sparse);
        assert_eq!(sparse.edges.len(), 3);
    }
}
