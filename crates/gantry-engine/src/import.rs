//! Lives that are written as a whole, turn by turn as they were recorded: from elsewhere, or as the beginning of a fork.

use std::collections::BTreeSet;

use gantry_core::event::{Entry, Event};
use gantry_core::id::PlanId;
use gantry_core::life;
use gantry_core::time::Timestamp;
use gantry_store::{Append, EffectRow, ForkedFrom, Hash, NewArtifact, PAGE_ITEMS_MAX, Store, StoreError, Turn};

use crate::card::{artifacts_of, card_of, texts_of, texts_of_changes};
use crate::cause::{Cause, Origin};
use crate::engine::entropy;
use crate::error::EngineError;
use crate::load::all_turns;

/// Reads all turns of a plan.
pub async fn turns(store: &dyn Store, plan: &PlanId) -> Result<Vec<Turn>, EngineError> {
    all_turns(store, plan).await
}

/// Reads all entries of a plan.
pub async fn entries(store: &dyn Store, plan: &PlanId) -> Result<Vec<Entry>, EngineError> {
    Ok(all_turns(store, plan).await?.into_iter().flat_map(|turn| turn.entries).collect())
}

/// Returns the hashes of the artifacts that these turns speak of; their contents must be kept before an import.
pub fn artifact_hashes(turns: &[Turn]) -> BTreeSet<Hash> {
    turns.iter().flat_map(artifacts_of_turn).map(|artifact| artifact.hash).collect()
}

/// The artifacts that a stored turn speaks of.
fn artifacts_of_turn(turn: &Turn) -> Vec<NewArtifact> {
    let inputs = match Cause::from_value(&turn.inputs) {
        Ok(Cause::Decided { inputs, .. }) => inputs,
        Ok(Cause::Created(_) | Cause::Given) | Err(_) => Vec::new(),
    };
    artifacts_of(&turn.entries, inputs.iter())
}

/// Writes a life from elsewhere into this store, under its id or, where that is taken, as a fork under a new one.
///
/// The contents of its artifacts are kept already. Whatever stops it on the way, nothing of it stays, unless this
/// process is killed: then the plan is there as far as it got.
pub async fn import(store: &dyn Store, mut turns: Vec<Turn>, now: Timestamp) -> Result<PlanId, EngineError> {
    let entries: Vec<Entry> = turns.iter().flat_map(|turn| turn.entries.iter().cloned()).collect();
    let nameless = |bad: life::BadJournal| EngineError::Journal { plan: "imported".to_owned(), why: bad.to_string() };
    let whole = life::replay(&entries).map_err(nameless)?;
    let (own, title) = (whole.id().clone(), whole.header().name().to_owned());
    if store.load(&own).await?.is_none() {
        return write(store, own, &turns, None).await;
    }
    let id = PlanId::mint(&title, entropy());
    let forked = life::fork(&entries, whole.length(), id.clone(), now).map_err(nameless)?;
    let from = ForkedFrom { plan: own, seq: whole.length() };
    let last = forked[forked.len() - 1..].to_vec();
    turns.push(Turn { first_seq: whole.length() + 1, inputs: Cause::Given.to_value(), at: last[0].at, entries: last });
    write(store, id, &turns, Some(&from)).await
}

/// Begins another life with the first `at` entries of a plan, and with the ways back of what was done in them.
pub(crate) async fn fork(
    store: &dyn Store,
    plan: &PlanId,
    at: u64,
    origin: Origin,
    now: Timestamp,
) -> Result<PlanId, EngineError> {
    let mut turns = all_turns(store, plan).await?;
    let entries: Vec<Entry> = turns.iter().flat_map(|turn| turn.entries.iter().cloned()).collect();
    let id = PlanId::mint(&store.plan(plan.as_str()).await?.card.title, entropy());
    let forked = life::fork(&entries, at, id.clone(), now).map_err(|bad| EngineError::journal(plan, &bad))?;
    turns.retain(|turn| turn.first_seq <= at);
    if let Some(last) = turns.last_mut().filter(|last| last.last_seq() > at) {
        // Nobody decided a part of a turn.
        last.entries.retain(|entry| entry.seq <= at);
        last.inputs = Cause::Given.to_value();
    }
    if let Some(first) = turns.first_mut() {
        first.inputs = Cause::Created(origin).to_value();
    }
    let last = forked[forked.len() - 1..].to_vec();
    turns.push(Turn { first_seq: at + 1, inputs: Cause::Given.to_value(), at: last[0].at, entries: last });
    let id = write(store, id, &turns, Some(&ForkedFrom { plan: plan.clone(), seq: at })).await?;
    copy_calls(store, plan, &id, &forked).await?;
    Ok(id)
}

/// Copies the calls of the attempts that a fork shares with its origin: without them it could take nothing back.
async fn copy_calls(store: &dyn Store, from: &PlanId, to: &PlanId, entries: &[Entry]) -> Result<(), EngineError> {
    let attempt = |entry: &Entry| match &entry.event {
        Event::AttemptStarted { task, attempt, .. } | Event::UndoStarted { task, attempt } => {
            Some((task.clone(), *attempt))
        }
        _ => None,
    };
    let shared: BTreeSet<_> = entries.iter().filter_map(attempt).collect();
    let mut cursor = 0;
    loop {
        let page = store.effects(from, None, cursor, PAGE_ITEMS_MAX).await?;
        let calls = page.items.into_iter().filter(|call| shared.contains(&(call.task.clone(), call.attempt)));
        let calls: Vec<EffectRow> = calls.map(|call| EffectRow { plan: to.clone(), ..call }).collect();
        if !calls.is_empty() {
            store.record_effects(calls).await?;
        }
        match page.next {
            Some(next) => cursor = next,
            None => return Ok(()),
        }
    }
}

async fn write(
    store: &dyn Store,
    id: PlanId,
    turns: &[Turn],
    from: Option<&ForkedFrom>,
) -> Result<PlanId, EngineError> {
    match append_all(store, &id, turns, from).await {
        Ok(()) => Ok(id),
        // Someone else made a plan of this name meanwhile: it is theirs.
        Err(error @ EngineError::Store(StoreError::Conflict { .. })) => Err(error),
        Err(error) => {
            // What is left of it is of no use; that it could not be removed either says nothing new.
            let _ = store.forget(&id).await;
            Err(error)
        }
    }
}

async fn append_all(
    store: &dyn Store,
    id: &PlanId,
    turns: &[Turn],
    from: Option<&ForkedFrom>,
) -> Result<(), EngineError> {
    let mut known: Option<life::Life> = None;
    let parent = match turns.first().map(|turn| Cause::from_value(&turn.inputs)) {
        Some(Ok(Cause::Created(Origin { parent, .. }))) => parent.map(|(plan, _)| plan),
        _ => None,
    };
    for turn in turns {
        let (length, life) = match known.take() {
            None => (0, life::replay(&turn.entries).map_err(|bad| EngineError::journal(id, &bad))?),
            Some(mut life) => {
                let length = life.length();
                life.apply(&turn.entries);
                (length, life)
            }
        };
        let texts = if length == 0 { texts_of(&life.plan()) } else { texts_of_changes(&turn.entries, &life) };
        let card = card_of(&life, parent.as_ref(), from);
        let artifacts = artifacts_of_turn(turn);
        let append = Append { texts, artifacts, ..Append::new(id.clone(), length, turn.clone(), card) };
        let _ = store.append(append).await?;
        known = Some(life);
    }
    Ok(())
}
