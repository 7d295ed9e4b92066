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
fn each_stage_says_what_it_makes_of_a_demand_and_with_which_words() {
    let text = "Build a museum in Turku for 60 million EUR. It must have a marine biologist from the first day. \
                The museum must have a roof garden with rare mosses. Banned words: metaverse.";
    let facts = Facts::of(&Asked::new(text, date(2026, 11, 16))).unwrap();
    let plan = assemble::plan(&facts.outline().unwrap(), &facts.setting(), &BTreeSet::new()).unwrap();
    let levers = json!([{"name": "Roof", "options": ["A flat roof", "A garden with rare mosses on the roof"]}]);
    let scenarios = json!([{"name": "Bold", "logic": "All of it in the metaverse."}]);
    let team = json!([{"id": "bio", "title": "Marine biologist", "count": 1}]);
    let told = overview(&plan, &facts, &[("choices", &levers), ("ways to go", &scenarios), ("team", &team)]).unwrap();
    let found = |words: &str| -> (String, String) {
        let all = told["demands"].as_array().unwrap();
        let demand = all.iter().find(|demand| demand["text"].as_str().unwrap().contains(words)).unwrap();
        let line = |one: &Value| format!("{}: {} {}", one["stage"], one["found"], one["text"]).replace('"', "");
        let checked: Vec<String> = demand["checked"].as_array().unwrap().iter().map(line).collect();
        (demand["status"].as_str().unwrap().to_owned(), checked.join("\n"))
    };
    let (status, checked) = found("marine biologist");
    assert!(status == "met" && checked.contains("team: satisfied Marine biologist"), "{status} {checked}");
    let (_, checked) = found("rare mosses");
    assert!(
        checked.contains("choices: named, unclear whether it is kept A garden with rare mosses on the roof"),
        "{checked}"
    );
    let (status, checked) = found("metaverse");
    assert_eq!(status, "broken", "{checked}");
    assert!(
        checked.contains("choices: satisfied") && checked.contains("ways to go: broken All of it in the metaverse."),
        "{checked}"
    );
}

#[test]
fn what_is_counted_by_an_amount_is_named() {
    let told = traced("Plan a wedding for 80 guests in Florence", &Value::Null);
    insta::assert_snapshot!(told);
}
