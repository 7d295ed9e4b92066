//! The stored form of a turn shows every change to it.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use gantry_core::time::Timestamp;
use gantry_store::conformance::kit::{plan, turn};
use gantry_store::{Hash, Sealed, StoreError, StoredTurn, first_head};

/// A sealed turn after two entries, and the hash before it.
fn sealed() -> (Sealed, Hash) {
    let before = Sealed::new(turn(0, 2), 0).unwrap().head(first_head(&plan("a")));
    (Sealed::new(turn(2, 3), 2).unwrap(), before)
}

fn stored(sealed: &Sealed, before: Hash) -> StoredTurn<'_> {
    StoredTurn {
        first_seq: sealed.first_seq,
        last_seq: sealed.last_seq(),
        at: sealed.at,
        inputs: &sealed.inputs,
        entries: &sealed.entries,
        head: sealed.head(before),
    }
}

#[test]
fn a_stored_turn_opens_as_what_was_sealed() {
    let (sealed, before) = sealed();
    assert_eq!(stored(&sealed, before).open(2, before), Ok(turn(2, 3)));
}

#[test]
fn every_flipped_bit_of_a_stored_turn_is_noticed() {
    let (sealed, before) = sealed();
    let sound = stored(&sealed, before);
    let flip = |text: &str, bit: usize| {
        let mut bytes = text.as_bytes().to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        String::from_utf8(bytes).ok() // text that is not UTF-8 is noticed by whoever reads it
    };
    for bit in 0..8 * sound.entries.len() {
        if let Some(entries) = flip(sound.entries, bit) {
            assert!(StoredTurn { entries: &entries, ..sound }.check(2, before).is_err(), "bit {bit} of the entries");
        }
    }
    for bit in 0..8 * sound.inputs.len() {
        if let Some(inputs) = flip(sound.inputs, bit) {
            assert!(StoredTurn { inputs: &inputs, ..sound }.check(2, before).is_err(), "bit {bit} of the inputs");
        }
    }
    for bit in 0..63 {
        let at = Timestamp::from_ms(sound.at.as_ms() ^ (1 << bit));
        assert!(StoredTurn { at, ..sound }.check(2, before).is_err(), "bit {bit} of the time");
        let first_seq = sound.first_seq ^ (1 << bit);
        assert!(StoredTurn { first_seq, ..sound }.check(2, before).is_err(), "bit {bit} of the first number");
        let last_seq = sound.last_seq ^ (1 << bit);
        assert!(StoredTurn { last_seq, ..sound }.check(2, before).is_err(), "bit {bit} of the last number");
    }
    assert!(sound.check(2, Hash::of(b"another")).is_err(), "the hash before");
    assert!(sound.check(1, before).is_err(), "its place");
}

#[test]
fn space_between_entries_is_noticed_although_json_allows_it() {
    let (sealed, before) = sealed();
    let sound = stored(&sealed, before);
    for entries in [sound.entries.replace("},{", "}, {"), format!(" {}", sound.entries), format!("{} ", sound.entries)]
    {
        assert!(StoredTurn { entries: &entries, ..sound }.check(2, before).is_err(), "{entries}");
    }
}

#[test]
fn every_error_says_what_and_whether_to_try_again() {
    let full = StoreError::Full { what: "appending".to_owned() };
    assert_eq!(full.to_string(), "there is no room left: appending");
    assert!(full.is_transient() && full.hint().unwrap().contains("free some room"));
    let conflict = StoreError::Conflict { length: 7 };
    assert_eq!(conflict.to_string(), "the journal has 7 entries by now: someone else appended first");
    assert!(!conflict.is_transient());
    let missing = StoreError::NotFound { what: "plan `x`".to_owned(), candidates: vec!["y".to_owned()] };
    assert_eq!(
        (missing.to_string().as_str(), missing.hint().unwrap().as_str()),
        ("there is no plan `x`", "did you mean y?")
    );
}
