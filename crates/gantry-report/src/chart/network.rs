//! The network graph: what depends on what, in layers, with the critical path marked.

mod graph; // in reading order
mod reduce;
mod fold;
mod layered;
mod boxes;
mod list;
mod words;

use super::{
    frame::{self, Frame},
    legend::{self, Legend},
    moment::{Clock, Moment},
    pen::Px,
};
use graph::Graph;
use maud::{Markup, html};

/// A graph whose layers lie further apart than this many frames is a list: nobody sees what belongs together there.
const SCREENS_MAX: f64 = 6.0;

/// Tasks and what they depend on.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// How moments are read.
    pub clock: Clock,
    /// The tasks, in any order.
    pub tasks: Vec<NetworkTask>,
    /// What depends on what.
    pub links: Vec<NetworkLink>,
    /// The places of the tasks on the critical path, from its first to its last; none where it is not known.
    pub path: Vec<usize>,
    /// The most boxes that are drawn. Beyond it tasks of one group and layer share a box.
    pub boxes_max: usize,
}

impl Default for Network {
    fn default() -> Self {
        Self { clock: Clock::default(), tasks: Vec::new(), links: Vec::new(), path: Vec::new(), boxes_max: 1_200 }
    }
}

/// A task of a network graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkTask {
    /// What it is called.
    pub name: String,
    /// What it is part of; tasks of one group share a box when there are too many.
    pub group: String,
    /// When it begins.
    pub start: Moment,
    /// When it ends.
    pub finish: Moment,
    /// How much later it may finish, as the schedule says it, such as `3 days`; may be empty.
    pub float: String,
    /// Whether any delay of it matters.
    pub critical: bool,
    /// Whether it is finished.
    pub done: bool,
    /// Whether it takes no time and marks a point.
    pub milestone: bool,
    /// Whether it only contains others.
    pub summary: bool,
}

/// Something in a network graph that depends on something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkLink {
    /// The place among the tasks of what comes first.
    pub from: usize,
    /// The place among the tasks of what waits for it.
    pub to: usize,
    /// Whether it is part of the critical path.
    pub critical: bool,
}

/// A drawing and the room it takes.
struct Drawing {
    drawn: Markup,
    width: f64,
    height: f64,
    /// How many links are not drawn, to keep the chart readable.
    left_out: usize,
}

impl Network {
    /// Draws the chart. On a wide frame it may be wider than the frame, so that its boxes stay readable; put it where it can scroll.
    /// With very many layers it is a list, as on a narrow frame.
    pub fn svg(&self, frame: &Frame) -> String {
        if self.tasks.is_empty() {
            return frame::empty(frame, "No tasks.", "Network graph without tasks.");
        }
        let graph = Graph::of(self);
        let legend = Legend::default()
            .add(graph.nodes.iter().any(|node| node.critical), "Critical", critical_swatch)
            .add(graph.nodes.iter().any(|node| node.tasks.len() > 1), "Several tasks", several_swatch)
            .add(
                graph.edges.iter().any(|edge| edge.critical),
                "Critical dependency",
                legend::stroke("gc-link-critical"),
            )
            .add(graph.edges.iter().any(|edge| !edge.critical), "Dependency", legend::stroke("gc-link"));
        let top = frame::top(frame, &words::message(self), &legend);
        let drawing = if frame.is_narrow() || boxes::Size::of(&graph, frame).reach(&graph) > SCREENS_MAX * frame.width()
        {
            list::draw(self, &graph, frame, top.height)
        } else {
            layered::draw(self, &graph, frame, top.height)
        };
        let words = words::summary(self, &graph, drawing.left_out);
        let size = (frame.width().max(drawing.width), top.height + drawing.height + 16.0);
        frame::svg(frame, size, &words, html! { (top.drawn) (drawing.drawn) })
    }
}

fn critical_swatch(x: f64, y: f64) -> Markup {
    html! { rect.gc-box-critical x=(Px(x + 1.0)) y=(Px(y - 5.0)) width="20" height="10" rx="2" {} }
}

fn several_swatch(x: f64, y: f64) -> Markup {
    html! {
        rect.gc-box x=(Px(x + 4.0)) y=(Px(y - 6.0)) width="18" height="9" rx="2" {}
        rect.gc-box x=(Px(x + 1.0)) y=(Px(y - 3.0)) width="18" height="9" rx="2" {}
    }
}
