//! A talk about plans: what was said, what was done, and a field to say more. Whole without the script, which only saves
//! reloading.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use gantry_core::time::Timestamp;
use gantry_many::chat::{self, Context, Said, Session, Told};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shown;
use super::layout::{Page, empty};
use super::parts::text;
use crate::access::{Role, Who};
use crate::api::chat::ByServer;
use crate::app::App;
use crate::body::Asked;
use crate::form::Fields;
use crate::problem::Problem;

/// What to begin with, for whoever does not know.
const EXAMPLES: [&str; 4] =
    ["create a plan to open a bakery in Oslo", "list my plans", "show the tasks of plan 1", "help"];

/// Which talk.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Wanted {
    session: String,
    /// The plan that is meant where none is named.
    plan: String,
}

/// The page.
pub async fn show(State(app): State<App>, who: Who, Asked(wanted): Asked<Wanted>) -> Shown {
    Shown(drawn(&app, &who, &wanted, None).await)
}

/// Says something.
pub async fn say(State(app): State<App>, who: Who, fields: Fields) -> Shown {
    Shown(Box::pin(said(&app, &who, &fields)).await)
}

async fn said(app: &App, who: &Who, fields: &Fields) -> Result<Response, Problem> {
    if who.role < Role::Operator {
        return Err(super::act::not_allowed(who, Role::Operator));
    }
    let word = |name: &str| Some(fields.get(name).trim().to_owned()).filter(|text| !text.is_empty());
    let plan = word("plan");
    let context = Context { plan_id: plan.as_ref().map_or(Value::Null, |plan| json!(plan)), ..Context::default() };
    let words =
        Said { message: fields.get("message").to_owned(), session_id: word("session"), context, ..Said::default() };
    let key = word("key").filter(|key| key.len() <= 255);
    match Box::pin(chat::say(&ByServer::of(app, who), words, key.as_deref())).await {
        Ok(answer) => {
            let session = crate::listen::encoded(answer.body["session_id"].as_str().unwrap_or_default());
            let plan = plan.map(|plan| format!("&plan={}", crate::listen::encoded(&plan))).unwrap_or_default();
            Ok(Redirect::to(&format!("/chat?session={session}{plan}#last")).into_response())
        }
        Err(trouble) => {
            let problem = Problem::from(trouble);
            let wanted = Wanted { session: fields.get("session").to_owned(), plan: fields.get("plan").to_owned() };
            drawn(app, who, &wanted, Some((&problem, fields.get("message")))).await
        }
    }
}

async fn drawn(app: &App, who: &Who, wanted: &Wanted, failed: Option<(&Problem, &str)>) -> Result<Response, Problem> {
    let hands = ByServer::of(app, who);
    let talks = chat::sessions(&hands).await?;
    let mut turns = match wanted.session.as_str() {
        "" => Vec::new(),
        session => match chat::session(&hands, session).await {
            // What could not be done at all began no talk.
            Err(_) if failed.is_some() => Vec::new(),
            turns => turns?,
        },
    };
    // What was just refused is shown with its reason, and once.
    if failed.is_some_and(|(_, message)| turns.last().is_some_and(|turn| turn.message == message.trim())) {
        turns.pop();
    }
    let body = html! {
        h1 { "Chat" }
        p.soft { "Say what you want done with your plans. Each change is a revision that can be taken back." }
        div.split {
            section aria-labelledby="talk-title" {
                h2 #talk-title { @if turns.is_empty() { "A new talk" } @else { (first_line(&turns)) } }
                div #talk role="log" aria-label="What was said" {
                    @if turns.is_empty() && failed.is_none() {
                        (empty("Nothing was said yet.", html! { p.small { "Try " @for (at, one) in EXAMPLES.iter().enumerate() { @if at > 0 { ", " } q { (one) } } "." } }))
                    }
                    @for (at, turn) in turns.iter().enumerate() { (drawn_turn(turn, at + 1 == turns.len() && failed.is_none())) }
                    @if let Some((problem, message)) = failed {
                        div.card.said #last { (message) }
                        (refused(problem))
                    }
                }
                @if who.role < Role::Operator {
                    p.soft { "You may look; to say something takes the role " (Role::Operator) "." }
                } @else { (form(wanted, failed)) }
            }
            (aside(&talks, &wanted.session))
        }
    };
    let page = Page::new("Chat").at("/chat").draw(Some(who), body);
    let status = failed.map_or(axum::http::StatusCode::OK, |(problem, _)| problem.status());
    Ok((status, page).into_response())
}

fn form(wanted: &Wanted, failed: Option<(&Problem, &str)>) -> Markup {
    // What is sent twice by one click is done once.
    let key = format!("page {} {}", wanted.session, App::now().as_ms());
    html! {
        form.say method="post" action="/chat" data-talk {
            input type="hidden" name="session" value=(wanted.session);
            input type="hidden" name="plan" value=(wanted.plan);
            input type="hidden" name="key" value=(key);
            label for="message" { "What do you want?" }
            textarea #message name="message" required maxlength="20000" rows="3" aria-describedby="how" placeholder="break down task 2 of plan 3" { @if let Some((_, message)) = failed { (message) } }
            p.row.spread {
                span #how .small.soft { "Ctrl and Enter sends it." }
                button.main { "Send" }
            }
            p #busy .small.soft role="status" { }
        }
    }
}

fn aside(talks: &[Session], here: &str) -> Markup {
    html! {
        aside aria-labelledby="talks" {
            h2 #talks { "Your talks" }
            p { a.button href="/chat" { "A new talk" } }
            @if talks.is_empty() { p.soft { "There are none yet." } }
            ul.talks {
                @for talk in talks.iter().take(30) {
                    li {
                        a href=(format!("/chat?session={}", crate::listen::encoded(&talk.session_id))) aria-current=[(talk.session_id == here).then_some("page")] { (talk.title) }
                        div.small.soft { (gantry_view::count(talk.messages, "message")) ", " (minute(talk.updated_at)) }
                    }
                }
            }
        }
    }
}

/// A time to the minute.
fn minute(at: Timestamp) -> String {
    at.to_string().chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

fn first_line(turns: &[Told]) -> String {
    turns
        .first()
        .map(|turn| gantry_view::first_line(turn.title.as_deref().unwrap_or(&turn.message), 80))
        .unwrap_or_default()
}

fn drawn_turn(turn: &Told, is_last: bool) -> Markup {
    html! {
        article.turn id=[is_last.then_some("last")] {
            div.card.said { span.small.soft { (turn.by) } div.words { (turn.message) } }
            @if turn.answer.is_null() {
                p.tone-waits { "It was not answered: say it again." }
            } @else { (answer(&turn.answer)) }
        }
    }
}

fn answer(answer: &Value) -> Markup {
    let actions = answer["actions"].as_array().map(Vec::as_slice).unwrap_or_default();
    html! {
        div.answer {
            p.words { (text(&answer["llm_reply"], "message")) }
            @for action in actions { (done(action)) }
            p.small.soft { "answered by " (text(&answer["metadata"], "answered_by")) }
        }
    }
}

fn done(action: &Value) -> Markup {
    let status = text(action, "status");
    let state = match status {
        "done" => "completed",
        "skipped" => "skipped",
        _ => "failed",
    };
    html! {
        div.card {
            div.row { span.state data-state=(state) { (status) } code { (text(action, "name")) }
                @if let Some(no) = action["plan_id"].as_u64() { a href=(format!("/p/{no}")) { "plan " (no) } }
            }
            div.words { (text(action, "message")) }
        }
    }
}

fn refused(problem: &Problem) -> Markup {
    html! {
        div.card.problem role="alert" {
            p { (problem.detail) }
            @if let Some(hint) = &problem.hint { p.soft { "What helps: " (hint) } }
            p.small.soft { "code " code { (problem.code) } }
        }
    }
}
