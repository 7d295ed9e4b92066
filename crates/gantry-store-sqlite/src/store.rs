//! The store's requests, each handed to whoever does it.

use async_trait::async_trait;
use gantry_core::id::{PlanId, TaskId};
use gantry_core::time::Timestamp;
use gantry_store::{
    Append, Appended, ArtifactRow, BLOB_BYTES_MAX, ChainReport, ChangeMark, Claim, EffectRow, Hash, Hit, InboxId,
    ListFilter, Loaded, Page, PlanCard, PlanNo, Snapshot, Store, StoreError, Turn, Vacuumed,
};
use rusqlite::Connection;
use serde_json::Value;

use crate::pack::Packed;
use crate::write::{
    AnswerWork, AppendWork, BlobWork, DropWork, EffectsWork, ForgetWork, ImportWork, PinWork, SnapshotWork, SubmitWork,
    VacuumWork,
};
use crate::writer::Soon;
use crate::{SqliteStore, read, row};

/// Larger things are hashed and packed on another thread than that of whoever asks.
const LARGE_BYTES: usize = 256 << 10;

impl SqliteStore {
    /// Does some computing where it does not hold up others.
    async fn compute<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        if bytes < LARGE_BYTES { Ok(work()) } else { self.0.labour.run(|_| Ok(work())).await }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn append(&self, append: Append) -> Result<Appended, StoreError> {
        // The inputs of a turn tell how large it is: what follows from large ones says it again.
        let bytes = append.snapshot.as_ref().map_or(0, |snapshot| snapshot.body.len()) + append.turn.inputs.len();
        let work = match bytes {
            0..LARGE_BYTES if self.0.writer.is_behind() => AppendWork::prepared(append)?,
            0..LARGE_BYTES => AppendWork::new(append),
            _ => self.compute(bytes, || AppendWork::prepared(append)).await??,
        };
        self.0.writer.ask(work).await
    }

    async fn import(&self, life: Vec<Append>) -> Result<Appended, StoreError> {
        let work = self.compute(usize::MAX, || ImportWork::new(life)).await??;
        self.0.writer.ask(work).await
    }

    async fn load(&self, plan: &PlanId) -> Result<Option<Loaded>, StoreError> {
        let plan = plan.clone();
        self.0.readers.read(move |conn| read::load(conn, &plan)).await
    }

    async fn turns(&self, plan: &PlanId, after_seq: u64, limit: u32) -> Result<Page<Turn>, StoreError> {
        let plan = plan.clone();
        self.0.readers.read(move |conn| read::turns(conn, &plan, after_seq, limit)).await
    }

    async fn verify(&self, plan: &PlanId) -> Result<ChainReport, StoreError> {
        let plan = plan.clone();
        self.0.labour.read(move |conn| read::verify(conn, &plan)).await
    }

    async fn save_snapshot(&self, plan: &PlanId, snapshot: Snapshot) -> Result<(), StoreError> {
        let plan = plan.clone();
        let work = self.compute(snapshot.body.len(), || SnapshotWork::new(plan, snapshot)).await?;
        self.0.writer.ask(work).await
    }

    async fn plan(&self, reference: &str) -> Result<PlanCard, StoreError> {
        let reference = reference.to_owned();
        self.0.readers.read(move |conn| read::find(conn, &reference)).await
    }

    async fn list(&self, filter: ListFilter) -> Result<Page<PlanCard>, StoreError> {
        self.0.readers.read(move |conn| read::list(conn, &filter)).await
    }

    async fn put_blob(&self, bytes: Vec<u8>, at: Timestamp) -> Result<Hash, StoreError> {
        let length = bytes.len() as u64;
        if length > BLOB_BYTES_MAX {
            let what = "the blob".to_owned();
            return Err(StoreError::TooLarge { what, bytes: length, bytes_max: BLOB_BYTES_MAX });
        }
        let prepare = move || BlobWork { hash: Hash::of(&bytes), packed: Packed::new(bytes), at };
        let work = self.compute(usize::try_from(length).unwrap_or(usize::MAX), prepare).await?;
        self.0.writer.ask(work).await
    }

    async fn get_blob(&self, hash: Hash) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.readers.read(move |conn| read::blob(conn, hash)).await
    }

    async fn artifact(
        &self,
        plan: &PlanId,
        task: &TaskId,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<ArtifactRow>, StoreError> {
        let (plan, task, name) = (plan.clone(), task.clone(), name.to_owned());
        self.0.readers.read(move |conn| read::artifact(conn, &plan, &task, &name, version)).await
    }

    async fn artifacts(&self, plan: &PlanId, cursor: u64, limit: u32) -> Result<Page<ArtifactRow>, StoreError> {
        let plan = plan.clone();
        self.0.readers.read(move |conn| read::artifacts(conn, &plan, cursor, limit)).await
    }

    async fn record_effects(&self, effects: Vec<EffectRow>) -> Result<(), StoreError> {
        self.0.writer.ask(EffectsWork::new(effects)?).await
    }

    async fn note_effects(&self, effects: Vec<EffectRow>) -> Result<(), StoreError> {
        self.0.writer.ask(Soon(EffectsWork::new(effects)?)).await
    }

    async fn effects(
        &self,
        plan: &PlanId,
        task: Option<&TaskId>,
        cursor: u64,
        limit: u32,
    ) -> Result<Page<EffectRow>, StoreError> {
        let (plan, task, of_task) = (plan.clone(), task.cloned(), task.is_some());
        let read = move |conn: &Connection| read::effects(conn, &plan, task.as_ref(), cursor, limit);
        // Those of one task are few.
        if of_task { self.0.readers.read_little(read).await } else { self.0.readers.read(read).await }
    }

    async fn recall(&self, plan: &PlanId, kind: &str, request: Hash) -> Result<Option<EffectRow>, StoreError> {
        let (plan, kind) = (plan.clone(), kind.to_owned());
        self.0.readers.read_little(move |conn| read::recall(conn, &plan, &kind, request)).await
    }

    async fn submit(&self, plan: &PlanId, input: Value, at: Timestamp) -> Result<InboxId, StoreError> {
        let input = row::json(&input)?;
        self.0.writer.ask(SubmitWork { plan: plan.clone(), input, at }).await
    }

    async fn inbox(&self, plan: &PlanId) -> Result<Vec<(InboxId, Value)>, StoreError> {
        let plan = plan.clone();
        self.0.readers.read(move |conn| read::inbox(conn, &plan)).await
    }

    async fn answer(&self, id: InboxId, answer: Value) -> Result<(), StoreError> {
        self.0.writer.ask(AnswerWork::new(id, &answer)?).await
    }

    async fn ask_answer(&self, id: InboxId) -> Result<Option<Value>, StoreError> {
        self.0.readers.read(move |conn| read::ask_answer(conn, id)).await
    }

    fn mark(&self) -> ChangeMark {
        ChangeMark(*self.0.writer.news.marks.borrow())
    }

    async fn changed(&self, seen: ChangeMark) -> ChangeMark {
        ChangeMark(self.0.writer.changed(seen.0).await)
    }

    async fn claim(&self, plan_no: PlanNo) -> Result<Option<Claim>, StoreError> {
        self.0.claims.take(plan_no)
    }

    async fn claimed_by_other(&self, plan_no: PlanNo) -> Result<bool, StoreError> {
        self.0.claims.is_taken_by_other(plan_no)
    }

    async fn search(&self, query: &str, limit: u32) -> Result<Vec<Hit>, StoreError> {
        let query = query.to_owned();
        self.0.readers.read(move |conn| read::search(conn, &query, limit)).await
    }

    async fn pin(&self, plan: &PlanId, pinned: bool) -> Result<(), StoreError> {
        self.0.writer.ask(PinWork { plan: plan.clone(), pinned }).await
    }

    async fn forget(&self, plan: &PlanId) -> Result<(), StoreError> {
        self.0.writer.ask(ForgetWork { plan: plan.clone() }).await
    }

    async fn drop_contents(
        &self,
        expired: Vec<ArtifactRow>,
        before: Timestamp,
        now: Timestamp,
    ) -> Result<Vacuumed, StoreError> {
        self.0.writer.ask(DropWork { expired, before, now }).await
    }

    async fn dropped_at(&self, hash: Hash) -> Result<Option<Timestamp>, StoreError> {
        self.0.readers.read(move |conn| read::dropped_at(conn, hash)).await
    }

    async fn vacuum(&self, now: Timestamp) -> Result<Vacuumed, StoreError> {
        self.0.writer.ask(VacuumWork { now }).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_takes_long_has_threads_of_its_own() {
        let store = SqliteStore::temporary().unwrap();
        let here = || std::thread::current().name().unwrap_or_default().to_owned();
        let long = store.compute(LARGE_BYTES, here).await.unwrap();
        let short = store.0.readers.run(move |_| Ok(here())).await.unwrap();
        assert!(long.starts_with("gantry-labour") && short.starts_with("gantry-reader"), "{long}, {short}");
    }
}
