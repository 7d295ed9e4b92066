//! Lives that are written as a whole, turn by turn as they were recorded: from elsewhere, or as the beginning of a fork.

use std::collections::BTreeSet;

use gantry_core::event::{Entry, Event};
use gantry_core::id::PlanId;
use gantry_core::life::{self, Life};
use gantry_core::policy::Usage;
use gantry_core::time::Timestamp;
use gantry_runners::MODEL;
use gantry_store::{Append, Card, EffectRow, ForkedFrom, Hash, Home, NewArtifact, Store, Turn, all_effects, all_turns};

use crate::card::{artifacts_of, card_of, texts_of, texts_of_changes};
use crate::cause::{Cause, Origin};
use crate::crash::crash_point;
use crate::engine::entropy;
use crate::error::EngineError;
use crate::load::turns_after;

/// Reads all turns of a plan.
pub async fn turns(store: &dyn Store, plan: &PlanId) -> Result<Vec<Turn>, EngineError> {
    Ok(all_turns(store, plan).await?)
}

/// Reads all entries of a plan.
pub async fn entries(store: &dyn Store, plan: &PlanId) -> Result<Vec<Entry>, EngineError> {
    entries_after(store, plan, 0).await
}

/// Reads the entries of a plan after this one.
pub async fn entries_after(store: &dyn Store, plan: &PlanId, after: u64) -> Result<Vec<Entry>, EngineError> {
    let entries = turns_after(store, plan, after).await?.into_iter().flat_map(|turn| turn.entries);
    Ok(entries.filter(|entry| entry.seq > after).collect())
}

/// Returns the hashes of the artifacts that these turns speak of; their contents must be kept before an import.
pub fn artifact_hashes(turns: &[Turn]) -> BTreeSet<Hash> {
    turns.iter().flat_map(artifacts_of_turn).map(|artifact| artifact.hash).collect()
}

/// The artifacts that a stored turn speaks of.
pub(crate) fn artifacts_of_turn(turn: &Turn) -> Vec<NewArtifact> {
    let inputs = match Cause::from_json(&turn.inputs) {
        Ok(Cause::Decided { inputs, .. }) => inputs,
        Ok(Cause::Created(_) | Cause::Given) | Err(_) => Vec::new(),
    };
    artifacts_of(&turn.entries, inputs.iter())
}

/// Writes a life from elsewhere into this store, with the ways back of what was done in it, under its id or, where that
/// is taken, as a fork under a new one. Nothing of it is taken for granted: it works nowhere here until someone says so.
///
/// The contents of its artifacts are kept already. Everything else is there as a whole or not at all, even if this
/// process is killed meanwhile.
pub async fn import(
    store: &dyn Store,
    mut turns: Vec<Turn>,
    calls: Vec<EffectRow>,
    now: Timestamp,
) -> Result<PlanId, EngineError> {
    let mut entries: Vec<Entry> = turns.iter().flat_map(|turn| turn.entries.iter().cloned()).collect();
    let nameless = |bad: life::BadJournal| EngineError::Journal { plan: "imported".to_owned(), why: bad.to_string() };
    let mut whole = life::replay(&entries).map_err(nameless)?;
    let (mut id, mut from) = (whole.id().clone(), None);
    if store.load(&id).await?.is_some() {
        from = Some(ForkedFrom { plan: id, seq: whole.length() });
        id = PlanId::mint(whole.header().name(), entropy());
        entries = life::fork(&entries, whole.length(), id.clone(), now).map_err(nameless)?;
        turns.extend(mark_of(&entries));
        whole = life::replay(&entries).map_err(nameless)?;
    }
    let card = Card { home: Some(Home::default()), ..card_of(&whole, &Origin::default(), from.as_ref()) };
    write(store, id, turns, card, &whole, calls).await
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
    let Card { title, home, .. } = store.plan(plan.as_str()).await?.card;
    let id = PlanId::mint(&title, entropy());
    let forked = life::fork(&entries, at, id.clone(), now).map_err(|bad| EngineError::journal(plan, &bad))?;
    turns.retain(|turn| turn.first_seq <= at);
    if let Some(last) = turns.last_mut().filter(|last| last.last_seq() > at) {
        // Nobody decided a part of a turn.
        last.entries.retain(|entry| entry.seq <= at);
        last.inputs = Cause::Given.to_json();
    }
    if let Some(first) = turns.first_mut() {
        first.inputs = Cause::Created(origin.clone()).to_json();
    }
    turns.extend(mark_of(&forked));
    let whole = life::replay(&forked).map_err(|bad| EngineError::journal(plan, &bad))?;
    let from = ForkedFrom { plan: plan.clone(), seq: at };
    let card = Card { home, ..card_of(&whole, &origin, Some(&from)) };
    let calls = shared_calls(store, plan, &forked).await?;
    write(store, id, turns, card, &whole, calls).await
}

/// The turn that says that this is a fork: the last entry, which nobody decided.
fn mark_of(forked: &[Entry]) -> Option<Turn> {
    let last = forked.last()?.clone();
    Some(Turn { first_seq: last.seq, inputs: Cause::Given.to_json(), at: last.at, entries: vec![last] })
}

/// The calls of the attempts that a fork shares with its origin: without them it could take nothing back. Answers of
/// models go along whenever they came, so that whoever asks the same in the fork need not pay for it again.
async fn shared_calls(store: &dyn Store, from: &PlanId, entries: &[Entry]) -> Result<Vec<EffectRow>, EngineError> {
    let attempt = |entry: &Entry| match &entry.event {
        Event::AttemptStarted { task, attempt, .. } | Event::UndoStarted { task, attempt } => {
            Some((task.clone(), *attempt))
        }
        _ => None,
    };
    let shared: BTreeSet<_> = entries.iter().filter_map(attempt).collect();
    let mut calls = all_effects(store, from, None).await?;
    let is_shared = |call: &EffectRow| shared.contains(&(call.task.clone(), call.attempt));
    let answered = |call: &EffectRow| call.kind == MODEL && call.answer.is_some();
    calls.retain(|call| is_shared(call) || answered(call));
    for call in calls.iter_mut().filter(|call| !is_shared(call)) {
        call.usage = Usage::default(); // the origin has paid for it
    }
    Ok(calls)
}

/// Writes everything as one. How the plan is listed is what it is in the end; nobody sees it in between.
async fn write(
    store: &dyn Store,
    id: PlanId,
    turns: Vec<Turn>,
    card: Card,
    whole: &Life,
    calls: Vec<EffectRow>,
) -> Result<PlanId, EngineError> {
    let mut life = Vec::with_capacity(turns.len());
    let mut length = 0;
    for turn in turns {
        let texts = match turn.entries.first().map(|entry| &entry.event) {
            Some(Event::PlanCreated { plan, .. }) if length == 0 => texts_of(plan),
            _ => texts_of_changes(&turn.entries, whole),
        };
        let artifacts = artifacts_of_turn(&turn);
        let next = turn.last_seq();
        life.push(Append { texts, artifacts, ..Append::new(id.clone(), length, turn, card.clone()) });
        length = next;
    }
    if let Some(last) = life.last_mut() {
        last.effects = calls.into_iter().map(|call| EffectRow { plan: id.clone(), ..call }).collect();
    }
    let _ = store.import(life).await?;
    crash_point("after_import");
    Ok(id)
}
