//! What tasks made: a list, each to be looked at by its kind and beside the version before, and the working folder.

use gantry_core::id::PlanId;
use gantry_engine::points;
use gantry_view::parts::{Shown, folded};
use gantry_view::standing::Standing;
use maud::{Markup, html};
use serde_json::Value;

use super::Query;
use crate::access::{Role, Who};
use crate::api::{ArtifactContent, artifact_found};
use crate::app::App;
use crate::listen::encoded;
use crate::pages::gates::side_by_side;
use crate::pages::parts::{text, when, when_told};
use crate::problem::Problem;

/// How much of a text is shown, and how many rows and columns of a table.
const SHOWN_BYTES_MAX: usize = 64 << 10;
const ROWS_MAX: usize = 200;
const COLUMNS_MAX: usize = 20;

pub async fn artifacts(app: &App, standing: &Standing, query: &Query, who: &Who) -> Result<Markup, Problem> {
    let plan = &standing.card.id;
    let all = gantry_store::all_artifacts(app.store(), plan).await?;
    let shown: Vec<Value> = folded(&all).iter().rev().map(Shown::to_json).collect();
    let looked = match (&query.task, &query.name) {
        (Some(task), Some(name)) => Some(look(app, plan, task, name, query.version).await?),
        _ => None,
    };
    Ok(html! {
        @if let Some(looked) = looked { (looked) }
        div #artifacts data-live { (rows(standing, &shown)) }
        (working_folder(app, standing, who).await?)
    })
}

/// One artifact: what is in it, its versions, and what the version before had otherwise.
async fn look(app: &App, plan: &PlanId, task: &str, name: &str, version: Option<u32>) -> Result<Markup, Problem> {
    let found = artifact_found(app, plan, task, name, version).await?;
    let newest = artifact_found(app, plan, task, name, None).await?.row.version;
    let version = found.row.version;
    let before = match version.checked_sub(1).filter(|before| *before > 0) {
        Some(before) => artifact_found(app, plan, task, name, Some(before)).await.ok(),
        None => None,
    };
    let page = |version: u32| {
        format!("/p/{plan}/artifacts?task={}&name={}&version={version}#look", encoded(task), encoded(name))
    };
    let raw = format!(
        "/api/v1/plans/{plan}/artifacts/{}/{}?version={version}",
        encoded(task),
        encoded(name).replace('/', "%2F")
    );
    Ok(html! {
        section.card #look {
            div.row.spread {
                h2 { (name) " " span.small.soft { "version " (version) " of " (newest) ", by " a href=(format!("/p/{plan}/tasks/{}", encoded(task))) { (task) } ", " (gantry_view::bytes(found.row.artifact.bytes)) ", " (found.media) } }
                div.row {
                    @if version > 1 { a.button href=(page(version - 1)) { "Older" } }
                    @if version < newest { a.button href=(page(version + 1)) { "Newer" } }
                    a.button href=(raw) { "Download" } a.button href=(format!("/p/{plan}/artifacts")) { "Close" }
                }
            }
            (preview(&found, &raw))
            p.small.soft { "hash " code { (found.row.artifact.hash) } }
            @if let Some((old, new)) = before.as_ref().and_then(|before| Some((shown_text(before)?, shown_text(&found)?))) {
                @if old == new { p.soft { "The version before was the same." } }
                @else {
                    h3 { "What the version before had otherwise" }
                    (side_by_side(&old, &new, &format!("Version {}", version - 1), &format!("Version {version}")))
                }
            }
        }
    })
}

/// A text that is short enough to be shown as a whole.
fn shown_text(found: &ArtifactContent) -> Option<String> {
    let is_text = found.media.starts_with("text/")
        || matches!(found.media, "application/json" | "application/yaml" | "application/xml");
    let text = std::str::from_utf8(&found.bytes).ok().filter(|text| is_text && text.len() <= SHOWN_BYTES_MAX)?;
    Some(text.to_owned())
}

/// What is in an artifact, by what it is.
fn preview(found: &ArtifactContent, raw: &str) -> Markup {
    if found.bytes.is_empty() {
        return html! { p.soft { "It is empty." } };
    }
    if found.media.starts_with("image/") && found.media != "image/svg+xml" {
        return html! { img.shown src=(format!("{raw}&inline=true")) alt=(found.row.artifact.name); };
    }
    match (shown_text(found), found.media) {
        (None, _) => html! { p.soft { "It is too long, or no text; download it to look at it." } },
        (Some(text), "application/json") => {
            let pretty = serde_json::from_str::<Value>(&text).map_or(text, |value| format!("{value:#}"));
            html! { pre.whole { (pretty) } }
        }
        (Some(text), "text/csv") => table(&text),
        (Some(text), _) => html! { pre.whole { (text) } },
    }
}

/// Values with commas between them, as a table.
fn table(text: &str) -> Markup {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().take(ROWS_MAX + 1).filter_map(Result::ok).collect();
    html! {
        div.wide tabindex="0" role="region" aria-label="Table" { table {
            @for (at, row) in rows.iter().take(ROWS_MAX).enumerate() { tr { @for cell in row.iter().take(COLUMNS_MAX) { @if at == 0 { th { (cell) } } @else { td { (cell) } } } } }
        } }
        @if rows.len() > ROWS_MAX { p.soft { "and more rows" } }
    }
}

/// The checkpoints of the working folder, and the way back to each.
async fn working_folder(app: &App, standing: &Standing, who: &Who) -> Result<Markup, Problem> {
    let points = points(app.store(), &standing.life).await?;
    let action = format!("/p/{}/do", standing.card.id);
    Ok(html! {
        @if !points.is_empty() {
            h2 { "Checkpoints of the working folder" }
            p.soft { "The folder can be brought back byte for byte while the plan is paused or over; how it is now is kept first." }
            @for point in points.iter().rev() {
                form.card.row method="post" action=(action) {
                    b { (point.name) } span.small.soft { (point.row.artifact.task) ", " (when(point.row.artifact.at)) }
                    input type="hidden" name="to" value=(point.row.artifact.hash);
                    @if who.may(Role::Operator) { button name="do" value="restore" data-confirm=(format!("Bring the folder back to {}?", point.name)) { "Bring it back" } }
                }
            }
        }
    })
}

/// Artifacts as rows.
pub fn rows(standing: &Standing, rows: &[Value]) -> Markup {
    if rows.is_empty() {
        return html! { p.soft { "Nothing yet." } };
    }
    html! { div.wide { table.cards { thead { tr { th { "Name" } th { "Task" } th.n { "Size" } th { "Made" } th { } } } tbody { @for row in rows {
        @let url = format!("/api/v1/plans/{}/artifacts/{}/{}", standing.card.id, encoded(text(row, "task")), encoded(text(row, "name")).replace('/', "%2F"));
        tr {
            td.main { (text(row, "name")) @if !row["version"].is_null() { span.small.soft { " version " (row["version"]) } } }
            td { a href=(format!("/p/{}/tasks/{}", standing.card.id, encoded(text(row, "task")))) { (text(row, "task")) } } td.n { (gantry_view::bytes(row["bytes"].as_u64().unwrap_or(0))) } td.small.soft { (when_told(row, "at")) " by " (text(row, "made_by")) }
            td.links { @if !row["version"].is_null() { a href=(format!("/p/{}/artifacts?task={}&name={}&version={}#look", standing.card.id, encoded(text(row, "task")), encoded(text(row, "name")), row["version"])) { "Look" } a href=(format!("{url}?version={}", row["version"])) { "Download" } } }
        }
    } } } } }
}
