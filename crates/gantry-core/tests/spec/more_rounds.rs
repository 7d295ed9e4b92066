//! Loops whose rounds are used up: what is said about it, and how they get more.

use gantry_core::event::Event;
use gantry_core::input::{Change, Input};
use gantry_core::life::PlanState;
use gantry_core::plan::Plan;
use gantry_core::policy::FailureClass::Logic;
use gantry_testkit::World;
use serde_json::json;

const LOOP: &str = "implement\ntests after implement on failure -> implement max=1\nship after tests";

/// A plan whose loop has made the one round that it may make.
fn used_up(drawing: &str) -> World {
    let mut world = World::with_plan(drawing);
    world.finish("implement");
    world.fail("tests", Logic, "red");
    world.finish("implement-r2");
    world.fail("tests-r2", Logic, "red again");
    assert_eq!(world.state(), PlanState::Failed);
    world.started();
    world
}

/// Revises the plan with this drawing, as if it were read from a file.
fn read_again(world: &mut World, drawing: &str) {
    let mut input = world.revision(|_| {});
    if let Input::Revise { change, .. } = &mut input {
        *change = Change::To(Box::new(gantry_testkit::draw_plan(drawing)));
    }
    world.turn(input);
}

fn goes_round_once_more(mut world: World) {
    assert_eq!(world.started(), ["tests-r2"], "it is tried again");
    world.fail("tests-r2", Logic, "still red");
    assert_eq!(world.started(), ["implement-r3"], "and may send work back once more");
    world.finish("implement-r3");
    world.finish("tests-r3");
    world.finish("ship");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_loop_that_may_go_round_more_often_goes_on_where_it_ended() {
    let mut world = used_up(LOOP);
    world.revise(|plan| {
        plan.tasks.iter_mut().find(|task| task.id.as_str() == "tests-r2").unwrap().next[0].max = Some(2);
    });
    goes_round_once_more(world);
}

#[test]
fn the_first_file_may_be_read_again_with_a_higher_limit() {
    let mut world = used_up(LOOP);
    read_again(&mut world, &LOOP.replace("max=1", "max=2"));
    goes_round_once_more(world);
}

#[test]
fn a_limit_that_is_changed_in_any_round_is_the_limit_of_the_loop() {
    let first =
        |plan: &mut Plan| plan.tasks.iter_mut().find(|task| task.id.as_str() == "tests").unwrap().next[0].max = Some(2);
    let mut world = used_up(LOOP);
    world.revise(first);
    goes_round_once_more(world);
}

#[test]
fn a_policy_that_allows_more_rounds_lets_loops_go_on() {
    let drawing = LOOP.replace("max=1", "max=5");
    let mut world = used_up(&format!("policy.rounds_max=1\n{drawing}"));
    world.revise(|plan| plan.policy.rounds_max = Some(2));
    goes_round_once_more(world);
}

#[test]
fn a_limit_above_that_of_the_policy_lets_nothing_go_on() {
    let mut world = used_up(&format!("policy.rounds_max=1\n{LOOP}"));
    world.revise(|plan| {
        plan.tasks.iter_mut().find(|task| task.id.as_str() == "tests-r2").unwrap().next[0].max = Some(5);
    });
    assert!(world.started().is_empty());
    assert_eq!(world.state(), PlanState::Failed);
}

#[test]
fn a_loop_that_ended_with_what_it_has_goes_on_from_its_recorded_answer() {
    let mut world = World::with_plan("poll on pending -> poll max=1\nuse after poll");
    world.finish_as("poll", "pending");
    world.finish_as("poll-r2", "pending");
    world.finish("use");
    assert_eq!(world.state(), PlanState::Completed);
    world.started();
    world
        .revise(|plan| plan.tasks.iter_mut().find(|task| task.id.as_str() == "poll-r2").unwrap().next[0].max = Some(2));
    assert_eq!(world.started(), ["poll-r3"], "the answer was `pending`, nobody has to ask again");
    world.finish_as("poll-r3", "ready");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_gate_that_may_send_work_back_more_often_keeps_what_was_said_and_asked() {
    let mut world = World::with_plan("draft\nsign gate after draft gate={\"rounds_max\":1}");
    world.finish("draft");
    world.needs_changes("sign", "ana");
    world.finish("draft-r2");
    let again = || World::review("ana", "sign-r2", gantry_core::input::Decision::NeedsChanges);
    assert!(world.refusal(again()).contains("1 round was made"));
    let length = world.length();
    read_again(&mut world, "draft\nsign gate after draft gate={\"rounds_max\":2}");
    assert_eq!(world.log_since(length).lines().count(), 1, "nothing is asked anew");
    world.turn(again());
    assert_eq!(world.started().last().unwrap(), "draft-r3");
}

#[test]
fn a_composite_that_may_go_round_more_often_does() {
    let mut world = World::with_plan(
        "
        design
        build  after design  on failure -> design max=1
          edit
          link after edit
        ",
    );
    world.finish("design");
    world.fail("edit", Logic, "broken");
    world.finish("design-r2");
    world.fail("edit-r2", Logic, "broken again");
    assert_eq!(world.state(), PlanState::Failed);
    world.started();
    world.revise(|plan| {
        plan.tasks.iter_mut().find(|task| task.id.as_str() == "build-r2").unwrap().next[0].max = Some(2);
    });
    assert_eq!(world.started(), ["design-r3"]);
}

#[test]
fn a_failure_at_the_end_of_a_loop_says_what_it_may_not_do_any_more() {
    let world = used_up(LOOP);
    let end = world.life().rounds_used_up("tests-r2").unwrap();
    assert_eq!((end.to.as_str(), end.rounds, end.by_policy), ("implement-r2", 1, false));
    assert_eq!(world.life().rounds_used_up("tests"), None, "that one was done again");
    let world = used_up(&format!("policy.rounds_max=1\n{}", LOOP.replace("max=1", "max=5")));
    assert!(world.life().rounds_used_up("tests-r2").unwrap().by_policy);
}

/// What was made from the first round, beside the loop.
const BESIDE: &str = r#"
    implement
    docs   inputs={"loc":"tasks.implement.loc"}
    index  inputs={"pages":"tasks.docs.pages"}
    news   after implement
    tests  after implement  on failure -> implement max=1
    ship   after tests, index
"#;

/// The first round is over, the second has begun.
fn in_the_second_round(drawing: &str) -> World {
    let mut world = World::with_plan(drawing);
    world.finish_with("implement", json!({"loc": 10}));
    world.finish_with("docs", json!({"pages": 1}));
    world.finish("index");
    world.finish("news");
    world.started();
    world.fail("tests", Logic, "red");
    world
}

#[test]
fn what_was_made_from_an_old_round_beside_the_loop_is_made_from_the_new_one() {
    let mut world = in_the_second_round(BESIDE);
    assert_eq!(world.started(), ["implement-r2"]);
    insta::assert_snapshot!(world.tasks(), @"
    implement     completed
    docs          pending    for implement-r2
    index         completed
    news          completed
    tests         failed     red
    implement-r2  running
    tests-r2      pending    for implement-r2
    ship          pending    for tests-r2, index
    ");
    world.finish_with("implement-r2", json!({"loc": 20}));
    assert_eq!(world.started(), ["docs", "tests-r2"], "news only came after it and stays done");
    world.finish_with("docs", json!({"pages": 1}));
    assert!(world.started().is_empty(), "the same pages, the same index");
    world.finish("tests-r2");
    world.finish("ship");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_new_round_that_gives_the_same_has_nothing_beside_it_done_again() {
    let mut world = in_the_second_round(&BESIDE.replace(
        "docs   inputs={\"loc\":\"tasks.implement.loc\"}",
        "docs tool={\"name\":\"print\",\"args\":{\"loc\":\"tasks.implement.loc\"}}",
    ));
    world.started();
    world.finish_with("implement-r2", json!({"loc": 10}));
    assert_eq!(world.started(), ["tests-r2"]);
    assert_eq!(world.life().outputs("docs").unwrap()["pages"], 1, "its recorded answer serves");
    world.finish("tests-r2");
    world.finish("ship");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn what_works_on_an_old_round_while_the_new_one_begins_is_done_again_for_it() {
    let mut world = World::with_plan(BESIDE);
    world.finish_with("implement", json!({"loc": 10}));
    world.fail("tests", Logic, "red");
    world.started();
    world.finish_with("docs", json!({"pages": 1}));
    world.finish_with("implement-r2", json!({"loc": 20}));
    assert_eq!(world.started(), ["docs", "tests-r2"]);
    world.finish_with("docs", json!({"pages": 2}));
    world.finish("index");
    assert_eq!(world.starts()[0].inputs["pages"], 2);
}

#[test]
fn a_computed_value_beside_a_loop_follows_its_rounds() {
    let mut world = World::with_plan(
        r#"
        implement
        size   after implement  compute={"twice":"implement.loc * 2"}
        tests  after implement  on failure -> implement max=1
        "#,
    );
    world.finish_with("implement", json!({"loc": 10}));
    assert_eq!(world.life().outputs("size").unwrap()["twice"], 20);
    world.fail("tests", Logic, "red");
    world.finish_with("implement-r2", json!({"loc": 11}));
    assert_eq!(world.life().outputs("size").unwrap()["twice"], 22);
}

#[test]
fn parts_of_a_map_beside_a_loop_follow_its_rounds() {
    let mut world = World::with_plan(
        r#"
        implement
        each   map  map={"over":"tasks.implement.files","each":{"id":"x","action":{"run":"look"}}}
        tests  after implement  on failure -> implement max=1
        "#,
    );
    world.finish_with("implement", json!({"files": ["a", "b"]}));
    world.finish("each-1");
    world.finish("each-2");
    world.started();
    world.fail("tests", Logic, "red");
    world.finish_with("implement-r2", json!({"files": ["a", "c"]}));
    assert_eq!(world.started(), ["implement-r2", "each-2", "tests-r2"]);
    world.finish("each-2");
    world.finish("tests-r2");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn what_failed_beside_a_loop_is_tried_again_with_the_new_round() {
    let mut world = World::with_plan(BESIDE);
    world.finish_with("implement", json!({"loc": 10}));
    world.fail("docs", Logic, "too long");
    world.started();
    world.fail("tests", Logic, "red");
    world.finish_with("implement-r2", json!({"loc": 5}));
    assert_eq!(world.started(), ["implement-r2", "docs", "tests-r2"]);
}

#[test]
fn an_inner_loop_that_a_whole_round_has_repeated_stays_as_it_was() {
    let mut world = World::with_plan(
        r#"
        design
        impl    inputs={"design":"tasks.design.text"}
        tests   after impl  on failure -> impl max=1
        review  after tests  on failure -> design max=1
        "#,
    );
    world.finish_with("design", json!({"text": "one"}));
    world.finish("impl");
    world.fail("tests", Logic, "red");
    world.finish("impl-r2");
    world.finish("tests-r2");
    world.fail("review", Logic, "no");
    world.finish_with("design-r2", json!({"text": "two"}));
    world.finish("impl-r2-2");
    world.finish("tests-r2-2");
    world.finish("review-r2");
    assert_eq!(world.state(), PlanState::Completed);
    assert_eq!(world.life().task_life("impl").unwrap().attempt.0, 1);
    assert_eq!(world.life().task_life("impl-r2").unwrap().attempt.0, 1);
}

#[test]
fn what_a_round_repeats_with_all_of_its_parts_stays_as_it_was() {
    let mut world = World::with_plan(
        r#"
        list
        facts  after list
        each   map  map={"over":"tasks.list.files","each":{"id":"x","action":{"run":"look"},"inputs":{"known":"tasks.facts.all"}}}
        check  after each  manual  on success -> list max=1
        "#,
    );
    world.finish_with("list", json!({"files": ["a"]}));
    world.finish_with("facts", json!({"all": 1}));
    world.finish("each-1");
    world.started();
    world.done_by("check", "ana");
    assert_eq!(world.started(), ["list-r2"]);
    insta::assert_snapshot!(world.tasks(), @"
    list      completed
    facts     completed
    each      completed
    each-1    completed
    check     completed
    list-r2   running
    facts-r2  pending    for list-r2
    each-r2   pending    for list-r2, facts-r2
    check-r2  pending    for each-r2
    ");
    world.finish_with("list-r2", json!({"files": ["a"]}));
    world.finish_with("facts-r2", json!({"all": 2}));
    assert_eq!(world.started(), ["facts-r2", "each-r2-1"], "the old part is over");
}

#[test]
fn a_loop_in_a_composite_that_may_go_round_more_often_takes_along_what_was_given_up() {
    let mut world = World::with_plan(
        "
        group
          implement
          tests  after implement  on failure -> implement max=1
          ship   after tests
        deploy  after group
        ",
    );
    world.finish("implement");
    world.fail("tests", Logic, "red");
    world.finish("implement-r2");
    world.fail("tests-r2", Logic, "red again");
    assert_eq!(world.state(), PlanState::Failed);
    world.revise(|plan| {
        plan.tasks.iter_mut().find(|task| task.id.as_str() == "tests-r2").unwrap().next[0].max = Some(2);
    });
    world.started();
    world.finish("tests-r2");
    assert_eq!(world.started(), ["ship"]);
    world.finish("ship");
    assert_eq!(world.started(), ["deploy"]);
}

/// A loop, and beside it who is led to by a route and reads, and who is computed from it one task further.
const FURTHER: &str = r#"
    implement  on success -> docs
    docs   inputs={"loc":"tasks.implement.loc"}
    tests  after implement  on failure -> implement max=1
    mid    after implement
    far    after mid  compute={"cents":"implement.loc * 100"}
"#;

#[test]
fn who_is_led_to_by_a_repeated_task_and_reads_it_reads_the_new_round() {
    let mut world = World::with_plan(FURTHER);
    world.finish_with("implement", json!({"loc": 1}));
    world.finish("docs");
    world.finish("mid");
    world.fail("tests", Logic, "red");
    world.started();
    world.finish_with("implement-r2", json!({"loc": 2}));
    assert_eq!(world.started(), ["docs", "tests-r2"]);
    world.finish("docs");
    world.finish("tests-r2");
    assert_eq!(world.state(), PlanState::Completed);
    let docs = world.life().definition("docs").unwrap();
    assert_eq!(json!(docs.inputs["loc"]), json!("tasks.implement-r2.loc"));
}

#[test]
fn what_is_computed_further_behind_a_loop_is_computed_from_the_new_round() {
    let mut world = World::with_plan(FURTHER);
    world.finish_with("implement", json!({"loc": 1}));
    world.finish("docs");
    world.finish("mid");
    assert_eq!(world.life().task_life("far").unwrap().outputs["cents"], json!(100));
    world.fail("tests", Logic, "red");
    world.finish_with("implement-r2", json!({"loc": 2}));
    assert_eq!(world.life().task_life("far").unwrap().outputs["cents"], json!(200));
}

#[test]
fn who_is_led_to_by_a_repeated_task_and_has_not_begun_waits_for_the_new_round() {
    let mut world =
        World::with_plan(&format!("    slow{}", FURTHER.replace("docs   inputs", "docs after slow inputs")));
    world.finish_with("implement", json!({"loc": 1}));
    world.fail("tests", Logic, "red");
    world.started();
    world.finish("slow");
    world.finish("mid");
    assert!(world.started().is_empty(), "neither `docs` nor `far` begin while the new round is made");
    world.finish_with("implement-r2", json!({"loc": 2}));
    assert_eq!(world.started(), ["docs", "tests-r2"]);
    assert_eq!(world.life().task_life("far").unwrap().outputs["cents"], json!(200));
}

#[test]
fn a_composite_beside_a_loop_waits_for_the_new_round() {
    let mut world = World::with_plan(
        r#"
        implement
        tests  after implement  on failure -> implement max=1
        doc    run=make  inputs={"loc":"tasks.implement.loc"}
          part
        "#,
    );
    world.finish_with("implement", json!({"loc": 1}));
    world.fail("tests", Logic, "red");
    world.started();
    world.finish("part");
    assert!(world.started().is_empty(), "its own action waits for the new round");
    world.finish_with("implement-r2", json!({"loc": 2}));
    assert_eq!(world.started(), ["doc", "tests-r2"]);
}

#[test]
fn a_part_of_a_map_that_sends_work_back_ends_with_that_alone() {
    let mut world = World::with_plan(
        r#"
        draft
        m      after draft  map={"over":[1,2],"each":{"id":"each","action":{"gate":{}},"inputs":{"known":"tasks.draft.x"}}}
        "#,
    );
    world.finish_with("draft", json!({"x": 1}));
    world.needs_changes("m-1", "bo");
    let again = |event: &Event| matches!(event, Event::TaskReopened { task, .. } if task.as_str() == "m-1");
    assert_eq!(world.count(again), 0);
    assert_eq!(world.count(|event| matches!(event, Event::TaskCompleted { task, .. } if task.as_str() == "m-1")), 1);
    assert_eq!(world.started(), ["draft", "draft-r2"]);
}
