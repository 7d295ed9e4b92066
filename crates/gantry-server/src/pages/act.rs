//! What forms do: the same as the API, and then back to the page.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use gantry_core::id::PlanId;
use gantry_core::input::{Input, Success, TakeBack};
use serde_json::Value;

use super::layout::Page;
use super::{Shown, changes};
use crate::access::{Role, Who};
use crate::api::accounts::{self, NewAccount, SignIn};
use crate::api::templates;
use crate::api::{decide, decision, evidence, fork_at, go_on, known, make_account, reply, tag};
use crate::app::App;
use crate::body::{Named, changed};
use crate::form::Fields;
use crate::listen::{Caller, encoded};
use crate::problem::Problem;
use crate::shapes::{Answer, Decide};

/// Someone's role does not reach.
pub fn not_allowed(who: &Who, role: Role) -> Problem {
    let detail = format!("{} is {}, and this takes the role {role}", who.name, who.role);
    Problem::new(StatusCode::FORBIDDEN, "access::role", detail).hint("ask an admin for the role")
}

fn at_least(who: &Who, role: Role) -> Result<(), Problem> {
    if who.role < role { Err(not_allowed(who, role)) } else { Ok(()) }
}

/// A form of a plan's page.
pub async fn on_plan(State(app): State<App>, who: Who, Named(plan): Named<String>, fields: Fields) -> Shown {
    Shown(Box::pin(done(&app, &who, &plan, &fields, None)).await)
}

/// A form of the inbox.
pub async fn in_inbox(State(app): State<App>, who: Who, fields: Fields) -> Shown {
    let plan = fields.get("plan").to_owned();
    Shown(Box::pin(done(&app, &who, &plan, &fields, Some("/inbox"))).await)
}

async fn done(app: &App, who: &Who, plan: &str, fields: &Fields, back: Option<&str>) -> Result<Response, Problem> {
    let id = app.id(plan).await?;
    let what = fields.get("do");
    let (by, why, task) = (who.name.clone(), fields.get("why").to_owned(), fields.get("task"));
    let role = if matches!(what, "approve" | "reject" | "needs-changes" | "answer" | "judge") {
        Role::Approver
    } else {
        Role::Operator
    };
    at_least(who, role)?;
    let home = format!("/p/{id}");
    let mut back = back.map_or_else(|| home.clone(), str::to_owned);
    let task_of = async || {
        let life = app.engine().open(&id).await?.life;
        known(&life, task)
    };
    match what {
        "start" => go_on(app, who, &id).await?,
        "pause" => tell(app, &id, Input::Pause { by, why }).await?,
        "cancel" => {
            let undo = if fields.get("undo").is_empty() { TakeBack::Nothing } else { TakeBack::Everything };
            tell(app, &id, Input::Cancel { by, why, undo }).await?;
        }
        "approve" | "reject" | "needs-changes" => {
            let role = Some(fields.get("role").to_owned()).filter(|role| !role.is_empty());
            let revision = fields.get("revision").parse().ok();
            let said = Decide { rationale: why, role, evidence: fields.all("evidence"), revision };
            drop(decide(app, who, &id, &fields.all("gate"), decision(what)?, said).await?);
            if back == home {
                back = format!("{home}/gates");
            }
        }
        "answer" => {
            let said = Answer { answer: fields.get("answer").to_owned(), why: None };
            drop(reply(app, who, &id, task, said).await?);
        }
        "retry" => tell(app, &id, Input::Retry { task: task_of().await?, by, why }).await?,
        "note" => {
            let task = if task.is_empty() { None } else { Some(task_of().await?) };
            tell(app, &id, Input::Note { task, by, text: fields.get("text").to_owned() }).await?;
        }
        "undo" => tell(app, &id, Input::Undo { to: fields.get("to").to_owned(), by, why }).await?,
        "done" => {
            let artifacts = evidence(app, fields).await?;
            let success = Success { outputs: outputs_of(fields), artifacts, ..Success::default() };
            tell(app, &id, Input::Report { task: task_of().await?, by, end: Ok(success) }).await?;
        }
        "fail" => tell(app, &id, Input::Report { task: task_of().await?, by, end: Err(why) }).await?,
        "edit" => {
            let _turn = app.foreman.turn(&id).await;
            let life = app.engine().open(&id).await?.life;
            let task = known(&life, task)?;
            if ![String::new(), tag(&life, &task)].iter().any(|tag| tag == fields.get("tag")) {
                return Err(changed("", "look at the task again, then change it"));
            }
            let mut outputs = life.outputs(task.as_str()).cloned().unwrap_or_default();
            outputs.extend(outputs_of(fields));
            tell(app, &id, Input::EditOutput { task, by, why, outputs }).await?;
        }
        "fork" => {
            let at = fields.get("at").parse().unwrap_or(0);
            back = format!("/p/{}", fork_at(app, who, &id, at).await?);
        }
        _ => {
            if let Some(page) = Box::pin(changes::done(app, who, &id, what, fields)).await? {
                back = format!("{home}{page}");
            }
        }
    }
    if !task.is_empty() && back == home {
        back = format!("{home}/tasks/{task}");
    }
    Ok(Redirect::to(&back).into_response())
}

async fn tell(app: &App, id: &PlanId, input: Input) -> Result<(), Problem> {
    app.foreman.tell(id, input).await.map(drop)
}

/// One output by its name and value; a value that is JSON is taken as such, anything else as text.
fn outputs_of(fields: &Fields) -> gantry_core::event::Outputs {
    let pairs = fields.all("name").into_iter().zip(fields.all("value"));
    let read = |value: String| serde_json::from_str(&value).unwrap_or(Value::String(value));
    pairs
        .filter(|(name, _)| !name.trim().is_empty())
        .map(|(name, value)| (name.trim().to_owned(), read(value)))
        .collect()
}

/// A form of a template's page.
pub async fn on_template(State(app): State<App>, who: Who, Named(name): Named<String>, fields: Fields) -> Shown {
    let copy = || {
        at_least(&who, Role::Operator)?;
        templates::copied(&app, &name, fields.get("name"))?;
        Ok(Redirect::to(&format!("/templates/{}", encoded(fields.get("name")))).into_response())
    };
    Shown(copy())
}

/// A form of the settings.
pub async fn in_settings(State(app): State<App>, who: Who, fields: Fields) -> Shown {
    Shown(settled(&app, &who, &fields).await)
}

async fn settled(app: &App, who: &Who, fields: &Fields) -> Result<Response, Problem> {
    at_least(who, Role::Admin)?;
    if fields.get("do") == "remove" {
        app.access.remove(fields.get("name"))?;
        return Ok(Redirect::to("/settings").into_response());
    }
    let role = Role::ALL.into_iter().find(|role| role.name() == fields.get("role")).unwrap_or(Role::Viewer);
    let password = Some(fields.get("password").to_owned()).filter(|password| !password.is_empty());
    let made = make_account(app, NewAccount { name: fields.get("name").to_owned(), role, password }).await?;
    let Some(token) = made.token else { return Ok(Redirect::to("/settings").into_response()) };
    let body = maud::html! {
        h1 { "A token for " (made.name) }
        p { "It is shown this once, and kept by nobody." }
        pre { (token) }
        p { a.button href="/settings" { "I have copied it" } }
    };
    Ok(Page::new("A new token").at("/settings").draw(Some(who), body).into_response())
}

/// Signs in.
pub async fn sign_in(State(app): State<App>, caller: Caller, fields: Fields) -> Shown {
    let said = SignIn { name: fields.get("name").to_owned(), password: fields.get("password").to_owned() };
    let signed = accounts::sign_in_as(&app, &caller, said).await;
    Shown(match signed {
        Ok(cookie) => {
            // Only a path of this server, or one could be sent elsewhere.
            let next = fields.get("next");
            let next =
                if next.starts_with('/') && !next.starts_with("//") && !next.contains('\\') { next } else { "/" };
            Ok(([(header::SET_COOKIE, cookie)], Redirect::to(next)).into_response())
        }
        Err(problem) => {
            Ok((problem.status(), super::house::sign_in_form(fields.get("next"), Some(&problem))).into_response())
        }
    })
}

/// Signs out.
pub async fn sign_out(State(app): State<App>, headers: HeaderMap) -> Response {
    ([(header::SET_COOKIE, accounts::signed_out(&app, &headers))], Redirect::to("/sign-in")).into_response()
}
