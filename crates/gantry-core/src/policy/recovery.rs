//! How failures are answered: one class in, one remedy out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Duration;

/// Why an attempt did not succeed. Chosen by the runner, answered by the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Try again later: a rate limit, a lost connection.
    Transient,
    /// Try differently: a wrong output, a failed check.
    Logic,
    /// Ask a person: scope, budget, an unsafe change.
    Policy,
    /// No answer: it may have happened, so check before repeating.
    Lost,
    /// Someone stopped it.
    Cancelled,
}

/// What is done about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Again, after a while.
    Retry,
    /// Again at once, told what was wrong.
    Repair,
    /// Another way: the task's next alternate action.
    Alternate,
    /// Go on with the task's fallback outputs, marked as degraded.
    Fallback,
    /// Take back what the task's composite did, then fail.
    Undo,
    /// Ask a person what to do.
    Escalate,
    /// Give up the whole plan.
    Abort,
}

impl Remedy {
    /// The remedies by name.
    pub const NAMES: [&str; 7] = ["retry", "repair", "alternate", "fallback", "undo", "escalate", "abort"];
}

/// The remedies for each class, tried in order; one that cannot be used (any more) is passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Recovery {
    /// For transient failures.
    pub transient: Vec<Remedy>,
    /// For wrong results.
    pub logic: Vec<Remedy>,
    /// For forbidden things.
    pub policy: Vec<Remedy>,
    /// For lost attempts that are proved not to have happened, or are safe to repeat.
    /// Others always wait for a person.
    pub lost: Vec<Remedy>,
    /// How often a task that a model or an agent carries out may be repaired.
    pub repairs_max: u32,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            transient: vec![Remedy::Retry, Remedy::Alternate, Remedy::Fallback],
            logic: vec![Remedy::Repair, Remedy::Alternate, Remedy::Fallback],
            policy: vec![Remedy::Escalate],
            lost: vec![Remedy::Retry, Remedy::Alternate, Remedy::Fallback],
            repairs_max: 2,
        }
    }
}

impl Recovery {
    /// Returns the remedies for a class. Nothing is done about what someone stopped on purpose.
    pub fn remedies(&self, class: FailureClass) -> &[Remedy] {
        match class {
            FailureClass::Transient => &self.transient,
            FailureClass::Logic => &self.logic,
            FailureClass::Policy => &self.policy,
            FailureClass::Lost => &self.lost,
            FailureClass::Cancelled => &[],
        }
    }
}

/// How often a task is tried again, and how long to wait before.
///
/// The policy's own retry answers transient and lost attempts. A task that asks for retries itself
/// gets them for wrong results too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retry {
    /// Retries after the first attempt.
    pub max: u32,
    /// How long to wait before the first retry; doubled each time.
    pub backoff: Duration,
    /// The longest wait.
    pub backoff_max: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { max: 2, backoff: Duration::from_secs(1), backoff_max: Duration::from_mins(5) }
    }
}

impl Retry {
    /// Waits before the retry with this number (1 is the first): doubled each time, then between
    /// half and all of it, by `jitter` (any number, the same for the same attempt).
    pub fn wait(&self, retry: u32, jitter: u64) -> Duration {
        let doubled = self.backoff.times(1_u64 << retry.saturating_sub(1).min(32));
        let whole = doubled.min(self.backoff_max).as_ms();
        let half = whole / 2;
        Duration::from_ms(half + jitter % (whole - half + 1))
    }
}
