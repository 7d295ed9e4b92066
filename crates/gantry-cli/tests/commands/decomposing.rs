//! Breaking plans and tasks down: by a model at a real server on this machine, and without one.

use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::{Value, json};

use super::kit::Kit;

const PLAN: &str = "id: hall\ntitle: Climbing hall\nobjective: Build a climbing hall in Aarhus\ntasks:\n  - {id: permits, title: Get the permits}\n  - {id: hall-itself, title: Raise the hall, depends_on: [permits]}\n";

/// A kit with a plan whose tasks are for people, and models at this server.
fn asking(server: &ModelServer) -> Kit {
    let kit = Kit::new();
    let address = server.base_url();
    kit.write(
        "gantry.toml",
        format!("[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{address}\"\ntools = false\nretries = 0\n\n[profiles.balanced]\ndefault = \"here:m\"\n"),
    );
    kit.write("plan.yaml", PLAN);
    kit.gantry(&["run", "plan.yaml"]);
    kit
}

fn child(key: &str, name: &str, waits_for: &[&str], leaf: bool) -> Value {
    json!({"key": key, "name": name, "instruction": format!("{name}, and show it."), "depends_on": waits_for, "leaf": leaf})
}

fn proposal(children: &[Value]) -> Turn {
    Turn::json(&json!({"should_stop": false, "reason": "", "children": children}))
}

#[test]
fn a_task_is_broken_down_by_a_model_and_the_plan_has_a_new_revision() {
    let server = ModelServer::start();
    server.then(proposal(&[
        child("apply", "Apply for the permit", &["survey", "hall-itself", "nobody"], true),
        child("survey", "Survey the ground", &[], true),
    ]));
    let kit = asking(&server);
    insta::assert_snapshot!(kit.gantry(&["decompose", "hall", "--task", "permits", "--depth", "1"]));
    let status = kit.json("status hall --json");
    assert_eq!((&status["revision"], &status["tasks"]["pending"]), (&json!(2), &json!(2)), "{status:#}");
    let told = server.heard()[0].body.to_string();
    assert!(told.contains("Build a climbing hall in Aarhus") && told.contains("Raise the hall"), "{told}");
}

#[test]
fn programs_get_everything_about_it() {
    let server = ModelServer::start();
    server.then(proposal(&[
        child("survey", "Survey the ground", &[], false),
        child("apply", "Apply", &["survey"], true),
    ]));
    server.then(Turn::json(&json!({"should_stop": true, "reason": "one visit", "children": []})));
    let kit = asking(&server);
    let made = kit.json("decompose hall --task permits --depth 2 --budget 9 --json");
    insta::assert_snapshot!(format!("{made:#}"));
    assert_eq!(server.counts().requests, 2);
    let again = kit.json("decompose hall --task permits --depth 1 --json");
    assert_eq!((&again["outcome"], &again["stopped_reason"]), (&json!("finished"), &json!("nothing_to_break_down")));
    assert_eq!(server.counts().requests, 2, "what has children is not asked about");
}

#[test]
fn when_nobody_answers_it_has_failed_and_nothing_changes() {
    let server = ModelServer::start();
    server.always(Turn::status(500));
    let kit = asking(&server);
    let said = kit.gantry(&["decompose", "hall", "--task", "permits", "--strict"]);
    assert!(said.contains("no task made: nobody answered") && said.ends_with("[exit 3]"), "{said}");
    assert_eq!(kit.json("status hall --json")["revision"], json!(1));
    server.otherwise(|_| proposal(&[child("a", "Apply", &[], true), child("b", "Wait", &["a"], true)]));
    let said = kit.gantry(&["decompose", "hall", "--task", "permits", "--strict"]);
    assert!(said.ends_with("[exit 0]"), "the same command tries again: {said}");
}

#[test]
fn who_was_killed_after_an_answer_pays_for_it_once() {
    let server = ModelServer::start();
    server.then(proposal(&[child("a", "Apply", &[], true), child("b", "Wait", &["a"], true)]));
    let kit = asking(&server);
    assert!(kit.dies(&[("GANTRY_CRASH_AT", "after_effect:1")], "decompose hall --task permits --depth 1"));
    let said = kit.gantry(&["decompose", "hall", "--task", "permits", "--depth", "1"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert_eq!(server.counts().requests, 1);
    assert_eq!(kit.json("status hall --json")["revision"], json!(2));
}

#[test]
fn settings_come_from_variables_and_bad_ones_are_told() {
    let server = ModelServer::start();
    let kit = asking(&server);
    insta::assert_snapshot!(kit.with_variable("DECOMP_MAX_DEPTH", "two", "decompose hall"), @"
    --- talk
    error: `DECOMP_MAX_DEPTH` is `two`, which is not a whole number from 1 on
    [exit 2]
    ");
    server.then(proposal(&[child("a", "Apply", &[], false), child("b", "Wait", &["a"], false)]));
    let made = kit.with_variables(
        &[("DECOMP_MAX_DEPTH", "1"), ("DECOMP_TOTAL_NODE_BUDGET", "1"), ("DECOMP_MIN_CHILDREN", "1")],
        "decompose hall --task permits --json",
    );
    assert!(made.contains("node_budget_exhausted"), "{made}");
    assert_eq!(server.counts().requests, 1);
}

#[test]
fn an_outline_is_a_plan_by_its_own_template() {
    let kit = Kit::new();
    let request = "Open a community solar co-op in Aarhus, 2 million DKK, first panels before summer";
    let output = kit.output(&["plan", "--template", "outline", "--yes", "--offline", "--today", "2026-11-16", request]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let plan = kit.json("export @last --format json");
    let tasks = plan["tasks"].as_array().unwrap();
    let leaves = tasks.iter().filter(|task| !tasks.iter().any(|other| other["parent"] == task["id"]));
    assert!(leaves.count() >= 15, "{plan:#}");
}
