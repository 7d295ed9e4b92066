//! `gantry decompose`: breaks a plan or one of its tasks down into smaller tasks, as a new revision.

use std::process::ExitCode;

use gantry_core::id::PlanId;
use gantry_core::life::Life;
use gantry_many::decompose::{Unbroken, Wanted, broken_down};
use gantry_planner::decompose::{Decomposition, Outcome, Settings};
use serde_json::{Map, json};

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
/// `DECOMP_PROVIDER`, `DECOMP_API_URL`, `DECOMP_API_KEY`, `DECOMP_RETRY_LIMIT`, `DECOMP_STOP_ON_EMPTY`, `DECOMP_ALLOW_EXISTING_CHILDREN`,
/// `DECOMP_ENABLE_WEB_SEARCH` and `DECOMP_SEARCH_TOOL` say what options do not; docs/planning.md describes them.
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
        let today = jiff::Zoned::now().date();
        let made = Box::pin(broken_down(&engine, &card.id, Wanted { task, settings, by, today })).await;
        let made = made.map_err(|unbroken| told(unbroken, &card.id))?;
        if args.record.json {
            exit::print_json(&made)?;
        } else {
            exit::print(&drawn(&made))?;
            tell(&made);
        }
        Ok(ExitCode::from(if made.outcome == Outcome::Failed { exit::FAILED } else { exit::DONE }))
    })
}

fn told(unbroken: Unbroken, plan: &PlanId) -> Fault {
    match unbroken {
        Unbroken::Engine(error) => refusal(error, plan),
        Unbroken::Nothing(why) => Fault::internal(format!("nothing was broken down: {why}"))
            .hint("see which models there are with `gantry model doctor`, then repeat the command"),
        Unbroken::Changing => {
            Fault::refused("the plan is being changed all the time").hint("repeat the command: nothing is asked twice")
        }
    }
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
    if let Some(why) = &made.degraded {
        talk!("degraded: {}", plain(why));
    }
    let count = gantry_view::count(made.created_tasks.len(), "task");
    let why = match made.stopped_reason.as_str() {
        "depth_reached" => "as deep as was asked for".to_owned(),
        "all_leaves" => "every task is small enough".to_owned(),
        "node_budget_exhausted" => {
            format!("the budget of {} is used up", gantry_view::count(made.stats.node_budget as usize, "task"))
        }
        "some_nodes_failed" => "some tasks could not be broken down; repeat the command to try them again".to_owned(),
        "nothing_to_break_down" => "everything is broken down already".to_owned(),
        "empty_children" | "llm_requested_stop" => "it needs no breaking down".to_owned(),
        other => plain(other),
    };
    match made.outcome {
        Outcome::Failed => talk!("no task made: {}", plain(&made.stopped_reason)),
        _ => talk!("{count} made: {why}"),
    }
}
