//! Calls of models in the record of the plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use gantry_core::policy::Usage;
use gantry_llm::{Begun, Call, Record, RecordError, Rung};
use serde_json::{Value, json};

use super::MODEL;
use crate::ports::{CallNo, Calls, KeepError, Noted, Watch};
use crate::work::Work;

/// Writes calls of models into the record of the plan.
pub struct Notes<'a> {
    calls: &'a dyn Calls,
    /// Whoever is told that something is asked again, and by which attempt.
    told: Option<(&'a dyn Watch, &'a Work)>,
    /// Questions under way, by their keys. Held for a look, never while waiting.
    begun: Mutex<BTreeMap<String, CallNo>>,
    /// The attempt ends with this question: what makes its answer durable is under way.
    last: bool,
    /// Questions that this attempt had begun in another process, and that nobody has an answer to.
    lost: Mutex<BTreeSet<String>>,
}

impl<'a> Notes<'a> {
    /// Writes them down as calls of one attempt.
    pub fn of(calls: &'a dyn Calls) -> Self {
        Self { calls, told: None, begun: Mutex::default(), last: false, lost: Mutex::default() }
    }

    /// The same, and says it when a call is made again that a process before this one had begun.
    pub(crate) fn for_attempt(calls: &'a dyn Calls, watch: &'a dyn Watch, work: &'a Work) -> Self {
        Self { told: Some((watch, work)), ..Self::of(calls) }
    }

    /// The same for the only question of an attempt.
    pub(crate) fn for_only_question(self) -> Self {
        Self { last: true, ..self }
    }

    async fn found(&self, key: &str) -> Result<Option<Value>, RecordError> {
        let found = self.calls.recall(MODEL, key).await.map_err(failed)?;
        let own = |task, attempt| self.told.is_some_and(|(_, work)| work.task == task && work.attempt == attempt);
        if let Some(call) = &found
            && call.answer.is_none()
            && own(call.task.clone(), call.attempt)
        {
            self.lost.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned());
        }
        Ok(found.and_then(|found| found.answer))
    }
}

fn failed(error: KeepError) -> RecordError {
    RecordError(error.to_string())
}

fn asked(model: &str, method: &str, messages: &[gantry_llm::Message]) -> Value {
    json!({"model": model, "method": method, "messages": messages})
}

#[async_trait]
impl Record for Notes<'_> {
    async fn recall(&self, key: &str) -> Result<Option<Call>, RecordError> {
        let found = self.found(key).await?;
        Ok(found.and_then(|answer| serde_json::from_value(answer).ok()))
    }

    async fn begin(&self, begun: &Begun<'_>) -> Result<(), RecordError> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner).remove(begun.key);
        if let Some((watch, _)) = self.told.filter(|_| lost) {
            let note = format!(
                "{} is asked again: it had been asked when the process went away, and no answer is on record",
                begun.asked
            );
            watch.alive(note, Vec::new());
        }
        let request = asked(begun.asked, begun.method, &begun.request.messages);
        let call = self.calls.begin(MODEL, begun.key, request).await.map_err(failed)?;
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).insert(begun.key.to_owned(), call);
        Ok(())
    }

    async fn rung(&self, key: &str) -> Result<Option<Rung>, RecordError> {
        // Rungs are of questions that were begun before.
        if self.told.is_some() && self.calls.is_fresh().await.map_err(failed)? {
            return Ok(None);
        }
        let found = self.calls.recall(MODEL, key).await.map_err(failed)?;
        Ok(found.and_then(|found| found.answer).and_then(|answer| serde_json::from_value(answer).ok()))
    }

    async fn climb(&self, rung: Rung) -> Result<(), RecordError> {
        let (key, started_at, usage) = (rung.key.clone(), rung.started_at, rung.usage());
        let request = json!({"model": rung.target, "method": "rung"});
        let noted = Noted { kind: MODEL, key, request, answer: json!(rung), usage, started_at };
        self.calls.note(noted).await.map_err(failed)
    }

    async fn note(&self, call: Call, usage: Usage) -> Result<(), RecordError> {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner).remove(&call.key);
        if let Some(number) = begun.filter(|_| self.last) {
            return self.calls.hand_in(number, json!(call), usage).await.map_err(failed);
        }
        if let Some(number) = begun {
            return self.calls.end(number, json!(call), usage).await.map_err(failed);
        }
        let request = asked(&call.asked, &call.method, &call.request.messages);
        let (key, started_at) = (call.key.clone(), call.started_at);
        let noted = Noted { kind: MODEL, key, request, answer: json!(call), usage, started_at };
        self.calls.note(noted).await.map_err(failed)
    }
}
