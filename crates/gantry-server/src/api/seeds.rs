//! Routes under the names that other tools and documents use, through the same handlers. Their words are translated here
//! and nowhere else; statuses are real ones.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use gantry_core::id::TaskId;
use gantry_core::input::{Change, Input};
use gantry_core::life::{Life, PlanState, TaskState};
use gantry_core::plan::{Input as Given, Plan};
use gantry_store::PlanCard;
use gantry_view::media::by_name;
use gantry_view::parts::{Shown, folded};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{health, people, plans, report, steer, tasks};
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Asked, Named, Raw, Said, Told};
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
    /// Values by name that it works on from now on, in the place of those that the plan says: a revision says so.
    pub inputs: BTreeMap<String, Value>,
}

/// Its routes.
pub fn routes(all: Described) -> Described {
    let does = |text: &str| Does::new("other names", text);
    all.get(
        "/plans",
        Role::Viewer,
        plans::list,
        does("As GET /api/v1/plans").asked::<ListQuery>().gives::<PlanPage>(200, "A page of plans."),
    )
    .post(
        "/plans",
        Role::Operator,
        create_graph,
        does("Create a plan from {title, nodes, artifacts, gates}; it waits to be started")
            .takes::<Anything>()
            .gives::<Created>(201, "It is created."),
    )
    .get(
        "/plans/{plan}",
        Role::Viewer,
        plans::detail,
        does("As GET /api/v1/plans/{plan}").gives::<Anything>(200, "The plan."),
    )
    .get(
        "/plans/{plan}/tree",
        Role::Viewer,
        tree,
        does("The tasks as a tree of numbers: nodes and adjacency, the roots under `null`")
            .gives::<Anything>(200, "The tree."),
    )
    .get(
        "/plans/{plan}/subgraph",
        Role::Viewer,
        part,
        does("A task with what is below it, also as an outline")
            .asked::<PartQuery>()
            .gives::<Anything>(200, "The tasks."),
    )
    .get(
        "/plans/{plan}/execution/summary",
        Role::Viewer,
        summary,
        does("How far a plan is, in figures").gives::<Anything>(200, "The figures."),
    )
    .get(
        "/plans/{plan}/results",
        Role::Viewer,
        results,
        does("What the tasks gave").asked::<ResultsQuery>().gives::<Anything>(200, "The results."),
    )
    .post(
        "/plans/{plan}/tasks/{task}/run",
        Role::Operator,
        run_task,
        does("Run a task: begin the plan, or do the task again if it has ended")
            .may_take::<RunTask>()
            .gives::<Heard>(202, "It is under way."),
    )
    .post(
        "/tasks/{task}/decompose",
        Role::Operator,
        super::decompose::task_of,
        does("As POST /api/v1/plans/{plan}/tasks/{task}/decompose")
            .takes::<super::decompose::BreakDownOf>()
            .gives::<Anything>(200, "What was made, and what was left out."),
    )
    .post(
        "/plans/{plan}/gates/{gate}/approve",
        Role::Approver,
        people::approve,
        does("As POST /api/v1/plans/{plan}/gates/{gate}/approve").may_take::<Decide>().heard(),
    )
    .get(
        "/api/plans",
        Role::Viewer,
        list_prompted,
        does("The newest plans, in the words of PlanExe").gives::<Anything>(200, "The plans."),
    )
    .post(
        "/api/plans",
        Role::Operator,
        create_prompted,
        does("Make a plan from a prompt, in the words of PlanExe")
            .takes::<Prompt>()
            .gives::<Anything>(202, "It is being planned."),
    )
    .get(
        "/api/plans/{plan}",
        Role::Viewer,
        prompted,
        does("A plan in the words of PlanExe").gives::<Anything>(200, "The plan."),
    )
    .delete(
        "/api/plans/{plan}",
        Role::Admin,
        plans::forget,
        does("As DELETE /api/v1/plans/{plan}").gives_nothing(204, "It is gone."),
    )
    .post(
        "/api/plans/{plan}/resume",
        Role::Operator,
        steer::start,
        does("As POST /api/v1/plans/{plan}/resume").may_take::<Why>().gives::<Heard>(202, "It is under way."),
    )
    .post(
        "/api/plans/{plan}/tasks/{task}/retry",
        Role::Operator,
        tasks::retry,
        does("As POST /api/v1/plans/{plan}/tasks/{task}/retry").may_take::<Why>().heard(),
    )
    .get(
        "/api/plans/{plan}/files",
        Role::Viewer,
        files,
        does("Everything that a plan has made").gives::<Anything>(200, "The files."),
    )
    .get(
        "/api/plans/{plan}/report",
        Role::Viewer,
        report::report,
        does("The report").asked::<report::Reader>().gives_media(200, &report::MEDIA, "The report."),
    )
    .get(
        "/api/plans/{plan}/fallback-report",
        Role::Viewer,
        fallback,
        does(
            "What there is of a report, section by section and as a page, when it was not \
             finished",
        )
        .gives::<Anything>(200, "The sections, what is missing and why, and the page (`assembled_html`)."),
    )
    .open(Method::GET, "/health", health::healthz, does("As /healthz").gives::<Anything>(200, "It answers."))
    .open(Method::GET, "/ping", health::healthz, does("As /healthz").gives::<Anything>(200, "It answers."))
    .get(
        "/memory",
        Role::Viewer,
        super::record::memory,
        does("As GET /api/v1/memory").asked::<super::record::Keys>().gives::<Items>(200, "One item for each key."),
    )
    .get(
        "/api/models",
        Role::Viewer,
        super::models::models,
        does("As GET /api/v1/models").gives::<Anything>(200, "The models."),
    )
}

/// A graph of nodes is a plan file in other words.
async fn create_graph(State(app): State<App>, who: Who, headers: HeaderMap, raw: Raw) -> Result<Response, Problem> {
    let file = String::from_utf8(raw.bytes.to_vec())
        .map_err(|_| Problem::wrong("request::not-text", "the body is no text in UTF-8"))?;
    let name = Some("plan.json".to_owned());
    let new = NewPlan { file: Some(file), file_name: name, start: Some(false), ..NewPlan::default() };
    Ok(plans::created(&plans::make(&app, &who, &new, plans::once(&headers)?).await?, StatusCode::CREATED))
}

async fn tree(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let (card, life) = looked_at(&app, &plan).await?;
    Ok(Told(gantry_view::tree::tree(&card, &life)))
}

async fn looked_at(app: &App, plan: &str) -> Result<(PlanCard, Life), Problem> {
    let card = app.plan(plan).await?;
    let life = app.engine().open(&card.id).await?.life;
    Ok((card, life))
}

async fn summary(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let card = app.plan(&plan).await?;
    let mut told = gantry_view::tree::summary(&card);
    told["status"] = json!(card.card.state);
    told["progress_percentage"] = json!(percent(&card));
    told["waiting_for"] = json!(card.card.waiting);
    Ok(Told(told))
}

/// Which results.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
pub struct ResultsQuery {
    /// Leaves out tasks that gave nothing; true unless said otherwise.
    pub only_with_output: Option<bool>,
}

async fn results(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(query): Asked<ResultsQuery>,
) -> Result<Told<Value>, Problem> {
    let (card, life) = looked_at(&app, &plan).await?;
    Ok(Told(gantry_view::tree::results(&card, &life, query.only_with_output.unwrap_or(true))))
}

/// Which part of a tree.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
pub struct PartQuery {
    /// The task at its top, by number or by id; the first task of the plan where nothing is said.
    pub node_id: Option<String>,
    /// How many levels below it, 1 to 6; 2 where nothing is said.
    #[param(minimum = 1, maximum = 6)]
    pub max_depth: Option<u32>,
}

async fn part(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(query): Asked<PartQuery>,
) -> Result<Told<Value>, Problem> {
    let (card, life) = looked_at(&app, &plan).await?;
    let levels = query.max_depth.unwrap_or(2);
    if !(1..=gantry_view::tree::LEVELS_MAX).contains(&levels) {
        return Err(Problem::wrong("request::wrong-query", format!("`max_depth` is {levels}, and may be 1 to 6")));
    }
    let first = || life.task_ids().into_iter().next();
    let top = match query.node_id.as_deref() {
        Some(name) => Some(tasks::known(&life, name)?),
        None => first(),
    };
    let told = top.and_then(|top| gantry_view::tree::part(&card, &life, top.as_str(), levels));
    told.map(Told).ok_or_else(|| Problem::missing("life::unknown-task", "the plan has no task"))
}

async fn run_task(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    Said(said): Said<RunTask>,
) -> Result<(StatusCode, Told<Value>), Problem> {
    let id = app.id(&plan).await?;
    let _turn = app.foreman.turn(&id).await;
    let life = app.engine().open(&id).await?.life;
    let task = tasks::known(&life, &task)?;
    if let Some(plan) = with_inputs(&life, &task, said.inputs) {
        let (by, rationale) = (who.name.clone(), format!("task `{task}` is run with other inputs"));
        let change = Change::To(Box::new(plan));
        app.foreman.tell(&id, Input::Revise { by, rationale, base: life.revision(), change }).await?;
    }
    let life = app.engine().open(&id).await?.life;
    match life.task_state(task.as_str()) {
        Some(TaskState::Completed | TaskState::Failed | TaskState::Skipped) => {
            app.foreman.tell(&id, Input::Retry { task, by: who.name, why: String::new() }).await?;
        }
        _ => steer::go_on(&app, &who, &id).await?,
    }
    Ok((StatusCode::ACCEPTED, steer::heard(&app, &id, gantry_engine::Tell::Driven).await?))
}

/// The plan with a task that works on these values; none where it does so already.
fn with_inputs(life: &Life, task: &TaskId, inputs: BTreeMap<String, Value>) -> Option<Plan> {
    let mut plan = life.plan();
    let found = plan.tasks.iter_mut().find(|one| one.id == *task)?;
    found.inputs.extend(inputs.into_iter().map(|(name, value)| (name, Given::Value(value))));
    (plan != life.plan()).then_some(plan)
}

/// A state in the words of `PlanExe`.
pub fn status(state: PlanState) -> &'static str {
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
    headers: HeaderMap,
    Said(said): Said<Prompt>,
) -> Result<(StatusCode, Told<Value>), Problem> {
    let model = said.llm_model.filter(|model| model != "auto");
    let new = NewPlan { objective: Some(said.prompt), detail: said.speed_vs_detail, model, ..NewPlan::default() };
    let card = plans::make(&app, &who, &new, plans::once(&headers)?).await?;
    Ok((StatusCode::ACCEPTED, Told(response(&app, &card).await?)))
}

async fn files(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let rows = gantry_store::all_artifacts(app.store(), &id).await?;
    let file = |(order, shown): (usize, &Shown<'_>)| {
        let artifact = &shown.row.artifact;
        json!({
            "filename": artifact.name, "content_type": by_name(&artifact.name).unwrap_or("text/plain"), "stage": artifact.task,
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
    let page = report::reported(&app, &card.id, gantry_report::report::Choice::default(), "html").await?;
    Ok(Told(json!({
        "plan_id": card.id, "generated_at": App::now(), "completion_percentage": percent(&card),
        "sections": sections, "missing_sections": missing,
        "assembled_html": gantry_report::report::html::write(&page.report),
    })))
}
