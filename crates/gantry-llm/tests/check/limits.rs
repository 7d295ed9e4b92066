//! Hostile texts are refused within bounds: a quadratic reader would not come back from these.

use gantry_llm::structured::{BYTES_MAX, Checker, Reading};
use gantry_llm::{Finish, Shape};
use serde_json::json;

fn read(text: &str) -> Reading {
    let schema = json!({"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}});
    let checker = Checker::new(&Shape { name: "task".to_owned(), schema }).unwrap();
    checker.read(text, &Finish::Done, &|_| Vec::new())
}

fn faults(text: &str) -> Vec<String> {
    match read(text) {
        Reading::Faulty { faults } => faults,
        other => panic!("{other:?}"),
    }
}

/// A text just as long as is read at all.
fn flood(piece: &str) -> String {
    piece.repeat(BYTES_MAX / piece.len())
}

#[test]
fn an_answer_that_is_too_long_is_not_read() {
    assert!(faults(&"[".repeat(10_000_000))[0].contains("10000000 bytes long"));
}

#[test]
fn an_answer_that_nests_too_deep_is_refused_without_reading_it_all() {
    for piece in ["[", "{\"a\":", "[[{\"a\": ["] {
        assert_eq!(faults(&flood(piece)), ["The answer nests deeper than 100 levels."], "{piece}");
    }
}

#[test]
fn values_that_nest_as_deep_as_allowed_are_read() {
    let schema = json!({"type": "array"});
    let checker = Checker::new(&Shape { name: "nest".to_owned(), schema }).unwrap();
    let text = format!("{}{}", "[".repeat(100), "]".repeat(100));
    assert!(matches!(checker.read(&text, &Finish::Done, &|_| Vec::new()), Reading::Holds { .. }));
}

#[test]
fn floods_of_things_like_values_end_in_a_typed_reading() {
    let pieces = [
        "]",
        "{x",
        "[x ",
        "{\"",
        "[\"a\" ",
        "[/*",
        "[#",
        "{\"a\" ",
        "[1]",
        "{}",
        "[1,\n",
        "{a:1 b:2} ",
        "\\",
        "\"",
        "'",
        "```\n",
        "~~~\n{\n",
        "<think>",
        "</think>",
        "…",
        "[...",
        "“",
        "\u{feff}",
        "{\"a\":1}\n",
        "\0",
        "-",
        "[-",
        "\\u",
        "\"\\ud83d",
    ];
    for piece in pieces {
        match read(&flood(piece)) {
            Reading::Faulty { faults } => {
                assert!(!faults.is_empty() && faults.len() <= 13, "{piece}");
                assert!(faults.iter().all(|fault| fault.chars().count() <= 401), "{piece}: {faults:?}");
            }
            Reading::Cut { .. } => {}
            Reading::Holds { value, .. } => panic!("{piece}: {}", value.to_string().len()),
        }
    }
}

#[test]
fn an_array_of_too_many_values_is_refused() {
    assert_eq!(faults(&format!("[{}1]", "1,".repeat(600_000))), ["The answer holds more than 500000 values."]);
}
