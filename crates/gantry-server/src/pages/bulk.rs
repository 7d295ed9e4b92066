//! Many plans from a list of topics: the form, a run with its rows as they come, and plans side by side.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use gantry_many::results::{Row, Status};
use gantry_many::score::{Score, score};
use gantry_planner::template::OUTLINE;
use gantry_schedule::Moment;
use maud::{Markup, html};
use serde::Deserialize;

use super::Shown;
use super::layout::{Page, empty, state};
use super::parts::{moment, when};
use crate::access::{Role, Who};
use crate::api::{NewBulk, begun, computed};
use crate::app::App;
use crate::body::{Asked, Named};
use crate::form::Fields;
use crate::listen::encoded;
use crate::problem::Problem;
use crate::runs::{Seen, State as Standing};

/// How many rows a page has.
const ROWS: usize = 100;
/// How many plans stand side by side at most.
const BESIDE_MAX: usize = 6;
/// How many seconds are told as such.
const SECONDS_MAX: f64 = 90.0;

/// The form, and all runs.
pub async fn all(State(app): State<App>, who: Who) -> Shown {
    Shown(draw_all(&app).map(|markup| {
        Page::new("Many plans").at("/bulk").watching("/api/v1/events").draw(Some(&who), markup).into_response()
    }))
}

fn draw_all(app: &App) -> Result<Markup, Problem> {
    let (templates, (profiles, usual)) = (app.house.templates()?, app.house.profiles()?);
    let runs = app.runs.all()?;
    let details = [("fast", "Fast"), ("balanced", "Balanced"), ("full", "Everything")];
    Ok(html! {
        h1 { "Many plans" }
        p.soft { "Each topic of a list becomes a plan, exactly once, whatever happens meanwhile." }
        section.card aria-labelledby="new-run" {
            h2 #new-run { "From a list of topics" }
            form method="post" action="/bulk" enctype="multipart/form-data" {
                label for="upload" { "Choose a list, or write below" }
                input.full #upload type="file" name="upload" accept=".txt,.csv,.json,.jsonl,.ndjson,text/plain,text/csv,application/json";
                div.small.soft { "Lines of text; a table with a column title or goal; or JSON." }
                label for="topics" { "A topic on each line" }
                textarea #topics name="topics" placeholder="Build a garden shed\nOrganise a street party" {}
                div.fields {
                    div { label for="template" { "Template" } select #template name="template" { @for one in &templates { option value=(one.name) selected[one.name == OUTLINE] { (one.name) } } } }
                    div { label for="detail" { "Detail" } select #detail name="detail" { @for (value, name) in details { option value=(value) { (name) } } } }
                    div { label for="depth" { "Levels of an outline" } input #depth type="number" name="depth" min="1" max="20" placeholder="2"; }
                    div { label for="budget" { "Tasks at most" } input #budget type="number" name="budget" min="1" max="10000" placeholder="50"; }
                    div { label for="profile" { "Models" } select #profile name="profile" {
                        option value="" { "as configured (" (usual) ")" }
                        @for one in &profiles { option value=(one) { (one) } }
                    } }
                    div { label for="name" { "Name of the run" } input #name name="title" maxlength="120" placeholder="Spring list"; }
                }
                p { label.beside { input type="checkbox" name="offline" value="1"; " Ask no model: let the offline model answer" } }
                button.main { "Make the plans" }
            }
        }
        h2 { "Runs" }
        div #runs data-live {
            @if runs.is_empty() { (empty("There are no runs yet.", html! {})) }
            @else { div.wide { table.cards data-poll[runs.iter().any(|run| run.wanted.state == Standing::Running)] {
                thead { tr { th { "Run" } th { "State" } th { "Progress" } th { "Failed" } th { "Rate" } th { "Begun" } } }
                tbody { @for run in &runs { tr {
                    td.main { a href=(format!("/bulk/{}", run.wanted.run)) { (run.wanted.title) } div.small.soft { (run.wanted.template) " · " (run.wanted.by) } }
                    td { (state(run.wanted.state.word())) }
                    td.bar data-label="Progress" { (bar(run)) " " (run.done) " of " (run.wanted.topics) }
                    td.n data-label="Failed" { (run.failed) }
                    td.small data-label="Rate" { (pace(run)) }
                    td.small.soft { (when(run.wanted.at)) }
                } } }
            } } }
        }
    })
}

/// How far a run is, as a picture.
fn bar(run: &Seen) -> Markup {
    html! { progress max=(run.wanted.topics) value=(run.done) aria-label="Done" {} }
}

/// How fast a run goes, and how long it will take.
fn pace(run: &Seen) -> Markup {
    html! {
        @if run.wanted.state == Standing::Running {
            @if let (Some(rate), Some(left)) = (run.per_s, run.left_s()) {
                (format!("{rate:.1} a second")) @if left > 0.0 { ", " (about(left)) " left" }
            } @else { "begins" }
        }
    }
}

fn about(seconds: f64) -> String {
    if seconds < SECONDS_MAX {
        format!("about {:.0} s", seconds.ceil())
    } else {
        format!("about {:.0} min", (seconds / 60.0).ceil())
    }
}

/// Begins a run.
pub async fn begin(State(app): State<App>, who: Who, fields: Fields) -> Shown {
    Shown(begun_by(&app, &who, &fields).await)
}

async fn begun_by(app: &App, who: &Who, fields: &Fields) -> Result<Response, Problem> {
    allowed(who)?;
    let number = |name: &str| match fields.get(name).trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            Problem::unfit(
                "request::out-of-range",
                format!("`{name}` is `{}`, and is to be a number", gantry_view::named(text)),
            )
        }),
    };
    let said = |name: &str| fields.get(name).trim().to_owned();
    let upload = fields.files("upload").next();
    if upload.is_some() && !said("topics").is_empty() {
        let detail = "a list was chosen, and topics are written below it";
        return Err(Problem::unfit("bulk::which", detail).hint("go back and leave one of them away"));
    }
    let list = match upload {
        Some(file) => String::from_utf8(file.bytes.clone())
            .map_err(|_| Problem::unfit("bulk::topics", "the list is no text in UTF-8"))?,
        None => fields.get("topics").to_owned(),
    };
    let new = NewBulk {
        list,
        list_name: upload.map(|file| file.name.clone()).unwrap_or_default(),
        title: said("title"),
        template: said("template"),
        detail: said("detail"),
        depth: number("depth")?,
        budget: number("budget")?,
        profile: Some(said("profile")),
        offline: !said("offline").is_empty(),
        ..NewBulk::default()
    };
    let seen = begun(app, who, &new, None).await?;
    Ok(Redirect::to(&format!("/bulk/{}", seen.wanted.run)).into_response())
}

fn allowed(who: &Who) -> Result<(), Problem> {
    if who.role < Role::Operator { Err(super::act::not_allowed(who, Role::Operator)) } else { Ok(()) }
}

/// Which rows are shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Shows {
    /// After this many.
    after: usize,
    /// Only what came to nothing.
    failed: bool,
}

/// A run.
pub async fn run(State(app): State<App>, who: Who, Named(run): Named<String>, Asked(shows): Asked<Shows>) -> Shown {
    Shown(app.runs.seen(&run).map(|seen| {
        let title = format!("Run {}", seen.wanted.title);
        let page = Page::new(&title).at("/bulk").watching("/api/v1/events");
        page.draw(Some(&who), draw_run(&who, &seen, &shows)).into_response()
    }))
}

fn draw_run(who: &Who, seen: &Seen, shows: &Shows) -> Markup {
    let wanted = &seen.wanted;
    let chosen: Vec<&Row> = seen.rows.iter().filter(|row| !shows.failed || row.status == Status::Failed).collect();
    let rows: Vec<&&Row> = chosen.iter().skip(shows.after).take(ROWS).collect();
    let next = shows.after.saturating_add(ROWS);
    let at = |after: usize, failed: bool| format!("/bulk/{}?after={after}&failed={failed}", encoded(&wanted.run));
    let label = gantry_many::direct::label(&wanted.run);
    html! {
        div.row.spread.title {
            div { h1 { (wanted.title) } p.soft.small { (wanted.template) " · " (wanted.by) " · " (when(wanted.at)) " · " a href=(format!("/?label={}", encoded(&label))) { "all its plans" } " · " a href=(format!("/api/v1/bulk/{}/table", encoded(&wanted.run))) { "the table (CSV)" } } }
            div #actions data-live { @if who.role >= Role::Operator {
                form.row method="post" action=(format!("/bulk/{}", encoded(&wanted.run))) {
                    @if wanted.state == Standing::Running { button name="do" value="stop" { "Stop" } }
                    @else if wanted.state == Standing::Stopped { button.main name="do" value="go-on" { "Go on" } }
                    @else if seen.failed > 0 { button.main name="do" value="go-on" { "Try the failed ones again" } }
                }
            } }
        }
        div #standing data-live {
            div.grid data-poll[wanted.state == Standing::Running] {
                div.card.figure { "State" b { (state(wanted.state.word())) } span.small.soft { (pace(seen)) } }
                div.card.figure { "Done" b { (seen.done) " of " (wanted.topics) } span.small.soft { (bar(seen)) } }
                div.card.figure { "Failed" b { (seen.failed) } @if seen.failed > 0 { span.small { a href=(at(0, !shows.failed)) { @if shows.failed { "show all" } @else { "show only these" } } } } }
                div.card.figure { "Score" b { (mean_score(&seen.rows)) } span.small.soft { "the mean of all plans, of 100" } }
            }
            @if let Some(trouble) = &wanted.trouble { div.card.problem role="alert" { p { "It cannot go on: " (trouble) } } }
        }
        form method="get" action="/bulk/beside" {
            div #rows data-live {
                @if rows.is_empty() { (empty("No topic is done yet.", html! {})) }
                @else { div.wide { table.cards {
                    thead { tr { th { span.small { "Compare" } } th { "Topic" } th { "State" } th { "Plan" } th { "Tasks" } th { "Score" } th { "Took" } } }
                    tbody { @for row in &rows { (drawn(row)) } }
                } } }
                p.row {
                    @if shows.after > 0 { a.button href=(at(shows.after.saturating_sub(ROWS), shows.failed)) { "Rows before" } }
                    @if next < chosen.len() { a.button href=(at(next, shows.failed)) { "More rows" } }
                }
            }
            p { button { "Compare the chosen plans" } " " span.small.soft { "up to " (BESIDE_MAX) ", side by side" } }
        }
    }
}

fn drawn(row: &Row) -> Markup {
    let failed = row.status == Status::Failed;
    html! { tr {
        td { @if !row.plan.is_empty() { input type="checkbox" name="plan" value=(row.plan_id) aria-label=(format!("Compare plan {}", row.plan_id)); } }
        td.main.all { @if row.plan.is_empty() { (row.topic) } @else { a href=(format!("/p/{}", row.plan)) { (row.topic) } } @if failed { div.small.tone-bad { (row.error) } } @if !row.degraded.is_empty() { div.small.soft { "Degraded: " (row.degraded) } } }
        td { (state(if failed { "failed" } else { "completed" })) }
        td.n data-label="Plan" { (row.plan_id) }
        td.n data-label="Tasks" { @if let Some(tasks) = row.tasks { (tasks) } }
        td.n data-label="Score" { @if let Some(score) = row.score { (score) } }
        td.n.small.soft data-label="Took" { (row.ms) " ms" }
    } }
}

fn mean_score(rows: &[Row]) -> String {
    let scores: Vec<u32> = rows.iter().filter_map(|row| row.score).collect();
    let count = u32::try_from(scores.len()).unwrap_or(u32::MAX);
    scores.iter().sum::<u32>().checked_div(count).map_or_else(|| "–".to_owned(), |mean| mean.to_string())
}

/// What is done with a run.
pub async fn act(State(app): State<App>, who: Who, Named(run): Named<String>, fields: Fields) -> Shown {
    let done = || {
        allowed(&who)?;
        match fields.get("do") {
            "stop" => app.runs.stop(&run)?,
            "go-on" => app.runs.go_on(&app, &run)?,
            _ => return Err(Problem::unfit("request::form", "say `stop` or `go-on`")),
        }
        Ok(Redirect::to(&format!("/bulk/{}", encoded(&run))).into_response())
    };
    Shown(done())
}

/// One plan as it stands beside others.
struct Column {
    id: String,
    no: u64,
    title: String,
    score: Score,
    /// When it starts and ends, and what it costs; or why that cannot be told.
    figures: Result<(Moment, Moment, String), String>,
}

/// Plans side by side: each is named by a `plan` of the query.
pub async fn beside(State(app): State<App>, who: Who, Asked(asked): Asked<Vec<(String, String)>>) -> Shown {
    let chosen: Vec<String> = asked.into_iter().filter(|(name, _)| name == "plan").map(|(_, plan)| plan).collect();
    Shown(
        draw_beside(&app, &chosen)
            .await
            .map(|markup| Page::new("Plans side by side").at("/bulk").draw(Some(&who), markup).into_response()),
    )
}

async fn draw_beside(app: &App, chosen: &[String]) -> Result<Markup, Problem> {
    if chosen.is_empty() {
        return Err(Problem::unfit("bulk::nothing-chosen", "no plan is chosen").hint("go back and tick some plans"));
    }
    if chosen.len() > BESIDE_MAX {
        let detail = format!("{} plans are chosen, and {BESIDE_MAX} fit side by side", chosen.len());
        return Err(Problem::unfit("bulk::too-many-chosen", detail));
    }
    let mut columns = Vec::new();
    for reference in chosen {
        let card = app.plan(reference).await?;
        let life = app.engine().open(&card.id).await?.life;
        let work = life.proposed().work();
        let score = score(&work);
        let figures = match computed(app, &life).await {
            // Without an estimate everything would be done at once.
            Ok(_) if score.measures.estimate_cov <= 0.0 => Err("no estimates".to_owned()),
            Ok((_, schedule)) => Ok((
                schedule.start,
                schedule.finish,
                format!("{} {}", schedule.cost.total.normalize(), schedule.cost.currency),
            )),
            Err(problem) => Err(problem.detail),
        };
        columns.push(Column { id: card.id.to_string(), no: card.no.0, title: card.card.title, score, figures });
    }
    let names: Vec<&str> =
        columns.first().map(|one| one.score.dimensions.all().map(|(name, _)| name).to_vec()).unwrap_or_default();
    Ok(html! {
        h1 { "Plans side by side" }
        div.wide { table {
            thead { tr { th {} @for one in &columns { th { a href=(format!("/p/{}", one.id)) { (one.no) } } } } }
            tbody {
                tr { th scope="row" { "Title" } @for one in &columns { td { (one.title) } } }
                tr { th scope="row" { "Tasks" } @for one in &columns { td { (one.score.measures.tasks) } } }
                tr { th scope="row" { "Levels" } @for one in &columns { td { (one.score.measures.depth_max + 1) } } }
                tr { th scope="row" { "Starts" } @for one in &columns { td { (told(&one.figures, |(start, _, _)| html! { (moment(*start)) })) } } }
                tr { th scope="row" { "Done" } @for one in &columns { td { (told(&one.figures, |(_, finish, _)| html! { (moment(*finish)) })) } } }
                tr { th scope="row" { "Cost" } @for one in &columns { td { (told(&one.figures, |(_, _, cost)| html! { (cost) })) } } }
                tr { th scope="row" { "Score" } @for one in &columns { td { b { (one.score.score) } " of 100" } } }
                @for (at, name) in names.iter().enumerate() {
                    tr { th scope="row" { (name) } @for one in &columns { td { @match one.score.dimensions.all()[at].1 { Some(figure) => (format!("{:.0}", figure * 100.0)), None => "–" } } } }
                }
            }
        } }
        p.small.soft { "Scores are counted, not judged: how a plan is made, not whether it is right." }
    })
}

fn told(
    figures: &Result<(Moment, Moment, String), String>,
    show: impl Fn(&(Moment, Moment, String)) -> Markup,
) -> Markup {
    match figures {
        Ok(figures) => show(figures),
        Err(why) => html! { span.small.soft { (why) } },
    }
}
