use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;

use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::{Value, json};

use crate::server::Server;
use crate::socket::Socket;

const PLAN: &str = "
title: Watched
tasks:
  - {id: talk, run: 'echo one; echo two'}
  - {id: sign-off, depends_on: [talk], gate: {checks: [it is fine]}}
  - {id: after, depends_on: [sign-off], run: echo after}
";

/// A stream of events, and the number of the last one.
struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    fn open(server: &Server, path: &str, headers: &str) -> Self {
        let stream = server.open(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", server.addr));
        Self { lines: BufReader::new(stream) }
    }

    /// The next event: its number, its kind, what it says.
    fn next(&mut self) -> Option<(String, String, Value)> {
        let (mut id, mut kind) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            if let Some(text) = line.strip_prefix("id: ") {
                text.trim().clone_into(&mut id);
            } else if let Some(text) = line.strip_prefix("event: ") {
                text.trim().clone_into(&mut kind);
            } else if let Some(text) = line.strip_prefix("data: ") {
                return Some((id, kind, serde_json::from_str(text).unwrap()));
            }
        }
    }

    /// The numbers of the journal until something was said.
    fn until(&mut self, said: &str) -> Vec<u64> {
        let mut seen = Vec::new();
        while let Some((_, kind, data)) = self.next() {
            if kind == "journal" {
                seen.push(data["seq"].as_u64().unwrap());
                if data["said"].as_str().unwrap().contains(said) {
                    break;
                }
            }
        }
        seen
    }
}

#[test]
fn a_client_that_comes_back_misses_nothing_and_gets_nothing_twice() {
    let mut server = Server::start();
    let plan = server.create(PLAN);
    let path = format!("/api/v1/plans/{plan}/events");
    let mut seen = Events::open(&server, &format!("{path}?after=0"), "").until("sign-off: waits");
    let last = *seen.last().unwrap();
    // The server dies, and another one takes over.
    server.kill();
    server.go_on();
    let mut again = Events::open(&server, &path, &format!("Last-Event-ID: {last}\r\n"));
    assert_eq!(server.post(&format!("/api/v1/plans/{plan}/gates/sign-off/approve"), &json!({})).status, 200);
    seen.extend(again.until("completed"));
    let length = server.until(&plan, "completed")["length"].as_u64().unwrap();
    assert_eq!(seen, (1..=length).collect::<Vec<u64>>());
}

/// A task that says its next line as soon as there is a file for it, and then that it has said it.
const TICKS: &str = "title: Clock\ntasks:\n  - {id: tick, run: 'for i in 1 2 3 4 5 6 7 8 9; do until [ -e go-$i ]; do sleep 0.02; done; echo tick-$i; : > said-$i; done'}\n";

#[test]
fn output_goes_on_with_the_very_next_line_for_whoever_comes_back() {
    let server = Server::start();
    let plan = server.create(TICKS);
    let path = format!("/api/v1/plans/{plan}/events");
    let say = |lines: std::ops::RangeInclusive<u32>| {
        for line in lines.clone() {
            std::fs::write(server.folder().join(format!("go-{line}")), "").unwrap();
        }
        while !server.folder().join(format!("said-{}", lines.end())).exists() {
            std::thread::yield_now();
        }
    };
    let mut heard = String::new();
    let mut last = "0".to_owned();
    let listen = |last: &mut String, heard: &mut String, end: &str| {
        let mut events = Events::open(&server, &path, &format!("Last-Event-ID: {last}\r\n"));
        while !heard.contains(end) {
            let (id, kind, data) = events.next().unwrap();
            *last = id;
            if kind == "output" {
                *heard += data["text"].as_str().unwrap();
            }
        }
    };
    let mut once = Events::open(&server, &path, "");
    say(1..=1);
    while once.next().unwrap().1 != "output" {}
    drop(once); // from now on there is a channel, and at times nobody reads it
    for lines in [2..=3, 4..=6, 7..=9] {
        let end = format!("tick-{}", lines.end());
        say(lines);
        listen(&mut last, &mut heard, &end);
    }
    let heard: Vec<&str> = heard.lines().filter(|line| *line != "tick-1").collect();
    assert_eq!(heard, ["tick-2", "tick-3", "tick-4", "tick-5", "tick-6", "tick-7", "tick-8", "tick-9"]);
}

#[test]
fn what_tasks_write_comes_as_they_write_it() {
    let server = Server::start();
    let plan = server.create("title: Slow\ntasks:\n  - {id: wait, ask: Ready?}\n  - {id: talk, depends_on: [wait], run: 'echo one; echo two'}\n");
    server.until(&plan, "blocked");
    let mut events = Events::open(&server, &format!("/api/v1/plans/{plan}/events"), "");
    server.post(&format!("/api/v1/plans/{plan}/asks/wait/answer"), &json!({"answer": "yes"}));
    let mut written = String::new();
    while !written.contains("two") {
        let (_, kind, data) = events.next().unwrap();
        if kind == "output" {
            written += data["text"].as_str().unwrap();
        }
    }
    assert!(written.contains("one"), "{written}");
}

#[test]
fn a_socket_of_a_plan_that_is_over_ends_once_everything_was_told() {
    let server = Server::start();
    let plan = server.create("title: Quick\ntasks: [{id: a, run: echo a}]\n");
    let length = server.until(&plan, "completed")["length"].clone();
    let kinds = |query: &str| -> Vec<String> {
        let said = Socket::open(&server, &plan, query).rest();
        said.iter().map(|one| one["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(""), ["connection", "status", "stream_end"]);
    let all = kinds("?after=0");
    assert_eq!(all.iter().filter(|kind| *kind == "log").count() as u64, length.as_u64().unwrap());
    assert_eq!(all.last().unwrap(), "stream_end");
}

#[test]
fn a_number_that_is_none_is_said() {
    let server = Server::start();
    let plan = server.create(PLAN);
    let answer = server.get(&format!("/api/v1/plans/{plan}/events?after=later"));
    assert_eq!(answer.code(), (400, "live::cursor".to_owned()));
}

#[test]
fn all_plans_are_watched_at_once() {
    let server = Server::start();
    let mut events = Events::open(&server, "/api/v1/events?after=0", "");
    let plan = server.create(PLAN);
    loop {
        let (_, kind, data) = events.next().unwrap();
        assert_eq!(kind, "plan");
        if data["id"] == plan.as_str() && data["state"] == "blocked" {
            break;
        }
    }
}

#[test]
fn whoever_watches_all_plans_is_told_of_every_change_also_when_the_server_was_killed_in_between() {
    let mut server = Server::start();
    let file = "title: Gated\ntasks: [{id: only, gate: {checks: [fine]}}]\n";
    let plans: Vec<String> = (0..12).map(|_| server.create(file)).collect();
    for plan in &plans {
        server.until(plan, "blocked");
    }
    let mut events = Events::open(&server, "/api/v1/events", "");
    for plan in &plans {
        assert_eq!(server.post(&format!("/api/v1/plans/{plan}/gates/only/approve"), &json!({})).status, 200);
    }
    for plan in &plans {
        server.until(plan, "completed");
    }
    // One is told to be completed; then the server dies, and what was sent after that is lost.
    let (mut told, mut last) = (std::collections::BTreeSet::new(), String::new());
    while told.is_empty() {
        let (id, _, data) = events.next().unwrap();
        last = id;
        if data["state"] == "completed" {
            told.insert(data["id"].as_str().unwrap().to_owned());
        }
    }
    server.kill();
    server.go_on();
    let mut again = Events::open(&server, "/api/v1/events", &format!("Last-Event-ID: {last}\r\n"));
    while told.len() < plans.len() {
        let (_, _, data) = again.next().expect("the others are told, too");
        if data["state"] == "completed" {
            told.insert(data["id"].as_str().unwrap().to_owned());
        }
    }
}

#[test]
fn a_server_that_stops_leaves_plans_as_they_stand_and_the_next_goes_on() {
    let mut server = Server::start();
    let plan = server.create(PLAN);
    server.until(&plan, "blocked");
    assert!(server.stop());
    server.go_on();
    let found = server.get(&format!("/api/v1/plans/{plan}")).json();
    assert_eq!((&found["state"], &found["driven"]), (&json!("blocked"), &json!(true)));
}

#[test]
fn a_second_server_on_the_same_record_is_refused_and_the_first_goes_on() {
    let mut server = Server::start();
    let (code, said) = server.refused(&["serve", "--addr", "127.0.0.1:0"]);
    assert_eq!(code, 5, "{said}");
    assert!(
        said.contains("another `gantry serve` works on the record `") && said.contains("hint: use that one"),
        "{said}"
    );
    assert_eq!(server.get("/api/v1/plans").status, 200);
    server.kill();
    server.go_on(); // whoever was killed holds nothing
    assert_eq!(server.get("/api/v1/plans").status, 200);
}

/// No kernel tells hosts apart, so this policy cannot be kept for processes.
const HOSTS: &str = "title: Hosts\npolicy: {network: {allow: [example.org]}}\ntasks: [{id: a, run: 'true'}]\n";

#[test]
fn what_is_not_confined_as_the_policy_says_is_written_down_when_the_server_begins_a_plan() {
    let server = Server::start();
    let plan = server.create(HOSTS);
    server.until(&plan, "completed");
    let log = server.run(&["log", &plan], "");
    let told = |line: &str| line.contains("hosts cannot be told apart") || line.contains("not confined");
    assert!(log.lines().any(|line| line.contains("note by gantry") && told(line)), "{log}");
    let bare = server.create("title: Bare\ntasks: [{id: a, compute: {x: '1'}}]\n");
    server.until(&bare, "completed");
    assert!(!server.run(&["log", &bare], "").contains("note by gantry"), "nothing of it is a process");
}

#[test]
fn where_the_server_requires_full_confinement_nothing_begins_without_it() {
    let server = Server::start_with(&["--require-sandbox"], |_| {});
    let answer = server.send("POST", "/api/v1/plans", &[("Content-Type", "application/yaml")], HOSTS);
    assert!(answer.text().contains("full confinement is required"), "{}", answer.text());
    let plans = server.get("/api/v1/plans").json();
    let started = plans["items"].as_array().into_iter().flatten().filter(|plan| plan["state"] != "pending").count();
    assert_eq!(started, 0, "{plans}");
}

#[test]
fn a_socket_tells_when_a_model_begins_what_it_thinks_and_says_and_what_came_of_it() {
    let models = ModelServer::start();
    models.always(Turn::text("It was a timeout.").thinking("Let me see."));
    let address = models.base_url();
    let config = format!(
        "[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{address}\"\ntools = false\nretries = 0\n\n[profiles.balanced]\ndefault = \"here:m\"\n"
    );
    let server = Server::start_in(&[], &[], |folder| std::fs::write(folder.join("gantry.toml"), config).unwrap());
    let plan = server.create(
        "title: Read a log\ntasks:\n  - {id: wait, ask: Ready?}\n  - {id: explain, depends_on: [wait], model: {instruction: Say what is wrong.}}\n",
    );
    server.until(&plan, "blocked");
    let mut socket = Socket::open(&server, &plan, "");
    assert_eq!(socket.next().unwrap()["type"], "connection");
    server.post(&format!("/api/v1/plans/{plan}/asks/wait/answer"), &json!({"answer": "yes"}));
    let said = socket.rest();
    let streamed: Vec<&Value> = said.iter().filter(|message| message["type"] == "llm_stream").collect();
    let mut events: Vec<&str> = streamed.iter().map(|message| message["event"].as_str().unwrap()).collect();
    events.dedup();
    assert_eq!(events, ["start", "reasoning_delta", "text_delta", "final", "end"]);
    let words = |event: &str| {
        let pieces = streamed.iter().filter(|message| message["event"] == event);
        pieces.map(|message| message["data"]["delta"].as_str().unwrap()).collect::<String>()
    };
    assert!(words("reasoning_delta").contains("Let me see.") && words("text_delta").contains("It was a timeout."));
    assert!(streamed.iter().all(|message| message["stage"] == "explain" && message["interaction_id"] == "explain-1"));
    let numbers: Vec<u64> = streamed.iter().map(|message| message["sequence"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=streamed.len() as u64).collect::<Vec<_>>());
    let end = streamed.iter().find(|message| message["event"] == "end").unwrap();
    assert_eq!(end["data"], json!({"status": "completed"}));
}

#[test]
fn a_socket_tells_log_lines_output_and_percentages_and_goes_on_where_it_was_left() {
    let server = Server::start();
    let plan = server.create("title: Watched\ntasks:\n  - {id: wait, ask: Ready?}\n  - {id: talk, depends_on: [wait], run: 'echo one; echo two >&2'}\n");
    server.until(&plan, "blocked");
    let mut socket = Socket::open(&server, &plan, "?after=0");
    let mut said = vec![socket.next().unwrap()];
    while said.last().unwrap()["message"] != "wait: waits for an answer" {
        said.push(socket.next().unwrap());
    }
    assert_eq!((&said[0]["type"], &said[0]["plan_id"]), (&json!("connection"), &json!(plan)));
    assert_eq!((&said[1]["type"], &said[1]["progress_percentage"]), (&json!("status"), &json!(0)));
    let last = said.last().unwrap()["sequence_id"].as_str().unwrap().to_owned();
    drop(socket);
    let mut again = Socket::open(&server, &plan, &format!("?after={last}"));
    server.post(&format!("/api/v1/plans/{plan}/asks/wait/answer"), &json!({"answer": "yes"}));
    let rest = again.rest();
    let of = |kind: &str| rest.iter().filter(|message| message["type"] == kind).collect::<Vec<_>>();
    let numbers: Vec<u64> = of("log").iter().filter_map(|message| message["entry"]["seq"].as_u64()).collect();
    let length = server.until(&plan, "completed")["length"].as_u64().unwrap();
    let first = last.parse::<u64>().unwrap() + 1;
    assert_eq!(numbers, (first..=length).collect::<Vec<u64>>(), "nothing is missed or told twice");
    let output = of("log").into_iter().filter(|message| message["stage"] == "talk");
    let output: String = output.map(|message| message["message"].as_str().unwrap()).collect();
    assert!(output.contains("one") && output.contains("two"), "{output}");
    assert!(of("llm_stream").is_empty(), "a command is no model");
    assert_eq!(of("status").last().unwrap()["progress_percentage"], 100);
    assert_eq!(rest.last().unwrap()["type"], "stream_end");
}
