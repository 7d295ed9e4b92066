//! The journal: what is appended, what comes back, and what is known about its soundness.

use gantry_core::event::Entry;
use gantry_core::id::PlanId;
use gantry_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ArtifactRow, Card, EffectRow, Hash, NewArtifact, StoreError, TextRow};

/// The most items in one page, whatever was asked for.
pub const PAGE_ITEMS_MAX: u32 = 1_000;

/// A page of turns ends once its texts have this many bytes.
pub const PAGE_BYTES_MAX: usize = 8 << 20;

/// A plan's small number in this record: 1 for the first, never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanNo(pub u64);

impl PlanNo {
    /// No plan's number. Its claim stands for the whole record, for a process that wants to be the only one.
    pub const WHOLE_RECORD: Self = Self(0);
}

impl std::fmt::Display for PlanNo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Which input of the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InboxId(pub u64);

/// One turn of a plan: what reached it and everything that was decided about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The number of its first entry.
    pub first_seq: u64,
    /// What reached the plan, as JSON; the store does not look into it.
    pub inputs: String,
    /// What happened, in order; at least one entry.
    pub entries: Vec<Entry>,
    /// When.
    pub at: Timestamp,
}

impl Turn {
    /// Returns the number of its last entry.
    pub fn last_seq(&self) -> u64 {
        (self.first_seq + self.entries.len() as u64).saturating_sub(1)
    }
}

/// A folded state, so that loading need not begin at the first entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// How many entries are folded into it; the end of a turn.
    pub length: u64,
    /// The state; the store does not look into it.
    pub body: Vec<u8>,
}

/// A request that must be carried out once, however often it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnceKey {
    /// What the sender calls it.
    pub key: String,
    /// The hash of what it says: the same key with another hash is refused.
    pub body_hash: String,
}

/// One turn and everything that is written with it, all or nothing.
#[derive(Clone, Debug)]
pub struct Append {
    /// The plan.
    pub plan: PlanId,
    /// How many entries the journal has before; zero makes a new plan.
    pub length: u64,
    /// The turn.
    pub turn: Turn,
    /// How the plan is listed from now on.
    pub card: Card,
    /// Artifacts that were made; their blobs are stored already.
    pub artifacts: Vec<NewArtifact>,
    /// Calls to the outside that ended, or began.
    pub effects: Vec<EffectRow>,
    /// Inputs of the inbox that this turn took, and what to tell their senders.
    pub answered: Vec<(InboxId, Value)>,
    /// A folded state, as of before or after this turn.
    pub snapshot: Option<Snapshot>,
    /// The request that led here, when it must be carried out once.
    pub once: Option<OnceKey>,
    /// Words to find the plan by.
    pub texts: Vec<TextRow>,
}

impl Append {
    /// Makes an append of a turn and a card alone.
    pub fn new(plan: PlanId, length: u64, turn: Turn, card: Card) -> Self {
        Self {
            plan,
            length,
            turn,
            card,
            artifacts: Vec::new(),
            effects: Vec::new(),
            answered: Vec::new(),
            snapshot: None,
            once: None,
            texts: Vec::new(),
        }
    }
}

/// Checks that these are the turns of one new plan, and returns its id.
pub fn check_life(life: &[Append]) -> Result<PlanId, StoreError> {
    let invalid = |what: &str| StoreError::Invalid { what: what.to_owned() };
    let first = life.first().ok_or_else(|| invalid("a life without turns"))?;
    if first.length != 0 {
        return Err(invalid("the first turn of a new plan comes after no entries"));
    }
    if life.iter().any(|append| append.plan != first.plan) {
        return Err(invalid("the turns are of several plans"));
    }
    Ok(first.plan.clone())
}

/// What an append made.
#[must_use = "it tells the plan's number and the versions of its artifacts"]
#[derive(Clone, Debug, PartialEq)]
pub struct Appended {
    /// The plan's number.
    pub plan_no: PlanNo,
    /// How long the journal is now.
    pub length: u64,
    /// The hash after the last entry.
    pub head: Hash,
    /// The artifacts with the versions that they were given, in the order of the append.
    pub artifacts: Vec<ArtifactRow>,
}

/// A plan as it is loaded: the newest snapshot and the turns since it, all of them verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The plan's number.
    pub plan_no: PlanNo,
    /// The newest snapshot that is sound.
    pub snapshot: Option<Snapshot>,
    /// The turns after the snapshot, or all of them.
    pub turns: Vec<Turn>,
    /// How many entries the journal has.
    pub length: u64,
    /// The hash after the last entry.
    pub head: Hash,
    /// What was damaged and could be done without, such as a snapshot.
    pub damaged: Vec<String>,
}

/// Some items, and where to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// What to pass as the cursor to get the next ones; none after the last page.
    pub next: Option<u64>,
}

/// Whether a plan's journal is what was written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainReport {
    /// The plan.
    pub plan: PlanId,
    /// How many entries were found sound, from the first.
    pub length: u64,
    /// In how many turns.
    pub turns: u64,
    /// The hash after the last sound entry.
    pub head: Hash,
    /// What is not sound, the first in the journal first.
    pub problems: Vec<Problem>,
}

impl ChainReport {
    /// Tells whether everything is as it was written.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
    /// Returns the number of the first entry that is not sound.
    pub fn first_broken(&self) -> Option<u64> {
        self.problems.iter().find_map(|problem| problem.seq)
    }
}

/// One thing that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The first entry that is concerned; none when it is not the journal.
    pub seq: Option<u64>,
    /// What it is, as a lowercase fragment.
    pub what: String,
}
