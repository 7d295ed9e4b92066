//! Puts tasks into common boxes where there are too many for one each.

use super::{
    Network,
    graph::{Edge, Graph, Node},
};
use crate::chart::text;
use std::collections::BTreeMap;

/// What tasks in one box have in common: their layer, whether they are critical, and their group.
type Key = (usize, bool, String);

/// Returns the graph with one box for all tasks of a layer that are of one group, or of any group where even those are too many.
pub(super) fn fold(network: &Network, graph: &Graph) -> Graph {
    let boxes_max = network.boxes_max.max(2);
    let group_of =
        |node: &Node| node.tasks.first().map_or(String::new(), |task| text::clean(&network.tasks[*task].group));
    // Layers that lie together share a box where there are more layers than boxes.
    let kinds = 1 + usize::from(graph.nodes.iter().any(|node| node.critical));
    let layers_per_box = (kinds * graph.layers()).div_ceil(boxes_max).max(1);
    let by_group: Vec<Key> =
        graph.nodes.iter().map(|node| (node.layer / layers_per_box, node.critical, group_of(node))).collect();
    let mut distinct: Vec<&Key> = by_group.iter().collect();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() <= boxes_max {
        return by_keys(graph, &by_group);
    }
    let by_layer: Vec<Key> =
        by_group.into_iter().map(|(layer, critical, _)| (layer, critical, String::new())).collect();
    by_keys(graph, &by_layer)
}

fn by_keys(graph: &Graph, keys: &[Key]) -> Graph {
    let mut boxes: BTreeMap<&Key, Vec<usize>> = BTreeMap::new();
    for (at, key) in keys.iter().enumerate() {
        boxes.entry(key).or_default().push(at);
    }
    let mut box_of = vec![0; keys.len()];
    for (at, inside) in boxes.values().enumerate() {
        for node in inside {
            box_of[*node] = at;
        }
    }
    let nodes: Vec<Node> = boxes
        .iter()
        .map(|((layer, critical, _), inside)| Node {
            tasks: inside.iter().flat_map(|node| graph.nodes[*node].tasks.clone()).collect(),
            critical: *critical,
            start: inside.iter().map(|node| graph.nodes[*node].start).min().unwrap_or_default(),
            finish: inside.iter().map(|node| graph.nodes[*node].finish).max().unwrap_or_default(),
            layer: *layer,
        })
        .collect();
    let mut edges: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    for edge in &graph.edges {
        let (from, to) = (box_of[edge.from], box_of[edge.to]);
        if nodes[from].layer < nodes[to].layer {
            *edges.entry((from, to)).or_default() |= edge.critical;
        }
    }
    let edges = edges.into_iter().map(|((from, to), critical)| Edge { from, to, critical }).collect();
    Graph { nodes, edges, left_out: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{NetworkLink, NetworkTask};

    #[test]
    fn tasks_of_one_layer_and_group_share_a_box() {
        let task = |group: &str| NetworkTask { group: group.to_owned(), ..NetworkTask::default() };
        let link = |from, to| NetworkLink { from, to, critical: false };
        let network = Network {
            tasks: vec![task("cut"), task("cut"), task("glue"), task("paint")],
            links: vec![link(0, 3), link(1, 3), link(2, 3)],
            boxes_max: 3,
            ..Network::default()
        };
        let graph = Graph::of(&network);
        let boxes: Vec<Vec<usize>> = graph.nodes.iter().map(|node| node.tasks.clone()).collect();
        assert_eq!(boxes, [vec![0, 1], vec![2], vec![3]]);
        assert_eq!(graph.edges.len(), 2);
    }

    #[test]
    fn a_long_chain_folds_into_a_short_one() {
        let links = (0..999).map(|at| NetworkLink { from: at, to: at + 1, critical: false }).collect();
        let network =
            Network { tasks: vec![NetworkTask::default(); 1_000], links, boxes_max: 20, ..Network::default() };
        let graph = Graph::of(&network);
        assert_eq!(graph.nodes.len(), 20);
        assert_eq!(graph.edges.len(), 19);
        assert_eq!(graph.nodes.iter().map(|node| node.tasks.len()).sum::<usize>(), 1_000);
    }
}
