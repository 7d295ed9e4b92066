//! Plans as trees of numbers, for programs that know them by `nodes` and `adjacency`.

use serde_json::{Value, json};

use crate::server::Server;

/// Twelve tasks: 1 with two parts below each other, 10 with one, and the rest alone.
const FAMILY: &str = "title: Family\nobjective: Many numbers\ntasks:
  - {id: a, title: First, manual: Look}
  - {id: b, parent: a, manual: Look, depends_on: [c]}
  - {id: c, parent: a, description: Look twice, manual: Look, metadata: {context: {combined: all, sections: [{title: s, content: x}], meta: {n: 1}}, tier: 2}}
  - {id: d, parent: c, manual: Look}
  - {id: e, compute: {n: '7'}}
  - {id: f, manual: Look}
  - {id: g, manual: Look}
  - {id: h, manual: Look}
  - {id: i, manual: Look}
  - {id: j, title: Tenth, manual: Look}
  - {id: k, parent: j, manual: Look}
";

fn family(server: &Server) -> String {
    let plan = server.create(FAMILY);
    server.until(&plan, "blocked");
    plan
}

#[test]
fn a_tree_has_nodes_by_number_and_its_roots_under_null() {
    let server = Server::start();
    let plan = family(&server);
    let tree = server.get(&format!("/plans/{plan}/tree")).json();
    assert_eq!(tree["adjacency"]["null"], json!([1, 5, 6, 7, 8, 9, 10]));
    assert_eq!((&tree["adjacency"]["1"], &tree["adjacency"]["3"]), (&json!([2, 3]), &json!([4])));
    assert_eq!(tree["nodes"].as_object().unwrap().len(), 11);
    let number = tree["id"].clone();
    let expected = json!({
        "id": 3, "key": "c", "plan_id": number, "name": "c", "status": "running", "instruction": "Look twice", "parent_id": 1,
        "position": 1, "depth": 1, "path": "/1/3", "metadata": {"tier": 2}, "dependencies": [], "context_combined": "all",
        "context_sections": [{"title": "s", "content": "x"}], "context_meta": {"n": 1}, "context_updated_at": null,
        "execution_result": null,
    });
    assert_eq!(tree["nodes"]["3"], expected);
    assert_eq!(tree["nodes"]["2"]["dependencies"], json!([3]));
    assert_eq!(tree["nodes"]["5"]["execution_result"], json!({"n": 7}));
}

#[test]
fn a_part_of_a_tree_has_nothing_of_a_number_that_begins_the_same() {
    let server = Server::start();
    let plan = family(&server);
    let part = |query: &str| server.get(&format!("/plans/{plan}/subgraph{query}")).json();
    let numbers = |part: &Value| -> Vec<u64> {
        part["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers(&part("?node_id=1&max_depth=1")), [1, 2, 3]);
    assert_eq!(numbers(&part("?node_id=1")), [1, 2, 3, 4]);
    let tenth = part("?node_id=j");
    assert_eq!(numbers(&tenth), [10, 11]);
    assert_eq!(tenth["outline"], "- [10] Tenth (running)\n  - [11] k (pending)\n");
    for (query, code) in [("?max_depth=7", 400), ("?max_depth=0", 400), ("?node_id=zz", 404), ("?other=1", 400)] {
        assert_eq!(server.get(&format!("/plans/{plan}/subgraph{query}")).status, code, "{query}");
    }
}

#[test]
fn the_summary_counts_every_task_in_five_words() {
    let server = Server::start();
    let plan = family(&server);
    let told = server.get(&format!("/plans/{plan}/execution/summary")).json();
    let count = |word: &str| told[word].as_u64().unwrap();
    assert_eq!(count("total_tasks"), 11);
    assert_eq!((count("completed"), count("failed"), count("skipped")), (1, 0, 0));
    assert_eq!(count("running") + count("pending"), 10);
}

#[test]
fn results_are_those_of_tasks_that_gave_something_unless_all_are_asked_for() {
    let server = Server::start();
    let plan = family(&server);
    let some = server.get(&format!("/plans/{plan}/results")).json();
    assert_eq!(
        (&some["total"], &some["items"][0]["task_id"], &some["items"][0]["status"]),
        (&json!(1), &json!(5), &json!("completed"))
    );
    let all = server.get(&format!("/plans/{plan}/results?only_with_output=false")).json();
    assert_eq!(all["total"], 11);
}

#[test]
fn a_task_is_broken_down_one_level_and_the_tree_has_its_parts() {
    let server = Server::start();
    let plan = server.create("title: Bakery\nobjective: Bread for the street\ntasks: [{id: raise, title: Open a bakery in Oslo}, {id: open, title: Open it}]\n");
    let body = json!({"plan_id": 1, "expand_depth": 1, "node_budget": 3});
    let made = server.post("/tasks/1/decompose", &body);
    assert_eq!(made.status, 200, "{}", made.text());
    let made = made.json();
    let created = made["created_tasks"].as_array().unwrap().len();
    assert!((1..=3).contains(&created), "{made:#}");
    assert!(!made["stopped_reason"].as_str().unwrap().is_empty());
    let tree = server.get(&format!("/plans/{plan}/tree")).json();
    assert_eq!(tree["adjacency"]["1"].as_array().unwrap().len(), created, "exactly one level: {tree:#}");
    for (path, body, code) in [
        ("/tasks/1/decompose", json!({}), (422, "request::no-plan")),
        ("/tasks/zz/decompose", json!({"plan_id": plan}), (404, "life::unknown-task")),
        ("/tasks/1/decompose", json!({"plan_id": "nobody"}), (404, "store::not-found")),
        ("/tasks/1/decompose", json!({"plan_id": plan, "expand_depth": 0}), (422, "request::out-of-range")),
    ] {
        assert_eq!(server.post(path, &body).code(), (code.0, code.1.to_owned()), "{path} {body}");
    }
}
