//! What the command line does about plans, the API does as well, and says the same.

use serde_json::{Value, json};

use crate::server::Server;

fn said(server: &Server, args: &[&str]) -> Value {
    serde_json::from_str(&server.run(args, "")).unwrap()
}

const WALL: &str = "
title: A wall
objective: A wall that stands
tasks:
  - {id: lay, manual: Lay the bricks, risks: [{name: rain}]}
  - {id: point, manual: Point the joints, depends_on: [lay]}
schedule:
  start: 2050-01-03
  resources: [{id: ana, rate: 80}]
  tasks: {lay: {estimate: 2d / 3d / 6d, needs: [ana]}, point: {estimate: 1d, needs: [ana]}}
";

#[test]
fn two_plans_are_compared_as_the_command_line_compares_them() {
    let server = Server::start();
    let wait = |file: &str| {
        let made = server.post("/api/v1/plans", &json!({"file": file, "start": false}));
        made.json()["plan"].as_str().unwrap().to_owned()
    };
    let (wall, higher) = (wait(WALL), wait(&WALL.replace("1d,", "4d,").replace("A wall that", "A high wall that")));
    let compared = server.get(&format!("/api/v1/diff?before={wall}&after={higher}")).json();
    let there = said(&server, &["diff", &wall, &higher, "--json"]);
    for part in ["diff", "edges", "figures"] {
        assert_eq!(compared[part], there[part], "{part}");
    }
    assert_eq!(compared["before"], json!({"plan": wall, "revision": 1, "title": "A wall"}));
    assert!(compared["lines"][0].as_str().unwrap().starts_with("finish  "), "{compared}");
    let longer = json!({"file": WALL.replace("2d / 3d / 6d", "9d"), "rationale": "more bricks"});
    assert_eq!(server.post(&format!("/api/v1/plans/{wall}/revisions"), &longer).status, 200);
    let own = server.get(&format!("/api/v1/diff?before={wall}@r1&after={wall}")).json();
    assert_eq!(own["diff"], said(&server, &["diff", &format!("{wall}@r1"), &wall, "--json"])["diff"]);
    let same = server.get(&format!("/api/v1/diff?before={wall}&after={wall}")).json();
    assert_eq!((&same["lines"], &same["figures"]["before"]), (&json!([]), &Value::Null));
    assert_eq!(server.get(&format!("/api/v1/diff?before={wall}@r9&after={wall}")).code().0, 404);
    assert_eq!(server.get(&format!("/api/v1/diff?before={wall}")).code(), (400, "request::wrong-query".to_owned()));
}

#[test]
fn a_working_folder_is_brought_back_to_a_checkpoint_once_nobody_works_on_the_plan() {
    let server = Server::start();
    let plan = server.create(
        "title: Notes\ntasks:\n  - {id: one, run: echo one > note}\n  - {id: start, depends_on: [one], checkpoint: first}\n  - {id: two, depends_on: [start], run: echo two > note}\n  - {id: sign-off, depends_on: [two], gate: {approvals: 1}}\n",
    );
    server.until(&plan, "blocked");
    let note = || std::fs::read_to_string(server.folder().join("note")).unwrap();
    let at = |path: &str| format!("/api/v1/plans/{plan}{path}");
    let points = server.get(&at("/checkpoints")).json();
    assert_eq!((&points["items"][0]["name"], &points["items"][0]["task"]), (&json!("first"), &json!("start")));
    assert_eq!(points["items"], said(&server, &["restore", &plan, "--json"]));
    let back = |to: &str| server.post(&at("/restore"), &json!({"to": to}));
    assert_eq!(back("first").code(), (409, "engine::driven".to_owned()), "someone works on it");
    assert_eq!((server.post(&at("/pause"), &json!({"why": "a look"})).status, note()), (200, "two\n".to_owned()));
    assert_eq!(back("no-such").code(), (404, "record::no-checkpoint".to_owned()));
    let first = back("first");
    assert_eq!((first.status, note()), (200, "one\n".to_owned()), "{}", first.text());
    let safety = first.json()["safety"].as_str().unwrap().to_owned();
    assert_eq!((back(&safety).status, note()), (200, "two\n".to_owned()), "going back from going back");
    assert_eq!(server.post(&at("/resume"), &json!({})).status, 202);
    assert_eq!(server.post(&at("/gates/sign-off/approve"), &json!({})).status, 200);
    server.until(&plan, "completed");
}

#[test]
fn a_life_is_taken_away_as_a_zip_file_and_taken_in_elsewhere_as_it_was() {
    let (here, there) = (Server::start(), Server::start());
    let plan = here.create("title: Sum\ntasks:\n  - {id: a, run: echo a}\n  - {id: b, compute: {n: '2'}}\n");
    here.until(&plan, "completed");
    let zip = here.get(&format!("/api/v1/plans/{plan}/export?format=zip"));
    assert_eq!((zip.status, zip.header("content-type")), (200, Some("application/zip")));
    let file = here.folder().join("life.zip");
    here.run(&["export", &plan, "--format", "zip", "-o", file.to_str().unwrap()], "");
    assert_eq!(std::fs::read(&file).unwrap(), zip.body, "the same bytes as on the command line");
    let take = |bytes: &[u8]| there.send_bytes("/api/v1/plans/import", "application/zip", bytes);
    let taken = take(&zip.body);
    assert_eq!((taken.status, &taken.json()["plan"]), (201, &json!(plan)), "{}", taken.text());
    let audit = |server: &Server| server.get(&format!("/api/v1/plans/{plan}/audit")).json()["head"].clone();
    assert_eq!(audit(&here), audit(&there));
    let again = take(&zip.body).json();
    assert_ne!(again["plan"], json!(plan), "the id is taken: it is a fork");
    let mut broken = zip.body.clone();
    let middle = broken.len() / 2;
    broken[middle] ^= 0xff;
    assert_eq!(take(&broken).code(), (422, "plan::not-taken-in".to_owned()));
    assert_eq!(take(b"nonsense").code(), (422, "plan::not-taken-in".to_owned()));
}

#[test]
fn a_report_is_taken_away_with_everything_or_as_the_table_of_a_section() {
    let server = Server::start();
    let plan = server.create(WALL);
    let at = |query: &str| server.get(&format!("/api/v1/plans/{plan}/report{query}"));
    let zip = at("?format=zip");
    assert_eq!((zip.status, zip.header("content-type")), (200, Some("application/zip")));
    for name in ["report.html", "plan.yaml", "work.csv", "plan.ics", "plan.xml", "manifest.json"] {
        assert!(zip.body.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
    }
    let table = at("?format=csv&section=work");
    assert_eq!(table.text(), server.run(&["report", &plan, "--format", "csv", "--section", "work"], "") + "\r\n");
    // How long something has taken that is still under way is not the same a moment later.
    let lasting = |text: &str| text.lines().filter(|line| !line.ends_with("waiting |")).collect::<Vec<_>>().join("\n");
    for form in ["handoff", "postmortem"] {
        let there = server.run(&["report", &plan, "--format", form], "");
        assert_eq!(lasting(&at(&format!("?format={form}")).text()), lasting(&there), "{form}");
    }
    assert_eq!(at("?format=csv&section=summary").code(), (400, "request::wrong-query".to_owned()));
}

#[test]
fn a_schedule_is_computed_as_it_is_asked_for_and_drawn() {
    let server = Server::start();
    let made = server.post("/api/v1/plans", &json!({"file": WALL, "start": false})).json();
    let plan = made["plan"].as_str().unwrap();
    let at = |query: &str| server.get(&format!("/api/v1/plans/{plan}{query}"));
    let there = said(&server, &["schedule", plan, "--basis", "likely", "--level", "off", "--near", "2d", "--json"]);
    let here = at("/schedule?basis=likely&level=off&near=2d").json();
    assert_eq!((&here["finish"], &here["tasks"]), (&there["finish"], &there["tasks"]));
    assert_ne!(here["finish"], at("/schedule").json()["finish"], "the mean is later than what is most likely");
    for wrong in ["basis=best", "level=up", "near=-2d", "near=soon", "confidence=0"] {
        assert_eq!(at(&format!("/schedule?{wrong}")).code(), (400, "request::wrong-query".to_owned()), "{wrong}");
    }
    for name in ["gantt", "network", "histogram", "s-curve", "load", "cash", "tornado"] {
        let chart = at(&format!("/charts/{name}?width=600"));
        assert_eq!((chart.status, chart.header("content-type")), (200, Some("image/svg+xml")), "{name}");
        assert!(
            chart.text().starts_with("<svg") && chart.header("content-security-policy").unwrap().contains("sandbox")
        );
    }
    assert_eq!(at("/charts/pie").code(), (404, "schedule::no-chart".to_owned()));
    assert_eq!(at("/charts/gantt?width=1").code(), (400, "request::wrong-query".to_owned()));
}

#[test]
fn a_task_is_run_with_other_inputs_and_what_works_on_it_is_done_again() {
    let server = Server::start();
    let plan = server.create(
        "title: Sums\ntasks:\n  - {id: one, inputs: {n: 1}, compute: {m: inputs.n * 10}}\n  - {id: two, inputs: {m: tasks.one.m}, compute: {k: inputs.m + 1}}\n",
    );
    server.until(&plan, "completed");
    let outputs = |task: &str| server.get(&format!("/api/v1/plans/{plan}/tasks/{task}")).json()["outputs"].clone();
    assert_eq!(outputs("two")["k"], 11);
    let run = |body: Value| server.post(&format!("/plans/{plan}/tasks/one/run"), &body);
    assert_eq!(run(json!({"inputs": {"n": 5}})).status, 202);
    server.until(&plan, "completed");
    assert_eq!((&outputs("one")["m"], &outputs("two")["k"]), (&json!(50), &json!(51)));
    let revisions = server.get(&format!("/api/v1/plans/{plan}/revisions")).json();
    assert_eq!(revisions["items"][1]["rationale"], "task `one` is run with other inputs");
    assert_eq!(run(json!({"inputs": {"n": 5}})).status, 202, "the same inputs again are no revision");
    server.until(&plan, "completed");
    assert_eq!(server.get(&format!("/api/v1/plans/{plan}/revisions")).json()["items"].as_array().unwrap().len(), 2);
    assert_eq!(run(json!({"inputs": [1]})).code(), (400, "request::wrong-fields".to_owned()));
}

#[test]
fn what_a_plan_would_do_is_shown_and_nothing_is_touched() {
    let server = Server::start();
    let file = "title: Tidy\ntasks:\n  - {id: write, tool: {name: files.write, args: {path: note, content: hello}}}\n  - {id: ask, depends_on: [write], ask: {question: 'Is it tidy?'}}\n";
    let shown = server.post("/api/v1/plans/dry-run", &json!({"file": file}));
    assert_eq!(shown.status, 200, "{}", shown.text());
    let shown = shown.json();
    assert_eq!(
        (&shown["ok"], &shown["tasks"][1]["preview"]),
        (&json!(true), &json!("would ask: Is it tidy?")),
        "{shown}"
    );
    assert!(!server.folder().join("note").exists());
    assert_eq!(server.get("/api/v1/plans").json()["items"], json!([]), "nothing was created");
    std::fs::write(server.folder().join("tidy.yaml"), file).unwrap();
    assert_eq!(shown, said(&server, &["run", "tidy.yaml", "--dry-run", "--json"]));
}

#[test]
fn every_task_that_asks_for_help_is_answered_at_once_and_the_definition_of_done_is_judged() {
    let server = Server::start();
    let plan = server.create(
        "title: Doubts\ndone_when: [the result is pretty]\npolicy: {judge: person, recovery: {logic: [escalate]}}\ntasks:\n  - {id: a, run: exit 3}\n  - {id: b, run: exit 4}\n",
    );
    server.until(&plan, "blocked");
    let at = |path: &str| format!("/api/v1/plans/{plan}{path}");
    assert_eq!(server.post(&at("/resolve"), &json!({"how": "wish"})).code(), (422, "task::how".to_owned()));
    assert_eq!(server.post(&at("/resolve"), &json!({"how": "skip", "why": "not needed"})).status, 200);
    server.settled(&plan, "");
    assert_eq!(server.post(&at("/resolve"), &json!({"how": "skip"})).code(), (409, "life::not-waiting".to_owned()));
    let verdict = json!({"verdicts": [{"check": "the result is pretty", "holds": true, "because": "seen"}]});
    let judged = server.post(&at("/judge"), &verdict);
    assert_eq!(judged.status, 200, "{}", judged.text());
    server.until(&plan, "completed");
}

#[test]
fn a_template_is_copied_into_the_project_and_used_there() {
    let server = Server::start();
    let copy = |name: &str, new: &str| server.post(&format!("/api/v1/templates/{name}/copy"), &json!({"name": new}));
    assert_eq!(copy("outline", "ours").status, 201);
    assert_eq!(
        server.get("/api/v1/templates/ours").json()["files"],
        server.get("/api/v1/templates/outline").json()["files"]
    );
    assert_eq!(copy("outline", "ours").code(), (422, "template::not-copied".to_owned()), "it is there already");
    assert_eq!(copy("outline", "../ours").code(), (422, "template::not-copied".to_owned()));
    assert_eq!(copy("no-such", "mine").code(), (404, "template::unknown".to_owned()));
    let asked = json!({"objective": "Build a garden shed", "template": "ours", "offline": true});
    assert_eq!(server.post("/api/v1/plans", &asked).status, 202);
}
