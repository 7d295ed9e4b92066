//! Breaking plans and tasks down: by a model at a real server on this machine, and without one.

use gantry_testkit::mcp_server::McpServer;
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
fn a_model_that_does_as_it_is_told_uses_the_budget_up_and_is_asked_no_more_than_that_takes() {
    let server = ModelServer::start();
    let kit = asking(&server);
    server.otherwise(|heard| {
        // As many children as are asked for at least.
        let told = heard.body.to_string();
        let (_, least) = told.rsplit_once("Break this task down into ").expect("how many is said");
        let least = least.chars().next().and_then(|digit| digit.to_digit(10)).unwrap();
        let names: Vec<Value> = (0..least).map(|n| child(&format!("part-{n}"), "A part", &[], false)).collect();
        proposal(&names)
    });
    let before = server.counts().requests;
    let made = kit.json("decompose hall --task permits --depth 5 --budget 3 --json");
    assert_eq!(made["created_tasks"].as_array().unwrap().len(), 3, "{made:#}");
    assert_eq!((&made["outcome"], &made["stopped_reason"]), (&json!("exhausted"), &json!("node_budget_exhausted")));
    assert_eq!((server.counts().requests - before, &made["answered_by"]), (2, &json!(["m"])), "{made:#}");
}

#[test]
fn who_answered_is_told_and_what_the_offline_model_did_not_know_is_asked_again() {
    let server = ModelServer::start();
    let kit = asking(&server);
    // The second task of a hall that is no kind of project: without a model there is nothing to say about it.
    kit.gantry(&["task", "add", "hall", "Qwerty"]);
    let alone = kit.json("decompose hall --task qwerty --offline --json");
    assert_eq!((&alone["created_tasks"], alone.get("degraded")), (&json!([]), None), "{alone:#}");
    assert!(alone["answered_by"][0].as_str().unwrap().starts_with("gantry-offline"), "{alone:#}");
    server.always(Turn::status(500));
    let said = kit.gantry(&["decompose", "hall", "--task", "qwerty"]);
    assert!(said.contains("degraded: gantry-offline") && said.contains("0 tasks made"), "{said}");
    server.otherwise(|_| proposal(&[child("a", "Apply", &[], true), child("b", "Wait", &["a"], true)]));
    let said = kit.gantry(&["decompose", "hall", "--task", "qwerty"]);
    assert!(said.contains("2 tasks made") && said.ends_with("[exit 0]"), "{said}");
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
fn every_setting_changes_what_is_asked_or_made() {
    let server = ModelServer::start();
    let kit = asking(&server);
    let leaves = |names: &[&str]| {
        let children: Vec<Value> =
            names.iter().map(|name| child(&name.to_lowercase().replace(' ', "-"), name, &[], true)).collect();
        proposal(&children)
    };
    let run = |variables: &[(&str, &str)], line: &str| {
        let before = server.counts().requests;
        let said = kit.with_variables(variables, &format!("{line} --json"));
        let made: Value = serde_json::from_str(said.split("\n--- talk").next().unwrap().split("[exit").next().unwrap())
            .unwrap_or_else(|error| panic!("{error}: {said}"));
        (made, server.counts().requests - before)
    };
    let empty = || Turn::json(&json!({"should_stop": false, "reason": "", "children": []}));
    // An answer without children is the end of it, or a fault that is answered once more.
    server.then(empty());
    let (made, asked) = run(&[], "decompose hall --task permits --depth 1");
    assert_eq!((&made["stopped_reason"], asked), (&json!("empty_children"), 1));
    server.then(empty()).then(leaves(&["Apply", "Wait"]));
    let (made, asked) = run(&[("DECOMP_STOP_ON_EMPTY", "no")], "decompose hall --task permits --depth 1");
    assert_eq!((made["created_tasks"].as_array().unwrap().len(), asked), (2, 2), "{made:#}");
    // Which model is asked.
    let (_, asked) = run(&[("DECOMP_MODEL", "here:other")], "decompose hall --task permits --depth 2");
    assert!(asked >= 1 && server.bodies().last().unwrap()["model"] == "other");
    // Whoever has children gets more only if that is said.
    assert_eq!(run(&[], "decompose hall --task permits --depth 1").1, 0);
    server.then(leaves(&["Thank them", "File it"]));
    let (made, _) = run(&[("DECOMP_ALLOW_EXISTING_CHILDREN", "1")], "decompose hall --task permits --depth 1");
    assert_eq!(made["created_tasks"].as_array().unwrap().len(), 2, "{made:#}");
    // How many children: two are too few, and six too many, so that there are six only when that is said.
    server.then(leaves(&["A", "B"])).then(leaves(&["C", "D", "E"]));
    let few = run(&[("DECOMP_MIN_CHILDREN", "3")], "decompose hall --task hall-itself --depth 1").0;
    assert_eq!(few["created_tasks"].as_array().unwrap().len(), 3, "{few:#}");
    // How often whoever fails is asked again.
    server.always(Turn::status(500));
    let again =
        |retries: &str| run(&[("DECOMP_RETRY_LIMIT", retries), ("GANTRY_STRICT", "1")], "decompose hall --task c").1;
    let (none, two) = (again("0"), again("2"));
    assert!(none >= 1 && two == 3 * none, "{none} and {two}");
}

#[test]
fn a_server_of_its_own_is_asked_for_breaking_down_alone() {
    let (usual, own) = (ModelServer::start(), ModelServer::start());
    own.then(proposal(&[child("apply", "Apply", &[], true), child("wait", "Wait", &["apply"], true)]));
    let kit = asking(&usual);
    let url = format!("{}chat/completions", own.base_url());
    let variables = [
        ("DECOMP_MODEL", "m2"),
        ("DECOMP_PROVIDER", "qwen"),
        ("DECOMP_API_URL", url.as_str()),
        ("DECOMP_API_KEY", "sesame"),
    ];
    let said = kit.with_variables(&variables, "decompose hall --task permits --depth 1");
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert_eq!((usual.counts().requests, own.counts().requests), (0, 1));
    let heard = &own.heard()[0];
    assert_eq!((&heard.body["model"], heard.headers["authorization"].as_str()), (&json!("m2"), "Bearer sesame"));
    let said = kit.with_variables(&variables[3..], "decompose hall --task permits");
    assert!(said.contains("DECOMP_API_KEY: nothing says whose key this is; set DECOMP_API_URL"), "{said}");
}

#[test]
fn what_others_change_while_a_task_is_broken_down_stays() {
    let server = ModelServer::start();
    let kit = std::sync::Arc::new(asking(&server));
    let others = std::sync::Arc::clone(&kit);
    server.otherwise(move |_| {
        // While the model thinks, somebody else adds a task and renames the one that is broken down.
        assert_eq!(others.code("task add hall \"Ask the neighbours\" --after permits"), 0);
        assert_eq!(others.code("task change hall permits --name \"Get every permit\""), 0);
        proposal(&[child("apply", "Apply", &[], true), child("wait", "Wait", &["apply"], true)])
    });
    let said = kit.gantry(&["decompose", "hall", "--task", "permits", "--depth", "1"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    let plan = kit.json("export hall -f json");
    let tasks: Vec<(&str, &str)> = plan["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| (task["id"].as_str().unwrap(), task["title"].as_str().unwrap()))
        .collect();
    let expected = [
        ("permits", "Get every permit"),
        ("apply", "Apply"),
        ("wait", "Wait"),
        ("ask-the-neighbours", "Ask the neighbours"),
        ("hall-itself", "Raise the hall"),
    ];
    assert_eq!(tasks, expected);
    assert_eq!(kit.json("status hall --json")["revision"], json!(4));
}

/// Breaking down with a search by the tool of a server that is a program, or an address.
const SEARCHING: [(&str, &str); 2] = [("DECOMP_ENABLE_WEB_SEARCH", "1"), ("DECOMP_SEARCH_TOOL", "mcp.web.search")];

fn wish(query: &str) -> Turn {
    Turn::json(&json!({"use_search": !query.is_empty(), "query": query}))
}

#[test]
fn what_is_found_on_the_web_reaches_the_model_as_data_and_stays_with_the_task() {
    let (server, web) = (ModelServer::start(), McpServer::start());
    server
        .then(wish("building permit Aarhus"))
        .then(proposal(&[child("apply", "Apply", &[], false), child("wait", "Wait", &["apply"], true)]));
    server.then(wish("")).then(Turn::json(&json!({"should_stop": true, "reason": "one form", "children": []})));
    let kit = asking(&server);
    let config = String::from_utf8(kit.read("gantry.toml")).unwrap();
    kit.write("gantry.toml", format!("{config}\n[mcp.web]\nurl = \"{}\"\n", web.url()));
    kit.write("plan.yaml", PLAN.replace("tasks:", "policy: {network: {allow: [127.0.0.1]}}\ntasks:"));
    kit.gantry(&["revise", "hall", "plan.yaml", "--why", "the network"]);
    let said = kit.with_variables(&SEARCHING, "decompose hall --task permits --depth 2 --json");
    let made: Value =
        serde_json::from_str(said.split("[exit").next().unwrap()).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!((&made["stats"]["enriched_nodes"], &made["left_out"]), (&json!(1), &json!([])), "{made:#}");
    insta::assert_snapshot!(format!("{:#}", made["researched"]));
    assert_eq!(web.calls(), 1, "what needs no search is not searched for");
    let bodies = server.bodies();
    let told = bodies[1].to_string();
    assert!(told.contains("5: building permit Aarhus") && !told.contains("6: building permit"), "five results: {told}");
    assert!(told.contains("what was found on the web about it"), "{told}");
    assert!(!bodies[3].to_string().contains("building permit Aarhus\\nurl"), "what was found is about one task");
    let tree = kit.json("export hall -f json");
    let permits = tree["source"]["tasks"].as_array().unwrap().iter().find(|task| task["id"] == "permits").unwrap();
    assert_eq!(permits["metadata"]["context"]["meta"]["results_count"], 5, "{permits:#}");
}

#[test]
fn a_search_that_cannot_be_made_is_told_and_holds_nothing_up() {
    let (server, web) = (ModelServer::start(), McpServer::start());
    server
        .then(wish("permits"))
        .then(proposal(&[child("apply", "Apply", &[], true), child("wait", "Wait", &[], true)]));
    let kit = asking(&server);
    let config = String::from_utf8(kit.read("gantry.toml")).unwrap();
    kit.write("gantry.toml", format!("{config}\n[mcp.web]\nurl = \"{}\"\n", web.url()));
    // The policy of the plan names no host, so nothing is reached.
    let said = kit.with_variables(&SEARCHING, "decompose hall --task permits --depth 1");
    insta::assert_snapshot!(said, @"
    apply  Apply
    wait  Wait
    --- talk
    left out of `permits`: what was to be looked up (`127.0.0.1` is outside `policy.network.allow`, which allows nothing)
    2 tasks made: as deep as was asked for
    [exit 0]
    ");
    assert_eq!(web.calls(), 0);
    insta::assert_snapshot!(kit.with_variable("DECOMP_ENABLE_WEB_SEARCH", "true", "decompose hall"), @"
    --- talk
    error: `DECOMP_ENABLE_WEB_SEARCH` is `true`, which is not enough: `DECOMP_SEARCH_TOOL` says what searches, such as `mcp.web.search` for the tool `search` of [mcp.web] in gantry.toml
    [exit 2]
    ");
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
