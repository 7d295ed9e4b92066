//! Every documented operation is carried out once, in an order that makes sense, and its answer is held against what the
//! document says about it.

use std::collections::BTreeSet;

use gantry_testkit::model_server::ModelServer;
use serde_json::{Value, json};

use crate::judging::judged_by;
use crate::server::{Answer, Server};

const PLAN: &str = "
title: Everything
objective: To have one of each
hypotheses: [{id: H1, statement: it works, confidence: 0.5}]
policy: {judge: person, recovery: {logic: [escalate]}}
tasks:
  - {id: number, compute: {n: '20 + 1'}}
  - {id: twice, depends_on: [number], compute: {n: inputs.n * 2}, inputs: {n: tasks.number.n}}
  - {id: talk, run: echo hello}
  - {id: first, gate: {checks: [it is fine]}}
  - {id: second, gate: {checks: [it is fine]}}
  - {id: third, depends_on: [talk], gate: {checks: [it is fine]}}
  - {id: fourth, gate: {checks: [it is fine]}}
  - {id: which, ask: {question: 'Which one?', options: [red, blue]}}
  - {id: work, manual: do it}
  - {id: other, manual: do it}
  - {id: stuck, run: 'exit 3'}
  - {id: weighed, run: echo heavy, success_criteria: [it is heavy]}
  - {id: lost, run: 'exit 4'}
schedule: {start: 2050-01-03, tasks: {work: {estimate: 2d}}}
";

/// What is asked, in the words of the document; where exactly; with what; and what the answer is.
type Row = (&'static str, &'static str, Value, u16);

/// `PLAN` is one under way, `WAITS` one that was not begun, `OVER` one that has ended, `GATED` one with nothing but a gate,
/// `KEPT` one with a checkpoint, `DONE` one whose definition of done is to be judged.
fn rows() -> Vec<Row> {
    let no = || Value::Null;
    let why = || json!({"why": "a test"});
    let v1 = |what: &'static str, at: &'static str, body: Value, status: u16| (what, at, body, status);
    vec![
        v1("GET /healthz", "/healthz", no(), 200),
        v1("GET /readyz", "/readyz", no(), 200),
        v1("GET /metrics", "/metrics", no(), 200),
        v1("GET /health", "/health", no(), 200),
        v1("GET /ping", "/ping", no(), 200),
        v1("GET /api/v1/me", "/api/v1/me", no(), 200),
        v1("GET /api/v1/doctor", "/api/v1/doctor", no(), 200),
        v1("GET /api/v1/schema", "/api/v1/schema", no(), 200),
        v1("GET /api/v1/prompts", "/api/v1/prompts", no(), 200),
        v1("GET /api/v1/prompts/{name}", "/api/v1/prompts/task", no(), 200),
        v1("GET /api/v1/usage/prompts", "/api/v1/usage/prompts", no(), 200),
        v1("GET /api/v1/usage/models", "/api/v1/usage/models?plan=PLAN", no(), 200),
        v1("POST /api/v1/models/test", "/api/v1/models/test", json!({"what": "offline"}), 200),
        v1("GET /api/v1/templates/{name}/check", "/api/v1/templates/execution-plan/check", no(), 200),
        v1("GET /api/v1/models", "/api/v1/models", no(), 200),
        v1("GET /api/models", "/api/models", no(), 200),
        v1("GET /api/v1/cost", "/api/v1/cost", no(), 200),
        v1("GET /api/v1/templates", "/api/v1/templates", no(), 200),
        v1("GET /api/v1/templates/{name}", "/api/v1/templates/execution-plan", no(), 200),
        v1("GET /api/v1/search", "/api/v1/search?q=everything", no(), 200),
        v1("GET /api/v1/memory", "/api/v1/memory?keys=http3.key_claims", no(), 200),
        v1("GET /memory", "/memory?keys=http3.key_claims", no(), 200),
        v1("POST /api/v1/plans/validate", "/api/v1/plans/validate", json!({"file": PLAN}), 200),
        v1("POST /api/v1/plans/estimate", "/api/v1/plans/estimate", json!({"file": PLAN}), 200),
        v1("POST /api/v1/plans", "/api/v1/plans", json!({"file": PLAN, "start": false}), 201),
        v1("POST /plans", "/plans", json!({"title": "Seeds", "nodes": [{"id": "a", "compute": {"n": "1"}}]}), 201),
        v1("GET /api/v1/plans", "/api/v1/plans?limit=2", no(), 200),
        v1("POST /chat/message", "/chat/message", json!({"message": "list my plans", "session_id": "s"}), 200),
        v1("GET /chat/sessions", "/chat/sessions", no(), 200),
        v1("GET /chat/sessions/{name}", "/chat/sessions/s", no(), 200),
        v1("GET /plans", "/plans", no(), 200),
        v1("GET /api/plans", "/api/plans", no(), 200),
        v1("GET /api/v1/events", "/api/v1/events?after=0", no(), 200),
        v1("GET /api/v1/gates", "/api/v1/gates", no(), 200),
        v1("GET /api/v1/asks", "/api/v1/asks", no(), 200),
        v1(
            "POST /api/v1/bulk",
            "/api/v1/bulk",
            json!({"topics": ["Build a garden shed"], "depth": 1, "offline": true}),
            202,
        ),
        v1("GET /api/v1/bulk", "/api/v1/bulk", no(), 200),
        v1("GET /api/v1/bulk/{run}", "/api/v1/bulk/RUN", no(), 200),
        v1("GET /api/v1/bulk/{run}/table", "/api/v1/bulk/RUN/table", no(), 200),
        v1("POST /api/v1/bulk/{run}/stop", "/api/v1/bulk/RUN/stop", no(), 200),
        v1("POST /api/v1/bulk/{run}/resume", "/api/v1/bulk/RUN/resume", no(), 202),
        v1("POST /api/v1/templates/{name}/copy", "/api/v1/templates/outline/copy", json!({"name": "ours"}), 201),
        v1("POST /api/v1/plans/dry-run", "/api/v1/plans/dry-run", json!({"file": PLAN}), 200),
        v1("GET /api/v1/diff", "/api/v1/diff?before=WAITS&after=PLAN", no(), 200),
        // What is known about a plan.
        v1("GET /api/v1/plans/{plan}/charts/{name}", "/api/v1/plans/PLAN/charts/gantt", no(), 200),
        v1("GET /api/v1/plans/{plan}/checkpoints", "/api/v1/plans/PLAN/checkpoints", no(), 200),
        v1("GET /api/v1/plans/{plan}", "/api/v1/plans/PLAN", no(), 200),
        v1("GET /plans/{plan}", "/plans/PLAN", no(), 200),
        v1("GET /api/plans/{plan}", "/api/plans/PLAN", no(), 200),
        v1("GET /plans/{plan}/tree", "/plans/PLAN/tree", no(), 200),
        v1("GET /plans/{plan}/subgraph", "/plans/PLAN/subgraph", no(), 200),
        v1("GET /plans/{plan}/results", "/plans/PLAN/results", no(), 200),
        v1("GET /plans/{plan}/execution/summary", "/plans/PLAN/execution/summary", no(), 200),
        v1("GET /api/plans/{plan}/files", "/api/plans/PLAN/files", no(), 200),
        v1("GET /api/plans/{plan}/report", "/api/plans/PLAN/report", no(), 200),
        v1("GET /api/plans/{plan}/fallback-report", "/api/plans/PLAN/fallback-report", no(), 200),
        v1("GET /api/v1/plans/{plan}/report", "/api/v1/plans/PLAN/report?format=json", no(), 200),
        v1("GET /api/v1/plans/{plan}/export", "/api/v1/plans/PLAN/export?format=json", no(), 200),
        v1("GET /api/v1/plans/{plan}/schedule", "/api/v1/plans/PLAN/schedule", no(), 200),
        v1("GET /api/v1/plans/{plan}/replan", "/api/v1/plans/PLAN/replan", no(), 200),
        v1("GET /api/v1/plans/{plan}/score", "/api/v1/plans/PLAN/score", no(), 200),
        v1("POST /api/v1/plans/{plan}/score", "/api/v1/plans/PLAN/score", no(), 200),
        v1("GET /api/v1/plans/{plan}/graph", "/api/v1/plans/PLAN/graph?at=3", no(), 200),
        v1("GET /api/v1/plans/{plan}/state", "/api/v1/plans/PLAN/state?at=3", no(), 200),
        v1("GET /api/v1/plans/{plan}/journal", "/api/v1/plans/PLAN/journal?limit=3", no(), 200),
        v1("GET /api/v1/plans/{plan}/events", "/api/v1/plans/PLAN/events?after=0", no(), 200),
        v1("GET /api/v1/plans/{plan}/audit", "/api/v1/plans/PLAN/audit", no(), 200),
        v1("GET /api/v1/plans/{plan}/definition", "/api/v1/plans/PLAN/definition", no(), 200),
        v1("GET /api/v1/plans/{plan}/revisions", "/api/v1/plans/PLAN/revisions", no(), 200),
        v1("GET /api/v1/plans/{plan}/diff", "/api/v1/plans/PLAN/diff?from=1&to=1", no(), 200),
        v1("GET /api/v1/plans/{plan}/hypotheses", "/api/v1/plans/PLAN/hypotheses", no(), 200),
        v1("GET /api/v1/plans/{plan}/gates", "/api/v1/plans/PLAN/gates", no(), 200),
        v1("GET /api/v1/plans/{plan}/gates/{gate}", "/api/v1/plans/PLAN/gates/first", no(), 200),
        v1("GET /api/v1/plans/{plan}/asks", "/api/v1/plans/PLAN/asks", no(), 200),
        v1("GET /api/v1/plans/{plan}/tasks", "/api/v1/plans/PLAN/tasks", no(), 200),
        v1("GET /api/v1/plans/{plan}/tasks/{task}", "/api/v1/plans/PLAN/tasks/number", no(), 200),
        v1("GET /api/v1/plans/{plan}/artifacts", "/api/v1/plans/PLAN/artifacts", no(), 200),
        v1("GET /api/v1/plans/{plan}/artifacts/{task}/{name}", "/api/v1/plans/PLAN/artifacts/work/proof", no(), 200),
        v1("POST /api/v1/plans/{plan}/replay", "/api/v1/plans/PLAN/replay", no(), 200),
        // What people say to it.
        v1("POST /api/v1/plans/{plan}/notes", "/api/v1/plans/PLAN/notes", json!({"text": "seen"}), 200),
        v1(
            "POST /api/v1/plans/{plan}/tasks/{task}/notes",
            "/api/v1/plans/PLAN/tasks/talk/notes",
            json!({"text": "seen"}),
            200,
        ),
        v1("POST /api/v1/plans/{plan}/checkpoints", "/api/v1/plans/PLAN/checkpoints", json!({"name": "here"}), 200),
        v1(
            "POST /api/v1/plans/{plan}/hypotheses/{name}/evidence",
            "/api/v1/plans/PLAN/hypotheses/H1/evidence",
            json!({"direction": "supports", "evidence": "it was seen to work"}),
            200,
        ),
        v1(
            "POST /api/v1/plans/{plan}/tasks/{task}/edit",
            "/api/v1/plans/PLAN/tasks/number/edit",
            json!({"outputs": {"n": 5}}),
            200,
        ),
        v1(
            "POST /api/v1/plans/{plan}/tasks/{task}/decompose",
            "/api/v1/plans/PLAN/tasks/work/decompose",
            json!({"expand_depth": 1}),
            200,
        ),
        v1(
            "POST /api/v1/plans/{plan}/decompose",
            "/api/v1/plans/WAITS/decompose",
            json!({"expand_depth": 1, "node_budget": 3}),
            200,
        ),
        v1("POST /tasks/{task}/decompose", "/tasks/other/decompose", json!({"plan_id": 1, "expand_depth": 1}), 200),
        v1("POST /api/v1/plans/{plan}/tasks/{task}/retry", "/api/v1/plans/PLAN/tasks/talk/retry", why(), 200),
        v1("POST /api/plans/{plan}/tasks/{task}/retry", "/api/plans/PLAN/tasks/talk/retry", no(), 200),
        v1("POST /plans/{plan}/tasks/{task}/run", "/plans/PLAN/tasks/talk/run", json!({}), 202),
        v1("POST /api/v1/plans/{plan}/tasks/{task}/fail", "/api/v1/plans/PLAN/tasks/other/fail", why(), 200),
        v1(
            "POST /api/v1/plans/{plan}/tasks/{task}/resolve",
            "/api/v1/plans/PLAN/tasks/stuck/resolve",
            json!({"how": "skip"}),
            200,
        ),
        v1("POST /api/v1/plans/{plan}/resolve", "/api/v1/plans/PLAN/resolve", json!({"how": "skip"}), 200),
        v1(
            "POST /api/v1/plans/{plan}/tasks/{task}/judge",
            "/api/v1/plans/PLAN/tasks/weighed/judge",
            json!({"verdicts": [{"check": "it is heavy", "holds": true, "because": "seen"}]}),
            200,
        ),
        v1(
            "POST /api/v1/plans/{plan}/asks/{task}/answer",
            "/api/v1/plans/PLAN/asks/which/answer",
            json!({"answer": "red"}),
            200,
        ),
        v1("POST /api/v1/plans/{plan}/gates/{gate}/approve", "/api/v1/plans/PLAN/gates/first/approve", json!({}), 200),
        v1(
            "POST /plans/{plan}/gates/{gate}/approve",
            "/plans/PLAN/gates/second/approve",
            json!({"rationale": "seen"}),
            200,
        ),
        v1(
            "POST /api/v1/plans/{plan}/gates/{gate}/needs-changes",
            "/api/v1/plans/PLAN/gates/third/needs-changes",
            json!({"rationale": "say it louder"}),
            200,
        ),
        v1(
            "POST /api/v1/plans/{plan}/reviews",
            "/api/v1/plans/PLAN/reviews",
            json!({"gates": ["fourth"], "decision": "approve"}),
            200,
        ),
        v1(
            "POST /api/v1/plans/{plan}/gates/{gate}/reject",
            "/api/v1/plans/GATED/gates/only/reject",
            json!({"rationale": "no"}),
            200,
        ),
        v1(
            "POST /api/v1/plans/{plan}/revisions",
            "/api/v1/plans/PLAN/revisions",
            json!({"file": PLAN.replace("Everything", "More"), "rationale": "a better name"}),
            200,
        ),
        v1("POST /api/v1/plans/{plan}/tasks", "/api/v1/plans/PLAN/tasks", json!({"name": "One more"}), 201),
        v1(
            "POST /api/v1/plans/{plan}/tasks/{task}/change",
            "/api/v1/plans/PLAN/tasks/one-more/change",
            json!({"instruction": "Do it well"}),
            200,
        ),
        v1(
            "POST /api/v1/plans/{plan}/tasks/{task}/move",
            "/api/v1/plans/PLAN/tasks/one-more/move",
            json!({"anchor_task_id": "number", "anchor_position": "after"}),
            200,
        ),
        v1("DELETE /api/v1/plans/{plan}/tasks/{task}", "/api/v1/plans/PLAN/tasks/one-more", no(), 200),
        v1("POST /api/v1/plans/{plan}/revisions/undo", "/api/v1/plans/PLAN/revisions/undo", no(), 200),
        v1("POST /api/v1/plans/{plan}/snapshots", "/api/v1/plans/PLAN/snapshots", json!({"note": "seen"}), 201),
        v1("GET /api/v1/plans/{plan}/snapshots", "/api/v1/plans/PLAN/snapshots", no(), 200),
        v1("POST /api/v1/plans/{plan}/replan", "/api/v1/plans/WAITS/replan", json!({"take": 1}), 200),
        v1("POST /api/v1/plans/{plan}/fork", "/api/v1/plans/PLAN/fork", json!({"at": 3}), 201),
        v1("POST /api/v1/plans/{plan}/pin", "/api/v1/plans/PLAN/pin", no(), 204),
        v1("DELETE /api/v1/plans/{plan}/pin", "/api/v1/plans/PLAN/pin", no(), 204),
        v1("POST /api/v1/plans/{plan}/pause", "/api/v1/plans/PLAN/pause", why(), 200),
        v1("POST /api/v1/plans/{plan}/resume", "/api/v1/plans/PLAN/resume", no(), 202),
        v1("POST /api/plans/{plan}/resume", "/api/plans/PLAN/resume", no(), 202),
        v1("POST /api/v1/plans/{plan}/start", "/api/v1/plans/WAITS/start", no(), 202),
        v1("POST /api/v1/plans/{plan}/cancel", "/api/v1/plans/PLAN/cancel", json!({"why": "enough"}), 200),
        v1("POST /api/v1/plans/{plan}/restore", "/api/v1/plans/KEPT/restore", json!({"to": "start"}), 200),
        v1(
            "POST /api/v1/plans/{plan}/judge",
            "/api/v1/plans/DONE/judge",
            json!({"verdicts": [{"check": "it is pretty", "holds": true}]}),
            200,
        ),
        v1("POST /api/v1/plans/{plan}/undo", "/api/v1/plans/OVER/undo", json!({"why": "a test"}), 202),
        v1("DELETE /api/v1/plans/{plan}", "/api/v1/plans/PLAN", no(), 204),
        v1("DELETE /api/plans/{plan}", "/api/plans/GATED", no(), 204),
        v1(
            "POST /api/plans",
            "/api/plans",
            json!({"prompt": "Open a small bakery in Oslo before Christmas", "speed_vs_detail": "fast_but_skip_details"}),
            202,
        ),
        v1("POST /api/v1/plans/cancel", "/api/v1/plans/cancel", why(), 200),
        // Who may do what; after the first account nobody is known without one.
        v1("GET /api/v1/audit", "/api/v1/audit", no(), 200),
        v1("GET /api/v1/accounts", "/api/v1/accounts", no(), 200),
        v1("DELETE /api/v1/sessions/current", "/api/v1/sessions/current", no(), 204),
        v1(
            "POST /api/v1/accounts",
            "/api/v1/accounts",
            json!({"name": "ana", "role": "admin", "password": "a long password"}),
            201,
        ),
        v1("POST /api/v1/sessions", "/api/v1/sessions", json!({"name": "ana", "password": "a long password"}), 204),
        v1("DELETE /api/v1/accounts/{name}", "/api/v1/accounts/ana", no(), 204),
    ]
}

/// What an answer says that the document does not allow.
fn faults(document: &Value, operation: &Value, answer: &Answer) -> Option<String> {
    let Some(said) = operation["responses"].get(answer.status.to_string()) else {
        return Some(format!("the status {} is not documented: {}", answer.status, answer.text()));
    };
    let Some(content) = said["content"].as_object() else {
        return (!answer.body.is_empty()).then(|| format!("there is a body: {}", answer.text()));
    };
    let media = answer.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default().to_owned();
    let Some(form) = content.get(&media) else { return Some(format!("`{media}` is not documented")) };
    if media != "application/json" {
        return None;
    }
    // References in the document count from its root.
    let schema = json!({"components": document["components"], "allOf": [form["schema"]]});
    let validator = jsonschema::validator_for(&schema).unwrap();
    let value = answer.json();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    (!errors.is_empty()).then(|| errors.join("; "))
}

#[test]
fn every_documented_operation_is_done_and_answers_as_its_document_says() {
    let judge = ModelServer::start();
    let server = judged_by(&judge);
    let plan = server.create(PLAN);
    let file = "title: Waits\ntasks: [{id: a, manual: Do it}]\nschedule:\n  start: 2050-01-03\n  deadline: 2050-01-05\n  resources: [{id: ana, rate: 80}]\n  tasks: {a: {estimate: 5d, needs: [ana]}}\n";
    let waits = server.post("/api/v1/plans", &json!({"file": file, "start": false}));
    let waits = waits.json()["plan"].as_str().unwrap().to_owned();
    let over = server.create("title: Over\ntasks: [{id: a, compute: {n: '1'}}]\n");
    let gated = server.create("title: Gated\ntasks: [{id: only, gate: {checks: [fine]}}]\n");
    let kept = server.create("title: Kept\ntasks: [{id: mark, checkpoint: start}]\n");
    let done_when = server.create(
        "title: Done\ndone_when: [it is pretty]\npolicy: {judge: person}\ntasks: [{id: a, compute: {n: '1'}}]\n",
    );
    server.until(&over, "completed");
    server.until(&kept, "completed");
    server.until(&gated, "blocked");
    server.until(&done_when, "blocked");
    server.until(&plan, "blocked");
    let proof = json!({"evidence": {"proof": "a picture of it"}});
    let mut done = BTreeSet::new();
    let mut wrong = Vec::new();
    let document = server.get("/api/v1/openapi.json").json();
    let mut check = |what: &str, answer: &Answer, status: u16| {
        let (method, path) = what.split_once(' ').unwrap();
        let operation = &document["paths"][path][method.to_lowercase()];
        if operation.is_null() {
            wrong.push(format!("{what} is not documented"));
        } else if answer.status != status {
            wrong.push(format!("{what}: {} and not {status}: {}", answer.status, answer.text()));
        } else if let Some(fault) = faults(&document, operation, answer) {
            wrong.push(format!("{what}: {fault}"));
        }
        done.insert(what.to_owned());
    };
    let taken_in = server.get(&format!("/api/v1/plans/{over}/export?format=zip")).body;
    let taken_in = server.send_bytes("/api/v1/plans/import", "application/zip", &taken_in);
    let hands_in = "POST /api/v1/plans/{plan}/tasks/{task}/done";
    check(hands_in, &server.post(&format!("/api/v1/plans/{plan}/tasks/work/done"), &proof), 200);
    check("POST /api/v1/plans/import", &taken_in, 201);
    let (mut key, mut run) = (String::new(), String::new());
    for (what, at, body, status) in rows() {
        let at = at
            .replace("RUN", &run)
            .replace("PLAN", &plan)
            .replace("WAITS", &waits)
            .replace("OVER", &over)
            .replace("GATED", &gated)
            .replace("KEPT", &kept)
            .replace("DONE", &done_when);
        let method = what.split(' ').next().unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers = [("Content-Type", "application/json"), ("Cookie", key.as_str())];
        let answer =
            if at.contains("/events") { server.beginning(&at) } else { server.send(method, &at, &headers, &body) };
        if let Some(cookie) = answer.header("set-cookie") {
            cookie.split(';').next().unwrap().clone_into(&mut key);
        }
        check(what, &answer, status);
        if what == "POST /api/v1/bulk" {
            answer.json()["run"].as_str().unwrap().clone_into(&mut run);
        }
        // What follows from what was said is done before the next is said.
        server.settled(&plan, &key);
    }
    let all = document["paths"].as_object().unwrap().iter().flat_map(|(path, item)| {
        item.as_object().unwrap().keys().map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    wrong.extend(all.filter(|what| !done.contains(what)).map(|what| format!("{what} has no contract")));
    let ids = document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let ids: Vec<&str> = ids.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "each has a name of its own: {ids:?}");
    assert_eq!(wrong, Vec::<String>::new());
}

/// A body that is right for an operation as far as it goes.
fn body_for(path: &str, document: &Value, operation: &Value) -> Value {
    // What the document cannot say is needed.
    match path.rsplit('/').next().unwrap() {
        "edit" => return json!({"outputs": {"n": 1}}),
        "fail" => return json!({"why": "a test"}),
        "revisions" => return json!({"file": "a", "rationale": "a test"}),
        "reject" | "needs-changes" => return json!({"rationale": "a test"}),
        "evidence" => return json!({"direction": "supports", "evidence": "a"}),
        "replan" => return json!({"take": 1}),
        "resolve" => return json!({"how": "skip"}),
        "judge" => return json!({"verdicts": []}),
        "reviews" => return json!({"gates": ["a"], "decision": "approve"}),
        _ => {}
    }
    let shape = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
    let shape = shape.as_str().map(|name| &document["components"]["schemas"][name.rsplit('/').next().unwrap()]);
    let needed = shape.and_then(|shape| shape["required"].as_array()).into_iter().flatten();
    let value = |name: &Value| if name == "verdicts" { json!([]) } else { json!("a") };
    Value::Object(needed.map(|name| (name.as_str().unwrap().to_owned(), value(name))).collect())
}

/// What cannot be done is a problem with a status, a code and words, whatever is asked.
#[test]
fn every_documented_operation_on_a_plan_that_is_not_there_is_a_problem() {
    let server = Server::start();
    let document = server.get("/api/v1/openapi.json").json();
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().unwrap().iter().filter(|(path, _)| path.contains("{plan}")) {
        let at =
            path.replace("{plan}", "no-such-plan").replace("{task}", "a").replace("{gate}", "a").replace("{name}", "a");
        for (method, operation) in item.as_object().unwrap() {
            let body = body_for(path, &document, operation).to_string();
            let answer = server.send(&method.to_uppercase(), &at, &[("Content-Type", "application/json")], &body);
            assert_eq!(answer.code(), (404, "store::not-found".to_owned()), "{method} {at}: {}", answer.text());
            asked += 1;
        }
    }
    assert!(asked >= 50, "{asked}");
}
