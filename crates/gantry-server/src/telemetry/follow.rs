//! Follows what plans do, and tells of it when something has ended.

use std::collections::BTreeMap;

use gantry_core::event::{Entry, Event};
use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::time::Timestamp;
use gantry_engine::{Engine, Happening};
use gantry_store::{EffectRow, all_effects};
use gantry_view::words::{Weight, said};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::{Kind, Span, Telemetry};

/// How many attempts and plans are remembered that have begun and not ended.
const BEGUN_MAX: usize = 100_000;

/// When things began: attempts, and plans without a task.
type Begun = BTreeMap<(PlanId, Option<(TaskId, AttemptNo)>), Timestamp>;

impl Telemetry {
    /// Tells what plans do until the server stops.
    pub async fn follow(self, engine: Engine, stop: CancellationToken) {
        let mut happenings = engine.watch();
        let mut begun = Begun::new();
        loop {
            let happening = tokio::select! {
                biased;
                happening = happenings.recv() => happening,
                () = stop.cancelled() => return,
            };
            match happening {
                Ok(Happening::Events { plan, entries }) => {
                    for entry in entries.iter() {
                        self.take(&engine, &plan, entry, &mut begun).await;
                    }
                }
                Ok(Happening::StoreTrouble { plan, error }) => {
                    self.log(crate::app::App::now(), "trouble", json!({"plan": plan, "said": error.to_string()}));
                }
                // What was missed is missing; the record has it.
                Ok(Happening::Output { .. } | Happening::Notice { .. }) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn take(&self, engine: &Engine, plan: &PlanId, entry: &Entry, begun: &mut Begun) {
        let words = said(&entry.event);
        if words.weight == Weight::News || entry.event.task().is_none() {
            let line = json!({"plan": plan, "seq": entry.seq, "task": entry.event.task(), "said": words.line()});
            self.log(entry.at, "plan", line);
        }
        match &entry.event {
            Event::PlanStarted | Event::PlanReopened { .. } => remember(begun, (plan.clone(), None), entry.at),
            Event::AttemptStarted { task, attempt, .. } => {
                remember(begun, (plan.clone(), Some((task.clone(), *attempt))), entry.at);
            }
            Event::AttemptSucceeded { task, attempt, .. } => {
                self.attempt(engine, plan, (task, *attempt), begun, entry.at, None).await;
            }
            Event::AttemptFailed { task, attempt, failure, .. } => {
                self.attempt(engine, plan, (task, *attempt), begun, entry.at, Some(failure.message.clone())).await;
            }
            Event::PlanCompleted { .. } => self.plan(engine, plan, begun, entry.at, None).await,
            Event::PlanFailed { causes } => {
                self.plan(engine, plan, begun, entry.at, Some(causes.join("; "))).await;
            }
            Event::PlanAbandoned { why, .. } => self.plan(engine, plan, begun, entry.at, Some(why.clone())).await,
            _ => {}
        }
    }

    async fn plan(&self, engine: &Engine, plan: &PlanId, begun: &mut Begun, at: Timestamp, failed: Option<String>) {
        let card = engine.store().plan(plan.as_str()).await.ok();
        let known = begun.remove(&(plan.clone(), None));
        let from = known.or_else(|| card.as_ref().map(|card| card.created_at)).unwrap_or(at);
        let title = card.as_ref().map_or(plan.as_str(), |card| card.card.title.as_str());
        let used = card.as_ref().map(|card| card.card.used);
        let span = Span::of_plan(plan.as_str(), title, from, at)
            .with("gantry.plan", plan.as_str())
            .with("gantry.model_calls", used.map(|used| used.model_calls))
            .with("gantry.cost_usd", used.map(|used| used.cost_usd.to_string()));
        self.send(span.failed(failed));
    }

    async fn attempt(
        &self,
        engine: &Engine,
        plan: &PlanId,
        (task, attempt): (&TaskId, AttemptNo),
        begun: &mut Begun,
        at: Timestamp,
        failed: Option<String>,
    ) {
        let from = begun.remove(&(plan.clone(), Some((task.clone(), attempt)))).unwrap_or(at);
        if self.spans.is_none() {
            return;
        }
        let number = attempt.to_string();
        let path = [task.as_str(), number.as_str()];
        let span = Span::inside(plan.as_str(), &path, format!("task {task}"), Kind::Internal, from, at)
            .with("gantry.plan", plan.as_str())
            .with("gantry.task", task.as_str())
            .with("gantry.attempt", attempt.0);
        self.send(span.failed(failed));
        let calls = all_effects(&**engine.store(), plan, Some(task)).await.unwrap_or_default();
        for call in calls.iter().filter(|call| call.attempt == attempt) {
            self.send(of_call(call, &path));
        }
    }
}

fn remember(begun: &mut Begun, what: (PlanId, Option<(TaskId, AttemptNo)>), at: Timestamp) {
    if begun.len() >= BEGUN_MAX {
        begun.pop_first();
    }
    begun.insert(what, at);
}

/// A call to the outside; one to a model in the words of the conventions for those.
fn of_call(call: &EffectRow, path: &[&str; 2]) -> Span {
    let ordinal = call.ordinal.to_string();
    let path = [path[0], path[1], ordinal.as_str()];
    let until = call.ended_at.unwrap_or(call.started_at);
    let span = |name: String| Span::inside(call.plan.as_str(), &path, name, Kind::Client, call.started_at, until);
    let answer = call.answer.as_ref();
    if call.kind != "model" {
        return span(call.kind.clone()).with("gantry.plan", call.plan.as_str()).with("gantry.task", call.task.as_str());
    }
    let at = |path: &str| answer.and_then(|answer| answer.pointer(path)).cloned().unwrap_or(Value::Null);
    let asked = call.request["model"].as_str().unwrap_or("unknown");
    let (provider, model) = asked.split_once(':').unwrap_or(("", asked));
    let failed = (answer.is_some() && at("/answer").is_null() && !at("/failed").is_null())
        .then(|| at("/failed").as_array().and_then(|all| all.last().map(Value::to_string)).unwrap_or_default());
    let finish = at("/answer/finish");
    span(format!("chat {model}"))
        .with("gen_ai.operation.name", "chat")
        .with("gen_ai.provider.name", provider)
        .with("gen_ai.request.model", model)
        .with("gen_ai.response.model", at("/answer/model"))
        .with("gen_ai.response.id", at("/answer/id"))
        .with("gen_ai.response.finish_reasons", if finish.is_null() { Value::Null } else { json!([finish]) })
        .with("gen_ai.usage.input_tokens", at("/tokens/input"))
        .with("gen_ai.usage.output_tokens", at("/tokens/output"))
        .with("gantry.cost_usd", call.usage.cost_usd.to_string())
        .with("gantry.plan", call.plan.as_str())
        .with("gantry.task", call.task.as_str())
        .with("error.type", failed.as_ref().map(|_| "model"))
        .failed(failed)
}
