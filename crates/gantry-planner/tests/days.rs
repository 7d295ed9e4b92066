//! What happens on a day is held on that day, not as soon as everything is ready.

#![allow(clippy::unwrap_used)] // a test may

mod shared;

use std::collections::BTreeSet;

use gantry_planner::assemble;
use gantry_planner::brief::{self, Held};
use gantry_planner::facts::{Asked, Facts};
use gantry_planner::overview::overview;
use jiff::civil::{Date, date};
use serde_json::Value;

const TODAY: Date = date(2026, 11, 16);

fn held(text: &str) -> Option<Held> {
    brief::read(text, TODAY).held
}

/// The facts of a request, its tasks by their ids, and what the plan means.
fn planned(text: &str) -> (Facts, Vec<Value>, Value) {
    let facts = Facts::of(&Asked::new(text, TODAY)).unwrap();
    let plan = assemble::plan(&facts.outline().unwrap(), &facts.setting(), &BTreeSet::new()).unwrap();
    let (_, schedule) = shared::scheduled(&facts.title, &plan);
    let overview = overview(&plan, &facts, &[]).unwrap();
    (facts, schedule["tasks"].as_array().unwrap().clone(), overview)
}

/// From which day to which a task lasts.
fn lies(rows: &[Value], id: &str) -> (String, String) {
    let row = rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no `{id}` in {rows:#?}"));
    let day = |name: &str| row[name].as_str().unwrap()[..10].to_owned();
    (day("start"), day("finish"))
}

fn status<'a>(overview: &'a Value, text: &str) -> &'a str {
    let demands = overview["demands"].as_array().unwrap();
    let found = demands.iter().find(|demand| demand["text"].as_str().unwrap().contains(text));
    found.unwrap_or_else(|| panic!("{text}: {demands:#?}"))["status"].as_str().unwrap()
}

fn failed(overview: &Value) -> Vec<&str> {
    let checks = overview["health"].as_array().unwrap().iter().filter(|check| check["passed"] == false);
    checks.map(|check| check["id"].as_str().unwrap()).collect()
}

#[test]
fn days_that_are_named_are_told_from_days_by_which_something_is_done() {
    let on = |from, to, all| Some(Held { from, to, all });
    let (first, last) = (date(2027, 7, 3), date(2027, 7, 17));
    assert_eq!(held("Go hiking in the Alps from 3 to 17 July 2027"), on(first, last, true));
    assert_eq!(held("Go hiking in the Alps, 3 July – 17 July 2027"), on(first, last, true));
    assert_eq!(held("Hold a wedding on 17 July 2027"), on(last, last, true));
    assert_eq!(held("Hold a wedding in July 2027"), on(date(2027, 7, 1), date(2027, 7, 31), false));
    assert_eq!(held("Hold a wedding by 17 July 2027"), None);
    assert_eq!(held("Hold a wedding before July 2027"), None);
    assert_eq!(held("Build a shed from 3 to 17 m2"), None);
    // Whoever builds between two days still begins on the first of them, and is done by the last.
    let built = brief::read("Run the survey from 1 March 2027 to 30 April 2027", TODAY);
    assert_eq!((built.start, built.deadline), (Some(date(2027, 3, 1)), Some(date(2027, 4, 30))));
}

#[test]
fn a_conference_is_held_on_its_day_and_everything_else_lies_around_it() {
    let text =
        "Organise a conference on rare diseases in Lyon on 14 October 2027 with 300 participants, budget 120,000 EUR";
    let (facts, rows, overview) = planned(text);
    let day = "2027-10-14".to_owned();
    assert_eq!(facts.held.map(|held| held.from.to_string()), Some(day.clone()));
    for id in ["run-show", "open-doors", "serve-guests", "guard-safety", "delivery-done"] {
        assert_eq!(lies(&rows, id), (day.clone(), day.clone()), "{id}");
    }
    assert!(lies(&rows, "walk-through").1 < day && lies(&rows, "take-down").0 >= day);
    // Nobody gets ready half a year before.
    assert!(overview["start"].as_str().unwrap() > "2027-01-01", "{}", overview["start"]);
    assert_eq!((&overview["deadline"], overview["held"]["when"].as_str()), (&Value::Null, Some("on 2027-10-14")));
    assert_eq!(status(&overview, "14 October 2027"), "met");
    // What decides whether the day is kept is the work before it.
    let path: Vec<&str> =
        overview["critical_path"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
    assert_eq!((path[0], path.contains(&"walk-through")), ("purpose", true), "{path:?}");
    assert_eq!(failed(&overview), [""; 0]);
}

#[test]
fn a_wedding_on_a_saturday_is_on_that_saturday() {
    let (_, rows, overview) = planned("Plan our wedding on 18 September 2027 in Graz with 60 guests for 25,000 EUR");
    let day = "2027-09-18".to_owned();
    assert_eq!(lies(&rows, "the-day"), (day.clone(), day.clone()));
    assert!(lies(&rows, "running-order").1 < day && lies(&rows, "afterwards").0 >= day);
    assert_eq!(status(&overview, "18 September 2027"), "met");
    assert_eq!(failed(&overview), [""; 0]);
}

#[test]
fn a_journey_takes_the_days_that_were_named() {
    let (_, rows, overview) = planned("Go hiking in the Dolomites from 3 to 17 July 2027, 2 people, 2500 EUR");
    let (from, to) = lies(&rows, "enjoy");
    assert_eq!(from, "2027-07-03");
    assert!(to.as_str() > "2027-07-14" && to.as_str() <= "2027-07-17", "{to}");
    assert_eq!(status(&overview, "July 2027"), "met");
}

#[test]
fn a_day_for_which_there_is_no_time_is_told_with_its_gap() {
    let text = "Organise a conference on rare diseases in Lyon on 7 December 2026 with 300 participants";
    let (_, _, overview) = planned(text);
    assert_eq!(overview["feasible"], false);
    let gap = overview["gaps"][0].as_str().unwrap();
    assert!(gap.starts_with("It is to be held on 2026-12-07, and would end on 2027-"), "{gap}");
    assert_eq!(status(&overview, "7 December 2026"), "broken");
    assert!(overview["options"][0].as_str().unwrap().starts_with("Move the day to 2027-"), "{overview}");
}

#[test]
fn what_is_built_by_a_day_is_done_as_soon_as_it_can_be() {
    let (facts, _, overview) = planned("Open a bakery in Graz in September 2028 for 300,000 EUR");
    assert_eq!(facts.held, None);
    assert_eq!((overview["deadline"].as_str(), &overview["held"]), (Some("2028-09-30"), &Value::Null));
}
