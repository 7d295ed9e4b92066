//! The ways that are tried.

use std::collections::BTreeMap;

use gantry_schedule::project::{Project, Who};
use gantry_schedule::{Moment, Options, Problem, Schedule, schedule, what_if};
use rust_decimal::Decimal;

/// How many ways are shown.
const WAYS_MAX: usize = 8;
/// How many of the longest tasks are shortened, and how many of those who are short are joined.
const TRIED_MAX: usize = 5;

/// One way to make a plan earlier or cheaper, or to let it fit.
pub struct Way {
    /// In words.
    pub what: String,
    /// As a change of the project.
    pub change: String,
    /// When it is done then.
    pub finish: Moment,
    /// What it costs then.
    pub cost: Decimal,
    /// Every hard deadline and the budget are kept then.
    pub fits: bool,
    /// More of them are kept then than now.
    pub fewer: bool,
}

/// How many constraints are not kept.
fn missed(schedule: &Schedule) -> usize {
    let over = schedule.cost.under_budget.is_some_and(|left| left.is_sign_negative());
    schedule.infeasible.len() + usize::from(over)
}

/// The schedule as it stands, and every way that helps, the best first.
pub fn ways(project: &Project) -> Result<(Schedule, Vec<Way>), Vec<Problem>> {
    let options = Options { draws: 0, ..Options::usual(project) };
    let now = schedule(project, &options)?;
    let mut found: Vec<Way> = Vec::new();
    for (what, change) in changes(project, &now) {
        let Ok(tried) = what_if(project, &[&change], &options) else { continue };
        let then = tried.schedule;
        let fewer = missed(&then) < missed(&now);
        if fewer || then.finish < now.finish || then.cost.total < now.cost.total {
            found.push(Way {
                what,
                change,
                finish: then.finish,
                cost: then.cost.total,
                fits: missed(&then) == 0,
                fewer,
            });
        }
    }
    found.sort_by(|one, other| {
        (other.fits, other.fewer, one.finish, one.cost).cmp(&(one.fits, one.fewer, other.finish, other.cost))
    });
    found.truncate(WAYS_MAX);
    Ok((now, found))
}

/// What is tried, in words and as changes.
fn changes(project: &Project, now: &Schedule) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let open = |id: &str| project.tasks.iter().find(|task| task.id == id && task.progress.finished.is_none());
    let critical: Vec<_> = now.critical_path.iter().filter_map(|id| open(id)).collect();
    let mut busy: BTreeMap<&str, usize> = BTreeMap::new();
    for need in critical.iter().flat_map(|task| &task.needs) {
        if let Who::Named { resource } = &need.who {
            *busy.entry(resource.as_str()).or_default() += 1;
        }
    }
    let mut busiest: Vec<(&str, usize)> = busy.into_iter().collect();
    busiest.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (id, _) in busiest.into_iter().take(TRIED_MAX) {
        let Some(resource) = project.resources.iter().find(|one| one.id == id) else { continue };
        let name = if resource.name.is_empty() { id } else { resource.name.as_str() };
        let more = resource.capacity.0 / 1_000 + 1;
        all.push((format!("one more of “{name}” ({more})"), format!("resource.{id}.capacity={more}")));
    }
    let mut rows: Vec<_> = now.tasks.iter().filter(|row| critical.iter().any(|task| task.id == row.id)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.hours.map(|hours| hours.likely)));
    for row in rows.into_iter().take(TRIED_MAX) {
        let Some(hours) = row.hours else { continue };
        let less = |hours: gantry_schedule::Quantity| {
            format!("{}h", (hours.in_thousandths() * 3 / 4 + 249) / 250 * 250 / 1_000)
        };
        let [low, likely, high] = [hours.low, hours.likely, hours.high].map(less);
        all.push((
            format!("a quarter less work in “{}”", row.title),
            format!("task.{}.estimate={low} / {likely} / {high}", row.id),
        ));
    }
    let whole = now.deadlines.iter().find(|verdict| verdict.task.is_none() && !verdict.met);
    if whole.is_some() {
        let day = now.finish.day();
        all.push((format!("move the deadline to {day}"), format!("project.deadline={day} hard")));
    }
    if now.cost.under_budget.is_some_and(|left| left.is_sign_negative()) {
        let total = now.cost.total.ceil();
        all.push((format!("raise the budget to {total}"), format!("project.budget={total}")));
    }
    all
}
