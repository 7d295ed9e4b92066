//! What is computed about a plan: how good it is, its graph, its other forms.

use std::io::Read as _;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use gantry_core::id::{PlanId, TaskId};
use gantry_core::life::Life;
use gantry_core::plan::Plan;
use gantry_many::score::judge::{Unjudged, judged};
use gantry_report::document::{self, Subject};
use gantry_schedule::write::{self, Unwritable};
use gantry_schedule::{Moment, Schedule};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::record::{self, At};
use super::schedule::computed;
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Asked, Named, Told};
use crate::documented::{Described, Does};
use crate::pages::graph::Graph;
use crate::problem::Problem;
use crate::shapes::{Anything, Judgement};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.get(
        "/api/v1/plans/{plan}/score",
        Role::Viewer,
        score,
        Does::new("figures", "How good a plan is, in figures that nobody has to judge")
            .gives::<Anything>(200, "The score, its dimensions and every count that they were made of."),
    )
    .get(
        "/api/v1/plans/{plan}/graph",
        Role::Viewer,
        graph,
        Does::new("figures", "The tasks as a layered graph, with places to draw them at")
            .asked::<At>()
            .gives::<Anything>(200, "Boxes and lines."),
    )
    .get(
        "/api/v1/plans/{plan}/export",
        Role::Viewer,
        export,
        Does::new("figures", "A plan in another form, or its whole life as a zip file").asked::<Form>().gives_media(
            200,
            &[
                "application/yaml",
                "application/json",
                "text/vnd.mermaid",
                "text/csv",
                "text/calendar",
                "application/xml",
                "application/zip",
            ],
            "The file.",
        ),
    )
    .post(
        "/api/v1/plans/{plan}/score",
        Role::Operator,
        judge,
        Does::new("figures", "Have a model judge a plan by thirty criteria")
            .about("The asking is a plan of its own, so it is on record and paid for once: the same plan has the same judgement. Where no model judges, that is a problem (409).")
            .gives::<Judgement>(200, "The judgement."),
    )
}

/// How good a plan is, in figures.
pub async fn score(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let life = app.engine().open(&app.id(&plan).await?).await?.life;
    Ok(Told(scored(life.id().clone(), life.proposed().work()).await?))
}

/// Counts, away from the threads that answer.
async fn scored(id: PlanId, work: Plan) -> Result<Value, Problem> {
    let found = tokio::task::spawn_blocking(move || {
        let mut value = serde_json::to_value(gantry_many::score::score(&work)).unwrap_or_default();
        (value["plan_id"], value["title"]) = (json!(id), json!(work.name()));
        value
    });
    found.await.map_err(|error| Problem::broken("server::panicked", error.to_string()))
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
            Err(Problem::conflict("score::not-judged", format!("nobody has judged it: {why}"))
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
    Ok(Told(Graph::of(&life).to_json()))
}

/// In which form.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Form {
    /// yaml, json, mermaid, csv, ical, msproject, or zip: the plan, its journal and what it made, with their hashes.
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
            let detail = "`format` is yaml, json, mermaid, csv, ical, msproject or zip";
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
    let format = query.format.as_deref().unwrap_or("yaml");
    if format == "zip" {
        let file = app.house.packed(&id).await?;
        return Ok((saved("application/zip", &format!("{id}.zip")), streamed(file)).into_response());
    }
    let (media, ending, text) = exported(&app, &id, format).await?;
    Ok((saved(media, &format!("{id}.{ending}")), text).into_response())
}

/// What makes a browser save an answer.
pub fn saved(media: &str, name: &str) -> [(HeaderName, String); 2] {
    [
        (header::CONTENT_TYPE, media.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ]
}

/// How much of a file is read at once.
const PIECE_BYTES: usize = 64 << 10;

/// A file as a body, piece by piece: it may be larger than memory.
fn streamed(file: std::fs::File) -> Body {
    let pieces = stream::unfold(Some(file), |file| async move {
        let mut file = file?;
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; PIECE_BYTES];
            let count = file.read(&mut piece)?;
            piece.truncate(count);
            Ok::<_, std::io::Error>((file, piece))
        });
        match read.await.map_err(std::io::Error::other).flatten() {
            Ok((_, piece)) if piece.is_empty() => None,
            Ok((file, piece)) => Some((Ok(piece), Some(file))),
            Err(error) => Some((Err(error), None)),
        }
    });
    Body::from_stream(pieces)
}
