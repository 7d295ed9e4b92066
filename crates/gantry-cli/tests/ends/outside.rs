//! A plan that speaks to a server, a database and git, from the command line.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gantry_testkit::web_server::{Reply, WebServer};
use serde_json::{Value, json};

use crate::bench::Bench;

const PRICES: &str = r#"[{"name": "pen", "price": 120}, {"name": "desk", "price": 40000}, {"name": "lamp", "price": 3500}, {"name": "ink", "price": 80}]"#;

/// The example, with this server in it.
fn example(server: &WebServer) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/price-list.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let changed = text.replace("http://127.0.0.1:8000", &server.url(""));
    assert_ne!(changed, text);
    format!("id: prices\n{changed}")
}

fn git(bench: &Bench, args: &[&str]) -> String {
    let output = Command::new("git").args(args).current_dir(bench.work("")).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// What is in the workspace besides the repository.
fn files(bench: &Bench) -> Vec<String> {
    let names =
        std::fs::read_dir(bench.work("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != ".git").collect()
}

fn serving() -> WebServer {
    WebServer::start(|asked| Reply::file(asked, PRICES.as_bytes(), "\"v1\""))
}

fn read(bench: &Bench, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(bench.work(name)).unwrap()).unwrap()
}

#[test]
fn the_example_with_a_server_a_database_and_git_ends_and_is_taken_back() {
    let (bench, server) = (Bench::new(), serving());
    git(&bench, &["init", "--quiet"]);
    let told = bench.run(&["run", bench.plan(&example(&server)).to_str().unwrap()]);
    assert_eq!(told.code, 0, "{told}");
    assert_eq!(
        read(&bench, "dearest.json"),
        json!([{"name": "desk", "price": 40000}, {"name": "lamp", "price": 3500}, {"name": "pen", "price": 120}])
    );
    assert_eq!(git(&bench, &["show", "--format=%s", "--name-only"]), "New prices\n\ndearest.json\nprices.json");
    assert_eq!(bench.run(&["artifact", "get", "prices/list/prices.json", "-o", "-"]).out.trim_end(), PRICES);
    for check in ["replay", "audit"] {
        assert_eq!(bench.run(&[check, "prices"]).code, 0, "{check}");
    }
    let told = bench.run(&["undo", "prices"]);
    assert_eq!(told.code, 0, "{told}");
    assert!(files(&bench).is_empty(), "{:?}", files(&bench));
    assert!(git(&bench, &["for-each-ref"]).is_empty());
}

#[test]
fn a_dry_run_asks_nobody_and_shows_what_would_be_done() {
    let (bench, server) = (Bench::new(), serving());
    git(&bench, &["init", "--quiet"]);
    let plan = bench.plan(&example(&server));
    let told = bench.run(&["run", plan.to_str().unwrap(), "--dry-run"]);
    assert_eq!(told.code, 0, "{told}");
    let shown = told.out.replace(&server.url(""), "http://127.0.0.1:PORT");
    insta::assert_snapshot!(shown);
    assert!(server.heard().is_empty() && files(&bench).is_empty());
}

#[test]
fn a_request_whose_answer_is_lost_is_repeated_only_when_the_server_knows_its_key() {
    for (idempotency, asked) in [("", 1), ("idempotency: keyed, ", 2)] {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let server = WebServer::start(move |_| match counted.fetch_add(1, Ordering::SeqCst) {
            0 => Reply::none(),
            _ => Reply::status(201),
        });
        let bench = Bench::new();
        let plan = format!(
            "id: order\npolicy: {{network: {{allow: [127.0.0.1]}}}}\ntasks:\n  - {{id: buy, {idempotency}tool: {{name: http.request, args: {{url: \"{}\", json: {{item: pen}}}}}}}}\n",
            server.url("/orders")
        );
        let told = bench.run(&["run", bench.plan(&plan).to_str().unwrap()]);
        assert_eq!(told.code, if asked == 1 { 4 } else { 0 }, "{told}");
        let keys: Vec<String> = server.heard().iter().map(|heard| heard.headers["idempotency-key"].clone()).collect();
        assert_eq!(keys.len(), asked, "{told}");
        assert!(keys.iter().all(|key| *key == keys[0] && !key.is_empty()), "{keys:?}");
    }
}

#[test]
fn what_a_request_changed_is_not_said_to_be_nothing() {
    let server = WebServer::start(|_| Reply::status(201));
    let bench = Bench::new();
    let plan = format!(
        "id: order\npolicy: {{network: {{allow: [127.0.0.1]}}}}\ntasks:\n  - {{id: buy, undo: restore, tool: {{name: http.request, args: {{url: \"{}\", json: {{}}}}}}}}\n",
        server.url("/orders")
    );
    assert_eq!(bench.run(&["run", bench.plan(&plan).to_str().unwrap()]).code, 0);
    let told = bench.run(&["undo", "order"]);
    assert!(told.to_string().contains("nothing was kept before `buy` was done"), "{told}");
}

#[test]
fn a_request_takes_another_one_back_and_what_nobody_takes_back_is_told() {
    let server = WebServer::start(|asked| match asked.method.as_str() {
        "POST" => Reply::status(201).header("content-type", "application/json").body(r#"{"number": 7}"#),
        _ => Reply::status(204),
    });
    let bench = Bench::new();
    let plan = format!(
        "id: order
policy: {{network: {{allow: [127.0.0.1]}}}}
tasks:
  - id: buy
    tool: {{name: http.request, args: {{url: \"{url}\", json: {{item: pen}}}}}}
    undo: {{tool: {{name: http.request, args: {{method: DELETE, url: \"{url}/7\"}}}}}}
  - {{id: note, run: echo bought > note.txt, depends_on: [buy]}}
",
        url = server.url("/orders")
    );
    assert_eq!(bench.run(&["run", bench.plan(&plan).to_str().unwrap()]).code, 0);
    let told = bench.run(&["undo", "order"]);
    assert_eq!(told.code, 0, "{told}");
    let said = told.to_string();
    assert!(said.contains("took back `buy`: by `tool`"), "{said}");
    let stays = "did not take back `note`: what it did stays as it is: the task has no `undo`";
    assert!(said.contains(stays) && bench.work("note.txt").exists(), "{said}");
    let heard: Vec<String> = server.heard().iter().map(|heard| format!("{} {}", heard.method, heard.path)).collect();
    assert_eq!(heard, ["POST /orders", "DELETE /orders/7"]);
}

#[test]
fn a_server_is_asked_whether_a_request_whose_answer_was_lost_was_carried_out() {
    for (found, wanted) in [(200, "POST GET"), (404, "POST GET POST")] {
        let posts = AtomicUsize::new(0);
        let server = WebServer::start(move |asked| match asked.method.as_str() {
            "POST" if posts.fetch_add(1, Ordering::SeqCst) == 0 => Reply::none(),
            "POST" => Reply::status(201),
            _ => Reply::status(found),
        });
        let bench = Bench::new();
        let url = server.url("/orders");
        let plan = format!(
            "id: order\npolicy: {{network: {{allow: [127.0.0.1]}}}}\ntasks:\n  - {{id: buy, verify: {{tool: {{name: http.get, args: {{url: \"{url}/7\"}}}}}}, tool: {{name: http.request, args: {{url: \"{url}\", json: {{}}}}}}}}\n"
        );
        let told = bench.run(&["run", bench.plan(&plan).to_str().unwrap()]);
        assert_eq!(told.code, 0, "{told}");
        let heard: Vec<String> = server.heard().iter().map(|heard| heard.method.clone()).collect();
        assert_eq!(heard.join(" "), wanted, "{told}");
    }
}
