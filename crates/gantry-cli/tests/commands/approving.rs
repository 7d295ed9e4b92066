//! Calls that someone has to approve, from the command line.

use gantry_testkit::model_server::{Heard, ModelServer, Turn};
use serde_json::json;

use super::kit::Kit;
use super::serving::{models, step, words};

const PLAN: &str = "id: tidy\ntitle: Tidy up\npolicy: {agent_planning: true, tools: {approve: [files.*]}}\ntasks:\n  - id: work\n    agent: {goal: Change the file., tools: [files.write, shell]}\n";

/// Looks, changes a file, and is finished once it has seen what came of that.
fn changes_a_file(heard: &Heard) -> Turn {
    let said = words(heard);
    if said.contains("refused: ") {
        step("finish", json!({}), "I was not allowed to.")
    } else if said.contains("changed: ") {
        step("finish", json!({}), "It is changed.")
    } else if said.contains("exit_code: 0") {
        step("files.write", json!({"path": "a.txt", "content": "new\n"}), "")
    } else {
        step("shell", json!({"command": "echo looked >> log"}), "")
    }
}

/// A kit in which an agent waits for approval.
fn waiting(server: &ModelServer) -> Kit {
    server.otherwise(changes_a_file);
    let kit = Kit::new();
    kit.write("gantry.toml", models(server));
    kit.write("plan.yaml", PLAN);
    kit.write("a.txt", "old\n");
    let said = kit.gantry(&["run", "plan.yaml"]);
    assert!(said.ends_with("[exit 4]"), "{said}");
    assert!(said.contains("waits for approval: `files.write`: change `a.txt`"), "{said}");
    assert!(said.contains("gantry ask answer tidy work approve"), "{said}");
    kit
}

#[test]
fn what_an_agent_would_do_is_shown_and_done_after_someone_approved_it() {
    let server = ModelServer::start();
    let kit = waiting(&server);
    assert_eq!(kit.read("a.txt"), b"old\n");
    insta::assert_snapshot!(kit.gantry(&["ask", "list"]), @"
    1 tidy work: `files.write`: change `a.txt`
        | change `a.txt`
        |
        | --- a/a.txt
        | +++ b/a.txt
        | @@ -1 +1 @@
        | -old
        | +new
        one of: approve, refuse
    [exit 0]
    ");
    let listed = kit.json("ask list --json");
    assert_eq!(listed[0]["options"], json!(["approve", "refuse"]), "{listed}");
    assert!(listed[0]["preview"].as_str().unwrap().contains("-old\n+new"), "{listed}");
    let requests = server.counts().requests;
    let said = kit.gantry(&["ask", "answer", "tidy", "work", "approve"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    let said = kit.gantry(&["resume", "tidy"]);
    assert!(said.contains("It is changed.") && said.ends_with("[exit 0]"), "{said}");
    assert_eq!(kit.read("a.txt"), b"new\n");
    assert_eq!(kit.read("log"), b"looked\n", "what was done before is not done again");
    assert_eq!(server.counts().requests, requests + 1, "what was answered before is not asked for again");
    let log = kit.gantry(&["log", "tidy"]);
    assert!(log.contains("ana answered: approve"), "{log}");
    assert!(kit.gantry(&["replay", "tidy"]).ends_with("[exit 0]"));
    assert!(kit.gantry(&["audit", "tidy"]).ends_with("[exit 0]"));
}

#[test]
fn a_refusal_with_its_reason_goes_back_to_the_agent() {
    let server = ModelServer::start();
    let kit = waiting(&server);
    let said = kit.gantry(&["ask", "answer", "tidy", "work", "refuse", "--why", "it is mine"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    let said = kit.gantry(&["resume", "tidy"]);
    assert!(said.contains("I was not allowed to.") && said.ends_with("[exit 0]"), "{said}");
    assert_eq!(kit.read("a.txt"), b"old\n");
    assert!(words(server.heard().last().unwrap()).contains("and refused: it is mine"));
    assert!(kit.gantry(&["log", "tidy"]).contains("ana answered: refuse: it is mine"));
}

#[test]
fn answers_that_approve_nothing_are_refused_and_others_can_still_decide() {
    let server = ModelServer::start();
    let kit = waiting(&server);
    insta::assert_snapshot!(kit.session(&["ask answer tidy work yes", "ask answer tidy work approve --why because"]), @"
    $ gantry ask answer tidy work yes
    --- talk
    error: `yes` is no answer to `work`; choose one of: approve, refuse
    [exit 5]
    $ gantry ask answer tidy work approve --why because
    --- talk
    error: only a refusal takes a reason

    hint: leave out `--why`, or answer `refuse`
    [exit 2]
    ");
    let status = kit.gantry(&["status", "tidy"]);
    assert!(status.contains("approval: `files.write`: change `a.txt`"), "{status}");
    assert!(kit.gantry(&["task", "resolve", "tidy", "work", "fail"]).ends_with("[exit 0]"));
    assert_eq!(kit.read("a.txt"), b"old\n");
}

#[test]
fn an_approval_survives_kill_9_and_the_call_is_made_once() {
    for point in ["before_append:1", "after_append:1", "call_begun:1", "call_made:1", "call_ended:1", "after_effect:1"]
    {
        let server = ModelServer::start();
        let kit = waiting(&server);
        assert!(kit.gantry(&["ask", "answer", "tidy", "work", "approve"]).ends_with("[exit 0]"));
        assert!(kit.dies(&[("GANTRY_CRASH_AT", point)], "resume tidy"), "{point}");
        let said = kit.gantry(&["resume", "tidy"]);
        assert!(said.ends_with("[exit 0]"), "{point}: {said}");
        assert_eq!(kit.read("a.txt"), b"new\n", "{point}");
        assert_eq!(kit.read("log"), b"looked\n", "{point}");
    }
}

#[test]
fn a_process_that_dies_while_it_asks_asks_again() {
    let server = ModelServer::start();
    server.otherwise(changes_a_file);
    let kit = Kit::new();
    kit.write("gantry.toml", models(&server));
    kit.write("plan.yaml", PLAN);
    kit.write("a.txt", "old\n");
    assert!(kit.dies(&[("GANTRY_CRASH_AT", "after_effect:1")], "run plan.yaml"));
    let said = kit.gantry(&["resume", "tidy"]);
    assert!(said.contains("waits for approval") && said.ends_with("[exit 4]"), "{said}");
    assert_eq!(kit.read("a.txt"), b"old\n");
    assert_eq!(kit.read("log"), b"looked\n");
    assert_eq!(server.counts().requests, 2);
}
