//! A new plan: from an objective, with an interview; from a template; from a file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use gantry_core::time::Duration;
use gantry_planner::brief::{self, Topic};
use gantry_planner::template::DEFAULT;
use gantry_view::elapsed::elapsed;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::layout::Page;
use super::parts::{text, texts};
use super::{Shown, problem_card};
use crate::access::{Role, Who};
use crate::api::{asked_for, estimate, make};
use crate::app::App;
use crate::body::Asked;
use crate::form::Fields;
use crate::problem::Problem;
use crate::shapes::{ContextDocument, NewPlan};

/// What was said so far.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Begun {
    objective: String,
    template: String,
    detail: String,
    profile: String,
}

/// What an interview can ask for, and how a request says it.
const TOPICS: [(Topic, &str); 6] = [
    (Topic::Budget, "Budget"),
    (Topic::Place, "Location"),
    (Topic::Time, "Deadline"),
    (Topic::Team, "Team"),
    (Topic::Success, "Success criteria"),
    (Topic::Constraints, "Constraints"),
];

/// The form.
pub async fn form(State(app): State<App>, who: Who, Asked(begun): Asked<Begun>) -> Shown {
    let drawn = draw(&app, &who, &begun, &Fields::default(), None).await;
    Shown(drawn.map(|markup| Page::new("New plan").at("/new").draw(Some(&who), markup).into_response()))
}

/// The page: with what was written before, and what was wrong with it.
async fn draw(
    app: &App,
    who: &Who,
    begun: &Begun,
    written: &Fields,
    problem: Option<&Problem>,
) -> Result<Markup, Problem> {
    let asked = !begun.objective.trim().is_empty();
    Ok(html! {
        h1 { "New plan" }
        p.soft { "From an objective in your own words, or from a plan file." }
        @if let Some(problem) = problem { (problem_card(problem)) }
        @if who.may(Role::Operator) {
            (objective(app, begun)?)
            @if asked { (read(app, begun, written).await?) }
            (from_file(written))
        } @else { p.soft { "To make a plan takes the role " b { (Role::Operator) } "." } }
    })
}

/// What is asked first.
fn objective(app: &App, begun: &Begun) -> Result<Markup, Problem> {
    let (templates, (profiles, usual)) = (app.house.templates()?, app.house.profiles()?);
    let template = if begun.template.is_empty() { DEFAULT } else { &begun.template };
    let asked = !begun.objective.trim().is_empty();
    let details = [("full", "Everything"), ("balanced", "Balanced"), ("fast", "Fast: work, dates, cost, risks")];
    Ok(html! {
        section.card aria-labelledby="from-objective" {
            h2 #from-objective { "From an objective" }
            form method="get" action="/new" {
                label for="objective" { "What is to be planned, where, by when, for how much?" }
                textarea #objective name="objective" required placeholder="Open a community solar co-op in Aarhus, 2 million DKK, first panels before summer" { (begun.objective) }
                div.fields {
                    div { label for="detail" { "Detail" } select #detail name="detail" { @for (value, name) in details { option value=(value) selected[begun.detail == value] { (name) } } } }
                    div { label for="template" { "Template" } select #template name="template" { @for one in &templates { option value=(one.name) selected[one.name == template] { (one.name) } } } }
                    div { label for="profile" { "Models" } select #profile name="profile" {
                        option value="" selected[begun.profile.is_empty()] { "as configured (" (usual) ")" }
                        @for one in &profiles { option value=(one) selected[*one == begun.profile] { (one) } }
                    } }
                }
                p { button.main[!asked] { @if asked { "Read it again" } @else { "Read it" } } " " span.small.soft { "Nothing is made yet: you see first what it takes." } }
            }
        }
    })
}

/// What was read out of an objective, what is missing, and what it would take.
async fn read(app: &App, begun: &Begun, written: &Fields) -> Result<Markup, Problem> {
    let template = if begun.template.is_empty() { DEFAULT } else { &begun.template };
    let new = NewPlan {
        objective: Some(begun.objective.clone()),
        template: Some(template.to_owned()),
        detail: Some(begun.detail.clone()),
        profile: Some(begun.profile.clone()),
        ..NewPlan::default()
    };
    let plan = match asked_for(app, &new) {
        Ok((plan, _)) => plan,
        Err(problem) => {
            return Ok(html! {
                div.card.problem role="alert" { p { (problem.detail) } @if let Some(hint) = &problem.hint { p.soft { (hint) } } }
            });
        }
    };
    let takes = estimate::of(app, &plan, &new).await?;
    let brief = brief::read(&begun.objective, app.house.today());
    Ok(html! {
        section.card aria-labelledby="what-it-takes" {
            h2 #what-it-takes { (plan.title) }
            p.soft { "Planning has " (plan.tasks.len()) " steps; then the plan waits to be accepted before any work begins." }
            (figures(&takes))
            form method="post" action="/new" enctype="multipart/form-data" {
                input type="hidden" name="objective" value=(begun.objective);
                input type="hidden" name="template" value=(template);
                input type="hidden" name="detail" value=(begun.detail);
                input type="hidden" name="profile" value=(begun.profile);
                @if !brief.missing.is_empty() {
                    fieldset {
                        legend { "Not said yet; what stays empty is assumed, and shown as assumed" }
                        @for missing in &brief.missing {
                            @let name = TOPICS.iter().find(|(topic, _)| *topic == missing.topic).map_or("", |(_, name)| name);
                            label for=(name) { (missing.ask.question.en) }
                            input.full id=(name) name=(name) value=(written.get(name)) placeholder=(missing.ask.default.en);
                            div.small.soft { (missing.ask.why.en) }
                        }
                    }
                }
                label for="attachments" { "Documents to take into account" }
                input.full #attachments type="file" name="attachments" multiple accept=".txt,.md,.csv,.json,.yaml,.yml,.pdf,text/*,application/pdf";
                div.small.soft { "Text, Markdown, CSV or PDF; 60,000 bytes of text in all." }
                label for="context" { "Notes to take into account" }
                textarea #context name="context" placeholder="Paste notes, a table, a letter" { (written.get("context")) }
                p { label.beside { input type="checkbox" name="later" value="1"; " Only create it; begin later" } }
                button.main { "Make the plan" }
            }
        }
    })
}

/// What a plan would take, in figures.
fn figures(takes: &Value) -> Markup {
    let most = &takes["at_most"];
    let calls = most["calls"].as_u64().unwrap_or(0);
    let models: BTreeSet<&str> =
        takes["tasks"].as_array().into_iter().flatten().map(|task| text(task, "model")).collect();
    let ms = takes["time"]["ms"].as_u64().unwrap_or(0);
    html! {
        div.grid #takes {
            div.card.figure { "Cost at most" b { @match &most["cost_usd"] { Value::Null => "unknown", cost => { "$" (cost.as_str().map_or_else(|| cost.to_string(), str::to_owned)) } } } span.small.soft { (calls) " questions to models, " (most["tokens"]) " tokens" } }
            div.card.figure { "Time about" b { @if ms == 0 { "seconds" } @else { (elapsed(Duration::from_ms(ms))) } } span.small.soft { (takes["time"]["questions_in_a_row"]) " questions in a row; " (text(&takes["time"], "from")) } }
            div.card.figure { "Answered by" b { @if models.is_empty() { "nobody" } @else { (models.iter().copied().collect::<Vec<_>>().join(", ")) } } span.small.soft { a href="/models" { "Models and cost" } } }
        }
        @for line in texts(takes, "beyond_budget") { p.tone-waits { "The budget may stop it before: " (line) } }
    }
}

fn from_file(written: &Fields) -> Markup {
    // Without the script that shows it below, a chosen file comes as it is.
    let chosen = written.files("upload").next().map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
    let file =
        Some(written.get("file").to_owned()).filter(|file| !file.trim().is_empty()).or(chosen).unwrap_or_default();
    html! {
        section.card aria-labelledby="from-file" {
            h2 #from-file { "From a file" }
            form method="post" action="/new" enctype="multipart/form-data" {
                label for="upload" { "Choose a file, or write below" }
                input.full #upload type="file" name="upload" data-into="file" accept=".yaml,.yml,.json,.mmd,.txt,.plan";
                label for="file" { "A plan file: YAML, JSON, the text form or a Mermaid flowchart" }
                textarea.code #file name="file" data-validate spellcheck="false" placeholder="title: My plan\ntasks:\n  - {id: first, run: echo hello}" { (file) }
                pre #findings role="status" aria-label="What was found in the file" {}
                p { label.beside { input type="checkbox" name="later" value="1"; " Only create it; begin later" } }
                button.main { "Create it" }
            }
        }
    }
}

/// Makes the plan.
pub async fn create(State(app): State<App>, who: Who, fields: Fields) -> Shown {
    let made = created(&app, &who, &fields).await;
    let Err(problem) = made else { return Shown(made) };
    // Nobody writes twice what they have written.
    let said = |name: &str| fields.get(name).to_owned();
    let begun = Begun {
        objective: said("objective"),
        template: said("template"),
        detail: said("detail"),
        profile: said("profile"),
    };
    let drawn = draw(&app, &who, &begun, &fields, Some(&problem)).await;
    let page = |markup| Page::new("New plan").at("/new").draw(Some(&who), markup);
    Shown(drawn.map(|markup| (problem.status(), page(markup)).into_response()))
}

async fn created(app: &App, who: &Who, fields: &Fields) -> Result<axum::response::Response, Problem> {
    if !who.may(Role::Operator) {
        return Err(super::act::not_allowed(who, Role::Operator));
    }
    let mut new = NewPlan { start: Some(fields.get("later").is_empty()), ..NewPlan::default() };
    let upload = fields.files("upload").next();
    if fields.get("file").trim().is_empty() && upload.is_none() {
        let mut objective = fields.get("objective").to_owned();
        for (_, name) in TOPICS {
            if !fields.get(name).trim().is_empty() {
                let _ = write!(objective, "\n{name}: {}", fields.get(name).trim());
            }
        }
        new.objective = Some(objective);
        new.template = Some(fields.get("template").to_owned()).filter(|name| !name.is_empty());
        new.detail = Some(fields.get("detail").to_owned());
        new.profile = Some(fields.get("profile").to_owned());
        for file in fields.files("attachments") {
            let text = app
                .house
                .document(&file.name, file.bytes.clone())
                .map_err(|trouble| Problem::unfit("plan::document", trouble.message).maybe_hint(trouble.hint))?;
            new.context.push(ContextDocument { name: file.name.clone(), text });
        }
        if !fields.get("context").trim().is_empty() {
            new.context.push(ContextDocument { name: "notes".to_owned(), text: fields.get("context").to_owned() });
        }
    } else if fields.get("file").trim().is_empty() {
        // Without the script that shows it below, the file itself counts.
        new.file = upload.map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
        new.file_name = upload.map(|file| file.name.clone());
    } else {
        new.file = Some(fields.get("file").to_owned());
    }
    let card = make(app, who, &new, None).await?;
    Ok(Redirect::to(&format!("/p/{}", card.id)).into_response())
}
