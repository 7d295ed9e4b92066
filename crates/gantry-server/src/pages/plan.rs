//! One plan: how it stands, its graph, its times, its tasks, and everything on record about it.

mod overview; // in reading order
mod picture;
mod timeline;
mod tasks;
mod task;
mod people;
mod artifacts;
mod revisions;
mod hypotheses;
mod journal;
mod report;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use gantry_core::id::TaskId;
use gantry_core::life::{PlanState, TaskState};
use gantry_core::plan::Undo;
use gantry_view::elapsed::elapsed;
use gantry_view::standing::Standing;
use gantry_view::words::Tone;
use maud::{Markup, html};
use serde::Deserialize;

use super::Shown;
use super::layout::{Page, state};
use crate::access::{Role, Who};
use crate::api::standing;
use crate::app::App;
use crate::body::{Asked, Named};
use crate::live::pump::percent;
use crate::problem::Problem;

/// What can be looked at.
const TABS: [(&str, &str); 10] = [
    ("", "Overview"),
    ("graph", "Graph"),
    ("timeline", "Timeline"),
    ("tasks", "Tasks"),
    ("gates", "Gates"),
    ("artifacts", "Artifacts"),
    ("revisions", "Revisions"),
    ("hypotheses", "Hypotheses"),
    ("journal", "Journal"),
    ("report", "Report"),
];

/// What a tab is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Query {
    /// After which entry.
    pub at: Option<u64>,
    /// From which entry on.
    pub after: Option<u64>,
    /// About which task.
    pub task: Option<String>,
    /// Which revisions.
    pub from: Option<u32>,
    /// To which.
    pub to: Option<u32>,
    /// Whether to check the hashes.
    pub verify: Option<String>,
    /// Whether to look for ways back.
    pub ways: Option<String>,
    /// Which artifact to show, of the task.
    pub name: Option<String>,
    /// Which version of it.
    pub version: Option<u32>,
}

/// The overview.
pub async fn overview(State(app): State<App>, who: Who, Named(plan): Named<String>) -> Shown {
    Shown(drawn(&app, &who, &plan, "", &Query::default()).await)
}

/// One of the tabs.
pub async fn tab(
    State(app): State<App>,
    who: Who,
    Named((plan, tab)): Named<(String, String)>,
    Asked(query): Asked<Query>,
) -> Shown {
    Shown(drawn(&app, &who, &plan, &tab, &query).await)
}

/// One task.
pub async fn task(State(app): State<App>, who: Who, Named((plan, task)): Named<(String, String)>) -> Shown {
    let draw = async {
        let standing = standing(&app, &plan).await?;
        let body = task::task(&app, &standing, &task, &who).await?;
        Ok(framed(&app, &who, &standing, "tasks", body))
    };
    Shown(draw.await)
}

async fn drawn(app: &App, who: &Who, plan: &str, tab: &str, query: &Query) -> Result<Response, Problem> {
    let standing = standing(app, plan).await?;
    let body = match tab {
        "" => overview::overview(app, &standing, who).await?,
        "graph" => picture::graph(&standing),
        "timeline" => timeline::timeline(app, &standing, query, who).await?,
        "tasks" => tasks::tasks(&standing, who),
        "gates" => people::gates(app, &standing, who).await?,
        "artifacts" => artifacts::artifacts(app, &standing, query, who).await?,
        "revisions" => revisions::revisions(app, &standing, query, who).await?,
        "hypotheses" => hypotheses::hypotheses(app, &standing, who).await?,
        "journal" => journal::journal(app, &standing, query, who).await?,
        "report" => report::report(&standing),
        _ => return Err(Problem::missing("server::no-tab", "a plan has no such page")),
    };
    Ok(framed(app, who, &standing, tab, body))
}

/// Where a task is shown.
fn task_url(standing: &Standing, task: &TaskId) -> String {
    format!("/p/{}/tasks/{task}", standing.card.id)
}

/// How a line of what happened is coloured.
fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => "tone-good",
        Tone::Waits => "tone-waits",
        Tone::Bad => "tone-bad",
    }
}

fn framed(app: &App, who: &Who, standing: &Standing, tab: &str, body: Markup) -> Response {
    let (card, id) = (&standing.card, &standing.card.id);
    let body = html! {
        p.small { a href="/" { "Plans" } " / " (card.no) }
        div #head data-live { (head(app, standing, who)) }
        nav.tabs aria-label="About this plan" {
            @for (name, title) in TABS {
                @let url = if name.is_empty() { format!("/p/{id}") } else { format!("/p/{id}/{name}") };
                a href=(url) aria-current=[(name == tab).then_some("page")] { (title) }
            }
        }
        (body)
    };
    let events = format!("/api/v1/plans/{id}/events?after={}", card.length);
    Page::new(&card.card.title).watching(events).draw(Some(who), body).into_response()
}

/// The title and where the plan stands.
fn head(app: &App, standing: &Standing, who: &Who) -> Markup {
    let card = &standing.card;
    let now = card.card.state;
    let (done, total) = standing.progress();
    html! {
        div.row.spread.title {
            h1 { (card.card.title) }
            @if who.may(Role::Operator) { (steering(standing)) }
        }
        div.row.meta {
            (state(&now.to_string()))
            progress max="100" value=(percent(card)) aria-label="Done" {}
            span { (done) " of " (total) " done" }
            @if let Some(length) = standing.elapsed() { span.soft { (elapsed(length)) } }
            span.soft { "$" (card.card.used.cost_usd) @if let Some(max) = card.card.budget.cost_usd { " of $" (max) } }
            span.soft.small { (card.id) ", revision " (card.card.revision) }
        }
        @if let Some(trouble) = app.foreman.trouble(&card.id) { div.card.problem role="alert" { "This server cannot go on with it: " (trouble) } }
    }
}

/// What one can do with the plan as a whole.
fn steering(standing: &Standing) -> Markup {
    let (now, action) = (standing.card.card.state, format!("/p/{}/do", standing.card.id));
    html! {
        form.row method="post" action=(action) {
            @if matches!(now, PlanState::Pending | PlanState::Paused) || (!now.is_over() && !standing.driven) {
                button.main name="do" value="start" { @if now == PlanState::Pending { "Start" } @else { "Go on" } }
            }
            @if matches!(now, PlanState::Running | PlanState::Blocked) { button name="do" value="pause" { "Pause" } }
            @if !now.is_over() { button.bad name="do" value="cancel" data-confirm="Give up this plan, for good?" { "Cancel" } }
            @if now.is_over() && can_be_undone(standing) { button.bad name="do" value="undo" data-confirm="Take back everything that it did, the last thing first?" { "Take back what it did" } }
        }
    }
}

/// Tells whether anything was done that knows its way back.
fn can_be_undone(standing: &Standing) -> bool {
    let life = &standing.life;
    life.task_ids().iter().any(|id| {
        life.task_state(id.as_str()) == Some(TaskState::Completed)
            && life.definition(id.as_str()).is_some_and(|task| matches!(task.undo, Undo::Restore | Undo::Action(_)))
    })
}
