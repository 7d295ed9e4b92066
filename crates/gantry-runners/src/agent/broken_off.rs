//! An attempt that could not go on, through no fault of what it did: a model was away, or a budget was used up.
//!
//! The next attempt takes it up where it was: it says again what was said before, and so gets the answers that there
//! are. One that failed by what it did, or by what models said, begins anew, and so does one that is told something new.

use gantry_core::effect::Failure;
use gantry_core::id::{AttemptNo, TaskId};
use gantry_core::policy::{FailureClass, Usage};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::ports::Ports;
use crate::work::Work;

/// The kind under which it is recorded that an attempt was broken off.
const BROKEN_OFF: &str = "broken-off";

#[derive(Serialize, Deserialize)]
struct BrokenOff {
    /// The attempt that began it.
    first: AttemptNo,
    /// What that attempt was told.
    feedback: Option<String>,
}

/// It is found by the task and the attempt alone.
fn key_of(task: &TaskId, attempt: AttemptNo) -> String {
    blake3::hash(json!([BROKEN_OFF, task, attempt]).to_string().as_bytes()).to_hex().to_string()
}

/// The work as it was begun by the first of the attempts that were broken off just before this one, if there is one.
pub(super) async fn taken_up(work: &Work, ports: &Ports) -> Result<Option<Work>, Failure> {
    let Some(before) = work.attempt.0.checked_sub(1).filter(|before| *before > 0) else { return Ok(None) };
    let found = ports.calls.recall(BROKEN_OFF, &key_of(&work.task, AttemptNo(before))).await?;
    let found = found.and_then(|call| call.answer).and_then(|answer| serde_json::from_value::<BrokenOff>(answer).ok());
    let same = found.filter(|found| work.feedback.is_none() || work.feedback == found.feedback);
    Ok(same.map(|found| Work { attempt: found.first, feedback: found.feedback, ..work.clone() }))
}

/// Writes down that an attempt was broken off, when that is how it ended.
pub(super) async fn note(failure: &Failure, work: &Work, begun: &Work, ports: &Ports) -> Result<(), Failure> {
    let passes = matches!(failure.class, FailureClass::Transient | FailureClass::Policy);
    if !passes || failure.is_needs_approval() {
        return Ok(());
    }
    let (request, now) =
        (json!({"why": failure.message}), BrokenOff { first: begun.attempt, feedback: begun.feedback.clone() });
    let call = ports.calls.begin(BROKEN_OFF, &key_of(&work.task, work.attempt), request).await?;
    Ok(ports.calls.end(call, json!(now), Usage::default()).await?)
}
