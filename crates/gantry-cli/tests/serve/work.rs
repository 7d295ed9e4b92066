//! Requests that take long, and requests that are carried out once.

use gantry_testkit::model_server::{Gate, ModelServer, Turn};
use serde_json::{Value, json};

use crate::server::{Answer, Server};

const BOAT: &str = "title: Build a boat\nobjective: Build a boat and launch it in Aarhus\ntasks:\n  - {id: hull, manual: Build it}\n  - {id: launch, depends_on: [hull], manual: Launch it}\n";

/// A server that waits a second for answers, with a model that answers when the gate is open.
fn waiting(judge: &ModelServer, gate: &Gate) -> Server {
    let verdict = |no: usize| json!({"criterion": no, "reason": "as the plan shows", "answer": "yes"});
    judge.always(Turn::json(&json!({"verdicts": (1..=30).map(verdict).collect::<Vec<_>>()})).behind(gate));
    let config = format!(
        "local_servers = false\n\n[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\ntools = false\nretries = 0\n\n[profiles.balanced]\njudge = \"here:m\"\n",
        judge.base_url()
    );
    Server::start_with(&["--answer-within", "1", "--rate", "1000000"], |folder| {
        std::fs::write(folder.join("gantry.toml"), config).unwrap();
    })
}

/// Asks for an answer until it is there.
fn fetched(server: &Server, url: &str) -> Answer {
    loop {
        let answer = server.get(url);
        if answer.status != 202 {
            return answer;
        }
        std::thread::yield_now();
    }
}

#[test]
fn what_takes_long_is_answered_with_the_place_where_its_answer_will_be() {
    let (judge, gate) = (ModelServer::start(), Gate::closed());
    let server = waiting(&judge, &gate);
    let plan = server.create(BOAT);
    let begun = server.post(&format!("/api/v1/plans/{plan}/score"), &json!({}));
    assert_eq!(begun.status, 202, "{}", begun.text());
    let url = begun.header("location").unwrap().to_owned();
    assert_eq!(server.get(&url).json(), json!({"state": "running", "url": url}));
    let page = server.send("GET", &url, &[("Accept", "text/html")], "");
    assert_eq!((page.status, page.header("refresh")), (202, Some("2")));
    gate.open();
    let done = fetched(&server, &url);
    assert_eq!((done.status, &done.json()["plan_id"]), (200, &json!(plan)), "{}", done.text());
    assert_eq!(server.get("/work/none").code(), (404, "server::no-work".to_owned()));
}

#[test]
fn a_request_with_a_key_is_carried_out_once_on_every_route() {
    let server = Server::start();
    let plan = server.create(BOAT);
    server.until(&plan, "blocked");
    let send = |path: &str, key: &str, body: &Value| {
        let key = format!("{key} for {path}");
        let headers = [("Content-Type", "application/json"), ("Idempotency-Key", &*key)];
        server.send("POST", path, &headers, &body.to_string())
    };
    let rows: [(String, Value, &str); 5] = [
        ("/api/v1/plans".to_owned(), json!({"file": BOAT, "start": false}), "plan"),
        ("/plans".to_owned(), json!({"title": "Seeds", "nodes": [{"id": "a", "manual": "Do it"}]}), "plan"),
        (
            "/api/plans".to_owned(),
            json!({"prompt": "Open a small bakery in Oslo", "speed_vs_detail": "fast"}),
            "plan_id",
        ),
        (format!("/api/v1/plans/{plan}/fork"), json!({"at": 3}), "plan"),
        (format!("/api/v1/plans/{plan}/tasks"), json!({"name": "Buy nails"}), "task"),
    ];
    for (path, body, made) in &rows {
        let (first, again) = (send(path, "k", body), send(path, "k", body));
        assert!(first.status < 300, "{path}: {}", first.text());
        assert_eq!(first.json()[*made], again.json()[*made], "{path}: {}", again.text());
        assert_ne!(first.json()[*made], send(path, "other", body).json()[*made], "{path}: another key is another");
    }
    let path = &rows[4].0;
    assert_eq!(send(path, "k", &json!({"name": "Buy screws"})).code(), (409, "request::key-reused".to_owned()));
    // What was refused was not carried out: with what was wrong put right, the same key will do.
    assert!(send(path, "new", &json!({"odd": 1})).status >= 400);
    assert_eq!(send(path, "new", &json!({"name": "Paint it"})).status, 201);
}
