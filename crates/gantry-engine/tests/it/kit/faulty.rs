//! A store that can be told to fail, over one that does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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
}

impl Faulty {
    pub fn over(inner: Arc<MemoryStore>) -> Self {
        Self { inner, full: AtomicU32::new(0) }
    }

    /// The next appends find no room.
    pub fn is_full_for(&self, appends: u32) {
        self.full.store(appends, Ordering::SeqCst);
    }

    fn room(&self) -> Result<(), StoreError> {
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
        self.room()?;
        self.inner.append(append).await
    }
    async fn import(&self, life: Vec<Append>) -> Result<Appended, StoreError> {
        self.room()?;
        self.inner.import(life).await
    }
    async fn load(&self, plan: &PlanId) -> Result<Option<Loaded>, StoreError> {
        self.inner.load(plan).await
    }
    async fn turns(&self, plan: &PlanId, after_seq: u64, limit: u32) -> Result<Page<Turn>, StoreError> {
        self.inner.turns(plan, after_seq, limit).await
    }
    async fn verify(&self, plan: &PlanId) -> Result<ChainReport, StoreError> {
        self.inner.verify(plan).await
    }
    async fn save_snapshot(&self, plan: &PlanId, snapshot: Snapshot) -> Result<(), StoreError> {
        self.inner.save_snapshot(plan, snapshot).await
    }
    async fn plan(&self, reference: &str) -> Result<PlanCard, StoreError> {
        self.inner.plan(reference).await
    }
    async fn list(&self, filter: ListFilter) -> Result<Page<PlanCard>, StoreError> {
        self.inner.list(filter).await
    }
    async fn put_blob(&self, bytes: Vec<u8>, at: Timestamp) -> Result<Hash, StoreError> {
        self.inner.put_blob(bytes, at).await
    }
    async fn get_blob(&self, hash: Hash) -> Result<Option<Vec<u8>>, StoreError> {
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
        self.inner.record_effects(effects).await
    }
    async fn effects(
        &self,
        plan: &PlanId,
        task: Option<&TaskId>,
        cursor: u64,
        limit: u32,
    ) -> Result<Page<EffectRow>, StoreError> {
        self.inner.effects(plan, task, cursor, limit).await
    }
    async fn submit(&self, plan: &PlanId, input: Value, at: Timestamp) -> Result<InboxId, StoreError> {
        self.inner.submit(plan, input, at).await
    }
    async fn inbox(&self, plan: &PlanId) -> Result<Vec<(InboxId, Value)>, StoreError> {
        self.inner.inbox(plan).await
    }
    async fn answer(&self, id: InboxId, answer: Value) -> Result<(), StoreError> {
        self.inner.answer(id, answer).await
    }
    async fn ask_answer(&self, id: InboxId) -> Result<Option<Value>, StoreError> {
        self.inner.ask_answer(id).await
    }
    fn mark(&self) -> ChangeMark {
        self.inner.mark()
    }
    async fn changed(&self, seen: ChangeMark) -> ChangeMark {
        self.inner.changed(seen).await
    }
    async fn claim(&self, plan_no: PlanNo) -> Result<Option<Claim>, StoreError> {
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
    async fn vacuum(&self, now: Timestamp) -> Result<Vacuumed, StoreError> {
        self.inner.vacuum(now).await
    }
}
