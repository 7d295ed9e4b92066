//! What models have answered once is not asked for again: with the network off, in forks, after a change.

use gantry_testkit::model_server::{Heard, ModelServer, Turn};
use serde_json::{Value, json};

use super::kit::Kit;
use super::serving::{models, words};

/// Says the last word of what it is asked, which differs from task to task.
fn echoes(heard: &Heard) -> Turn {
    let asked = words(heard);
    let word = ["alpha", "beta", "delta"].into_iter().find(|word| asked.contains(&format!("Say {word}.")));
    Turn::text(format!("It is {}.", word.unwrap_or("unknown")))
}

const PLAN: &str = "id: three\ntitle: Three\ntasks:\n  - {id: a, model: {instruction: Say alpha.}}\n  - {id: b, model: {instruction: Say beta.}}\n  - id: c\n    depends_on: [a, b]\n    inputs: {first: tasks.a.text}\n    model: {instruction: Say delta.}\n";

fn asked(server: &ModelServer) -> usize {
    server.counts().requests
}

/// What the tasks of a plan gave.
fn texts(kit: &Kit, plan: &str) -> Vec<Value> {
    let text = |task: &str| kit.json(&format!("task show {plan} {task} --json"))["outputs"]["text"].clone();
    ["a", "b", "c"].map(text).to_vec()
}

/// A plan that was carried out, and its server.
fn carried_out() -> (Kit, ModelServer) {
    let (kit, server) = (Kit::new(), ModelServer::start());
    server.otherwise(echoes);
    kit.write("gantry.toml", models(&server));
    kit.write("plan.yaml", PLAN);
    let said = kit.gantry(&["run", "plan.yaml", "--strict"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert_eq!(asked(&server), 3);
    (kit, server)
}

#[test]
fn a_life_is_decided_again_with_the_network_off() {
    let (kit, server) = carried_out();
    drop(server);
    let said = kit.gantry(&["replay", "three"]);
    assert!(said.contains("everything is the same") && said.ends_with("[exit 0]"), "{said}");
}

#[test]
fn a_fork_asks_for_nothing_that_is_answered_already_wherever_it_begins() {
    let (kit, server) = carried_out();
    let texts_before = texts(&kit, "three");
    drop(server);
    let log = kit.gantry(&["log", "three"]);
    let length = log.lines().filter(|line| line.trim_start().starts_with(char::is_numeric)).count();
    assert!(length > 4, "{length}");
    for at in [2, length / 2, length] {
        let forked = kit.json(&format!("fork three --at {at} --json"))["plan"].as_str().unwrap().to_owned();
        // Strict: nobody answers at the server any more, and the offline model may not.
        let said = kit.gantry(&["resume", &forked, "--strict"]);
        assert!(said.ends_with("[exit 0]"), "after {at}: {said}");
        assert_eq!(texts(&kit, &forked), texts_before, "after {at}");
        let used = kit.json(&format!("status {forked} --json"))["used"]["model_calls"].clone();
        // What was begun before the fork is a part of its life, and so is what it used.
        assert!(at > 2 || used == Value::Null || used == json!(0), "after {at}: {used} calls are counted");
        assert!(kit.gantry(&["replay", &forked]).ends_with("[exit 0]"), "after {at}");
    }
}

#[test]
fn one_instruction_that_was_changed_is_one_question() {
    let (kit, server) = carried_out();
    kit.write("next.yaml", PLAN.replace("Say beta.", "Say delta."));
    let said = kit.gantry(&["revise", "three", "next.yaml", "--rationale", "another word"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    let said = kit.gantry(&["resume", "three", "--strict"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert_eq!(asked(&server), 4, "{said}");
    assert_eq!(texts(&kit, "three"), [json!("It is alpha."), json!("It is delta."), json!("It is delta.")]);
    // And back: that was answered before.
    kit.write("back.yaml", PLAN);
    assert_eq!(kit.code("revise three back.yaml --rationale \"the first word\""), 0);
    assert_eq!(kit.code("resume three --strict"), 0);
    assert_eq!(asked(&server), 4);
    assert_eq!(texts(&kit, "three")[1], json!("It is beta."));
}
