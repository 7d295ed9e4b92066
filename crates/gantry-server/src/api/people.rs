//! What people are asked: gates, questions, calls to approve.

use axum::extract::State;
use gantry_core::event::Event;
use gantry_core::id::{PlanId, Revision};
use gantry_core::input::{Approval, Decision, GateDecision, Input};
use gantry_core::life::Life;
use gantry_core::plan::Action;
use gantry_store::PlanCard;
use gantry_view::gate_news::gate_news;
use gantry_view::people::{self, Wanted};
use gantry_view::standing::unfinished;
use serde_json::{Value, json};

use super::steer::say;
use super::tasks::known;
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Named, Said, Told};
use crate::documented::{Described, Does};
use crate::live::channel::journal_value;
use crate::problem::Problem;
use crate::shapes::{Answer, Anything, Decide, Items, Review};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.post(
        "/api/v1/plans/{plan}/reviews",
        Role::Approver,
        review,
        Does::new("gates", "Decide several gates: all of them, or none").takes::<Review>().heard(),
    )
    .post(
        "/api/v1/plans/{plan}/asks/{task}/answer",
        Role::Approver,
        answer,
        Does::new("asks", "Answer a question, or approve or refuse a call").takes::<Answer>().heard(),
    )
    .get(
        "/api/v1/gates",
        Role::Viewer,
        all_gates,
        Does::new("gates", "Every gate that waits for a decision, of all plans").gives::<Items>(200, "The gates."),
    )
    .get(
        "/api/v1/asks",
        Role::Viewer,
        all_asks,
        Does::new("asks", "Every question that waits for an answer, of all plans")
            .gives::<Items>(200, "The questions."),
    )
    .get(
        "/api/v1/plans/{plan}/gates",
        Role::Viewer,
        gates,
        Does::new("gates", "The gates of a plan that wait for a decision").gives::<Items>(200, "The gates."),
    )
    .get(
        "/api/v1/plans/{plan}/gates/{gate}",
        Role::Viewer,
        gate,
        Does::new("gates", "A gate: what it checks, who may decide, who decided what")
            .gives::<Anything>(200, "The gate."),
    )
    .post(
        "/api/v1/plans/{plan}/gates/{gate}/approve",
        Role::Approver,
        approve,
        Does::new("gates", "Let what stands behind a gate go on").may_take::<Decide>().heard(),
    )
    .post(
        "/api/v1/plans/{plan}/gates/{gate}/reject",
        Role::Approver,
        reject,
        Does::new("gates", "Say no: what stands behind a gate does not happen").takes::<Decide>().heard(),
    )
    .post(
        "/api/v1/plans/{plan}/gates/{gate}/needs-changes",
        Role::Approver,
        needs_changes,
        Does::new("gates", "Send the work before a gate back to be done once more").takes::<Decide>().heard(),
    )
    .get(
        "/api/v1/plans/{plan}/asks",
        Role::Viewer,
        asks,
        Does::new("asks", "The questions of a plan that wait for an answer").gives::<Items>(200, "The questions."),
    )
}

/// All plans that wait for something.
pub async fn waiting(app: &App) -> Result<Vec<PlanCard>, Problem> {
    let mut found = unfinished(app.store()).await?;
    found.retain(|card| !card.card.waiting.is_empty());
    Ok(found)
}

/// Every open gate of all plans, for programs.
pub async fn every_gate(app: &App) -> Result<Vec<Value>, Problem> {
    let mut all = Vec::new();
    for card in waiting(app).await? {
        let life = app.engine().open(&card.id).await?.life;
        all.extend(open_gates(app, &card, &life).await?);
    }
    Ok(all)
}

/// The gates of a plan that wait for a decision, each with what is different for whoever decides it, for programs.
pub async fn open_gates(app: &App, card: &PlanCard, life: &Life) -> Result<Vec<Value>, Problem> {
    let mut all = Vec::new();
    for gate in people::gates(card, life) {
        let mut value = gate.value;
        // Whoever decides says which revision they looked at, so that nobody approves what they have not seen.
        value["plan_revision"] = json!(life.revision());
        value["changes"] = gate_news(app.store(), life, &gate.gate).await?.to_json();
        all.push(value);
    }
    Ok(all)
}

/// Every open question of all plans, for programs.
pub async fn every_ask(app: &App) -> Result<Vec<Value>, Problem> {
    let mut all = Vec::new();
    for card in waiting(app).await? {
        let life = app.engine().open(&card.id).await?.life;
        let asks = people::asks(app.store(), &life).await?;
        all.extend(asks.iter().map(|(task, asked)| asked.to_json(&card, &life, task)));
    }
    Ok(all)
}

/// Everything else that people are wanted for, of all plans.
pub async fn every_wanted(app: &App) -> Result<Vec<(PlanId, Wanted)>, Problem> {
    let mut all = Vec::new();
    for card in waiting(app).await? {
        let life = app.engine().open(&card.id).await?.life;
        all.extend(people::wanted(&life).into_iter().map(|one| (card.id.clone(), one)));
    }
    Ok(all)
}

/// `/gates`.
pub async fn all_gates(State(app): State<App>) -> Result<Told<Value>, Problem> {
    Ok(Told(json!({"items": every_gate(&app).await?})))
}

/// `/asks`.
pub async fn all_asks(State(app): State<App>) -> Result<Told<Value>, Problem> {
    Ok(Told(json!({"items": every_ask(&app).await?})))
}

/// The gates of a plan.
pub async fn gates(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let card = app.plan(&plan).await?;
    let life = app.engine().open(&card.id).await?.life;
    Ok(Told(json!({"items": open_gates(&app, &card, &life).await?})))
}

/// The questions of a plan.
pub async fn asks(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let card = app.plan(&plan).await?;
    let life = app.engine().open(&card.id).await?.life;
    let asks = people::asks(app.store(), &life).await?;
    let items: Vec<Value> = asks.iter().map(|(task, asked)| asked.to_json(&card, &life, task)).collect();
    Ok(Told(json!({"items": items})))
}

/// A gate.
pub async fn gate(
    State(app): State<App>,
    Named((plan, gate)): Named<(String, String)>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let life = app.engine().open(&id).await?.life;
    let gate = checked(&life, &gate)?;
    let entries = gantry_engine::entries(app.store(), &id).await?;
    let history = entries
        .iter()
        .filter(|entry| entry.event.task() == Some(&gate))
        .filter(|entry| matches!(entry.event, Event::GateOpened { .. } | Event::GateDecided { .. }));
    let definition = life.definition(gate.as_str()).and_then(|task| task.action.as_ref());
    Ok(Told(json!({
        "plan": id, "gate": gate, "plan_revision": life.revision(), "state": life.task_state(gate.as_str()),
        "detail": life.task_life(gate.as_str()).map(|known| &known.state), "definition": definition,
        "changes": gate_news(app.store(), &life, &gate).await?.to_json(),
        "history": history.map(|entry| journal_value(&id, entry)).collect::<Vec<_>>(),
    })))
}

fn checked(life: &Life, name: &str) -> Result<gantry_core::id::TaskId, Problem> {
    let task = known(life, name)?;
    match life.definition(name).and_then(|task| task.action.as_ref()) {
        Some(Action::Gate(_)) => Ok(task),
        _ => Err(Problem::unfit("life::not-a-gate", format!("task `{task}` is not a gate"))),
    }
}

/// Decides gates: all of them, or none.
pub async fn decide(
    app: &App,
    who: &Who,
    plan: &PlanId,
    gates: &[String],
    decision: Decision,
    said: Decide,
) -> Result<Told<Value>, Problem> {
    if decision != Decision::Approve && said.rationale.trim().is_empty() {
        return Err(Problem::unfit("gate::no-reason", "whoever says no has to say why").hint("say it in `rationale`"));
    }
    if gates.is_empty() {
        return Err(Problem::unfit("gate::none", "no gate is named"));
    }
    let life = app.engine().open(plan).await?.life;
    if let Some(seen) = said.revision.filter(|seen| Revision(*seen) > life.revision()) {
        let detail = format!("the plan has no revision {seen}: {} is the newest", life.revision());
        return Err(
            Problem::unfit("gate::no-revision", detail).hint("say the `plan_revision` of the gate as you read it")
        );
    }
    let mut decisions: Vec<GateDecision> = Vec::new();
    for name in gates {
        let gate = checked(&life, name)?;
        if decisions.iter().any(|known| known.gate == gate) {
            return Err(Problem::unfit("gate::twice", format!("gate `{gate}` is named twice")));
        }
        decisions.push(GateDecision {
            gate,
            decision,
            rationale: said.rationale.clone(),
            evidence: said.evidence.clone(),
            revision: Some(said.revision.map_or(life.revision(), Revision)),
        });
    }
    say(app, plan, Input::Review { by: who.name.clone(), role: said.role, decisions }).await
}

/// `approve`.
pub async fn approve(
    State(app): State<App>,
    who: Who,
    Named((plan, gate)): Named<(String, String)>,
    Said(said): Said<Decide>,
) -> Result<Told<Value>, Problem> {
    decide(&app, &who, &app.id(&plan).await?, &[gate], Decision::Approve, said).await
}

/// `reject`.
pub async fn reject(
    State(app): State<App>,
    who: Who,
    Named((plan, gate)): Named<(String, String)>,
    Said(said): Said<Decide>,
) -> Result<Told<Value>, Problem> {
    decide(&app, &who, &app.id(&plan).await?, &[gate], Decision::Reject, said).await
}

/// `needs-changes`.
pub async fn needs_changes(
    State(app): State<App>,
    who: Who,
    Named((plan, gate)): Named<(String, String)>,
    Said(said): Said<Decide>,
) -> Result<Told<Value>, Problem> {
    decide(&app, &who, &app.id(&plan).await?, &[gate], Decision::NeedsChanges, said).await
}

/// Reads a decision.
pub fn decision(text: &str) -> Result<Decision, Problem> {
    match text {
        "approve" => Ok(Decision::Approve),
        "reject" => Ok(Decision::Reject),
        "needs_changes" | "needs-changes" => Ok(Decision::NeedsChanges),
        _ => Err(Problem::unfit("gate::decision", "`decision` is approve, reject or needs_changes")),
    }
}

/// Several gates in one review.
pub async fn review(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<Review>,
) -> Result<Told<Value>, Problem> {
    let Review { gates, decision: text, rationale, role, evidence, revision } = said;
    let how = Decide { rationale, role, evidence, revision };
    decide(&app, &who, &app.id(&plan).await?, &gates, decision(&text)?, how).await
}

/// Answers a question.
pub async fn answer(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    Said(said): Said<Answer>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    reply(&app, &who, &id, &task, said).await
}

/// Answers a question of a plan.
pub async fn reply(app: &App, who: &Who, id: &PlanId, task: &str, said: Answer) -> Result<Told<Value>, Problem> {
    let life = app.engine().open(id).await?.life;
    let task = known(&life, task)?;
    let [_, refuse] = Approval::ANSWERS;
    let answer = match said.why.as_deref().map(str::trim) {
        None | Some("") => said.answer,
        Some(why) if said.answer == refuse => format!("{refuse}: {why}"),
        Some(_) => return Err(Problem::unfit("ask::reason", "only a refusal takes a reason").hint("leave out `why`")),
    };
    say(app, id, Input::Answer { task, by: who.name.clone(), answer }).await
}
