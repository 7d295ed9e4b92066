use serde_json::{Value, json};

use crate::server::Server;

const PLAN: &str = "
title: Try it
tasks:
  - {id: number, compute: {n: '20 + 1'}}
  - {id: twice, depends_on: [number], compute: {n: inputs.n * 2}, inputs: {n: tasks.number.n}}
  - {id: sign-off, depends_on: [twice], gate: {checks: [it is fine]}}
  - {id: which, ask: {question: Which one?, options: [red, blue]}}
  - {id: after, depends_on: [sign-off, which], run: echo after}
";

#[test]
fn a_plan_is_created_watched_decided_and_done_over_http() {
    let server = Server::start();
    let plan = server.create(PLAN);
    server.until(&plan, "blocked");
    let gates = server.get("/api/v1/gates").json();
    assert_eq!(gates["items"][0]["gate"], "sign-off");
    let heard = server.post(&format!("/api/v1/plans/{plan}/gates/sign-off/approve"), &json!({"rationale": "seen"}));
    assert_eq!((heard.status, &heard.json()["heard"]), (200, &json!("driven")));
    assert_eq!(server.get("/api/v1/asks").json()["items"][0]["options"], json!(["red", "blue"]));
    let wrong = server.post(&format!("/api/v1/plans/{plan}/asks/which/answer"), &json!({"answer": "green"}));
    assert_eq!(wrong.code(), (422, "life::unknown-answer".to_owned()));
    assert_eq!(server.post(&format!("/api/v1/plans/{plan}/asks/which/answer"), &json!({"answer": "red"})).status, 200);
    let done = server.until(&plan, "completed");
    assert_eq!(done["percent"], 100);
    let audit = server.get(&format!("/api/v1/plans/{plan}/audit")).json();
    assert_eq!(audit["sound"], true);
    let said: Vec<&str> =
        audit["decisions"].as_array().unwrap().iter().map(|one| one["said"].as_str().unwrap()).collect();
    assert!(said.iter().any(|line| line.contains("olga") && line.contains("sign-off")), "{said:?}");
}

#[test]
fn an_edit_does_again_exactly_what_depends_on_it_and_a_stale_one_is_refused() {
    let server = Server::start();
    let plan = server.create(PLAN);
    server.until(&plan, "blocked");
    let task = server.get(&format!("/api/v1/plans/{plan}/tasks/number"));
    let tag = task.header("etag").unwrap().to_owned();
    assert_eq!(task.json()["outputs"]["n"], 21);
    let edit = |tag: &str, n: u32| {
        let body = json!({"outputs": {"n": n}, "why": "a test"}).to_string();
        let headers = [("Content-Type", "application/json"), ("If-Match", tag)];
        server.send("POST", &format!("/api/v1/plans/{plan}/tasks/number/edit"), &headers, &body)
    };
    let first = edit(&tag, 50);
    assert_eq!((first.status, &first.json()["again"]), (200, &json!(["twice", "sign-off"])));
    assert_eq!(edit(&tag, 60).code(), (412, "request::changed".to_owned()));
    server.until(&plan, "blocked");
    let results = server.get(&format!("/plans/{plan}/results")).json();
    let twice = results["items"].as_array().unwrap().iter().find(|item| item["key"] == "twice").unwrap();
    assert_eq!(twice["raw"]["n"], 100);
}

#[test]
fn edits_at_the_same_time_lose_nothing() {
    let server = Server::start();
    let plan = server.create("title: Count\ntasks: [{id: number, compute: {n: '0'}}]\n");
    server.until(&plan, "completed");
    let path = format!("/api/v1/plans/{plan}/tasks/number");
    let add_one = || loop {
        let task = server.get(&path);
        let (tag, n) = (task.header("etag").unwrap().to_owned(), task.json()["outputs"]["n"].as_u64().unwrap());
        let body = json!({"outputs": {"n": n + 1}}).to_string();
        let headers = [("Content-Type", "application/json"), ("If-Match", tag.as_str())];
        match server.send("POST", &format!("{path}/edit"), &headers, &body).status {
            200 => return,
            412 => {} // someone else was faster: look again
            other => panic!("{other}"),
        }
    };
    std::thread::scope(|scope| {
        (0..4).for_each(|_| drop(scope.spawn(|| (0..5).for_each(|_| add_one()))));
    });
    assert_eq!(server.get(&path).json()["outputs"]["n"], 20);
}

#[test]
fn a_revision_that_was_made_from_an_old_one_is_refused() {
    let server = Server::start();
    let plan = server.create(PLAN);
    server.until(&plan, "blocked");
    let path = format!("/api/v1/plans/{plan}/revisions");
    let revise = |tag: &str, title: &str| {
        let body = json!({"file": PLAN.replace("Try it", title), "rationale": "a better name"}).to_string();
        server.send("POST", &path, &[("Content-Type", "application/json"), ("If-Match", tag)], &body)
    };
    assert_eq!(server.get(&format!("/api/v1/plans/{plan}/definition")).header("etag"), Some("\"r1\""));
    assert_eq!(revise("\"r1\"", "Second").json()["revision"], 2);
    assert_eq!(revise("\"r1\"", "Third").code(), (412, "life::old-revision".to_owned()));
    let diff = server.get(&format!("/api/v1/plans/{plan}/diff?from=1&to=2")).json();
    assert!(diff["lines"].to_string().contains("Second"), "{diff}");
    assert_eq!(server.get(&path).json()["items"].as_array().unwrap().len(), 2);
}

#[test]
fn the_same_request_twice_is_one_plan() {
    let server = Server::start();
    let create = |key: &str, plan: &str| {
        let headers = [("Content-Type", "application/yaml"), ("Idempotency-Key", key)];
        server.send("POST", "/api/v1/plans", &headers, plan)
    };
    let (first, again) = (create("k", PLAN).json(), create("k", PLAN).json());
    assert_eq!(first["plan"], again["plan"]);
    assert_eq!(create("k", &PLAN.replace("Try", "Do")).code(), (409, "store::key-reused".to_owned()));
    assert_ne!(create("other", PLAN).json()["plan"], first["plan"]);
}

#[test]
fn a_wrong_plan_is_answered_with_everything_that_is_wrong() {
    let server = Server::start();
    let wrong = "title: x\ntasks:\n  - {id: a, depends_on: [b], run: echo}\n";
    let answer = server.send("POST", "/api/v1/plans", &[("Content-Type", "application/yaml")], wrong);
    assert_eq!(answer.code(), (422, "plan::wrong".to_owned()));
    let error = &answer.json()["errors"][0];
    assert_eq!((&error["code"], &error["line"]), (&json!("plan::unknown-dependency"), &json!(3)));
    let found = server.post("/api/v1/plans/validate", &json!({"file": wrong})).json();
    assert_eq!((&found["ok"], found["errors"].as_array().unwrap().len()), (&json!(false), 1));
    assert_eq!(server.get("/api/v1/plans").json()["items"], json!([]), "nothing was created");
}

#[test]
fn plans_come_in_pages_by_state_and_text() {
    let server = Server::start();
    let plan = |title: &str| format!("title: {title}\ntasks: [{{id: a, compute: {{n: '1'}}}}]\n");
    let ids: Vec<String> = ["one", "two", "three"].iter().map(|title| server.create(&plan(title))).collect();
    for id in &ids {
        drop(server.until(id, "completed"));
    }
    let titles = |path: &str| -> (Vec<String>, Value) {
        let page = server.get(path).json();
        let items = page["items"].as_array().unwrap().iter().map(|one| one["title"].as_str().unwrap().to_owned());
        (items.collect(), page["next"].clone())
    };
    let (first, next) = titles("/api/v1/plans?limit=2&state=completed");
    assert_eq!(first, ["three", "two"]);
    let (rest, end) = titles(&format!("/api/v1/plans?limit=2&state=completed&cursor={next}"));
    assert_eq!((rest, end), (vec!["one".to_owned()], Value::Null));
    assert_eq!(titles("/api/v1/plans?text=TWO").0, ["two"]);
    assert_eq!(titles("/api/v1/plans?state=failed,paused").0, [""; 0]);
    assert_eq!(server.get("/api/v1/plans?state=odd").code(), (400, "request::wrong-query".to_owned()));
    assert_eq!(server.get("/api/v1/plans?limit=0").code(), (400, "request::wrong-query".to_owned()));
}

#[test]
fn the_names_of_other_documents_answer_too() {
    let server = Server::start();
    let graph = json!({"title": "Seeds", "nodes": [{"id": "a", "compute": {"n": "1"}}, {"id": "b", "dependsOn": ["a"], "compute": {"n": "2"}}]});
    let created = server.post("/plans", &graph);
    assert_eq!(created.status, 201, "{}", created.text());
    let plan = created.json()["plan"].as_str().unwrap().to_owned();
    assert_eq!(server.post(&format!("/plans/{plan}/tasks/a/run"), &json!({})).status, 202);
    server.until(&plan, "completed");
    assert_eq!(server.get(&format!("/plans/{plan}/tree")).json()["nodes"]["2"]["key"], "b");
    assert_eq!(server.get(&format!("/plans/{plan}/execution/summary")).json()["progress_percentage"], 100);
    assert_eq!(server.get("/health").json()["status"], "ok");
    let prompted = json!({"prompt": "Open a small bakery in Oslo for 600 000 kr before Christmas", "speed_vs_detail": "fast_but_skip_details"});
    let made = server.post("/api/plans", &prompted);
    assert_eq!(made.status, 202, "{}", made.text());
    let plan = made.json()["plan_id"].as_str().unwrap().to_owned();
    server.until(&plan, "blocked");
    assert_eq!(server.get(&format!("/api/plans/{plan}/files")).json()["has_report"], true);
    let report = server.get(&format!("/api/plans/{plan}/report"));
    assert!(
        report.text().starts_with("<!DOCTYPE html>") && report.text().contains("id=\"risks\""),
        "{}",
        report.text()
    );
    assert!(report.header("content-security-policy").unwrap().contains("default-src 'none'; style-src 'sha256-"));
    let parts = server.get(&format!("/api/plans/{plan}/fallback-report")).json();
    assert!(parts["missing_sections"].as_array().unwrap().iter().any(|part| part["stage"] == "accept"), "{parts}");
    let page = parts["assembled_html"].as_str().unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("id=\"risks\""), "{page}");
    let text = server.get(&format!("/api/v1/plans/{plan}/report?format=markdown&section=risks")).text();
    assert!(text.contains("## Risks") && !text.contains("## Team"), "{text}");
    let wrong = server.get(&format!("/api/v1/plans/{plan}/report?section=wrok"));
    assert_eq!(wrong.code(), (400, "request::wrong-query".to_owned()));
    assert!(wrong.json()["hint"].as_str().unwrap().starts_with("did you mean `work`?"), "{}", wrong.text());
    let unknown = json!({"prompt": "Open a small bakery in Oslo", "llm_model": "no-such-model"});
    assert_eq!(server.post("/api/plans", &unknown).code(), (422, "plan::model".to_owned()));
}

#[test]
fn a_fork_and_a_replay_are_as_on_the_command_line() {
    let server = Server::start();
    let plan = server.create(PLAN);
    server.until(&plan, "blocked");
    assert_eq!(server.post(&format!("/api/v1/plans/{plan}/replay"), &json!({})).json()["same"], true);
    let fork = server.post(&format!("/api/v1/plans/{plan}/fork"), &json!({"at": 2}));
    assert_eq!(fork.status, 201);
    assert_eq!(server.post(&format!("/api/v1/plans/{plan}/fork"), &json!({"at": 999})).code().0, 404);
    let then = server.get(&format!("/api/v1/plans/{plan}/state?at=2")).json();
    assert_ne!(then["tasks"]["number"]["state"], "completed");
}

#[test]
fn the_server_is_ready_and_says_its_figures() {
    let server = Server::start();
    assert_eq!(server.get("/readyz").json()["status"], "ok");
    server.get("/api/v1/plans");
    let figures = server.get("/metrics").text();
    assert!(
        figures.contains("gantry_http_request_seconds_count{method=\"GET\",route=\"/api/v1/plans\",status=\"200\"} 1"),
        "{figures}"
    );
}

/// A plan whose people are so short that only a search finds the sixteen days in which all can be done.
const TIGHT: &str = "
title: Tight
tasks:
  - {id: go, gate: {checks: [all are here]}}
  - {id: a, depends_on: [go], manual: do it}
  - {id: b, depends_on: [go], manual: do it}
  - {id: c, depends_on: [go], manual: do it}
  - {id: d, depends_on: [go], manual: do it}
schedule:
  start: 2050-01-03
  resources: [{id: crew, capacity: 11, rate: 10}]
  tasks:
    a: {estimate: 2ed, needs: [crew 7]}
    b: {estimate: 9ed, needs: [crew 4]}
    c: {estimate: 8ed, needs: [crew 3]}
    d: {estimate: 7ed / 8ed / 9ed, needs: [crew 7]}
";

#[test]
fn status_schedule_and_server_tell_the_same_finish_chance_and_cost() {
    let server = Server::start();
    let plan = server.create(TIGHT);
    server.until(&plan, "blocked");
    let command = |line: &str| -> Value {
        let line = line.replace("PLAN", &plan);
        serde_json::from_str(&server.run(&line.split(' ').collect::<Vec<_>>(), "")).unwrap()
    };
    let told = server.get(&format!("/api/v1/plans/{plan}/schedule")).json();
    assert_eq!(told["finish"], "2050-01-19T00:00:00+00:00", "sixteen days");
    let scheduled = command("schedule PLAN --json");
    for figure in ["/finish", "/monte_carlo/finish/p80", "/cost/total_with_contingency"] {
        assert!(told.pointer(figure).is_some(), "{figure} in {told}");
        assert_eq!(told.pointer(figure), scheduled.pointer(figure), "{figure}");
    }
    let forecast = &command("status PLAN --json")["forecast"];
    let at = |value: Option<&Value>| value.unwrap().as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(at(forecast.get("finish")), at(told.get("finish")));
    assert_eq!(at(forecast.get("p80")), at(told.pointer("/monte_carlo/finish/p80")));
}

#[test]
fn prompts_models_and_templates_are_told_as_on_the_command_line() {
    let server = Server::start();
    let json_of = |args: &[&str]| serde_json::from_str::<Value>(&server.run(args, "")).unwrap();
    assert_eq!(server.get("/api/v1/prompts/task").json(), json_of(&["prompt", "show", "task", "--json"]));
    assert_eq!(server.get("/api/v1/prompts/no-such").code(), (404, "prompt::unknown".to_owned()));
    let asked = json!({"objective": "Open a small bakery in Oslo", "detail": "fast", "offline": true});
    let plan = server.post("/api/v1/plans", &asked).json()["plan"].as_str().unwrap().to_owned();
    server.until(&plan, "blocked");
    let used = server.get("/api/v1/usage/prompts").json();
    assert!(!used["prompts"].as_array().unwrap().is_empty(), "{used}");
    assert_eq!(used, json_of(&["prompt", "stats", "--json"]));
    let asked = server.get(&format!("/api/v1/usage/models?plan={plan}")).json();
    assert_eq!(asked["all"], json_of(&["model", "stats", &plan, "--json"])["all"]);
    let tried = server.post("/api/v1/models/test", &json!({"what": "offline"})).json();
    assert_eq!(tried["ok"], true, "{tried}");
    let checked = server.get("/api/v1/templates/execution-plan/check").json();
    assert_eq!((&checked["ok"], &checked["faults"]), (&json!(true), &json!([])));
}

#[test]
fn a_life_is_decided_again_under_another_policy_and_held_against_a_hash_that_was_kept() {
    let server = Server::start();
    let file = "title: Sum\ntasks:\n  - {id: a, compute: {n: '1'}}\n  - {id: b, inputs: {n: tasks.a.n}, compute: {m: inputs.n * 2}}\n";
    let plan = server.create(file);
    server.until(&plan, "completed");
    let replay = |body: Value| server.post(&format!("/api/v1/plans/{plan}/replay"), &body).json();
    assert_eq!((&replay(json!({}))["same"], &replay(json!({}))["what_if"]), (&json!(true), &json!(false)));
    let other = file.replace("n * 2", "n * 3");
    let imagined = replay(json!({"file": other}));
    assert_eq!((&imagined["same"], &imagined["what_if"]), (&json!(false), &json!(true)), "{imagined}");
    assert_eq!(replay(json!({"revision": 1}))["same"], true);
    assert_eq!(replay(json!({"policy": {"budget": {"cost_usd": 5}}}))["what_if"], true);
    let audit = |head: &str| server.get(&format!("/api/v1/plans/{plan}/audit?head={head}"));
    let head = server.get(&format!("/api/v1/plans/{plan}/audit")).json()["head"].as_str().unwrap().to_owned();
    assert_eq!(audit(&head[..12]).json()["as_kept"], true);
    assert_eq!(audit("0123456789abcdef").json()["as_kept"], false);
    assert_eq!(audit("xyz").code().0, 400);
}

#[test]
fn a_late_plan_is_brought_back_a_plan_broken_down_and_everything_stopped() {
    let server = Server::start();
    let late = "title: Late\ntasks:\n  - {id: build, manual: Build it}\nschedule:\n  start: 2050-01-03\n  deadline: 2050-01-05\n  resources: [{id: ana, rate: 80}]\n  tasks: {build: {estimate: 5d, needs: [ana]}}\n";
    let made = server.post("/api/v1/plans", &json!({"file": late, "start": false}));
    let plan = made.json()["plan"].as_str().unwrap().to_owned();
    let at = |path: &str| format!("/api/v1/plans/{plan}{path}");
    let differs = server.get(&at("/schedule?what_if=task.build.estimate%3D1d"));
    assert_eq!(differs.status, 200, "{}", differs.text());
    assert_eq!(server.get(&at("/schedule?what_if=nonsense")).code().0, 422);
    assert_eq!(server.get(&at("/schedule?health=true")).json()["checks"].as_array().unwrap().len(), 14);
    let ways = server.get(&at("/replan")).json();
    assert!(!ways["ways"].as_array().unwrap().is_empty(), "{ways}");
    let taken = server.post(&at("/replan"), &json!({"take": 1, "why": "it must be"}));
    assert_eq!((taken.status, &taken.json()["revision"]), (200, &json!(2)), "{}", taken.text());
    let revisions = server.get(&at("/revisions")).json();
    assert_eq!(revisions["items"][1]["rationale"], "it must be");
    let made = server.post(&at("/decompose"), &json!({"depth": 1, "budget": 3})).json();
    assert_eq!((&made["outcome"], &made["processed_nodes"]), (&json!("finished"), &json!(["build"])), "{made}");
    assert_eq!(server.post(&at("/decompose"), &json!({"depth": 0})).code().0, 422);
    assert_eq!(server.post(&at("/start"), &json!({})).status, 202);
    server.until(&plan, "blocked");
    let stopped = server.post("/api/v1/plans/cancel", &json!({"why": "fire"})).json();
    assert_eq!(stopped["items"], json!([{"plan": plan, "cancelled": true, "problem": null}]));
    server.until(&plan, "abandoned");
}
