//! Where plans stand, for programs. The keys are a promise.

use gantry_core::id::TaskId;
use gantry_core::life::{Life, TaskLife, TaskState, WaitsFor};
use gantry_core::plan::{Action, Choice, Task};
use gantry_engine::Point;
use gantry_store::PlanCard;
use serde_json::{Value, json};

use crate::forecast::Forecast;
use crate::next;
use crate::shortfalls;
use crate::standing::{Standing, is_new_fork};
use crate::timeline::notes;

/// A plan with all of its tasks.
pub fn standing(standing: &Standing) -> Value {
    let life = &standing.life;
    let mut value = card(&standing.card, standing.driven, standing.forecast.as_ref());
    let tasks: Vec<Value> = life.task_ids().iter().map(|id| task(standing, id)).collect();
    let own = life.waits().map(|wait| waits_for(life, wait));
    let inside = standing.inside.iter().flat_map(|life| life.waits().map(move |wait| waits_for(life, wait)));
    value["percent"] = json!(standing.percent());
    value["waiting_for"] = own.chain(inside).collect();
    value["task_list"] = Value::Array(tasks);
    value["budget"] = json!(life.header().policy.budget);
    value["causes"] = json!(life.causes());
    let is_degraded = |id: &&TaskId| life.task_life(id.as_str()).is_some_and(TaskLife::is_degraded);
    value["degraded"] = json!(life.task_ids().iter().filter(is_degraded).collect::<Vec<_>>());
    value["missed_deadlines"] = shortfalls::missed_deadlines(life);
    value["unjudged"] = shortfalls::unjudged(life);
    value["elapsed_ms"] = json!(standing.elapsed().map(gantry_core::time::Duration::as_ms));
    value["notes"] = json!(notes(&standing.timeline));
    value["next"] = standing.steps().into_iter().map(|step| Value::String(step.command)).collect();
    value
}

/// A checkpoint of a working folder.
pub fn checkpoint(point: &Point) -> Value {
    let (artifact, version) = (&point.row.artifact, point.row.version);
    json!({"name": point.name, "task": artifact.task, "version": version, "at": artifact.at, "hash": artifact.hash})
}

/// What a plan waits for: this one, or one inside it.
fn waits_for(life: &Life, wait: WaitsFor) -> Value {
    let definition = wait.task.as_ref().and_then(|task| life.definition(task.as_str()));
    let offered = match definition.and_then(|task| task.action.as_ref()) {
        Some(Action::Ask(ask)) => choices(&ask.options),
        _ => json!([]),
    };
    let commands: Vec<String> = wait.task.iter().flat_map(|task| commands(life, task)).collect();
    json!({"plan": life.id(), "task": wait.task, "what": wait.what, "choices": offered, "commands": commands})
}

/// What to type to answer what a task waits for.
pub fn commands(life: &Life, task: &TaskId) -> Vec<String> {
    next::answers_for(life, task).into_iter().map(|next| next.command).collect()
}

/// Answers to choose from, with what speaks for and against each and what it costs.
pub fn choices(choices: &[Choice]) -> Value {
    let one = |choice: &Choice| {
        let Choice { name, pros, cons, cost_usd } = choice;
        json!({"name": name, "pros": pros, "cons": cons, "cost_usd": cost_usd})
    };
    choices.iter().map(one).collect()
}

/// A plan as it is listed.
pub fn card(plan: &PlanCard, driven: bool, forecast: Option<&Forecast>) -> Value {
    let card = &plan.card;
    json!({
        "id": plan.id,
        "no": plan.no,
        "title": card.title,
        "state": card.state,
        "driven": driven,
        "not_started": !driven && is_new_fork(plan),
        "revision": card.revision,
        "tasks": card.tasks,
        "waiting_for": card.waiting,
        "cost_usd": card.used.cost_usd,
        "used": card.used,
        "budget": card.budget,
        "causes": card.causes,
        "forecast": forecast.map(Forecast::to_json),
        "labels": card.labels,
        "owner": card.owner,
        "parent": card.parent,
        "forked_from": card.forked_from,
        "created_at": plan.created_at,
        "updated_at": plan.updated_at,
        "length": plan.length,
        "pinned": plan.pinned,
    })
}

fn task(standing: &Standing, id: &TaskId) -> Value {
    let life = &standing.life;
    let (known, definition) = (life.task_life(id.as_str()), life.definition(id.as_str()));
    let span = standing.timeline.task(id);
    json!({
        "id": id,
        "title": definition.map(Task::name),
        "action": definition.and_then(|task| task.action.as_ref()).map(Action::key),
        "parent": definition.and_then(|task| task.parent.clone()),
        "state": life.task_state(id.as_str()).unwrap_or(TaskState::Pending),
        "attempt": known.map_or(0, |known| known.attempt.0),
        "held_by": life.held_by(id.as_str()),
        "about": standing.about(id),
        "started_at": span.began,
        "ended_at": span.ended,
        "duration_ms": standing.length(id).map(gantry_core::time::Duration::as_ms),
        "cost_usd": known.map(|known| known.spent.cost_usd),
        "degraded": known.is_some_and(TaskLife::is_degraded),
    })
}
