//! A life is read from the store: the newest snapshot, and the turns since.

use std::sync::Arc;

use gantry_core::event::{EVENT_VERSION, Entry};
use gantry_core::id::PlanId;
use gantry_core::life::{self, BadJournal, Life};
use gantry_core::policy::Policy;
use gantry_store::{Card, ForkedFrom, Home, Loaded, PlanNo, Snapshot, Store, StoreError, Turn, all_turns};
use serde::{Deserialize, Serialize};

use crate::cause::{Cause, Given, Origin};
use crate::error::EngineError;
use crate::nested::NESTING_MAX;
use crate::timeline::Timeline;

/// Which program's fold a snapshot holds: another one folds the journal anew.
///
/// After the version stands a fingerprint of a life that was folded by this program, because programs of one version may
/// fold otherwise. A test says what it must be.
const FOLD: &str = concat!(env!("CARGO_PKG_VERSION"), "/", "68a761f84f464aa0");

/// A plan as it was read.
#[derive(Debug)]
pub struct Opened {
    /// Its number in the store.
    pub no: PlanNo,
    /// Its life.
    pub life: Life,
    /// When things began and ended.
    pub timeline: Timeline,
    /// Where it comes from.
    pub origin: Origin,
    /// The plan that it continues, if it does.
    pub forked_from: Option<ForkedFrom>,
    /// The policies of the plans that it is a part of, the nearest first.
    pub above: Vec<Arc<Policy>>,
    /// What someone here said about where it works, for a plan that came from elsewhere.
    pub home: Option<Home>,
    /// The names of the secrets that it was given elsewhere: to be shown, never to be handed over for that.
    pub secrets_elsewhere: Vec<String>,
    /// What is damaged of it and could be done without.
    pub damaged: Vec<String>,
    /// How many entries the newest snapshot holds.
    pub(crate) snapshot_length: u64,
}

#[derive(Serialize)]
struct Written<'a> {
    fold: &'a str,
    life: &'a Life,
    timeline: &'a Timeline,
}

#[derive(Deserialize)]
struct Read {
    fold: String,
    life: Life,
    timeline: Timeline,
}

/// Folds a life, and what is kept beside it, into bytes.
pub(crate) fn snapshot_of(life: &Life, timeline: &Timeline) -> Option<Snapshot> {
    let body = serde_json::to_vec(&Written { fold: FOLD, life, timeline }).ok()?;
    Some(Snapshot { length: life.length(), body })
}

/// Tells whether this program would use a snapshot.
pub(crate) fn is_readable(snapshot: &Snapshot) -> bool {
    serde_json::from_slice::<Read>(&snapshot.body).is_ok_and(|read| read.fold == FOLD)
}

/// Reads a plan; what it says was verified against the hashes of the journal.
pub async fn open(store: &dyn Store, plan: &PlanId) -> Result<Opened, EngineError> {
    let Folded { no, life, timeline, snapshot_length, damaged } = read_life(store, plan).await?;
    let mut origin = origin(store, plan).await?;
    let Card { forked_from, home, .. } = store.plan(plan.as_str()).await?.card;
    let mut secrets_elsewhere = Vec::new();
    if let Some(Home { workspace, secrets, given }) = home.clone() {
        // Its journal was written by others: it may name any folder, any variable and any plan of this machine.
        secrets_elsewhere = std::mem::replace(&mut origin.secrets, secrets);
        let given: Given = serde_json::from_value(given).unwrap_or_default();
        origin = Origin { workspace, parent: None, given, ..origin };
    }
    let above = policies_above(store, &origin).await?;
    Ok(Opened { no, life, timeline, origin, forked_from, above, home, secrets_elsewhere, damaged, snapshot_length })
}

/// Reads what the plans around this one may touch, the nearest first.
pub(crate) async fn policies_above(store: &dyn Store, origin: &Origin) -> Result<Vec<Arc<Policy>>, EngineError> {
    let (mut policies, mut at) = (Vec::new(), origin.parent.clone());
    while let Some((plan, _)) = at.take().filter(|_| policies.len() < NESTING_MAX) {
        match read_life(store, &plan).await {
            Ok(around) => policies.push(Arc::new(around.life.header().policy.clone())),
            // Whoever removed the plan around it lets its parts stand for themselves.
            Err(EngineError::Store(StoreError::NotFound { .. })) => break,
            Err(error) => return Err(error),
        }
        at = self::origin(store, &plan).await?.parent;
    }
    Ok(policies)
}

/// What was read of a plan itself.
struct Folded {
    no: PlanNo,
    life: Life,
    timeline: Timeline,
    snapshot_length: u64,
    damaged: Vec<String>,
}

async fn read_life(store: &dyn Store, plan: &PlanId) -> Result<Folded, EngineError> {
    let mut loaded = store.load(plan).await?.ok_or_else(|| StoreError::not_found(format!("plan `{plan}`")))?;
    let (no, damaged) = (loaded.plan_no, std::mem::take(&mut loaded.damaged));
    let (life, timeline, snapshot_length) = match fold_snapshot(&loaded, plan)? {
        Some((life, timeline)) => (life, timeline, loaded.snapshot.map_or(0, |snapshot| snapshot.length)),
        None => {
            let entries: Vec<Entry> = if loaded.snapshot.is_none() {
                loaded.turns.into_iter().flat_map(|turn| turn.entries).collect()
            } else {
                all_turns(store, plan).await?.into_iter().flat_map(|turn| turn.entries).collect()
            };
            let life = life::replay(&entries).map_err(|bad| EngineError::journal(plan, &bad))?;
            (life, Timeline::of(&entries), 0)
        }
    };
    Ok(Folded { no, life, timeline, snapshot_length, damaged })
}

impl Opened {
    /// A plan that was just created here, and is a part of no other.
    pub(crate) fn fresh(no: PlanNo, life: Life, origin: Origin) -> Self {
        Self {
            no,
            life,
            timeline: Timeline::default(), // nothing has begun
            origin,
            forked_from: None,
            above: Vec::new(),
            home: None,
            secrets_elsewhere: Vec::new(),
            damaged: Vec::new(),
            snapshot_length: 0,
        }
    }

    /// Refuses a plan that came from elsewhere and has no place here yet.
    pub fn check_home(&self) -> Result<(), EngineError> {
        match &self.home {
            Some(home) if home.workspace.is_empty() => {
                let (plan, secrets) = (self.life.id().to_string(), self.secrets_elsewhere.clone());
                Err(EngineError::Homeless { plan, secrets })
            }
            _ => Ok(()),
        }
    }
}

/// The life of a snapshot and what is kept beside it, with the turns since, if the snapshot can be used.
fn fold_snapshot(loaded: &Loaded, plan: &PlanId) -> Result<Option<(Life, Timeline)>, EngineError> {
    let Some(snapshot) = &loaded.snapshot else { return Ok(None) };
    let Ok(read) = serde_json::from_slice::<Read>(&snapshot.body) else { return Ok(None) };
    if read.fold != FOLD || read.life.length() != snapshot.length {
        return Ok(None);
    }
    let (mut life, mut timeline) = (read.life, read.timeline);
    for entry in loaded.turns.iter().flat_map(|turn| &turn.entries) {
        let expected = life.length() + 1;
        let bad = if entry.seq != expected {
            BadJournal::Gap { expected, found: entry.seq }
        } else if entry.v > EVENT_VERSION {
            BadJournal::Newer { seq: entry.seq, version: entry.v }
        } else {
            life.apply(std::slice::from_ref(entry));
            timeline.apply(std::slice::from_ref(entry));
            continue;
        };
        return Err(EngineError::journal(plan, &bad));
    }
    Ok(Some((life, timeline)))
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

#[cfg(test)]
mod tests {
    use gantry_core::effect::Failure;
    use gantry_core::event::Outputs;
    use gantry_core::id::{AttemptNo, TaskId};
    use gantry_core::input::{Input, Success, TakeBack};
    use gantry_core::policy::{FailureClass, Usage};
    use gantry_core::time::{Duration, Timestamp};
    use gantry_store::Hash;
    use serde_json::json;

    use super::*;

    const PLAN: &str = "
title: Golden
policy: {budget: {cost_usd: 5}, checkpoint_each_task: true}
tasks:
  - {id: a, run: make a, retry: {max: 3}}
  - {id: b, run: make b, depends_on: [a], undo: {run: unmake b}}
  - {id: c, compute: {twice: inputs.n * 2}, inputs: {n: tasks.a.n}}
  - {id: sign-off, depends_on: [b], gate: {checks: [the notes are clear]}}
  - {id: asked, ask: Really?}
  - {id: kept, depends_on: [sign-off], checkpoint: end}
  - {id: each, map: {over: [1, 2], each: {run: make one}}}
  - {id: whole, compute: {done: 'true'}, tasks: [{id: part, run: make part}]}
";

    /// A life in which something of everything happens.
    fn golden() -> Life {
        let plan = gantry_format::load("plan.yaml", PLAN.as_bytes()).plan.unwrap();
        let mut now = Timestamp::from_ms(1_000_000);
        let mut life = life::replay(&life::create(plan, PlanId::new("golden").unwrap(), 7, now).unwrap()).unwrap();
        let ended = |task: &str, attempt: u32, end: Result<Success, Failure>| {
            let usage = Usage { tokens: 7, ..Usage::default() };
            Input::Ended { task: TaskId::new(task).unwrap(), attempt: AttemptNo(attempt), end, usage }
        };
        let outputs: Outputs = [("n".to_owned(), json!(21))].into_iter().collect();
        let (by, why) = ("ana".to_owned(), "golden".to_owned());
        let inputs = [
            Input::Start,
            ended("a", 1, Err(Failure::new(FailureClass::Transient, "again"))),
            Input::Tick,
            ended("a", 2, Ok(Success { outputs, ..Success::default() })),
            Input::Note { task: None, by: by.clone(), text: "so far".to_owned() },
            ended("b", 1, Ok(Success::default())),
            ended("each-1", 1, Ok(Success::default())),
            ended("part", 1, Ok(Success::default())),
            Input::Retry { task: TaskId::new("part").unwrap(), by: by.clone(), why: why.clone() },
            ended("part", 2, Ok(Success::default())),
            Input::Pause { by: by.clone(), why: why.clone() },
            Input::Resume { by: by.clone() },
            Input::Cancel { by, why, undo: TakeBack::Everything },
        ];
        for input in inputs {
            now = now + Duration::from_hours(1);
            let verdict = life.decide(&input, now).unwrap();
            life = verdict.life;
        }
        life
    }

    #[test]
    fn a_fold_that_has_changed_has_another_fingerprint() {
        let fingerprint = Hash::of(&serde_json::to_vec(&golden()).unwrap()).to_string()[..16].to_owned();
        let known = FOLD.rsplit_once('/').unwrap().1;
        // Lives are folded otherwise, or written otherwise, than when it was set: old snapshots must not be used.
        assert_eq!(known, fingerprint, "write the new fingerprint into `FOLD`");
    }
}
