//! People steer a plan.

use axum::extract::State;
use axum::http::StatusCode;
use gantry_core::id::PlanId;
use gantry_core::input::{Input, TakeBack};
use gantry_core::life::PlanState;
use gantry_engine::Tell;
use serde_json::{Value, json};

use crate::access::Who;
use crate::app::App;
use crate::body::{Named, Said, Told};
use crate::problem::Problem;
use crate::shapes::{Cancel, Checkpoint, Note, Undo, Why};

/// Says something to a plan, and tells where it stands then.
pub async fn say(app: &App, plan: &PlanId, input: Input) -> Result<Told<Value>, Problem> {
    let told = app.foreman.tell(plan, input).await?;
    heard(app, plan, told).await
}

/// Where a plan stands after something was said to it.
pub async fn heard(app: &App, plan: &PlanId, told: Tell) -> Result<Told<Value>, Problem> {
    let card = app.plan(plan.as_str()).await?;
    let driven = told == Tell::Driven || app.foreman.is_driven(plan);
    Ok(Told(json!({
        "plan": card.id, "no": card.no, "state": card.card.state,
        "heard": if driven { "driven" } else { "recorded" }, "waiting": card.card.waiting,
        "revision": card.card.revision, "length": card.length, "url": format!("/api/v1/plans/{}", card.id),
    })))
}

/// Begins, or goes on with, a plan.
pub async fn go_on(app: &App, who: &Who, plan: &PlanId) -> Result<(), Problem> {
    let card = app.plan(plan.as_str()).await?;
    if let Some(parent) = &card.card.parent {
        return Err(Problem::conflict("plan::inside", format!("plan `{plan}` is a part of `{parent}`"))
            .hint("go on with the plan around it"));
    }
    let first = match card.card.state {
        PlanState::Pending => vec![Input::Start],
        PlanState::Paused => vec![Input::Resume { by: who.name.clone() }],
        PlanState::Running | PlanState::Blocked => Vec::new(),
        state @ (PlanState::Completed | PlanState::Failed | PlanState::Abandoned) => {
            return Err(Problem::conflict("life::wrong-state", format!("a plan that is {state} cannot be resumed"))
                .hint("retry a task of it, edit it or revise it: then it goes on"));
        }
    };
    app.foreman.drive(plan, first).await
}

/// `start` and `resume`.
pub async fn start(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(_): Said<Why>,
) -> Result<(StatusCode, Told<Value>), Problem> {
    let plan = app.id(&plan).await?;
    go_on(&app, &who, &plan).await?;
    Ok((StatusCode::ACCEPTED, heard(&app, &plan, Tell::Driven).await?))
}

/// `pause`.
pub async fn pause(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(why): Said<Why>,
) -> Result<Told<Value>, Problem> {
    let plan = app.id(&plan).await?;
    say(&app, &plan, Input::Pause { by: who.name, why: why.why }).await
}

/// `cancel`.
pub async fn cancel(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<Cancel>,
) -> Result<Told<Value>, Problem> {
    let plan = app.id(&plan).await?;
    let undo = if said.undo { TakeBack::Everything } else { TakeBack::Nothing };
    say(&app, &plan, Input::Cancel { by: who.name, why: said.why, undo }).await
}

/// `undo`.
pub async fn undo(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<Undo>,
) -> Result<(StatusCode, Told<Value>), Problem> {
    let plan = app.id(&plan).await?;
    let heard = say(&app, &plan, Input::Undo { to: said.to, by: who.name, why: said.why }).await?;
    Ok((StatusCode::ACCEPTED, heard))
}

/// `checkpoints`.
pub async fn checkpoint(
    State(app): State<App>,
    _: Who,
    Named(plan): Named<String>,
    Said(said): Said<Checkpoint>,
) -> Result<Told<Value>, Problem> {
    let plan = app.id(&plan).await?;
    say(&app, &plan, Input::Checkpoint { name: said.name }).await
}

/// `notes`.
pub async fn note(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<Note>,
) -> Result<Told<Value>, Problem> {
    let plan = app.id(&plan).await?;
    say(&app, &plan, Input::Note { task: None, by: who.name, text: said.text }).await
}

/// `pin`.
pub async fn pin(State(app): State<App>, Named(plan): Named<String>) -> Result<StatusCode, Problem> {
    app.store().pin(&app.id(&plan).await?, true).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `unpin`.
pub async fn unpin(State(app): State<App>, Named(plan): Named<String>) -> Result<StatusCode, Problem> {
    app.store().pin(&app.id(&plan).await?, false).await?;
    Ok(StatusCode::NO_CONTENT)
}
