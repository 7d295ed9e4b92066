//! Doing things again: what a change, a retry or an undo reaches, and in which order it is done.

use gantry_core::input::{Input, Resolution};
use gantry_core::life::PlanState;
use gantry_core::plan::{InitialStatus, On, Route};
use gantry_core::policy::FailureClass::Logic;
use gantry_testkit::World;
use serde_json::json;

fn state_of(world: &World, task: &str) -> String {
    world.life().task_state(task).unwrap().to_string()
}

fn take_back_everything(world: &mut World) {
    world.turn(Input::Undo { to: String::new(), by: "ana".to_owned(), why: "once more".to_owned() });
}

#[test]
fn what_failed_on_a_result_is_tried_again_when_the_result_changes() {
    let mut world = World::with_plan(
        r#"
        a
        b  inputs={"x":"tasks.a.x"}
        c  after b
        "#,
    );
    world.finish_with("a", json!({"x": 1}));
    world.fail("b", Logic, "x is too small");
    assert_eq!(world.state(), PlanState::Failed);
    world.started();
    world.edit_output("a", json!({"x": 2}));
    assert_eq!(world.started(), ["b"]);
    world.finish("b");
    world.finish("c");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn what_failed_behind_a_task_that_is_tried_again_is_tried_again_after_it() {
    let mut world = World::with_plan(
        "
        a
        m  after a
        b  after m
        ",
    );
    world.finish("a");
    world.finish("m");
    world.fail("b", Logic, "broken");
    world.started();
    world.retry("a");
    assert_eq!(world.started(), ["a"]);
    world.finish("a");
    assert_eq!(world.started(), ["b"], "m works on nothing that has changed");
    world.finish("b");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_failure_that_was_answered_stays_answered_while_nothing_it_works_on_changes() {
    let mut world = World::with_plan(
        r#"
        a
        b    inputs={"x":"tasks.a.x"}  on failure -> fix
        fix
        "#,
    );
    world.finish_with("a", json!({"x": 1}));
    world.fail("b", Logic, "broken");
    world.finish("fix");
    world.started();
    world.retry("a");
    world.finish_with("a", json!({"x": 1}));
    assert_eq!(world.started(), ["a"], "the same input, the same answer");
    assert_eq!(world.state(), PlanState::Completed);
    world.edit_output("a", json!({"x": 2}));
    assert_eq!(world.started(), ["b"]);
    world.finish("b");
    insta::assert_snapshot!(world.tasks(), @"
    a    completed
    b    completed
    fix  skipped    no route led to it
    ");
}

#[test]
fn parts_wait_for_what_their_composite_waits_for_whenever_they_are_done_again() {
    for order in [["y", "x"], ["x", "y"]] {
        let mut world = World::with_plan(
            "
            y
            p  after y
              x
            q  ask
            ",
        );
        world.finish("y");
        world.finish("x");
        world.pause();
        world.started();
        for task in order {
            world.retry(task);
        }
        world.resume();
        assert_eq!(world.started(), ["y"], "{order:?}");
        world.finish("y");
        assert_eq!(world.started(), ["x"], "{order:?}");
        world.finish("x");
        assert_eq!(state_of(&world, "p"), "completed", "{order:?}");
    }
}

#[test]
fn nobody_begins_behind_a_composite_with_a_part_in_question() {
    let mut world = World::with_plan(
        r#"
        y
        p
          x  inputs={"v":"tasks.y.v"}
        q  ask
        z  after p, q
        "#,
    );
    world.finish_with("y", json!({"v": 1}));
    world.finish("x");
    world.retry("y");
    world.started();
    world.answer("q", "yes");
    assert!(world.started().is_empty(), "x may have to be done again");
    world.finish_with("y", json!({"v": 2}));
    assert_eq!(world.started(), ["x"]);
    world.finish("x");
    assert_eq!(world.started(), ["z"]);
}

#[test]
fn the_own_action_of_a_composite_waits_for_parts_in_question() {
    let mut world = World::with_plan(
        r#"
        y
        p  run=build
          x  inputs={"v":"tasks.y.v"}
          w
        "#,
    );
    world.finish_with("y", json!({"v": 1}));
    world.finish("x");
    world.retry("y");
    world.started();
    world.finish("w");
    assert!(world.started().is_empty());
    world.finish_with("y", json!({"v": 1}));
    assert_eq!(world.started(), ["p"], "x stays done, and the parts are over");
}

#[test]
fn where_a_route_leads_nothing_begins_while_its_beginning_is_in_question() {
    let mut world = World::with_plan(
        r#"
        y
        s  inputs={"v":"tasks.y.v"}  on deploy -> t  on stop -> u
        q  ask
        t  after q
        u
        "#,
    );
    world.finish_with("y", json!({"v": 1}));
    world.finish_as("s", "deploy");
    world.retry("y");
    world.started();
    world.answer("q", "yes");
    assert!(world.started().is_empty(), "the decision may change");
    world.finish_with("y", json!({"v": 2}));
    assert_eq!(world.started(), ["s"]);
    world.finish_as("s", "stop");
    assert_eq!(world.started(), ["u"]);
    world.finish("u");
    assert_eq!(state_of(&world, "t"), "skipped");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn what_was_taken_back_is_done_again_for_whoever_needs_it() {
    let mut world = World::with_plan(
        r#"
        policy.recovery.logic=["undo"]
        p
          a  undo=restore
          b  after a  undo=restore
          c  after b
        z  after p
        "#,
    );
    world.finish("a");
    world.finish("b");
    world.fail("c", Logic, "broken");
    world.undo_ends("b", Ok("restored"));
    world.undo_ends("a", Ok("restored"));
    assert_eq!(world.state(), PlanState::Failed);
    world.started();
    world.retry("c");
    assert_eq!(world.started(), ["a"]);
    world.finish("a");
    world.finish("b");
    world.finish("c");
    world.finish("z");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_task_that_takes_back_what_it_waited_for_goes_on_afterwards() {
    let mut world = World::with_plan(
        "
        cp    checkpoint=here
        b     after cp  undo=restore
        back  after b  undo_to=here
        c     after back
        ",
    );
    world.finish("cp");
    world.finish("b");
    world.undo_ends("b", Ok("restored"));
    world.started();
    insta::assert_snapshot!(world.tasks(), @"
    cp    completed
    b     abandoned  taken back
    back  completed
    c     running
    ");
}

#[test]
fn after_everything_is_taken_back_everything_is_done_in_order() {
    let mut world = World::with_plan(
        "
        a
        b    after a  on failure -> fix
        fix
        ",
    );
    world.finish("a");
    world.fail("b", Logic, "broken");
    world.finish("fix");
    world.started();
    take_back_everything(&mut world);
    world.resume();
    assert_eq!(world.started(), ["a"]);
    world.finish("a");
    assert_eq!(world.started(), ["b"]);
    world.finish("b");
    assert_eq!(world.state(), PlanState::Completed);
    assert_eq!(state_of(&world, "fix"), "skipped");
}

#[test]
fn half_done_work_can_be_taken_back_as_often_as_it_was_tried() {
    let mut world = World::with_plan(
        r#"
        policy.recovery.logic=["escalate"]
        a  undo=restore
        "#,
    );
    for _ in 0..2 {
        world.fail("a", Logic, "broken");
        world.wishes();
        take_back_everything(&mut world);
        assert!(world.wishes().contains("start_undo a"));
        world.undo_ends("a", Ok("restored"));
        world.resume();
        world.resolve("a", Resolution::Retry { guidance: None });
    }
}

#[test]
fn an_edit_is_held_against_the_definition_of_done() {
    let mut world = World::with_plan(
        r#"
        plan.done_when=["a.x == 2"]
        a
        "#,
    );
    world.finish_with("a", json!({"x": 1}));
    assert_eq!(world.state(), PlanState::Failed);
    world.edit_output("a", json!({"x": 2}));
    assert_eq!(world.state(), PlanState::Completed);
    world.edit_output("a", json!({"x": 3}));
    assert_eq!(world.state(), PlanState::Failed);
}

#[test]
fn an_edit_takes_the_other_way_where_routes_read_what_was_edited() {
    let mut world = World::with_plan(
        r#"
        a  next=[{"on":"success","to":"b","when":"x < 5"},{"on":"success","to":"c","when":"x >= 5"}]
        b
        c
        "#,
    );
    world.finish_with("a", json!({"x": 1}));
    world.finish("b");
    world.started();
    world.edit_output("a", json!({"x": 9}));
    assert_eq!(world.started(), ["c"], "a itself is not done again");
    world.finish("c");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_gate_is_asked_again_whatever_was_made_before_it_changes() {
    let mut world = World::with_plan(
        r#"
        w
        m     after w
        g     after m  gate={"approvals":1}
        ship  after g  inputs={"x":"tasks.w.x"}
        "#,
    );
    world.finish_with("w", json!({"x": 1}));
    world.finish("m");
    world.approve("g", "ana");
    world.finish("ship");
    world.started();
    world.edit_output("w", json!({"x": 2}));
    assert!(world.started().is_empty(), "nobody has approved that");
    world.approve("g", "ana");
    assert_eq!(world.started(), ["ship"]);
}

#[test]
fn a_revision_that_says_that_a_task_is_done_is_believed() {
    let mut world = World::with_plan(
        "
        q  ask
        a  after q
        b  after a
        c  after a
        ",
    );
    world.started();
    world.revise(|plan| {
        plan.tasks[1].status = InitialStatus::Completed;
        plan.tasks[2].status = InitialStatus::Skipped;
    });
    assert_eq!(world.started(), ["c"], "a is done, b is not needed");
}

#[test]
fn a_route_that_a_finished_task_gets_later_is_taken() {
    let mut world = World::with_plan(
        "
        a
        hold  after a  ask
        c     after hold
        ",
    );
    world.finish("a");
    world.started();
    world.revise(|plan| {
        let to = plan.tasks[2].id.clone();
        plan.tasks[0].next.push(Route { on: On::Success, to, when: None, max: None });
        plan.tasks[2].depends_on.clear();
    });
    assert_eq!(world.started(), ["c"]);
}

#[test]
fn a_word_about_a_finished_round_does_not_begin_it_again() {
    let mut world = World::with_plan(
        r#"
        work
        tests  after work  next=[{"on":"failure","to":"work","max":3}]
        "#,
    );
    world.finish("work");
    world.fail("tests", Logic, "red");
    world.finish("work-r2");
    world.finish("tests-r2");
    assert_eq!(world.state(), PlanState::Completed);
    world.started();
    world.revise(|plan| plan.tasks[1].labels.push("slow".to_owned()));
    assert!(world.started().is_empty());
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_question_about_a_composite_is_withdrawn_while_a_part_of_it_is_in_question() {
    let mut world = World::with_plan(
        r#"
        policy.judge=person
        y
        p  success_criteria=["people like it"]
          x  inputs={"v":"tasks.y.v"}
        z  after p
        "#,
    );
    world.finish_with("y", json!({"v": 1}));
    world.finish("x");
    assert_eq!(state_of(&world, "p"), "waiting");
    world.started();
    world.retry("y");
    assert_eq!(state_of(&world, "p"), "running");
    world.finish_with("y", json!({"v": 2}));
    world.finish("x");
    world.judge("p", true, "they do");
    assert_eq!(world.started(), ["y", "x", "z"]);
}
