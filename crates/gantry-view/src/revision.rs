//! A plan as it was at a revision, or after an entry of its journal.

use gantry_core::event::Event;
use gantry_core::id::{PlanId, Revision};
use gantry_core::life::{self, Life};
use gantry_engine::EngineError;
use gantry_store::{Store, StoreError};

/// Reads `PLAN` or `PLAN@rN`.
pub fn split(text: &str) -> (&str, Option<Revision>) {
    let revision = |(plan, digits): (&'_ str, &str)| digits.parse().ok().map(|no| (plan.len(), Revision(no)));
    match text.rsplit_once("@r").and_then(revision) {
        Some((end, revision)) if end > 0 => (&text[..end], Some(revision)),
        _ => (text, None),
    }
}

/// The life of a plan until a revision gave way to the next, or until now.
pub async fn life_at(store: &dyn Store, id: &PlanId, revision: Option<Revision>) -> Result<Life, EngineError> {
    let mut entries = gantry_engine::entries(store, id).await?;
    let current = entries.iter().rev().find_map(|entry| match &entry.event {
        Event::PlanRevised { revision, .. } => Some(*revision),
        _ => None,
    });
    let current = current.unwrap_or(Revision(1));
    if let Some(wanted) = revision {
        if wanted.0 == 0 || wanted > current {
            let what = format!("revision {wanted} of plan `{id}`");
            return Err(StoreError::NotFound { what, candidates: vec![format!("revisions 1 to {current}")] }.into());
        }
        let next = |event: &Event| matches!(event, Event::PlanRevised { revision, .. } if *revision > wanted);
        if let Some(end) = entries.iter().position(|entry| next(&entry.event)) {
            entries.truncate(end);
        }
    }
    replayed(id, &entries)
}

/// The life of a plan after this many entries of its journal.
pub async fn life_after(store: &dyn Store, id: &PlanId, length: u64) -> Result<Life, EngineError> {
    let mut entries = gantry_engine::entries(store, id).await?;
    if length == 0 || length > entries.len() as u64 {
        let what = format!("entry {length} of plan `{id}`");
        let candidates = vec![format!("entries 1 to {}", entries.len())];
        return Err(StoreError::NotFound { what, candidates }.into());
    }
    entries.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    replayed(id, &entries)
}

fn replayed(id: &PlanId, entries: &[gantry_core::event::Entry]) -> Result<Life, EngineError> {
    life::replay(entries).map_err(|bad| EngineError::Journal { plan: id.to_string(), why: bad.to_string() })
}
