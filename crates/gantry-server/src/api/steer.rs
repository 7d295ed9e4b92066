//! People steer a plan.

use axum::extract::State;
use axum::http::StatusCode;
use gantry_core::id::PlanId;
use gantry_core::input::{Input, TakeBack};
use gantry_core::life::PlanState;
use gantry_engine::Tell;
use gantry_view::standing::{is_new_fork, unfinished};
use serde_json::{Value, json};

use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Named, Said, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::{Cancel, Heard, Items, Note, Undo, Why};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.post(
        "/api/v1/plans/cancel",
        Role::Operator,
        cancel_all,
        Does::new("steering", "Give up every plan that is under way: the kill switch")
            .may_take::<Why>()
            .gives::<Items>(200, "The plans, and whether each is given up."),
    )
    .post(
        "/api/v1/plans/{plan}/cancel",
        Role::Operator,
        cancel,
        Does::new("steering", "Give up a plan: stop everything at once").may_take::<Cancel>().heard(),
    )
    .post(
        "/api/v1/plans/{plan}/undo",
        Role::Operator,
        undo,
        Does::new("steering", "Take back what was done, the last thing first")
            .may_take::<Undo>()
            .gives::<Heard>(202, "It is on record."),
    )
    .post(
        "/api/v1/plans/{plan}/notes",
        Role::Operator,
        note,
        Does::new("steering", "Write something down about a plan").takes::<Note>().heard(),
    )
    .post(
        "/api/v1/plans/{plan}/start",
        Role::Operator,
        start,
        Does::new("steering", "Begin, or go on with, a plan").may_take::<Why>().gives::<Heard>(202, "It is under way."),
    )
    .post(
        "/api/v1/plans/{plan}/resume",
        Role::Operator,
        start,
        Does::new("steering", "Go on with a plan from wherever it stands")
            .may_take::<Why>()
            .gives::<Heard>(202, "It is under way."),
    )
    .post(
        "/api/v1/plans/{plan}/pause",
        Role::Operator,
        pause,
        Does::new("steering", "Start nothing new; what runs is let finish").may_take::<Why>().heard(),
    )
    .post(
        "/api/v1/plans/{plan}/pin",
        Role::Operator,
        pin,
        Does::new("steering", "Keep a plan from being forgotten").gives_nothing(204, "It is pinned."),
    )
    .delete(
        "/api/v1/plans/{plan}/pin",
        Role::Operator,
        unpin,
        Does::new("steering", "Let a plan be forgotten").gives_nothing(204, "It is not pinned."),
    )
}

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

/// Why, when nobody says why.
const NO_REASON: &str = "everything was stopped";

/// Gives up every plan that is under way.
pub async fn cancel_all(State(app): State<App>, who: Who, Said(said): Said<Why>) -> Result<Told<Value>, Problem> {
    let why = Some(said.why).filter(|why| !why.trim().is_empty()).unwrap_or_else(|| NO_REASON.to_owned());
    let mut items = Vec::new();
    // A plan inside another ends with that one.
    for card in
        unfinished(app.store()).await?.into_iter().filter(|card| card.card.parent.is_none() && !is_new_fork(card))
    {
        let input = Input::Cancel { by: who.name.clone(), why: why.clone(), undo: TakeBack::Nothing };
        let told = app.foreman.tell(&card.id, input).await;
        items.push(
            json!({"plan": card.id, "cancelled": told.is_ok(), "problem": told.err().map(|problem| problem.detail)}),
        );
    }
    Ok(Told(json!({"items": items})))
}
