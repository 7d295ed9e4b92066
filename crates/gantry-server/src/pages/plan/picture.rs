//! The tasks as a picture that can be moved, with their states.

use gantry_view::standing::Standing;
use maud::{Markup, html};

use super::task_url;
use crate::pages::graph::{BOX, Graph};
use crate::pages::layout::state;

fn short(title: &str, most: usize) -> String {
    if title.chars().count() <= most { title.to_owned() } else { title.chars().take(most - 1).chain(['…']).collect() }
}

pub fn picture(standing: &Standing, graph: &Graph) -> Markup {
    let (w, h) = BOX;
    let middle = |at: (u32, u32), right: bool| (at.0 + if right { w } else { 0 }, at.1 + h / 2);
    html! {
        div.picture {
        svg.graph tabindex="0" role="group" aria-label="Graph of tasks; + and - zoom, 0 shows all, arrows move" viewBox=(format!("0 0 {} {}", graph.size.0.max(1), graph.size.1.max(1))) {
            g {
                @for (from, to) in &graph.edges {
                    @let (a, b) = (middle(graph.nodes[*from].at, true), middle(graph.nodes[*to].at, false));
                    @let bend = (b.0.saturating_sub(a.0) / 2).max(20);
                    path.edge d=(format!("M{} {}C{} {} {} {} {} {}", a.0, a.1, a.0 + bend, a.1, b.0.saturating_sub(bend), b.1, b.0, b.1)) {}
                }
                @for node in &graph.nodes {
                    a href=(task_url(standing, &node.id)) aria-label=(format!("{}: {}", node.title, node.state)) {
                        g.node data-task=(node.id) data-state=(node.state) {
                            title { (node.title) }
                            rect.box x=(node.at.0) y=(node.at.1) width=(w) height=(h) rx="6" {}
                            rect.mark x=(node.at.0) y=(node.at.1) width="5" height=(h) rx="2" {}
                            text x=(node.at.0 + 14) y=(node.at.1 + 18) { (short(&node.title, 26)) }
                            text.soft x=(node.at.0 + 14) y=(node.at.1 + 34) { (short(&format!("{} · {}", node.id, node.action), 30)) }
                        }
                    }
                }
            }
        }
        // The script that moves the picture shows them.
        div.zoom hidden {
            button type="button" data-zoom="in" aria-label="Larger" { "+" }
            button type="button" data-zoom="out" aria-label="Smaller" { "−" }
            button type="button" data-zoom="all" { "All" }
        }
        }
    }
}

pub fn graph(standing: &Standing) -> Markup {
    let graph = Graph::of(&standing.life);
    html! {
        p.small.soft #count data-live { (gantry_view::count(graph.nodes.len(), "task")) "; drag to move, two fingers, the wheel or " kbd { "+" } " " kbd { "-" } " to zoom, " kbd { "0" } " for everything, click a box for all about it." }
        (picture(standing, &graph))
        // The states are brought up to date by themselves; the picture stays where it was moved to.
        div #states data-live hidden { @for node in &graph.nodes { i data-task=(node.id) data-state=(node.state) {} } }
        p.row.small { @for name in ["pending", "ready", "running", "waiting", "blocked", "completed", "failed", "skipped"] { (state(name)) } }
    }
}
