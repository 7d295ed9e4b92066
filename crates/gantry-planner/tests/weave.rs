//! Answers that fit their schemas and not each other.

#![allow(clippy::unwrap_used)] // a test may

use std::collections::BTreeSet;

use gantry_core::plan::Severity;
use gantry_planner::assemble;
use gantry_planner::facts::{Asked, Facts};
use gantry_planner::weave::{Woven, weave};
use jiff::civil::date;
use serde_json::{Value, json};

fn role(id: &str, count: f64) -> Value {
    json!({"id": id, "title": id, "count": count, "rate": 50})
}

fn phase(id: &str, after: &[&str]) -> Value {
    json!({"id": id, "title": id, "purpose": "p", "deliverable": "d", "milestone": "m", "decision": "go?", "after": after})
}

fn task(id: &str, after: &[&str]) -> Value {
    json!({
        "id": id, "title": format!("Do {id}"), "detail": "d", "role": "lead", "with": [], "hours": [1, 2, 4], "after": after,
        "output": "o", "done_when": "w", "costs": [], "risks": [],
    })
}

fn risk(probability: f64) -> Value {
    json!({
        "id": "rain", "title": "Rain", "effect": "Mud", "probability": probability, "impact": 3.0, "delay_hours": [1, 2, 3],
        "cost": [0, 0, 0], "mitigation": "Wait", "owner": "lead",
    })
}

fn taken() -> BTreeSet<String> {
    ["tasks", "work", "risks"].into_iter().map(str::to_owned).collect()
}

/// The answers put together, and the plan that comes of them, which is always sound.
fn woven(team: Value, risks: Value, phases: &[Value], tasks: &[Vec<Value>]) -> (Woven, Value) {
    let tasks: Vec<Value> = tasks.iter().map(|tasks| json!({"tasks": tasks})).collect();
    let answers = json!({"team": team, "risks": risks, "phases": phases, "tasks": tasks});
    let woven = weave(&answers, &taken()).unwrap();
    let facts = Facts::of(&Asked::new("Build a shed in Aarhus for 50 000 DKK", date(2026, 11, 16))).unwrap();
    let mut plan = assemble::plan(&woven.outline, &facts.setting(), &taken()).unwrap();
    plan["title"] = json!("Shed");
    let read = gantry_format::load("plan.json", plan.to_string().as_bytes());
    let errors: Vec<String> = read.report.diagnostics.iter().map(|found| found.message.clone()).collect();
    let sound = read.plan.unwrap_or_else(|| panic!("{errors:?}"));
    assert!(sound.check().iter().all(|problem| problem.severity != Severity::Error));
    (woven, plan)
}

fn lead() -> Value {
    json!([role("lead", 1.0)])
}

#[test]
fn work_that_is_called_like_a_step_or_its_parts_gets_another_name() {
    let tasks = [vec![task("tasks", &[]), task("tasks-1", &["tasks"]), task("work", &[])]];
    let (woven, _) = woven(lead(), json!([]), &[phase("risks", &[])], &tasks);
    let names: Vec<&str> = woven.outline.tasks().map(|task| task.id.as_str()).collect();
    assert_eq!(names, ["work-tasks", "work-tasks-1", "work-work"]);
}

#[test]
fn links_ahead_are_left_out_and_told_so_that_the_order_stays() {
    let phases = [phase("first", &[]), phase("second", &["first"])];
    let tasks = [vec![task("x", &[]), task("y", &["second"])], vec![task("t", &[])]];
    let (woven, _) = woven(lead(), json!([]), &phases, &tasks);
    assert!(
        woven.repairs.iter().any(|repair| repair.contains("`y`") && repair.contains("`second`")),
        "{:?}",
        woven.repairs
    );
    let t = woven.outline.tasks().find(|task| task.id == "t").unwrap();
    assert_eq!(t.after, ["x", "y"], "the second phase still comes second");
}

#[test]
fn a_phase_that_waits_for_nobody_begins_at_once() {
    let tasks = [vec![task("x", &[])], vec![task("t", &[])]];
    let (woven, _) = woven(lead(), json!([]), &[phase("first", &[]), phase("second", &[])], &tasks);
    assert!(woven.outline.tasks().all(|task| task.after.is_empty()));
}

#[test]
fn numbers_that_cannot_be_are_bounded_and_told() {
    let mut huge = task("x", &[]);
    huge["hours"] = json!([1e7, 1e8, 1e300]);
    huge["with"] = json!(["lead", "other", "other"]);
    let team = json!([role("lead", 4e9), role("lead", 4e9), role("other", 2.0)]);
    let (woven, _) = woven(team, json!([risk(7.0)]), &[phase("first", &[])], &[vec![huge]]);
    let x = woven.outline.tasks().next().unwrap();
    assert!(x.hours[2] <= 100_000.0 && x.with == ["other"], "{x:?}");
    assert!(woven.outline.risks[0].probability <= 1.0);
    assert!(woven.repairs.len() >= 4, "{:?}", woven.repairs);
}

#[test]
fn letters_for_terminals_are_taken_out_and_empty_names_are_filled() {
    let mut odd = task("x", &[]);
    odd["title"] = json!("a\u{1b}]0;pwn\u{7}b\u{0}");
    let team = json!([{"id": "lead", "title": "", "count": 1, "rate": 50}]);
    let (woven, plan) = woven(team, json!([]), &[phase("first", &[])], &[vec![odd]]);
    assert_eq!(woven.outline.roles[0].title, "lead");
    assert!(!plan.to_string().contains("\\u001b"), "{plan}");
}
