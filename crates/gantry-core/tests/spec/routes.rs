//! Routes: where to go when a task ends.

use gantry_core::policy::FailureClass::Logic;
use gantry_testkit::{World, hours};
use serde_json::json;

#[test]
fn the_branch_that_is_not_chosen_is_skipped_and_the_join_still_runs() {
    let mut world = World::with_plan(
        r#"
        measure
        choose   decide  after measure  decide.options=[{"outcome":"big","when":"measure.size > 10"},"small"]  on big -> split  on small -> keep
        split
        keep
        join     after split, keep
        "#,
    );
    world.finish_with("measure", json!({"size": 50}));
    insta::assert_snapshot!(world.tasks(), @"
    measure  completed
    choose   completed  big
    split    running
    keep     skipped    no route led to it
    join     pending    for split
    ");
    world.finish("split");
    world.finish("join");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn everything_behind_a_skipped_branch_is_skipped_with_it() {
    let mut world = World::with_plan(
        "
        try       on failure -> repair
        repair
        polish    after repair
        ",
    );
    world.finish("try");
    insta::assert_snapshot!(world.tasks(), @"
    try     completed
    repair  skipped    no route led to it
    polish  skipped    everything before it was skipped
    ");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn a_failure_with_a_route_is_taken_care_of_and_the_success_branch_is_left_out() {
    let mut world = World::with_plan(
        "
        collect   on success -> summarise  on failure -> broaden
        summarise
        broaden
        ",
    );
    world.fail("collect", Logic, "nothing found");
    insta::assert_snapshot!(world.tasks(), @"
    collect    failed     nothing found
    summarise  skipped    no route led to it
    broaden    running
    ");
    world.finish("broaden");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn either_way_into_a_task_is_enough() {
    let mut world = World::with_plan(
        r#"
        unknowns  decide  decide.options=["yes","no"]  on yes -> research  on no -> build
        research  on success -> build
        build
        "#,
    );
    world.answer("unknowns", "no");
    assert_eq!(world.started(), ["build"]);
    insta::assert_snapshot!(world.tasks(), @"
    unknowns  completed  no
    research  skipped    no route led to it
    build     running
    ");
}

#[test]
fn a_route_can_have_a_condition() {
    let mut world = World::with_plan(
        r#"
        measure  next=[{"on":"success","to":"slow","when":"ms > 100"},{"on":"success","to":"fast","when":"ms <= 100"}]
        slow
        fast
        "#,
    );
    world.started();
    world.finish_with("measure", json!({"ms": 7}));
    assert_eq!(world.started(), ["fast"]);
}

#[test]
fn a_condition_that_cannot_be_tested_is_written_down() {
    let mut world = World::with_plan(
        r#"
        measure  next=[{"on":"success","to":"slow","when":"ms > 100"}]
        slow
        "#,
    );
    let before = world.length();
    world.finish("measure");
    insta::assert_snapshot!(world.log_since(before), @"
    attempt_succeeded measure attempt=1
    note_added measure by=gantry text=the route to `slow` was not taken: `ms > 100`: `ms` is missing
    task_completed measure
    task_skipped slow because=no route led to it
    plan_completed
    ");
}

#[test]
fn an_outcome_that_a_runner_reports_chooses_the_route() {
    let mut world = World::with_plan("probe on warm -> a on cold -> b\na\nb");
    world.started();
    world.finish_as("probe", "cold");
    assert_eq!(world.started(), ["b"]);
}

#[test]
fn what_always_follows_does_so_when_the_task_is_given_up() {
    let mut world = World::with_plan(
        "
        g  timebox=1h
          rent     on always -> give-back
          unbegun  after rent  on always -> sweep
        give-back
        sweep
        ",
    );
    world.advance(hours(1));
    insta::assert_snapshot!(world.tasks(), @"
    g          completed
    rent       abandoned  the timebox of `g` is over
    unbegun    abandoned  the timebox of `g` is over
    give-back  running
    sweep      skipped    no route led to it
    ");
}

#[test]
fn when_no_condition_holds_a_decision_takes_its_otherwise() {
    let mut world = World::with_plan(
        r#"
        size
        choose  decide after size decide={"options":[{"outcome":"big","when":"tasks.size.n > 10"}],"otherwise":"small"}  on big -> split  on small -> go
        split
        go
        "#,
    );
    world.finish_with("size", json!({"n": 3}));
    assert_eq!(world.started(), ["size", "go"]);
    insta::assert_snapshot!(world.tasks(), @"
    size    completed
    choose  completed  small
    split   skipped    no route led to it
    go      running
    ");
}

#[test]
fn what_always_follows_a_loop_follows_its_last_round() {
    let mut world = World::with_plan(
        "
        implement
        tests     after implement  on always -> teardown  on failure -> implement max=3
        teardown
        ",
    );
    world.finish("implement");
    world.fail("tests", Logic, "red");
    world.finish("implement-r2");
    world.started();
    world.finish("tests-r2");
    assert_eq!(world.started(), ["teardown"]);
    world.finish("teardown");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn what_always_follows_a_loop_follows_its_last_round_when_that_fails_too() {
    let mut world = World::with_plan(
        "
        implement
        tests     after implement  on failure -> implement max=1  on always -> teardown
        teardown
        ",
    );
    world.finish("implement");
    world.fail("tests", Logic, "red");
    world.finish("implement-r2");
    world.started();
    world.fail("tests-r2", Logic, "red again");
    assert_eq!(world.started(), ["teardown"]);
}
