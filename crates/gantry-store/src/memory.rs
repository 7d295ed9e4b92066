//! A store in memory: for tests, for simulation and for trying things out. It keeps what a real store
//! keeps, in the same stored form, and forgets it with the process.

mod append; // in reading order
mod read;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use gantry_core::id::{PlanId, TaskId};
use gantry_core::time::{Duration, Timestamp};
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    Append, Appended, ArtifactRow, BLOB_BYTES_MAX, Beside, Card, ChainReport, ChangeMark, Claim, EffectRow, Hash, Hit,
    InboxId, ListFilter, Loaded, Page, PlanCard, PlanNo, Sealed, Snapshot, Store, StoreError, TextKind, Turn, Vacuumed,
};

/// A store in memory. A clone is the same handle; [`Beside::beside`] makes another one.
#[derive(Clone)]
pub struct MemoryStore {
    /// Everything that is kept. Held for the length of one request, never across a wait.
    record: Arc<Mutex<Record>>,
    /// How often anything was written, so that others notice.
    written: watch::Sender<u64>,
    handle: Arc<Handle>,
}

/// What tells one handle from another, as one process from another.
#[derive(Default)]
struct Handle {
    /// How many of the writes it made itself and need not be told of.
    own: Mutex<u64>,
}

#[derive(Default)]
struct Record {
    plans: BTreeMap<PlanId, Plan>,
    blobs: BTreeMap<Hash, (Vec<u8>, Timestamp)>,
    /// Contents that were dropped, and when.
    dropped: BTreeMap<Hash, Timestamp>,
    inbox: BTreeMap<InboxId, Letter>,
    once: BTreeMap<String, (String, PlanId)>,
    /// Who drives which plan.
    claims: BTreeMap<PlanNo, Arc<Handle>>,
    last_no: u64,
    last_inbox: u64,
}

struct Plan {
    no: PlanNo,
    created_at: Timestamp,
    updated_at: Timestamp,
    pinned: bool,
    card: Card,
    length: u64,
    head: Hash,
    /// Each turn with the hash after it.
    turns: Vec<(Sealed, Hash)>,
    snapshot: Option<Snapshot>,
    artifacts: Vec<ArtifactRow>,
    effects: Vec<EffectRow>,
    texts: BTreeMap<(Option<TaskId>, TextKind, String), String>,
}

struct Letter {
    plan: PlanId,
    input: Value,
    at: Timestamp,
    answer: Option<Value>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self { record: Arc::default(), written: watch::Sender::new(0), handle: Arc::default() }
    }
}

impl MemoryStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        // A panic while it was held is a bug of its own; what was kept before is still true.
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn own(&self) -> MutexGuard<'_, u64> {
        self.handle.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a write that this handle need not be told of.
    fn wrote(&self) {
        *self.own() += 1;
        self.written.send_modify(|count| *count += 1);
    }

    /// Counts a write that everyone is told of.
    fn announce(&self) {
        self.written.send_modify(|count| *count += 1);
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn append(&self, append: Append) -> Result<Appended, StoreError> {
        let appended = self.record().append(append)?;
        self.wrote();
        Ok(appended)
    }

    async fn import(&self, life: Vec<Append>) -> Result<Appended, StoreError> {
        let appended = self.record().import(life)?;
        self.wrote();
        Ok(appended)
    }

    async fn load(&self, plan: &PlanId) -> Result<Option<Loaded>, StoreError> {
        self.record().load(plan)
    }

    async fn turns(&self, plan: &PlanId, after_seq: u64, limit: u32) -> Result<Page<Turn>, StoreError> {
        self.record().turns(plan, after_seq, limit)
    }

    async fn verify(&self, plan: &PlanId) -> Result<ChainReport, StoreError> {
        self.record().verify(plan)
    }

    async fn save_snapshot(&self, plan: &PlanId, snapshot: Snapshot) -> Result<(), StoreError> {
        self.record().plan_mut(plan)?.save_snapshot(snapshot)?;
        self.wrote();
        Ok(())
    }

    async fn plan(&self, reference: &str) -> Result<PlanCard, StoreError> {
        self.record().find(reference)
    }

    async fn list(&self, filter: ListFilter) -> Result<Page<PlanCard>, StoreError> {
        Ok(self.record().list(&filter))
    }

    async fn put_blob(&self, bytes: Vec<u8>, at: Timestamp) -> Result<Hash, StoreError> {
        let length = bytes.len() as u64;
        if length > BLOB_BYTES_MAX {
            let what = "the blob".to_owned();
            return Err(StoreError::TooLarge { what, bytes: length, bytes_max: BLOB_BYTES_MAX });
        }
        let hash = Hash::of(&bytes);
        let mut record = self.record();
        record.blobs.entry(hash).or_insert((bytes, at)).1 = at;
        record.dropped.remove(&hash);
        drop(record);
        self.wrote();
        Ok(hash)
    }

    async fn get_blob(&self, hash: Hash) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.record().blobs.get(&hash).map(|(bytes, _)| bytes.clone()))
    }

    async fn artifact(
        &self,
        plan: &PlanId,
        task: &TaskId,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<ArtifactRow>, StoreError> {
        let record = self.record();
        let mut fitting = record.plan(plan)?.artifacts.iter().rev().filter(|row| {
            row.artifact.task == *task
                && row.artifact.name == name
                && version.is_none_or(|version| row.version == version)
        });
        Ok(fitting.next().cloned())
    }

    async fn artifacts(&self, plan: &PlanId, cursor: u64, limit: u32) -> Result<Page<ArtifactRow>, StoreError> {
        let record = self.record();
        Ok(read::page(&record.plan(plan)?.artifacts, cursor, limit, |_| true))
    }

    async fn record_effects(&self, effects: Vec<EffectRow>) -> Result<(), StoreError> {
        self.record().record_effects(effects)?;
        self.wrote();
        Ok(())
    }

    async fn effects(
        &self,
        plan: &PlanId,
        task: Option<&TaskId>,
        cursor: u64,
        limit: u32,
    ) -> Result<Page<EffectRow>, StoreError> {
        let record = self.record();
        let fits = |effect: &EffectRow| task.is_none_or(|task| effect.task == *task);
        Ok(read::page(&record.plan(plan)?.effects, cursor, limit, fits))
    }

    async fn recall(&self, plan: &PlanId, kind: &str, request: Hash) -> Result<Option<EffectRow>, StoreError> {
        let record = self.record();
        let fits = |effect: &&EffectRow| effect.kind == kind && effect.request_hash == request;
        let mut fitting: Vec<&EffectRow> = record.plan(plan)?.effects.iter().filter(fits).collect();
        fitting.sort_by_key(|effect| effect.answer.is_some());
        Ok(fitting.pop().cloned())
    }

    async fn submit(&self, plan: &PlanId, input: Value, at: Timestamp) -> Result<InboxId, StoreError> {
        let id = self.record().submit(plan, input, at)?;
        self.announce();
        Ok(id)
    }

    async fn inbox(&self, plan: &PlanId) -> Result<Vec<(InboxId, Value)>, StoreError> {
        let record = self.record();
        let letters = record.inbox.iter().filter(|(_, letter)| letter.plan == *plan && letter.answer.is_none());
        Ok(letters.map(|(id, letter)| (*id, letter.input.clone())).collect())
    }

    async fn answer(&self, id: InboxId, answer: Value) -> Result<(), StoreError> {
        self.record().answer(id, answer)?;
        self.announce();
        Ok(())
    }

    async fn ask_answer(&self, id: InboxId) -> Result<Option<Value>, StoreError> {
        self.record().letter(id).map(|letter| letter.answer.clone())
    }

    fn mark(&self) -> ChangeMark {
        ChangeMark(self.written.borrow().saturating_sub(*self.own()))
    }

    async fn changed(&self, seen: ChangeMark) -> ChangeMark {
        let mut written = self.written.subscribe();
        loop {
            written.borrow_and_update();
            let mark = self.mark();
            if mark != seen {
                return mark;
            }
            // The sender lives in this handle, so waiting cannot fail.
            let _ = written.changed().await;
        }
    }

    async fn claim(&self, plan_no: PlanNo) -> Result<Option<Claim>, StoreError> {
        let mut record = self.record();
        if record.claims.contains_key(&plan_no) {
            return Ok(None);
        }
        record.claims.insert(plan_no, Arc::clone(&self.handle));
        Ok(Some(Claim::new(plan_no, Held { record: Arc::clone(&self.record), no: plan_no })))
    }

    async fn claimed_by_other(&self, plan_no: PlanNo) -> Result<bool, StoreError> {
        Ok(self.record().claims.get(&plan_no).is_some_and(|by| !Arc::ptr_eq(by, &self.handle)))
    }

    async fn search(&self, query: &str, limit: u32) -> Result<Vec<Hit>, StoreError> {
        Ok(self.record().search(query, limit))
    }

    async fn pin(&self, plan: &PlanId, pinned: bool) -> Result<(), StoreError> {
        self.record().plan_mut(plan)?.pinned = pinned;
        self.wrote();
        Ok(())
    }

    async fn forget(&self, plan: &PlanId) -> Result<(), StoreError> {
        self.record().forget(plan)?;
        self.wrote();
        Ok(())
    }

    async fn drop_contents(
        &self,
        expired: Vec<ArtifactRow>,
        before: Timestamp,
        now: Timestamp,
    ) -> Result<Vacuumed, StoreError> {
        Ok(self.record().drop_contents(&expired, before, now))
    }

    async fn dropped_at(&self, hash: Hash) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.record().dropped.get(&hash).copied())
    }

    async fn vacuum(&self, now: Timestamp) -> Result<Vacuumed, StoreError> {
        Ok(self.record().vacuum(now))
    }
}

impl Beside for MemoryStore {
    fn beside(&self) -> Self {
        Self { record: Arc::clone(&self.record), written: self.written.clone(), handle: Arc::default() }
    }
}

/// What a claim holds.
struct Held {
    record: Arc<Mutex<Record>>,
    no: PlanNo,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).claims.remove(&self.no);
    }
}

/// How long a blob that nothing refers to is kept: an append that refers to it may be on its way.
const UNREFERENCED: Duration = Duration::from_hours(24);

/// How long an input that was answered is kept: its sender may still ask.
const ANSWERED: Duration = Duration::from_hours(7 * 24);
