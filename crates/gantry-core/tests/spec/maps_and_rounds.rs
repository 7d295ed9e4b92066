//! The plan grows while it runs: maps and bounded loops, each step a new revision.

use gantry_core::life::PlanState;
use gantry_core::plan::Input as PlanInput;
use gantry_core::policy::FailureClass::Logic;
use gantry_testkit::World;
use serde_json::json;

/// A list, and work on each of its items.
const GAPS_AND_DIG: &str = r#"
    gaps
    dig  map  map={"over":"tasks.gaps.list","each":{"id":"x","action":{"run":"dig"}}}
"#;

#[test]
fn a_map_becomes_one_task_for_each_item_and_gives_their_results_in_order() {
    let mut world = World::with_plan(
        r#"
        gaps
        deep-dive  map  map={"over":"tasks.gaps.list","each":{"id":"x","kind":"research","action":{"run":"dig"}}}
        report     inputs={"found":"tasks.deep-dive.results"}
        "#,
    );
    world.started();
    world.finish_with("gaps", json!({"list": ["loss", "pacing"]}));
    assert_eq!(world.started(), ["deep-dive-1", "deep-dive-2"]);
    world.finish_with("deep-dive-2", json!({"n": 2}));
    insta::assert_snapshot!(world.tasks(), @"
    gaps         completed
    deep-dive    running
    deep-dive-1  running
    deep-dive-2  completed
    report       pending    for deep-dive
    ");
    world.finish_with("deep-dive-1", json!({"n": 1}));
    assert_eq!(serde_json::to_string(&world.starts()[0].inputs).unwrap(), r#"{"found":[{"n":1},{"n":2}]}"#);
    assert_eq!(world.life().revision().0, 2);
}

#[test]
fn a_map_over_nothing_is_done_at_once() {
    let mut world = World::with_plan("gaps\nall map map={\"over\":\"tasks.gaps.list\"}\nlast after all");
    world.started();
    world.finish_with("gaps", json!({"list": []}));
    assert_eq!(world.started(), ["last"]);
}

#[test]
fn a_map_never_grows_beyond_its_limit() {
    let mut world = World::with_plan("gaps\nall map map={\"over\":\"tasks.gaps.list\",\"max\":2}");
    world.finish_with("gaps", json!({"list": [1, 2, 3]}));
    insta::assert_snapshot!(world.tasks(), @"
    gaps  completed
    all   waiting    help: the list has 3 items, but at most 2 are allowed
    ");
}

#[test]
fn a_map_over_something_else_fails_by_name() {
    let mut world = World::with_plan("gaps\nall map map={\"over\":\"tasks.gaps.list\"}");
    world.finish_with("gaps", json!({"list": "loss"}));
    insta::assert_snapshot!(world.tasks(), @"
    gaps  completed
    all   failed     it maps over a text, not over a list
    ");
}

#[test]
fn when_the_list_changes_only_the_changed_items_are_redone() {
    let mut world = World::with_plan(GAPS_AND_DIG);
    world.finish_with("gaps", json!({"list": ["a", "b", "c"]}));
    for n in 1..=3 {
        world.finish(&format!("dig-{n}"));
    }
    world.started();
    world.edit_output("gaps", json!({"list": ["a", "B"]}));
    assert_eq!(world.started(), ["dig-2"]);
    insta::assert_snapshot!(world.tasks(), @"
    gaps   completed
    dig    running
    dig-1  completed
    dig-2  running    attempt 2
    ");
}

#[test]
fn a_list_that_changes_while_its_items_are_worked_on_is_mapped_anew_at_once() {
    let mut world = World::with_plan(GAPS_AND_DIG);
    world.finish_with("gaps", json!({"list": ["a", "b"]}));
    world.finish("dig-1");
    world.started();
    world.edit_output("gaps", json!({"list": ["a", "b", "c"]}));
    assert_eq!(world.started(), ["dig-3"], "what is under way goes on");
    world.finish("dig-2");
    world.finish("dig-3");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_list_that_is_made_anew_while_its_items_are_worked_on_is_mapped_anew() {
    let mut world = World::with_plan(GAPS_AND_DIG);
    world.finish_with("gaps", json!({"list": ["a"]}));
    world.retry("gaps");
    world.finish_with("gaps", json!({"list": ["a", "b"]}));
    world.finish("dig-1");
    assert!(world.tasks().contains("dig-2  running"), "{}", world.tasks());
    world.finish("dig-2");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_map_whose_list_is_being_made_anew_waits_for_it() {
    let mut world = World::with_plan(GAPS_AND_DIG);
    world.finish_with("gaps", json!({"list": ["a"]}));
    world.retry("gaps");
    world.finish("dig-1");
    world.finish_with("gaps", json!({"list": ["a", "b"]}));
    assert!(world.tasks().contains("dig-2  running"), "{}", world.tasks());
}

#[test]
fn a_route_back_is_a_bounded_loop_and_the_plan_stays_acyclic() {
    let mut world = World::with_plan(
        "
        implement
        tests      after implement  on failure -> implement max=2
        ship       after tests
        ",
    );
    world.finish("implement");
    world.started();
    world.fail("tests", Logic, "2 tests failed");
    assert_eq!(serde_json::to_string(&world.starts()[0].inputs).unwrap(), r#"{"feedback":"2 tests failed"}"#);
    world.finish("implement-r2");
    world.fail("tests-r2", Logic, "1 test failed");
    world.finish("implement-r3");
    insta::assert_snapshot!(world.tasks(), @"
    implement     completed
    tests         failed     2 tests failed
    implement-r2  completed
    tests-r2      failed     1 test failed
    implement-r3  completed
    tests-r3      running
    ship          pending    for tests-r3
    ");
    world.finish("tests-r3");
    world.finish("ship");
    assert_eq!(world.state().to_string(), "completed");
    assert!(world.life().plan().check().is_empty());
}

#[test]
fn after_the_last_round_the_failure_stands() {
    let mut world = World::with_plan("a\nb after a on failure -> a max=1\nc after b");
    world.finish("a");
    world.fail("b", Logic, "once");
    world.finish("a-r2");
    world.fail("b-r2", Logic, "twice");
    assert_eq!(world.state().to_string(), "failed");
    insta::assert_snapshot!(world.tasks(), @"
    a     completed
    b     failed     once
    a-r2  completed
    b-r2  failed     twice
    c     blocked    for b-r2
    ");
}

#[test]
fn a_round_repeats_whole_composites_and_rewires_what_waits_behind() {
    let mut world = World::with_plan(
        r#"
        build
          compile
          link     after compile
        tests      after build  on failure -> build max=1
        ship       after tests  inputs={"log":"tasks.tests.log"}
        "#,
    );
    world.finish("compile");
    world.finish("link");
    world.fail("tests", Logic, "red");
    world.finish("compile-r2");
    world.finish("link-r2");
    world.finish_with("tests-r2", json!({"log": "green"}));
    assert_eq!(serde_json::to_string(&world.starts().last().unwrap().inputs).unwrap(), r#"{"log":"green"}"#);
    insta::assert_snapshot!(world.tasks(), @"
    build       completed
    compile     completed
    link        completed
    tests       failed     red
    build-r2    completed
    compile-r2  completed
    link-r2     completed
    tests-r2    completed
    ship        running
    ");
}

#[test]
fn expressions_mean_the_newest_round() {
    let mut world = World::with_plan(
        r#"
        plan.done_when=["tests.exit_code == 0"]
        fix
        tests  after fix  on failure -> fix max=3
        "#,
    );
    world.finish("fix");
    world.fail("tests", Logic, "red");
    world.finish("fix-r2");
    world.finish_with("tests-r2", json!({"exit_code": 0}));
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn a_task_may_repeat_itself_a_bounded_number_of_times() {
    let mut world = World::with_plan("poll on pending -> poll max=3\nuse after poll");
    world.finish_as("poll", "pending");
    world.finish_as("poll-r2", "pending");
    world.started();
    world.finish_as("poll-r3", "ready");
    assert_eq!(world.started(), ["use"]);
}

#[test]
fn a_nested_plan_runs_as_one_attempt_with_its_parameters() {
    let mut world = World::with_plan(
        r#"
        scope
        inner  plan  plan={"template":"debug-500","with":{"service":"tasks.scope.service"}}
        "#,
    );
    world.started();
    world.finish_with("scope", json!({"service": "checkout"}));
    let start = world.starts()[0].clone();
    assert_eq!(start.action.key(), "plan");
    assert_eq!(serde_json::to_string(&start.inputs).unwrap(), r#"{"with":{"service":"checkout"}}"#);
}

#[test]
fn an_own_input_called_feedback_is_kept_in_every_round() {
    let mut world = World::with_plan(
        r#"
        notes
        impl   after notes  inputs={"feedback":"tasks.notes.text"}
        tests  after impl  on failure -> impl max=2
        "#,
    );
    world.finish_with("notes", json!({"text": "be quick"}));
    world.finish("impl");
    world.fail("tests", Logic, "red");
    world.finish("impl-r2");
    world.fail("tests-r2", Logic, "red again");
    let inputs: Vec<_> = world
        .starts()
        .iter()
        .filter(|start| start.task.as_str().starts_with("impl"))
        .map(|start| start.inputs["feedback"].clone())
        .collect();
    assert_eq!(inputs, ["be quick", "be quick", "be quick"]);
}

#[test]
fn a_round_is_told_why_it_is_needed_each_time_anew() {
    let mut world = World::with_plan("impl\ntests after impl on failure -> impl max=2");
    world.finish("impl");
    world.fail("tests", Logic, "red");
    world.finish("impl-r2");
    world.fail("tests-r2", Logic, "red again");
    let told = |task: &str| world.life().definition(task).unwrap().inputs["feedback"].clone();
    assert_eq!(told("impl-r2"), PlanInput::Value(json!("red")));
    assert_eq!(told("impl-r3"), PlanInput::Value(json!("red again")));
}

#[test]
fn an_edit_of_a_part_reaches_the_results_of_its_map() {
    let mut world = World::with_plan(
        r#"
        m     map={"over":[1,2],"each":{"id":"e","action":{"run":"true"}}}
        read  inputs={"all":"tasks.m.results"}
        "#,
    );
    world.finish_with("m-1", json!({"x": 1}));
    world.finish_with("m-2", json!({"x": 2}));
    world.finish("read");
    world.started();
    world.edit_output("m-2", json!({"x": 5}));
    assert_eq!(world.life().outputs("m").unwrap()["results"], json!([{"x": 1}, {"x": 5}]));
    assert_eq!(world.started(), ["read"]);
}

#[test]
fn a_loop_that_came_to_a_good_end_leaves_nothing_degraded() {
    let mut world = World::with_plan("impl\ntests after impl on failure -> impl max=2\nextra optional=true");
    world.started();
    world.finish("impl");
    world.fail("tests", Logic, "red");
    world.finish("impl-r2");
    world.finish("tests-r2");
    world.fail("extra", Logic, "gone");
    insta::assert_snapshot!(world.log_since(world.length() - 1), @r#"plan_completed degraded=["extra"]"#);
}

#[test]
fn a_part_that_goes_takes_along_what_a_map_inside_it_has_made() {
    let mut world = World::with_plan(
        r#"
        gaps
        all  map={"over":"tasks.gaps.list","each":{"id":"x","action":{"map":{"over":[1,2],"each":{"id":"y","action":{"run":"dig"}}}}}}
    "#,
    );
    world.finish_with("gaps", json!({"list": ["one"]}));
    assert_eq!(world.started(), ["gaps", "all-1-1", "all-1-2"]);
    world.finish("all-1-1");
    world.finish("all-1-2");
    world.edit_output("gaps", json!({"list": []}));
    assert_eq!(world.life().plan().tasks.len(), 2, "nothing is left of it");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn names_of_full_length_have_rounds_and_parts_too() {
    let long = "x".repeat(100);
    let mut world = World::with_plan(&format!(
        r#"
        {long}  map={{"over":[1,2],"each":{{"id":"x","action":{{"run":"dig"}}}}}}
        check   after {long}  next=[{{"on":"failure","to":"{long}","max":2}}]
        "#
    ));
    let cut = |ending: &str| format!("{}{ending}", "x".repeat(100 - ending.len()));
    world.finish(&cut("-1"));
    world.finish(&cut("-2"));
    world.started();
    world.fail("check", Logic, "not deep enough");
    assert!(world.tasks().contains(&cut("-r2")), "{}", world.tasks());
    let parts = world.started();
    assert_eq!(parts.len(), 2);
    for part in &parts {
        world.finish(part);
    }
    world.finish("check-r2");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_map_never_makes_a_revision_that_is_wrong() {
    let mut world = World::with_plan(
        r#"
        gaps
        facts
        dig  map  map={"over":"tasks.gaps.list","each":{"id":"x","inputs":{"facts":"tasks.facts.all"},"preconditions":["inputs.item != ''"],"action":{"gate":{"back_to":"gaps"}}}}
        "#,
    );
    world.finish_with("gaps", json!({"list": ["a", "b"]}));
    world.finish_with("facts", json!({"all": 1}));
    assert_eq!(world.life().revision().0, 2);
    assert_eq!(world.life().plan().check(), []);
    world.needs_changes("dig-1", "ana");
    assert!(world.life().revision().0 > 2);
    assert_eq!(world.life().plan().check(), []);
}

#[test]
fn a_map_waits_for_what_its_parts_will_read() {
    let mut world = World::with_plan(
        r#"
        facts
        dig  map  map={"over":["a"],"each":{"id":"x","inputs":{"facts":"tasks.facts.all"},"action":{"run":"dig"}}}
        "#,
    );
    assert_eq!(world.started(), ["facts"]);
    world.finish_with("facts", json!({"all": 1}));
    assert_eq!(serde_json::to_string(&world.starts()[0].inputs).unwrap(), r#"{"facts":1,"item":"a"}"#);
}

#[test]
fn a_map_may_not_become_more_than_the_policy_says_whatever_it_asks_for() {
    let mut world = World::with_plan("policy.map_max=2\ngaps\nall map map={\"over\":\"tasks.gaps.list\",\"max\":9}");
    world.finish_with("gaps", json!({"list": [1, 2, 3]}));
    insta::assert_snapshot!(world.tasks(), @"
    gaps  completed
    all   waiting    help: the list has 3 items, but at most 2 are allowed
    ");
}

#[test]
fn there_are_no_more_rounds_than_the_policy_says_whatever_a_route_asks_for() {
    let mut world = World::with_plan("policy.rounds_max=1\na\nb after a on failure -> a max=5");
    world.finish("a");
    world.fail("b", Logic, "red");
    world.finish("a-r2");
    world.fail("b-r2", Logic, "red");
    insta::assert_snapshot!(world.tasks(), @"
    a     completed
    b     failed     red
    a-r2  completed
    b-r2  failed     red
    ");
}

#[test]
fn a_map_that_says_nothing_becomes_at_most_a_hundred_tasks() {
    let mut world = World::with_plan(GAPS_AND_DIG);
    world.finish_with("gaps", json!({"list": vec![0; 101]}));
    assert_eq!(world.waits_for(), ["dig: help: the list has 101 items, but at most 100 are allowed"]);
}

#[test]
fn a_gate_that_says_nothing_sends_work_back_at_most_three_times() {
    let mut world = World::with_plan("draft\nsign gate after draft");
    world.finish("draft");
    for (sign, draft) in [("sign", "draft-r2"), ("sign-r2", "draft-r3"), ("sign-r3", "draft-r4")] {
        world.needs_changes(sign, "ana");
        world.finish(draft);
    }
    let once_more = World::review("ana", "sign-r4", gantry_core::input::Decision::NeedsChanges);
    assert_eq!(
        world.refusal(once_more),
        "gate `sign-r4` cannot send work back: 3 rounds were made, and more are not allowed [life::no-more-rounds]"
    );
}

#[test]
fn two_ways_back_to_one_task_make_one_new_round_of_it() {
    let mut world = World::with_plan(
        "
        impl
        t1    after impl  on failure -> impl max=2
        t2    after impl  on failure -> impl max=2
        ship  after t1, t2
        ",
    );
    world.finish("impl");
    world.fail("t1", Logic, "slow");
    world.fail("t2", Logic, "wrong");
    insta::assert_snapshot!(world.tasks(), @"
    impl     completed
    t1       failed     slow
    impl-r2  running
    t1-r2    pending    for impl-r2
    t2       failed     wrong
    t2-r2    pending    for impl-r2
    ship     pending    for t1-r2, t2-r2
    ");
    for task in ["impl-r2", "t1-r2", "t2-r2", "ship"] {
        world.finish(task);
    }
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn each_way_back_has_its_own_limit() {
    let mut world = World::with_plan(
        "
        a
        b      after a
        which  after b  on far -> a max=1  on near -> b max=2
        ",
    );
    world.finish("a");
    world.finish("b");
    world.finish_as("which", "near");
    world.finish("b-r2");
    world.finish_as("which-r2", "far");
    world.finish("a-r3");
    world.finish("b-r3");
    world.finish_as("which-r3", "near");
    world.finish("b-r4");
    world.finish_as("which-r4", "near");
    world.finish("b-r5");
    world.finish_as("which-r5", "near");
    assert_eq!(world.state(), PlanState::Completed, "near was taken twice after far");
    assert_eq!(world.life().revision().0, 5);
}

#[test]
fn a_loop_inside_another_one_counts_anew_in_each_round_of_that() {
    let mut world = World::with_plan(
        "
        design
        impl    after design
        tests   after impl  on failure -> impl max=1
        review  after tests  on failure -> design max=1
        ",
    );
    world.finish("design");
    world.finish("impl");
    world.fail("tests", Logic, "red");
    world.finish("impl-r2");
    world.finish("tests-r2");
    world.fail("review", Logic, "no");
    world.finish("design-r2");
    world.finish("impl-r2-2");
    world.fail("tests-r2-2", Logic, "red again");
    assert!(world.tasks().contains("impl-r3"), "{}", world.tasks());
    world.finish("impl-r3");
    world.fail("tests-r3", Logic, "red for good");
    assert_eq!(world.state(), PlanState::Failed);
}

#[test]
fn two_parts_that_send_each_other_back_do_not_do_so_for_ever() {
    let mut world = World::with_plan(
        "
        start
        both  after start
          t1  on failure -> start max=1
          t2  on failure -> start max=1
        ",
    );
    world.finish("start");
    world.finish("t2");
    world.fail("t1", Logic, "one");
    world.finish("start-r2");
    world.finish("t1-r2");
    world.fail("t2-r2", Logic, "two");
    world.finish("start-r3");
    world.fail("t1-r3", Logic, "one again");
    world.fail("t2-r3", Logic, "two again");
    assert_eq!(world.state(), PlanState::Failed);
    assert_eq!(world.life().revision().0, 3);
}

#[test]
fn a_plan_that_was_written_down_with_its_rounds_does_the_newest_ones() {
    let mut world = World::with_plan(
        r#"
        work
        tests     after work  on failure -> work max=1
        work-r2   round={"of":"work","number":2,"because":"tests"}
        tests-r2  after work-r2  on failure -> work-r2 max=1  round={"of":"tests","number":2,"because":"tests"}
        docs      inputs={"v":"tasks.work.v"}
        ship      after tests-r2
        "#,
    );
    insta::assert_snapshot!(world.tasks(), @"
    work      skipped
    tests     skipped
    work-r2   running
    tests-r2  pending    for work-r2
    docs      pending    for work-r2
    ship      pending    for tests-r2
    ");
    world.finish_with("work-r2", json!({"v": 1}));
    world.finish("docs");
    world.fail("tests-r2", Logic, "no");
    assert_eq!(world.state(), PlanState::Failed, "the one round that is allowed was made");
}

#[test]
fn nobody_reads_from_a_part_of_a_map_that_is_gone() {
    let mut world = World::with_plan(GAPS_AND_DIG);
    world.finish_with("gaps", json!({"list": ["a", "b"]}));
    world.finish("dig-1");
    world.finish("dig-2");
    world.revise(|plan| {
        let last = plan.tasks[0].clone();
        let tool = json!({"tool": {"name": "print", "args": {"x": "tasks.dig-2.n", "y": 1}}});
        let action = Some(serde_json::from_value(tool).unwrap());
        plan.tasks.push(gantry_core::plan::Task { id: gantry_core::id::TaskId::new("print").unwrap(), action, ..last });
    });
    world.edit_output("gaps", json!({"list": ["a"]}));
    assert!(world.life().definition("dig-2").is_none());
    assert!(world.life().plan().check().is_empty(), "{:?}", world.life().plan().check());
}

#[test]
fn what_a_schedule_says_about_a_part_of_a_map_goes_with_the_part() {
    let mut world = World::with_plan(GAPS_AND_DIG);
    world.finish_with("gaps", json!({"list": ["a", "b"]}));
    world.finish("dig-1");
    world.finish("dig-2");
    world.revise(|plan| {
        plan.schedule =
            serde_json::from_value(json!({"tasks": {"dig-1": {"estimate": "2h"}, "dig-2": {"estimate": "3h"}}}))
                .unwrap();
    });
    world.edit_output("gaps", json!({"list": ["a"]}));
    assert!(world.life().plan().check().is_empty(), "{:?}", world.life().plan().check());
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_map_loses_no_part_that_the_plan_speaks_of_without_anyone_being_asked() {
    let mut world = World::with_plan(GAPS_AND_DIG);
    world.finish_with("gaps", json!({"list": ["a", "b"]}));
    world.finish("dig-1");
    world.finish("dig-2");
    world.revise(|plan| {
        plan.artifacts = serde_json::from_value(json!([{"name": "map", "from": "dig-2"}])).unwrap();
    });
    world.edit_output("gaps", json!({"list": ["a"]}));
    assert_eq!(
        world.waits_for(),
        ["dig: help: it cannot become this: artifact `map` comes from `dig-2`, which does not exist"]
    );
    assert!(world.life().plan().check().is_empty(), "{:?}", world.life().plan().check());
}

#[test]
fn maps_in_maps_are_not_nested_deeper_than_any_plan() {
    let mut deep: Vec<String> = (0..62).map(|depth| format!("{}d{depth}", " ".repeat(depth))).collect();
    let inner = r#"{"id":"y","action":{"map":{"over":[1],"each":{"id":"z","action":{"run":"dig"}}}}}"#;
    deep.push(format!("{}all map={{\"over\":[1],\"each\":{inner}}}", " ".repeat(62)));
    let world = World::with_plan(&deep.join("\n"));
    assert!(world.life().plan().check().is_empty(), "{:?}", world.life().plan().check());
    assert_eq!(world.waits_for(), ["all-1: help: its tasks would be nested 65 deep, and at most 64 is allowed"]);
}
