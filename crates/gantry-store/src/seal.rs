//! The stored form of a turn, and the hash chain that shows any change to it.
//!
//! A journal's chain begins with a hash of the plan's id. A turn links to it the hash of its
//! envelope (its first number, its time, how many entries it has, its inputs), then one hash for each
//! entry. The store keeps the last of these. Hashing the texts needs nothing but the turn; only
//! linking needs the hash before it.

use gantry_core::event::Entry;
use gantry_core::id::PlanId;
use gantry_core::time::Timestamp;
use serde_json::value::RawValue;

use crate::{Hash, StoreError, Turn};

/// The largest turn that is kept, in bytes of text.
pub const TURN_BYTES_MAX: u64 = 256 << 20;

/// Returns the hash that the journal of a plan begins with.
#[must_use]
pub fn first_head(plan: &PlanId) -> Hash {
    Hash::of_parts(&[b"gantry journal", plan.as_str().as_bytes()])
}

/// A turn in its stored form, with everything hashed that does not need the hash before it.
#[derive(Clone, Debug)]
pub struct Sealed {
    /// The number of its first entry.
    pub first_seq: u64,
    /// When.
    pub at: Timestamp,
    /// The inputs as JSON.
    pub inputs: String,
    /// The entries as one JSON array.
    pub entries: String,
    envelope: Hash,
    entry_hashes: Vec<Hash>,
}

impl Sealed {
    /// Writes and hashes a turn that comes after `length` entries.
    pub fn new(turn: Turn, length: u64) -> Result<Self, StoreError> {
        check_numbers(&turn, length)?;
        let unwritable = |error: serde_json::Error| StoreError::Invalid { what: format!("it is not JSON: {error}") };
        let mut entries = Vec::with_capacity(256 * turn.entries.len());
        let mut entry_hashes = Vec::with_capacity(turn.entries.len());
        for entry in &turn.entries {
            entries.push(if entries.is_empty() { b'[' } else { b',' });
            let begin = entries.len();
            serde_json::to_writer(&mut entries, entry).map_err(unwritable)?;
            entry_hashes.push(Hash::of(&entries[begin..]));
        }
        entries.push(b']');
        let Turn { first_seq, at, inputs, .. } = turn;
        let entries = String::from_utf8(entries)
            .map_err(|error| StoreError::Invalid { what: format!("it is not UTF-8: {error}") })?;
        let bytes = (inputs.len() + entries.len()) as u64;
        if bytes > TURN_BYTES_MAX {
            return Err(StoreError::TooLarge { what: "the turn".to_owned(), bytes, bytes_max: TURN_BYTES_MAX });
        }
        let envelope = envelope(first_seq, at, entry_hashes.len(), &inputs);
        Ok(Self { first_seq, at, inputs, entries, envelope, entry_hashes })
    }

    /// Returns the hash after the turn's last entry, given the one before its first.
    #[must_use]
    pub fn head(&self, before: Hash) -> Hash {
        link(before, self.envelope, &self.entry_hashes)
    }

    /// Returns the number of its last entry: how long the journal is after it.
    pub fn last_seq(&self) -> u64 {
        self.first_seq + self.entry_hashes.len() as u64 - 1
    }
}

fn check_numbers(turn: &Turn, length: u64) -> Result<(), StoreError> {
    let invalid = |what: String| Err(StoreError::Invalid { what });
    if turn.entries.is_empty() {
        return invalid("the turn has no entries".to_owned());
    }
    if turn.first_seq != length + 1 {
        return invalid(format!("the turn begins at entry {}, after {length} entries", turn.first_seq));
    }
    for (entry, seq) in turn.entries.iter().zip(turn.first_seq..) {
        if entry.seq != seq {
            return invalid(format!("entry {} stands in the place of entry {seq}", entry.seq));
        }
    }
    Ok(())
}

fn envelope(first_seq: u64, at: Timestamp, count: usize, inputs: &str) -> Hash {
    Hash::of_parts(&[
        &first_seq.to_le_bytes(),
        &at.as_ms().to_le_bytes(),
        &(count as u64).to_le_bytes(),
        inputs.as_bytes(),
    ])
}

fn link(before: Hash, envelope: Hash, entries: &[Hash]) -> Hash {
    entries.iter().fold(envelope.after(before), |head, entry| entry.after(head))
}

/// A turn as a store read it, not yet trusted.
#[derive(Clone, Copy, Debug)]
pub struct StoredTurn<'a> {
    /// The number of its first entry.
    pub first_seq: u64,
    /// The number of its last entry.
    pub last_seq: u64,
    /// When.
    pub at: Timestamp,
    /// The inputs as JSON.
    pub inputs: &'a str,
    /// The entries as one JSON array.
    pub entries: &'a str,
    /// The hash after its last entry.
    pub head: Hash,
}

impl StoredTurn<'_> {
    /// Returns the turn, if it is what was appended after `length` entries and the hash `before`.
    ///
    /// The error says what is wrong with it, as a lowercase fragment.
    pub fn open(&self, length: u64, before: Hash) -> Result<Turn, String> {
        self.check(length, before)?;
        let entries: Vec<Entry> = serde_json::from_str(self.entries).map_err(|error| self.damage(&error))?;
        if let Some((entry, seq)) = entries.iter().zip(self.first_seq..).find(|(entry, seq)| entry.seq != *seq) {
            return Err(format!("entry {} stands in the place of entry {seq}", entry.seq));
        }
        let inputs = self.inputs.to_owned();
        Ok(Turn { first_seq: self.first_seq, inputs, entries, at: self.at })
    }

    /// Tells whether the turn is what was appended, without making sense of its entries.
    pub fn check(&self, length: u64, before: Hash) -> Result<(), String> {
        if self.first_seq != length + 1 {
            return Err(format!("entry {} should come, but {} came", length + 1, self.first_seq));
        }
        let raw: Vec<&RawValue> = serde_json::from_str(self.entries).map_err(|error| self.damage(&error))?;
        // Nothing stands between the entries but one comma each: what is not hashed does not exist.
        let plain: usize = raw.iter().map(|entry| entry.get().len() + 1).sum();
        if self.last_seq + 1 != self.first_seq + raw.len() as u64 || plain + 1 != self.entries.len() {
            return Err(self.damage(&"it has another shape"));
        }
        let hashes: Vec<Hash> = raw.iter().map(|entry| Hash::of(entry.get().as_bytes())).collect();
        let envelope = envelope(self.first_seq, self.at, hashes.len(), self.inputs);
        if link(before, envelope, &hashes) != self.head {
            return Err(self.damage(&"its hash does not fit"));
        }
        Ok(())
    }

    fn damage(&self, why: &dyn std::fmt::Display) -> String {
        format!("the turn of entries {} to {} is not what was written: {why}", self.first_seq, self.last_seq)
    }
}
