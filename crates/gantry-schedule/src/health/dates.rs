//! Checks 9, 11 and 14: dates that cannot be, and what was done against what was agreed.
//!
//! What was agreed for a task is its baseline, or what was planned for it without progress; by then is the data date.

use super::{Bound, Case, Check, Subject};
use crate::earned_value::without_progress;
use crate::frame::{Edge, Moment};
use crate::project::When;
use crate::schedule::{Options, compute};

/// 9. Invalid dates: tasks with an actual date after the data date, or with a planned one before it / tasks, none.
pub(super) fn invalid(case: &Case<'_>) -> Check {
    let now = case.model.frame.moment(case.model.from);
    let actual = |when: Option<When>| when.and_then(|when| case.model.second(when, Edge::First));
    let bad = |subject: &&Subject<'_>| {
        let progress = &subject.given.progress;
        let after = [actual(progress.started), actual(progress.finished)].into_iter().flatten();
        let after = after.max().is_some_and(|latest| latest > case.model.from);
        let before = subject.is_open() && (subject.row.finish < now || (!begun(subject) && subject.row.start < now));
        case.project.data_date.is_some() && (after || before)
    };
    let found: Vec<&str> = case.subjects.iter().filter(bad).map(|subject| &*subject.given.id).collect();
    let none = case.project.data_date.is_none().then_some("without a data date no date is past or to come");
    Check::share("invalid_dates", "invalid dates", 0.0, &found, case.subjects.len()).noted(none)
}

fn begun(subject: &Subject<'_>) -> bool {
    subject.given.progress.started.is_some() || subject.row.percent > 0
}

/// Checks of the tasks that were to be done by now.
///
/// 11. Missed tasks: tasks agreed to be done by the data date that were, or will be, done later than agreed / tasks agreed to
///     be done by then, at most 5 %.
/// 14. Baseline execution index: tasks that are done / tasks agreed to be done by the data date, at least 0.95.
pub(super) fn against_the_baseline(case: &Case<'_>) -> [Check; 2] {
    let agreed = agreed(case);
    let now = case.model.frame.moment(case.model.from);
    let due = || case.subjects.iter().zip(&agreed).filter(|(_, finish)| finish.is_some_and(|finish| finish <= now));
    let late = due().filter(|(subject, finish)| finish.is_some_and(|finish| subject.row.finish > finish));
    let late: Vec<&str> = late.map(|(subject, _)| &*subject.given.id).collect();
    let undone: Vec<&str> =
        due().filter(|(subject, _)| subject.is_open()).map(|(subject, _)| &*subject.given.id).collect();
    let (due, done) = (due().count(), case.subjects.iter().filter(|subject| !subject.is_open()).count());
    let nothing = match (case.project.data_date, due) {
        (None, _) => Some("there is no data date, so nothing to miss yet"),
        (Some(_), 0) => Some("nothing is due yet, so nothing to miss"),
        (Some(_), _) => None,
    };
    #[expect(clippy::cast_precision_loss, reason = "no project has so many tasks")]
    let index = if due == 0 { 1.0 } else { done as f64 / due as f64 };
    [
        Check::share("missed_tasks", "missed tasks", 5.0, &late, due).noted(nothing),
        Check::new("baseline_execution_index", "baseline execution", "index", Bound::AtLeast, 0.95, index)
            .naming(&undone)
            .noted(nothing),
    ]
}

/// When each task was agreed to be done; nothing is before there is a data date.
fn agreed(case: &Case<'_>) -> Vec<Option<Moment>> {
    if case.project.data_date.is_none() {
        return vec![None; case.subjects.len()];
    }
    let without = without_progress(case.project);
    let planned = compute(&without, &Options::default(), &|| false).ok();
    let finish = |subject: &Subject<'_>| {
        let baseline = subject.given.baseline.as_ref();
        let fixed = baseline.and_then(|baseline| case.model.second(baseline.finish, Edge::Last));
        let place = case.model.place(&subject.given.id);
        let second = fixed.or_else(|| planned.as_ref().map(|planned| planned.span(place).1));
        second.map(|second| case.model.frame.moment(second))
    };
    case.subjects.iter().map(finish).collect()
}
