//! Lists of topics that become plans.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use gantry_many::topics;
use gantry_planner::template::{Detail, OUTLINE};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::{IntoParams, ToSchema};

use super::plans::models_of;
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Asked, Named, Said, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::runs::{self, Seen, TOPICS_MAX, Wanted};
use crate::shapes::{Anything, Items, NewPlan};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.post(
        "/api/v1/bulk",
        Role::Operator,
        begin,
        Does::new("bulk", "Make a plan of each topic of a list")
            .about(
                "A run is durable: it goes on when the server starts again, and one topic of it \
             never becomes two plans.",
            )
            .header("Idempotency-Key", "The same key with the same request again gives the run that it gave first.")
            .takes::<NewBulk>()
            .gives::<Anything>(202, "It is under way; look at it at `url`."),
    )
    .get(
        "/api/v1/bulk",
        Role::Viewer,
        list,
        Does::new("bulk", "All runs over lists of topics, the newest first").gives::<Items>(200, "The runs."),
    )
    .get(
        "/api/v1/bulk/{run}",
        Role::Viewer,
        show,
        Does::new("bulk", "How far a run is, how fast it goes, and its rows")
            .asked::<Rows>()
            .gives::<Anything>(200, "The run; `next` is the `after` of more rows."),
    )
    .get(
        "/api/v1/bulk/{run}/table",
        Role::Viewer,
        table,
        Does::new("bulk", "The table of a run, as far as it is").gives_media(200, &["text/csv"], "The table."),
    )
    .post(
        "/api/v1/bulk/{run}/stop",
        Role::Operator,
        stop,
        Does::new("bulk", "Stop a run; what is done stays").gives::<Anything>(200, "The run."),
    )
    .post(
        "/api/v1/bulk/{run}/resume",
        Role::Operator,
        go_on,
        Does::new("bulk", "Go on with a run, and try again what came to nothing").gives::<Anything>(202, "The run."),
    )
}

/// How many rows a page has at most.
const ROWS_MAX: usize = 1_000;
/// How many rows it has when nothing is said.
const ROWS: usize = 200;

/// A list of topics that is to become plans.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewBulk {
    /// The topics: texts, or objects with `title` or `goal`, and if you like `description`, `owner`, `metadata`.
    pub topics: Vec<Value>,
    /// Or the text of a list.
    pub list: String,
    /// The name of that list; its ending says how it is read: `.csv`, `.jsonl`, `.json`, and lines of text for all others.
    pub list_name: String,
    /// What people call the run.
    pub title: String,
    /// How a plan is made; `outline` when nothing is said.
    pub template: String,
    /// How much is worked out: fast, balanced or full; fast when nothing is said.
    pub detail: String,
    /// How many levels of tasks are made.
    #[schema(minimum = 1, maximum = 20)]
    pub depth: Option<u32>,
    /// How many tasks a plan gets at most.
    #[schema(minimum = 1, maximum = 10_000)]
    pub budget: Option<u32>,
    /// Which models answer: fast, balanced, quality, or a profile of your own.
    pub profile: Option<String>,
    /// Let only the offline model answer.
    pub offline: bool,
}

/// Which rows of a run.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Rows {
    /// After this many.
    pub after: usize,
    /// How many at most.
    pub limit: Option<usize>,
}

/// Begins a run.
pub async fn begin(
    State(app): State<App>,
    who: Who,
    headers: HeaderMap,
    Said(new): Said<NewBulk>,
) -> Result<Response, Problem> {
    let once = headers.get("idempotency-key").map(|key| key.to_str().unwrap_or_default().trim().to_owned());
    if once.as_ref().is_some_and(|key| key.is_empty() || key.len() > 255) {
        return Err(Problem::wrong("request::key", "`Idempotency-Key` is a text of 1 to 255 characters"));
    }
    let seen = begun(&app, &who, &new, once.as_deref()).await?;
    let url = format!("/api/v1/bulk/{}", seen.wanted.run);
    Ok((StatusCode::ACCEPTED, [(header::LOCATION, url)], Told(seen.json())).into_response())
}

/// Begins a run; the same key with the same request gives the run that it gave first.
pub async fn begun(app: &App, who: &Who, new: &NewBulk, once: Option<&str>) -> Result<Seen, Problem> {
    let name = if new.list_name.trim().is_empty() { "topics.txt" } else { new.list_name.trim() };
    let read = match (new.topics.is_empty(), new.list.trim().is_empty()) {
        (false, true) => topics::read("topics.json", json!(new.topics).to_string().as_bytes()),
        (true, false) => topics::read(name, new.list.as_bytes()),
        _ => return Err(Problem::unfit("bulk::which", "say exactly one of `topics` and `list`, with a topic in it")),
    };
    let topics = read.map_err(|bad| {
        Problem::unfit("bulk::topics", format!("this list of topics cannot be read, and nothing was made: {bad}"))
            .hint("a topic is a line of text, a row with `title` or `goal`, or an object of JSON")
    })?;
    if topics.len() > TOPICS_MAX {
        let detail = format!("the list has {} topics, and a run may have {TOPICS_MAX}", topics.len());
        return Err(Problem::unfit("bulk::too-many", detail).hint("part it, or use `gantry bulk` on the command line"));
    }
    let template = if new.template.trim().is_empty() { OUTLINE } else { new.template.trim() };
    if !app.house.templates()?.iter().any(|one| one.name == template) {
        return Err(runs::no_template(template));
    }
    let detail = match new.detail.trim() {
        "" | "fast" => Detail::Fast,
        "balanced" => Detail::Balanced,
        "full" => Detail::Full,
        _ => return Err(Problem::unfit("plan::detail", "`detail` is fast, balanced or full")),
    };
    let mut settings = Map::new();
    for (name, value, most) in [("depth", new.depth, 20), ("budget", new.budget, 10_000)] {
        let Some(value) = value else { continue };
        if value < 1 || value > most {
            let detail = format!("`{name}` is {value}, and may be 1 to {most}");
            return Err(Problem::unfit("request::out-of-range", detail));
        }
        settings.insert(name.to_owned(), json!(value));
    }
    let asked = NewPlan { profile: new.profile.clone(), offline: new.offline, ..NewPlan::default() };
    let (now, models) = (App::now(), models_of(app, &asked).await?);
    let told = once.map_or_else(|| format!("{} {}", now.as_ms(), json!(topics)), |key| format!("{} {key}", who.name));
    let stamp = jiff::Timestamp::from_millisecond(now.as_ms()).map(|at| at.strftime("%Y%m%d-%H%M%S").to_string());
    let print = &blake3::hash(told.as_bytes()).to_hex()[..10];
    let run = if once.is_some() { print.to_string() } else { format!("{}-{print}", stamp.unwrap_or_default()) };
    let title = if new.title.trim().is_empty() {
        gantry_view::count(topics.len(), "topic")
    } else {
        new.title.trim().to_owned()
    };
    let same = json!([topics, title, template, detail, settings, models]).to_string();
    let wanted = Wanted {
        run,
        asked: blake3::hash(same.as_bytes()).to_hex()[..16].to_owned(),
        title,
        template: template.to_owned(),
        detail,
        settings,
        models,
        by: who.name.clone(),
        today: app.house.today(),
        at: now,
        topics: topics.len(),
        state: runs::State::Running,
        trouble: None,
        ended: None,
    };
    app.runs.begin(app, &wanted, &topics)?;
    app.runs.seen(&wanted.run)
}

/// All runs.
pub async fn list(State(app): State<App>) -> Result<Told<Items>, Problem> {
    let items = app.runs.all()?.iter().map(Seen::json).collect();
    Ok(Told(Items { items }))
}

/// One run with its rows.
pub async fn show(
    State(app): State<App>,
    Named(run): Named<String>,
    Asked(rows): Asked<Rows>,
) -> Result<Told<Value>, Problem> {
    let seen = app.runs.seen(&run)?;
    let mut value = seen.json();
    let limit = rows.limit.unwrap_or(ROWS).clamp(1, ROWS_MAX);
    value["rows"] = json!(seen.rows.iter().skip(rows.after).take(limit).collect::<Vec<_>>());
    let next = rows.after.saturating_add(limit);
    value["next"] = json!((next < seen.rows.len()).then_some(next));
    Ok(Told(value))
}

/// The table of a run, as far as it is.
pub async fn table(State(app): State<App>, Named(run): Named<String>) -> Result<Response, Problem> {
    app.runs.seen(&run)?;
    let text = std::fs::read_to_string(app.runs.table(&run)?).unwrap_or_default();
    let disposition = format!("attachment; filename=\"{run}.csv\"");
    Ok(([(header::CONTENT_TYPE, "text/csv".to_owned()), (header::CONTENT_DISPOSITION, disposition)], text)
        .into_response())
}

/// Stops a run.
pub async fn stop(State(app): State<App>, Named(run): Named<String>) -> Result<Told<Value>, Problem> {
    app.runs.stop(&run)?;
    Ok(Told(app.runs.seen(&run)?.json()))
}

/// Goes on with a run.
pub async fn go_on(State(app): State<App>, Named(run): Named<String>) -> Result<(StatusCode, Told<Value>), Problem> {
    app.runs.go_on(&app, &run)?;
    Ok((StatusCode::ACCEPTED, Told(app.runs.seen(&run)?.json())))
}
