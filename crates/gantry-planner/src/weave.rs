//! Weaves what models answered about team, risks, phases and tasks into one breakdown that holds together.
//!
//! Each answer fits its schema, but they were given apart: names clash, point nowhere or in circles. What is put right
//! is told.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use crate::knowledge::{Stage, Three};
use crate::outline::{Milestone, Outline, OutlineCost, OutlinePhase, OutlineRisk, OutlineRole, OutlineTask};

/// What was answered.
#[derive(Clone, Debug, Deserialize)]
pub struct Answers {
    /// Who does the work.
    pub team: Vec<Member>,
    /// What may go wrong.
    pub risks: Vec<RiskAnswer>,
    /// The parts of the work.
    pub phases: Vec<PhaseAnswer>,
    /// What is done in each part, in the order of the parts.
    pub tasks: Vec<TasksAnswer>,
}

/// Someone who does some of the work.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the answer")]
pub struct Member {
    pub id: String,
    pub title: String,
    pub count: f64,
    pub rate: f64,
}

/// What may go wrong.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the answer")]
pub struct RiskAnswer {
    pub id: String,
    pub title: String,
    pub effect: String,
    pub probability: f64,
    pub impact: f64,
    pub delay_hours: Three,
    pub cost: Three,
    pub mitigation: String,
    pub owner: String,
}

/// A part of the work.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the answer")]
pub struct PhaseAnswer {
    pub id: String,
    pub title: String,
    pub purpose: String,
    pub deliverable: String,
    pub milestone: String,
    pub decision: String,
    #[serde(default)]
    pub after: Vec<String>,
}

/// What is done in one part.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the answer")]
pub struct TasksAnswer {
    pub tasks: Vec<TaskAnswer>,
}

/// A piece of work.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the answer")]
pub struct TaskAnswer {
    pub id: String,
    pub title: String,
    #[serde(default)]
    pub stages: Vec<Stage>,
    #[serde(default)]
    pub beside: String,
    pub detail: String,
    pub role: String,
    #[serde(default)]
    pub with: Vec<String>,
    pub hours: Three,
    #[serde(default)]
    pub after: Vec<String>,
    pub output: String,
    pub done_when: String,
    #[serde(default)]
    pub costs: Vec<CostAnswer>,
    #[serde(default)]
    pub risks: Vec<String>,
    #[serde(default)]
    pub on_the_day: bool,
}

/// What something costs beside the work.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the answer")]
pub struct CostAnswer {
    pub name: String,
    pub amount: Three,
    pub kind: String,
}

/// The breakdown, and what had to be put right.
#[derive(Clone, Debug, PartialEq)]
pub struct Woven {
    /// The work.
    pub outline: Outline,
    /// What was put right, in words.
    pub repairs: Vec<String>,
}

/// Nothing takes less than a minute, and nothing that can be planned more than a working life.
const HOURS_MIN: f64 = 0.02;
const HOURS_MAX: f64 = 100_000.0;
/// No amount of money is larger.
const MONEY_MAX: f64 = 1e13;
/// No hour of work costs more.
const RATE_MAX: f64 = 1e7;
/// No role has more people.
const PEOPLE_MAX: f64 = 10_000.0;

/// Takes out letters that only control terminals.
fn clean(value: &mut Value) {
    match value {
        Value::String(text) => text.retain(|letter| !letter.is_control() || letter == '\n' || letter == '\t'),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text, or the name where there is none.
fn named(text: &str, id: &str) -> String {
    if text.trim().is_empty() { id.replace('-', " ") } else { text.to_owned() }
}

/// Weaves the answers together. No task gets a name that is taken.
pub fn weave(answers: &Value, taken: &BTreeSet<String>) -> Result<Woven, String> {
    let mut answers = answers.clone();
    clean(&mut answers);
    let answers: Answers =
        serde_json::from_value(answers).map_err(|error| format!("the answers cannot be read: {error}"))?;
    let mut loom = Loom { repairs: Vec::new(), taken, names: taken.clone() };
    let roles = loom.roles(&answers.team);
    let risks = loom.risks(&answers.risks, &roles);
    let phases = loom.phases(&answers, &roles, &risks)?;
    let mut outline = Outline { roles, phases, risks };
    loom.cut_circles(&mut outline);
    place_risks(&mut outline);
    Ok(Woven { outline, repairs: loom.repairs })
}

/// Tells whether a name is one of those that are taken, or one that they give to their parts: `tasks-1`.
pub(crate) fn is_taken(name: &str, taken: &BTreeSet<String>) -> bool {
    let is_part = |taken: &String| {
        let rest = name.strip_prefix(taken.as_str()).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|digit| digit.is_ascii_digit()))
    };
    taken.contains(name) || taken.iter().any(is_part)
}

struct Loom<'a> {
    repairs: Vec<String>,
    taken: &'a BTreeSet<String>,
    /// Every name of a phase or task that is taken.
    names: BTreeSet<String>,
}

impl Loom<'_> {
    fn tell(&mut self, what: String) {
        self.repairs.push(what);
    }

    /// A name that nothing else has.
    fn free(&mut self, wanted: &str) -> String {
        let first = if is_taken(wanted, self.taken) { format!("work-{wanted}") } else { wanted.to_owned() };
        let mut name = first.clone();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{first}-{number}");
            number += 1;
        }
        if name != wanted && !self.taken.contains(wanted) {
            self.tell(format!("the name `{wanted}` was given twice: one is `{name}` now"));
        }
        name
    }

    /// A number within what can be.
    fn within(&mut self, what: &str, number: f64, least: f64, most: f64) -> f64 {
        if number >= least && number <= most {
            return number;
        }
        let kept = if number.is_finite() { number.clamp(least, most) } else { least };
        self.tell(format!("a number of `{what}` was {number}, which cannot be: it is {kept} now"));
        kept
    }

    fn bounded(&mut self, what: &str, numbers: Three, most: f64) -> Three {
        let numbers = numbers.map(|number| self.within(what, number, 0.0, most));
        self.rising(what, numbers)
    }

    fn rising(&mut self, what: &str, mut numbers: Three) -> Three {
        if numbers[0] > numbers[1] || numbers[1] > numbers[2] {
            numbers.sort_by(f64::total_cmp);
            self.tell(format!("the numbers of `{what}` did not rise from low to high: they are sorted"));
        }
        numbers
    }

    fn roles(&mut self, team: &[Member]) -> Vec<OutlineRole> {
        let mut roles: Vec<OutlineRole> = Vec::new();
        for member in team {
            let count = self.within(&member.id, member.count.round(), 1.0, PEOPLE_MAX);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within bounds")]
            let count = count as u32;
            if let Some(twin) = roles.iter_mut().find(|role| role.id == member.id) {
                twin.count = twin.count.saturating_add(count);
                self.tell(format!("the team has `{}` twice: they are counted together", member.id));
                continue;
            }
            let (id, title) = (member.id.clone(), named(&member.title, &member.id));
            let rate = self.within(&id, member.rate, 0.0, RATE_MAX);
            roles.push(OutlineRole { id, title, count, rate });
        }
        roles
    }

    fn risks(&mut self, risks: &[RiskAnswer], roles: &[OutlineRole]) -> Vec<OutlineRisk> {
        let mut woven: Vec<OutlineRisk> = Vec::new();
        for risk in risks {
            if woven.iter().any(|known| known.id == risk.id) {
                self.tell(format!("the register has the risk `{}` twice: the first one counts", risk.id));
                continue;
            }
            let known = roles.iter().any(|role| role.id == risk.owner);
            let first = roles.first().map(|role| role.id.clone()).unwrap_or_default();
            if !known {
                self.tell(format!(
                    "the risk `{}` is owned by `{}`, who is nobody in the team: `{first}` owns it now",
                    risk.id, risk.owner
                ));
            }
            woven.push(OutlineRisk {
                id: risk.id.clone(),
                title: named(&risk.title, &risk.id),
                effect: risk.effect.clone(),
                probability: self.within(&risk.id, risk.probability, 0.0, 1.0),
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within bounds")]
                impact: { self.within(&risk.id, risk.impact.round(), 1.0, 5.0) as u8 },
                hours: self.bounded(&risk.id, risk.delay_hours, HOURS_MAX),
                cost: self.bounded(&risk.id, risk.cost, MONEY_MAX),
                mitigation: risk.mitigation.clone(),
                owner: if known { risk.owner.clone() } else { first },
            });
        }
        woven
    }

    fn phases(
        &mut self,
        answers: &Answers,
        roles: &[OutlineRole],
        risks: &[OutlineRisk],
    ) -> Result<Vec<OutlinePhase>, String> {
        if answers.phases.len() != answers.tasks.len() {
            return Err(format!("there are {} phases, and tasks for {}", answers.phases.len(), answers.tasks.len()));
        }
        let tasks_of = |at: usize| &answers.tasks[at].tasks;
        // Names first: links may point ahead.
        let mut names: Vec<BTreeMap<&str, String>> = Vec::new();
        for answer in &answers.tasks {
            let mut inside = BTreeMap::new();
            for task in &answer.tasks {
                if !inside.contains_key(task.id.as_str()) {
                    inside.insert(task.id.as_str(), self.free(&task.id));
                }
            }
            names.push(inside);
        }
        let titles = Titles::of(answers);
        let phase_at: BTreeMap<&str, usize> =
            answers.phases.iter().enumerate().rev().map(|(at, phase)| (phase.id.as_str(), at)).collect();
        let ends: Vec<Vec<String>> = (0..answers.phases.len()).map(|at| ends(tasks_of(at), &names[at])).collect();
        let mut phases = Vec::new();
        for (at, phase) in answers.phases.iter().enumerate() {
            let before = self.phases_before(at, phase, &phase_at);
            let mut tasks: Vec<OutlineTask> = Vec::new();
            for task in tasks_of(at) {
                let name = names[at][task.id.as_str()].clone();
                if tasks.iter().any(|known| known.id == name) {
                    self.tell(format!(
                        "the phase `{}` has the task `{}` twice: the first one counts",
                        phase.id, task.id
                    ));
                    continue;
                }
                let mut after: Vec<String> = Vec::new();
                for wanted in &task.after {
                    let here = names[at].get(wanted.as_str()).cloned();
                    let elsewhere = || names[..at].iter().find_map(|names| names.get(wanted.as_str()).cloned());
                    let phase =
                        || phase_at.get(wanted.as_str()).filter(|other| **other < at).map(|other| ends[*other].clone());
                    match here.or_else(elsewhere).map(|id| vec![id]).or_else(phase) {
                        Some(found) => after.extend(found.into_iter().filter(|id| *id != name)),
                        None => self.tell(format!(
                            "the task `{name}` comes after `{wanted}`, which does not come before it: it does not wait for it"
                        )),
                    }
                }
                if after.is_empty() {
                    after.extend(before.iter().flat_map(|other| ends[*other].clone()));
                }
                let mut seen = BTreeSet::new();
                after.retain(|id| seen.insert(id.clone()));
                let beside = names[at].get(task.beside.as_str()).cloned().unwrap_or_default();
                let task = self.task(task, name, after, (roles, risks), titles.of_task(at, task));
                tasks.push(OutlineTask { beside, ..task });
            }
            if tasks.is_empty() {
                self.tell(format!("the phase `{}` has no task: it is left out", phase.id));
                continue;
            }
            let milestone = (!phase.milestone.trim().is_empty())
                .then(|| Milestone { title: phase.milestone.clone(), decision: phase.decision.clone() });
            phases.push(OutlinePhase {
                id: phase.id.clone(),
                title: phase.title.clone(),
                purpose: phase.purpose.clone(),
                deliverable: phase.deliverable.clone(),
                milestone,
                tasks,
            });
        }
        Ok(phases)
    }

    /// The phases that a phase waits for: those it names; the one before it when none of those can be.
    fn phases_before(&mut self, at: usize, phase: &PhaseAnswer, phase_at: &BTreeMap<&str, usize>) -> Vec<usize> {
        let mut before = Vec::new();
        for wanted in &phase.after {
            match phase_at.get(wanted.as_str()) {
                Some(other) if *other < at => before.push(*other),
                Some(_) => self.tell(format!(
                    "the phase `{}` comes after `{wanted}`, which is not before it: it does not wait for it",
                    phase.id
                )),
                None => self.tell(format!(
                    "the phase `{}` comes after `{wanted}`, which does not exist: it does not wait for it",
                    phase.id
                )),
            }
        }
        if before.is_empty() && !phase.after.is_empty() && at > 0 {
            before.push(at - 1);
        }
        before
    }

    fn task(
        &mut self,
        task: &TaskAnswer,
        id: String,
        after: Vec<String>,
        (roles, risks): (&[OutlineRole], &[OutlineRisk]),
        title: String,
    ) -> OutlineTask {
        let is_role = |name: &str| roles.iter().any(|role| role.id == name);
        let first = roles.first().map(|role| role.id.clone()).unwrap_or_default();
        let role = if is_role(&task.role) {
            task.role.clone()
        } else {
            self.tell(format!(
                "the task `{id}` is for `{}`, who is nobody in the team: `{first}` does it now",
                task.role
            ));
            first
        };
        let unknown = task.risks.iter().filter(|risk| !risks.iter().any(|known| known.id == **risk));
        for risk in unknown {
            self.tell(format!("the task `{id}` has the risk `{risk}`, which is not in the register: it is not linked"));
        }
        let hours = self.bounded(&id, task.hours, HOURS_MAX).map(|hours| hours.max(HOURS_MIN));
        let costs = task.costs.iter().map(|cost| OutlineCost {
            name: cost.name.clone(),
            amount: self.bounded(&id, cost.amount, MONEY_MAX),
            material: cost.kind == "material",
        });
        OutlineTask {
            costs: costs.collect(),
            title,
            stages: task.stages.clone(),
            beside: String::new(),
            detail: task.detail.clone(),
            with: task
                .with
                .iter()
                .enumerate()
                .filter(|(at, with)| is_role(with) && **with != role && !task.with[..*at].contains(with))
                .map(|(_, with)| with.clone())
                .collect(),
            role,
            hours,
            after,
            output: task.output.clone(),
            done_when: task.done_when.clone(),
            risks: task.risks.iter().filter(|risk| risks.iter().any(|known| known.id == **risk)).cloned().collect(),
            on_the_day: task.on_the_day,
            id,
        }
    }

    /// Leaves out links that lead back to where they come from: of each circle, the link that closes it.
    fn cut_circles(&mut self, outline: &mut Outline) {
        let mut placed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let reaches = |placed: &BTreeMap<String, Vec<String>>, from: &str, to: &str| {
            let (mut stack, mut seen) = (vec![from.to_owned()], BTreeSet::new());
            while let Some(id) = stack.pop() {
                if id == to {
                    return true;
                }
                if seen.insert(id.clone()) {
                    stack.extend(placed.get(&id).into_iter().flatten().cloned());
                }
            }
            false
        };
        for task in outline.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
            let mut kept: Vec<String> = Vec::new();
            for before in std::mem::take(&mut task.after) {
                if reaches(&placed, &before, &task.id) {
                    self.repairs.push(format!(
                        "`{}` and `{before}` waited for each other: `{}` does not wait any more",
                        task.id, task.id
                    ));
                } else {
                    kept.push(before.clone());
                    placed.entry(task.id.clone()).or_default().push(before);
                }
            }
            task.after = kept;
        }
    }
}

/// A risk that no task names hits the first work of whoever watches it.
fn place_risks(outline: &mut Outline) {
    for risk in &outline.risks {
        let tasks = || outline.phases.iter().flat_map(|phase| &phase.tasks);
        if tasks().any(|task| task.risks.contains(&risk.id)) {
            continue;
        }
        let own = tasks().position(|task| task.role == risk.owner).unwrap_or_default();
        if let Some(task) = outline.phases.iter_mut().flat_map(|phase| &mut phase.tasks).nth(own) {
            task.risks.push(risk.id.clone());
        }
    }
}

/// The tasks of a phase that nothing in it waits for, by their names in the plan.
fn ends(tasks: &[TaskAnswer], names: &BTreeMap<&str, String>) -> Vec<String> {
    let awaited: BTreeSet<&str> = tasks.iter().flat_map(|task| task.after.iter().map(String::as_str)).collect();
    let last = |task: &&TaskAnswer| !awaited.contains(task.id.as_str());
    let mut ends: Vec<String> =
        tasks.iter().filter(last).filter_map(|task| names.get(task.id.as_str()).cloned()).collect();
    ends.dedup();
    if ends.is_empty() {
        ends.extend(tasks.last().and_then(|task| names.get(task.id.as_str()).cloned()));
    }
    ends
}

/// What tasks are called: the same words for two tasks are told apart by their phases.
struct Titles<'a> {
    answers: &'a Answers,
    twice: BTreeSet<String>,
}

impl<'a> Titles<'a> {
    fn of(answers: &'a Answers) -> Self {
        let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
        for task in answers.tasks.iter().flat_map(|answer| &answer.tasks) {
            if !seen.insert(task.title.to_lowercase()) {
                twice.insert(task.title.to_lowercase());
            }
        }
        Self { answers, twice }
    }

    fn of_task(&self, phase: usize, task: &TaskAnswer) -> String {
        if self.twice.contains(&task.title.to_lowercase()) {
            return format!("{} ({})", task.title, self.answers.phases[phase].title.to_lowercase());
        }
        task.title.clone()
    }
}
