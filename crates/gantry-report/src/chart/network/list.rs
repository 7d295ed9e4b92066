//! The narrow drawing: one row for each task, each after what it waits for, with lines at the left that lead down to it.

use super::{
    Drawing, Network, boxes,
    graph::{Edge, Graph, Node},
};
use crate::chart::{
    frame::Frame,
    moment::Span,
    pen::{Heading, Path, Px, arrow_head, diamond},
    text,
};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// The most lines side by side.
const LANES_MAX: usize = 8;

const LANE_PX: f64 = 9.0;

/// Draws the list below a given height.
pub(super) fn draw(network: &Network, graph: &Graph, frame: &Frame, top: f64) -> Drawing {
    let row_px = if graph.nodes.len() <= 300 { 38.0 } else { 30.0 };
    let (lanes, unplaced) = lanes(graph);
    let lanes_used = lanes.values().map(|lane| lane + 1).max().unwrap_or(0);
    let dot = frame.margin() + f64::from(u32::try_from(lanes_used).unwrap_or(0)) * LANE_PX + 8.0;
    let middle = |row: usize| top + row_px * (f64::from(u32::try_from(row).unwrap_or(0)) + 0.5);
    let lane_x = |lane: usize| dot - 4.0 - LANE_PX * f64::from(u32::try_from(lane + 1).unwrap_or(0));
    let span = Span {
        from: graph.nodes.iter().map(|node| node.start).min().unwrap_or_default(),
        until: graph.nodes.iter().map(|node| node.finish).max().unwrap_or_default(),
    };
    let is_drawn = |edge: &&Edge| edge.to == edge.from + 1 || lanes.contains_key(&edge.from);
    let edges: Vec<&Edge> = graph.edges.iter().filter(is_drawn).collect();
    let drawn = html! {
        @for edge in edges.iter().filter(|edge| !edge.critical).chain(edges.iter().filter(|edge| edge.critical)) {
            @let lane = lanes.get(&edge.from).filter(|_| edge.to > edge.from + 1).map(|lane| lane_x(*lane));
            (line(network, graph, edge, lane, dot, (middle(edge.from), middle(edge.to))))
        }
        @for (row, node) in graph.nodes.iter().enumerate() {
            (task(network, node, dot, middle(row), frame.width() - frame.margin(), span))
        }
    };
    let height = row_px * f64::from(u32::try_from(graph.nodes.len()).unwrap_or(0));
    Drawing { drawn, width: frame.width(), height, left_out: graph.left_out + unplaced }
}

/// Gives each task a lane from its row down to the last one that waits for it, and counts the edges for which there is none.
fn lanes(graph: &Graph) -> (BTreeMap<usize, usize>, usize) {
    let mut last: BTreeMap<usize, usize> = BTreeMap::new();
    for edge in graph.edges.iter().filter(|edge| edge.to > edge.from + 1) {
        let end = last.entry(edge.from).or_default();
        *end = (*end).max(edge.to);
    }
    let mut free_from = [0; LANES_MAX];
    let mut lanes = BTreeMap::new();
    for (from, until) in last {
        if let Some(lane) = free_from.iter().position(|free| *free <= from) {
            free_from[lane] = until + 1;
            lanes.insert(from, lane);
        }
    }
    let unplaced = graph.edges.iter().filter(|edge| edge.to > edge.from + 1 && !lanes.contains_key(&edge.from)).count();
    (lanes, unplaced)
}

fn line(network: &Network, graph: &Graph, edge: &Edge, lane: Option<f64>, dot: f64, rows: (f64, f64)) -> Markup {
    let (class, head) = if edge.critical { ("gc-link-critical", "gc-head-critical") } else { ("gc-link", "gc-head") };
    let (path, head_path) = match lane {
        Some(x) => (
            Path::rounded(&[(dot, rows.0), (x, rows.0), (x, rows.1), (dot - 9.0, rows.1)], 6.0),
            arrow_head(dot - 5.0, rows.1, Heading::Right, 5.0),
        ),
        None => {
            (Path::through(&[(dot, rows.0), (dot, rows.1 - 10.0)]), arrow_head(dot, rows.1 - 5.0, Heading::Down, 5.0))
        }
    };
    html! {
        g {
            title { (boxes::name(network, &graph.nodes[edge.to])) " waits for " (boxes::name(network, &graph.nodes[edge.from])) }
            path class=(class) d=(path) {}
            path class=(head) d=(head_path) {}
        }
    }
}

fn task(network: &Network, node: &Node, dot: f64, middle: f64, right: f64, span: Span) -> Markup {
    let left = dot + 13.0;
    let slack = if node.critical { 1.08 } else { 1.0 };
    let name =
        text::fit(&format!("{}{}", boxes::sign(network, node), boxes::name(network, node)), 12.0 * slack, right - left);
    let float = boxes::float(network, node);
    let below = [boxes::dates(network, node, span), float]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" · ");
    let class = if node.critical { "gc-bold" } else { "gc-name" };
    html! {
        g {
            title { (boxes::tooltip(network, node)) }
            @if node.critical {
                path.gc-critical d=(diamond(dot, middle, 5.5)) {}
            } @else {
                circle.gc-dot cx=(Px(dot)) cy=(Px(middle)) r="4" {}
            }
            text class=(class) x=(Px(left)) y=(Px(middle - 1.0)) { (name) }
            text.gc-soft.gc-tiny x=(Px(left)) y=(Px(middle + 12.0)) { (text::fit(&below, 10.0, right - left)) }
        }
    }
}
