//! Settles when work is taken up that could wait for months: by the step before it is needed, and no earlier.
//!
//! Where the end of getting ready is a day that was named, the whole begins in time for it and no earlier.
//!
//! What is done as soon as it can be, months before anyone needs it, is done on old facts, and its float hides what really
//! decides the end. Two links mend that, and neither makes a plan longer: a decision holds the next work that comes after
//! it, and work with months to spare is released by a step on the way to whoever waits for it.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::time::Timestamp;
use gantry_schedule::{Moment, Options, Project, Schedule, TaskRow};
use jiff::civil::Date;
use serde_json::{Value, json};

/// So many times a plan is looked at: a chain of tasks with months to spare is settled link by link.
const ROUNDS_MAX: usize = 12;
/// The check that tells what has months to spare.
const CHECK: &str = "high_float";

/// What is released in time has about so much to spare.
const SPARE: jiff::SignedDuration = jiff::SignedDuration::from_hours(6 * 7 * 24);

/// A link: what waits, and for what.
type Link = (String, String);

/// The same plan, with what it leaves loose linked. A plan that cannot be scheduled is left as it is: whoever reads it
/// next says why.
pub(crate) fn settled(plan: Value) -> Value {
    let Some(mut seen) = Seen::of(plan) else { return Value::Null };
    for _ in 0..ROUNDS_MAX {
        let links = seen.links();
        if links.is_empty() {
            break;
        }
        seen = match seen.with(&links) {
            Some(next) => next,
            // Together they do not fit the people there are; one of them may.
            None => match links.iter().find_map(|link| seen.with(std::slice::from_ref(link))) {
                Some(next) => next,
                None => break,
            },
        };
    }
    seen.plan
}

/// The same plan, begun so that whoever gets ready for a day has weeks to spare and no months.
pub(crate) fn begun_in_time(mut plan: Value, day: Date, spare: i32) -> Value {
    let Some(Seen { dated: Some((_, schedule)), .. }) = Seen::of(plan.clone()) else { return plan };
    let on_the_day = |id: &str| plan["schedule"]["tasks"][id]["start_no_earlier"].is_string();
    let rows: BTreeMap<&str, &TaskRow> = schedule.tasks.iter().map(|row| (&*row.id, row)).collect();
    let works = plan["tasks"].as_array().into_iter().flatten().filter_map(|phase| phase["tasks"].as_array());
    let before = works.flatten().filter(|task| task["id"].as_str().is_some_and(on_the_day));
    let before = before.flat_map(|task| task["depends_on"].as_array().into_iter().flatten().filter_map(Value::as_str));
    let ready = before.filter(|id| !on_the_day(id)).filter_map(|id| date(rows.get(id)?.finish)).max();
    let begin = ready.zip(plan["schedule"]["start"].as_str().and_then(|start| start.parse::<Date>().ok()));
    if let Some((ready, start)) = begin {
        let later = (day - ready).get_days() - spare;
        if let Some(start) = (later > 0).then(|| start.checked_add(jiff::Span::new().days(later)).ok()).flatten() {
            plan["schedule"]["start"] = json!(start.to_string());
        }
    }
    plan
}

fn date(moment: Moment) -> Option<Date> {
    match moment {
        Moment::Date(instant, offset) => Some(offset.to_datetime(instant).date()),
        Moment::Count(_) => None,
    }
}

/// A plan and its dates.
struct Seen {
    plan: Value,
    /// None for a plan without dates.
    dated: Option<(Project, Schedule)>,
}

impl Seen {
    fn of(plan: Value) -> Option<Self> {
        let mut named = plan.clone();
        named.as_object_mut()?.entry("title").or_insert_with(|| json!("plan"));
        let read = gantry_format::load("plan.json", named.to_string().as_bytes()).plan;
        let dated = read.and_then(|read| {
            let project = read.project(Timestamp::from_ms(0)); // a draft says itself when it starts
            let options = Options { draws: 0, ..Options::usual(&project) };
            gantry_schedule::schedule(&project, &options).ok().map(|schedule| (project, schedule))
        });
        Some(Self { plan, dated })
    }

    /// The plan with more links; none when that makes it longer.
    fn with(&self, links: &[Link]) -> Option<Self> {
        let mut plan = self.plan.clone();
        for task in phases_mut(&mut plan).flatten() {
            let more = links.iter().filter(|(after, _)| task["id"] == **after).map(|(_, before)| json!(before));
            let more: Vec<Value> = more.collect();
            if let Some(before) = task["depends_on"].as_array_mut() {
                before.extend(more);
            }
        }
        let next = Self::of(plan)?;
        let finish = |seen: &Self| seen.dated.as_ref().map(|(_, schedule)| schedule.finish);
        (finish(&next)? <= finish(self)?).then_some(next)
    }

    fn links(&self) -> Vec<Link> {
        let Some((project, schedule)) = &self.dated else { return Vec::new() };
        let checks = gantry_schedule::health(project, schedule);
        let spare = checks.into_iter().find(|check| check.id == CHECK).map(|check| check.tasks).unwrap_or_default();
        let graph = Graph::of(&self.plan, schedule);
        let mut links = graph.decisions(&spare);
        if links.is_empty() {
            links = graph.releases(&spare);
        }
        links
    }
}

fn phases_mut(plan: &mut Value) -> impl Iterator<Item = impl Iterator<Item = &mut Value>> {
    let phases = plan["tasks"].as_array_mut().into_iter().flatten();
    phases.map(|phase| phase["tasks"].as_array_mut().into_iter().flatten())
}

/// Who waits for whom, and when.
struct Graph<'a> {
    rows: BTreeMap<&'a str, &'a TaskRow>,
    before: BTreeMap<&'a str, Vec<&'a str>>,
    after: BTreeMap<&'a str, Vec<&'a str>>,
    /// The phase of each piece of work, in order.
    phase: BTreeMap<&'a str, usize>,
    /// Decisions about phases, but for the last one.
    decisions: Vec<&'a str>,
}

impl<'a> Graph<'a> {
    fn of(plan: &'a Value, schedule: &'a Schedule) -> Self {
        let mut graph = Self {
            rows: schedule.tasks.iter().map(|row| (&*row.id, row)).collect(),
            before: BTreeMap::new(),
            after: BTreeMap::new(),
            phase: BTreeMap::new(),
            decisions: Vec::new(),
        };
        let phases = plan["tasks"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (at, phase) in phases.iter().enumerate() {
            for task in phase["tasks"].as_array().into_iter().flatten() {
                let Some(id) = task["id"].as_str() else { continue };
                graph.phase.insert(id, at);
                if !task["gate"].is_null() && at + 1 < phases.len() {
                    graph.decisions.push(id);
                }
                for before in task["depends_on"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                    graph.before.entry(id).or_default().push(before);
                    graph.after.entry(before).or_default().push(id);
                }
            }
        }
        graph
    }

    /// A decision that nobody waits for, or that has months to spare, holds the work of later phases that is due next
    /// after it.
    fn decisions(&self, spare: &[String]) -> Vec<Link> {
        let loose = |id: &&&str| !self.after.contains_key(**id) || spare.iter().any(|one| one == **id);
        let next = |decision: &&str| -> Option<Link> {
            let done = self.rows.get(decision)?.finish;
            let waits = |id: &str| self.after.get(decision).is_some_and(|after| after.contains(&id));
            let later = self.phase.iter().filter(|(_, phase)| **phase > self.phase[decision]);
            let fits = later.filter_map(|(id, _)| self.rows.get(id)).filter(|row| row.start >= done && !waits(&row.id));
            let first = fits.min_by_key(|row| (row.late_start, row.start, &row.id))?;
            let sooner = |id: &&str| self.rows.get(id).is_none_or(|row| row.late_start > first.late_start);
            let helps = self.after.get(decision).is_none_or(|after| after.iter().all(sooner));
            helps.then(|| (first.id.clone(), (*decision).to_owned()))
        };
        self.decisions.iter().filter(loose).filter_map(next).collect()
    }

    /// Work with months to spare is released by a step on the way to whoever waits for it: the earliest after which the
    /// spare is no longer worth a check, else the latest.
    fn releases(&self, spare: &[String]) -> Vec<Link> {
        let is_spare = |id: &str| spare.iter().any(|one| one == id);
        let is_head = |id: &&String| {
            let before = self.before.get(id.as_str()).map(Vec::as_slice).unwrap_or_default();
            !before.iter().any(|before| is_spare(before)) && !self.decisions.contains(&id.as_str())
        };
        let mut links: Vec<Link> = Vec::new();
        for id in spare.iter().filter(is_head) {
            let release = self.release(id, &is_spare).filter(|step| !self.circles(&links, id, step));
            links.extend(release.map(|step| (id.clone(), step.to_owned())));
        }
        links
    }

    fn release(&self, id: &str, is_spare: &dyn Fn(&str) -> bool) -> Option<&'a str> {
        let row = self.rows.get(id)?;
        let behind = self.all_after(id);
        // Whoever waits for it and has no months to spare is who needs it.
        let on_the_way: BTreeSet<&str> =
            behind.iter().filter(|after| !is_spare(after)).flat_map(|after| reach(&self.before, after)).collect();
        let steps = on_the_way.into_iter().filter(|step| *step != id && !behind.contains(step));
        let fits = |step: &&TaskRow| step.finish > row.start && step.finish <= row.late_start;
        let mut steps: Vec<&TaskRow> = steps.filter_map(|step| self.rows.get(step).copied()).filter(fits).collect();
        steps.sort_by_key(|step| (step.finish, &step.id));
        let near = soon_before(row.late_start);
        let step = steps.iter().find(|step| step.finish >= near).or(steps.last())?;
        self.rows.get_key_value(&*step.id).map(|(id, _)| *id)
    }

    fn all_after(&self, id: &str) -> BTreeSet<&'a str> {
        self.rows.get_key_value(id).map(|(id, _)| reach(&self.after, id)).unwrap_or_default()
    }

    /// Tells whether waiting for this step would close a circle with links that are not in the plan yet.
    fn circles(&self, links: &[Link], id: &str, step: &str) -> bool {
        let (mut stack, mut seen) = (vec![step.to_owned()], BTreeSet::new());
        while let Some(at) = stack.pop() {
            if at == id {
                return true;
            }
            if seen.insert(at.clone()) {
                stack.extend(self.before.get(at.as_str()).into_iter().flatten().map(|before| (*before).to_owned()));
                stack.extend(links.iter().filter(|(after, _)| *after == at).map(|(_, before)| before.clone()));
            }
        }
        false
    }
}

/// Six weeks earlier: enough to spare for most trouble, and too little for the check.
fn soon_before(moment: Moment) -> Moment {
    match moment {
        Moment::Date(instant, offset) => Moment::Date(instant.saturating_sub(SPARE).unwrap_or(instant), offset),
        Moment::Count(_) => moment,
    }
}

fn reach<'a>(links: &BTreeMap<&'a str, Vec<&'a str>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut stack, mut seen) = (vec![from], BTreeSet::new());
    while let Some(id) = stack.pop() {
        for next in links.get(id).into_iter().flatten() {
            if seen.insert(*next) {
                stack.push(next);
            }
        }
    }
    seen
}
