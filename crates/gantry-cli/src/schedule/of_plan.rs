//! A plan as a project: its tasks with their estimates, who is needed, what is done, and by when.
//!
//! Durations of plans are time that passes, so the project counts round the clock. A task without an estimate takes no
//! time; how many there are is told.

use std::collections::BTreeMap;

use gantry_core::plan::{Plan, Task};
use gantry_core::time::{Duration, Timestamp};
use gantry_schedule::project::{
    self, Amount, Deadline, Estimate, Length, Link, Money, Need, Progress, Project, Resource, Shape, Unit, When,
};
use rust_decimal::Decimal;

use crate::show::timeline::Timeline;

/// The project of a plan that starts now, or of one that is under way.
pub fn project(plan: &Plan, lived: Option<&Timeline>, now: Timestamp) -> Project {
    let start = lived.and_then(|timeline| timeline.plan.began).unwrap_or(now);
    let longest = plan.tasks.iter().filter_map(|task| Some(task.estimate.as_ref()?.high)).max().unwrap_or_default();
    let unit = if longest > Duration::from_hours(48) { Unit::Day } else { Unit::Hour };
    let waits = plan.waits();
    let mut project = Project { name: plan.name().to_owned(), start: Some(at(start)), ..Project::counting(unit) };
    project.deadline = plan.deadline.map(soft);
    project.budget =
        plan.policy.budget.cost_usd.map(|money| Money::of(Decimal::new(i64::try_from(money.0).unwrap_or(i64::MAX), 6)));
    project.data_date = lived.filter(|timeline| timeline.plan.began.is_some()).map(|_| at(now));
    project.resources = resources(plan);
    project.tasks = plan.tasks.iter().zip(waits).map(|(task, waits)| self::task(task, &waits, lived)).collect();
    project
}

/// A point in time as projects have it.
pub fn at(time: Timestamp) -> When {
    jiff::Timestamp::from_millisecond(time.as_ms()).map_or(When::After(Length::ZERO), When::At)
}

fn soft(time: Timestamp) -> Deadline {
    Deadline { at: at(time), hard: false }
}

fn length(duration: Duration) -> Length {
    Length::seconds(i64::try_from(duration.as_ms().div_ceil(1_000)).unwrap_or(i64::MAX))
}

/// Everyone who is named by a task, with the highest amount and the first price that is named.
fn resources(plan: &Plan) -> Vec<Resource> {
    let mut all: BTreeMap<&str, Resource> = BTreeMap::new();
    for need in plan.tasks.iter().flat_map(|task| &task.resources) {
        let resource = all.entry(&need.name).or_insert_with(|| Resource::new(&need.name));
        let amount = Amount(need.amount.unwrap_or(1_000));
        resource.capacity = resource.capacity.max(amount);
        if resource.rate.is_none() {
            resource.rate =
                need.cost_per_hour.map(|money| Money::of(Decimal::new(i64::try_from(money.0).unwrap_or(i64::MAX), 6)));
        }
    }
    all.into_values().collect()
}

fn task(task: &Task, waits: &[gantry_core::id::TaskId], lived: Option<&Timeline>) -> project::Task {
    let span = lived.map(|timeline| timeline.task(&task.id)).unwrap_or_default();
    let estimate = task.estimate.as_ref().map(|estimate| Estimate {
        low: length(estimate.low),
        likely: length(estimate.likely),
        high: length(estimate.high),
        shape: Shape::Pert,
    });
    project::Task {
        title: if task.title == task.id.as_str() { String::new() } else { task.title.clone() },
        parent: task.parent.as_ref().map(|parent| parent.as_str().to_owned()),
        after: waits.iter().map(|before| Link::after(before.as_str())).collect(),
        estimate,
        deadline: task.deadline.map(soft),
        needs: task
            .resources
            .iter()
            .map(|need| Need { amount: Amount(need.amount.unwrap_or(1_000)), ..Need::named(&need.name) })
            .collect(),
        priority: task.rank(),
        progress: Progress { started: span.began.map(at), finished: span.ended.map(at), ..Progress::default() },
        ..project::Task::milestone(task.id.as_str())
    }
}
