//! Critical paths: the chains of ties that put the finish where it is.

use super::build::{Network, Tie};
use super::pass::{Times, bound};
use crate::calendar::Timeline;

/// Whether a tie is what holds its later node where it is.
pub(crate) fn drives(network: &Network, lines: &[Timeline], times: &[Times], tie: &Tie) -> bool {
    let (from, to) = (&network.nodes[tie.from], &network.nodes[tie.to]);
    if to.finished.is_some() || from.finished.is_some() {
        return false;
    }
    let line = &lines[to.line];
    let bound = bound(tie, times[tie.from], lines);
    let held = if to.started.is_some() {
        // What remains of it runs back from its finish.
        let rest = line.work_before(times[tie.to].finish) - to.duration;
        return if tie.kind.holds_start() { line.work_before(bound) == rest } else { bound == times[tie.to].finish };
    } else if tie.kind.holds_start() {
        times[tie.to].start
    } else {
        times[tie.to].finish
    };
    if to.duration == 0 { bound == held } else { line.work_before(bound) == line.work_before(held) }
}

/// Paths of driving ties, each from its first node to a node that finishes last; at most `limit`, in a fixed order.
pub(crate) fn driving_paths(
    network: &Network,
    lines: &[Timeline],
    times: &[Times],
    end: i64,
    limit: usize,
) -> Vec<Vec<usize>> {
    let mut paths = Vec::new();
    for last in (0..network.len()).rev() {
        let node = &network.nodes[last];
        let passed_on =
            network.ties_out(last).any(|tie| times[tie.to].finish == end && drives(network, lines, times, tie));
        if times[last].finish != end || node.finished.is_some() || passed_on {
            continue;
        }
        // Depth first with one list of choices per step, so that long chains need no deep stack.
        let mut path = vec![last];
        let mut choices = vec![drivers(network, lines, times, last)];
        if choices[0].is_empty() {
            paths.push(path.clone());
        }
        while let Some(open) = choices.last_mut() {
            if paths.len() >= limit {
                return paths;
            }
            match open.pop() {
                Some(node) => {
                    let next = drivers(network, lines, times, node);
                    path.push(node);
                    if next.is_empty() {
                        paths.push(path.iter().rev().copied().collect());
                    }
                    choices.push(next);
                }
                None => {
                    choices.pop();
                    path.pop();
                }
            }
        }
    }
    paths
}

/// The nodes that hold this one where it is, the first of them last.
fn drivers(network: &Network, lines: &[Timeline], times: &[Times], node: usize) -> Vec<usize> {
    let ties = network.ties_into(node).iter().filter(|tie| drives(network, lines, times, tie));
    let mut from: Vec<usize> = ties.map(|tie| tie.from).collect();
    from.dedup();
    from.reverse();
    from
}
