//! Drag: by how much the whole would be shorter if a critical task took no time.
//!
//! Lay starts and finishes of all nodes on a line in their order. Every path from the beginning to the end crosses the
//! gap between a task's start and its finish exactly once: through the task, or along one other tie. So without the
//! task's duration the whole shrinks by that duration, unless some other tie over the gap has less slack: drag is the
//! smaller of the two. The least slack over each gap is found by painting the ties in order of slack, each gap once.
//!
//! Work is done in one piece: where a task's finish is held back and its start holds back others, it starts the later the
//! shorter it is, and that may cost what the shorter path gains. Such a task is placed without its duration, and the ties
//! out of it are measured from there.

use super::build::{Network, Node};
use super::pass::{Times, bound, bounds, place_node};
use crate::calendar::Timeline;

/// The drag of each node in seconds of work on `line`: zero for what is not critical, as a critical path crosses its gap. `late` must ignore deadlines.
pub(crate) fn drag(
    network: &Network,
    lines: &[Timeline],
    early: &[Times],
    late: &[Times],
    end: i64,
    line: &Timeline,
) -> Vec<i64> {
    let count = network.len();
    let slack = |early: i64, late: i64| line.work_between(early, late).max(0);
    // Slack, and the gaps from the first to the one after the last that a tie jumps over.
    let mut spans: Vec<(i64, usize, usize)> = Vec::with_capacity(network.ties().len() + 2 * count);
    for (at, node) in network.nodes.iter().enumerate() {
        if node.finished.is_some() {
            continue;
        }
        spans.push((slack(node.earliest, late[at].start), 0, at));
        spans.push((slack(early[at].finish, end), at + 1, count));
    }
    for tie in network.ties() {
        let (from, to) = (&network.nodes[tie.from], &network.nodes[tie.to]);
        if from.finished.is_some() || to.finished.is_some() {
            continue;
        }
        let at = bound(tie, early[tie.from], lines);
        let latest = if tie.kind.holds_start() { late[tie.to].start } else { late[tie.to].finish };
        let first = if tie.kind.leaves_finish() { tie.from + 1 } else { tie.from };
        let last = if tie.kind.holds_start() { tie.to } else { tie.to + 1 };
        spans.push((slack(at, latest), first, last));
    }
    let least = paint(count, spans);
    let drag = |(at, node): (usize, &Node)| {
        // On the common timeline a task takes as long as it lasts: a person's absence in it would be gained as well.
        let lasts = line.work_between(early[at].start.max(node.earliest), early[at].finish).max(0);
        if node.finished.is_some() || node.duration == 0 { 0 } else { lasts.min(least[at]) }
    };
    let mut drags: Vec<i64> = network.nodes.iter().enumerate().map(drag).collect();
    let turns_over = |at: usize| {
        network.ties_into(at).iter().any(|tie| !tie.kind.holds_start())
            && network.ties_out(at).any(|tie| !tie.kind.leaves_finish())
    };
    for at in (0..count).filter(|at| turns_over(*at)) {
        if drags[at] == 0 {
            continue;
        }
        let node = Node { duration: 0, ..network.nodes[at].clone() };
        let (start, finish) = bounds(network, at, early, lines);
        let start = start.max(node.earliest);
        let without = place_node(&node, &lines[node.line], start, finish.max(start));
        for tie in network.ties_out(at).filter(|tie| network.nodes[tie.to].finished.is_none()) {
            let latest = if tie.kind.holds_start() { late[tie.to].start } else { late[tie.to].finish };
            drags[at] = drags[at].min(slack(bound(tie, without, lines), latest));
        }
    }
    drags
}

/// For each place the least value of all spans over it.
fn paint(count: usize, mut spans: Vec<(i64, usize, usize)>) -> Vec<i64> {
    spans.sort_unstable();
    let mut least = vec![i64::MAX; count];
    // The next place that is not painted yet, found along shortened hops.
    let mut next: Vec<usize> = (0..=count).collect();
    for (slack, first, last) in spans {
        let mut at = unpainted(&mut next, first);
        while at < last {
            least[at] = slack;
            next[at] = at + 1;
            at = unpainted(&mut next, at);
        }
    }
    least
}

fn unpainted(next: &mut [usize], mut at: usize) -> usize {
    while next[at] != at {
        next[at] = next[next[at]];
        at = next[at];
    }
    at
}
