//! The boxes of a network graph.

use super::{
    Network,
    graph::{Graph, Node},
};
use crate::chart::{frame::Frame, moment::Span, pen::Px, text};
use maud::{Markup, html};

/// How large boxes are and how far apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub width: f64,
    pub height: f64,
    pub gap: f64,
    pub layer_gap: f64,
    pub detail: Detail,
    /// The time of the whole graph, which says how dates are written.
    pub span: Span,
}

/// How much a box says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// The name in two lines, the dates and the float.
    Full,
    /// The name in one line and the dates.
    Short,
    /// The name alone.
    Name,
}

impl Size {
    /// Returns sizes at which the layers fit into the frame, as far as names stay readable.
    pub(super) fn of(graph: &Graph, frame: &Frame) -> Self {
        let layers = f64::from(u32::try_from(graph.layers().max(1)).unwrap_or(u32::MAX));
        let room = (frame.width() - 2.0 * frame.margin()) / layers;
        let (detail, least, most, height, gap) = match graph.nodes.len() {
            0..=120 => (Detail::Full, 116.0, 176.0, 68.0, 14.0),
            121..=300 => (Detail::Short, 112.0, 150.0, 36.0, 10.0),
            301.. => (Detail::Name, 124.0, 140.0, 20.0, 6.0),
        };
        let width = (room - 36.0).clamp(least, most);
        let layer_gap = (room - width).clamp(34.0, 80.0);
        let start = graph.nodes.iter().map(|node| node.start).min().unwrap_or_default();
        let finish = graph.nodes.iter().map(|node| node.finish).max().unwrap_or_default();
        Self { width, height, gap, layer_gap, detail, span: Span { from: start, until: finish } }
    }

    /// How wide all layers are together.
    pub(super) fn reach(&self, graph: &Graph) -> f64 {
        let layers = f64::from(u32::try_from(graph.layers()).unwrap_or(u32::MAX));
        layers * (self.width + self.layer_gap)
    }
}

/// Returns what a node is called.
pub(super) fn name(network: &Network, node: &Node) -> String {
    let task = node.tasks.first().and_then(|task| network.tasks.get(*task));
    match (task, node.tasks.len()) {
        (Some(task), 1) => text::clean_or(&task.name, "unnamed"),
        (Some(task), count)
            if node.tasks.iter().all(|other| network.tasks[*other].group == task.group)
                && !text::clean(&task.group).is_empty() =>
        {
            format!("{} × {}", text::thousands(count as u64), text::clean(&task.group))
        }
        (_, count) => text::count(count, "task"),
    }
}

/// Returns a sign for what a task is, beside its name.
pub(super) fn sign(network: &Network, node: &Node) -> &'static str {
    let all = |test: fn(&super::NetworkTask) -> bool| node.tasks.iter().all(|task| test(&network.tasks[*task]));
    match () {
        () if all(|task| task.done) => "✓ ",
        () if all(|task| task.milestone) => "◆ ",
        () => "",
    }
}

/// Returns the dates of a node in few letters.
pub(super) fn dates(network: &Network, node: &Node, span: Span) -> String {
    let (start, finish) = (network.clock.short(node.start, span), network.clock.short(node.finish, span));
    if start == finish { start } else { format!("{start} – {finish}") }
}

/// Returns the float of a node in few letters.
pub(super) fn float(network: &Network, node: &Node) -> String {
    match node.tasks.as_slice() {
        _ if node.critical => "critical".to_owned(),
        [task] if !text::clean(&network.tasks[*task].float).is_empty() => {
            format!("float {}", text::clean(&network.tasks[*task].float))
        }
        _ => String::new(),
    }
}

/// Returns the tooltip of a node.
pub(super) fn tooltip(network: &Network, node: &Node) -> String {
    let clock = &network.clock;
    let mut lines = vec![name(network, node), format!("{} to {}", clock.full(node.start), clock.full(node.finish))];
    let float = float(network, node);
    if !float.is_empty() {
        lines.push(float);
    }
    if let ([task], false) = (node.tasks.as_slice(), node.tasks.len() > 1) {
        let task = &network.tasks[*task];
        lines.extend(task.done.then(|| "done".to_owned()));
        lines.extend(task.milestone.then(|| "milestone".to_owned()));
    }
    lines.join("\n")
}

/// Draws a box around a centre.
pub(super) fn draw(network: &Network, node: &Node, centre: (f64, f64), size: &Size) -> Markup {
    let (x, y) = (centre.0 - size.width / 2.0, centre.1 - size.height / 2.0);
    let class = if node.critical { "gc-box-critical" } else { "gc-box" };
    let room = size.width - 16.0;
    let name = format!("{}{}", sign(network, node), name(network, node));
    let weight = if node.critical { " gc-bold" } else { "" };
    let slack = if node.critical { 1.08 } else { 1.0 };
    let (font, class_of_name, lines, first) = match size.detail {
        Detail::Full => (12.0, format!("gc-name{weight}"), 2, 17.0),
        Detail::Short => (11.0, format!("gc-small{weight}"), 1, 15.0),
        Detail::Name => (10.0, format!("gc-tiny{weight}"), 1, 14.0),
    };
    let lines = text::wrap(&name, font * slack, room, lines);
    let dates = text::fit(&dates(network, node, size.span), 10.5, room);
    let float = text::fit(&float(network, node), 10.5, room);
    let line = |at: usize| y + first + 14.0 * f64::from(u32::try_from(at).unwrap_or(0));
    let is_wide = text::width(&dates, 10.5) + text::width(&float, 10.5) + 8.0 <= room;
    html! {
        g {
            title { (tooltip(network, node)) }
            @if node.tasks.len() > 1 {
                rect.gc-box x=(Px(x + 3.0)) y=(Px(y - 3.0)) width=(Px(size.width)) height=(Px(size.height)) rx="4" {}
            }
            rect class=(class) x=(Px(x)) y=(Px(y)) width=(Px(size.width)) height=(Px(size.height)) rx="4" {}
            @for (at, text) in lines.iter().enumerate() {
                text class=(class_of_name) x=(Px(x + 8.0)) y=(Px(line(at))) { (text) }
            }
            @match size.detail {
                Detail::Full => {
                    @let bottom = y + size.height - 8.0;
                    @if is_wide || float.is_empty() {
                        text.gc-soft.gc-tiny x=(Px(x + 8.0)) y=(Px(bottom)) { (dates) }
                        text.gc-soft.gc-tiny.gc-end x=(Px(x + size.width - 8.0)) y=(Px(bottom)) { (float) }
                    } @else {
                        text.gc-soft.gc-tiny x=(Px(x + 8.0)) y=(Px(bottom - 12.0)) { (dates) }
                        text.gc-soft.gc-tiny x=(Px(x + 8.0)) y=(Px(bottom)) { (float) }
                    }
                }
                Detail::Short => text.gc-soft.gc-tiny x=(Px(x + 8.0)) y=(Px(y + size.height - 7.0)) { (dates) },
                Detail::Name => {}
            }
        }
    }
}
