//! What the engine tells those who watch.

use gantry_core::event::Entry;
use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_runners::Chunk;

/// Something that happened, for those who watch. Facts are on disk before they are told.
#[derive(Clone, Debug)]
pub enum Happening {
    /// Events of a plan, on disk.
    Events {
        /// The plan.
        plan: PlanId,
        /// The events.
        entries: std::sync::Arc<Vec<Entry>>,
    },
    /// Output of a running attempt, as it comes.
    Output {
        /// The plan.
        plan: PlanId,
        /// The task.
        task: TaskId,
        /// The attempt.
        attempt: AttemptNo,
        /// What it wrote.
        chunk: Chunk,
    },
    /// Someone is to be told something.
    Notice {
        /// The plan.
        plan: PlanId,
        /// About which task; the plan when none.
        task: Option<TaskId>,
        /// Whom; the owner when empty.
        to: String,
        /// What.
        text: String,
    },
    /// The record cannot be written just now; the engine tries again.
    StoreTrouble {
        /// The plan.
        plan: PlanId,
        /// What the store said.
        error: gantry_store::StoreError,
    },
}
