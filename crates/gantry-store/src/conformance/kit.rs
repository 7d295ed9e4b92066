//! What the tests are written with.

use std::collections::BTreeMap;

use gantry_core::event::{EVENT_VERSION, Entry, Event};
use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::policy::Usage;
use gantry_core::time::Timestamp;
use serde_json::json;

use crate::{Append, Appended, Card, EffectRow, Hash, NewArtifact, Store, StoreError, Turn};

/// A plan's id.
pub fn plan(name: &str) -> PlanId {
    PlanId::new(name).expect("a slug")
}

/// A task's id.
pub fn task(name: &str) -> TaskId {
    TaskId::new(name).expect("a slug")
}

/// A moment, in milliseconds.
pub fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

/// A turn of some entries after others.
pub fn turn(length: u64, entries: u64) -> Turn {
    let entry = |seq: u64| Entry {
        v: EVENT_VERSION,
        seq,
        at: at(1_000 + seq.cast_signed()),
        event: Event::FactsObserved { facts: BTreeMap::from([("seq".to_owned(), json!(seq))]) },
    };
    Turn {
        first_seq: length + 1,
        inputs: json!([{"after": length}]).to_string(),
        entries: (length + 1..=length + entries).map(entry).collect(),
        at: at(1_000 + length.cast_signed()),
    }
}

/// An append of some entries after others.
pub fn append(id: &str, length: u64, entries: u64) -> Append {
    Append::new(plan(id), length, turn(length, entries), Card::new(format!("Plan {id}")))
}

/// Appends turns of one entry each, from the first on.
pub async fn grow(store: &impl Store, id: &str, turns: u64) -> Appended {
    let mut last = store.append(append(id, 0, 1)).await.expect("the first turn");
    for length in 1..turns {
        last = store.append(append(id, length, 1)).await.expect("the next turn");
    }
    last
}

/// An artifact of a stored blob.
pub fn artifact(name: &str, hash: Hash, bytes: u64) -> NewArtifact {
    NewArtifact {
        task: task("build"),
        name: name.to_owned(),
        hash,
        bytes,
        media: "text/plain".to_owned(),
        attempt: AttemptNo(1),
        at: at(5),
        made_by: "shell".to_owned(),
    }
}

/// A call that is under way.
pub fn effect(id: &str, of: &str, ordinal: u32) -> EffectRow {
    EffectRow {
        plan: plan(id),
        task: task(of),
        attempt: AttemptNo(1),
        ordinal,
        kind: "model".to_owned(),
        request_hash: Hash::of(b"request"),
        request: json!({"model": "m", "prompt": "p"}),
        answer: None,
        usage: Usage::default(),
        started_at: at(10),
        ended_at: None,
    }
}

/// The same call with its answer.
pub fn answered(mut effect: EffectRow, text: &str) -> EffectRow {
    effect.answer = Some(json!({ "text": text }));
    effect.usage = Usage { tokens: 7, model_calls: 1, ..Usage::default() };
    effect.ended_at = Some(at(20));
    effect
}

/// Tells whether something was not found.
pub fn is_not_found<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::NotFound { .. }))
}
