//! What is computed about a plan: its schedule, its graph, its other forms.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use gantry_core::id::{PlanId, TaskId};
use gantry_core::life::Life;
use gantry_many::score::judge::{Unjudged, judged};
use gantry_report::document::{self, Subject};
use gantry_schedule::write::{self, Unwritable};
use gantry_schedule::{Moment, Options, Problem as Unsound, Project, Schedule};
use gantry_view::under_way::project_of;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::record::{self, At};
use crate::access::Who;
use crate::app::App;
use crate::body::{Asked, Named, Told};
use crate::pages::graph;
use crate::problem::Problem;

/// The schedule of a plan, away from the threads that answer.
pub async fn computed(app: &App, life: &Life) -> Result<(Project, Schedule), Problem> {
    scheduled(project_of(app.store(), life, App::now()).await?).await
}

/// The schedule of a project, away from the threads that answer.
pub async fn scheduled(project: Project) -> Result<(Project, Schedule), Problem> {
    let found = tokio::task::spawn_blocking(move || {
        gantry_schedule::schedule(&project, &Options::usual(&project)).map(|schedule| (project, schedule))
    });
    match found.await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(problems)) => Err(unschedulable(&problems)),
        Err(error) => Err(Problem::broken("server::panicked", error.to_string())),
    }
}

fn unschedulable(problems: &[Unsound]) -> Problem {
    let lines: Vec<String> = problems.iter().map(|one| format!("{}: {}", one.at, one.what)).collect();
    let problem = Problem::unfit("schedule::unsound", format!("it cannot be scheduled: {}", lines.join("; ")));
    match problems.iter().find(|one| !one.fix.is_empty()) {
        Some(one) => problem.hint(one.fix.clone()),
        None => problem,
    }
}

/// What is asked about a schedule.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Look {
    /// Only what would be different with these changes, such as `task.build.estimate=5d`, with semicolons between them.
    pub what_if: Option<String>,
    /// How sound the schedule is instead, by the 14 checks of the DCMA.
    pub health: bool,
}

/// The schedule, how sound it is, or what would be different.
pub async fn schedule(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(look): Asked<Look>,
) -> Result<Told<Value>, Problem> {
    let life = app.engine().open(&app.id(&plan).await?).await?.life;
    if let Some(changes) = look.what_if.filter(|changes| !changes.trim().is_empty()) {
        let project = project_of(app.store(), &life, App::now()).await?;
        let found = tokio::task::spawn_blocking(move || {
            let changes: Vec<&str> = changes.split(';').map(str::trim).filter(|change| !change.is_empty()).collect();
            let by = |project: &Project| gantry_schedule::schedule(project, &Options::usual(project));
            gantry_schedule::what_if_by(&project, &changes, by)
        });
        return match found.await {
            Ok(Ok(found)) => Ok(Told(serde_json::to_value(&found).unwrap_or_default())),
            Ok(Err(problems)) => Err(unschedulable(&problems)),
            Err(error) => Err(Problem::broken("server::panicked", error.to_string())),
        };
    }
    let (project, schedule) = computed(&app, &life).await?;
    if look.health {
        return Ok(Told(json!({"checks": gantry_schedule::health(&project, &schedule)})));
    }
    Ok(Told(serde_json::to_value(&schedule).unwrap_or_default()))
}

/// How good a plan is, in figures.
pub async fn score(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let life = app.engine().open(&app.id(&plan).await?).await?.life;
    let scored = tokio::task::spawn_blocking(move || {
        let plan = life.proposed().work();
        (life.id().clone(), plan.name().to_owned(), gantry_many::score::score(&plan))
    });
    let (id, title, score) = scored.await.map_err(|error| Problem::broken("server::panicked", error.to_string()))?;
    let mut value = serde_json::to_value(&score).unwrap_or_default();
    (value["plan_id"], value["title"]) = (json!(id), json!(title));
    Ok(Told(value))
}

/// What a model thinks of a plan; the same plan is judged once.
pub async fn judge(State(app): State<App>, who: Who, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let engine = app.house.engine_for(&id).await?;
    let work = engine.open(&id).await?.life.proposed().work();
    match Box::pin(judged(&engine, &work, Some(&id), app.house.origin(&who.name)?)).await {
        Ok(judgement) => {
            let mut value = serde_json::to_value(&judgement).unwrap_or_default();
            (value["plan_id"], value["title"]) = (json!(id), json!(work.name()));
            Ok(Told(value))
        }
        Err(Unjudged::Engine(error)) => Err(error.into()),
        Err(Unjudged::Nobody(why)) => {
            Err(Problem::new(StatusCode::BAD_GATEWAY, "score::not-judged", format!("nobody has judged it: {why}"))
                .hint("the offline model judges nothing; see which models there are at /api/v1/models"))
        }
    }
}

/// The graph.
pub async fn graph(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(query): Asked<At>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let life = record::life(&app, &id, query.at).await?;
    Ok(Told(graph::Graph::of(&life).to_json()))
}

/// In which form.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Form {
    /// yaml, json, mermaid, csv, ical or msproject.
    pub format: Option<String>,
}

/// The plan in another form, with its media type and the ending of its name.
pub async fn exported(app: &App, id: &PlanId, format: &str) -> Result<(&'static str, &'static str, String), Problem> {
    let life = app.engine().open(id).await?.life;
    Ok(match format {
        "yaml" => ("application/yaml", "yaml", gantry_format::to_yaml(&life.plan())),
        "mermaid" => ("text/vnd.mermaid", "mmd", gantry_format::mermaid::export(&life.plan())),
        "json" => ("application/json", "json", document_of(app, &life).await?),
        "csv" => ("text/csv", "csv", write::csv::write(&computed(app, &life).await?.1)),
        "ical" => {
            let schedule = computed(app, &life).await?.1;
            (
                "text/calendar",
                "ics",
                write::ical::write(&schedule, stamp(&schedule)).map_err(|error| unwritable(&error))?,
            )
        }
        "msproject" => {
            let (project, schedule) = computed(app, &life).await?;
            let text = write::msproject::write(&project, &schedule).map_err(|error| unwritable(&error))?;
            ("application/xml", "xml", text)
        }
        _ => {
            let detail = "`format` is yaml, json, mermaid, csv, ical or msproject";
            return Err(Problem::wrong("request::wrong-query", detail));
        }
    })
}

async fn document_of(app: &App, life: &Life) -> Result<String, Problem> {
    let kept = json!({"plan_id": life.id(), "state": life.state().to_string(), "revision": life.revision()});
    let work = life.proposed().work();
    let computed = computed(app, life).await;
    let problems: Vec<String> = computed.as_ref().err().iter().map(|problem| problem.detail.clone()).collect();
    let scheduled = match &computed {
        Ok((project, schedule)) => Ok((project, schedule)),
        Err(_) => Err(problems.as_slice()),
    };
    let state_of = |id: &TaskId| Some(life.task_state(id.as_str())?.to_string());
    let source = serde_json::from_str(&gantry_format::to_json(&life.plan())).unwrap_or_default();
    let kept = kept.as_object().cloned().unwrap_or_default();
    let parts = gantry_view::report::parts_of(life);
    let value =
        document::document(&Subject { kept, plan: &work, state_of: &state_of, scheduled, source, parts: &parts });
    Ok(format!("{value:#}\n"))
}

fn stamp(schedule: &Schedule) -> jiff::Timestamp {
    match schedule.earned_value.as_ref().map(|value| value.data_date) {
        Some(Moment::Date(at, _)) => at,
        _ => jiff::Timestamp::from_millisecond(App::now().as_ms()).unwrap_or_default(),
    }
}

fn unwritable(error: &Unwritable) -> Problem {
    Problem::unfit("schedule::unwritable", error.to_string()).hint("say when it starts, in the plan's `schedule`")
}

/// The plan in another form.
pub async fn export(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(query): Asked<Form>,
) -> Result<Response, Problem> {
    let id = app.id(&plan).await?;
    let (media, ending, text) = exported(&app, &id, query.format.as_deref().unwrap_or("yaml")).await?;
    let disposition = format!("attachment; filename=\"{id}.{ending}\"");
    Ok(([(header::CONTENT_TYPE, media.to_owned()), (header::CONTENT_DISPOSITION, disposition)], text).into_response())
}
