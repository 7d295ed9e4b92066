//! What happened: every entry, whether they are what was written, and the plan as it was after any of them.

use gantry_view::standing::Standing;
use gantry_view::words::said;
use maud::{Markup, html};
use serde_json::Value;

use super::picture::picture;
use super::{Query, tone};
use crate::access::{Role, Who};
use crate::api::{audited, life_at_entry};
use crate::app::App;
use crate::listen::encoded;
use crate::pages::graph::Graph;
use crate::pages::parts::{text, when};
use crate::problem::Problem;

/// How many rows of a journal are shown at once.
const ROWS: usize = 200;

pub async fn journal(app: &App, standing: &Standing, query: &Query, who: &Who) -> Result<Markup, Problem> {
    let (plan, length) = (&standing.card.id, standing.card.length);
    let newest = length.saturating_sub(ROWS as u64);
    let after = query.after.unwrap_or(if query.task.is_some() { 0 } else { newest });
    let entries = gantry_engine::entries_after(app.store(), plan, after).await?;
    let about = |entry: &&gantry_core::event::Entry| {
        query
            .task
            .as_deref()
            .is_none_or(|task| task.is_empty() || entry.event.task().is_some_and(|known| known.as_str() == task))
    };
    let mut rows: Vec<_> = entries.iter().filter(about).take(ROWS + 1).collect();
    let has_more = rows.len() > ROWS;
    rows.truncate(ROWS);
    let filter = query.task.as_deref().filter(|task| !task.is_empty());
    let filter = filter.map(|task| format!("&task={}", encoded(task))).unwrap_or_default();
    let at_page = |after: u64| format!("/p/{plan}/journal?after={after}{filter}");
    let at = query.at.filter(|at| *at >= 1 && *at <= length);
    let then = life_at_entry(app, plan, at).await?;
    let checked = match &query.verify {
        Some(_) => Some(audited(app, plan).await?),
        None => None,
    };
    Ok(html! {
        section.card {
            h2 { "The plan as it was" }
            form {
                label for="at" { "After entry " output #replay-at { (at.unwrap_or(length)) } " of " (length) }
                input #at type="range" name="at" min="1" max=(length) value=(at.unwrap_or(length)) data-replay=(plan) list="none";
                button { "Show" }
            }
            div.replayed { (picture(standing, &Graph::of(&then))) }
            @if who.may(Role::Operator) { form.row method="post" action=(format!("/p/{plan}/do")) { label.beside for="fork-at" { "Another life after entry" } input #fork-at name="at" type="number" min="1" max=(length) value=(at.unwrap_or(length)); button name="do" value="fork" { "Fork" } } }
        }
        div.row.filter {
            form.row { input name="task" placeholder="task" aria-label="Only about this task" value=(query.task.clone().unwrap_or_default()); button { "Filter" } }
            form { button name="verify" value="1" { "Verify the hash chain" } }
            a.button href=(format!("/api/v1/plans/{plan}/journal?limit=1000")) { "As JSON" }
        }
        @if let Some(checked) = &checked {
            @if checked["sound"] == Value::Bool(true) { div.card { span.tone-good { "Sound: " } (checked["length"]) " entries are what was written. Head " code { (text(checked, "head")) } } }
            @else { div.card.problem role="alert" { "Not what was written: " (checked["problems"].to_string()) } }
        }
        div #journal data-live {
            @if after > 0 { p { a href=(at_page(after.saturating_sub(ROWS as u64))) { "Earlier" } } }
            table { tbody { @for entry in &rows { @let words = said(&entry.event);
                tr { td.n.small.soft { (entry.seq) } td.small.soft { (when(entry.at)) } td class=(tone(words.tone)) { (words.line()) } }
            } } }
            @if let Some(last) = rows.last().map(|entry| entry.seq).filter(|_| has_more) { p { a href=(at_page(last)) { "Later" } } }
        }
    })
}
