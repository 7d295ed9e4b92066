//! A plan's whole life in one zip file: the plan, its journal, its calls to the outside, its artifacts, and a manifest
//! with the hash of each.
//!
//! Invariant: the life in a zip file is checked before anything is written, each content before it is kept, and nothing
//! of it is ever a path here.

mod limits; // in reading order
mod read;
mod write;

use gantry_core::event::Entry;
use gantry_core::id::PlanId;
use gantry_core::time::Timestamp;
use gantry_store::{ArtifactRow, Hash, Sealed, StoreError, Turn, first_head};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::exit::Fault;

pub use read::{Bundle, open, read};
pub use write::pack;

/// The form of the file that this program writes and reads.
const FORMAT: &str = "gantry-plan/1";

/// The names of the files in it.
const MANIFEST: &str = "manifest.json";
const PLAN: &str = "plan.yaml";
const JOURNAL: &str = "journal.jsonl";
const CALLS: &str = "calls.jsonl";
/// The folder of what checkpoints and ways back refer to by its hash.
const CONTENTS: &str = "contents/";

/// What a zip file says about itself.
#[derive(Serialize, Deserialize)]
struct Manifest {
    format: String,
    program: String,
    plan: PlanId,
    title: String,
    /// How many entries the journal has, and the hash after the last.
    length: u64,
    head: Hash,
    files: Vec<Packed>,
    artifacts: Vec<Kept>,
}

/// A file in it.
#[derive(Clone, Serialize, Deserialize)]
struct Packed {
    path: String,
    bytes: u64,
    hash: Hash,
}

/// An artifact, and the file that holds it.
#[derive(Serialize, Deserialize)]
struct Kept {
    path: String,
    #[serde(flatten)]
    row: ArtifactRow,
}

/// How many entries these turns have, and the hash after the last.
fn chain(plan: &PlanId, turns: &[Turn]) -> Result<(u64, Hash), StoreError> {
    let (mut length, mut head) = (0, first_head(plan));
    for turn in turns {
        let sealed = Sealed::new(turn.clone(), length)?;
        (length, head) = (sealed.last_seq(), sealed.head(head));
    }
    Ok((length, head))
}

/// Does something with a life that anyone may have made. Entries that contradict each other break the fold; they must not
/// break this program, nor be told as a fault of it.
pub fn quietly<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let done = std::thread::spawn(work).join();
    std::panic::set_hook(loud);
    done.ok()
}

/// A turn as one line of the journal.
#[derive(Serialize, Deserialize)]
struct Line {
    first_seq: u64,
    at: Timestamp,
    inputs: Box<RawValue>,
    entries: Vec<Entry>,
}

impl Line {
    fn of(turn: Turn) -> Result<Self, Fault> {
        let not_json = |error| Fault::internal(format!("the turn of entry {} is not JSON: {error}", turn.first_seq));
        let raw = RawValue::from_string(turn.inputs).map_err(not_json)?;
        Ok(Self { first_seq: turn.first_seq, at: turn.at, inputs: raw, entries: turn.entries })
    }

    fn turn(self) -> Turn {
        Turn { first_seq: self.first_seq, inputs: self.inputs.get().to_owned(), entries: self.entries, at: self.at }
    }
}
