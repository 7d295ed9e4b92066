//! Checks 5 to 8 and 10: what single tasks look like.

use super::{Case, Check, Subject};
use crate::project::Scale;
use crate::schedule::Basis;

/// Two months of work: longer floats and durations hide something.
const DAYS_MAX: f64 = 44.0;

/// Seconds in a week round the clock.
const WEEK_S: f64 = 604_800.0;

/// 5. Hard constraints: open tasks with a date that stops the logic / open tasks, at most 5 %.
///
/// Such a date is a hard deadline. Not to start before some date, or a soft deadline, lets links move a task.
pub(super) fn hard_constraints(case: &Case<'_>) -> Check {
    case.open_share("hard_constraints", "hard constraints", 5.0, |subject| {
        subject.given.deadline.is_some_and(|deadline| deadline.hard)
    })
}

/// 6. High float: open tasks with a total float of more than 44 working days / open tasks, at most 5 %.
pub(super) fn high_float(case: &Case<'_>) -> Check {
    case.open_share("high_float", "float over 44 days", 5.0, |subject| float_days(case, subject) > DAYS_MAX)
}

/// 7. Negative float: open tasks with a total float below zero / open tasks, none.
///
/// A hard deadline of the project that is missed takes its gap from every float.
pub(super) fn negative_float(case: &Case<'_>) -> Check {
    let whole = case.schedule.deadlines.iter().find(|verdict| verdict.task.is_none() && verdict.hard && !verdict.met);
    let gap = whole.map_or(0, |verdict| verdict.margin.in_thousandths());
    case.open_share("negative_float", "negative float", 0.0, |subject| subject.row.float.in_thousandths() < gap)
}

/// 8. High duration: open tasks planned for more than 44 working days / open tasks, at most 5 %.
///
/// The whole of a task counts, also what is done of it.
pub(super) fn high_duration(case: &Case<'_>) -> Check {
    case.open_share("high_duration", "longer than 44 days", 5.0, |subject| {
        in_days(case, subject, case.model.planned(subject.given, Basis::default())) > DAYS_MAX
    })
}

/// 10. Resources: open tasks to which neither anyone nor a cost is assigned / open tasks, none.
pub(super) fn resources(case: &Case<'_>) -> Check {
    case.open_share("resources", "nobody assigned", 0.0, |subject| {
        subject.row.resources.is_empty() && subject.given.costs.is_empty()
    })
}

fn is_elapsed(subject: &Subject<'_>) -> bool {
    subject.given.estimate.is_some_and(|estimate| estimate.likely.is_elapsed())
}

#[expect(clippy::cast_precision_loss, reason = "a float of days needs no more")]
fn float_days(case: &Case<'_>, subject: &Subject<'_>) -> f64 {
    let scale = if is_elapsed(subject) { Scale::elapsed(case.project.unit) } else { case.model.frame.scale };
    let seconds = subject.row.float.as_f64() * scale.unit_s() as f64;
    #[expect(clippy::cast_possible_truncation, reason = "no float has so many seconds")]
    in_days(case, subject, seconds.round() as i64)
}

/// Seconds on a task's own calendar in working days; time that passes is counted by the working days in it.
#[expect(clippy::cast_precision_loss, reason = "a count of days needs no more")]
fn in_days(case: &Case<'_>, subject: &Subject<'_>, seconds: i64) -> f64 {
    let scale = case.model.scale_of(subject.given);
    let day = if is_elapsed(subject) { WEEK_S * scale.day as f64 / scale.week.max(1) as f64 } else { scale.day as f64 };
    seconds as f64 / day
}
