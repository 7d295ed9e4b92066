//! The durable record of Gantry: what every store keeps, and how it is asked for it.
//!
//! A plan has one journal. A **turn** is its unit: what reached the plan, and every entry that was
//! decided about it, appended at once or not at all. Beside the journal stand things that can be
//! found without reading it (cards, artifacts, recorded effects, words to search for); they are
//! written in the same append, so they never disagree with it.
//!
//! [`Store`] is the trait, [`MemoryStore`] the simplest store, and `conformance!` (a feature of the same
//! name) expands to the tests that every store passes.

mod error; // in reading order
mod hash;
mod turn;
mod seal;
mod card;
mod artifact;
mod effect_row;
pub mod kept;
mod text;
mod reference;
mod claim;
mod store;
mod all;
mod memory;
#[cfg(feature = "conformance")]
pub mod conformance;

pub use all::{all_artifacts, all_effects, all_plans, all_turns};
pub use artifact::{ArtifactRow, BLOB_BYTES_MAX, NewArtifact};
pub use card::{CAUSES_MAX, Card, ForkedFrom, Home, ListFilter, PlanCard, WAITING_MAX, WaitingLine};
pub use claim::Claim;
pub use effect_row::EffectRow;
pub use error::StoreError;
pub use hash::{Hash, Hashing};
pub use memory::MemoryStore;
pub use reference::{CANDIDATES_MAX, COMPARED_MAX, Reference};
pub use seal::{Sealed, StoredTurn, TURN_BYTES_MAX, first_head};
pub use store::{Beside, ChangeMark, Store, Vacuumed};
pub use text::{ARTIFACT_TEXT_BYTES_MAX, Hit, TextKind, TextRow, query_words, text_of_artifact, words};
pub use turn::{
    Append, Appended, ChainReport, InboxId, Loaded, OnceKey, PAGE_BYTES_MAX, PAGE_ITEMS_MAX, Page, PlanNo, Problem,
    Snapshot, Turn, check_life,
};
