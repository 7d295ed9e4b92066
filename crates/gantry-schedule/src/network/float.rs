//! Floats: how much later a node may be before it matters.

use super::build::{Network, Role};
use super::pass::{Times, latest_before};
use crate::calendar::Timeline;

/// How much later a node may finish, in seconds of work on its own timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Float {
    /// Before the project, or a hard deadline, is late; negative when one is late already.
    pub total: i64,
    /// Before any task that waits for it is moved.
    pub free: i64,
}

/// The floats of all nodes.
pub(crate) fn floats(network: &Network, lines: &[Timeline], early: &[Times], late: &[Times], end: i64) -> Vec<Float> {
    let mut floats = vec![Float::default(); network.len()];
    // Up to where a node may finish, or start, without moving another task. The opening and closing points of
    // summaries are no tasks of their own: what may move them without harm may be moved.
    let mut may_start = vec![i64::MAX; network.len()];
    let mut may_finish = vec![end; network.len()];
    for (at, node) in network.nodes.iter().enumerate().rev() {
        for tie in network.ties_out(at) {
            let later = &network.nodes[tie.to];
            if later.finished.is_some() {
                continue;
            }
            let point = later.role != Role::Work;
            let stays = match (point, tie.kind.holds_start()) {
                (true, _) => may_start[tie.to].min(may_finish[tie.to]),
                (false, true) if later.started.is_some() => late[tie.to].start.max(early[tie.to].start),
                (false, true) => early[tie.to].start,
                (false, false) => early[tie.to].finish,
            };
            let stays = latest_before(tie, stays, lines);
            let slot = if tie.kind.leaves_finish() { &mut may_finish[at] } else { &mut may_start[at] };
            *slot = (*slot).min(stays);
        }
        let line = &lines[node.line];
        if node.finished.is_none() {
            let total = line.work_between(early[at].finish, late[at].finish);
            let by_finish = line.work_between(early[at].finish, may_finish[at]);
            let by_start = if may_start[at] == i64::MAX || node.started.is_some() {
                i64::MAX
            } else {
                line.work_between(early[at].start, may_start[at])
            };
            floats[at] = Float { total, free: by_finish.min(by_start).min(total).max(0) };
        }
    }
    floats
}
