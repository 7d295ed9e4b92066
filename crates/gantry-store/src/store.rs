//! What every store can do.

use async_trait::async_trait;
use gantry_core::id::{PlanId, TaskId};
use gantry_core::time::Timestamp;
use serde_json::Value;

use crate::{
    Append, Appended, ArtifactRow, ChainReport, Claim, EffectRow, Hash, Hit, InboxId, ListFilter, Loaded, Page,
    PlanCard, PlanNo, Snapshot, StoreError, Turn,
};

/// How much of the writing of others was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangeMark(pub u64);

/// What a vacuum removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vacuumed {
    /// How many blobs.
    pub blobs: u64,
    /// How many bytes they held.
    pub bytes: u64,
}

/// A durable record of plans.
///
/// Whatever writes has been made durable when it returns `Ok`; after an `Err` nothing of it counts.
/// A future that is dropped may still have been carried out. Time comes from the caller.
#[async_trait]
pub trait Store: Send + Sync {
    /// Appends one turn and everything that belongs to it, if the journal is as long as the caller thinks.
    async fn append(&self, append: Append) -> Result<Appended, StoreError>;

    /// Writes a new plan with its whole journal and everything that belongs to it: all of it, or nothing.
    ///
    /// The turns come in order, the first with the length zero. Returns what the last of them made.
    async fn import(&self, life: Vec<Append>) -> Result<Appended, StoreError>;

    /// Loads a plan: its newest snapshot and the turns since, verified.
    async fn load(&self, plan: &PlanId) -> Result<Option<Loaded>, StoreError>;

    /// Returns turns, verified, beginning with the one that holds the entry after `after_seq`.
    ///
    /// The cursor of the page is the `after_seq` of the next.
    async fn turns(&self, plan: &PlanId, after_seq: u64, limit: u32) -> Result<Page<Turn>, StoreError>;

    /// Recomputes every hash of a plan: its journal, its snapshot, its artifacts.
    async fn verify(&self, plan: &PlanId) -> Result<ChainReport, StoreError>;

    /// Keeps a folded state in place of the one before, unless that is newer.
    async fn save_snapshot(&self, plan: &PlanId, snapshot: Snapshot) -> Result<(), StoreError>;

    /// Finds the one plan that someone means: its id, its number, the beginning of its id, `@last`.
    async fn plan(&self, reference: &str) -> Result<PlanCard, StoreError>;

    /// Lists plans, the newest first.
    async fn list(&self, filter: ListFilter) -> Result<Page<PlanCard>, StoreError>;

    /// Keeps some bytes and returns their hash. Keeping the same bytes again costs nothing.
    ///
    /// Bytes that no artifact, no recorded call, no note and no list of files refers to are removed by a vacuum a day later.
    async fn put_blob(&self, bytes: Vec<u8>, at: Timestamp) -> Result<Hash, StoreError>;

    /// Returns the bytes with this hash, verified.
    async fn get_blob(&self, hash: Hash) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns one version of an artifact, or the newest.
    async fn artifact(
        &self,
        plan: &PlanId,
        task: &TaskId,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<ArtifactRow>, StoreError>;

    /// Lists the artifacts of a plan in the order in which they were made, all versions.
    async fn artifacts(&self, plan: &PlanId, cursor: u64, limit: u32) -> Result<Page<ArtifactRow>, StoreError>;

    /// Records calls to the outside, apart from any turn: all of them or none.
    async fn record_effects(&self, effects: Vec<EffectRow>) -> Result<(), StoreError>;

    /// Records calls like [`Store::record_effects`], for whoever makes something else durable right after: they survive
    /// the end of this process at once, and that of the machine with whatever is durable next.
    async fn note_effects(&self, effects: Vec<EffectRow>) -> Result<(), StoreError> {
        self.record_effects(effects).await
    }

    /// Lists recorded calls in the order in which they began, of one task or of all.
    async fn effects(
        &self,
        plan: &PlanId,
        task: Option<&TaskId>,
        cursor: u64,
        limit: u32,
    ) -> Result<Page<EffectRow>, StoreError>;

    /// Finds the last call of this kind with this request anywhere in the plan; one that was answered comes first.
    ///
    /// For the kinds that are asked for again, `model` and `tool`, this takes no longer in a long life.
    async fn recall(&self, plan: &PlanId, kind: &str, request: Hash) -> Result<Option<EffectRow>, StoreError>;

    /// Hands an input to whichever process drives the plan.
    async fn submit(&self, plan: &PlanId, input: Value, at: Timestamp) -> Result<InboxId, StoreError>;

    /// Returns the inputs that nobody answered yet, in the order of their coming.
    async fn inbox(&self, plan: &PlanId) -> Result<Vec<(InboxId, Value)>, StoreError>;

    /// Answers an input without a turn, as for a refusal. The first answer stays.
    async fn answer(&self, id: InboxId, answer: Value) -> Result<(), StoreError>;

    /// Returns the answer to an input, once there is one.
    async fn ask_answer(&self, id: InboxId) -> Result<Option<Value>, StoreError>;

    /// Returns the mark of everything that others wrote so far.
    fn mark(&self) -> ChangeMark;

    /// Waits until something was written that this handle did not append itself: by another process,
    /// or an input submitted by anyone. May return for less; look before acting.
    async fn changed(&self, seen: ChangeMark) -> ChangeMark;

    /// Takes the right to drive a plan, unless someone has it.
    async fn claim(&self, plan_no: PlanNo) -> Result<Option<Claim>, StoreError>;

    /// Tells whether someone else drives a plan.
    async fn claimed_by_other(&self, plan_no: PlanNo) -> Result<bool, StoreError>;

    /// Finds texts with all words of a query. Any text is a query; without words it finds nothing.
    async fn search(&self, query: &str, limit: u32) -> Result<Vec<Hit>, StoreError>;

    /// Keeps a plan from being forgotten, or lets it be.
    async fn pin(&self, plan: &PlanId, pinned: bool) -> Result<(), StoreError>;

    /// Removes a plan with everything that belongs to it, unless it is pinned.
    async fn forget(&self, plan: &PlanId) -> Result<(), StoreError>;

    /// Drops the contents of artifacts whose time is over; that they existed, and their hashes, stay on record.
    ///
    /// A content stays when an artifact that is not among these has it, when a recorded call, a note or a list of files
    /// speaks of it, or when it was handed in after `before`: an append that refers to it may be on its way.
    async fn drop_contents(
        &self,
        expired: Vec<ArtifactRow>,
        before: Timestamp,
        now: Timestamp,
    ) -> Result<Vacuumed, StoreError>;

    /// Tells when the content with this hash was dropped, if it was.
    async fn dropped_at(&self, hash: Hash) -> Result<Option<Timestamp>, StoreError>;

    /// Removes blobs that nothing refers to and that are older than a day, and inputs that were answered and are older
    /// than a week, and gives back room.
    async fn vacuum(&self, now: Timestamp) -> Result<Vacuumed, StoreError>;
}

/// A store that can be opened once more, as another process would. For tests.
pub trait Beside: Store + Sized {
    /// Makes another handle on the same record.
    #[must_use]
    fn beside(&self) -> Self;
}
