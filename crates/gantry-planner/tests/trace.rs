//! How demands are followed: each to what shows whether it is met, or to the work that is about it.

#![allow(clippy::unwrap_used)] // a test may

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gantry_planner::assemble;
use gantry_planner::facts::{Asked, Facts};
use gantry_planner::overview::overview;
use jiff::civil::date;
use serde_json::{Value, json};

/// Every demand, how it stands, and where.
fn traced(text: &str, risks: &Value) -> String {
    let facts = Facts::of(&Asked::new(text, date(2026, 11, 16))).unwrap();
    let plan = assemble::plan(&facts.outline().unwrap(), &facts.setting(), &BTreeSet::new()).unwrap();
    let told = overview(&plan, &facts, &[("risks", risks)]).unwrap();
    let mut table = String::new();
    for demand in told["demands"].as_array().unwrap() {
        let field = |name: &str| demand[name].as_str().unwrap().to_owned();
        let work: Vec<&str> = demand["where"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        writeln!(
            table,
            "{} {}: {} [{}] {}",
            field("id"),
            field("text"),
            field("status"),
            work.join(", "),
            field("why")
        )
        .unwrap();
    }
    table
}

#[test]
fn place_amounts_and_what_must_be_are_followed_to_the_work() {
    let text = "Organise a conference for 300 developers in Berlin by May 2027. The venue must be accessible for wheelchairs. \
                Banned words: blockchain, hackathon. Don't use plastic.";
    insta::assert_snapshot!(traced(text, &json!([{"title": "The venue falls away"}])));
}

#[test]
fn a_forbidden_word_is_found_wherever_it_stands() {
    let text = "Build a museum in Turku for 60 million EUR. Banned words: metaverse, zeppelin.";
    let clean = traced(text, &json!([{"title": "It rains"}]));
    assert!(clean.contains("met [] None of it stands in the work"), "{clean}");
    let spoken = traced(text, &json!([{"title": "The zeppelin ends before it opens"}]));
    assert!(spoken.contains("broken [] The plan speaks of “zeppelin”."), "{spoken}");
    let inside = traced(text, &json!([{"title": "A zeppelinist is late"}]));
    assert!(inside.contains("met [] None of it"), "a part of a word is no word: {inside}");
}

#[test]
fn what_is_counted_by_an_amount_is_named() {
    let told = traced("Plan a wedding for 80 guests in Florence", &Value::Null);
    insta::assert_snapshot!(told);
}
