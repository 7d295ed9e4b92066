//! Calls that someone has to approve first.

use gantry_core::effect::Failure;
use gantry_core::id::AttemptNo;
use gantry_core::policy::FailureClass;
use gantry_runners::{Runners, Work};
use serde_json::{Value, json};

use crate::mcp::{knowing, letting_this_program_run, program, server};
use crate::minds::{Minds, agent};
use crate::world::{guard, shell, tool};

fn step(tool: &str, args: Value) -> String {
    json!({"thought": "as the goal says", "tool": tool, "args": args, "answer": ""}).to_string()
}

fn finish(answer: &str) -> String {
    json!({"thought": "it is done", "tool": "finish", "args": {}, "answer": answer}).to_string()
}

/// Minds whose policy has these tools approved.
fn careful(tools: Runners, approve: &[&str]) -> Minds {
    let mut minds = Minds::with(tools);
    minds.under(|policy| policy.tools.approve = approve.iter().map(|name| (*name).to_owned()).collect());
    minds
}

/// The next attempt, after someone has said this.
fn after(work: &Work, said: &str) -> Work {
    Work { attempt: AttemptNo(work.attempt.0 + 1), feedback: Some(said.to_owned()), ..work.clone() }
}

fn held(end: Result<gantry_core::input::Success, Failure>) -> Failure {
    let failure = end.expect_err("someone has to be asked");
    assert!(failure.is_needs_approval() && failure.class == FailureClass::Policy, "{failure:?}");
    failure
}

#[tokio::test]
async fn a_call_is_shown_before_and_made_once_after_someone_approved_it() {
    let minds = careful(Runners::standard(guard()), &["files.*"]);
    minds.world.write("a.txt", "old\n");
    minds.says(&step("shell", json!({"command": "echo once >> log"})));
    minds.says(&step("files.write", json!({"path": "a.txt", "content": "new\n"})));
    let work = agent(json!({"goal": "Write it.", "tools": ["shell", "files.write"]}));
    let failure = held(minds.run(&work).await.end);
    assert!(failure.message.starts_with("`files.write`: change `a.txt`"), "{failure:?}");
    let preview = String::from_utf8(minds.world.memory.blob(&failure.evidence, "preview")).unwrap();
    assert!(preview.contains("-old\n+new"), "{preview}");
    assert_eq!(minds.world.read("a.txt"), "old\n", "nothing happens before someone approves it");
    let asked = minds.asked();
    minds.says(&finish("done"));
    let ended = minds.run(&after(&work, "approve")).await;
    assert_eq!(ended.end.unwrap().outputs["text"], "done");
    assert_eq!(minds.asked(), asked + 1, "what the model said before is not asked for again");
    assert_eq!(minds.world.read("a.txt"), "new\n");
    assert_eq!(minds.world.read("log"), "once\n", "what was done before is not done again");
}

#[tokio::test]
async fn a_refusal_and_its_reason_are_what_the_agent_sees() {
    let minds = careful(Runners::standard(guard()), &["shell"]);
    minds.says(&step("shell", json!({"command": "rm -rf ."})));
    let work = agent(json!({"goal": "Tidy up.", "tools": ["shell"]}));
    held(minds.run(&work).await.end);
    minds.says(&finish("It may not be done."));
    let ended = minds.run(&after(&work, "refuse: that is everything")).await;
    assert_eq!(ended.end.unwrap().outputs["text"], "It may not be done.");
    let heard = minds.heard_last();
    assert!(
        heard.contains("someone was asked whether `shell` may do this, and refused: that is everything"),
        "{heard}"
    );
    let rows = minds.diary.rows.lock().unwrap();
    let call = rows.iter().find(|row| row.kind == "tool").unwrap();
    assert!(call.answer.as_ref().unwrap()["refused"].as_str().unwrap().ends_with("that is everything"), "{call:?}");
}

#[tokio::test]
async fn each_call_is_approved_by_itself() {
    let minds = careful(Runners::standard(guard()), &["shell"]);
    minds.says(&step("shell", json!({"command": "echo one >> log"})));
    minds.says(&step("shell", json!({"command": "echo two >> log"})));
    let work = agent(json!({"goal": "Count.", "tools": ["shell"]}));
    held(minds.run(&work).await.end);
    let second = after(&work, "approve");
    let failure = held(minds.run(&second).await.end);
    assert!(failure.message.contains("echo two"), "{failure:?}");
    assert_eq!(minds.world.read("log"), "one\n");
    minds.says(&finish("done"));
    assert!(minds.run(&after(&second, "approve")).await.end.is_ok());
    assert_eq!(minds.world.read("log"), "one\ntwo\n");
    assert_eq!(minds.asked(), 3);
}

#[tokio::test]
async fn when_what_would_be_done_has_changed_someone_is_asked_again() {
    let minds = careful(Runners::standard(guard()), &["files.write"]);
    minds.world.write("a.txt", "old\n");
    minds.says(&step("files.write", json!({"path": "a.txt", "content": "new\n"})));
    let work = agent(json!({"goal": "Write it.", "tools": ["files.write"]}));
    held(minds.run(&work).await.end);
    minds.world.write("a.txt", "somebody else's\n");
    let second = after(&work, "approve");
    let failure = held(minds.run(&second).await.end);
    assert!(failure.message.contains("has changed since it was approved"), "{failure:?}");
    assert_eq!(minds.world.read("a.txt"), "somebody else's\n");
    minds.says(&finish("done"));
    assert!(minds.run(&after(&second, "approve")).await.end.is_ok());
    assert_eq!(minds.world.read("a.txt"), "new\n");
}

#[tokio::test]
async fn words_that_are_no_approval_approve_nothing() {
    for said in ["approved", "Approve", "approve it", "retry", "yes", "", "refuse it"] {
        let minds = careful(Runners::standard(guard()), &["shell"]);
        minds.says(&step("shell", json!({"command": "echo x >> log"})));
        let work = agent(json!({"goal": "Go.", "tools": ["shell"]}));
        held(minds.run(&work).await.end);
        minds.says(&step("shell", json!({"command": "echo x >> log"})));
        held(minds.run(&after(&work, said)).await.end);
        assert!(!minds.world.root().join("log").exists(), "{said}");
    }
}

#[tokio::test]
async fn a_task_that_is_itself_such_a_call_waits_as_well() {
    let works = [shell("echo x >> log"), tool("shell", json!({"command": "echo x >> log"}))];
    for work in works {
        let minds = careful(Runners::standard(guard()), &["shell"]);
        let failure = held(minds.run(&work).await.end);
        assert!(failure.message.contains("echo x >> log"), "{failure:?}");
        let refused = minds.run(&after(&work, "refuse: not today")).await.end.unwrap_err();
        assert!(!refused.is_needs_approval() && refused.message.ends_with("refused: not today"), "{refused:?}");
        assert!(!minds.world.root().join("log").exists());
        let minds = careful(Runners::standard(guard()), &["shell"]);
        held(minds.run(&work).await.end);
        assert!(minds.run(&after(&work, "approve")).await.end.is_ok());
        assert_eq!(minds.world.read("log"), "x\n");
    }
}

#[tokio::test]
async fn calls_of_servers_are_approved_like_others() {
    let mut minds = careful(knowing(&server(program())), &["mcp.kit.append"]);
    letting_this_program_run(&mut minds.world);
    minds.says(&step("mcp.kit.append", json!({"path": "log", "line": "once"})));
    let work = agent(json!({"goal": "Append.", "tools": ["mcp.kit.*"]}));
    let failure = held(minds.run(&work).await.end);
    assert!(failure.message.contains("would call `append` of the MCP server `kit`"), "{failure:?}");
    minds.says(&finish("done"));
    assert!(minds.run(&after(&work, "approve")).await.end.is_ok());
    assert_eq!(minds.world.read("log"), "once\n");
    assert!(minds.heard_last().contains("text: once"), "{}", minds.heard_last());
    let listed = minds.diary.rows.lock().unwrap().iter().filter(|row| row.kind == "mcp-tools").count();
    assert_eq!(listed, 1, "what the server offered is remembered");
}

#[tokio::test]
async fn an_agent_that_is_taken_up_knows_the_tools_that_a_server_had() {
    let mut minds = Minds::with(knowing(&server(program())));
    letting_this_program_run(&mut minds.world);
    minds.says(&step("mcp.kit.append", json!({"path": "log", "line": "once"})));
    let work = agent(json!({"goal": "Append.", "tools": ["mcp.kit.append", "mcp.kit.echo"]}));
    assert!(minds.run(&work).await.end.is_err(), "the model has nothing more to say: as if the process had ended here");
    let rows = minds.diary.rows.lock().unwrap().clone();
    assert_eq!(rows.iter().filter(|row| row.kind == "mcp-tools").count(), 1, "both tools are of one server");
    minds.says(&finish("done"));
    assert!(minds.run(&work).await.end.is_ok());
    assert_eq!(minds.world.read("log"), "once\n");
    assert_eq!(minds.diary.rows.lock().unwrap().iter().filter(|row| row.kind == "mcp-tools").count(), 1);
}

#[tokio::test]
async fn a_call_of_a_server_that_may_have_happened_is_not_made_again_unless_it_is_safe() {
    for safe in [false, true] {
        let mut described = server(program());
        described.safe = if safe { vec!["append".to_owned()] } else { Vec::new() };
        let mut minds = Minds::with(knowing(&described));
        letting_this_program_run(&mut minds.world);
        minds.says(&step("mcp.kit.append", json!({"path": "log", "line": "x"})));
        let work = agent(json!({"goal": "Append.", "tools": ["mcp.kit.append"]}));
        let _ = minds.run(&work).await;
        for row in minds.diary.rows.lock().unwrap().iter_mut().filter(|row| row.kind == "tool") {
            row.answer = None; // the process went away before it could write down what came of it
        }
        minds.says(&finish("done"));
        let again = minds.run(&work).await.end;
        if safe {
            assert!(again.is_ok(), "{again:?}");
            assert_eq!(minds.world.read("log"), "x\nx\n");
        } else {
            assert_eq!(again.unwrap_err().class, FailureClass::Lost);
            assert_eq!(minds.world.read("log"), "x\n");
        }
    }
}
