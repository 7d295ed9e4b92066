//! Judges: what is said in words, of tasks and of the plan as a whole.

use gantry_core::event::Event;
use gantry_core::id::TaskId;
use gantry_core::life::PlanState;
use gantry_core::policy::{FailureClass, Remedy, Usage};
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

#[test]
fn a_model_that_cannot_judge_is_asked_another_time_and_what_it_used_counts_at_once() {
    let spent = |calls| Usage { model_calls: calls, ..Usage::default() };
    for (plan, about) in [
        ("policy.judge=model\na success_criteria=[\"reads well\"]", Some(TaskId::new("a").unwrap())),
        ("policy.judge=model\nplan.done_when=[\"reads well\"]\na", None),
    ] {
        let mut world = World::with_plan(plan);
        world.finish("a");
        let failed = world.no_judgement(about.clone(), 0, "no model answered", spent(3));
        world.turn(failed.clone());
        assert_eq!((world.state(), world.life().spent()), (PlanState::Blocked, spent(3)), "{plan}");
        assert!(world.wishes().contains("no model could judge (no model answered)"), "{}", world.wishes());
        world.turn(failed);
        if about.is_some() {
            assert_eq!(world.waits_for(), ["a: a judge of reads well; no model could judge: no model answered"]);
        }
        assert_eq!(world.life().spent(), spent(3), "what is delivered again counts once: {plan}");
        world.crash();
        assert!(world.wishes().ends_with("checks=[\"reads well\"] failed=1"), "{plan}: {}", world.wishes());
        let judged = world.judgement(about, true, "it does", spent(1));
        world.turn(judged);
        assert_eq!((world.state(), world.life().spent()), (PlanState::Completed, spent(4)), "{plan}");
    }
}

#[test]
fn what_nobody_judged_can_be_seen() {
    let mut world = World::with_plan("plan.done_when=[\"people like it\"]\na success_criteria=[\"reads well\"]\nb");
    world.finish("a");
    let unjudged = |world: &World| -> Vec<String> {
        let line = |(task, check): (Option<&gantry_core::id::TaskId>, &str)| match task {
            Some(task) => format!("{task}: {check}"),
            None => check.to_owned(),
        };
        world.life().unjudged().map(line).collect()
    };
    assert_eq!(unjudged(&world), ["a: reads well"]);
    world.finish("b");
    assert_eq!(unjudged(&world), ["people like it", "a: reads well"]);
}

#[test]
fn a_check_that_reads_nothing_is_tested_like_any_other() {
    let mut world = World::with_plan("a success_criteria=[\"1 == 2\"]\nb preconditions=[\"false\"]\nc");
    world.finish("a");
    insta::assert_snapshot!(world.tasks(), @"
    a  failed     the result is not good enough: 1 == 2 is false
    b  blocked    false is false
    c  running
    ");
}

/// A judge who says that this way leads nowhere.
fn another_way(world: &World, task: &str) -> gantry_core::input::Input {
    let mut said = world.judgement(Some(TaskId::new(task).unwrap()), false, "not by hand", Usage::default());
    if let gantry_core::input::Input::Judged { verdicts, .. } = &mut said {
        for verdict in verdicts {
            verdict.another_way = true;
        }
    }
    said
}

#[test]
fn a_critic_who_wants_another_way_has_the_alternate_tried_before_anything_is_repaired() {
    let plan = "policy.judge=model\npolicy.recovery.logic=[\"repair\",\"escalate\"]\n\
        a model={\"instruction\":\"by hand\"} alternates=[{\"run\":\"make all\"}] success_criteria=[\"it is fast\"]";
    let mut world = World::with_plan(plan);
    world.finish("a");
    world.turn(another_way(&world, "a"));
    assert_eq!(world.life().task_life("a").unwrap().way, 1, "the first alternate");
    let remedies = |world: &World, wanted: Remedy| {
        world.count(|event| matches!(event, Event::RetryPlanned { remedy, .. } if *remedy == wanted))
    };
    assert_eq!((remedies(&world, Remedy::Alternate), remedies(&world, Remedy::Repair)), (1, 0));
    world.finish("a");
    world.turn(another_way(&world, "a"));
    assert_eq!(remedies(&world, Remedy::Alternate), 1, "there is no third way: the policy answers");
    assert!(world.tasks().contains("not by hand"), "{}", world.tasks());
}

#[test]
fn a_precondition_in_words_is_judged_before_the_start() {
    let mut world = World::with_plan(
        "policy.judge=person\nclean preconditions=[\"nobody is in the house\"]\npaint preconditions=[\"the walls are dry\"]",
    );
    assert!(world.started().is_empty());
    world.judge("clean", true, "all have left");
    assert_eq!(world.started(), ["clean"]);
    world.judge("paint", false, "it rained");
    assert!(world.started().is_empty());
    insta::assert_snapshot!(world.tasks(), @"
    clean  running
    paint  waiting    help: `the walls are dry` does not hold: it rained
    ");
}

#[test]
fn what_a_model_says_about_an_earlier_attempt_is_not_said_about_this_one() {
    let mut world = World::with_plan("policy.judge=model\na success_criteria=[\"it reads well\"]");
    world.finish_with("a", json!({"text": "one"}));
    let mut late = world.judgement(Some(gantry_core::id::TaskId::new("a").unwrap()), true, "it does", Usage::default());
    world.retry("a");
    world.finish_with("a", json!({"text": "two"}));
    world.wishes();
    if let gantry_core::input::Input::Judged { attempt, .. } = &mut late {
        *attempt = Some(gantry_core::id::AttemptNo(1));
    }
    world.turn(late);
    assert_eq!(world.waits_for(), ["a: a judge of it reads well"]);
    assert!(world.wishes().contains("judge a"), "it is asked about what is there now");
    world.judge("a", true, "it does");
    assert_eq!(world.state(), PlanState::Completed);
}

/// What a judge says later about what it is asked now.
fn said_later(world: &World, about: Option<&str>) -> gantry_core::input::Input {
    let about = about.map(|task| TaskId::new(task).unwrap());
    world.judgement(about, true, "it is", Usage::default())
}

#[test]
fn what_a_model_says_about_a_gate_before_its_work_was_done_again_is_not_said_about_the_new_work() {
    let mut world = World::with_plan(
        "policy.judge=model\nwork\ngate gate after work gate={\"approvals\":0,\"checks\":[\"it is safe\"]}\nship after gate",
    );
    world.finish_with("work", json!({"text": "one"}));
    let late = said_later(&world, Some("gate"));
    world.retry("work");
    world.finish_with("work", json!({"text": "two"}));
    world.started();
    world.turn(late);
    assert_eq!(world.waits_for(), ["gate: a judge of it is safe"]);
    assert!(world.started().is_empty(), "nobody has judged the second text");
    world.judge("gate", true, "it is");
    assert_eq!(world.started(), ["ship"]);
}

#[test]
fn what_a_model_says_about_an_earlier_computed_value_is_not_said_about_this_one() {
    let mut world = World::with_plan(
        "policy.judge=model\nwork\nsum after work compute={\"n\":\"work.n\"} success_criteria=[\"it is plausible\"]\nship after sum",
    );
    world.finish_with("work", json!({"n": 1}));
    let late = said_later(&world, Some("sum"));
    world.edit_output("work", json!({"n": 1_000_000}));
    world.started();
    world.turn(late);
    assert_eq!(world.waits_for(), ["sum: a judge of it is plausible"]);
    world.judge("sum", false, "far too much");
    assert!(world.started().is_empty());
}

#[test]
fn what_a_model_says_about_a_plan_before_it_was_changed_is_not_said_about_it_now() {
    let mut world = World::with_plan("policy.judge=model\nplan.done_when=[\"it is good\"]\nwork");
    world.finish_with("work", json!({"text": "one"}));
    let late = said_later(&world, None);
    world.edit_output("work", json!({"text": "two"}));
    world.wishes();
    world.turn(late);
    assert_eq!(world.waits_for(), ["plan: a judge of it is good"]);
    assert!(world.wishes().contains("judge"), "it is asked about what is there now");
    world.judge_plan(true, "it is");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_decision_that_no_model_could_take_waits_and_whoever_answers_takes_it() {
    let mut world =
        World::with_plan("policy.judge=model\ngo decide decide.options=[\"ship\",\"hold\"] on ship -> ship\nship");
    world.fail("go", FailureClass::Policy, "the offline model does not judge");
    assert_eq!(world.waits_for(), ["go: help: the offline model does not judge"]);
    assert!(world.started().iter().all(|task| task != "ship"));
    world.answer("go", "hold");
    assert_eq!(world.life().task_life("go").unwrap().outcome.as_deref(), Some("hold"));
}
