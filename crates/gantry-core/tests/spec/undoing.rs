//! Undo is part of doing.

use gantry_core::event::Event;
use gantry_core::input::{Input, Resolution, TakeBack};
use gantry_core::life::{PlanState, STAYS};
use gantry_core::policy::FailureClass::Logic;
use gantry_core::policy::Usage;
use gantry_testkit::World;

#[test]
fn what_was_done_is_taken_back_in_reverse_order_of_what_really_happened() {
    let mut world = World::with_plan(
        r#"
        policy.recovery.logic=["undo"]
        a  undo=restore
        b  undo=restore
        c  undo={"action":{"run":"drop table"}}
        d  after a, b, c
        "#,
    );
    world.finish("b");
    world.finish("c");
    world.finish("a");
    world.wishes();
    world.fail("d", Logic, "broken");
    world.undo_ends("a", Ok("restored"));
    world.undo_ends("c", Ok("dropped"));
    insta::assert_snapshot!(world.wishes(), @r#"
    start_undo a attempt=16 undo=restore
    start_undo c attempt=18 undo={"action":{"run":"drop table"}}
    start_undo b attempt=20 undo=restore
    "#);
    world.undo_ends("b", Ok("restored"));
    assert_eq!(world.state(), PlanState::Failed);
    insta::assert_snapshot!(world.tasks(), @"
    a  abandoned  taken back
    b  abandoned  taken back
    c  abandoned  taken back
    d  failed     broken
    ");
}

#[test]
fn what_a_task_without_undo_did_outside_stays_and_that_is_said() {
    let mut world = World::with_plan(
        r#"
        a  run="make"
        b  tool={"name":"sql.execute","args":{"path":"a.db","sql":"DELETE FROM t"}}
        c  compute={"one":"1"}
        "#,
    );
    world.finish("a");
    world.finish("b");
    world.turn(Input::Undo { to: String::new(), by: "ana".to_owned(), why: "wrong".to_owned() });
    let how = world.journal().iter().filter_map(|entry| match &entry.event {
        Event::TaskUndone { task, how, .. } => Some((task.as_str(), how.as_str())),
        _ => None,
    });
    let how: std::collections::BTreeMap<_, _> = how.collect();
    assert_eq!((how["a"], how["b"]), (STAYS, STAYS));
    assert_eq!(how["c"], "there was nothing to take back");
}

#[test]
fn only_the_failing_composite_is_taken_back() {
    let mut world = World::with_plan(
        r#"
        policy.recovery.logic=["undo"]
        before  undo=restore
        group   after before  on failure -> plan-b
          x  undo=restore
          y  after x
        plan-b
        "#,
    );
    world.finish("before");
    world.finish("x");
    world.started();
    world.fail("y", Logic, "broken");
    assert!(world.started().is_empty(), "nothing new starts while things are taken back");
    world.undo_ends("x", Ok("restored"));
    assert_eq!(world.started(), ["plan-b"]);
    insta::assert_snapshot!(world.tasks(), @"
    before  completed
    group   failed     its part `y` failed: broken
    x       abandoned  taken back
    y       failed     broken
    plan-b  running
    ");
}

#[test]
fn an_undo_survives_a_crash_and_old_answers_to_it_are_ignored() {
    let mut world = World::with_plan("a undo=restore\nb after a");
    world.finish("a");
    world.cancel(TakeBack::Everything);
    let old = world.undo_attempt("a");
    world.crash();
    insta::assert_snapshot!(world.wishes(), @"start_undo a attempt=11 undo=restore");
    let task = gantry_core::id::TaskId::new("a").unwrap();
    world.turn(Input::UndoEnded { task, attempt: old, end: Ok("late".to_owned()), usage: Usage::default() });
    assert_ne!(world.state(), PlanState::Abandoned);
    world.crash();
    world.undo_ends("a", Ok("restored"));
    assert_eq!(world.state(), PlanState::Abandoned);
}

#[test]
fn an_undo_that_keeps_failing_waits_for_a_person() {
    let mut world = World::with_plan("a undo=restore\nb after a");
    world.finish("a");
    world.cancel(TakeBack::Everything);
    for _ in 0..3 {
        world.undo_ends("a", Err("disk full"));
    }
    assert_eq!(world.waits_for(), ["a: `a` could not be taken back: disk full"]);
    assert_eq!(world.state(), PlanState::Blocked);
    world.resolve("a", Resolution::Complete { outputs: Default::default() });
    assert_eq!(world.state(), PlanState::Abandoned);
}

#[test]
fn what_can_never_be_taken_back_asks_first() {
    let mut world = World::with_plan("a undo=restore\nmail after a undo=never\nb after mail");
    world.finish("a");
    world.finish("mail");
    world.cancel(TakeBack::Everything);
    assert_eq!(world.waits_for(), ["mail: `mail` cannot be taken back"]);
    world.resolve("mail", Resolution::Skip);
    world.undo_ends("a", Ok("restored"));
    assert_eq!(world.state(), PlanState::Abandoned);
}

#[test]
fn going_back_to_a_checkpoint_takes_back_what_came_after_and_it_can_be_done_again() {
    let mut world = World::with_plan("a undo=restore\nb after a undo=restore\nc after b undo=restore\nd after c");
    world.finish("a");
    world.turn(Input::Checkpoint { name: "good".to_owned() });
    world.finish("b");
    world.finish("c");
    let undo = Input::Undo { to: "good".to_owned(), by: "ana".to_owned(), why: String::new() };
    assert_eq!(world.refusal(undo.clone()), "task `d` runs right now [life::task-runs]");
    world.finish("d");
    world.wishes();
    world.turn(undo);
    world.undo_ends("c", Ok("restored"));
    world.undo_ends("b", Ok("restored"));
    insta::assert_snapshot!(world.tasks(), @"
    a  completed
    b  ready
    c  pending    for b
    d  pending    for c
    ");
    assert_eq!(world.state(), PlanState::Paused);
    world.started();
    world.resume();
    assert_eq!(world.started(), ["b"]);
}

#[test]
fn a_task_can_ask_for_undoing_as_a_step_of_the_plan() {
    let mut world = World::with_plan(
        "
        a         undo=restore
        save      checkpoint after a checkpoint=base
        try       after save undo=restore on success -> verify on failure -> back
        verify    on failure -> back
        back      undo_to=base
        ",
    );
    world.finish("a");
    world.finish("save");
    world.finish("try");
    world.fail("verify", Logic, "red");
    world.undo_ends("try", Ok("restored"));
    insta::assert_snapshot!(world.tasks(), @"
    a       completed
    save    completed
    try     abandoned  taken back
    verify  failed     red
    back    completed
    ");
}

#[test]
fn an_unknown_point_is_refused() {
    let mut world = World::with_plan("a");
    let undo = Input::Undo { to: "nowhere".to_owned(), by: "ana".to_owned(), why: String::new() };
    assert_eq!(world.refusal(undo), "there is no checkpoint or finished task `nowhere` [life::unknown-point]");
}

#[test]
fn a_finished_task_that_leaves_the_plan_is_said_to_stay_done() {
    let mut world = World::with_plan("a undo=restore\nb\nc undo=restore\nz person");
    world.finish("a");
    world.finish("b");
    let before = world.length();
    world.revise(|plan| drop(plan.tasks.drain(..2)));
    insta::assert_snapshot!(world.log_since(before), @"
    note_added a by=gantry text=what it did stays as it is: outside the plan it can no longer be taken back
    plan_revised by=ana rationale=as tested revision=2
    ");
}

#[test]
fn a_failed_plan_that_cannot_be_taken_back_waits_for_a_person() {
    let mut world = World::with_plan("a undo=restore\nb after a");
    world.finish("a");
    world.fail("b", Logic, "no");
    assert_eq!(world.state(), PlanState::Failed);
    world.cancel(TakeBack::Everything);
    assert_eq!(world.state(), PlanState::Running);
    for _ in 0..3 {
        world.undo_ends("a", Err("changed since"));
    }
    assert_eq!(world.state(), PlanState::Blocked);
    assert_eq!(world.waits_for(), ["a: `a` could not be taken back: changed since"]);
    world.resolve("a", Resolution::Skip);
    assert_eq!(world.state(), PlanState::Abandoned);
}

#[test]
fn while_something_is_taken_back_nothing_else_is_and_the_plan_stays_as_it_is() {
    let mut world = World::with_plan("a undo=restore\nb after a");
    world.finish("a");
    world.cancel(TakeBack::Everything);
    let undo = Input::Undo { to: "a".to_owned(), by: "ana".to_owned(), why: "so".to_owned() };
    let change = world.revision(|plan| plan.title = "Another".to_owned());
    let said = [world.refusal(undo), world.refusal(change)];
    insta::assert_snapshot!(said.join("\n"), @"
    what was done is being taken back right now [life::undoing]
    what was done is being taken back right now [life::undoing]
    ");
}

#[test]
fn what_was_taken_back_is_done_again_when_the_failed_task_is_mended() {
    let mut world = World::with_plan(
        r#"
        policy.recovery.logic=["undo"]
        a     undo=restore
        side  undo=restore
        b     after a  run="exit 1"
        c     after b
        "#,
    );
    world.finish("a");
    world.finish("side");
    world.fail("b", Logic, "broken");
    world.undo_ends("side", Ok("restored"));
    world.undo_ends("a", Ok("restored"));
    assert_eq!(world.state(), PlanState::Failed);
    world.started();
    world.revise(|plan| plan.tasks[2].action = serde_json::from_value(serde_json::json!({"run": "true"})).unwrap());
    assert_eq!(world.started(), ["a", "side"]);
    for task in ["a", "side", "b", "c"] {
        world.finish(task);
    }
    assert_eq!(world.state(), PlanState::Completed);
    assert!(world.tasks().lines().all(|line| line.ends_with("completed")));
}

#[test]
fn what_the_plan_itself_takes_back_stays_so_when_something_else_is_mended() {
    let mut world = World::with_plan(
        "
        cp     checkpoint=here
        b      after cp  undo=restore
        back   after b  undo_to=here
        other
        ",
    );
    world.finish("cp");
    world.finish("b");
    world.undo_ends("b", Ok("restored"));
    world.fail("other", Logic, "broken");
    assert_eq!(world.state(), PlanState::Failed);
    world.started();
    world.retry("other");
    assert_eq!(world.started(), ["other"]);
    world.finish("other");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn what_was_given_up_for_a_failure_that_is_taken_back_is_done_again() {
    let mut world = World::with_plan(
        "
        cp       checkpoint=here
        group    after cp
          x      undo=restore
          inner
            y    after x  undo=restore
            z    after y
          w      after y
        last     after group
        ",
    );
    world.finish("cp");
    world.finish("x");
    world.fail("y", Logic, "broken");
    assert_eq!(world.state(), PlanState::Failed);
    world.turn(Input::Undo { to: "here".to_owned(), by: "ana".to_owned(), why: "again".to_owned() });
    world.undo_ends("y", Ok("restored"));
    world.undo_ends("x", Ok("restored"));
    insta::assert_snapshot!(world.tasks(), @"
    cp     completed
    group  running
    x      ready
    inner  running
    y      pending    for x
    z      pending    for y
    w      pending    for y
    last   pending    for group
    ");
    world.resume();
    for task in ["x", "y", "z", "w", "last"] {
        world.finish(task);
    }
    assert_eq!(world.state(), PlanState::Completed);
    assert!(world.tasks().lines().all(|line| line.ends_with("completed")));
}

#[test]
fn what_was_given_up_half_done_and_is_left_as_it_is_goes_on_with_the_rest() {
    let mut world = World::with_plan(
        r#"
        cp     checkpoint=here
        group  after cp
          y
          v
          z    after v  inputs={"x":"tasks.y.x"}  undo=restore
        end    after cp
        "#,
    );
    world.finish("cp");
    world.finish_with("y", serde_json::json!({"x": 1}));
    world.finish("v");
    world.finish("z");
    world.pause();
    world.edit_output("y", serde_json::json!({"x": 2}));
    world.retry("v");
    world.resume();
    world.fail("v", Logic, "broken");
    world.finish("end");
    insta::assert_snapshot!(world.tasks(), @"
    cp     completed
    group  failed     its part `v` failed: broken
    y      completed
    v      failed     broken
    z      abandoned  `group` failed
    end    completed
    ");
    world.turn(Input::Undo { to: "here".to_owned(), by: "ana".to_owned(), why: "again".to_owned() });
    for _ in 0..3 {
        world.undo_ends("z", Err("it is stuck"));
    }
    world.resolve("z", Resolution::Skip);
    world.resume();
    world.finish_with("y", serde_json::json!({"x": 1}));
    world.finish("v");
    world.finish("z");
    world.finish("end");
    assert_eq!(world.state(), PlanState::Completed);
    assert!(world.tasks().lines().all(|line| line.ends_with("completed")));
}

#[test]
fn nothing_is_tried_again_while_things_are_taken_back() {
    let mut world = World::with_plan("policy.recovery.logic=[\"undo\"]\na undo=restore\nb after a");
    world.finish("a");
    world.fail("b", Logic, "broken");
    let retry = Input::Retry { task: gantry_core::id::TaskId::new("b").unwrap(), by: "ana".into(), why: String::new() };
    assert_eq!(world.refusal(retry), "what was done is being taken back right now [life::undoing]");
}
