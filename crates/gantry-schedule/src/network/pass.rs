//! The forward and the backward pass.

use super::build::{Network, Node, Tie};
use crate::calendar::Timeline;

/// When a node starts and finishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub start: i64,
    pub finish: i64,
}

/// Whether the backward pass looks at hard deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadlines {
    Respected,
    Ignored,
}

/// The second to which a tie holds back its later node, given the times of the earlier one.
#[inline]
pub(crate) fn bound(tie: &Tie, from: Times, lines: &[Timeline]) -> i64 {
    let at = if tie.kind.leaves_finish() { from.finish } else { from.start };
    if tie.lag == 0 {
        return at;
    }
    let line = &lines[tie.line];
    line.finish_at(line.work_before(at) + tie.lag)
}

/// The last second of the earlier node that keeps the bound of a tie at or before `latest`: the mirror of [`bound`].
pub(super) fn latest_before(tie: &Tie, latest: i64, lines: &[Timeline]) -> i64 {
    if tie.lag == 0 {
        return latest;
    }
    let line = &lines[tie.line];
    line.start_at(line.work_before(latest) - tie.lag)
}

/// The earliest times of some work that starts and finishes no earlier than two bounds.
///
/// A milestone lies where it is put, even at night. Work whose finish is held back into time off is finished when the
/// next work starts: no work is missing, and the bound is kept.
#[inline]
pub(crate) fn place(line: &Timeline, duration: i64, start_bound: i64, finish_bound: i64) -> Times {
    if duration == 0 {
        let at = start_bound.max(finish_bound);
        return Times { start: at, finish: at };
    }
    let mut work = line.work_before(start_bound);
    if finish_bound > start_bound {
        work = work.max(line.work_before(finish_bound) - duration);
    }
    let mut finish = line.finish_at(work + duration);
    if finish < finish_bound {
        finish = line.start_at(work + duration);
    }
    Times { start: line.start_at(work), finish }
}

/// The latest times of some work that starts and finishes no later than two bounds: the mirror of [`place`].
fn place_late(line: &Timeline, duration: i64, start_bound: i64, finish_bound: i64) -> Times {
    if duration == 0 {
        let at = start_bound.min(finish_bound);
        return Times { start: at, finish: at };
    }
    let limit = if start_bound == i64::MAX { i64::MAX } else { line.work_before(start_bound) + duration };
    let work = line.work_before(finish_bound).min(limit);
    let mut start = line.start_at(work - duration);
    if start > start_bound {
        start = line.finish_at(work - duration);
    }
    Times { start, finish: line.finish_at(work) }
}

/// The earliest times of a node that is held back to two bounds; what has happened stays as it was.
pub(crate) fn place_node(node: &Node, line: &Timeline, start_bound: i64, finish_bound: i64) -> Times {
    match (node.started, node.finished) {
        (Some(start), Some(finish)) => Times { start, finish },
        (None, Some(finish)) => Times { start: finish, finish },
        (Some(start), None) => {
            let rest = place(line, node.duration, start_bound.max(node.earliest), finish_bound);
            Times { start, finish: rest.finish }
        }
        (None, None) => place(line, node.duration, start_bound.max(node.earliest), finish_bound),
    }
}

/// From when a node occupies its people: what is left of started work may lie long after its start.
pub(crate) fn occupied_from(node: &Node, line: &Timeline, times: Times) -> i64 {
    if node.started.is_some() && node.finished.is_none() {
        line.start_at(line.work_before(times.finish) - node.duration).max(node.earliest)
    } else {
        times.start
    }
}

/// The bounds that ties put on a node's start and finish.
pub(crate) fn bounds(network: &Network, node: usize, times: &[Times], lines: &[Timeline]) -> (i64, i64) {
    let (mut start, mut finish) = (i64::MIN / 4, i64::MIN / 4);
    for tie in network.ties_into(node) {
        let to = bound(tie, times[tie.from], lines);
        if tie.kind.holds_start() {
            start = start.max(to);
        } else {
            finish = finish.max(to);
        }
    }
    (start, finish)
}

/// The earliest times of all nodes.
pub(crate) fn forward(network: &Network, lines: &[Timeline]) -> Vec<Times> {
    let mut times = vec![Times::default(); network.len()];
    for (at, node) in network.nodes.iter().enumerate() {
        let line = &lines[node.line];
        let (start, finish) = bounds(network, at, &times, lines);
        // A finish without bound must not pull a timeline through millions of years: the start bound is enough.
        let start = start.max(node.earliest);
        times[at] = place_node(node, line, start, finish.max(start));
    }
    times
}

/// The latest times of all nodes that keep the end, and hard deadlines if they are respected.
pub(crate) fn backward(
    network: &Network,
    lines: &[Timeline],
    early: &[Times],
    end: i64,
    deadlines: Deadlines,
) -> Vec<Times> {
    let mut late = early.to_vec();
    for (at, node) in network.nodes.iter().enumerate().rev() {
        if node.finished.is_some() {
            continue;
        }
        let (mut start, mut finish) = (i64::MAX, end);
        if deadlines == Deadlines::Respected {
            finish = finish.min(node.deadline.unwrap_or(end));
        }
        for tie in network.ties_out(at) {
            let later = &network.nodes[tie.to];
            if later.finished.is_some() {
                continue;
            }
            let latest = if tie.kind.holds_start() { late[tie.to].start } else { late[tie.to].finish };
            let latest = latest_before(tie, latest, lines);
            if tie.kind.leaves_finish() {
                finish = finish.min(latest);
            } else if node.started.is_none() {
                start = start.min(latest);
            }
        }
        // For work that has started, `start` stands for where the rest of it must begin.
        late[at] = place_late(&lines[node.line], node.duration, start, finish);
    }
    late
}
