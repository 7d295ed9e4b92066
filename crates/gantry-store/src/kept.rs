//! Contents that are needed though nobody calls them artifacts: what calls to the outside speak of, such as the way back
//! from a change, and what a list of files speaks of in turn.
//!
//! Who speaks of a content writes its hash. So whatever looks like a hash keeps what has that hash: at worst something
//! is kept that nobody needs.

use std::collections::BTreeSet;

use gantry_core::event::{Entry, Event};

use crate::Hash;

/// What the artifact is called that lists the files of a working folder.
pub const FILE_LIST: &str = "checkpoint";

/// How many digits a hash is written with.
const DIGITS: usize = 64;

/// The hashes that stand in a text.
pub fn hashes_in(text: &[u8]) -> impl Iterator<Item = Hash> {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    let words = text.split(move |byte| !is_digit(byte)).filter(|word| word.len() == DIGITS);
    words.filter_map(|word| std::str::from_utf8(word).ok()?.parse().ok())
}

/// The hashes that stand in a content that may be a list of files; none in any other content.
pub fn listed_in(content: &[u8]) -> impl Iterator<Item = Hash> {
    hashes_in(if content.first() == Some(&b'{') { content } else { &[] })
}

/// The hashes that notes speak of, in the entries of a turn as they are written: what a folder was before it was
/// restored is known from a note alone.
pub fn noted_in(entries: &str) -> BTreeSet<Hash> {
    // Notes are rare, and reading entries is slow.
    let entries: Vec<Entry> =
        if entries.contains(NOTE) { serde_json::from_str(entries).unwrap_or_default() } else { Vec::new() };
    let notes = entries.iter().filter_map(|entry| match &entry.event {
        Event::NoteAdded { text, .. } => Some(text),
        _ => None,
    });
    notes.flat_map(|text| hashes_in(text.as_bytes())).collect()
}

/// How a note begins where it is written.
const NOTE: &str = "\"note_added\"";
