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

/// The names of the tasks as the tree has them.
fn names(server: &Server, plan: &str) -> String {
    fn below(tree: &Value, of: &str) -> String {
        let children = tree["adjacency"][of].as_array().into_iter().flatten();
        let all: Vec<String> = children
            .map(|no| {
                let name = tree["nodes"][no.to_string()]["key"].as_str().unwrap();
                match below(tree, &no.to_string()).as_str() {
                    "" => name.to_owned(),
                    parts => format!("{name}({parts})"),
                }
            })
            .collect();
        all.join(" ")
    }
    let tree = server.get(&format!("/plans/{plan}/tree")).json();
    below(&tree, "null")
}

const SMALL: &str =
    "title: Small\nobjective: Three\ntasks:\n  - {id: a}\n  - {id: b, parent: a}\n  - {id: c, depends_on: [a]}\n";

#[test]
fn tasks_come_move_and_go_by_anchors_and_an_edit_is_taken_back() {
    let server = Server::start();
    let plan = server.create(SMALL);
    let at = |rest: &str| format!("/api/v1/plans/{plan}{rest}");
    let added = server.post(
        &at("/tasks"),
        &json!({"name": "New one", "anchor_task_id": 2, "anchor_position": "before", "dependencies": []}),
    );
    assert_eq!(added.status, 201, "{}", added.text());
    assert_eq!((&added.json()["task"], &added.json()["revision"]), (&json!("new-one"), &json!(2)));
    assert_eq!(names(&server, &plan), "a(new-one b) c");
    server.post(&at("/tasks/new-one/move"), &json!({"parent_id": "c", "position": 0}));
    assert_eq!(names(&server, &plan), "a(b) c(new-one)");
    server.post(&at("/revisions/undo"), &json!({}));
    assert_eq!(names(&server, &plan), "a(new-one b) c");
    server.post(&at("/tasks/b/change"), &json!({"name": "Better", "metadata": {"tier": 2}}));
    assert_eq!(server.get(&format!("/plans/{plan}/tree")).json()["nodes"]["2"]["name"], "Better");
    let gone = server.send("DELETE", &at("/tasks/c"), &[], "");
    assert_eq!((gone.status, &gone.json()["deleted"]), (200, &json!(["c"])));
    assert_eq!(names(&server, &plan), "a(new-one b)");
    assert_eq!(server.post(&at("/snapshots"), &json!({"note": "now"})).status, 201);
    assert_eq!(server.get(&at("/snapshots")).json()["items"][0]["revision"], 6);
}

#[test]
fn a_task_comes_before_after_and_inside_whatever_is_named() {
    let server = Server::start();
    let plan = server.create(SMALL);
    for (side, expected) in [
        ("first_child", "a(first_child b) c"),
        ("last_child", "a(first_child b last_child) c"),
        ("before", "before a(first_child b last_child) c"),
        ("after", "before a(first_child b last_child) after c"),
    ] {
        let task = json!({"name": side, "id": side, "anchor_task_id": "a", "anchor_position": side});
        let added = server.post(&format!("/api/v1/plans/{plan}/tasks"), &task);
        assert_eq!(added.status, 201, "{}", added.text());
        assert_eq!(names(&server, &plan), expected);
    }
}

#[test]
fn an_edit_that_would_not_hold_together_is_refused_with_a_status() {
    let server = Server::start();
    let plan = server.create(SMALL);
    let cases = [
        ("POST", "/tasks", json!({}), (422, "request::no-name")),
        ("POST", "/tasks", json!({"name": "x", "colour": "red"}), (400, "request::wrong-fields")),
        ("POST", "/tasks", json!({"name": "x", "id": "a"}), (409, "task::taken")),
        ("POST", "/tasks", json!({"name": "x", "anchor_task_id": "a"}), (422, "request::which-place")),
        (
            "POST",
            "/tasks",
            json!({"name": "x", "anchor_task_id": "zz", "anchor_position": "after"}),
            (404, "life::unknown-task"),
        ),
        ("POST", "/tasks", json!({"name": "x", "dependencies": [77]}), (404, "life::unknown-task")),
        ("POST", "/tasks", json!({"name": "x", "parent_id": "a", "dependencies": ["a"]}), (422, "life::bad-plan")),
        ("POST", "/tasks", json!({"name": "x", "base": 9}), (412, "life::old-revision")),
        ("POST", "/tasks/a/change", json!({"dependencies": ["c"]}), (422, "life::bad-plan")),
        ("POST", "/tasks/a/change", json!({}), (409, "life::nothing-changes")),
        ("POST", "/tasks/a/move", json!({"parent_id": "b"}), (422, "task::inside-itself")),
        ("POST", "/tasks/a/move", json!({"position": 5}), (422, "task::no-position")),
        ("DELETE", "/tasks/a", Value::Null, (409, "task::awaited")),
        ("POST", "/revisions/undo", json!({}), (422, "request::which-revision")),
        ("POST", "/revisions/undo", json!({"revision": 9}), (404, "store::not-found")),
        ("POST", "/snapshots", json!({}), (422, "snapshot::no-note")),
    ];
    for (method, path, body, (status, code)) in cases {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let headers = [("Content-Type", "application/json")];
        let answer = server.send(method, &format!("/api/v1/plans/{plan}{path}"), &headers, &text);
        assert_eq!(answer.code(), (status, code.to_owned()), "{method} {path} {body}: {}", answer.text());
    }
    assert_eq!(names(&server, &plan), "a(b) c");
}
