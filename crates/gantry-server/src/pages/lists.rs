//! Plans, and the inbox.

use axum::extract::State;
use axum::response::IntoResponse as _;
use gantry_core::time::Timestamp;
use gantry_view::elapsed::ago;
use gantry_view::forecast::Forecast;
use maud::{Markup, html};

use super::gates::gate_form;
use super::layout::{Page, empty, state};
use super::parts::{date, day, text};
use super::wanted::wanted_form;
use super::{Shown, parts};
use crate::access::{Role, Who};
use crate::api::{every_ask, every_gate, every_wanted, page};
use crate::app::App;
use crate::body::Asked;
use crate::listen::encoded;
use crate::live::pump::percent;
use crate::problem::Problem;
use crate::shapes::ListQuery;

const STATES: [&str; 7] = ["pending", "running", "paused", "blocked", "completed", "failed", "abandoned"];

/// All plans.
pub async fn plans(State(app): State<App>, who: Who, Asked(query): Asked<ListQuery>) -> Shown {
    Shown(
        draw_plans(&app, &who, &query).await.map(|markup| {
            Page::new("Plans").at("/").watching("/api/v1/events").draw(Some(&who), markup).into_response()
        }),
    )
}

async fn draw_plans(app: &App, who: &Who, query: &ListQuery) -> Result<Markup, Problem> {
    let (cards, next) = page(app, query).await?;
    let now = App::now();
    let mut rows = Vec::new();
    for card in &cards {
        let forecast = Forecast::read(app.store(), card, now).await?;
        let driven = app.is_driven(card).await?;
        rows.push((card, forecast, driven));
    }
    let chosen = query.state.clone().unwrap_or_default();
    let said = [&query.text, &query.label, &query.owner, &query.state].map(|field| field.clone().unwrap_or_default());
    let filtered = said.iter().any(|field| !field.is_empty());
    let [text, label, owner, _] = &said;
    Ok(html! {
        div.row.spread { h1 { "Plans" } @if who.may(Role::Operator) { a.button.main href="/new" { "New plan" } } }
        form.row.filter role="search" {
            input type="search" name="text" placeholder="Title or id" aria-label="Search plans" value=(text);
            input name="label" placeholder="Label" aria-label="Label" size="10" value=(label);
            input name="owner" list="me" placeholder="Owner" aria-label="Owner" size="10" value=(owner);
            datalist #me { option value=(who.name) {} }
            select name="state" aria-label="State" {
                option value="" { "Any state" }
                @for name in STATES { option value=(name) selected[chosen == name] { (name) } }
            }
            button { "Filter" }
        }
        div #plans data-live {
            @if rows.is_empty() && filtered { (empty("No plan fits.", html! { a href="/" { "Show all" } })) }
            @else if rows.is_empty() {
                (empty("There are no plans yet.", html! { p { a.button.main href="/new" { "Make the first one" } } }))
            } @else {
                div.wide { table.cards {
                    thead { tr { th.n { "No" } th { "Plan" } th { "State" } th { "Progress" } th { "Forecast" } th.n { "Cost" } th { "Waits for" } th { "Changed" } } }
                    tbody {
                        @for (card, forecast, driven) in &rows {
                            tr id=(format!("plan-{}", card.id)) {
                                td.n { (card.no) }
                                td.main { a href=(format!("/p/{}", card.id)) { (card.card.title) } div.small.soft { (card.id) @if let Some(owner) = &card.card.owner { " · " (owner) } @for label in &card.card.labels { " · " (label) } } }
                                td { (state(&card.card.state.to_string())) @if *driven && !card.card.state.is_over() { div.small.soft { "worked on" } } }
                                td.bar { progress max="100" value=(percent(card)) aria-label="Done" {} " " (percent(card)) "%" }
                                td.small data-label="Forecast" { @if let Some(forecast) = forecast { (foreseen(forecast, now)) } }
                                td.n data-label="Cost" { "$" (card.card.used.cost_usd) }
                                td.small.all data-label="Waits for" { @for line in card.card.waiting.iter().take(3) { div { @if let Some(task) = &line.task { (task) ": " } (line.what) } } }
                                td.small.soft { (ago(card.updated_at, now)) }
                            }
                        }
                    }
                } }
                @if let Some(next) = next { p { a.button href=(older(next, &said)) { "Older plans" } } }
            }
        }
    })
}

/// The way to older plans among those that were asked for.
fn older(next: u64, said: &[String; 4]) -> String {
    let fields = ["text", "label", "owner", "state"].iter().zip(said).filter(|(_, value)| !value.is_empty());
    let fields: Vec<String> = fields.map(|(name, value)| format!("&{name}={}", encoded(value))).collect();
    format!("/?cursor={next}{}", fields.concat())
}

/// When a plan will be done: how long from now while that can be pictured, and the day otherwise.
fn foreseen(forecast: &Forecast, now: Timestamp) -> Markup {
    let soon = (forecast.expected() - now).as_ms() < 14 * 86_400_000;
    html! {
        @if soon { (forecast.brief(now)) } @else { "done about " (day(forecast.expected())) }
        @if let Some(due) = forecast.due.filter(|_| !soon && forecast.late_by().is_some()) { span.tone-bad { ", due " (date(due)) } }
    }
}

/// Every gate and question across plans.
pub async fn inbox(State(app): State<App>, who: Who) -> Shown {
    Shown(draw_inbox(&app, &who).await.map(|markup| {
        Page::new("Inbox").at("/inbox").watching("/api/v1/events").draw(Some(&who), markup).into_response()
    }))
}

async fn draw_inbox(app: &App, who: &Who) -> Result<Markup, Problem> {
    let (gates, asks, wanted) = (every_gate(app).await?, every_ask(app).await?, every_wanted(app).await?);
    let told = gates.iter().chain(&asks).map(|one| text(one, "plan"));
    let plans = titles(app, told.chain(wanted.iter().map(|(plan, _)| plan.as_str()))).await?;
    Ok(html! {
        h1 { "Inbox" }
        p.soft { "Everything that waits for a person, of all plans." }
        div.narrow #inbox data-live {
            @if plans.is_empty() { (empty("Nobody is asked for anything.", html! { a href="/" { "All plans" } })) }
            @for (plan, title) in &plans {
                h2 id=(format!("plan-{plan}")) { a href=(format!("/p/{plan}")) { (title) } }
                @for gate in gates.iter().filter(|gate| text(gate, "plan") == plan) { (gate_form(gate, "/inbox", who)) }
                @for ask in asks.iter().filter(|ask| text(ask, "plan") == plan) { (parts::ask_form(ask, "/inbox", who)) }
                @for (of, one) in wanted.iter().filter(|(of, _)| of.as_str() == plan) { (wanted_form(of, one, "/inbox", who)) }
            }
        }
    })
}

/// The plans that these are about, each once, in their order.
async fn titles<'a>(app: &App, about: impl Iterator<Item = &'a str>) -> Result<Vec<(String, String)>, Problem> {
    let mut plans: Vec<(String, String)> = Vec::new();
    for plan in about {
        if !plans.iter().any(|(known, _)| known == plan) {
            plans.push((plan.to_owned(), app.plan(plan).await?.card.title));
        }
    }
    Ok(plans)
}
