//! Pipelines of capability calls.

use std::sync::Arc;

use gantry_core::plan::{Action, Command};
use gantry_core::policy::{FailureClass, Policy};
use serde_json::json;

use crate::world::{World, doing, tree};

fn command(text: &str) -> gantry_runners::Work {
    doing(Action::Command(Command::new(text)))
}

#[tokio::test]
async fn results_flow_from_call_to_call() {
    let world = World::new();
    world.write("a.txt", "from a file");
    let mut work = command(
        r#"files.read(source) -> text; files.write("out/b.txt", text.content); noop(n=3, list=[1, 2]) -> all; noop(only='x') -> one"#,
    );
    work.inputs.insert("source".to_owned(), json!("a.txt"));
    let success = world.run(&work).await.end.unwrap();
    assert_eq!(world.read("out/b.txt"), "from a file");
    assert_eq!(success.outputs["all"], json!({"n": 3, "list": [1, 2]}));
    assert_eq!(success.outputs["one"], json!("x"));
    assert_eq!(success.outputs["text"]["lines"], json!(1));
}

#[tokio::test]
async fn every_call_is_guarded_before_the_first_one_runs() {
    let mut world = World::new();
    let mut policy = Policy::default();
    policy.files.write = vec!["ok/**".to_owned()];
    world.place.policy = Arc::new(policy);
    let failure = world.run(&command(r#"files.write("ok/a", "x"); files.write("no", "x")"#)).await.end.unwrap_err();
    assert_eq!(failure.class, FailureClass::Policy);
    let failure = world.run(&command(r#"files.write("ok/a", "x"); fies.read("a")"#)).await.end.unwrap_err();
    assert_eq!(failure.message, "there is no capability `fies.read`; did you mean `files.read`?");
    assert!(tree(world.root()).is_empty());
}

#[tokio::test]
async fn what_no_capability_can_do_is_for_a_person_and_a_misspelt_one_is_a_mistake() {
    let world = World::new();
    for (calls, class) in [("search(\"x\") -> y", FailureClass::Policy), ("fies.read(\"a\") -> y", FailureClass::Logic)]
    {
        let failure = world.run(&command(calls)).await.end.unwrap_err();
        assert_eq!(failure.class, class, "{}", failure.message);
    }
}

#[tokio::test]
async fn what_a_pipeline_did_is_taken_back_the_last_thing_first() {
    let world = World::new();
    world.write("a", "1");
    let before = tree(world.root());
    let work = command(r#"files.write("a", "2"); files.move("a", "b"); files.read("none")"#);
    let failure = world.run(&work).await.end.unwrap_err();
    assert_eq!(failure.message, "call 3 (files.read): there is no `none`");
    assert_eq!(world.read("b"), "2");
    let records: Vec<_> = world.memory.intents.lock().unwrap().drain(..).rev().collect();
    assert_eq!(records.len(), 2);
    for record in records {
        world.runners.undo(&work, &world.place, &world.ports(), &record).await.unwrap();
    }
    assert_eq!(tree(world.root()), before);
}

#[tokio::test]
async fn an_argument_that_means_nothing_is_said() {
    let world = World::new();
    for (text, why) in [
        (
            "files.read(sorce)",
            "`sorce` is neither a value nor the name of an input or an earlier result; did you mean `source`?",
        ),
        (r#"files.read("a", "b")"#, "`files.read` takes no argument at the place of `\"b\"`; by place it takes path"),
        (r#"noop("a")"#, "`noop` takes no argument at the place of `\"a\"`; by place it takes none"),
    ] {
        let mut work = command(text);
        work.inputs.insert("source".to_owned(), json!("a"));
        assert_eq!(world.run(&work).await.end.unwrap_err().message, why);
    }
}

#[tokio::test]
async fn a_shell_command_can_be_called_too() {
    let world = World::new();
    let success = world.run(&command(r#"shell("echo hello") -> said"#)).await.end.unwrap();
    assert_eq!(success.outputs["said"]["stdout"], json!("hello\n"));
}
