//! A model judges a plan by a rubric: six dimensions, each by five criteria that are met (2), partly (1) or not (0).
//!
//! The asking is a plan of its own, so it is recorded like any call, and nothing is asked or paid for twice: the same plan
//! has the same judgement. The offline model judges nothing; then nobody has judged, and that is told.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gantry_core::id::{PlanId, TaskId};
use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_core::plan::{Action, Idempotency, Input as Given, Model, Plan, Task};
use gantry_engine::{Engine, EngineError, NewPlan, Origin, Until};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The prompt that asks.
const PROMPT: &str = "plan-judge";
/// The criteria, as data.
const RUBRIC: &str = include_str!("rubric.txt");
/// The only step of the plan that asks.
const STEP: &str = "judge";
/// How many letters of a plan are shown to the judge.
const SHOWN_MAX: usize = 60_000;

/// A judgement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The mean of all dimensions, from 1 to 10.
    pub score: f64,
    /// The dimensions.
    pub dimensions: Vec<Dimension>,
    /// Who judged.
    pub judged_by: String,
    /// The plan that the asking is recorded as.
    pub record: PlanId,
    /// How many tasks the judge did not see, because the plan is too long.
    pub tasks_unseen: usize,
}

/// One of six.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dimension {
    /// What it is called.
    pub name: String,
    /// From 1 to 10: the points of its criteria, and 1 where there are none.
    pub score: u32,
    /// Its criteria.
    pub criteria: Vec<Judged>,
}

/// One criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// What is to hold.
    pub criterion: String,
    /// Whether it does.
    pub answer: Holds,
    /// Why.
    pub reason: String,
}

/// Whether a criterion is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Holds {
    /// It is: two points.
    Yes,
    /// In part: one point.
    Partly,
    /// It is not.
    No,
}

impl Holds {
    fn points(self) -> u32 {
        match self {
            Self::Yes => 2,
            Self::Partly => 1,
            Self::No => 0,
        }
    }
}

/// Why nobody judged.
#[derive(Debug)]
pub enum Unjudged {
    /// The engine says no.
    Engine(EngineError),
    /// Nobody could say.
    Nobody(String),
}

impl From<EngineError> for Unjudged {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

/// The dimensions with their criteria.
pub fn rubric() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in RUBRIC.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match (line.strip_prefix("# "), all.last_mut()) {
            (Some(name), _) => all.push((name, Vec::new())),
            (None, Some((_, criteria))) => criteria.push(line),
            (None, None) => {}
        }
    }
    all
}

/// Has a plan judged: the work of it, without the way there. `of` is the plan of the record that it is.
pub async fn judged(engine: &Engine, work: &Plan, of: Option<&PlanId>, origin: Origin) -> Result<Judgement, Unjudged> {
    let (text, tasks_unseen) = shown(work);
    let goal = if work.objective.trim().is_empty() { &work.title } else { &work.objective };
    let criteria: Vec<&str> = rubric().into_iter().flat_map(|(_, criteria)| criteria).collect();
    let inputs = BTreeMap::from([
        ("goal".to_owned(), Given::Value(json!(goal))),
        ("plan".to_owned(), Given::Value(json!(text))),
        ("criteria".to_owned(), Given::Value(json!(criteria))),
    ]);
    let print = blake3::hash(json!([goal, text, criteria]).to_string().as_bytes()).to_hex();
    let mut step = Task::new(TaskId::slugged(STEP));
    step.inputs = inputs;
    step.action = Some(Action::Model(Model { prompt: Some(PROMPT.to_owned()), ..Model::default() }));
    step.idempotency = Some(Idempotency::Safe);
    let plan = Plan { title: format!("Judge: {}", work.name()), tasks: vec![step], ..Plan::default() };
    let parent = of.map(|of| (of.clone(), TaskId::slugged(STEP)));
    let once = Some(format!("judge {} {print}", of.map_or("", PlanId::as_str)));
    let id = engine.create(NewPlan { plan, origin: Origin { parent, ..origin }, once }).await?;
    let first = match engine.open(&id).await?.life.state() {
        PlanState::Pending => vec![Input::Start],
        PlanState::Failed => {
            vec![Input::Retry { task: TaskId::slugged(STEP), by: String::new(), why: String::new() }]
        }
        _ => Vec::new(),
    };
    engine.drive(&id, Until::Stuck, first).await?.ended().await?;
    let life = engine.open(&id).await?.life;
    let Some(outputs) = life.outputs(STEP) else {
        let why = life.causes().first().map_or("it did not come to an end", String::as_str);
        return Err(Unjudged::Nobody(why.to_owned()));
    };
    let told = |name: &str| outputs.get(name).cloned().unwrap_or_default();
    let Some(verdicts) = outputs.get("verdicts") else {
        return Err(Unjudged::Nobody("the asking is over, and no verdicts are on record".to_owned()));
    };
    let dimensions = read(verdicts).map_err(Unjudged::Nobody)?;
    let sum: u32 = dimensions.iter().map(|dimension| dimension.score).sum();
    let count = u32::try_from(dimensions.len()).unwrap_or(u32::MAX).max(1);
    let judged_by = told("answered_by").as_str().unwrap_or_default().to_owned();
    let score = (f64::from(sum) / f64::from(count) * 10.0).round() / 10.0;
    Ok(Judgement { score, dimensions, judged_by, record: id, tasks_unseen })
}

/// What a judge said, by dimension; every criterion has one answer, or nobody has judged.
fn read(verdicts: &Value) -> Result<Vec<Dimension>, String> {
    #[derive(Deserialize)]
    struct Verdict {
        criterion: usize,
        reason: String,
        answer: Holds,
    }
    let verdicts: Vec<Verdict> =
        serde_json::from_value(verdicts.clone()).map_err(|error| format!("the judgement cannot be read: {error}"))?;
    let mut by_number: BTreeMap<usize, Verdict> = BTreeMap::new();
    for verdict in verdicts {
        let number = verdict.criterion;
        if by_number.insert(number, verdict).is_some() {
            return Err(format!("the judge answered criterion {number} twice"));
        }
    }
    let mut number = 0;
    let mut dimensions = Vec::new();
    for (name, criteria) in rubric() {
        let mut judged = Vec::new();
        for criterion in criteria {
            number += 1;
            let verdict = by_number
                .remove(&number)
                .ok_or_else(|| format!("the judge left out criterion {number}: {criterion}"))?;
            judged.push(Judged { criterion: criterion.to_owned(), answer: verdict.answer, reason: verdict.reason });
        }
        let score = judged.iter().map(|one| one.answer.points()).sum::<u32>().max(1);
        dimensions.push(Dimension { name: name.to_owned(), score, criteria: judged });
    }
    Ok(dimensions)
}

/// A plan as a judge reads it, and how many tasks had no room.
fn shown(plan: &Plan) -> (String, usize) {
    let mut text = format!("{}\n", plan.title);
    list(&mut text, "Belongs to it", plan.scope.included.iter().map(String::as_str));
    list(&mut text, "Does not", plan.scope.excluded.iter().map(String::as_str));
    list(&mut text, "Limits", plan.constraints.iter().map(String::as_str));
    list(&mut text, "Done when", plan.done_when.iter().map(gantry_core::plan::Check::text));
    list(&mut text, "Has a say", plan.stakeholders.iter().map(|one| one.name.as_str()));
    for risk in &plan.schedule.risks {
        let title = if risk.title.is_empty() { &risk.id } else { &risk.title };
        let _ = writeln!(
            text,
            "Risk: {title} (likelihood {}; {}; answer: {})",
            risk.probability, risk.effect, risk.mitigation
        );
    }
    let mut depths: BTreeMap<&TaskId, usize> = BTreeMap::new();
    for (at, task) in plan.tasks.iter().enumerate() {
        let depth = task.parent.as_ref().and_then(|parent| depths.get(parent)).map_or(0, |depth| depth + 1);
        depths.insert(&task.id, depth);
        let line = line(plan, task, depth);
        if text.len() + line.len() > SHOWN_MAX {
            let unseen = plan.tasks.len() - at;
            let _ = writeln!(text, "({unseen} more tasks are not shown)");
            return (text, unseen);
        }
        text += &line;
    }
    (text, 0)
}

fn list<'a>(text: &mut String, what: &str, items: impl Iterator<Item = &'a str>) {
    let items: Vec<&str> = items.collect();
    if !items.is_empty() {
        let _ = writeln!(text, "{what}: {}", items.join("; "));
    }
}

fn line(plan: &Plan, task: &Task, depth: usize) -> String {
    let mut line = format!("{}- {} [{}]", "  ".repeat(depth), task.name(), task.id);
    let mut add = |what: &str, said: String| {
        if !said.trim().is_empty() {
            let _ = write!(line, "; {what}: {said}");
        }
    };
    let joined = |all: &mut dyn Iterator<Item = String>| all.collect::<Vec<_>>().join(", ");
    add("what", task.description.clone().unwrap_or_default().replace('\n', " "));
    add("after", joined(&mut task.depends_on.iter().map(ToString::to_string)));
    add("owner", task.owner.clone().unwrap_or_default());
    let more = plan.schedule.of(task);
    if let Some(estimate) = more.and_then(|more| more.estimate) {
        add("estimate", format!("{} to {}", estimate.low, estimate.high));
    } else if let Some(estimate) = &task.estimate {
        add("estimate", format!("{} to {}", estimate.low, estimate.high));
    }
    add("done when", joined(&mut task.success_criteria.iter().map(ToString::to_string)));
    add("gives", joined(&mut task.outputs.keys().cloned()));
    add("risks", joined(&mut task.risks.iter().map(|risk| risk.name.clone())));
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rubric_has_six_dimensions_of_five_criteria() {
        let sizes: Vec<usize> = rubric().iter().map(|(_, criteria)| criteria.len()).collect();
        assert_eq!(sizes, [5; 6]);
    }

    #[test]
    fn a_judgement_that_leaves_a_criterion_out_or_answers_it_twice_is_none() {
        let verdict = |criterion: usize| json!({"criterion": criterion, "reason": "so", "answer": "yes"});
        let all: Vec<Value> = (1..=30).map(verdict).collect();
        assert_eq!(read(&json!(all)).unwrap().iter().map(|one| one.score).collect::<Vec<_>>(), [10; 6]);
        assert_eq!(
            read(&json!(all[..29])).unwrap_err(),
            "the judge left out criterion 30: It finds out early whether it will work."
        );
        let twice = [&all[..29], &all[..1]].concat();
        assert_eq!(read(&json!(twice)).unwrap_err(), "the judge answered criterion 1 twice");
    }

    #[test]
    fn a_dimension_in_which_nothing_holds_has_one_point() {
        let verdicts: Vec<Value> = (1..=30).map(|n| json!({"criterion": n, "reason": "", "answer": "no"})).collect();
        assert!(read(&json!(verdicts)).unwrap().iter().all(|one| one.score == 1));
    }
}
