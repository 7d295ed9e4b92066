//! The plan: tasks that can be carried out, with a schedule section that says who, when, how much and how sure.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde_json::{Map, Value, json};

use crate::brief::Held;
use crate::days::{self, Day};
use crate::divide::divided;
use crate::knowledge::{Calendar, Three};
use crate::outline::{Outline, OutlinePhase, OutlineTask};
use crate::settle::{begun_in_time, settled};
use crate::weave::is_taken;

/// How many risks a decision is shown with.
const RISKS_DECIDED_MAX: usize = 3;

/// All people together, where the request says how many they are.
const TEAM: &str = "everyone";

/// What a plan needs beside its work.
#[derive(Clone, Debug)]
pub struct Setting {
    /// When work begins.
    pub start: Date,
    /// When people work.
    pub calendar: Calendar,
    /// Where: a zone of the IANA list.
    pub zone: String,
    /// Days off.
    pub days_off: Vec<Date>,
    /// The currency of every amount.
    pub currency: String,
    /// What it may cost.
    pub budget: Option<f64>,
    /// When it has to be done.
    pub deadline: Option<Date>,
    /// The days on which it happens, where it does rather than being done by one.
    pub held: Option<Held>,
    /// When it has worked, as it was said.
    pub success: Vec<String>,
    /// How many work on it, when that was said: never more at once, whatever their roles.
    pub team: Option<u32>,
}

/// A plan in the form of a plan file; says what of the outline does not fit together. No phase gets a
/// name that is taken.
pub fn plan(outline: &Outline, setting: &Setting, taken: &BTreeSet<String>) -> Result<Value, String> {
    let outline = &divided(outline, setting.calendar);
    let names = Names::of(outline, taken)?;
    let day = Day::of(outline, setting.held);
    let roles: BTreeMap<&str, &str> =
        outline.roles.iter().map(|role| (role.id.as_str(), role.title.as_str())).collect();
    let (mut tasks, mut scheduling) = (Vec::new(), Map::new());
    // Of what happens on the day one task holds the whole to it. In a list of errands none does: in so few, a date that
    // stops the logic would be most of what can be found about them.
    let is_last = |task: &&OutlineTask| {
        task.on_the_day && !outline.tasks().any(|other| other.on_the_day && other.after.contains(&task.id))
    };
    let decided = outline.phases.iter().any(|phase| phase.milestone.is_some());
    let kept = outline.tasks().find(is_last).filter(|_| decided).map(|task| &task.id);
    for (at, phase) in outline.phases.iter().enumerate() {
        let mut inside: Vec<Value> = Vec::new();
        for task in &phase.tasks {
            for role in std::iter::once(&task.role).chain(&task.with) {
                if !roles.contains_key(role.as_str()) {
                    return Err(format!("task `{}` is for `{role}`, who is nobody in the team", task.id));
                }
            }
            inside.push(work(task, &names.before(task, at), &threats(task, phase, outline), &roles));
            scheduling.insert(task.id.clone(), numbers(task, setting.team));
            if let Some(day) = day.as_ref().filter(|_| task.on_the_day) {
                let numbers = &mut scheduling[&task.id];
                numbers["estimate"] = json!(three(day.fitted(task.hours), "h"));
                numbers["calendar"] = json!(days::CALENDAR);
                numbers["start_no_earlier"] = json!(day.held.from.to_string());
                if is_last(&task) {
                    let hard = if Some(&task.id) == kept { " hard" } else { "" };
                    numbers["deadline"] = json!(format!("{}{hard}", day.held.to));
                }
            }
        }
        if let Some((milestone, id)) = phase.milestone.as_ref().zip(names.milestones[at].clone()) {
            inside.push(json!({
                "id": id,
                "title": milestone.title,
                "description": milestone.decision,
                "kind": "milestone",
                "owner": phase.tasks.first().and_then(|task| roles.get(task.role.as_str())),
                "depends_on": last_of(phase),
                "gate": {"approvals": 1},
                "resources": phase.tasks.first().map(|task| &task.role).into_iter().collect::<Vec<_>>(),
                "outputs": {"result": {"description": milestone.title}},
                "success_criteria": [{"words": phase.deliverable}],
                "risks": common(phase),
            }));
            let needs = everyone(1, setting.team);
            let on_the_day = day.is_some() && phase.tasks.iter().any(|task| task.on_the_day);
            let calendar = if on_the_day { Calendar::RoundTheClock } else { setting.calendar };
            let mut numbers = json!({"estimate": three(deciding(calendar), "h"), "needs": needs});
            if on_the_day {
                numbers["calendar"] = json!(days::CALENDAR);
            }
            scheduling.insert(id, numbers);
        }
        tasks.push(json!({
            "id": names.phases[at], "title": phase.title, "purpose": phase.purpose, "risks": common(phase), "tasks": inside,
            "owner": phase.tasks.first().and_then(|task| roles.get(task.role.as_str())),
        }));
    }
    if names.milestones.iter().all(Option::is_none) {
        gather(&mut tasks);
    }
    let done_when: Vec<Value> = setting.success.iter().map(|words| json!({"words": words})).collect();
    let schedule = schedule(outline, setting, day.as_ref(), scheduling);
    let plan = json!({"tasks": tasks, "done_when": done_when, "schedule": schedule});
    Ok(settled(match &day {
        Some(day) => begun_in_time(plan, day.held.from, Day::spare(setting.calendar)),
        None => plan,
    }))
}

/// Where nobody decides about an end, the last task waits for whatever leads nowhere, and everything begins with the first:
/// whoever does it all does one thing first. In the end the last is held against the first, where nothing else ties them.
fn gather(phases: &mut [Value]) {
    let tasks = |phases: &mut [Value]| -> usize {
        let of = |phase: &Value| phase["tasks"].as_array().map(Vec::len).unwrap_or_default();
        phases.iter().map(of).sum()
    };
    let first = phases.first().and_then(|phase| phase["tasks"].get(0)).map(|task| task["id"].clone());
    let works = phases.iter_mut().filter_map(|phase| phase["tasks"].as_array_mut()).flatten();
    for task in works.skip(1) {
        let starts = task["depends_on"].as_array_mut().filter(|before| before.is_empty());
        if let Some(starts) = starts {
            starts.extend(first.clone());
        }
    }
    let work = phases.iter().flat_map(|phase| phase["tasks"].as_array().into_iter().flatten());
    let mut loose: Vec<Value> = work.clone().map(|task| task["id"].clone()).collect();
    for task in work {
        let before = task["depends_on"].as_array().into_iter().flatten();
        before.for_each(|before| loose.retain(|id| id != before));
    }
    let last = phases.last_mut().and_then(|phase| phase["tasks"].as_array_mut()?.last_mut());
    if let Some(last) = last.filter(|last| loose.contains(&last["id"])) {
        let id = last["id"].clone();
        if let Some(before) = last["depends_on"].as_array_mut() {
            before.extend(loose.into_iter().filter(|loose| *loose != id));
        }
    }
    let works = phases.iter().flat_map(|phase| phase["tasks"].as_array().into_iter().flatten());
    let links: usize = works.map(|task| task["depends_on"].as_array().map(Vec::len).unwrap_or_default()).sum();
    let few = links < tasks(phases);
    let last = phases.last_mut().and_then(|phase| phase["tasks"].as_array_mut()?.last_mut());
    if let Some((last, first)) = last.zip(first).filter(|(last, first)| few && last["id"] != *first) {
        let before = last["depends_on"].as_array_mut();
        before.into_iter().filter(|before| !before.contains(&first)).for_each(|before| before.push(first.clone()));
    }
}

/// What may hit a task, by the ids of the register: what is known of it, else what hits its phase, else the likeliest.
fn threats(task: &OutlineTask, phase: &OutlinePhase, outline: &Outline) -> Vec<String> {
    if !task.risks.is_empty() {
        return task.risks.clone();
    }
    let likeliest = || outline.risks.iter().max_by(|one, other| one.probability.total_cmp(&other.probability));
    match common(phase) {
        found if found.is_empty() => likeliest().map(|risk| risk.id.clone()).into_iter().collect(),
        found => found.into_iter().take(1).collect(),
    }
}

/// The risks of a phase, each once.
fn common(phase: &OutlinePhase) -> Vec<String> {
    let mut common: Vec<String> = Vec::new();
    for risk in phase.tasks.iter().flat_map(|task| &task.risks) {
        if !common.contains(risk) {
            common.push(risk.clone());
        }
    }
    common.truncate(RISKS_DECIDED_MAX);
    common
}

/// How many hours a decision takes: who is in a hurry decides on the spot.
fn deciding(calendar: Calendar) -> Three {
    match calendar {
        Calendar::Office | Calendar::Site | Calendar::SpareTime => [1.0, 2.0, 8.0],
        Calendar::RoundTheClock => [0.25, 0.5, 1.0],
    }
}

fn work(task: &OutlineTask, before: &[String], risks: &[String], roles: &BTreeMap<&str, &str>) -> Value {
    json!({
        "id": task.id,
        "title": task.title,
        "description": task.detail,
        "manual": {"instruction": task.detail},
        "depends_on": before,
        "owner": roles.get(task.role.as_str()),
        "resources": std::iter::once(&task.role).chain(&task.with).collect::<Vec<_>>(),
        "outputs": {"result": {"description": task.output}},
        "success_criteria": [{"words": task.done_when}],
        "risks": risks,
    })
}

/// How many of all people a task takes, where it was said how many there are. Where more roles than people are needed,
/// someone has two of them.
fn everyone(people: usize, team: Option<u32>) -> Vec<String> {
    team.map(|team| format!("{TEAM} {}", u32::try_from(people).unwrap_or(u32::MAX).min(team.max(1))))
        .into_iter()
        .collect()
}

/// What the schedule needs to know about a task.
fn numbers(task: &OutlineTask, team: Option<u32>) -> Value {
    let costs: Vec<Value> = task
        .costs
        .iter()
        .filter(|cost| cost.amount[2] > 0.0)
        .map(|cost| {
            let kind = if cost.material { "material" } else { "fixed" };
            json!({"name": cost.name, "kind": kind, "amount": three(cost.amount, "")})
        })
        .collect();
    let mut numbers = json!({"estimate": three(task.hours, "h"), "costs": costs});
    numbers["needs"] = json!(everyone(1 + task.with.len(), team));
    numbers
}

fn schedule(outline: &Outline, setting: &Setting, day: Option<&Day>, tasks: Map<String, Value>) -> Value {
    let week = match setting.calendar {
        Calendar::Office => json!({"mon-fri": ["08:00-12:00", "13:00-17:00"]}),
        Calendar::Site => json!({"mon-sat": ["07:00-12:00", "12:30-15:30"]}),
        Calendar::SpareTime => json!({"mon-fri": ["18:00-20:00"], "sat-sun": ["09:00-12:00", "13:00-17:00"]}),
        Calendar::RoundTheClock => json!({"mon-sun": ["00:00-24:00"]}),
    };
    let most = setting.team.unwrap_or(u32::MAX).max(1);
    let mut resources: Vec<Value> = outline
        .roles
        .iter()
        .map(|role| {
            let count = role.count.min(most);
            json!({"id": role.id, "name": role.title, "roles": [role.id], "capacity": count, "rate": role.rate})
        })
        .collect();
    if setting.team.is_some() {
        resources.push(json!({"id": TEAM, "name": "Everyone together", "capacity": most, "rate": 0}));
    }
    let owner = |id: &String| {
        outline.roles.iter().find(|role| role.id == *id).map_or_else(|| id.clone(), |role| role.title.clone())
    };
    let risks: Vec<Value> = outline
        .risks
        .iter()
        .filter_map(|risk| {
            let hit: Vec<&str> = outline
                .tasks()
                .filter(|task| task.risks.contains(&risk.id))
                .map(|task| task.id.as_str())
                .take(1)
                .collect();
            (!hit.is_empty()).then(|| {
                json!({
                    "id": risk.id, "title": risk.title, "probability": risk.probability, "impact": risk.impact,
                    "effect": risk.effect, "mitigation": risk.mitigation, "owner": owner(&risk.owner), "tasks": hit,
                    "delay": three(risk.hours, "h"), "cost": three(risk.cost, ""),
                })
            })
        })
        .collect();
    let mut all = json!({
        "start": setting.start.to_string(),
        "calendar": "work",
        "currency": setting.currency,
        "calendars": [{
            "id": "work", "zone": setting.zone, "week": week,
            "days_off": setting.days_off.iter().map(Date::to_string).collect::<Vec<_>>(),
        }],
        "resources": resources,
        "risks": risks,
        "tasks": tasks,
    });
    if let Some(budget) = setting.budget {
        all["budget"] = json!(budget);
    }
    match (day, setting.deadline) {
        (Some(day), _) => {
            let until = 8.0 + day.hours;
            let hours = json!([format!("08:00-{until:02.0}:00")]);
            let calendar = json!({"id": days::CALENDAR, "zone": setting.zone, "week": {"mon-sun": hours}});
            all["calendars"].as_array_mut().into_iter().for_each(|calendars| calendars.push(calendar.clone()));
        }
        (None, Some(deadline)) => all["deadline"] = json!(format!("{deadline} hard")),
        (None, None) => {}
    }
    all
}

/// Three values in the notation of schedules; one when they are the same.
/// Three numbers as the schedule reads them: whoever answered may have been more exact than anyone can be.
fn three(numbers: Three, unit: &str) -> String {
    let [low, likely, high] = numbers.map(|number| (number * 100.0).round() / 100.0);
    if low >= high { format!("{likely}{unit}") } else { format!("{low}{unit} / {likely}{unit} / {high}{unit}") }
}

/// The tasks of a phase that nothing in it waits for.
fn last_of(phase: &OutlinePhase) -> Vec<&str> {
    let awaited: BTreeSet<&str> = phase.tasks.iter().flat_map(|task| task.after.iter().map(String::as_str)).collect();
    phase.tasks.iter().map(|task| task.id.as_str()).filter(|id| !awaited.contains(id)).collect()
}

/// What everything is called: one name, one thing.
struct Names<'a> {
    phases: Vec<String>,
    /// What the end of each phase is called, where somebody decides about it.
    milestones: Vec<Option<String>>,
    /// The phase that each task is in.
    home: BTreeMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    fn of(outline: &'a Outline, taken: &BTreeSet<String>) -> Result<Self, String> {
        let mut home: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, phase) in outline.phases.iter().enumerate() {
            for task in &phase.tasks {
                if home.insert(&task.id, at).is_some() {
                    return Err(format!("there are two tasks `{}`", task.id));
                }
            }
        }
        for task in outline.tasks() {
            if let Some(nobody) = task.after.iter().find(|id| !home.contains_key(id.as_str())) {
                return Err(format!("task `{}` comes after `{nobody}`, which does not exist", task.id));
            }
        }
        let steps = taken;
        let mut taken: BTreeSet<String> = home.keys().map(|id| (*id).to_owned()).chain(taken.iter().cloned()).collect();
        let mut free = |wanted: String| {
            let wanted = if is_taken(&wanted, steps) { format!("work-{wanted}") } else { wanted };
            let mut name = wanted.clone();
            let mut number = 2;
            while !taken.insert(name.clone()) {
                name = format!("{wanted}-{number}");
                number += 1;
            }
            name
        };
        let phases = outline.phases.iter().map(|phase| free(phase.id.clone())).collect();
        let milestones = outline
            .phases
            .iter()
            .map(|phase| phase.milestone.as_ref().map(|_| free(format!("{}-done", phase.id))))
            .collect();
        Ok(Self { phases, milestones, home })
    }

    /// What a task waits for. Whoever goes on with what earlier phases have made waits for the decisions about them.
    fn before(&self, task: &OutlineTask, at: usize) -> Vec<String> {
        let mut before = task.after.clone();
        let phases: BTreeSet<usize> = task.after.iter().filter_map(|id| self.home.get(id.as_str()).copied()).collect();
        before
            .extend(phases.into_iter().filter(|phase| *phase < at).filter_map(|phase| self.milestones[phase].clone()));
        before
    }
}
