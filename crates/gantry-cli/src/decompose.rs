//! `gantry decompose`: breaks a plan or one of its tasks down into smaller tasks, as a new revision.

use std::collections::BTreeMap;
use std::process::ExitCode;

use gantry_core::id::{PlanId, TaskId};
use gantry_core::input::{Change, Input};
use gantry_core::life::{Life, PlanState};
use gantry_core::plan::{Action, Idempotency, Input as Given, Plan, Task, Tool};
use gantry_engine::{Engine, EngineError, NewPlan, Origin, Until};
use gantry_planner::decompose::{Decomposition, Outcome, Settings, TOOL, Tree};
use gantry_planner::facts::{Asked, Facts};
use serde_json::{Map, Value, json};

use crate::arguments::{By, ThePlan};
use crate::desk::{known_task, refusal};
use crate::exit::{self, Fault};
use crate::model::options::ModelOptions;
use crate::run::How;
use crate::session::{self, Record};
use crate::show::plain;
use crate::talk::talk;

/// Break a plan, or one of its tasks, down into smaller tasks
///
/// A model is asked about one task after the other, level by level; without one the offline model answers by what is known
/// about kinds of projects. The new tasks become a revision of the plan, all at once. Tasks that have children are not
/// broken down again; their children are, as far as the depth goes. Whatever could not be kept, such as a dependency on a
/// task that does not exist, is told.
///
/// The variables `DECOMP_MAX_DEPTH`, `DECOMP_TOTAL_NODE_BUDGET`, `DECOMP_MIN_CHILDREN`, `DECOMP_MAX_CHILDREN`, `DECOMP_MODEL`,
/// `DECOMP_RETRY_LIMIT`, `DECOMP_STOP_ON_EMPTY` and `DECOMP_ALLOW_EXISTING_CHILDREN` say what options do not.
///
/// Interrupted, the same command goes on: nothing is asked or paid for twice.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry decompose @last --depth 1\n  gantry decompose 7 --task launch --depth 2 --budget 20\n  gantry decompose 7 --task launch --json --offline"
)]
pub struct Args {
    #[command(flatten)]
    plan: ThePlan,
    /// The task to break down [default: the whole plan]
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// How many levels are made; 1 is exactly one [default: 2]
    #[arg(long, alias = "expand-depth", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20))]
    depth: Option<u32>,
    /// How many tasks are made at most [default: 50]
    #[arg(long, alias = "node-budget", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    budget: Option<u32>,
    /// How many children a task gets at least and at most [default: 2-5]
    #[arg(long, value_name = "MIN-MAX", value_parser = between)]
    children: Option<(u32, u32)>,
    /// Give tasks that have children more of them
    #[arg(long)]
    allow_existing_children: bool,
    /// Ask no model: let the offline model answer
    #[arg(long)]
    offline: bool,
    #[command(flatten)]
    models: ModelOptions,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    record: Record,
}

/// Reads `2-5`.
fn between(text: &str) -> Result<(u32, u32), String> {
    let numbers =
        text.split_once('-').and_then(|(min, max)| Some((min.trim().parse().ok()?, max.trim().parse().ok()?)));
    numbers.filter(|(min, max)| min <= max && *max > 0).ok_or_else(|| "write MIN-MAX, such as `2-5`".to_owned())
}

/// What is to be broken down, and how.
pub struct Wanted {
    /// The task; none means the whole plan.
    pub task: Option<TaskId>,
    /// What is not as the variables say.
    pub settings: Map<String, Value>,
    /// Who wants it.
    pub by: String,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    Settings::from_variables(|name| std::env::var(name).ok()).map_err(|bad| Fault::bad_input(bad.to_string()))?;
    let by = args.by.name()?;
    let mut models = args.models.clone();
    if args.offline {
        models.only_offline();
    }
    let how = How::asking(models.clone());
    session::block_on(async {
        let engine = args.record.engine_asking(how.options(&[])?, models)?;
        let card = session::find(&engine, &args.plan).await?;
        let life = engine.open(&card.id).await?.life;
        let task = args.task.as_deref().map(|name| known_task(&life, name)).transpose()?;
        let mut settings = Map::new();
        settings.extend(args.depth.map(|depth| ("depth".to_owned(), json!(depth))));
        settings.extend(args.budget.map(|budget| ("budget".to_owned(), json!(budget))));
        if let Some((min, max)) = args.children {
            settings.extend([("children_min".to_owned(), json!(min)), ("children_max".to_owned(), json!(max))]);
        }
        if args.allow_existing_children {
            settings.insert("allow_existing_children".to_owned(), json!(true));
        }
        let made = Box::pin(broken_down(&engine, &card.id, Wanted { task, settings, by })).await?;
        if args.record.json {
            exit::print_json(&made)?;
        } else {
            exit::print(&drawn(&made))?;
            tell(&made);
        }
        Ok(ExitCode::from(if made.outcome == Outcome::Failed { exit::FAILED } else { exit::DONE }))
    })
}

/// Breaks a plan down, and makes what came of it a revision.
pub async fn broken_down(engine: &Engine, plan: &PlanId, wanted: Wanted) -> Result<Decomposition, Fault> {
    let life = engine.open(plan).await?.life;
    let errand = errand(engine, &life, &wanted).await?;
    engine.drive(&errand, Until::Stuck, begin(engine, &errand).await?).await?.ended().await?;
    let life = engine.open(&errand).await?.life;
    let result = life.outputs(STEP).and_then(|outputs| outputs.get("result")).cloned();
    let Some(result) = result else {
        let why = life.causes().first().map_or("it did not come to an end", String::as_str);
        return Err(Fault::internal(format!("nothing was broken down: {why}"))
            .hint("see which models there are with `gantry model doctor`, then repeat the command"));
    };
    let mut made: Decomposition = serde_json::from_value(result)
        .map_err(|error| Fault::internal(format!("what came of it cannot be read: {error}")))?;
    plan.as_str().clone_into(&mut made.plan_id);
    grow(engine, plan, &made, &wanted).await?;
    Ok(made)
}

/// The only step of the plan that breaks down.
const STEP: &str = "break-down";
/// How often a plan that others change meanwhile is tried to be changed.
const TRIES_MAX: u32 = 20;

/// A part of the plan that breaks it down: the same one for the same wish, so that whoever was interrupted goes on.
async fn errand(engine: &Engine, life: &Life, wanted: &Wanted) -> Result<PlanId, Fault> {
    let plan = life.plan();
    let tree = Tree::from(&plan);
    let node = wanted.task.as_ref().and_then(|task| tree.node(task.as_str()));
    let goal = if plan.objective.is_empty() { &plan.title } else { &plan.objective };
    let today = jiff::Zoned::now().date();
    let facts = Facts::of(&Asked::new(goal.clone(), today));
    let facts = facts.ok().and_then(|facts| serde_json::to_value(facts).ok()).unwrap_or_default();
    let title = node.map_or(plan.title.as_str(), |node| &node.name);
    let given = |value: Value| Given::Value(value);
    let args = BTreeMap::from([
        ("tree".to_owned(), given(json!(tree))),
        ("target".to_owned(), given(json!(wanted.task))),
        ("facts".to_owned(), given(facts)),
        ("today".to_owned(), given(json!(today))),
        ("settings".to_owned(), given(Value::Object(wanted.settings.clone()))),
    ]);
    let mut step = Task::new(TaskId::slugged(STEP));
    step.action = Some(Action::Tool(Tool { name: TOOL.to_owned(), args }));
    step.idempotency = Some(Idempotency::Safe);
    let part_of = wanted.task.clone().unwrap_or_else(|| TaskId::slugged(STEP));
    let origin = Origin { by: wanted.by.clone(), parent: Some((life.id().clone(), part_of)), ..Origin::default() };
    let once = format!(
        "decompose {} {} {} {}",
        life.id(),
        life.revision(),
        wanted.task.as_ref().map_or("", TaskId::as_str),
        Value::Object(wanted.settings.clone())
    );
    let plan = Plan { title: format!("Break down: {title}"), tasks: vec![step], ..Plan::default() };
    Ok(engine.create(NewPlan { plan, origin, once: Some(once) }).await?)
}

/// What the part has to be told to go on: one that did not come to a good end before is tried once more.
async fn begin(engine: &Engine, errand: &PlanId) -> Result<Vec<Input>, Fault> {
    let life = engine.open(errand).await?.life;
    let outcome = life.outputs(STEP).and_then(|outputs| outputs.get("result")).map(|result| &result["outcome"]);
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
async fn grow(engine: &Engine, plan: &PlanId, made: &Decomposition, wanted: &Wanted) -> Result<(), Fault> {
    if made.created_tasks.is_empty() {
        return Ok(());
    }
    let what = wanted.task.as_ref().map_or_else(|| "the plan".to_owned(), |task| format!("`{task}`"));
    let rationale = format!("broke {what} down into {} tasks", made.created_tasks.len());
    for _ in 0..TRIES_MAX {
        let life = engine.open(plan).await?.life;
        let mut next = life.plan();
        let new = made.created_tasks.iter().filter(|node| life.definition(&node.id).is_none());
        let tasks: Vec<Task> = new.map(gantry_planner::decompose::Node::task).collect();
        if tasks.is_empty() {
            return Ok(());
        }
        next.tasks.extend(tasks);
        next.sort_tree();
        let change = Change::To(Box::new(next));
        let input =
            Input::Revise { by: wanted.by.clone(), rationale: rationale.clone(), base: life.revision(), change };
        match engine.tell(plan, input).await {
            Ok(_) => return Ok(()),
            Err(EngineError::Refused(refused)) if refused.code() == "life::old-revision" => {}
            Err(EngineError::RefusedElsewhere { code, .. }) if code == "life::old-revision" => {}
            Err(error) => return Err(refusal(error, plan)),
        }
    }
    Err(Fault::refused("the plan is being changed all the time").hint("repeat the command"))
}

/// Shows what a plan by the template of outlines was broken down into.
pub fn show(life: &Life, made: &Decomposition, json: bool) -> Result<(), Fault> {
    if json {
        let tasks = made.created_tasks.len();
        return exit::print_json(
            &json!({"plan_id": life.id(), "state": life.state().to_string(), "tasks": tasks, "result": made}),
        );
    }
    exit::print(&drawn(made))?;
    tell(made);
    talk!("see where it stands with `gantry status {}`", life.id());
    Ok(())
}

/// What was made, as an outline.
fn drawn(made: &Decomposition) -> String {
    let mut text = String::new();
    let known = |id: &str| made.created_tasks.iter().find(|node| node.id == id);
    for node in &made.created_tasks {
        if node.parent.as_deref().is_none_or(|parent| known(parent).is_none()) {
            draw(made, node, 0, &mut text);
        }
    }
    text
}

fn draw(made: &Decomposition, node: &gantry_planner::decompose::Node, depth: usize, text: &mut String) {
    use std::fmt::Write as _;
    let waits = if node.dependencies.is_empty() {
        String::new()
    } else {
        format!("  (after {})", node.dependencies.join(", "))
    };
    let _ = writeln!(text, "{}{}  {}{waits}", "  ".repeat(depth), node.id, plain(&node.name));
    for child in made.created_tasks.iter().filter(|child| child.parent.as_deref() == Some(node.id.as_str())) {
        draw(made, child, depth + 1, text);
    }
}

fn tell(made: &Decomposition) {
    for left in &made.left_out {
        let whose = if left.task.is_empty() { String::new() } else { format!(" of `{}`", left.task) };
        talk!("left out{whose}: {} ({})", plain(&left.what), plain(&left.why));
    }
    for failed in &made.failed_nodes {
        talk!("not broken down: `{}` ({})", failed.id, plain(&failed.why));
    }
    let count = made.created_tasks.len();
    let why = match made.stopped_reason.as_str() {
        "depth_reached" => "as deep as was asked for".to_owned(),
        "node_budget_exhausted" => format!("the budget of {} tasks is used up", made.stats.node_budget),
        "some_nodes_failed" => "some tasks could not be broken down; repeat the command to try them again".to_owned(),
        "nothing_to_break_down" => "everything is broken down already".to_owned(),
        "empty_children" | "llm_requested_stop" => "it needs no breaking down".to_owned(),
        other => plain(other),
    };
    match made.outcome {
        Outcome::Failed => talk!("no task made: {}", plain(&made.stopped_reason)),
        _ => talk!("{count} tasks made: {why}"),
    }
}
