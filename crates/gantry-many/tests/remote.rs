//! Plans that a server makes: what it answers, what it does not say, and that no topic ever becomes two plans.

#![allow(clippy::unwrap_used)] // a test may

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use gantry_many::bulk::{Bulk, Maker};
use gantry_many::message::Template;
use gantry_many::remote::{Asking, Remote};
use gantry_many::results::{Ended, FAILED_FILE, Row, Status, read};
use gantry_many::topics::{self, Topic};
use serde_json::{Value, json};

/// What a server does with the next request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    /// Makes a plan and says so in this place.
    Makes(&'static str),
    /// Makes a plan and says nothing about it.
    MakesSilently,
    /// Makes a plan, and then answers with a fault.
    MakesAndFails(u16),
    /// Answers so, and makes nothing.
    Answers(u16),
    /// Answers 200 with the flag of a fault.
    Flags,
    /// Answers in words only.
    Talks,
}

#[derive(Clone, Default)]
struct House(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    next: Vec<Does>,
    plans: Vec<(u64, String)>,
    heard: Vec<Value>,
    /// What was read of plans.
    read: Vec<String>,
    lines: usize,
}

async fn chat(State(house): State<House>, Json(body): Json<Value>) -> Response {
    let mut kept = house.0.lock().unwrap();
    kept.heard.push(body.clone());
    let does = if kept.next.is_empty() { Does::Makes("/metadata/plan_id") } else { kept.next.remove(0) };
    let title = body["context"]["plan_title"].as_str().unwrap().to_owned();
    let no = 41 + kept.plans.len() as u64;
    if matches!(does, Does::Makes(_) | Does::MakesSilently | Does::MakesAndFails(_)) {
        kept.plans.push((no, title));
    }
    let status = |code| StatusCode::from_u16(code).unwrap();
    match does {
        Does::Makes("/metadata/plan_id") => {
            Json(json!({"response": "ok", "metadata": {"plan_id": no}})).into_response()
        }
        Does::Makes("/details/plan_id") => Json(json!({"details": {"plan_id": no.to_string()}})).into_response(),
        Does::Makes(_) => {
            Json(json!({"raw_actions": [{"name": "list_plans"}, {"result": {"plan_id": no}}]})).into_response()
        }
        Does::MakesSilently | Does::Talks => Json(json!({"response": "Gladly!"})).into_response(),
        Does::MakesAndFails(code) => (status(code), "gone wrong").into_response(),
        Does::Answers(code) => (status(code), Json(json!({"detail": "so it is"}))).into_response(),
        Does::Flags => Json(json!({"metadata": {"error": true}})).into_response(),
    }
}

async fn plans(State(house): State<House>) -> Json<Value> {
    let kept = house.0.lock().unwrap();
    Json(kept.plans.iter().map(|(no, title)| json!({"id": no, "title": title})).collect())
}

/// Plan 42 is not there any more, 43 has failed, and nothing is in 44.
async fn tree(State(house): State<House>, Path(no): Path<u64>) -> Response {
    house.0.lock().unwrap().read.push(format!("tree {no}"));
    let node = |id: u32, name: &str| json!({"id": id, "name": name, "instruction": ""});
    match no {
        42 => (StatusCode::NOT_FOUND, Json(json!({"detail": "it is gone"}))).into_response(),
        44 => Json(json!({"title": "A", "nodes": {"1": node(1, "root")}, "adjacency": {"null": [1]}})).into_response(),
        _ => Json(json!({
            "title": "A", "nodes": {"1": node(1, "root"), "2": node(2, "part")}, "adjacency": {"null": [1], "1": [2], "2": [1]},
        }))
        .into_response(),
    }
}

async fn summary(State(house): State<House>, Path(no): Path<u64>) -> Json<Value> {
    house.0.lock().unwrap().read.push(format!("summary {no}"));
    let failed = u64::from(no == 43);
    Json(json!({
        "total_tasks": 2, "completed": 0, "failed": failed, "skipped": 0, "running": 0, "pending": 2 - failed,
    }))
}

/// A server on a port of its own, with what it does next.
async fn server(next: &[Does]) -> (House, String) {
    let house = House::default();
    house.0.lock().unwrap().next = next.to_vec();
    let app = axum::Router::new()
        .route("/chat/message", post(chat))
        .route("/plans", get(plans))
        .route("/plans/{plan}/tree", get(tree))
        .route("/plans/{plan}/execution/summary", get(summary))
        .with_state(house.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let counted = house.clone();
    let listener = listener.tap_io(move |_| counted.0.lock().unwrap().lines += 1);
    tokio::spawn(async move { axum::serve(listener, app).await });
    (house, address)
}

async fn bulk(address: &str, folder: &std::path::Path) -> Bulk {
    let asking = Asking {
        base_url: address.to_owned(),
        api_key: None,
        template: Template::default(),
        run: "run".to_owned(),
        retries_max: 3,
        timeout: Duration::from_secs(30),
        backoff: Duration::ZERO,
    };
    Bulk {
        maker: Maker::There(Box::new(Remote::connect(asking).await.unwrap())),
        session: "bulk_now".to_owned(),
        concurrency: 1,
        output: folder.join("bulk_plans.csv"),
        resume_from: None,
        dump_dir: None,
        outlines: false,
    }
}

/// The table of a run over these topics.
async fn made(bulk: &Bulk, topics: &[Topic]) -> Vec<Row> {
    let ended = bulk.run(topics, |_| {}).await.unwrap();
    let rows = read(&bulk.output).unwrap();
    let failed = rows.iter().filter(|row| row.status == Status::Failed).count();
    assert_eq!(ended, Ended { rows: rows.len(), failed });
    rows
}

fn list(titles: &str) -> Vec<Topic> {
    topics::read("t.txt", titles.as_bytes()).unwrap()
}

/// What became of one topic at a server that does this, and how many plans and requests there were.
async fn one(next: &[Does]) -> (Row, usize, usize) {
    let folder = tempfile::tempdir().unwrap();
    let (house, address) = server(next).await;
    let rows = made(&bulk(&address, folder.path()).await, &list("Build a boat")).await;
    let kept = house.0.lock().unwrap();
    (rows[0].clone(), kept.plans.len(), kept.heard.len())
}

#[tokio::test]
async fn the_plan_is_found_wherever_the_server_says_it() {
    for place in ["/metadata/plan_id", "/details/plan_id", "raw_actions"] {
        let (row, plans, requests) = one(&[Does::Makes(place)]).await;
        assert_eq!((row.plan_id.as_str(), row.status, plans, requests), ("41", Status::Success, 1, 1), "{place}");
    }
}

#[tokio::test]
async fn a_plan_that_the_server_says_nothing_about_is_found_in_its_list() {
    let (row, plans, requests) = one(&[Does::MakesSilently]).await;
    assert_eq!((row.plan_id.as_str(), row.retries, plans, requests), ("41", 0, 1, 1));
}

#[tokio::test]
async fn too_many_requests_are_waited_out() {
    let (row, plans, _) = one(&[Does::Answers(429), Does::Answers(429)]).await;
    assert_eq!((row.status, row.retries, plans), (Status::Success, 2, 1));
}

#[tokio::test]
async fn a_server_that_made_the_plan_and_failed_then_is_not_asked_again() {
    let (row, plans, requests) = one(&[Does::MakesAndFails(502)]).await;
    assert_eq!((row.plan_id.as_str(), row.status, plans, requests), ("41", Status::Success, 1, 1));
}

#[tokio::test]
async fn trouble_of_the_server_passes_or_is_told() {
    let (row, plans, _) = one(&[Does::Answers(500), Does::Flags]).await;
    assert_eq!((row.status, row.retries, plans), (Status::Success, 2, 1));
    let (row, plans, requests) = one(&[Does::Answers(503); 9]).await;
    assert_eq!((row.status, row.retries, plans, requests), (Status::Failed, 3, 0, 4));
    assert_eq!(row.error, "the server is in trouble (503): so it is");
    let (row, _, requests) = one(&[Does::Answers(401)]).await;
    assert_eq!((row.error.as_str(), requests), ("the server says no (401): so it is", 1));
}

#[tokio::test]
async fn whoever_only_talks_is_asked_once_more_in_stronger_words() {
    let folder = tempfile::tempdir().unwrap();
    let (house, address) = server(&[Does::Talks, Does::Talks]).await;
    let rows = made(&bulk(&address, folder.path()).await, &list("Build a boat")).await;
    assert_eq!(rows[0].error, "the server answered and made no plan");
    {
        let kept = house.0.lock().unwrap();
        assert_eq!(kept.heard.len(), 2, "exactly once more");
        assert!(
            kept.heard[1]["message"].as_str().unwrap().contains("No plan came of the request"),
            "{:?}",
            kept.heard[1]
        );
    }
    let failed = std::fs::read(folder.path().join(FAILED_FILE)).unwrap();
    assert_eq!(topics::read(FAILED_FILE, &failed).unwrap(), list("Build a boat"), "it is a list of topics again");
    let rows = made(&bulk(&address, folder.path()).await, &list("Build a boat")).await;
    assert_eq!(rows[0].status, Status::Success);
    assert!(!folder.path().join(FAILED_FILE).exists(), "nothing is left to be tried again");
}

#[tokio::test]
async fn a_request_has_the_form_that_web_clients_send() {
    let folder = tempfile::tempdir().unwrap();
    let (house, address) = server(&[]).await;
    let topics = topics::read(
        "t.jsonl",
        br#"{"title": "Boat", "goal": "Build it", "owner": "ana", "description": "of larch", "tier": 2}"#,
    )
    .unwrap();
    bulk(&address, folder.path()).await.run(&topics, |_| {}).await.unwrap();
    insta::assert_json_snapshot!(house.0.lock().unwrap().heard[0], @r#"
    {
      "message": "You are a planning agent. For every request call plan_operation.create_plan exactly once, then break the root task down automatically.\n\nTopic: \"Boat\"\nGoal: Build it\nRequirements:\n- Make a detailed plan with tasks that can be acted on.\n- Call plan_operation.create_plan once, and report the plan ID.\n- Keep free text short and rely on what the tools give.\n",
      "mode": "assistant",
      "history": [],
      "session_id": "bulk_now_00000",
      "context": {
        "plan_title": "Boat",
        "metadata": {
          "tier": 2,
          "owner": "ana",
          "description": "of larch",
          "bulk_run_id": "run"
        }
      }
    }
    "#);
}

#[tokio::test]
async fn a_run_goes_on_where_its_table_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (house, address) = server(&[]).await;
    let topics = list("a\nb\nc\na\n");
    bulk(&address, folder.path()).await.run(&topics[..2], |_| {}).await.unwrap();
    // A kill in the middle of writing leaves half a row.
    let path = folder.path().join("bulk_plans.csv");
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{whole}c,43,succ")).unwrap();
    let rows = made(&bulk(&address, folder.path()).await, &topics).await;
    let told: Vec<(&str, &str)> = rows.iter().map(|row| (row.topic.as_str(), row.plan_id.as_str())).collect();
    assert_eq!(told, [("a", "41"), ("b", "42"), ("c", "43"), ("a", "44")], "a topic that stands there twice is two");
    assert_eq!(house.0.lock().unwrap().heard.len(), 4, "what was done is not asked again");
    assert!(std::fs::read_to_string(&path).unwrap().starts_with(whole.lines().next().unwrap()), "the head stays");
}

#[tokio::test]
async fn successes_of_another_table_are_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let (house, address) = server(&[]).await;
    let other = folder.path().join("other.csv");
    std::fs::write(&other, "topic,plan_id,status,retries,error,session_id\nb,7,success,0,,s\nc,,failed,3,no,s\n")
        .unwrap();
    let bulk = Bulk { resume_from: Some(other), ..bulk(&address, folder.path()).await };
    let rows = made(&bulk, &list("a\nb\nc\n")).await;
    let told: Vec<&str> = rows.iter().map(|row| row.plan_id.as_str()).collect();
    assert_eq!((told, house.0.lock().unwrap().heard.len()), (vec!["41", "7", "42"], 2));
}

#[tokio::test]
async fn a_file_that_is_no_table_of_results_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (_, address) = server(&[]).await;
    let path = folder.path().join("bulk_plans.csv");
    std::fs::write(&path, "name,age\nana,7\n").unwrap();
    let bad = bulk(&address, folder.path()).await.run(&list("a"), |_| {}).await.unwrap_err();
    assert!(bad.foreign && bad.message.ends_with("its first line has no `topic` and no `status`"), "{}", bad.message);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "name,age\nana,7\n");
}

#[tokio::test]
async fn answers_trees_and_outlines_are_kept_and_plans_are_looked_at_again() {
    let folder = tempfile::tempdir().unwrap();
    let (_, address) = server(&[]).await;
    let bulk =
        Bulk { dump_dir: Some(folder.path().join("kept")), outlines: true, ..bulk(&address, folder.path()).await };
    let rows = made(&bulk, &list("a")).await;
    let kept = |name: &str| std::fs::read_to_string(folder.path().join("kept").join(name)).unwrap();
    assert!(kept("responses/bulk_now_00000.json").contains("\"plan_id\": 41"));
    assert!(kept("plans/plan_41.json").contains("\"adjacency\""));
    assert_eq!(kept("plans/plan_41.md"), "# A\n\n- **root**\n  - **part**\n", "a tree in a circle comes to an end");
    assert_eq!(rows[0].tasks, Some(2));
    let verified = bulk.verify().await.unwrap();
    assert!(verified.is_sound() && verified.sound == 1, "{verified:?}");
}

#[tokio::test]
async fn plans_that_are_gone_failed_or_empty_are_told_by_number_when_they_are_looked_at_again() {
    let folder = tempfile::tempdir().unwrap();
    let (house, address) = server(&[]).await;
    let bulk = bulk(&address, folder.path()).await;
    made(&bulk, &list("a\nb\nc\nd\n")).await;
    let table = std::fs::read_to_string(&bulk.output).unwrap();
    let rest = ",".repeat(table.lines().next().unwrap().split(',').count() - 10);
    std::fs::write(&bulk.output, format!("{table}e,,failed,0,the server says no,s,,,,0{rest}\n")).unwrap();
    let verified = bulk.verify().await.unwrap();
    insta::assert_json_snapshot!(verified, @r#"
    {
      "looked_at": 4,
      "sound": 1,
      "missing": [
        {
          "plan_id": "42",
          "topic": "b",
          "why": "404: it is gone"
        }
      ],
      "failed": [
        {
          "plan_id": "43",
          "topic": "c",
          "why": "1 of its tasks failed"
        },
        {
          "plan_id": "44",
          "topic": "d",
          "why": "its tree has one task alone"
        }
      ],
      "without_plan": [
        {
          "plan_id": "",
          "topic": "e",
          "why": "the server says no"
        }
      ]
    }
    "#);
    let kept = house.0.lock().unwrap();
    for no in 41..=44 {
        for what in ["summary", "tree"] {
            assert!(kept.read.contains(&format!("{what} {no}")), "{what} {no}: {:?}", kept.read);
        }
    }
}

#[tokio::test]
async fn one_line_to_the_server_serves_many_requests() {
    let folder = tempfile::tempdir().unwrap();
    let (house, address) = server(&[]).await;
    bulk(&address, folder.path()).await.run(&list("a\nb\nc\nd\ne\nf\n"), |_| {}).await.unwrap();
    let kept = house.0.lock().unwrap();
    assert!(kept.heard.len() == 6 && kept.lines < 6, "{} lines for {} requests", kept.lines, kept.heard.len());
}

#[test]
fn braces_of_json_in_a_template_are_themselves() {
    let topic = Topic { title: "A {goal}".to_owned(), goal: "G".to_owned(), ..Topic::default() };
    let text = Template::new(r#"{"t": "{title}", "g": {goal}, "d": "{description}", "x": {other}} {"#).render(&topic);
    assert_eq!(text, r#"{"t": "A {goal}", "g": G, "d": "", "x": {other}} {"#);
}
