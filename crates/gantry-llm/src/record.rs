//! Every call is written down before its answer is used, and an answer that is written down is not asked for again.
//!
//! A question may take several calls: it goes on where it was cut, faults are shown, the next model is asked. The first
//! thing on record, while the first call is under way, is that it was begun; then each [`Rung`], that is, each reply after
//! which it goes on; at last the [`Call`] with the answer. Whoever asks the same later goes the same way, and pays from
//! where the record ends.

use std::collections::BTreeMap;

use async_trait::async_trait;
use gantry_core::plan::Money;
use gantry_core::policy::Usage;
use gantry_core::time::{Duration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Reply, Tokens};
use crate::error::CallError;
use crate::request::Request;

/// Keeps calls, for one task of one plan.
#[async_trait]
pub trait Record: Send + Sync {
    /// What was noted under this key before, anywhere in the plan: with the answer, if there is one.
    async fn recall(&self, key: &str) -> Result<Option<Call>, RecordError>;
    /// Returns once it is durable that a question is being asked.
    async fn begin(&self, begun: &Begun<'_>) -> Result<(), RecordError>;
    /// The rung that was recorded under this key before, anywhere in the plan.
    async fn rung(&self, key: &str) -> Result<Option<Rung>, RecordError>;
    /// Returns once the rung is durable.
    async fn climb(&self, rung: Rung) -> Result<(), RecordError>;
    /// Returns once whoever comes after this process knows the call, which is on disk no later than what is made of its
    /// answer. `usage` is what of it no rung has on record.
    async fn note(&self, call: Call, usage: Usage) -> Result<(), RecordError>;
}

/// A question that is being asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Begun<'a> {
    /// The key of the question.
    pub key: &'a str,
    /// What was wanted: the name of the prompt, or else the role.
    pub method: &'a str,
    /// What is asked.
    pub request: &'a Request,
    /// Who is to answer, as `provider:model`.
    pub asked: &'a str,
}

/// A reply that was not the end of its question, or came from another than the model asked first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// The key of the call.
    pub key: String,
    /// Who was called, as `provider:model`.
    pub target: String,
    /// What came.
    pub reply: Reply,
    /// What it used.
    pub tokens: Tokens,
    /// The provider did not say what was used: it is a guess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guessed: bool,
    /// What it cost.
    pub cost_usd: Money,
    /// When its question began.
    pub started_at: Timestamp,
}

impl Rung {
    /// What counts against budgets.
    pub fn usage(&self) -> Usage {
        Usage { cost_usd: self.cost_usd, model_calls: 1, tokens: self.tokens.all(), nodes: 0 }
    }
}

/// One request and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The key of the request.
    pub key: String,
    /// What was wanted: the name of the prompt, or else the role.
    pub method: String,
    /// What was asked.
    pub request: Request,
    /// Who was to answer, as `provider:model`.
    pub asked: String,
    /// The answer that holds, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Each call that came to nothing, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<CallError>,
    /// How many calls were made, those that came to nothing included, and those that a note before has counted left out.
    pub calls: u64,
    /// What they used.
    pub tokens: Tokens,
    /// What they cost.
    pub cost_usd: Money,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// For whom it was asked: whatever the asker wants to find it by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub context: BTreeMap<String, String>,
}

impl Call {
    /// The model that really answered.
    pub fn used(&self) -> Option<&str> {
        self.answer.as_ref().map(|answer| answer.model.as_str())
    }

    /// Why another than the model asked first has answered.
    pub fn fallback(&self) -> Option<&str> {
        self.answer.as_ref()?.fallback.as_deref()
    }

    /// Why there is no answer.
    pub fn error(&self) -> Option<String> {
        let last = self.answer.is_none().then(|| self.failed.last())?;
        Some(last.map_or_else(|| "nobody answered".to_owned(), ToString::to_string))
    }

    /// How long it took.
    pub fn duration(&self) -> Duration {
        self.ended_at - self.started_at
    }
}

/// What many calls add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Requests.
    pub requests: u64,
    /// Calls that were made for them.
    pub calls: u64,
    /// Requests without an answer that holds.
    pub failures: u64,
    /// Requests that another than the model asked first has answered.
    pub fallbacks: u64,
    /// What was used.
    pub tokens: Tokens,
    /// Of some of that no provider told: it is a guess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens_guessed: bool,
    /// What it cost.
    pub cost_usd: Money,
    /// How long the requests took, one after the other.
    pub duration: Duration,
}

impl Counters {
    /// Adds up.
    pub fn of<'a>(calls: impl IntoIterator<Item = &'a Call>) -> Self {
        calls.into_iter().fold(Self::default(), |sum, call| Self {
            requests: sum.requests + 1,
            calls: sum.calls.saturating_add(call.calls),
            failures: sum.failures + u64::from(call.answer.is_none()),
            fallbacks: sum.fallbacks + u64::from(call.fallback().is_some()),
            tokens: sum.tokens.plus(call.tokens),
            tokens_guessed: sum.tokens_guessed || call.answer.as_ref().is_some_and(|answer| answer.tokens_guessed),
            cost_usd: Money(sum.cost_usd.0.saturating_add(call.cost_usd.0)).min(Money::MAX),
            duration: Duration::from_ms(sum.duration.as_ms().saturating_add(call.duration().as_ms())),
        })
    }
}

/// Why the record could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(pub String);

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forgetful;

#[async_trait]
impl Record for Forgetful {
    async fn recall(&self, _: &str) -> Result<Option<Call>, RecordError> {
        Ok(None)
    }
    async fn begin(&self, _: &Begun<'_>) -> Result<(), RecordError> {
        Ok(())
    }
    async fn rung(&self, _: &str) -> Result<Option<Rung>, RecordError> {
        Ok(None)
    }
    async fn climb(&self, _: Rung) -> Result<(), RecordError> {
        Ok(())
    }
    async fn note(&self, _: Call, _: Usage) -> Result<(), RecordError> {
        Ok(())
    }
}
