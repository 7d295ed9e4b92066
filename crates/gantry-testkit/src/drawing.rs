//! Plans drawn as text, one task a line.
//!
//! ```text
//! policy.parallel=2
//! build                                    # a shell command that the test finishes
//! sign-off  gate  after build  gate.approvals=2
//! ship      after sign-off  on failure -> build max=3
//! group                                    # a composite: its parts are indented
//!   part-1  timeout=10m
//!   part-2  after part-1  run="exit 1"
//! ```
//!
//! `key=value` sets any field of the task by its path; the value is JSON when it reads as JSON. A
//! line that starts with `policy.` or `plan.` sets a field of the plan.

use gantry_core::plan::{Action, Plan};
use serde_json::{Map, Value, json};

/// Reads a drawn plan.
///
/// # Panics
/// When the drawing is wrong: it is part of a test.
pub fn draw_plan(text: &str) -> Plan {
    let mut plan = json!({"title": "A drawn plan", "tasks": []});
    let mut tasks: Vec<Map<String, Value>> = Vec::new();
    let mut above: Vec<(usize, String)> = Vec::new(); // indentation and id of the open composites
    for line in text.lines() {
        let content = line.split(" #").next().unwrap_or_default();
        if content.trim().is_empty() {
            continue;
        }
        let indent = content.len() - content.trim_start().len();
        let words = split(content.trim());
        let first = words.first().expect("a line has words").clone();
        if first.starts_with("policy.") || first.starts_with("plan.") {
            for word in &words {
                let (key, value) = word.split_once('=').expect("a plan line has key=value");
                set(&mut plan, key.trim_start_matches("plan."), read(value));
            }
            continue;
        }
        while above.last().is_some_and(|(open, _)| *open >= indent) {
            above.pop();
        }
        let mut task = read_task(&words);
        if let Some((_, parent)) = above.last() {
            task.insert("parent".to_owned(), json!(parent));
        }
        above.push((indent, first));
        tasks.push(task);
    }
    let parents: Vec<String> =
        tasks.iter().filter_map(|task| task.get("parent")?.as_str().map(str::to_owned)).collect();
    for task in &mut tasks {
        let composite = parents.iter().any(|parent| Some(parent.as_str()) == task["id"].as_str());
        if !composite && !task.contains_key("action") {
            task.insert("action".to_owned(), json!({"run": "true"}));
        }
        if task.get("action") == Some(&json!("none")) {
            task.remove("action");
        }
    }
    plan["tasks"] = Value::Array(tasks.into_iter().map(Value::Object).collect());
    serde_json::from_value(plan.clone()).unwrap_or_else(|error| panic!("the drawn plan is wrong: {error}\n{plan:#}"))
}

fn read_task(words: &[String]) -> Map<String, Value> {
    let mut task = json!({"id": words[0]});
    let mut words = words[1..].iter().peekable();
    while let Some(word) = words.next() {
        match word.as_str() {
            "after" => {
                let mut needs = Vec::new();
                for next in words.by_ref() {
                    needs.push(json!(next.trim_end_matches(',')));
                    if !next.ends_with(',') {
                        break;
                    }
                }
                task["depends_on"] = Value::Array(needs);
            }
            "on" => {
                let on = words.next().expect("`on` names an ending").clone();
                assert_eq!(words.next().map(String::as_str), Some("->"), "`on {on}` is followed by `->`");
                let mut route = json!({"on": on, "to": words.next().expect("a route leads somewhere")});
                if let Some(max) = words.next_if(|word| word.starts_with("max=")) {
                    route["max"] = read(&max["max=".len()..]);
                }
                if task.get("next").is_none() {
                    task["next"] = json!([]);
                }
                task["next"].as_array_mut().expect("routes are a list").push(route);
            }
            "optional" => task["optional"] = json!(true),
            "person" => task["action"] = json!({"manual": "do it"}),
            key if Action::KEYS.contains(&key) && task.get("action").is_none() => {
                task["action"] = json!({ key: default_action(key) });
            }
            assignment => {
                let (key, value) = assignment
                    .split_once('=')
                    .unwrap_or_else(|| panic!("`{assignment}` is neither a word of the drawing nor key=value"));
                let action = key.split('.').next().is_some_and(|root| Action::KEYS.contains(&root));
                let path = if action { format!("action.{key}") } else { key.to_owned() };
                set(&mut task, &path, read(value));
            }
        }
    }
    match task {
        Value::Object(map) => map,
        _ => unreachable!("a task is drawn as an object"),
    }
}

fn default_action(key: &str) -> Value {
    match key {
        "run" => json!("true"),
        "gate" | "plan" | "compute" => json!({}),
        "model" => json!({"instruction": "as drawn"}),
        "map" => json!({"over": []}),
        _ => json!("as drawn"),
    }
}

/// Sets a value by its path; a short form on the way becomes a map.
fn set(value: &mut Value, path: &str, to: Value) {
    let mut at = value;
    for part in path.split('.') {
        if !at.is_object() {
            *at = json!({});
        }
        at = at.as_object_mut().expect("made an object above").entry(part).or_insert(Value::Null);
    }
    *at = to;
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// Splits at spaces outside quotes and brackets.
fn split(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut depth, mut quoted) = (0, false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        if c == ' ' && depth == 0 && !quoted {
            if words.last().is_some_and(|word| !word.is_empty()) {
                words.push(String::new());
            }
        } else if let Some(word) = words.last_mut() {
            word.push(c);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
