//! Checks 1 to 4: whether the links carry the schedule.

use std::collections::BTreeSet;

use super::{Bound, Case, Check, percent};
use crate::project::{Link, LinkKind, Task};
use crate::schedule::TaskRow;

/// 1. Logic: open tasks without predecessor, without successor or without both / open tasks, at most 5 %.
///
/// Every project begins and ends somewhere: the earliest leaf (or milestone) without predecessor and the last one without
/// successor are not counted. A link of a summary holds for what is in it.
pub(super) fn logic(case: &Case<'_>) -> Check {
    let waited_for: BTreeSet<&str> =
        case.project.tasks.iter().flat_map(|task| &task.after).map(|link| &*link.task).collect();
    let with_summaries = |id: &str| {
        let above = |&place: &usize| case.model.tasks[place].parent.as_deref().map(|id| case.model.place(id));
        std::iter::successors(Some(case.model.place(id)), above)
    };
    let begins = |id: &str| {
        let waits = |place: usize| {
            let links = &case.model.tasks[place].after;
            let itself = case.model.place(id) == place;
            links.iter().any(|link| itself || link.kind.holds_start())
        };
        !with_summaries(id).any(waits)
    };
    let ends = |id: &str| !with_summaries(id).any(|place| waited_for.contains(&*case.model.tasks[place].id));
    let leaves = || case.schedule.tasks.iter().filter(|row| !case.model.is_summary(case.model.place(&row.id)));
    let first = leaves().filter(|row| begins(&row.id)).min_by_key(|row| (row.start, row.finish, &row.id));
    let last = leaves().filter(|row| ends(&row.id)).max_by_key(|row| (row.finish, row.start, &row.id));
    case.open_share("logic", "logic", 5.0, |subject| {
        let is = |row: Option<&TaskRow>| row.is_some_and(|row| row.id == subject.row.id);
        let id = &subject.given.id;
        (begins(id) && !is(first)) || (ends(id) && !is(last))
    })
}

/// Checks of all links whose later task is open.
///
/// 2. Leads: links with a negative lag / links, none.
/// 3. Lags: links with a positive lag / links, at most 5 %.
/// 4. Relationship types: finish-to-start links / links, at least 90 %.
pub(super) fn of_links(case: &Case<'_>) -> [Check; 3] {
    let open = |id: &str| case.rows.get(id).is_some_and(|row| row.percent < 100);
    let waiting = case.project.tasks.iter().filter(|task| open(&task.id));
    let links: Vec<(&Task, &Link)> = waiting.flat_map(|task| task.after.iter().map(move |link| (task, link))).collect();
    let found = |bad: &dyn Fn(&Task, &Link) -> bool| -> Vec<&str> {
        links.iter().filter(|(task, link)| bad(task, link)).map(|(task, _)| &*task.id).collect()
    };
    let none = links.is_empty().then_some("no open task waits for another");
    let share = |id, title, limit, found: &[&str]| Check::share(id, title, limit, found, links.len()).noted(none);
    let lag = |task: &Task, link: &Link| link.lag.to_seconds(&case.model.scale_of(task));
    let others = found(&|_, link| link.kind != LinkKind::FinishToStart);
    let finish_to_start = percent(links.len() - others.len(), links.len(), 100.0);
    [
        share("leads", "leads", 0.0, &found(&|task, link| lag(task, link) < 0)),
        share("lags", "lags", 5.0, &found(&|task, link| lag(task, link) > 0)),
        Check::new("relationship_types", "finish-to-start links", "%", Bound::AtLeast, 90.0, finish_to_start)
            .naming(&others)
            .noted(none),
    ]
}
