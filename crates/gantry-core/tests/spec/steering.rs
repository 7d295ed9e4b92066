//! People steer the plan as a whole.

use gantry_core::input::{Input, TakeBack};
use gantry_core::life::PlanState;
use gantry_core::policy::FailureClass::Logic;
use gantry_testkit::{World, draw_plan, mins};

#[test]
fn nothing_happens_before_the_start() {
    let mut world = World::not_started(draw_plan("a"));
    assert!(world.started().is_empty());
    assert_eq!(world.state(), PlanState::Pending);
    world.turn(Input::Start);
    assert_eq!(world.started(), ["a"]);
    assert_eq!(world.refusal(Input::Start), "a plan that is running cannot be started [life::wrong-state]");
}

#[test]
fn a_paused_plan_finishes_what_runs_and_starts_nothing_new() {
    let mut world = World::with_plan("a\nb after a");
    world.pause();
    world.started();
    world.finish("a");
    assert!(world.started().is_empty());
    assert_eq!(world.waits_for(), ["plan: someone to resume it"]);
    world.resume();
    assert_eq!(world.started(), ["b"]);
}

#[test]
fn a_retry_that_comes_due_while_paused_waits_for_the_resume() {
    let mut world = World::with_plan("a");
    world.fail("a", gantry_core::policy::FailureClass::Transient, "x");
    world.pause();
    world.started();
    world.advance(mins(5));
    assert!(world.started().is_empty());
    world.resume();
    assert_eq!(world.started(), ["a"]);
}

#[test]
fn cancelling_stops_everything_at_once_and_late_answers_change_nothing() {
    let mut world = World::with_plan("a\nb after a\nc person");
    world.wishes();
    world.cancel(TakeBack::Nothing);
    insta::assert_snapshot!(world.wishes(), @"cancel_attempt a attempt=1 why=the plan was cancelled");
    insta::assert_snapshot!(world.tasks(), @"
    a  abandoned  the plan was cancelled
    b  abandoned
    c  abandoned
    ");
    world.finish("a");
    assert_eq!(world.state(), PlanState::Abandoned);
    assert_eq!(world.life().task_state("a").unwrap().to_string(), "abandoned");
    assert_eq!(world.life().next_wake(), None);
}

#[test]
fn what_cannot_be_done_in_this_state_is_refused() {
    let mut world = World::with_plan("a");
    let by = || "ana".to_owned();
    let mut said = vec![world.refusal(Input::Resume { by: by() })];
    world.pause();
    said.push(world.refusal(Input::Pause { by: by(), why: String::new() }));
    world.cancel(TakeBack::Nothing);
    said.push(world.refusal(Input::Cancel { by: by(), why: String::new(), undo: TakeBack::Nothing }));
    said.push(world.refusal(Input::Resume { by: by() }));
    insta::assert_snapshot!(said.join("\n"), @"
    a plan that is running cannot be resumed [life::wrong-state]
    a plan that is paused cannot be paused [life::wrong-state]
    a plan that is abandoned cannot be cancelled [life::wrong-state]
    a plan that is abandoned cannot be resumed [life::wrong-state]
    ");
}

#[test]
fn a_plan_without_tasks_is_done_when_it_starts() {
    let world = World::with_plan("");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_plan_is_done_only_when_its_definition_of_done_holds() {
    let mut world = World::with_plan("plan.done_when=[\"bench.p99_ms < 250\",\"people like it\"]\nbench");
    world.finish_with("bench", serde_json::json!({"p99_ms": 300}));
    assert_eq!(world.state(), PlanState::Failed);
    insta::assert_snapshot!(world.life().causes().join("\n"), @"it is not done: bench.p99_ms < 250 is false: bench.p99_ms = 300");
    world.retry("bench");
    world.finish_with("bench", serde_json::json!({"p99_ms": 120}));
    assert_eq!(world.state(), PlanState::Completed);
    insta::assert_snapshot!(world.log_since(world.length() - 1), @r#"plan_completed unjudged=["people like it"]"#);
}

#[test]
fn retrying_what_has_not_ended_is_refused() {
    let mut world = World::with_plan("a\nb after a\nc gate");
    let retry = |task: &str| Input::Retry {
        task: gantry_core::id::TaskId::new(task).unwrap(),
        by: "ana".to_owned(),
        why: String::new(),
    };
    let said = [world.refusal(retry("a")), world.refusal(retry("b")), world.refusal(retry("c"))];
    insta::assert_snapshot!(said.join("\n"), @"
    task `a` runs right now [life::task-runs]
    task `b` does not wait for another try: it has not ended [life::not-waiting]
    task `c` does not wait for another try: it waits for a person [life::not-waiting]
    ");
}

#[test]
fn every_state_of_a_plan_is_reached() {
    let plan = || gantry_testkit::draw_plan("a\nb person after a");
    let mut seen = Vec::new();
    let mut world = World::not_started(plan());
    seen.push(world.state().to_string());
    world.turn(Input::Start);
    seen.push(world.state().to_string());
    world.pause();
    seen.push(world.state().to_string());
    world.resume();
    world.finish("a");
    seen.push(world.state().to_string());
    world.done_by("b", "ana");
    seen.push(world.state().to_string());
    let mut world = World::with_plan("policy.recovery={\"logic\":[]}\na");
    world.fail("a", gantry_core::policy::FailureClass::Logic, "no");
    seen.push(world.state().to_string());
    let mut world = World::with_plan("a");
    world.cancel(TakeBack::Nothing);
    seen.push(world.state().to_string());
    assert_eq!(seen, ["pending", "running", "paused", "blocked", "completed", "failed", "abandoned"]);
}

#[test]
fn trying_a_composite_or_a_map_again_does_its_failed_parts_again() {
    let mut world = World::with_plan("p\n  a\n  c after a\n  d after c\nz after p");
    world.finish("a");
    world.fail("c", Logic, "no");
    assert_eq!(world.state(), PlanState::Failed);
    world.started();
    world.retry("p");
    assert_eq!(world.started(), ["c"]);
    for task in ["c", "d", "z"] {
        world.finish(task);
    }
    assert_eq!(world.state(), PlanState::Completed);

    let mut world = World::with_plan(r#"m map={"over":[1,2],"each":{"id":"x","action":{"run":"dig"}}}"#);
    world.finish("m-1");
    world.fail("m-2", Logic, "no");
    world.started();
    world.retry("m");
    assert_eq!(world.started(), ["m-2"]);
    world.finish("m-2");
    assert_eq!(world.state(), PlanState::Completed);
}
