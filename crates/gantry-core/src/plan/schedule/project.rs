//! A plan as a project of the scheduler: its tasks with what the plan's `schedule` adds to them.

use std::collections::{BTreeMap, BTreeSet};

use gantry_schedule::Project;
use gantry_schedule::project::{
    self, Amount, Deadline, Estimate, Length, Link, Money, Need, Progress, Resource, Shape, Unit, When, Who,
};
use rust_decimal::Decimal;

use super::{Plan, Scheduling, Task, TaskScheduling, when};
use crate::id::TaskId;
use crate::plan::InitialStatus;
use crate::time::{Duration, Timestamp};

/// The currency of a plan's own amounts.
const OWN_CURRENCY: &str = "USD";

impl Plan {
    /// The plan as a project, before anything of it has happened. It starts when its `schedule` says, or else now.
    ///
    /// A plan's own durations are time that passes, round the clock. A task without an estimate takes no time. A task
    /// that contains others and takes time itself gets a part of its own after them, under [`own_part`].
    pub fn project(&self, now: Timestamp) -> Project {
        let section = &self.schedule;
        let start = section.start.unwrap_or_else(|| when(now));
        let view = View { plan: self, start, below: below(self) };
        let mut tasks = Vec::with_capacity(self.tasks.len());
        let mut split: BTreeSet<&str> = BTreeSet::new();
        for (task, waits) in self.tasks.iter().zip(self.waits()) {
            let (whole, part) = view.task(task, &waits);
            tasks.push(whole);
            split.extend(part.is_some().then_some(task.id.as_str()));
            tasks.extend(part);
        }
        // What strikes work, or goes well with other work, does so where the work is.
        let at_work = |ids: &[String]| -> Vec<String> {
            ids.iter().map(|id| if split.contains(&**id) { own_part(id) } else { id.clone() }).collect()
        };
        let risks = section.risks.iter().map(|risk| project::Risk { tasks: at_work(&risk.tasks), ..risk.clone() });
        let correlations = section.correlations.iter();
        let correlations =
            correlations.map(|group| project::Correlation { members: at_work(&group.members), ..group.clone() });
        let own_deadline = || self.deadline.map(soft);
        let own_budget = || self.policy.budget.cost_usd.map(|money| money_of(money, section));
        Project {
            name: self.name().to_owned(),
            start: Some(start),
            unit: if section.is_empty() { unit_of(self) } else { section.unit },
            calendar: section.calendar.clone(),
            currency: currency(section).to_owned(),
            exchange: section.exchange.clone(),
            deadline: section.deadline.or_else(own_deadline),
            budget: section.budget.clone().or_else(own_budget),
            data_date: None,
            calendars: section.calendars.clone(),
            resources: resources(self),
            tasks,
            risks: risks.collect(),
            correlations: correlations.collect(),
            classes: section.classes.clone(),
            recurring: section.recurring.clone(),
        }
    }
}

/// The id of the part that stands for what a task that contains others does itself; no task can have it.
pub fn own_part(task: &str) -> String {
    format!("{task}/itself")
}

fn currency(section: &Scheduling) -> &str {
    section.currency.as_deref().unwrap_or(OWN_CURRENCY)
}

/// An amount of the plan, which counts dollars, in a project that may count otherwise.
fn money_of(money: crate::plan::Money, section: &Scheduling) -> Money {
    let currency = (currency(section) != OWN_CURRENCY).then(|| OWN_CURRENCY.to_owned());
    Money { amount: Decimal::new(i64::try_from(money.0).unwrap_or(i64::MAX), 6).normalize(), currency }
}

/// Without a word about it, results are told in hours, or in days where tasks take days.
fn unit_of(plan: &Plan) -> Unit {
    let longest = plan.tasks.iter().filter_map(|task| Some(task.estimate.as_ref()?.high)).max().unwrap_or_default();
    if longest > Duration::from_hours(48) { Unit::Day } else { Unit::Hour }
}

fn soft(time: Timestamp) -> Deadline {
    Deadline { at: when(time), hard: false }
}

/// Time that passes, so that no calendar stretches it.
fn length(duration: Duration, round_the_clock: bool) -> Length {
    let seconds = Length::seconds(i64::try_from(duration.as_ms().div_ceil(1_000)).unwrap_or(i64::MAX));
    if round_the_clock { seconds.elapsed() } else { seconds }
}

/// For each task that contains others, everything that it contains at whatever depth.
fn below(plan: &Plan) -> BTreeMap<&TaskId, BTreeSet<&TaskId>> {
    let parents: BTreeMap<&TaskId, &TaskId> =
        plan.tasks.iter().filter_map(|task| Some((&task.id, task.parent.as_ref()?))).collect();
    let mut below: BTreeMap<&TaskId, BTreeSet<&TaskId>> = BTreeMap::new();
    for task in &plan.tasks {
        let mut above = task.parent.as_ref();
        while let Some(parent) = above {
            // Parents that contain each other come around: what was put in already is not put in again.
            if !below.entry(parent).or_default().insert(&task.id) {
                break;
            }
            above = parents.get(parent).copied();
        }
    }
    below
}

/// Everyone whom the schedule lists, then everyone whom only tasks name, with the highest amount and the first price.
fn resources(plan: &Plan) -> Vec<Resource> {
    let section = &plan.schedule;
    let listed: BTreeMap<&str, usize> =
        section.resources.iter().enumerate().map(|(place, resource)| (&*resource.id, place)).collect();
    let mut all = section.resources.clone();
    let mut named: BTreeMap<&str, Resource> = BTreeMap::new();
    for need in plan.tasks.iter().flat_map(|task| &task.resources) {
        let resource = match listed.get(&*need.name) {
            Some(place) => &mut all[*place],
            None => {
                let resource = named.entry(&need.name).or_insert_with(|| Resource::new(&need.name));
                resource.capacity = resource.capacity.max(Amount(need.amount.unwrap_or(1_000)));
                resource
            }
        };
        if resource.rate.is_none() {
            resource.rate = need.cost_per_hour.map(|money| money_of(money, section));
        }
    }
    all.extend(named.into_values());
    all
}

struct View<'p> {
    plan: &'p Plan,
    start: When,
    below: BTreeMap<&'p TaskId, BTreeSet<&'p TaskId>>,
}

impl View<'_> {
    /// A task, and the part that stands for its own work where it contains others.
    fn task(&self, task: &Task, waits: &[TaskId]) -> (project::Task, Option<project::Task>) {
        let nothing = TaskScheduling::default();
        let more = self.plan.schedule.of(task).unwrap_or(&nothing);
        let left_out = task.status == InitialStatus::Skipped;
        let whole = project::Task {
            id: task.id.as_str().to_owned(),
            title: if task.title == task.id.as_str() { String::new() } else { task.title.clone() },
            parent: task.parent.as_ref().map(|parent| parent.as_str().to_owned()),
            after: self.after(task, more, waits),
            estimate: self.estimate(task, more).filter(|_| !left_out),
            class: more.class.clone(),
            calendar: more.calendar.clone(),
            start_no_earlier: more.start_no_earlier,
            deadline: more.deadline.or_else(|| task.deadline.map(soft)),
            needs: if left_out { Vec::new() } else { needs(task, more) },
            costs: if left_out { Vec::new() } else { more.costs.clone() },
            priority: task.rank(),
            progress: self.progress(task, more),
            baseline: more.baseline.clone(),
        };
        self.split(task, more, whole)
    }

    /// Takes the work out of a task that contains others. An estimate of the whole that its parts have in more detail,
    /// and that stands for no work of its own, is not counted again.
    fn split(
        &self,
        task: &Task,
        more: &TaskScheduling,
        mut whole: project::Task,
    ) -> (project::Task, Option<project::Task>) {
        let Some(inside) = self.below.get(&task.id) else { return (whole, None) };
        // What the schedule gives a task that only holds others together is refused by the checks, so it stays where it
        // was given. A task that does something keeps that work when it gets parts.
        let given = task.action.is_none() && (more.estimate.is_some() || !more.needs.is_empty());
        if given || whole.estimate.is_none() && whole.needs.is_empty() {
            return (whole, None);
        }
        let (estimate, needs) = (whole.estimate.take(), std::mem::take(&mut whole.needs));
        let estimated = |part: &&Task| inside.contains(&part.id) && self.has_estimate(part);
        if task.action.is_none() && self.plan.tasks.iter().any(|part| estimated(&part)) {
            return (whole, None);
        }
        let children = self.plan.tasks.iter().filter(|part| part.parent.as_ref() == Some(&task.id));
        let part = project::Task {
            id: own_part(task.id.as_str()),
            title: format!("{}, its own part", task.name()),
            parent: Some(whole.id.clone()),
            after: children.map(|part| Link::after(part.id.as_str())).collect(),
            estimate,
            needs,
            class: whole.class.take(),
            calendar: whole.calendar.clone(),
            priority: whole.priority,
            progress: whole.progress.clone(),
            ..project::Task::default()
        };
        whole.progress.cost = None; // it was spent on the work, which is in the part now
        (whole, Some(part))
    }

    fn has_estimate(&self, task: &Task) -> bool {
        task.estimate.is_some() || self.plan.schedule.of(task).is_some_and(|more| more.estimate.is_some())
    }

    /// The links that the schedule gives, then everything else that the task waits for. What it contains it waits for
    /// anyway.
    fn after(&self, task: &Task, more: &TaskScheduling, waits: &[TaskId]) -> Vec<Link> {
        let linked: BTreeSet<&str> = more.after.iter().map(|link| &*link.task).collect();
        let inside = |before: &TaskId| self.below.get(&task.id).is_some_and(|inside| inside.contains(before));
        let plain = waits.iter().filter(|before| !linked.contains(before.as_str()) && !inside(before));
        more.after.iter().cloned().chain(plain.map(|before| Link::after(before.as_str()))).collect()
    }

    fn estimate(&self, task: &Task, more: &TaskScheduling) -> Option<Estimate> {
        let round_the_clock = !self.plan.schedule.is_empty();
        let own = || {
            task.estimate.as_ref().map(|estimate| Estimate {
                low: length(estimate.low, round_the_clock),
                likely: length(estimate.likely, round_the_clock),
                high: length(estimate.high, round_the_clock),
                shape: Shape::Pert,
            })
        };
        more.estimate.or_else(own)
    }

    /// What was done before the plan was read was done by its start.
    fn progress(&self, task: &Task, more: &TaskScheduling) -> Progress {
        let done = (task.status == InitialStatus::Completed).then_some(self.start);
        let percent = more.percent.filter(|_| done.is_none());
        Progress { started: done, finished: done, percent, cost: more.spent.clone(), ..Progress::default() }
    }
}

/// Whom the schedule names, then whom else the task itself does.
fn needs(task: &Task, more: &TaskScheduling) -> Vec<Need> {
    let named = |need: &&Need, name: &str| matches!(&need.who, Who::Named { resource } if resource == name);
    let own = task.resources.iter().filter(|own| !more.needs.iter().any(|need| named(&need, &own.name)));
    let own = own.map(|own| Need { amount: Amount(own.amount.unwrap_or(1_000)), ..Need::named(&own.name) });
    more.needs.iter().cloned().chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Action, Run};

    fn plan(tasks: &str, schedule: &str) -> Plan {
        serde_json::from_str(&format!(r#"{{"title": "t", "tasks": {tasks}, "schedule": {schedule}}}"#)).unwrap()
    }

    fn project(tasks: &str, schedule: &str) -> Project {
        let project = plan(tasks, schedule).project(Timestamp::from_ms(0));
        assert_eq!(project.problems(), []);
        project
    }

    fn links(project: &Project, task: &str) -> Vec<String> {
        project.task(task).unwrap().after.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_link_of_the_schedule_takes_the_place_of_the_plain_one() {
        let tasks = r#"[{"id": "a"}, {"id": "b"}, {"id": "c", "depends_on": ["a", "b"]}]"#;
        let project = project(tasks, r#"{"tasks": {"c": {"after": ["a SS+2d"]}}}"#);
        assert_eq!(links(&project, "c"), ["a SS+2d", "b"]);
    }

    #[test]
    fn an_estimate_of_the_schedule_is_work_and_one_of_the_task_is_time_that_passes() {
        let estimate = r#"{"low": "24h", "likely": "24h", "high": "24h"}"#;
        let tasks = format!(r#"[{{"id": "a", "estimate": {estimate}}}, {{"id": "b", "estimate": {estimate}}}]"#);
        let project = project(&tasks, r#"{"tasks": {"b": {"estimate": "3d"}}}"#);
        assert_eq!(project.task("a").unwrap().estimate.unwrap().likely, Length::hours(24).elapsed());
        assert_eq!(project.task("b").unwrap().estimate.unwrap().likely, Length::days(3));
    }

    #[test]
    fn whom_the_schedule_needs_comes_before_whom_the_task_names() {
        let tasks = r#"[{"id": "a", "resources": ["ana", "crane"]}]"#;
        let project = project(tasks, r#"{"resources": [{"id": "ana"}], "tasks": {"a": {"needs": ["ana 50%"]}}}"#);
        let ids: Vec<&str> = project.resources.iter().map(|resource| &*resource.id).collect();
        assert_eq!(ids, ["ana", "crane"]);
        assert_eq!(project.tasks[0].needs, ["ana 50%".parse().unwrap(), Need::named("crane")]);
    }

    #[test]
    fn a_task_that_reads_from_its_parts_and_works_after_them_gets_a_part_of_its_own() {
        let tasks = r#"[{"id": "whole", "depends_on": ["part"], "estimate": {"low": "1h", "likely": "1h", "high": "1h"}},
            {"id": "part", "parent": "whole", "estimate": {"low": "2h", "likely": "2h", "high": "2h"}}]"#;
        let mut plan = plan(tasks, "{}");
        let counted = plan.project(Timestamp::from_ms(0));
        assert_eq!(counted.tasks.len(), 2, "without work of its own, its estimate is that of its parts");
        plan.tasks[0].action = Some(Action::Run(Run { command: "make".to_owned(), ..Run::default() }));
        let project = plan.project(Timestamp::from_ms(0));
        assert_eq!(project.problems(), []);
        assert_eq!(links(&project, "whole/itself"), ["part"]);
        let schedule = gantry_schedule::schedule(&project, &Default::default()).unwrap();
        assert_eq!(schedule.makespan.to_string(), "3");
    }

    #[test]
    fn work_that_gets_parts_keeps_what_the_schedule_gave_it_and_what_may_strike_it() {
        let tasks = r#"[{"id": "crane"}, {"id": "order", "parent": "crane"}]"#;
        let section = r#"{"unit": "hour", "resources": [{"id": "ana"}], "tasks": {"crane": {"estimate": "2h", "needs": ["ana"]}},
            "risks": [{"id": "late", "probability": 0.5, "tasks": ["crane"], "delay": "1h"}]}"#;
        let mut plan = plan(tasks, section);
        plan.tasks[0].action = Some(Action::Run(Run { command: "make".to_owned(), ..Run::default() }));
        let project = plan.project(Timestamp::from_ms(0));
        assert_eq!(project.problems(), []);
        assert_eq!(links(&project, "crane/itself"), ["order"]);
        assert_eq!(
            (project.risks[0].tasks.as_slice(), project.tasks[0].estimate),
            (&["crane/itself".to_owned()][..], None)
        );
        let schedule = gantry_schedule::schedule(&project, &Default::default()).unwrap();
        assert_eq!(schedule.makespan.to_string(), "2");
    }

    #[test]
    fn what_was_done_before_the_plan_was_read_takes_no_more_time() {
        let tasks = r#"[{"id": "a", "status": "completed"}, {"id": "b", "status": "skipped"}, {"id": "c"}]"#;
        let section = r#"{"tasks": {"a": {"estimate": "5d"}, "b": {"estimate": "5d"}, "c": {"estimate": "1d"}}}"#;
        let schedule = gantry_schedule::schedule(&project(tasks, section), &Default::default()).unwrap();
        assert_eq!(schedule.makespan.to_string(), "1");
    }

    #[test]
    fn what_was_spent_is_what_it_has_cost() {
        let section = r#"{"resources": [{"id": "ana", "rate": 100}],
            "tasks": {"a": {"estimate": "10h", "needs": ["ana"], "spent": 1234.5}}}"#;
        let project = project(r#"[{"id": "a", "status": "completed"}]"#, section);
        let schedule = gantry_schedule::schedule(&project, &Default::default()).unwrap();
        assert_eq!(schedule.cost.total.to_string(), "1234.50");
    }

    #[test]
    fn dollars_of_the_plan_stay_dollars_where_totals_are_in_another_currency() {
        let tasks = r#"[{"id": "a", "resources": [{"name": "ana", "cost_per_hour": 90}]}]"#;
        let project = project(tasks, r#"{"currency": "EUR", "exchange": {"USD": 0.9}}"#);
        assert_eq!(project.resources[0].rate.as_ref().unwrap().to_string(), "90 USD");
    }
}
