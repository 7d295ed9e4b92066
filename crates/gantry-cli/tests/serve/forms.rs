//! Every form of a plan's pages, sent as a browser without scripts sends it, and what stands in the journal then.

use serde_json::json;

use crate::pages::form;
use crate::server::Server;

const FORMS: &str = "
title: Forms
hypotheses: [{id: H1, statement: it works, confidence: 0.5}]
tasks:
  - {id: made, compute: {n: '20 + 1'}}
  - {id: mark, checkpoint: start}
  - {id: first, gate: {checks: [fine]}}
  - {id: second, gate: {checks: [fine]}}
  - {id: third, gate: {checks: [fine], evidence: [paper]}}
  - {id: draft, compute: {text: \"'Dear all'\"}}
  - {id: fourth, depends_on: [draft], gate: {checks: [fine]}}
  - {id: fifth, gate: {checks: [fine]}}
  - {id: which, ask: {question: 'Which one?', options: [red, blue]}}
  - {id: work, manual: do it}
  - {id: other, manual: do it}
schedule: {start: 2050-01-03, tasks: {work: {estimate: 2d}}}
";

/// The page with the form, the button that sends it, what else it says, and what stands in the journal then. `REVISION` is
/// the one that the page shows.
const ROWS: [(&str, &str, &str, &str); 19] = [
    ("", "note", "text=seen+by+all", "note_added"),
    ("/tasks/made", "note", "task=made&text=seen", "note_added"),
    ("/tasks/made", "edit", "task=made&name=n&value=5&why=recount", "output_edited"),
    ("/tasks/made", "retry", "task=made", "task_reopened"),
    ("/gates", "approve", "gate=first&gate=second&why=both", "gate_decided"),
    ("/gates", "approve", "gate=third&evidence=paper", "gate_decided"),
    ("/gates", "needs-changes", "gate=fourth&why=warmer", "gate_decided"),
    ("/gates", "answer", "task=which&answer=red", "person_answered"),
    ("/tasks/work", "done", "task=work&name=km&value=3", "task_completed"),
    ("/hypotheses", "hypothesis", "hypothesis=H1&text=a+trial+worked&direction=supports", "evidence_added"),
    ("/revisions", "snapshot", "text=before+the+change", "note_added"),
    ("/tasks", "add-task", "name=Buy+nails&base=REVISION", "plan_revised"),
    (
        "/tasks/buy-nails",
        "change-task",
        "task=buy-nails&name=Buy+screws&instruction=&owner=&dependencies=&base=REVISION",
        "plan_revised",
    ),
    ("/tasks/buy-nails", "move-task", "task=buy-nails&where=before&anchor=made&base=REVISION", "plan_revised"),
    ("/revisions", "take-back", "revision=REVISION", "plan_revised"),
    ("/tasks/buy-nails", "delete-task", "task=buy-nails&base=REVISION", "plan_revised"),
    ("", "pause", "", "plan_paused"),
    ("", "start", "", "plan_resumed"),
    ("/tasks/other", "fail", "task=other&why=ill", "task_failed"),
];

fn journal(server: &Server, plan: &str) -> Vec<String> {
    let entries = server.get(&format!("/api/v1/plans/{plan}/journal?limit=1000")).json();
    entries["items"].as_array().unwrap().iter().map(|entry| entry["event"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_form_of_a_plan_does_what_it_says() {
    let server = Server::start();
    let plan = server.create(FORMS);
    server.until(&plan, "blocked");
    for (page, what, said, event) in ROWS {
        let before = journal(&server, &plan).len();
        let shown = server.get(&format!("/p/{plan}{page}")).text();
        assert!(
            shown.contains(&format!("name=\"do\" value=\"{what}\"")) || what == "answer",
            "{what} on {page}: {shown}"
        );
        let now = server.get(&format!("/api/v1/plans/{plan}")).json()["revision"].to_string();
        let said = said.replace("REVISION", &now);
        let (status, to) = form(&server, &format!("/p/{plan}/do"), &format!("do={what}&{said}"));
        assert_eq!(status, 303, "{what}: {to}");
        let since = journal(&server, &plan).split_off(before);
        assert!(since.iter().any(|one| one == event), "{what}: {since:?}");
        assert_eq!(server.get(&to).status, 200, "{what} leads somewhere");
        server.settled(&plan, "");
    }
    let task = server.get(&format!("/api/v1/plans/{plan}/tasks/work")).json();
    assert_eq!(task["outputs"]["km"], 3, "{task}");
    // Another life, which is given up.
    let (status, to) = form(&server, &format!("/p/{plan}/do"), "do=fork&at=5");
    assert_eq!(status, 303, "{to}");
    assert_ne!(to, format!("/p/{plan}"));
    let fork = to.trim_start_matches("/p/").to_owned();
    assert!(server.get(&to).text().contains("value=\"cancel\""));
    assert_eq!(form(&server, &format!("{to}/do"), "do=cancel&why=enough").0, 303);
    server.until(&fork, "abandoned");
}

#[test]
fn a_gate_is_rejected_work_is_taken_back_and_a_folder_is_brought_back_with_forms() {
    let server = Server::start();
    let gated = server.create("title: Gated\ntasks: [{id: only, gate: {checks: [fine]}}]\n");
    server.until(&gated, "blocked");
    let act = |plan: &str, body: &str| form(&server, &format!("/p/{plan}/do"), body).0;
    assert_eq!(act(&gated, "do=reject&gate=only&why=no"), 303);
    assert!(journal(&server, &gated).contains(&"gate_decided".to_owned()));
    let done = server.create(
        "title: Done\ntasks:\n  - {id: mark, checkpoint: start}\n  - {id: write, depends_on: [mark], run: 'echo x > made', undo: {run: 'rm made'}}\n",
    );
    server.until(&done, "completed");
    let point = server.get(&format!("/p/{done}/artifacts")).text();
    let hash = point.split("name=\"to\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    std::fs::write(server.folder().join("made"), "y").unwrap();
    assert_eq!(act(&done, &format!("do=restore&to={hash}")), 303);
    assert!(!server.folder().join("made").exists(), "it was not there at the checkpoint");
    std::fs::write(server.folder().join("made"), "x").unwrap();
    assert!(server.get(&format!("/p/{done}")).text().contains("value=\"undo\""));
    assert_eq!(act(&done, "do=undo&why=enough"), 303);
    while server.folder().join("made").exists() {
        std::thread::yield_now();
    }
}

#[test]
fn a_form_decides_about_the_plan_that_was_looked_at_and_no_other() {
    let server = Server::start();
    let file = "title: Pay\ntasks:\n  - {id: g, gate: {checks: [fine]}}\n  - {id: h, gate: {checks: [fine]}}\n";
    let plan = server.create(file);
    server.until(&plan, "blocked");
    let page = server.get(&format!("/p/{plan}/gates")).text();
    assert!(page.matches("name=\"revision\" value=\"1\"").count() == 3, "each gate, and several at once: {page}");
    assert!(server.get("/inbox").text().contains("name=\"revision\" value=\"1\""));
    let other = file.replace("[fine]", "['fine, AND pay 1 million']");
    let revised = server.post(&format!("/api/v1/plans/{plan}/revisions"), &json!({"file": other, "rationale": "more"}));
    assert_eq!(revised.status, 200, "{}", revised.text());
    for said in ["gate=g&do=approve&why=seen&revision=1", "gate=g&gate=h&do=approve&why=seen&revision=1"] {
        let (status, page) = form(&server, &format!("/p/{plan}/do"), said);
        assert_eq!(status, 412, "{page}");
        assert_eq!(form(&server, "/inbox", &format!("plan={plan}&{said}")).0, 412);
    }
    let review = |revision: u32| json!({"gates": ["g"], "decision": "approve", "revision": revision});
    let reviews = format!("/api/v1/plans/{plan}/reviews");
    assert_eq!(server.post(&reviews, &review(1)).code(), (412, "life::old-revision".to_owned()));
    assert_eq!(server.post(&reviews, &review(7)).code(), (422, "gate::no-revision".to_owned()));
    let gates = server.get(&format!("/api/v1/plans/{plan}/gates")).json();
    assert_eq!((gates["items"].as_array().unwrap().len(), &gates["items"][0]["plan_revision"]), (2, &json!(2)));
    assert_eq!(form(&server, &format!("/p/{plan}/do"), "gate=g&gate=h&do=approve&revision=2").0, 303);
    server.until(&plan, "completed");
}

#[test]
fn an_output_is_changed_only_from_what_was_shown() {
    let server = Server::start();
    let plan = server.create("title: Sums\ntasks: [{id: one, compute: {n: '1'}}]\n");
    server.until(&plan, "completed");
    let page = server.get(&format!("/p/{plan}/tasks/one")).text();
    let tag = page.split("name=\"tag\" value=\"").nth(1).unwrap().split("\">").next().unwrap();
    let said = format!("do=edit&task=one&name=n&value=5&tag={}", tag.replace("&quot;", "%22"));
    assert_eq!(form(&server, &format!("/p/{plan}/do"), &said).0, 303);
    let (status, page) = form(&server, &format!("/p/{plan}/do"), &said.replace("value=5", "value=6"));
    assert!(status == 412 && page.contains("it has changed since you looked"), "{status} {page}");
    assert_eq!(server.get(&format!("/api/v1/plans/{plan}/tasks/one")).json()["outputs"]["n"], 5);
}

#[test]
fn what_is_wrong_with_a_file_is_said_beside_the_file_and_nothing_is_lost() {
    let server = Server::start();
    let (status, page) = form(&server, "/new", "file=title%3A+Odd%0Atasks%3A%0A++-+%7Bid%3A+a%2C+rnu%3A+x%7D%0A");
    assert_eq!(status, 422);
    assert!(page.contains("rnu: x}") && page.contains("<textarea"), "what was written is there: {page}");
    assert!(page.contains("line 3: ") && page.contains("rnu"), "what is wrong with it: {page}");
    let (status, page) = form(&server, "/new", "objective=Open+a+bakery+in+Oslo&detail=odd&context=The+oven+is+old");
    assert!(status == 422 && page.contains("Open a bakery in Oslo</textarea>"), "{status} {page}");
}

#[test]
fn whoever_may_only_look_is_shown_no_button_and_who_is_refused_is_still_signed_in() {
    let server = Server::start();
    let plan = server.create(FORMS);
    server.until(&plan, "blocked");
    server.run(&["access", "user", "vera", "--role", "viewer"], "a long password\n");
    let signed = server.post("/api/v1/sessions", &json!({"name": "vera", "password": "a long password"}));
    let cookie = signed.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let get = |path: &str| server.send("GET", path, &[("Cookie", &cookie), ("Accept", "text/html")], "").text();
    let pages = ["", "/graph", "/timeline", "/tasks", "/gates", "/artifacts", "/revisions", "/hypotheses", "/journal"];
    let mut paths: Vec<String> = pages.iter().map(|page| format!("/p/1{page}")).collect();
    paths.extend(
        ["/p/1/tasks/made", "/p/1/tasks/first", "/inbox", "/new", "/", "/templates/outline"].map(str::to_owned),
    );
    for path in paths {
        let page = get(&path);
        assert!(page.contains("vera (viewer)"), "{path}: {page}");
        let forms: Vec<&str> = page.split("<form").skip(1).map(|form| form.split("</form>").next().unwrap()).collect();
        let acts = forms.iter().filter(|form| form.contains("method=\"post\"") && form.contains("<button"));
        let acts: Vec<_> = acts.filter(|form| !form.contains("/sign-out")).collect();
        assert!(acts.is_empty(), "{path}: {acts:?}");
    }
    let headers =
        [("Cookie", &*cookie), ("Accept", "text/html"), ("Content-Type", "application/x-www-form-urlencoded")];
    let refused = server.send("POST", "/p/1/do", &headers, "do=start");
    assert!(refused.status == 403 && refused.text().contains("vera (viewer)"), "{}", refused.text());
}
