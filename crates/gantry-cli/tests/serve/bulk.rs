//! Lists of topics that become plans over HTTP: runs that survive, rows as they come, plans side by side.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::{Value, json};

use crate::server::{Server, WITHIN};

fn topics(count: usize) -> Vec<String> {
    (1..=count).map(|at| format!("Build a garden shed for family {at}")).collect()
}

/// A server that may be asked as often as it takes to see a run through.
fn serving() -> Server {
    Server::start_with(&["--rate", "100000"], |_| {})
}

fn begin(server: &Server, count: usize) -> String {
    let answer = server.post("/api/v1/bulk", &json!({"topics": topics(count), "depth": 1, "offline": true}));
    assert_eq!(answer.status, 202, "{}", answer.text());
    answer.json()["run"].as_str().unwrap().to_owned()
}

/// The run once it is so far.
fn until(server: &Server, run: &str, far: impl Fn(&Value) -> bool) -> Value {
    let since = Instant::now();
    loop {
        let seen = server.get(&format!("/api/v1/bulk/{run}")).json();
        if far(&seen) {
            return seen;
        }
        assert!(since.elapsed() < WITHIN, "{seen:#}");
        std::thread::yield_now();
    }
}

#[test]
fn a_run_goes_on_after_a_kill_and_no_topic_is_two_plans() {
    let mut server = serving();
    let run = begin(&server, 24);
    until(&server, &run, |seen| seen["done"].as_u64().unwrap() >= 3);
    server.kill();
    server.go_on();
    let seen = until(&server, &run, |seen| seen["state"] == "completed");
    assert_eq!((&seen["done"], &seen["failed"]), (&json!(24), &json!(0)), "{seen:#}");
    let rows = seen["rows"].as_array().unwrap();
    let plans: BTreeSet<&str> = rows.iter().map(|row| row["plan_id"].as_str().unwrap()).collect();
    assert_eq!((rows.len(), plans.len()), (24, 24));
    assert!(rows.iter().all(|row| row["score"].is_u64()), "each has a score");
    let label = seen["label"].as_str().unwrap();
    let listed = server.get(&format!("/api/v1/plans?label={label}&limit=100")).json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 24, "and there are no others");
    let table = server.get(&format!("/api/v1/bulk/{run}/table")).text();
    assert!(table.starts_with("topic,plan_id,status,retries,error,session_id,"), "{table}");
    assert_eq!(table.lines().count(), 25);
}

#[test]
fn a_run_is_stopped_and_goes_on_where_it_was() {
    let server = serving();
    let run = begin(&server, 12);
    let stopped = server.post(&format!("/api/v1/bulk/{run}/stop"), &json!({})).json();
    assert_ne!(stopped["state"], "running", "{stopped:#}");
    assert_eq!(server.post(&format!("/api/v1/bulk/{run}/resume"), &json!({})).status, 202);
    let seen = until(&server, &run, |seen| seen["state"] == "completed");
    assert_eq!(seen["done"], 12);
    let page = server.get(&format!("/api/v1/bulk/{run}?after=10&limit=5")).json();
    assert_eq!((page["rows"].as_array().unwrap().len(), &page["next"]), (2, &Value::Null));
}

#[test]
fn the_same_key_is_the_same_run() {
    let server = serving();
    let headers = [("Content-Type", "application/json"), ("Idempotency-Key", "spring")];
    let body =
        json!({"list": "title,owner\nBuild a garden shed,ana\n", "list_name": "t.csv", "depth": 1, "offline": true})
            .to_string();
    let run = |_| server.send("POST", "/api/v1/bulk", &headers, &body).json()["run"].as_str().unwrap().to_owned();
    let runs: BTreeSet<String> = (0..3).map(run).collect();
    assert_eq!(runs.len(), 1);
    let other = body.replace("garden shed", "street café");
    assert_eq!(server.send("POST", "/api/v1/bulk", &headers, &other).code(), (409, "store::key-reused".to_owned()));
    assert_eq!(server.get("/api/v1/bulk").json()["items"].as_array().unwrap().len(), 1);
    let seen = until(&server, runs.first().unwrap(), |seen| seen["state"] == "completed");
    let plan = server.get(&format!("/api/v1/plans/{}", seen["rows"][0]["plan"].as_str().unwrap())).json();
    assert_eq!((&plan["title"], &plan["owner"]), (&json!("Build a garden shed"), &json!("ana")));
}

#[test]
fn a_list_that_is_uploaded_and_one_that_is_written_are_not_taken_for_one_another() {
    let server = serving();
    let headers = [("Content-Type", "multipart/form-data; boundary=b"), ("Accept", "text/html")];
    let form = |topics: &str| {
        let upload = "--b\r\nContent-Disposition: form-data; name=\"upload\"; filename=\"two.txt\"\r\n\r\nWrite a cookbook\nOpen a bakery\n\r\n";
        let part = |name: &str, value: &str| {
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        };
        format!("{upload}{}{}{}--b--\r\n", part("topics", topics), part("depth", "1"), part("offline", "1"))
    };
    assert_eq!(server.send("POST", "/bulk", &headers, &form("Build a garden shed")).status, 422);
    assert_eq!(server.get("/api/v1/bulk").json()["items"], json!([]));
    assert_eq!(server.send("POST", "/bulk", &headers, &form("")).status, 303);
    assert_eq!(server.get("/api/v1/bulk").json()["items"][0]["topics"], 2);
}

#[test]
fn what_cannot_be_begun_is_told_and_nothing_is_kept() {
    let server = serving();
    let told = |body: Value| server.post("/api/v1/bulk", &body).code().1;
    assert_eq!(told(json!({})), "bulk::which");
    assert_eq!(told(json!({"topics": ["a"], "list": "b"})), "bulk::which");
    assert_eq!(told(json!({"topics": [7]})), "bulk::topics");
    assert_eq!(told(json!({"topics": ["a"], "template": "nowhere"})), "plan::template");
    assert_eq!(told(json!({"topics": ["a"], "detail": "much"})), "plan::detail");
    assert_eq!(told(json!({"topics": ["a"], "depth": 0})), "request::out-of-range");
    assert_eq!(told(json!({"topics": ["a"], "profile": "nobody"})), "plan::profile");
    for name in ["nowhere", "..%2F..%2Fetc", "a%00b"] {
        assert_eq!(server.get(&format!("/api/v1/bulk/{name}")).status, 404, "{name}");
    }
    assert_eq!(server.get("/api/v1/bulk").json()["items"], json!([]));
}

#[test]
fn a_run_is_begun_and_looked_at_with_forms_alone_and_plans_stand_side_by_side() {
    let server = serving();
    let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "text/html")];
    let body = "topics=Build+a+garden+shed%0AWrite+a+%3Cb%3Ecookbook%3C%2Fb%3E+about+bread&title=%3Cscript%3Espring&depth=1&offline=1";
    let answer = server.send("POST", "/bulk", &headers, body);
    assert_eq!(answer.status, 303, "{}", answer.text());
    let place = answer.header("location").unwrap().to_owned();
    let run = place.strip_prefix("/bulk/").unwrap().to_owned();
    let seen = until(&server, &run, |seen| seen["state"] == "completed");
    let page = server.get(&place).text();
    assert!(
        page.contains("2 of 2") && page.contains("&lt;b&gt;cookbook") && !page.contains("<script>spring"),
        "{page}"
    );
    assert!(server.get("/bulk").text().contains("&lt;script&gt;spring"));
    let numbers: Vec<&str> =
        seen["rows"].as_array().unwrap().iter().map(|row| row["plan_id"].as_str().unwrap()).collect();
    let beside = server.get(&format!("/bulk/beside?plan={}&plan={}", numbers[0], numbers[1])).text();
    for said in ["Build a garden shed", "Tasks", "Starts", "Done", "Cost", "coverage"] {
        assert!(beside.contains(said), "{said}: {beside}");
    }
    assert_eq!(server.get("/bulk/beside").status, 422);
    assert_eq!(server.send("POST", &place, &headers, "do=burn").status, 422);
    assert_eq!(server.send("POST", &place, &headers, "do=go-on").status, 303);
}
