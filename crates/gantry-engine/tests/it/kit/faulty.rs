//! A store that can be told to fail, over one that does not.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use gantry_core::id::{PlanId, TaskId};
use gantry_core::time::Timestamp;
use gantry_store::{
    Append, Appended, ArtifactRow, ChainReport, ChangeMark, Claim, EffectRow, Hash, Hit, InboxId, ListFilter, Loaded,
    MemoryStore, Page, PlanCard, PlanNo, Snapshot, Store, StoreError, Turn, Vacuumed,
};
use serde_json::Value;

pub struct Faulty {
    inner: Arc<MemoryStore>,
    full: AtomicU32,
    /// No blob finds room for so many times.
    blobs_full: AtomicU32,
    /// Everything fails until it is mended.
    broken: AtomicBool,
    /// So many appends are made and said to have failed.
    lies: AtomicU32,
    /// Appends do not come back as long as this is so.
    hangs: tokio::sync::watch::Sender<bool>,
    /// How many requests there were, and which of them fail.
    requests: AtomicU64,
    failing: std::sync::Mutex<Failing>,
    /// The snapshot is damaged until another one takes its place.
    snapshot_damaged: AtomicBool,
    /// How many turns were read.
    turns_read: AtomicU64,
    /// How often each was asked.
    asked: std::sync::Mutex<BTreeMap<&'static str, u64>>,
}

/// Which requests fail in a way that may pass.
#[derive(Clone, Copy, Default)]
pub enum Failing {
    #[default]
    None,
    Nth(u64),
    /// Three of sixteen, in an order that this number draws.
    Often(u64),
}

impl Faulty {
    pub fn over(inner: Arc<MemoryStore>) -> Self {
        Self {
            inner,
            full: AtomicU32::new(0),
            blobs_full: AtomicU32::new(0),
            broken: AtomicBool::new(false),
            lies: AtomicU32::new(0),
            hangs: tokio::sync::watch::Sender::new(false),
            requests: AtomicU64::new(0),
            failing: std::sync::Mutex::default(),
            snapshot_damaged: AtomicBool::new(false),
            turns_read: AtomicU64::new(0),
            asked: std::sync::Mutex::default(),
        }
    }

    pub fn is_snapshot_damaged(&self) -> bool {
        self.snapshot_damaged.load(Ordering::SeqCst)
    }

    /// How many turns were read since this was last asked.
    pub fn turns_read(&self) -> u64 {
        self.turns_read.swap(0, Ordering::SeqCst)
    }

    /// The snapshot that is kept has become unreadable.
    pub fn damages_snapshot(&self) {
        self.snapshot_damaged.store(true, Ordering::SeqCst);
    }

    /// From now on these requests fail, whatever they are about. Returns how many there were before.
    pub fn fails(&self, failing: Failing) -> u64 {
        *self.failing.lock().unwrap() = failing;
        self.requests.swap(0, Ordering::SeqCst)
    }

    /// How often it was asked for what since somebody wanted to know.
    pub fn asked(&self) -> BTreeMap<&'static str, u64> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// The next blobs find no room.
    pub fn has_no_room_for_blobs(&self, times: u32) {
        self.blobs_full.store(times, Ordering::SeqCst);
    }

    /// From now on there is no room for anything.
    pub fn is_full(&self, full: bool) {
        self.broken.store(full, Ordering::SeqCst);
    }

    /// The next appends are made, and said to have failed.
    pub fn lies_for(&self, appends: u32) {
        self.lies.store(appends, Ordering::SeqCst);
    }

    /// From now on appends do not come back, or do again.
    pub fn hangs(&self, hangs: bool) {
        self.hangs.send_replace(hangs);
    }

    /// One more request, of whatever kind.
    fn request(&self, name: &'static str) -> Result<(), StoreError> {
        *self.asked.lock().unwrap().entry(name).or_default() += 1;
        let number = self.requests.fetch_add(1, Ordering::SeqCst) + 1;
        let fails = match *self.failing.lock().unwrap() {
            Failing::None => false,
            Failing::Nth(nth) => number == nth,
            Failing::Often(seed) => (number + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60 < 3,
        };
        if fails { Err(StoreError::Busy { what: format!("request {number}") }) } else { Ok(()) }
    }

    /// The next appends find no room.
    pub fn is_full_for(&self, appends: u32) {
        self.full.store(appends, Ordering::SeqCst);
    }

    fn room(&self) -> Result<(), StoreError> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(StoreError::Full { what: "as the test says".to_owned() });
        }
        let left = self.full.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match left {
            Ok(_) => Err(StoreError::Full { what: "as the test says".to_owned() }),
            Err(_) => Ok(()),
        }
    }
}

#[async_trait::async_trait]
impl Store for Faulty {
    async fn append(&self, append: Append) -> Result<Appended, StoreError> {
        self.request("append")?;
        self.room()?;
        let _ = self.hangs.subscribe().wait_for(|hangs| !hangs).await;
        let appended = self.inner.append(append).await?;
        match self.lies.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
            Ok(_) => Err(StoreError::Io { what: "as the test says".to_owned() }),
            Err(_) => Ok(appended),
        }
    }
    async fn import(&self, life: Vec<Append>) -> Result<Appended, StoreError> {
        self.room()?;
        self.inner.import(life).await
    }
    async fn load(&self, plan: &PlanId) -> Result<Option<Loaded>, StoreError> {
        self.request("load")?;
        let mut loaded = self.inner.load(plan).await?;
        if let Some(loaded) = loaded.as_mut().filter(|_| self.is_snapshot_damaged()) {
            (loaded.snapshot, loaded.damaged) = (None, vec![format!("the snapshot of plan `{plan}`")]);
            loaded.turns = gantry_store::all_turns(&*self.inner, plan).await?;
        }
        let read = loaded.as_ref().map_or(0, |loaded| loaded.turns.len());
        self.turns_read.fetch_add(read as u64, Ordering::SeqCst);
        Ok(loaded)
    }
    async fn turns(&self, plan: &PlanId, after_seq: u64, limit: u32) -> Result<Page<Turn>, StoreError> {
        self.request("turns")?;
        let page = self.inner.turns(plan, after_seq, limit).await?;
        self.turns_read.fetch_add(page.items.len() as u64, Ordering::SeqCst);
        Ok(page)
    }
    async fn verify(&self, plan: &PlanId) -> Result<ChainReport, StoreError> {
        self.inner.verify(plan).await
    }
    async fn save_snapshot(&self, plan: &PlanId, snapshot: Snapshot) -> Result<(), StoreError> {
        self.snapshot_damaged.store(false, Ordering::SeqCst);
        self.inner.save_snapshot(plan, snapshot).await
    }
    async fn plan(&self, reference: &str) -> Result<PlanCard, StoreError> {
        self.request("plan")?;
        self.inner.plan(reference).await
    }
    async fn list(&self, filter: ListFilter) -> Result<Page<PlanCard>, StoreError> {
        self.inner.list(filter).await
    }
    async fn put_blob(&self, bytes: Vec<u8>, at: Timestamp) -> Result<Hash, StoreError> {
        self.request("put_blob")?;
        let left = self.blobs_full.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if left.is_ok() {
            return Err(StoreError::Full { what: "as the test says".to_owned() });
        }
        self.inner.put_blob(bytes, at).await
    }
    async fn get_blob(&self, hash: Hash) -> Result<Option<Vec<u8>>, StoreError> {
        self.request("get_blob")?;
        self.inner.get_blob(hash).await
    }
    async fn artifact(
        &self,
        plan: &PlanId,
        task: &TaskId,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<ArtifactRow>, StoreError> {
        self.inner.artifact(plan, task, name, version).await
    }
    async fn artifacts(&self, plan: &PlanId, cursor: u64, limit: u32) -> Result<Page<ArtifactRow>, StoreError> {
        self.inner.artifacts(plan, cursor, limit).await
    }
    async fn record_effects(&self, effects: Vec<EffectRow>) -> Result<(), StoreError> {
        self.request("record_effects")?;
        self.inner.record_effects(effects).await
    }
    async fn effects(
        &self,
        plan: &PlanId,
        task: Option<&TaskId>,
        cursor: u64,
        limit: u32,
    ) -> Result<Page<EffectRow>, StoreError> {
        self.request("effects")?;
        self.inner.effects(plan, task, cursor, limit).await
    }
    async fn recall(&self, plan: &PlanId, kind: &str, request: Hash) -> Result<Option<EffectRow>, StoreError> {
        self.request("recall")?;
        self.inner.recall(plan, kind, request).await
    }
    async fn submit(&self, plan: &PlanId, input: Value, at: Timestamp) -> Result<InboxId, StoreError> {
        self.request("submit")?;
        self.inner.submit(plan, input, at).await
    }
    async fn inbox(&self, plan: &PlanId) -> Result<Vec<(InboxId, Value)>, StoreError> {
        self.request("inbox")?;
        self.inner.inbox(plan).await
    }
    async fn answer(&self, id: InboxId, answer: Value) -> Result<(), StoreError> {
        self.request("answer")?;
        self.inner.answer(id, answer).await
    }
    async fn ask_answer(&self, id: InboxId) -> Result<Option<Value>, StoreError> {
        self.request("ask_answer")?;
        self.inner.ask_answer(id).await
    }
    fn mark(&self) -> ChangeMark {
        self.inner.mark()
    }
    async fn changed(&self, seen: ChangeMark) -> ChangeMark {
        self.inner.changed(seen).await
    }
    async fn claim(&self, plan_no: PlanNo) -> Result<Option<Claim>, StoreError> {
        self.request("claim")?;
        self.inner.claim(plan_no).await
    }
    async fn claimed_by_other(&self, plan_no: PlanNo) -> Result<bool, StoreError> {
        self.inner.claimed_by_other(plan_no).await
    }
    async fn search(&self, query: &str, limit: u32) -> Result<Vec<Hit>, StoreError> {
        self.inner.search(query, limit).await
    }
    async fn pin(&self, plan: &PlanId, pinned: bool) -> Result<(), StoreError> {
        self.inner.pin(plan, pinned).await
    }
    async fn forget(&self, plan: &PlanId) -> Result<(), StoreError> {
        self.inner.forget(plan).await
    }
    async fn drop_contents(
        &self,
        expired: Vec<ArtifactRow>,
        before: Timestamp,
        now: Timestamp,
    ) -> Result<Vacuumed, StoreError> {
        self.inner.drop_contents(expired, before, now).await
    }
    async fn dropped_at(&self, hash: Hash) -> Result<Option<Timestamp>, StoreError> {
        self.inner.dropped_at(hash).await
    }
    async fn vacuum(&self, now: Timestamp) -> Result<Vacuumed, StoreError> {
        self.inner.vacuum(now).await
    }
}
