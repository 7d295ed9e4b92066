//! Stored events never change their form: every kind of event of every version must still load.
//!
//! `golden/events-v1.jsonl` has one line for each kind. A new kind or field means a new line here; a
//! line that no longer loads, or loads into something else, means that old journals are lost.

#![allow(clippy::unwrap_used)] // a test may

use std::collections::BTreeSet;

use gantry_core::event::{EVENT_VERSION, Entry};

const V1: &str = include_str!("golden/events-v1.jsonl");

#[test]
fn every_stored_event_of_every_version_still_loads_and_is_written_as_it_was() {
    for line in V1.lines() {
        let entry: Entry = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(serde_json::to_string(&entry).unwrap(), line);
        assert!(entry.v <= EVENT_VERSION);
    }
}

#[test]
fn there_is_a_stored_line_for_every_kind_of_event() {
    let source = include_str!("../src/event.rs");
    let body = source.split("pub enum Event {").nth(1).unwrap().split("\n}\n").next().unwrap();
    let kinds: BTreeSet<String> = body
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(char::is_uppercase))
        .map(|line| line.trim_end_matches([' ', '{', ',']).to_owned())
        .map(|name| {
            name.chars().enumerate().fold(String::new(), |mut snake, (i, c)| {
                if c.is_uppercase() && i > 0 {
                    snake.push('_');
                }
                snake.push(c.to_ascii_lowercase());
                snake
            })
        })
        .collect();
    let stored: BTreeSet<String> = V1
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["event"].as_str().unwrap().to_owned())
        .collect();
    assert!(kinds.len() > 40, "the list of kinds is read from the source: {kinds:?}");
    assert_eq!(kinds, stored);
}
