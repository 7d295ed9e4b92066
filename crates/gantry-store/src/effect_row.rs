//! Recorded effects: every call to the outside with its request and its answer, so that a life can be replayed.

use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::policy::Usage;
use gantry_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Hash;

/// One call to the outside.
///
/// It is recorded when it begins, without an answer, and once more with its answer. An answer stays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectRow {
    /// The plan.
    pub plan: PlanId,
    /// The task.
    pub task: TaskId,
    /// The attempt.
    pub attempt: AttemptNo,
    /// The how many-th call of this attempt.
    pub ordinal: u32,
    /// What was called: `model`, `shell`, `http`, …
    pub kind: String,
    /// The hash of the request.
    pub request_hash: Hash,
    /// The request.
    pub request: Value,
    /// The answer, or none while it is under way.
    pub answer: Option<Value>,
    /// What it used, its cost included.
    pub usage: Usage,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

impl EffectRow {
    /// Returns how messages call it.
    pub fn name(&self) -> String {
        format!("effect {} of attempt {} at `{}` in plan `{}`", self.ordinal, self.attempt, self.task, self.plan)
    }
}
