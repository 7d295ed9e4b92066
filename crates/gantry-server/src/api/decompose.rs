//! Breaking plans and tasks down into smaller tasks.

use axum::extract::State;
use gantry_core::id::TaskId;
use gantry_many::decompose::{Unbroken, Wanted, broken_down};
use gantry_planner::decompose::Settings;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::tasks;
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Named, Said, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::Anything;

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.post(
        "/api/v1/plans/{plan}/decompose",
        Role::Operator,
        plan,
        Does::new("tasks", "Break a plan down into smaller tasks, as a new revision")
            .may_take::<BreakDown>()
            .gives::<Anything>(200, "What was made, and what was left out."),
    )
    .post(
        "/api/v1/plans/{plan}/tasks/{task}/decompose",
        Role::Operator,
        task,
        Does::new("tasks", "Break a task down into smaller tasks, as a new revision")
            .may_take::<BreakDown>()
            .gives::<Anything>(200, "What was made, and what was left out."),
    )
}

/// How far a plan or a task is broken down.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BreakDown {
    /// How many levels are made; 1 is exactly one.
    #[serde(alias = "depth")]
    #[schema(minimum = 1, maximum = 20)]
    pub expand_depth: Option<u32>,
    /// How many tasks are made at most.
    #[serde(alias = "budget")]
    #[schema(minimum = 1, maximum = 10_000)]
    pub node_budget: Option<u32>,
    /// How many children a task gets at least.
    #[schema(minimum = 1, maximum = 10_000)]
    pub children_min: Option<u32>,
    /// How many children a task gets at most.
    #[schema(minimum = 1, maximum = 10_000)]
    pub children_max: Option<u32>,
    /// Give tasks that have children more of them.
    pub allow_existing_children: Option<bool>,
}

/// The same for a task of a plan that is named beside it.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BreakDownOf {
    /// The plan, by id or number.
    #[schema(value_type = String)]
    pub plan_id: Value,
    /// How many levels are made; 1 is exactly one.
    #[serde(alias = "depth")]
    #[schema(minimum = 1, maximum = 20)]
    pub expand_depth: Option<u32>,
    /// How many tasks are made at most.
    #[serde(alias = "budget")]
    #[schema(minimum = 1, maximum = 10_000)]
    pub node_budget: Option<u32>,
    /// Give tasks that have children more of them.
    pub allow_existing_children: Option<bool>,
}

/// Breaks a whole plan down.
pub async fn plan(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<BreakDown>,
) -> Result<Told<Value>, Problem> {
    down(&app, &who, &plan, None, &said).await
}

/// Breaks a task down.
pub async fn task(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    Said(said): Said<BreakDown>,
) -> Result<Told<Value>, Problem> {
    down(&app, &who, &plan, Some(&task), &said).await
}

/// Breaks a task down whose plan is named in the body.
pub async fn task_of(
    State(app): State<App>,
    who: Who,
    Named(task): Named<String>,
    Said(said): Said<BreakDownOf>,
) -> Result<Told<Value>, Problem> {
    let plan = match &said.plan_id {
        Value::String(plan) if !plan.trim().is_empty() => plan.clone(),
        Value::Number(plan) => plan.to_string(),
        _ => return Err(Problem::unfit("request::no-plan", "`plan_id` is to name the plan of the task")),
    };
    let BreakDownOf { expand_depth, node_budget, allow_existing_children, .. } = said;
    let how = BreakDown { expand_depth, node_budget, allow_existing_children, ..BreakDown::default() };
    down(&app, &who, &plan, Some(&task), &how).await
}

async fn down(app: &App, who: &Who, plan: &str, task: Option<&str>, how: &BreakDown) -> Result<Told<Value>, Problem> {
    let mut settings = Map::new();
    let numbers = [
        ("depth", how.expand_depth, 20),
        ("budget", how.node_budget, 10_000),
        ("children_min", how.children_min, 10_000),
        ("children_max", how.children_max, 10_000),
    ];
    for (name, value, max) in numbers {
        let Some(value) = value else { continue };
        if value < 1 || value > max {
            return Err(Problem::unfit("request::out-of-range", format!("`{name}` is {value}, and may be 1 to {max}")));
        }
        settings.insert(name.to_owned(), json!(value));
    }
    settings.extend(how.allow_existing_children.map(|allow| ("allow_existing_children".to_owned(), json!(allow))));
    // What does not go together, also with what the variables say, is refused before anything begins.
    let known = Settings::from_variables(|name| std::env::var(name).ok()).unwrap_or_default();
    known.with(&settings).map_err(|why| Problem::unfit("request::out-of-range", why))?;
    let id = app.id(plan).await?;
    let engine = app.house.engine_for(&id).await?;
    let life = engine.open(&id).await?.life;
    let task: Option<TaskId> = task.map(|task| tasks::known(&life, task)).transpose()?;
    let wanted = Wanted { task, settings, by: who.name.clone(), today: app.house.today() };
    match Box::pin(broken_down(&engine, &id, wanted)).await {
        Ok(made) => Ok(Told(json!(made))),
        Err(Unbroken::Engine(error)) => Err(error.into()),
        Err(Unbroken::Nothing(why)) => Err(Problem::broken("plan::not-broken-down", why)
            .hint("see which models there are at /api/v1/models, then repeat the request")),
        Err(Unbroken::Changing) => {
            Err(Problem::conflict("plan::changing", "the plan is being changed all the time")
                .hint("repeat the request"))
        }
    }
}
