//! Corners where two rules meet.

use gantry_core::effect::ArtifactRef;
use gantry_core::event::Event;
use gantry_core::id::{AttemptNo, Revision};
use gantry_core::input::{Decision, GateDecision, Input, Resolution, Success, TakeBack};
use gantry_core::life::PlanState;
use gantry_core::policy::FailureClass::Logic;
use gantry_core::policy::{ProseBy, Usage};
use gantry_testkit::{World, hours, mins};
use serde_json::json;

fn undo(to: &str) -> Input {
    Input::Undo { to: to.to_owned(), by: "ana".to_owned(), why: String::new() }
}

#[test]
fn a_gate_behind_what_was_taken_back_is_asked_again() {
    let mut world = World::with_plan("a\nbuild after a undo=restore\nok gate after build\nship after ok");
    world.finish("a");
    world.finish("build");
    world.turn(undo("a"));
    world.undo_ends("build", Ok("restored"));
    insta::assert_snapshot!(world.tasks(), @"
    a      completed
    build  ready
    ok     pending    for build
    ship   pending    for ok
    ");
    world.started();
    world.resume();
    assert_eq!(world.started(), ["build"]);
}

#[test]
fn what_is_left_as_it_is_during_an_undo_stays_done() {
    let mut world = World::with_plan("a\nmail after a undo=never\nb person after mail");
    world.finish("a");
    world.finish("mail");
    world.turn(undo("a"));
    world.resolve("mail", Resolution::Skip);
    world.started();
    world.resume();
    assert!(world.started().is_empty());
    assert_eq!(world.life().task_state("mail").unwrap().to_string(), "completed");
}

#[test]
fn an_edit_reaches_those_who_are_asked_about_it() {
    let mut world = World::with_plan("a\nok gate after a gate.approvals=2");
    world.finish_with("a", json!({"x": 1}));
    world.approve("ok", "ana");
    world.edit_output("a", json!({"x": 5}));
    assert_eq!(world.waits_for(), ["ok: 0 of 2 approvals"]);
}

#[test]
fn an_edit_reaches_what_a_route_leads_to() {
    let mut world = World::with_plan("a on success -> b\nb inputs={\"x\":\"tasks.a.x\"}");
    world.finish_with("a", json!({"x": 1}));
    world.finish("b");
    world.started();
    world.edit_output("a", json!({"x": 5}));
    assert_eq!(world.started(), ["b"]);
}

#[test]
fn a_decision_that_changes_leaves_only_the_branch_that_was_chosen() {
    let mut world = World::with_plan("a on yes -> b on no -> c\nb\nc");
    world.finish_as("a", "yes");
    world.finish("b");
    world.retry("a");
    world.finish_as("a", "no");
    world.finish("c");
    insta::assert_snapshot!(world.tasks(), @"
    a  completed  no
    b  skipped    no route led to it
    c  completed
    ");
}

#[test]
fn an_unsafe_task_that_was_stopped_is_never_simply_repeated() {
    let mut world = World::with_plan("pay idempotency=unsafe timeout=1m retry.max=3");
    world.advance(mins(5));
    assert_eq!(world.life().task_life("pay").unwrap().attempt, AttemptNo(1));
    assert_eq!(world.waits_for(), ["pay: help: it took too long and was stopped"]);
}

#[test]
fn mending_a_title_redoes_nothing() {
    let mut world = World::with_plan("ship run=deploy title=Shipp\nz person after ship");
    world.finish("ship");
    world.started();
    world.revise(|plan| plan.tasks[0].title = "Ship".to_owned());
    assert!(world.started().is_empty());
}

#[test]
fn a_recorded_answer_keeps_its_outcome() {
    let mut world = World::with_plan(
        r#"
        a
        d  inputs={"x":"tasks.a.x"}  decide.options=[{"outcome":"low","when":"x < 5"},{"outcome":"high","when":"x >= 5"}]  on low -> l  on high -> h
        l  person
        h  person
        "#,
    );
    world.finish_with("a", json!({"x": 1}));
    world.edit_output("a", json!({"x": 9}));
    world.edit_output("a", json!({"x": 1}));
    assert_eq!(world.life().task_life("d").unwrap().outcome.as_deref(), Some("low"));
    insta::assert_snapshot!(world.tasks(), @"
    a  completed
    d  completed  low
    l  waiting    someone to do it
    h  skipped    no route led to it
    ");
}

#[test]
fn what_an_expression_reads_is_part_of_the_key() {
    let mut world = World::with_plan("a\nc after a compute={\"y\":\"a.x + 1\"}");
    world.finish_with("a", json!({"x": 1}));
    world.edit_output("a", json!({"x": 5}));
    assert_eq!(world.life().outputs("c").unwrap()["y"], 6);
}

#[test]
fn a_changed_prompt_redoes_the_finished_tasks_that_used_it() {
    let mut world = World::with_plan("w model model.prompt=summary\nother model model.prompt=plan");
    world.finish("w");
    world.finish("other");
    world.started();
    world.observe(json!({"prompt.summary": "v2"}));
    assert_eq!(world.started(), ["w"]);
}

#[test]
fn two_failures_that_ask_for_undoing_are_both_taken_back() {
    let mut world = World::with_plan(
        "
        policy.recovery={\"logic\":[\"undo\"]}
        g1
          a1  undo=restore
          f1  after a1
        g2
          a2  undo=restore
          f2  after a2
        ",
    );
    world.finish("a1");
    world.finish("a2");
    world.fail("f1", Logic, "one");
    world.fail("f2", Logic, "two");
    world.undo_ends("a1", Ok("restored"));
    world.undo_ends("a2", Ok("restored"));
    assert_eq!(world.state(), PlanState::Failed);
    insta::assert_snapshot!(world.tasks(), @"
    g1  failed     its part `f1` failed: one
    a1  abandoned  taken back
    f1  failed     one
    g2  failed     its part `f2` failed: two
    a2  abandoned  taken back
    f2  failed     two
    ");
}

#[test]
fn work_that_was_interrupted_is_taken_back_too() {
    let mut world = World::with_plan("ship undo=restore");
    world.cancel(TakeBack::Everything);
    world.undo_ends("ship", Ok("restored"));
    assert_eq!(world.state(), PlanState::Abandoned);
}

#[test]
fn a_running_task_that_moves_gives_its_money_back_where_it_was_taken() {
    let mut world =
        World::with_plan("policy.parallel=1\ng budget.cost_usd=5\n  a budget.cost_usd=4\n  b budget.cost_usd=4");
    world.revise(|plan| plan.tasks[1].parent = None);
    world.started();
    world.finish("a");
    assert_eq!(world.started(), ["b"]);
}

#[test]
fn a_lost_attempt_has_cost_what_was_set_aside_for_it() {
    let mut world = World::with_plan("policy.budget.model_calls=2\nask model heartbeat=1m budget.model_calls=1");
    world.advance(hours(1));
    assert_eq!(world.life().spent(), Usage { model_calls: 1, ..Usage::default() });
    assert_eq!(world.waits_for(), ["ask: help: the model_calls budget of task `ask` is used up"]);
}

#[test]
fn an_attempt_at_a_task_for_a_model_is_taken_up_when_its_process_went_away() {
    let mut world = World::with_plan("policy.budget.model_calls=1\nask model");
    assert_eq!(world.started(), ["ask"]);
    world.crash();
    assert_eq!(world.started(), ["ask"], "the same attempt goes on");
    assert_eq!((world.life().reserved().model_calls, world.life().spent()), (1, Usage::default()));
    world.finish_using("ask", Usage { model_calls: 1, ..Usage::default() });
    assert_eq!(world.state(), PlanState::Completed);
    assert_eq!(world.count(|event| matches!(event, Event::AttemptStarted { .. })), 1);
}

#[test]
fn what_an_agent_has_begun_is_not_taken_up_by_a_model() {
    let mut world = World::with_plan("policy.prose=agent\na command=\"think\"");
    assert_eq!(world.started(), ["a"]);
    world.revise(|plan| plan.policy.prose = ProseBy::Model);
    world.crash();
    assert_eq!(world.started(), [""; 0], "the agent may have done something");
    assert_eq!(world.waits_for(), ["a: help: the process that ran it went away"]);
}

#[test]
fn prose_that_a_model_does_counts_as_a_call() {
    let mut world =
        World::with_plan("policy.prose=model\npolicy.budget.model_calls=1\na command=\"think\"\nb command=\"think\"");
    assert_eq!(world.started(), ["a"]);
}

#[test]
fn reopening_a_plan_gives_it_no_new_time() {
    let mut world = World::with_plan("policy.budget.time=2h\na");
    world.advance(hours(1));
    world.fail("a", Logic, "no");
    world.retry("a");
    world.advance(hours(1));
    assert_eq!(world.waits_for(), ["plan: a larger budget: the time budget of the plan is used up"]);
}

#[test]
fn each_loop_has_rounds_of_its_own() {
    let mut world = World::with_plan(
        "impl\ntests after impl on failure -> impl max=1\nok gate after tests gate.back_to=impl\nship after ok",
    );
    world.finish("impl");
    world.finish("tests");
    world.needs_changes("ok", "ana");
    world.finish("impl-r2");
    world.fail("tests-r2", Logic, "red");
    assert_eq!(world.started().last().unwrap(), "impl-r3");
}

#[test]
fn a_route_that_is_always_followed_answers_no_failure() {
    let mut world = World::with_plan("build on always -> cleanup\ncleanup");
    world.fail("build", Logic, "red");
    world.finish("cleanup");
    assert_eq!(world.state(), PlanState::Failed);
}

#[test]
fn a_required_task_behind_an_optional_one_that_failed_is_still_done() {
    let mut world = World::with_plan("lint optional\nship after lint");
    world.fail("lint", Logic, "style");
    assert_eq!(world.started().last().unwrap(), "ship");
}

#[test]
fn an_outcome_that_is_none_of_the_options_is_a_failure() {
    let mut world =
        World::with_plan("policy.judge=model\nq decide decide.options=[\"yes\",\"no\"] on yes -> a on no -> b\na\nb");
    world.finish_as("q", "Yes.");
    insta::assert_snapshot!(world.tasks(), @"
    q  failed     `Yes.` is none of the outcomes: yes, no
    a  skipped    no route led to it
    b  skipped    no route led to it
    ");
}

#[test]
fn a_listed_approver_needs_the_role_too() {
    let mut world = World::with_plan("ok gate gate={\"role\":\"maintainer\",\"approvers\":[\"ana\"]}");
    let said = world.refusal(World::review("ana", "ok", Decision::Approve));
    assert_eq!(said, "ana may not decide gate `ok`: it takes the role `maintainer` [life::not-allowed]");
}

#[test]
fn a_decision_about_an_older_revision_is_refused() {
    let mut world = World::with_plan("ok gate\nb person");
    world.revise(|plan| plan.tasks[1].owner = Some("ben".to_owned()));
    let decision = GateDecision { revision: Some(Revision(1)), ..World::decision("ok", Decision::Approve, "fine") };
    let said = world.refusal(Input::Review { by: "ana".to_owned(), role: None, decisions: vec![decision] });
    assert_eq!(said, "revision 1 was looked at, but revision 2 is current [life::old-revision]");
}

#[test]
fn parts_of_an_output_that_were_handed_in_early_are_kept() {
    let mut world = World::with_plan("long");
    let part = ArtifactRef { name: "part".to_owned(), hash: "b3".to_owned(), bytes: 1 };
    world.turn(Input::Heartbeat {
        task: gantry_core::id::TaskId::new("long").unwrap(),
        attempt: AttemptNo(1),
        note: String::new(),
        artifacts: vec![part.clone()],
    });
    world.end("long", AttemptNo(1), Ok(Success::default()), Usage::default());
    assert_eq!(world.life().task_life("long").unwrap().artifacts, [part]);
}

#[test]
fn what_is_computed_may_need_what_comes_later_in_the_alphabet() {
    let mut world = World::with_plan(r#"c compute={"a":"b + outputs.z","b":"z * 2","z":"1 + 1"}"#);
    assert_eq!(json!(world.life().outputs("c").unwrap()), json!({"a": 6, "b": 4, "z": 2}));
    assert!(world.started().is_empty());
}
