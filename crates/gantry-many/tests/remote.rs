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
    /// Answers with this code, and makes the plan when its list is looked at next.
    MakesLater(u16),
    /// Answers that it is at it, and makes the plan when its list was looked at three times.
    Pends,
    /// Makes a plan, and never answers.
    MakesAndSleeps,
    /// Answers so, and makes nothing.
    Answers(u16),
    /// Answers 200 with the flag of a fault.
    Flags,
    /// Answers in words only.
    Talks,
}

#[derive(Clone, Default)]
struct House(Arc<Mutex<Kept>>, Arc<tokio::sync::Notify>);

impl Kept {
    /// Tells whether it has no time for this request.
    fn is_busy(&mut self) -> bool {
        let busy = self.busy > 0;
        self.busy -= u32::from(busy);
        busy
    }
}

#[derive(Default)]
struct Kept {
    next: Vec<Does>,
    plans: Vec<(u64, String)>,
    /// What is made when the list was looked at so often.
    later: Vec<(u32, u64, String)>,
    /// What was said beside each plan, if the list is to tell it.
    metadata: Option<Vec<Value>>,
    /// To how many requests of any sort it answers that there are too many.
    busy: u32,
    has_no_list: bool,
    heard: Vec<Value>,
    /// What was read of plans.
    read: Vec<String>,
    lines: usize,
}

async fn chat(State(house): State<House>, Json(body): Json<Value>) -> Response {
    let Some(answer) = answered(&house, &body) else {
        house.1.notify_one();
        return std::future::pending().await;
    };
    answer
}

/// What is answered to a message, if anything is.
fn answered(house: &House, body: &Value) -> Option<Response> {
    let mut kept = house.0.lock().unwrap();
    if kept.is_busy() {
        return Some(StatusCode::TOO_MANY_REQUESTS.into_response());
    }
    kept.heard.push(body.clone());
    let does = if kept.next.is_empty() { Does::Makes("/metadata/plan_id") } else { kept.next.remove(0) };
    let title = body["context"]["plan_title"].as_str().unwrap().to_owned();
    let no = 41 + kept.plans.len() as u64;
    match does {
        Does::Makes(_) | Does::MakesSilently | Does::MakesAndFails(_) | Does::MakesAndSleeps => {
            kept.plans.push((no, title));
            if let Some(told) = &mut kept.metadata {
                told.push(body["context"]["metadata"].clone());
            }
        }
        Does::MakesLater(_) => kept.later.push((1, no, title)),
        Does::Pends => kept.later.push((3, no, title)),
        Does::Answers(_) | Does::Flags | Does::Talks => {}
    }
    let status = |code| StatusCode::from_u16(code).unwrap();
    Some(match does {
        Does::Makes("/metadata/plan_id") => {
            Json(json!({"response": "ok", "metadata": {"plan_id": no}})).into_response()
        }
        Does::Makes("/details/plan_id") => Json(json!({"details": {"plan_id": no.to_string()}})).into_response(),
        Does::Makes(_) => {
            Json(json!({"raw_actions": [{"name": "list_plans"}, {"result": {"plan_id": no}}]})).into_response()
        }
        Does::MakesAndSleeps => return None,
        Does::Pends => Json(json!({"response": "At it.", "metadata": {"status": "pending"}})).into_response(),
        Does::MakesLater(200) | Does::MakesSilently | Does::Talks => {
            Json(json!({"response": "Gladly!"})).into_response()
        }
        Does::MakesAndFails(code) | Does::MakesLater(code) => (status(code), "gone wrong").into_response(),
        Does::Answers(code) => (status(code), Json(json!({"detail": "so it is"}))).into_response(),
        Does::Flags => Json(json!({"metadata": {"error": true}})).into_response(),
    })
}

async fn plans(State(house): State<House>) -> Response {
    let mut kept = house.0.lock().unwrap();
    if kept.is_busy() {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    }
    if kept.has_no_list {
        return StatusCode::NOT_FOUND.into_response();
    }
    let told = |(at, (no, title)): (usize, &(u64, String))| match &kept.metadata {
        Some(metadata) => json!({"id": no, "title": title, "metadata": metadata[at]}),
        None => json!({"id": no, "title": title}),
    };
    let list: Value = kept.plans.iter().enumerate().map(told).collect();
    for (looks, no, title) in std::mem::take(&mut kept.later) {
        match looks {
            1 => kept.plans.push((no, title)),
            _ => kept.later.push((looks - 1, no, title)),
        }
    }
    Json(list).into_response()
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
    let failed = rows[..topics.len()].iter().filter(|row| row.status == Status::Failed).count();
    assert_eq!(ended, Ended { rows: topics.len(), failed, others: rows.len() - topics.len() });
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
async fn a_plan_that_a_slow_server_makes_meanwhile_is_taken_and_not_asked_for_again() {
    // As it fails or says nothing there is no such plan, and a moment later there is.
    for does in [Does::MakesLater(504), Does::MakesLater(200)] {
        let (row, plans, requests) = one(&[does]).await;
        assert_eq!((row.plan_id.as_str(), plans, requests), ("41", 1, 1), "{does:?}");
    }
}

#[tokio::test]
async fn a_plan_that_a_server_says_it_is_making_is_waited_for() {
    let (row, plans, requests) = one(&[Does::Pends]).await;
    assert_eq!((row.plan_id.as_str(), row.retries, plans, requests), ("41", 0, 1, 1));
}

#[tokio::test]
async fn a_server_that_is_busy_from_the_first_request_on_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let (house, address) = server(&[]).await;
    house.0.lock().unwrap().busy = 2;
    let rows = made(&bulk(&address, folder.path()).await, &list("Build a boat")).await;
    assert_eq!((rows[0].status, house.0.lock().unwrap().plans.len()), (Status::Success, 1));
}

#[tokio::test]
async fn a_server_without_a_list_is_asked_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (house, address) = server(&[Does::Makes("/metadata/plan_id"), Does::Talks, Does::Talks]).await;
    house.0.lock().unwrap().has_no_list = true;
    let rows = made(&bulk(&address, folder.path()).await, &list("a\nb\n")).await;
    let told: Vec<(&str, &str)> = rows.iter().map(|row| (row.plan_id.as_str(), row.error.as_str())).collect();
    assert_eq!(told, [("41", ""), ("", "the server answered and made no plan")]);
}

#[tokio::test]
async fn what_was_being_made_at_a_kill_is_found_by_whoever_goes_on() {
    for tells_metadata in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let (house, address) = server(&[Does::Makes("/metadata/plan_id"), Does::MakesAndSleeps]).await;
        {
            let mut kept = house.0.lock().unwrap();
            // Somebody else has a plan of the same title.
            kept.plans.push((7, "b".to_owned()));
            kept.metadata = tells_metadata.then(|| vec![json!({"bulk_run_id": "another"})]);
        }
        let topics = list("a\nb\nc\n");
        let killed = bulk(&address, folder.path()).await;
        tokio::select! {
            ended = killed.run(&topics, |_| {}) => panic!("it ended by itself: {ended:?}"),
            () = house.1.notified() => {}
        }
        let rows = made(&bulk(&address, folder.path()).await, &topics).await;
        let plans: Vec<&str> = rows.iter().map(|row| row.plan_id.as_str()).collect();
        assert_eq!(plans, ["42", "43", "44"], "the server tells metadata: {tells_metadata}");
        assert_eq!(house.0.lock().unwrap().plans.len(), 4, "its own, and one for each topic");
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "a run that is complete leaves its table alone"
        );
    }
}

#[tokio::test]
async fn two_topics_of_one_title_are_told_apart_where_the_server_tells_their_keys() {
    let folder = tempfile::tempdir().unwrap();
    let (house, address) = server(&[Does::MakesAndSleeps, Does::MakesSilently]).await;
    house.0.lock().unwrap().metadata = Some(Vec::new());
    let both = topics::read("t.csv", b"title,goal\nShed,a red one\nShed,a blue one\n").unwrap();
    let red = bulk(&address, folder.path()).await;
    tokio::select! {
        ended = red.run(&both[..1], |_| {}) => panic!("it ended by itself: {ended:?}"),
        () = house.1.notified() => {}
    }
    let turned: Vec<Topic> = both.iter().rev().cloned().collect();
    let rows = made(&bulk(&address, folder.path()).await, &turned).await;
    assert_eq!(rows.iter().map(|row| row.plan_id.as_str()).collect::<Vec<_>>(), ["42", "41"]);
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
    let mut heard = house.0.lock().unwrap().heard[0].clone();
    let key = std::mem::replace(&mut heard["context"]["metadata"]["bulk_key"], json!("KEY"));
    assert_eq!(key, gantry_many::results::keys(&topics)[0]);
    insta::assert_json_snapshot!(heard, @r#"
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
          "bulk_run_id": "run",
          "bulk_key": "KEY"
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
async fn rows_of_topics_that_are_not_in_the_list_stay_in_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let (_, address) = server(&[Does::Makes("/metadata/plan_id"), Does::Answers(400), Does::Answers(400)]).await;
    let bulk = bulk(&address, folder.path()).await;
    made(&bulk, &list("a\nb\nc\n")).await;
    // Other topics, and nothing is lost of those before.
    let rows = made(&bulk, &list("d\n")).await;
    let told = |rows: &[Row]| rows.iter().map(|row| format!("{} {}", row.topic, row.plan_id)).collect::<Vec<_>>();
    assert_eq!(told(&rows), ["d 42", "a 41", "b ", "c "]);
    let failed = || topics::read(FAILED_FILE, &std::fs::read(folder.path().join(FAILED_FILE)).unwrap()).unwrap();
    assert_eq!(failed(), list("b\nc\n"), "what came to nothing before can be tried again still");
    // What came to nothing is a list of topics, and its successes join the table.
    let rows = made(&bulk, &failed()).await;
    assert_eq!(told(&rows), ["b 43", "c 44", "d 42", "a 41"]);
    assert!(rows.iter().all(|row| row.run_id == "run"), "{rows:?}");
    assert!(!folder.path().join(FAILED_FILE).exists());
}

#[tokio::test]
async fn a_topic_that_gets_an_owner_is_the_same_topic() {
    let folder = tempfile::tempdir().unwrap();
    let (house, address) = server(&[]).await;
    let bulk = bulk(&address, folder.path()).await;
    made(&bulk, &topics::read("t.csv", b"title,goal\nShed,Build a shed\n").unwrap()).await;
    let rows = made(&bulk, &topics::read("t.csv", b"title,goal,owner\nShed,Build a shed,ana\n").unwrap()).await;
    assert_eq!((rows.len(), house.0.lock().unwrap().plans.len()), (1, 1));
}

#[tokio::test]
async fn a_long_topic_is_asked_for_whole_under_a_title_that_is_no_longer_than_titles_are() {
    let folder = tempfile::tempdir().unwrap();
    let (house, address) = server(&[Does::MakesSilently]).await;
    let long = "Build a boat of larch ".repeat(20);
    let rows = made(&bulk(&address, folder.path()).await, &list(&long)).await;
    assert_eq!((rows[0].status, rows[0].topic.as_str()), (Status::Success, long.trim()));
    let heard = house.0.lock().unwrap().heard[0].clone();
    let title = heard["context"]["plan_title"].as_str().unwrap();
    assert!(title.len() <= 300 && long.starts_with(&format!("{title} ")), "whole words of it: {title}");
    assert!(heard["message"].as_str().unwrap().contains(long.trim()));
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
    // Another program calls its columns otherwise.
    std::fs::remove_file(folder.path().join("bulk_plans.csv")).unwrap();
    std::fs::write(
        bulk.resume_from.as_ref().unwrap(),
        "title,goal,plan_id,session_id,success,retries,error\nb,b,7,s,yes,0,\nc,c,,s,no,3,no\n",
    )
    .unwrap();
    let rows = made(&bulk, &list("a\nb\n")).await;
    assert_eq!((rows.len(), rows[1].plan_id.as_str(), rows[1].status), (2, "7", Status::Success));
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
