//! A network graph in words.

use super::{Network, graph::Graph};
use crate::chart::text;

/// The line above the graph.
pub(super) fn message(network: &Network) -> String {
    let Some(finish) = network.tasks.iter().map(|task| task.finish.max(task.start)).max() else {
        return "No tasks.".to_owned();
    };
    let critical = network.tasks.iter().filter(|task| task.critical).count();
    let path =
        if critical > 0 { format!(", {} of them critical", text::thousands(critical as u64)) } else { String::new() };
    let tasks = text::count(network.tasks.len(), "task");
    format!("{tasks}{path}; the last one finishes {}.", network.clock.full(finish))
}

/// The whole graph in words.
pub(super) fn summary(network: &Network, graph: &Graph, left_out: usize) -> String {
    if network.tasks.is_empty() {
        return "Network graph without tasks.".to_owned();
    }
    let mut words = format!("Network graph in {}. {}", text::count(graph.layers(), "layer"), message(network));
    let mut say = |sentence: String| {
        words.push(' ');
        words.push_str(&sentence);
    };
    let mut critical: Vec<&super::NetworkTask> = network.tasks.iter().filter(|task| task.critical).collect();
    critical.sort_by_key(|task| (task.start, task.finish));
    let names: Vec<&str> = critical.iter().map(|task| task.name.as_str()).collect();
    if !names.is_empty() {
        say(format!("Critical path: {}.", text::list(&names, 12)));
    }
    let followed = |at: usize| network.links.iter().filter(|link| link.from == at).count();
    if network.tasks.len() <= 300 {
        let most = (0..network.tasks.len())
            .map(|at| (followed(at), at))
            .max_by_key(|(count, at)| (*count, std::cmp::Reverse(*at)));
        if let Some((count, at)) = most.filter(|(count, _)| *count > 1) {
            say(format!("Most tasks wait for {}: {count}.", text::clean_or(&network.tasks[at].name, "unnamed")));
        }
    }
    if graph.nodes.len() < network.tasks.len() {
        say(format!("They share {}.", text::count(graph.nodes.len(), "box").replace("boxs", "boxes")));
    }
    if left_out > 0 {
        say(format!(
            "{} of {} not drawn, to keep the graph readable.",
            text::thousands(left_out as u64),
            text::count(network.links.len(), "link")
        ));
    }
    words
}
