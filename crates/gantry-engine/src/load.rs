//! A life is read from the store: the newest snapshot, and the turns since.

use gantry_core::event::{EVENT_VERSION, Entry};
use gantry_core::id::PlanId;
use gantry_core::life::{self, BadJournal, Life};
use gantry_store::{ForkedFrom, Loaded, PlanNo, Snapshot, Store, StoreError, Turn};
use serde::{Deserialize, Serialize};

use crate::cause::{Cause, Origin};
use crate::error::EngineError;

/// Which program's fold a snapshot holds: another one folds the journal anew.
const FOLD: &str = concat!(env!("CARGO_PKG_VERSION"), "/1");

/// A plan as it was read.
#[derive(Debug)]
pub struct Opened {
    /// Its number in the store.
    pub no: PlanNo,
    /// Its life.
    pub life: Life,
    /// Where it comes from.
    pub origin: Origin,
    /// The plan that it continues, if it does.
    pub forked_from: Option<ForkedFrom>,
    /// How many entries the newest snapshot holds.
    pub(crate) snapshot_length: u64,
}

#[derive(Serialize)]
struct Written<'a> {
    fold: &'a str,
    life: &'a Life,
}

#[derive(Deserialize)]
struct Read {
    fold: String,
    life: Life,
}

/// Folds a life into bytes.
pub(crate) fn snapshot_of(life: &Life) -> Option<Snapshot> {
    let body = serde_json::to_vec(&Written { fold: FOLD, life }).ok()?;
    Some(Snapshot { length: life.length(), body })
}

/// Reads a plan; what it says was verified against the hashes of the journal.
pub async fn open(store: &dyn Store, plan: &PlanId) -> Result<Opened, EngineError> {
    let loaded = store.load(plan).await?.ok_or_else(|| StoreError::not_found(format!("plan `{plan}`")))?;
    let no = loaded.plan_no;
    let (life, snapshot_length) = match fold_snapshot(&loaded, plan)? {
        Some(life) => (life, loaded.snapshot.map_or(0, |snapshot| snapshot.length)),
        None => {
            let entries: Vec<Entry> = if loaded.snapshot.is_none() {
                loaded.turns.into_iter().flat_map(|turn| turn.entries).collect()
            } else {
                all_turns(store, plan).await?.into_iter().flat_map(|turn| turn.entries).collect()
            };
            (life::replay(&entries).map_err(|bad| EngineError::journal(plan, &bad))?, 0)
        }
    };
    let origin = origin(store, plan).await?;
    let forked_from = store.plan(plan.as_str()).await?.card.forked_from;
    Ok(Opened { no, life, origin, forked_from, snapshot_length })
}

/// The life of a snapshot with the turns since, if the snapshot can be used.
fn fold_snapshot(loaded: &Loaded, plan: &PlanId) -> Result<Option<Life>, EngineError> {
    let Some(snapshot) = &loaded.snapshot else { return Ok(None) };
    let Ok(read) = serde_json::from_slice::<Read>(&snapshot.body) else { return Ok(None) };
    if read.fold != FOLD || read.life.length() != snapshot.length {
        return Ok(None);
    }
    let mut life = read.life;
    for entry in loaded.turns.iter().flat_map(|turn| &turn.entries) {
        let expected = life.length() + 1;
        let bad = if entry.seq != expected {
            BadJournal::Gap { expected, found: entry.seq }
        } else if entry.v > EVENT_VERSION {
            BadJournal::Newer { seq: entry.seq, version: entry.v }
        } else {
            life.apply(std::slice::from_ref(entry));
            continue;
        };
        return Err(EngineError::journal(plan, &bad));
    }
    Ok(Some(life))
}

/// Reads the whole journal of a plan.
pub(crate) async fn all_turns(store: &dyn Store, plan: &PlanId) -> Result<Vec<Turn>, EngineError> {
    turns_after(store, plan, 0).await
}

/// Reads the turns that have entries after this one.
pub(crate) async fn turns_after(store: &dyn Store, plan: &PlanId, mut after: u64) -> Result<Vec<Turn>, EngineError> {
    let mut turns = Vec::new();
    loop {
        let page = store.turns(plan, after, gantry_store::PAGE_ITEMS_MAX).await?;
        turns.extend(page.items);
        match page.next {
            Some(next) => after = next,
            None => return Ok(turns),
        }
    }
}

/// Where a plan comes from: its first turn says so.
async fn origin(store: &dyn Store, plan: &PlanId) -> Result<Origin, EngineError> {
    let first = store.turns(plan, 0, 1).await?.items.into_iter().next();
    Ok(match first.map(|turn| Cause::from_json(&turn.inputs)) {
        Some(Ok(Cause::Created(origin))) => origin,
        Some(_) | None => Origin::default(),
    })
}
