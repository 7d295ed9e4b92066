//! Routes under the names that other tools and documents use, through the same handlers. Their words are translated here
//! and nowhere else; statuses are real ones.

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use gantry_core::id::TaskId;
use gantry_core::input::Input;
use gantry_core::life::{PlanState, TaskState};
use gantry_store::PlanCard;
use gantry_view::parts::{Shown, folded};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::Required;

use super::{figures, health, people, plans, record, report, steer, tasks};
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Named, Raw, Said, Told};
use crate::documented::{Described, Does};
use crate::live::pump::percent;
use crate::problem::Problem;
use crate::shapes::{Anything, Created, Decide, Heard, Items, ListQuery, NewPlan, PlanPage, Why};

/// A plan to be made from a prompt.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
#[allow(clippy::struct_field_names)] // the names are those of the founding documents
pub struct Prompt {
    /// What is to be planned.
    pub prompt: String,
    /// `fast_but_skip_details`, `balanced_speed_and_detail` or `all_details_but_slow`.
    pub speed_vs_detail: Option<String>,
    /// A model; it must be one that is configured, and is never replaced by another.
    pub llm_model: Option<String>,
}

/// What a task is to work on.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
pub struct RunTask {
    /// Not taken from outside: what a task works on stands in the plan.
    pub inputs: Option<Value>,
}

/// The routes.
pub fn described(all: Described) -> Described {
    let (get, post) = (Method::GET, Method::POST);
    let does = |text: &str| Does::new("other names", text);
    all.route(
        get.clone(),
        "/plans",
        Role::Viewer,
        plans::list,
        does("As GET /api/v1/plans").asked::<ListQuery>().gives::<PlanPage>(200, "A page of plans."),
    )
    .route(
        post.clone(),
        "/plans",
        Role::Operator,
        create_graph,
        does("Create a plan from {title, nodes, artifacts, gates}; it waits to be started")
            .takes::<Anything>(Required::True)
            .gives::<Created>(201, "It is created."),
    )
    .route(
        get.clone(),
        "/plans/{plan}",
        Role::Viewer,
        plans::detail,
        does("As GET /api/v1/plans/{plan}").gives::<Anything>(200, "The plan."),
    )
    .route(
        get.clone(),
        "/plans/{plan}/tree",
        Role::Viewer,
        tree,
        does("The tasks as a tree").gives::<Anything>(200, "The tree."),
    )
    .route(
        get.clone(),
        "/plans/{plan}/subgraph",
        Role::Viewer,
        figures::graph,
        does("As GET /api/v1/plans/{plan}/graph").asked::<record::At>().gives::<Anything>(200, "Boxes and lines."),
    )
    .route(
        get.clone(),
        "/plans/{plan}/execution/summary",
        Role::Viewer,
        summary,
        does("How far a plan is, in figures").gives::<Anything>(200, "The figures."),
    )
    .route(
        get.clone(),
        "/plans/{plan}/results",
        Role::Viewer,
        results,
        does("What all finished tasks gave").gives::<Anything>(200, "The outputs, by task."),
    )
    .route(
        post.clone(),
        "/plans/{plan}/tasks/{task}/run",
        Role::Operator,
        run_task,
        does("Run a task: begin the plan, or do the task again if it has ended")
            .takes::<RunTask>(Required::False)
            .gives::<Heard>(202, "It is under way."),
    )
    .route(
        post.clone(),
        "/plans/{plan}/gates/{gate}/approve",
        Role::Approver,
        people::approve,
        does("As POST /api/v1/plans/{plan}/gates/{gate}/approve")
            .takes::<Decide>(Required::False)
            .gives::<Heard>(200, "It is on record."),
    )
    .route(
        get.clone(),
        "/api/plans",
        Role::Viewer,
        list_prompted,
        does("The newest plans, in the words of PlanExe").gives::<Anything>(200, "The plans."),
    )
    .route(
        post.clone(),
        "/api/plans",
        Role::Operator,
        create_prompted,
        does("Make a plan from a prompt, in the words of PlanExe")
            .takes::<Prompt>(Required::True)
            .gives::<Anything>(202, "It is being planned."),
    )
    .route(
        get.clone(),
        "/api/plans/{plan}",
        Role::Viewer,
        prompted,
        does("A plan in the words of PlanExe").gives::<Anything>(200, "The plan."),
    )
    .route(
        Method::DELETE,
        "/api/plans/{plan}",
        Role::Admin,
        plans::forget,
        does("As DELETE /api/v1/plans/{plan}").gives_nothing(204, "It is gone."),
    )
    .route(
        post.clone(),
        "/api/plans/{plan}/resume",
        Role::Operator,
        steer::start,
        does("As POST /api/v1/plans/{plan}/resume")
            .takes::<Why>(Required::False)
            .gives::<Heard>(202, "It is under way."),
    )
    .route(
        post,
        "/api/plans/{plan}/tasks/{task}/retry",
        Role::Operator,
        tasks::retry,
        does("As POST /api/v1/plans/{plan}/tasks/{task}/retry")
            .takes::<Why>(Required::False)
            .gives::<Heard>(200, "It is on record."),
    )
    .route(
        get.clone(),
        "/api/plans/{plan}/files",
        Role::Viewer,
        files,
        does("Everything that a plan has made").gives::<Anything>(200, "The files."),
    )
    .route(
        get.clone(),
        "/api/plans/{plan}/report",
        Role::Viewer,
        report::report,
        does("The report").asked::<report::Reader>().gives_media(
            200,
            &["text/html", "text/markdown", "application/json"],
            "The report.",
        ),
    )
    .route(
        get.clone(),
        "/api/plans/{plan}/fallback-report",
        Role::Viewer,
        fallback,
        does("What there is of a report, section by section, when it was not finished")
            .gives::<Anything>(200, "The sections."),
    )
    .open(get.clone(), "/health", health::healthz, does("As /healthz").gives::<Anything>(200, "It answers."))
    .route(
        get.clone(),
        "/memory",
        Role::Viewer,
        super::around::memory,
        does("As GET /api/v1/memory").asked::<super::around::Keys>().gives::<Items>(200, "One item for each key."),
    )
    .route(
        get,
        "/api/models",
        Role::Viewer,
        super::around::models,
        does("As GET /api/v1/models").gives::<Anything>(200, "The models."),
    )
}

/// A graph of nodes is a plan file in other words.
async fn create_graph(State(app): State<App>, who: Who, raw: Raw) -> Result<Response, Problem> {
    let file = String::from_utf8(raw.bytes.to_vec())
        .map_err(|_| Problem::wrong("request::not-text", "the body is no text in UTF-8"))?;
    let name = Some("plan.json".to_owned());
    let new = NewPlan { file: Some(file), file_name: name, start: Some(false), ..NewPlan::default() };
    Ok(plans::created(&plans::make(&app, &who, &new, None).await?, StatusCode::CREATED))
}

async fn tree(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let life = app.engine().open(&app.id(&plan).await?).await?.life;
    let ids = life.task_ids();
    let parent = |id: &TaskId| life.definition(id.as_str()).and_then(|task| task.parent.clone());
    // Parts come after their whole, so from the last on every part is ready before its whole needs it.
    let mut below: std::collections::BTreeMap<Option<TaskId>, Vec<Value>> = std::collections::BTreeMap::new();
    for id in ids.iter().rev() {
        let mut children = below.remove(&Some(id.clone())).unwrap_or_default();
        children.reverse();
        let title = life.definition(id.as_str()).map(|task| task.name().to_owned());
        let state = life.task_state(id.as_str());
        below
            .entry(parent(id))
            .or_default()
            .push(json!({"id": id, "title": title, "state": state, "children": children}));
    }
    let mut roots = below.remove(&None).unwrap_or_default();
    roots.reverse();
    Ok(Told(json!({"plan": life.id(), "tree": roots})))
}

async fn summary(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let card = app.plan(&plan).await?;
    let of = |state| card.card.tasks.get(&state).copied().unwrap_or(0);
    Ok(Told(json!({
        "plan": card.id, "status": card.card.state, "progress_percentage": percent(&card),
        "total": card.card.tasks.values().sum::<u32>(), "completed": of(TaskState::Completed),
        "failed": of(TaskState::Failed), "running": of(TaskState::Running), "waiting": of(TaskState::Waiting),
        "tasks": card.card.tasks, "used": card.card.used, "waiting_for": card.card.waiting,
    })))
}

async fn results(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let life = app.engine().open(&app.id(&plan).await?).await?.life;
    let ids = life.task_ids();
    let done = ids.iter().filter(|id| life.task_state(id.as_str()) == Some(TaskState::Completed));
    let outputs: serde_json::Map<String, Value> =
        done.map(|id| (id.to_string(), json!(life.outputs(id.as_str())))).collect();
    Ok(Told(json!({"plan": life.id(), "state": life.state(), "outputs": outputs})))
}

async fn run_task(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    Said(said): Said<RunTask>,
) -> Result<(StatusCode, Told<Value>), Problem> {
    let id = app.id(&plan).await?;
    if said.inputs.is_some_and(|inputs| inputs.as_object().is_some_and(|inputs| !inputs.is_empty())) {
        return Err(Problem::unfit("task::inputs", "what a task works on stands in the plan")
            .hint("revise the plan to change it"));
    }
    let life = app.engine().open(&id).await?.life;
    let task = tasks::known(&life, &task)?;
    match life.task_state(task.as_str()) {
        Some(TaskState::Completed | TaskState::Failed | TaskState::Skipped) => {
            app.foreman.tell(&id, Input::Retry { task, by: who.name, why: String::new() }).await?;
        }
        _ => steer::go_on(&app, &who, &id).await?,
    }
    Ok((StatusCode::ACCEPTED, steer::heard(&app, &id, gantry_engine::Tell::Driven).await?))
}

/// A state in the words of `PlanExe`.
fn status(state: PlanState) -> &'static str {
    match state {
        PlanState::Pending => "pending",
        PlanState::Running | PlanState::Blocked => "running",
        PlanState::Paused => "stopped",
        PlanState::Completed => "completed",
        PlanState::Failed => "failed",
        PlanState::Abandoned => "cancelled",
    }
}

async fn response(app: &App, card: &PlanCard) -> Result<Value, Problem> {
    let life = app.engine().open(&card.id).await?.life;
    let waits: Vec<&str> = card.card.waiting.iter().map(|line| line.what.as_str()).collect();
    Ok(json!({
        "plan_id": card.id, "status": status(card.card.state), "created_at": card.created_at,
        "prompt": life.header().objective, "progress_percentage": percent(card),
        "progress_message": if waits.is_empty() { card.card.title.clone() } else { format!("waits for {}", waits.join("; ")) },
        "error_message": card.card.causes.first(),
    }))
}

async fn list_prompted(State(app): State<App>) -> Result<Told<Value>, Problem> {
    let (cards, _) = plans::page(&app, &ListQuery { limit: Some(100), ..ListQuery::default() }).await?;
    let mut all = Vec::new();
    for card in &cards {
        all.push(response(&app, card).await?);
    }
    Ok(Told(Value::Array(all)))
}

async fn prompted(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let card = app.plan(&plan).await?;
    Ok(Told(response(&app, &card).await?))
}

async fn create_prompted(
    State(app): State<App>,
    who: Who,
    Said(said): Said<Prompt>,
) -> Result<(StatusCode, Told<Value>), Problem> {
    let model = said.llm_model.filter(|model| model != "auto");
    let new = NewPlan { objective: Some(said.prompt), detail: said.speed_vs_detail, model, ..NewPlan::default() };
    let card = plans::make(&app, &who, &new, None).await?;
    Ok((StatusCode::ACCEPTED, Told(response(&app, &card).await?)))
}

async fn files(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let rows = gantry_store::all_artifacts(app.store(), &id).await?;
    let file = |(order, shown): (usize, &Shown<'_>)| {
        let artifact = &shown.row.artifact;
        json!({
            "filename": artifact.name, "content_type": artifact.media, "stage": artifact.task,
            "size_bytes": artifact.bytes, "created_at": artifact.at, "task_name": artifact.task, "order": order,
            "url": format!("/api/v1/plans/{id}/artifacts/{}/{}", artifact.task, crate::listen::encoded(&artifact.name)),
        })
    };
    let shown = folded(&rows);
    let has_report = rows.iter().any(|row| row.artifact.name == gantry_planner::tools::PAGE);
    Ok(Told(json!({"files": shown.iter().enumerate().map(file).collect::<Vec<_>>(), "has_report": has_report})))
}

async fn fallback(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let card = app.plan(&plan).await?;
    let life = app.engine().open(&card.id).await?.life;
    let (mut sections, mut missing) = (Vec::new(), Vec::new());
    for id in life.task_ids() {
        let state = life.task_state(id.as_str()).unwrap_or(TaskState::Pending);
        let title = life.definition(id.as_str()).map(|task| task.name().to_owned());
        if state == TaskState::Completed {
            sections.push(json!({"stage": id, "title": title, "content": life.outputs(id.as_str())}));
        } else {
            let reason = gantry_view::standing::about(&life, &id);
            missing.push(json!({"stage": id, "title": title, "state": state, "reason": reason}));
        }
    }
    Ok(Told(json!({
        "plan_id": card.id, "generated_at": App::now(), "completion_percentage": percent(&card),
        "sections": sections, "missing_sections": missing,
    })))
}
