//! A network graph in words.

use super::{Network, graph::Graph};
use crate::chart::text;
use std::cmp::Reverse;

/// The line above the graph.
pub(super) fn message(network: &Network) -> String {
    let Some(finish) = network.tasks.iter().map(|task| task.finish.max(task.start)).max() else {
        return String::new();
    };
    let own = || network.tasks.iter().filter(|task| !task.summary);
    let critical = own().filter(|task| task.critical).count();
    let path =
        if critical > 0 { format!(", {} of them critical", text::thousands(critical as u64)) } else { String::new() };
    let tasks = text::count(own().count(), "task");
    format!("{tasks}{path}; the last one finishes {}.", network.clock.when(finish))
}

/// The whole graph in words.
pub(super) fn summary(network: &Network, graph: &Graph, left_out: usize) -> String {
    let path: Vec<&str> = network.path.iter().filter_map(|at| Some(network.tasks.get(*at)?.name.as_str())).collect();
    let boxes = text::count(graph.nodes.len(), "box");
    let hidden = format!("{} of {}", text::thousands(left_out as u64), text::count(network.links.len(), "link"));
    text::sentences([
        Some(format!("Network graph in {}.", text::count(graph.layers(), "layer"))),
        Some(message(network)),
        (!path.is_empty()).then(|| format!("Critical path: {}.", text::list(&path, 12))),
        most_awaited(network).map(|(name, count)| format!("Most tasks wait for {name}: {count}.")),
        (graph.nodes.len() < network.tasks.len()).then(|| format!("They share {boxes}.")),
        (left_out > 0).then(|| format!("{hidden} not drawn, to keep the graph readable.")),
    ])
}

/// Returns the task for which most others wait, where there are several, and how many they are.
fn most_awaited(network: &Network) -> Option<(String, usize)> {
    let mut waiting = vec![0; network.tasks.len()];
    for link in network.links.iter().filter(|link| link.to < network.tasks.len()) {
        if let Some(count) = waiting.get_mut(link.from) {
            *count += 1;
        }
    }
    let (at, count) = waiting.into_iter().enumerate().max_by_key(|(at, count)| (*count, Reverse(*at)))?;
    (count > 1).then(|| (text::clean_or(&network.tasks[at].name, "unnamed"), count))
}
