//! What someone has to approve before it is done.

use gantry_core::effect::Failure;
use gantry_core::id::AttemptNo;
use gantry_core::input::{Approval, Input, Resolution};
use gantry_core::policy::Usage;
use gantry_testkit::{World, hours};

fn answer(answer: &str) -> Input {
    let task = gantry_core::id::TaskId::new("work").unwrap();
    Input::Answer { task, by: "ana".to_owned(), answer: answer.to_owned() }
}

/// A world whose task was held.
fn held(plan: &str) -> World {
    let mut world = World::with_plan(plan);
    world.started();
    world.wishes();
    let failure = Failure::needs_approval("`shell` would run rm x");
    world.end("work", AttemptNo(1), Err(failure), Usage::default());
    world
}

#[test]
fn what_has_to_be_approved_waits_for_someone_however_failures_are_answered() {
    for plan in [
        "work",
        "work retry.max=5",
        "work fallback={\"x\":1}",
        "work optional=true",
        "work alternates=[{\"run\":\"x\"}]",
    ] {
        let mut world = held(plan);
        assert_eq!(world.waits_for(), ["work: approval: `shell` would run rm x"], "{plan}");
        assert!(world.wishes().contains("may this be done: `shell` would run rm x"), "{plan}");
        world.advance(hours(100));
        assert!(world.started().is_empty(), "{plan}");
    }
}

#[test]
fn the_next_attempt_knows_what_was_said() {
    for said in ["approve", "refuse", "refuse: too early"] {
        let mut world = held("work\nnext after work");
        world.crash();
        world.turn(answer(said));
        let start = world.starts().last().map(|start| (start.attempt, start.feedback.clone()));
        assert_eq!(start, Some((AttemptNo(2), Some(said.to_owned()))));
        world.finish("work");
        assert_eq!(world.started().last().map(String::as_str), Some("next"));
    }
}

#[test]
fn only_an_approval_or_a_refusal_is_an_answer() {
    for said in ["yes", "approved", "Approve", "refused", "refuse me", ""] {
        let mut world = held("work");
        let refusal = world.refusal(answer(said));
        assert!(refusal.contains("approve"), "{said}: {refusal}");
        assert_eq!(world.waits_for().len(), 1);
    }
    let mut world = World::with_plan("work");
    assert!(!world.refusal(answer("approve")).is_empty(), "nobody asked");
    assert_eq!(Approval::parse("refuse:  why "), Some(Approval::Refused { why: "why".to_owned() }));
}

#[test]
fn whoever_is_asked_for_approval_may_also_say_what_else_to_do() {
    let mut world = held("work\nnext after work");
    world.resolve("work", Resolution::Skip);
    assert_eq!(world.life().task_state("work").unwrap().to_string(), "skipped");
    let mut world = held("work");
    world.resolve("work", Resolution::Fail);
    assert_eq!(world.life().task_state("work").unwrap().to_string(), "failed");
}

#[test]
fn being_held_again_and_again_uses_up_no_retries() {
    let mut world = held("work retry.max=1");
    for attempt in 2..6 {
        world.turn(answer("approve"));
        let failure = Failure::needs_approval("`shell` would run something else");
        world.end("work", AttemptNo(attempt), Err(failure), Usage::default());
        assert_eq!(world.waits_for(), ["work: approval: `shell` would run something else"]);
    }
}
