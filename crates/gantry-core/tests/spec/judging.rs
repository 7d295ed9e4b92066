//! Judges: what is said in words, of tasks and of the plan as a whole.

use gantry_core::event::Event;
use gantry_core::life::PlanState;
use gantry_core::policy::Usage;
use gantry_testkit::World;
use serde_json::json;

#[test]
fn the_definition_of_done_in_words_is_judged_before_the_plan_is_completed() {
    let mut world = World::with_plan("policy.judge=model\nplan.done_when=[\"people like it\",\"a.x == 1\"]\na");
    world.finish_with("a", json!({"x": 1}));
    assert_eq!(world.waits_for(), ["plan: a judge of people like it"]);
    assert_eq!(world.wishes().lines().last().unwrap(), "judge checks=[\"people like it\"]");
    world.judge_plan(true, "they do");
    assert_eq!(world.state(), PlanState::Completed);
    assert!(
        matches!(&world.journal().last().unwrap().event, Event::PlanCompleted { unjudged, .. } if unjudged.is_empty())
    );
}

#[test]
fn a_plan_that_a_judge_finds_not_done_has_failed() {
    let mut world = World::with_plan("policy.judge=person\nplan.done_when=[\"people like it\"]\na");
    world.finish("a");
    world.judge_plan(false, "too slow");
    assert_eq!(world.state(), PlanState::Failed);
    assert_eq!(world.life().causes(), ["it is not done: `people like it`: too slow"]);
}

#[test]
fn what_changes_while_the_plan_is_judged_is_judged_anew() {
    let mut world = World::with_plan("policy.judge=person\nplan.done_when=[\"people like it\"]\na");
    world.finish("a");
    world.retry("a");
    let early = world.judgement(None, true, "yes", Usage::default());
    assert_eq!(world.refusal(early), "a plan that is running cannot be judged [life::wrong-state]");
    world.finish("a");
    assert_eq!(world.count(|event| matches!(event, Event::JudgeAsked { task: None, .. })), 2);
    world.judge_plan(true, "they do");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_plan_that_is_paused_while_it_is_judged_ends_when_it_goes_on() {
    let mut world = World::with_plan("policy.judge=person\nplan.done_when=[\"people like it\"]\na");
    world.finish("a");
    world.pause();
    world.judge_plan(true, "they do");
    assert_eq!(world.state(), PlanState::Paused);
    world.resume();
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_judge_of_the_plan_is_asked_again_after_a_crash() {
    let mut world = World::with_plan("policy.judge=model\nplan.done_when=[\"people like it\"]\na");
    world.finish("a");
    world.crash();
    assert_eq!(world.wishes(), "judge checks=[\"people like it\"]");
}
