//! Checks 12 and 13: whether the critical path is one, and whether it is short enough.

use super::{Bound, Case, Check};
use crate::frame::Edge;
use crate::network::{Role, forward};
use crate::project::Scale;
use crate::schedule::Computed;

/// So many working days a task is made longer to see whether the end follows.
const DELAY_DAYS: i64 = 600;

/// Where tasks have different calendars, the end may follow by so many percent more or less.
const CALENDARS_DIFFER: f64 = 5.0;

/// What became of the end when a critical task was made longer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathTest {
    /// The task that was made longer.
    task: String,
    /// By how many seconds of its work.
    delay: i64,
    /// How many seconds of its work later the end was.
    moved: i64,
    /// Whether all that is left is worked on at the same hours.
    one_calendar: bool,
}

/// Makes the open task with the least float, the earliest of them, longer, and looks what that does to the end.
pub(crate) fn path_test(computed: &Computed<'_>) -> Option<PathTest> {
    let (model, pinned) = (&computed.model, &computed.pinned);
    let open = || {
        (0..pinned.len()).filter(|&at| {
            let node = &pinned.nodes[at];
            node.role == Role::Work && node.finished.is_none() && node.duration > 0
        })
    };
    let at = open()
        .min_by_key(|&at| (computed.floats[at].total, computed.placement.times[at].start, pinned.nodes[at].task))?;
    let node = &pinned.nodes[at];
    let task = model.tasks[node.task];
    let elapsed = task.estimate.is_some_and(|estimate| estimate.likely.is_elapsed());
    let scale = if elapsed { Scale::elapsed(model.frame.scale.unit) } else { model.scale_of(task) };
    let delay = DELAY_DAYS * scale.day;
    let mut delayed = pinned.clone();
    delayed.nodes[at].duration += delay;
    let end = |network| forward(network, &model.lines.all).iter().map(|times| times.finish).max().unwrap_or(0);
    Some(PathTest {
        task: task.id.clone(),
        delay,
        moved: model.lines.all[node.line].work_between(end(pinned), end(&delayed)),
        one_calendar: open().all(|other| pinned.nodes[other].line == node.line),
    })
}

/// 12. Critical path test: the critical task with the least float is made 600 working days longer; the end moves by as much.
///
/// The value is how far the end moved, in percent of the delay. It does not follow where a date, and not the work before the
/// end, makes a task critical.
pub(super) fn test(case: &Case<'_>) -> Check {
    let check = |value| Check::new("critical_path_test", "critical path test", "%", Bound::AtLeast, 100.0, value);
    let Some(test) = &case.schedule.path_test else { return check(100.0).noted(Some("no task is open")) };
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    let value = 100.0 * test.moved as f64 / test.delay.max(1) as f64;
    let (slack, note) = if test.one_calendar {
        (0.0, None)
    } else {
        (CALENDARS_DIFFER, Some("tasks have different calendars, so the end may move 5 % more or less"))
    };
    let passed = (value - 100.0).abs() <= slack;
    let offender = [&*test.task];
    let check = Check { passed, ..check(value).naming(if passed { &[] } else { &offender }) };
    let stays = format!("600 days more for `{}` move the end by {:.0}", test.task, value * 6.0);
    check.noted(if passed { note.map(str::to_owned) } else { Some(stays) })
}

/// 13. Critical path length index: (critical path length + total float) / critical path length, at least 0.95.
///
/// The length is the work from the data date to the end. The float is the work from the end to the project's deadline,
/// negative when that is missed; without a deadline to the last baseline.
pub(super) fn length_index(case: &Case<'_>) -> Check {
    let model = &case.model;
    let upto = |second: i64| model.frame.quantity(model.line().work_between(0, second)).in_thousandths();
    let end = case.schedule.makespan.in_thousandths();
    let length = end - upto(model.from);
    let deadline = case.project.deadline.and_then(|deadline| model.second(deadline.at, Edge::Last));
    let baselines = case.project.tasks.iter().filter_map(|task| task.baseline.as_ref());
    let baseline = baselines.filter_map(|baseline| model.second(baseline.finish, Edge::Last)).max();
    let target = deadline.or(baseline);
    #[expect(clippy::cast_precision_loss, reason = "an index needs no more")]
    let index = match target {
        Some(target) if length > 0 => (length + upto(target) - end) as f64 / length as f64,
        _ => 1.0,
    };
    let note = match (target, length > 0) {
        (_, false) => Some("nothing is left to do"),
        (None, true) => Some("neither deadline nor baseline to miss yet"),
        (Some(_), true) => None,
    };
    Check::new("critical_path_length_index", "critical path length", "index", Bound::AtLeast, 0.95, index).noted(note)
}
