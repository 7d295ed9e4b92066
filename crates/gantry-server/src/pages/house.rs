//! Templates, models and cost, settings, signing in.

use axum::extract::State;
use axum::response::{Html, IntoResponse as _};
use maud::{Markup, html};
use serde::Deserialize;

use super::Shown;
use super::layout::{Page, empty};
use super::parts::{text, texts};
use crate::access::{Role, Who};
use crate::api::{spent, templates};
use crate::app::App;
use crate::body::{Asked, Named};
use crate::listen::encoded;
use crate::problem::Problem;

/// All templates.
pub async fn all_templates(State(app): State<App>, who: Who) -> Shown {
    let draw = || -> Result<Markup, Problem> {
        let all = app.house.templates()?;
        Ok(html! {
            h1 { "Templates" }
            p.soft { "The steps, questions and words of planning are files. Copy one and make it yours." }
            @for one in &all {
                section.card {
                    div.row.spread { h2 { a href=(format!("/templates/{}", encoded(&one.name))) { (one.name) } } a.button href=(format!("/new?template={}", encoded(&one.name))) { "Plan with it" } }
                    p { (one.about()) }
                    p.small.soft { "from " (one.from) ", " (one.files().count()) " files" }
                    @let sections = one.sections().unwrap_or_default();
                    @if !sections.is_empty() { p.small { "Sections: " (sections.join(", ")) } }
                }
            }
        })
    };
    Shown(draw().map(|markup| Page::new("Templates").at("/templates").draw(Some(&who), markup).into_response()))
}

/// What is asked about a template.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Look {
    /// Whether it holds together: every way to leave parts of it out is tried.
    check: Option<String>,
}

/// One template: its files, whether it holds together, and a way to make it one's own.
pub async fn template(State(app): State<App>, who: Who, Named(name): Named<String>, Asked(look): Asked<Look>) -> Shown {
    let draw = async {
        let found = templates::found(&app, &name)?;
        let faults = match look.check {
            Some(_) => Some(templates::faults(&app, &found).await?),
            None => None,
        };
        let body = html! {
            p.small { a href="/templates" { "Templates" } }
            div.row.spread { h1 { (found.name) } a.button.main href=(format!("/new?template={}", encoded(&found.name))) { "Plan with it" } }
            p { (found.about()) } p.small.soft { "from " (found.from) }
            @match &faults {
                None => form { button name="check" value="1" { "Does it hold together?" } },
                Some(faults) if faults.is_empty() => p.tone-good { "It holds together." },
                Some(faults) => div.card.problem { b { "What is wrong with it" } ul { @for fault in faults { li { (fault) } } } },
            }
            @if who.may(Role::Operator) { form.card.row method="post" action=(format!("/templates/{}", encoded(&found.name))) {
                label.beside for="copy" { "Copy it into the project as" } input #copy name="name" required placeholder="our-plan" pattern="[A-Za-z0-9_\\-]+"; button { "Copy it" }
            } }
            h2 { "Files" }
            @for (at, (path, text)) in found.files().enumerate() { details.card id=(format!("file-{at}")) { summary { (path) } pre.whole { (text) } } }
        };
        Ok(Page::new(&found.name).at("/templates").draw(Some(&who), body).into_response())
    };
    Shown(draw.await)
}

/// Which models answer, and what was spent.
pub async fn models(State(app): State<App>, who: Who) -> Shown {
    Shown(
        draw_models(&app)
            .await
            .map(|markup| Page::new("Models and cost").at("/models").draw(Some(&who), markup).into_response()),
    )
}

async fn draw_models(app: &App) -> Result<Markup, Problem> {
    let (models, cost) = (app.house.models().await?, spent(app).await?);
    let items = |key: &str| cost[key].as_array().cloned().unwrap_or_default();
    Ok(html! {
        h1 { "Models and cost" }
        div.grid {
            div.card.figure { "Spent in all" b { (money(&cost["total_usd"])) } }
            div.card.figure { "Plans that asked models" b { (items("by_plan").len()) } }
            div.card.figure { "Models asked" b { (items("by_model").len()) } }
        }
        @if items("by_model").is_empty() { (empty("No model was asked yet.", html! { p { "What is spent will stand here by model, by day and by plan." } })) }
        @else { h2 { "By model" }  div.wide { table { thead { tr { th { "Model" } th.n { "Calls" } th.n { "Tokens" } th.n { "Cost" } } }
            tbody { @for one in items("by_model") { tr { td { (text(&one, "model")) } td.n { (one["calls"]) } td.n { (one["tokens"]) } td.n { (money(&one["cost_usd"])) } } } } } } }
        @if !items("by_day").is_empty() {
            @let most = items("by_day").iter().map(|one| dollars(&one["cost_usd"])).fold(0.0, f64::max);
            h2 { "By day" }
            table { tbody { @for one in items("by_day") { tr { td.day { (text(&one, "day")) } td.share { progress max=(most.max(0.000_001)) value=(dollars(&one["cost_usd"])) aria-label=(format!("Spent on {}", text(&one, "day"))) {} } td.n { (money(&one["cost_usd"])) } } } } }
        }
        @if !items("by_plan").is_empty() { h2 { "By plan" }  table { tbody { @for one in items("by_plan") { tr { td { a href=(format!("/p/{}", text(&one, "plan"))) { (text(&one, "title")) } } td.n { (gantry_view::count(one["model_calls"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0), "call")) } td.n { (money(&one["cost_usd"])) } } } } } }
        h2 { "Who answers" }
        div.wide { table.cards { thead { tr { th { "Role" } th { "Models, one after the other" } th { "Said by" } } }
            tbody { @for role in models["roles"].as_array().into_iter().flatten() { tr {
                td.main { b { (text(role, "role")) } }
                td { @for link in role["chain"].as_array().into_iter().flatten() { div { (text(link, "provider")) ":" (text(link, "model")) } } @if let Some(error) = role["error"].as_str() { span.tone-bad { (error) } } }
                td.small.soft { (role["origin"].to_string().trim_matches('"')) }
            } } } } }
        @for warning in texts(&models, "warnings") { p.tone-waits { (warning) } }
    })
}

/// Accounts, and whether the machine has what plans need.
pub async fn settings(State(app): State<App>, who: Who) -> Shown {
    Shown(
        draw_settings(&app, &who)
            .await
            .map(|markup| Page::new("Settings").at("/settings").draw(Some(&who), markup).into_response()),
    )
}

/// A sum of money as a number to draw.
fn dollars(value: &serde_json::Value) -> f64 {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(0.0)
}

/// A sum of money as people read it: cents, and what is less than one in full.
fn money(value: &serde_json::Value) -> String {
    let dollars = dollars(value);
    if dollars > 0.0 && dollars < 0.01 { format!("${dollars:.4}") } else { format!("${dollars:.2}") }
}

async fn draw_settings(app: &App, who: &Who) -> Result<Markup, Problem> {
    let is_admin = who.role >= Role::Admin;
    let accounts = app.access.accounts();
    let findings = if is_admin { app.house.doctor().await? } else { serde_json::Value::Null };
    Ok(html! {
        h1 { "Settings" }
        h2 { "Accounts" }
        @if accounts.is_empty() { p.soft { "There are none: this machine alone is answered, and whoever sits at it may do everything. The first account that you make closes that; make it an admin." } }
        @else if is_admin {
            table { thead { tr { th { "Name" } th { "Role" } th { "Proven by" } th { } } }
                tbody { @for one in &accounts { tr {
                    td { (one.name) } td { (one.role) } td { (format!("{:?}", one.proof).to_lowercase()) }
                    td { form method="post" action="/settings" { input type="hidden" name="name" value=(one.name); button.bad name="do" value="remove" data-confirm=(format!("Remove {}?", one.name)) aria-label=(format!("Remove {}", one.name)) { "Remove" } } }
                } } } }
        } @else { p.soft { "Only an admin sees them." } }
        @if is_admin {
            form.card method="post" action="/settings" {
                h3 { "New account" }
                div.fields {
                    div { label for="name" { "Name" } input.full #name name="name" required maxlength="100" autocomplete="off"; }
                    div { label for="role" { "Role" } select.full #role name="role" { @for role in Role::ALL.iter().rev() { option value=(role) { (role) } } } }
                    div { label for="password" { "Password" } input.full #password name="password" type="password" autocomplete="new-password"; }
                }
                p.small.soft { "A person has a password of at least 10 characters. Without one a token is made, for a program." }
                p { button.main { "Make it" } }
            }
            h2 { "This machine" }
            table.cards { tbody { @for one in findings["findings"].as_array().into_iter().flatten() { tr {
                td { b { (text(one, "what")) } } td { span.state data-state=(match text(one, "grade") { "ok" => "completed", "warn" => "waiting", _ => "failed" }) { (text(one, "grade")) } } td { (text(one, "found")) @if let Some(fix) = one["fix"].as_str() { div.small.soft { (fix) } } }
            } } } }
        }
        p.small.soft { "Gantry " (env!("CARGO_PKG_VERSION")) ", works on " (gantry_view::count(app.foreman.driven(), "plan")) ", " (gantry_view::count(app.live.readers(), "live stream")) "." }
    })
}

/// Where to go afterwards.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Next {
    next: String,
}

/// The page to sign in.
pub async fn sign_in(Asked(next): Asked<Next>) -> Html<String> {
    sign_in_form(&next.next, None)
}

/// The form to sign in, with what was wrong.
pub fn sign_in_form(next: &str, problem: Option<&Problem>) -> Html<String> {
    let body = html! {
        div.door {
        h1 { "Sign in" }
        @if let Some(problem) = problem { div.card.problem role="alert" { (problem.detail) } }
        form.card method="post" action="/sign-in" {
            input type="hidden" name="next" value=(next);
            label for="name" { "Name" } input.full #name name="name" autocomplete="username" autofocus;
            label for="password" { "Password, or a token" } input.full #password name="password" type="password" required autocomplete="current-password";
            p { button.main.full { "Sign in" } }
        }
        p.small.soft { "Accounts are made in the settings, or with " code { "gantry access user NAME --role ROLE" } "." }
        }
    };
    Page::new("Sign in").alone().draw(None, body)
}
