//! Breaks a plan, or one of its tasks, down into smaller tasks, as a new revision: for whoever asks, on whatever surface.
//!
//! The asking is a plan of its own beside the plan, so it is as durable as any: whoever was interrupted goes on with the same
//! wish, and nothing is asked or paid for twice.

use std::collections::BTreeMap;

use gantry_core::id::{PlanId, TaskId};
use gantry_core::input::{Change, Input};
use gantry_core::life::{Life, PlanState};
use gantry_core::plan::{Action, Idempotency, Input as Given, Plan, Task, Tool};
use gantry_core::policy::Policy;
use gantry_engine::{Engine, EngineError, NewPlan, Origin, Until};
use gantry_planner::decompose::{Decomposition, Settings, TOOL, Tree};
use jiff::civil::Date;
use serde_json::{Map, Value, json};

/// What is to be broken down, and how.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The task; none means the whole plan.
    pub task: Option<TaskId>,
    /// What is not as the variables say.
    pub settings: Map<String, Value>,
    /// Who wants it.
    pub by: String,
    /// The day: what is asked on another day is asked anew.
    pub today: Date,
}

/// Why nothing was broken down.
#[derive(Debug)]
pub enum Unbroken {
    /// The engine or the plan says no.
    Engine(EngineError),
    /// Nothing came of asking.
    Nothing(String),
    /// Others change the plan all the time.
    Changing,
}

impl From<EngineError> for Unbroken {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

/// Breaks a plan down, and makes what came of it a revision.
pub async fn broken_down(engine: &Engine, plan: &PlanId, wanted: Wanted) -> Result<Decomposition, Unbroken> {
    let life = engine.open(plan).await?.life;
    // With what the variables say: whoever says otherwise the next time wishes something else.
    let known = Settings::from_variables(|name| std::env::var(name).ok()).map_err(|bad| bad.to_string());
    let settings = known.and_then(|known| known.with(&wanted.settings)).map_err(Unbroken::Nothing)?;
    let errand = errand(engine, &life, &wanted, &json!(settings)).await?;
    engine.drive(&errand, Until::Stuck, begin(engine, &errand).await?).await?.ended().await?;
    let life = engine.open(&errand).await?.life;
    let Some(result) = result(&life).cloned() else {
        let why = life.causes().first().map_or("it did not come to an end", String::as_str);
        return Err(Unbroken::Nothing(why.to_owned()));
    };
    let mut made: Decomposition = serde_json::from_value(result)
        .map_err(|error| Unbroken::Nothing(format!("what came of it cannot be read: {error}")))?;
    plan.as_str().clone_into(&mut made.plan_id);
    grow(engine, plan, &made, &wanted).await?;
    Ok(made)
}

/// The only step of the plan that breaks down.
const STEP: &str = "break-down";
/// How often a plan that others change meanwhile is tried to be changed, and how often the same wish is asked anew.
const TRIES_MAX: u32 = 20;

/// A part of the plan that breaks it down: the same one for the same wish, so that whoever was interrupted goes on. Where
/// the offline model alone was there and had nothing to say, that is not the answer for ever: another one is begun.
async fn errand(engine: &Engine, life: &Life, wanted: &Wanted, settings: &Value) -> Result<PlanId, Unbroken> {
    let mut errand = begun(engine, life, wanted, settings, 0).await?;
    for again in 1..TRIES_MAX {
        let before = engine.open(&errand).await?.life;
        let made = result(&before).and_then(|made| serde_json::from_value::<Decomposition>(made.clone()).ok());
        if !made.is_some_and(|made| made.is_offline_and_empty()) {
            break;
        }
        errand = begun(engine, life, wanted, settings, again).await?;
    }
    Ok(errand)
}

/// What came of breaking down.
fn result(errand: &Life) -> Option<&Value> {
    errand.outputs(STEP)?.get("result")
}

async fn begun(
    engine: &Engine,
    life: &Life,
    wanted: &Wanted,
    settings: &Value,
    again: u32,
) -> Result<PlanId, Unbroken> {
    let plan = life.plan();
    let tree = Tree::from(&plan);
    let node = wanted.task.as_ref().and_then(|task| tree.node(task.as_str()));
    let title = node.map_or(plan.title.as_str(), |node| &node.name);
    let (given, today) = (|value: Value| Given::Value(value), wanted.today);
    let args = BTreeMap::from([
        ("tree".to_owned(), given(json!(tree))),
        ("target".to_owned(), given(json!(wanted.task))),
        ("today".to_owned(), given(json!(today))),
        ("settings".to_owned(), given(settings.clone())),
    ]);
    let mut step = Task::new(TaskId::slugged(STEP));
    step.action = Some(Action::Tool(Tool { name: TOOL.to_owned(), args }));
    step.idempotency = Some(Idempotency::Safe);
    let part_of = wanted.task.clone().unwrap_or_else(|| TaskId::slugged(STEP));
    let origin = Origin { by: wanted.by.clone(), parent: Some((life.id().clone(), part_of)), ..Origin::default() };
    let again = if again == 0 { String::new() } else { format!(" again {again}") };
    let once = format!(
        "decompose {} {} {today} {} {settings}{again}",
        life.id(),
        life.revision(),
        wanted.task.as_ref().map_or("", TaskId::as_str),
    );
    // What the plan may not reach, breaking it down may not reach either.
    let own = &life.header().policy;
    let (tools, network, commands) = (own.tools.clone(), own.network.clone(), own.commands.clone());
    let policy = Policy { tools, network, commands, ..Policy::default() };
    let plan = Plan { title: format!("Break down: {title}"), tasks: vec![step], policy, ..Plan::default() };
    Ok(engine.create(NewPlan { plan, origin, once: Some(once) }).await?)
}

/// What the part has to be told to go on: one that did not come to a good end before is tried once more.
async fn begin(engine: &Engine, errand: &PlanId) -> Result<Vec<Input>, Unbroken> {
    let life = engine.open(errand).await?.life;
    let outcome = result(&life).map(|result| &result["outcome"]);
    let finished = outcome.is_some_and(|outcome| *outcome != "failed" && *outcome != "incomplete");
    Ok(match life.state() {
        PlanState::Pending => vec![Input::Start],
        PlanState::Completed | PlanState::Failed if !finished => {
            vec![Input::Retry { task: TaskId::slugged(STEP), by: String::new(), why: String::new() }]
        }
        _ => Vec::new(),
    })
}

/// Adds what was made to the plan as it is now, whatever others have changed meanwhile.
async fn grow(engine: &Engine, plan: &PlanId, made: &Decomposition, wanted: &Wanted) -> Result<(), Unbroken> {
    let what = wanted.task.as_ref().map_or_else(|| "the plan".to_owned(), |task| format!("`{task}`"));
    let rationale = format!("broke {what} down into {} tasks", made.created_tasks.len());
    for _ in 0..TRIES_MAX {
        let life = engine.open(plan).await?.life;
        let mut next = life.plan();
        let new = made.created_tasks.iter().filter(|node| life.definition(&node.id).is_none());
        next.tasks.extend(new.map(gantry_planner::decompose::Node::task));
        made.learnt_by(&mut next);
        if next == life.plan() {
            return Ok(());
        }
        next.sort_tree();
        let change = Change::To(Box::new(next));
        let input =
            Input::Revise { by: wanted.by.clone(), rationale: rationale.clone(), base: life.revision(), change };
        match engine.tell(plan, input).await {
            Ok(_) => return Ok(()),
            Err(EngineError::Refused(refused)) if refused.code() == "life::old-revision" => {}
            Err(EngineError::RefusedElsewhere { code, .. }) if code == "life::old-revision" => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Unbroken::Changing)
}
