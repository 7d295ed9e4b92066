//! A new plan: from an objective, with an interview; from a template; from a file.

use std::fmt::Write as _;

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use gantry_planner::brief::{self, Topic};
use gantry_planner::template::DEFAULT;
use maud::{Markup, html};
use serde::Deserialize;

use super::Shown;
use super::act::Fields;
use super::layout::Page;
use crate::access::Who;
use crate::api::{asked_for, make};
use crate::app::App;
use crate::body::Asked;
use crate::problem::Problem;
use crate::shapes::{ContextDocument, NewPlan};

/// What was said so far.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Begun {
    objective: String,
    template: String,
    detail: String,
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
    Shown(draw(&app, &begun).map(|markup| Page::new("New plan").at("/new").draw(Some(&who), markup).into_response()))
}

fn draw(app: &App, begun: &Begun) -> Result<Markup, Problem> {
    let templates = app.house.templates()?;
    let template = if begun.template.is_empty() { DEFAULT } else { &begun.template };
    let asked = !begun.objective.trim().is_empty();
    let new = NewPlan {
        objective: Some(begun.objective.clone()),
        template: Some(template.to_owned()),
        detail: Some(begun.detail.clone()),
        ..NewPlan::default()
    };
    let checked = asked.then(|| asked_for(app, &new));
    let brief = asked.then(|| brief::read(&begun.objective, app.house.today()));
    Ok(html! {
        h1 { "New plan" }
        section.card {
            h2 { "From an objective" }
            form method="get" action="/new" {
                label for="objective" { "What is to be planned, where, by when, for how much?" }
                textarea #objective name="objective" required placeholder="Open a community solar co-op in Aarhus, 2 million DKK, first panels before summer" { (begun.objective) }
                div.row {
                    div { label for="detail" { "Detail" } select #detail name="detail" { @for (value, name) in [("full", "Everything"), ("balanced", "Balanced"), ("fast", "Fast: work, dates, cost, risks")] { option value=(value) selected[begun.detail == value] { (name) } } } }
                    div { label for="template" { "Template" } select #template name="template" { @for one in &templates { option value=(one.name) selected[one.name == template] { (one.name) } } } }
                }
                p { button.main[!asked] { @if asked { "Read it again" } @else { "Read it" } } }
            }
        }
        @if let Some(Err(problem)) = &checked {
            div.card.problem role="alert" { p { (problem.detail) } @if let Some(hint) = &problem.hint { p.soft { (hint) } } }
        }
        @if let (Some(Ok((plan, _))), Some(brief)) = (&checked, &brief) {
            section.card {
                h2 { (plan.title) }
                p.soft { (plan.tasks.len()) " steps of planning; then it waits to be accepted before any work begins." }
                form method="post" action="/new" {
                    input type="hidden" name="objective" value=(begun.objective);
                    input type="hidden" name="template" value=(template);
                    input type="hidden" name="detail" value=(begun.detail);
                    @if !brief.missing.is_empty() {
                        fieldset {
                            legend { "Not said yet; what stays empty is assumed, and shown as assumed" }
                            @for missing in &brief.missing {
                                @let name = TOPICS.iter().find(|(topic, _)| *topic == missing.topic).map_or("", |(_, name)| name);
                                label for=(name) { (missing.ask.question.en) }
                                input id=(name) name=(name) size="50" placeholder=(missing.ask.default.en);
                                div.small.soft { (missing.ask.why.en) }
                            }
                        }
                    }
                    label for="context" { "Text to take into account" }
                    textarea #context name="context" placeholder="Paste notes, a table, a letter" {}
                    p { label.beside { input type="checkbox" name="later" value="1"; " Only create it; begin later" } }
                    button.main { "Make the plan" }
                }
            }
        }
        section.card {
            h2 { "From a file" }
            form method="post" action="/new" {
                label for="file" { "A plan file: YAML, JSON, the text form or a Mermaid flowchart" }
                textarea.code #file name="file" required data-validate spellcheck="false" placeholder="title: My plan\ntasks:\n  - {id: first, run: echo hello}" {}
                pre #findings role="status" aria-label="What was found in the file" {}
                p { label.beside { input type="checkbox" name="later" value="1"; " Only create it; begin later" } }
                button.main { "Create it" }
            }
        }
    })
}

/// Makes the plan.
pub async fn create(State(app): State<App>, who: Who, fields: Fields) -> Shown {
    Shown(created(&app, &who, &fields).await)
}

async fn created(app: &App, who: &Who, fields: &Fields) -> Result<axum::response::Response, Problem> {
    if who.role < crate::access::Role::Operator {
        return Err(super::act::not_allowed(who, crate::access::Role::Operator));
    }
    let mut new = NewPlan { start: Some(fields.get("later").is_empty()), ..NewPlan::default() };
    if fields.get("file").is_empty() {
        let mut objective = fields.get("objective").to_owned();
        for (_, name) in TOPICS {
            if !fields.get(name).trim().is_empty() {
                let _ = write!(objective, "\n{name}: {}", fields.get(name).trim());
            }
        }
        new.objective = Some(objective);
        new.template = Some(fields.get("template").to_owned()).filter(|name| !name.is_empty());
        new.detail = Some(fields.get("detail").to_owned());
        if !fields.get("context").trim().is_empty() {
            new.context = vec![ContextDocument { name: "notes".to_owned(), text: fields.get("context").to_owned() }];
        }
    } else {
        new.file = Some(fields.get("file").to_owned());
    }
    let card = make(app, who, &new, None).await?;
    Ok(Redirect::to(&format!("/p/{}", card.id)).into_response())
}
