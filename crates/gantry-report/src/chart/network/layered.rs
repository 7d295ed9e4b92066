//! The wide drawing: layers from left to right, lines that swing between them.

use super::{
    Drawing, Network,
    boxes::{self, Size},
    graph::{Edge, Graph},
};
use crate::chart::{
    frame::Frame,
    pen::{Heading, Path, arrow_head},
};
use dugong::{
    EdgeLabel, GraphLabel, NodeLabel, RankDir,
    graphlib::{Graph as Plane, GraphOptions},
};
use maud::{Markup, html};

type Layout = Plane<NodeLabel, EdgeLabel, GraphLabel>;

/// The most nodes for which the layers are the best there are.
const BEST_LAYERS_MAX: usize = 150;

/// Draws the graph below a given height.
pub(super) fn draw(network: &Network, graph: &Graph, frame: &Frame, top: f64) -> Drawing {
    let linked = linked(graph);
    let size = Size::of(graph, frame);
    let layout = lay_out(graph, &linked, &size);
    let (left, right) = (frame.margin(), frame.width() - frame.margin());
    let (highest, lowest) = reach(graph, &layout, &size);
    let origin = (left, top + 4.0 - highest);
    let mut centres: Vec<Option<(f64, f64)>> = (0..graph.nodes.len())
        .map(|at| {
            let node = layout.node(&at.to_string())?;
            Some((origin.0 + node.x?, origin.1 + node.y?))
        })
        .collect();
    let width = centres.iter().flatten().map(|centre| centre.0 + size.width / 2.0).fold(right, f64::max);
    let bottom = origin.1 + lowest;
    let alone = rest_in_rows(&mut centres, &size, (left, width), bottom);
    let drawn = html! {
        @for edge in graph.edges.iter().filter(|edge| !edge.critical).chain(graph.edges.iter().filter(|edge| edge.critical)) {
            (line(network, graph, edge, &layout, &centres, &size, origin))
        }
        @for (at, node) in graph.nodes.iter().enumerate() {
            @if let Some(centre) = centres[at] { (boxes::draw(network, node, centre, &size)) }
        }
    };
    Drawing { drawn, width: width + frame.margin(), height: alone - top, left_out: graph.left_out }
}

/// Returns the highest and the lowest place that a box or a line takes.
fn reach(graph: &Graph, layout: &Layout, size: &Size) -> (f64, f64) {
    let half = size.height / 2.0;
    let nodes = (0..graph.nodes.len()).filter_map(|at| layout.node(&at.to_string())?.y);
    let boxes = nodes.flat_map(|y| [y - half, y + half]);
    let edges = graph.edges.iter().filter_map(|edge| layout.edge(&edge.from.to_string(), &edge.to.to_string(), None));
    let places = boxes.chain(edges.flat_map(|edge| edge.points.iter().map(|point| point.y)));
    places.fold((0.0, 0.0), |(highest, lowest): (f64, f64), y| (highest.min(y), lowest.max(y)))
}

/// Says for each node whether anything leads to it or away from it.
fn linked(graph: &Graph) -> Vec<bool> {
    let mut linked = vec![false; graph.nodes.len()];
    for edge in &graph.edges {
        linked[edge.from] = true;
        linked[edge.to] = true;
    }
    linked
}

fn lay_out(graph: &Graph, linked: &[bool], size: &Size) -> Layout {
    // The best layers take very long for some large graphs; good ones are always quick.
    let ranker = if graph.nodes.len() <= BEST_LAYERS_MAX { "network-simplex" } else { "tight-tree" };
    let mut layout = Layout::new(GraphOptions::default());
    layout.set_graph(GraphLabel {
        rankdir: RankDir::LR,
        nodesep: size.gap,
        edgesep: size.gap * 0.7,
        ranksep: size.layer_gap,
        ranker: Some(ranker.to_owned()),
        ..GraphLabel::default()
    });
    for at in (0..graph.nodes.len()).filter(|at| linked[*at]) {
        layout.set_node(at.to_string(), NodeLabel { width: size.width, height: size.height, ..NodeLabel::default() });
    }
    for edge in &graph.edges {
        let weight = if edge.critical { 4.0 } else { 1.0 };
        layout.set_edge_with_label(
            edge.from.to_string(),
            edge.to.to_string(),
            EdgeLabel { weight, minlen: 1, ..EdgeLabel::default() },
        );
    }
    if !graph.edges.is_empty() {
        // A layout that fails leaves nodes without places; they are put into rows instead.
        let _ = dugong::layout(&mut layout);
    }
    layout
}

/// Puts nodes without a place into rows below the others and returns where they end.
fn rest_in_rows(centres: &mut [Option<(f64, f64)>], size: &Size, sides: (f64, f64), bottom: f64) -> f64 {
    let (left, right) = sides;
    let mut x = left;
    let has_places = centres.iter().any(Option::is_some);
    let mut y = if has_places { bottom + 24.0 } else { bottom + 4.0 };
    let mut end = bottom;
    for centre in centres.iter_mut().filter(|centre| centre.is_none()) {
        if x + size.width > right && x > left {
            (x, y) = (left, y + size.height + size.gap);
        }
        *centre = Some((x + size.width / 2.0, y + size.height / 2.0));
        end = y + size.height;
        x += size.width + size.gap;
    }
    end
}

fn line(
    network: &Network,
    graph: &Graph,
    edge: &Edge,
    layout: &Layout,
    centres: &[Option<(f64, f64)>],
    size: &Size,
    origin: (f64, f64),
) -> Markup {
    let (Some(from), Some(to)) = (centres[edge.from], centres[edge.to]) else { return html! {} };
    let half = size.width / 2.0;
    let (start, tip) = ((from.0 + half, from.1), (to.0 - half, to.1));
    let label = layout.edge(&edge.from.to_string(), &edge.to.to_string(), None);
    let bends = label.map(|label| label.points.as_slice()).unwrap_or_default();
    // The first and the last point lie on the boxes; those between lie in the middle of a layer, which is crossed level.
    let inner = bends.get(1..bends.len().saturating_sub(1)).unwrap_or_default();
    let mut path = Path::default().start(start.0, start.1);
    let mut pen = start;
    for point in inner {
        let (x, y) = (origin.0 + point.x, origin.1 + point.y);
        if x - half <= pen.0 || x + half >= tip.0 {
            continue;
        }
        path = path.swing(pen, (x - half, y)).line(x + half, y);
        pen = (x + half, y);
    }
    let path = path.swing(pen, (tip.0 - 5.0, tip.1));
    let (line, head) = if edge.critical { ("gc-link-critical", "gc-head-critical") } else { ("gc-link", "gc-head") };
    html! {
        g {
            title { (boxes::name(network, &graph.nodes[edge.to])) " waits for " (boxes::name(network, &graph.nodes[edge.from])) }
            path class=(line) d=(path) {}
            path class=(head) d=(arrow_head(tip.0, tip.1, Heading::Right, 6.0)) {}
        }
    }
}
