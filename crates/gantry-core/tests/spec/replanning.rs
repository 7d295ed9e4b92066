//! The plan changes while it runs.

use gantry_core::id::{Revision, TaskId};
use gantry_core::input::{Change, Input, Resolution};
use gantry_core::life::PlanState;
use gantry_core::plan::{Action, InitialStatus, Run, Task};
use gantry_core::policy::FailureClass::Logic;
use gantry_testkit::World;
use serde_json::json;

fn new_task(id: &str, after: &[&str]) -> Task {
    Task {
        action: Some(Action::Run(Run { command: "true".to_owned(), ..Run::default() })),
        depends_on: after.iter().map(|id| TaskId::new(id).unwrap()).collect(),
        ..Task::new(TaskId::new(id).unwrap())
    }
}

#[test]
fn finished_work_stays_finished_when_the_plan_changes() {
    let mut world = World::with_plan("a\nb after a\nc after b");
    world.finish("a");
    world.started();
    world.revise(|plan| {
        plan.tasks.push(new_task("d", &["a"]));
        plan.tasks[2].depends_on.push(TaskId::new("d").unwrap());
    });
    assert_eq!(world.started(), ["d"]);
    insta::assert_snapshot!(world.tasks(), @"
    a  completed
    b  running
    c  pending    for b, d
    d  running
    ");
    let revisions: Vec<_> = world.life().revisions().collect();
    assert_eq!(revisions, [(Revision(1), "as created"), (Revision(2), "as tested")]);
}

#[test]
fn a_revision_keeps_its_diff_and_its_reason() {
    let mut world = World::with_plan("a\nb after a");
    world.revise(|plan| {
        plan.tasks[1].timeout = Some(gantry_testkit::mins(5));
        plan.tasks[1].depends_on.clear();
        plan.tasks.push(new_task("c", &["b"]));
    });
    let revised = world.journal().iter().find_map(|entry| match &entry.event {
        gantry_core::event::Event::PlanRevised { diff, .. } => Some(diff.to_string()),
        _ => None,
    });
    insta::assert_snapshot!(revised.unwrap(), @r#"
    + c  after b
    ~ b: depends_on ["a"] -> (not set)
    ~ b: timeout (not set) -> "5m"
    "#);
}

#[test]
fn a_running_task_that_is_redefined_is_stopped_and_starts_again() {
    let mut world = World::with_plan("a idempotency=safe\nb after a");
    world.wishes();
    world.revise(|plan| {
        plan.tasks[0].action = Some(Action::Run(Run { command: "make".to_owned(), ..Run::default() }));
    });
    insta::assert_snapshot!(world.wishes(), @"
    cancel_attempt a attempt=1 why=the plan was changed
    start_attempt a attempt=2
    ");
}

#[test]
fn a_finished_task_that_is_redefined_is_done_again_and_one_that_is_renamed_in_words_only_is_not() {
    let mut world = World::with_plan("a\nb after a");
    world.finish("a");
    world.started();
    world.revise(|plan| plan.tasks[0].owner = Some("ana".to_owned()));
    assert!(world.started().is_empty());
    world.revise(|plan| {
        plan.tasks[0].action = Some(Action::Run(Run { command: "make".to_owned(), ..Run::default() }));
    });
    assert_eq!(world.started(), ["a"]);
}

#[test]
fn a_failed_plan_goes_on_after_its_task_is_mended() {
    let mut world = World::with_plan("a\nb after a");
    world.fail("a", gantry_core::policy::FailureClass::Logic, "no such file");
    assert_eq!(world.state().to_string(), "failed");
    world.started();
    world.revise(|plan| {
        plan.tasks[0].action = Some(Action::Run(Run { command: "make".to_owned(), ..Run::default() }));
    });
    assert_eq!(world.started(), ["a"]);
}

#[test]
fn a_removed_task_holds_up_nobody() {
    let mut world = World::with_plan("a\nb\nc after a, b");
    world.finish("a");
    world.started();
    world.revise(|plan| {
        plan.tasks.remove(1);
        plan.tasks[1].depends_on.pop();
    });
    assert_eq!(world.started(), ["c"]);
    insta::assert_snapshot!(world.tasks(), @"
    a  completed
    c  running
    ");
}

#[test]
fn tasks_keep_their_numbers_and_numbers_are_never_used_again() {
    let mut world = World::with_plan("a\nb\nc");
    world.revise(|plan| {
        plan.tasks.remove(1);
    });
    world.revise(|plan| plan.tasks.insert(0, new_task("d", &[])));
    let numbers: Vec<String> =
        ["a", "c", "d"].iter().map(|id| format!("{id} {}", world.life().number(id).unwrap())).collect();
    assert_eq!(numbers, ["a 1", "c 3", "d 4"]);
    assert_eq!(world.life().task_ids().iter().map(TaskId::as_str).collect::<Vec<_>>(), ["d", "a", "c"]);
}

#[test]
fn a_change_that_makes_no_sense_is_refused_with_everything_that_is_wrong() {
    let mut world = World::with_plan("a\nb after a");
    let wrong = world.revision(|plan| {
        plan.tasks[0].depends_on.push(TaskId::new("b").unwrap());
        plan.tasks[1].depends_on.push(TaskId::new("zz").unwrap());
    });
    insta::assert_snapshot!(world.refusal(wrong), @"the changed plan would be wrong; these tasks wait for each other: `a` -> `b` -> `a`; task `b` depends on `zz`, which does not exist [life::bad-plan]");
    let nothing = world.revision(|_| {});
    assert_eq!(world.refusal(nothing), "nothing would change [life::nothing-changes]");
    let stale = Input::Revise {
        by: "ana".to_owned(),
        rationale: String::new(),
        base: Revision(7),
        change: Change::To(Box::default()),
    };
    assert_eq!(world.refusal(stale), "revision 7 was looked at, but revision 1 is current [life::old-revision]");
}

#[test]
fn an_abandoned_plan_cannot_be_changed() {
    let mut world = World::with_plan("a");
    world.cancel(gantry_core::input::TakeBack::Nothing);
    let change = world.revision(|plan| plan.tasks.push(new_task("b", &[])));
    assert_eq!(world.refusal(change), "a plan that is abandoned cannot be changed [life::wrong-state]");
}

#[test]
fn a_changed_input_redoes_the_task_and_what_reads_it() {
    let mut world = World::with_plan(
        r#"
        fetch   inputs={"url":"one"}
        read    inputs={"page":"tasks.fetch.page"}
        "#,
    );
    world.finish_with("fetch", json!({"page": 1}));
    world.finish("read");
    world.started();
    world.revise(|plan| {
        plan.tasks[0].inputs.insert("url".to_owned(), gantry_core::plan::Input::Value(json!("two")));
    });
    assert_eq!(world.started(), ["fetch"]);
    world.finish_with("fetch", json!({"page": 2}));
    assert_eq!(world.started(), ["read"]);
}

#[test]
fn a_running_task_that_may_have_happened_is_not_simply_restarted_when_it_is_redefined() {
    let mut world = World::with_plan("pay run=\"pay 10\"\nsafe run=\"look\" idempotency=safe");
    world.started();
    world.revise(|plan| {
        plan.tasks[0].action = Some(Action::Run(run("pay 20")));
        plan.tasks[1].action = Some(Action::Run(run("look twice")));
    });
    assert_eq!(world.started(), ["safe"]);
    assert_eq!(world.waits_for(), ["pay: help: an earlier attempt was lost and may have happened"]);
    world.resolve("pay", Resolution::Retry { guidance: None });
    assert_eq!(world.started(), ["pay"]);
}

#[test]
fn a_task_that_may_have_happened_is_in_doubt_however_often_it_is_redefined() {
    let mut world = World::with_plan("pay run=\"pay 10\" verify={\"run\":\"check\"}");
    world.crash();
    world.started();
    world.revise(|plan| plan.tasks[0].action = Some(Action::Run(run("pay 20"))));
    assert!(world.started().is_empty());
    assert_eq!(world.waits_for(), ["pay: whether attempt 1 happened"]);
}

#[test]
fn a_task_that_may_have_happened_is_in_doubt_when_it_leaves_the_plan_and_comes_back() {
    let mut world = World::with_plan("pay run=\"pay 10\"\nb person");
    world.started();
    let pay = world.life().definition("pay").unwrap().clone();
    world.revise(|plan| drop(plan.tasks.remove(0)));
    world.revise(|plan| plan.tasks.push(pay));
    assert!(world.started().is_empty());
    assert!(world.waits_for().contains(&"pay: help: an earlier attempt was lost and may have happened".to_owned()));
}

fn run(command: &str) -> Run {
    Run { command: command.to_owned(), ..Run::default() }
}

/// Revises the plan with this drawing, as if it were read from a file.
fn again(world: &World, drawing: &str) -> Input {
    let mut input = world.revision(|_| {});
    if let Input::Revise { change, .. } = &mut input {
        *change = Change::To(Box::new(gantry_testkit::draw_plan(drawing)));
    }
    input
}

#[test]
fn reading_the_same_plan_again_leaves_the_parts_of_its_maps() {
    let drawing =
        "each map map={\"over\":[1,2],\"each\":{\"id\":\"x\",\"action\":{\"run\":\"look\"}}}\nlast after each";
    let mut world = World::with_plan(drawing);
    world.finish("each-1");
    let input = again(&world, drawing);
    assert_eq!(world.refusal(input), "nothing would change [life::nothing-changes]");
    let input = again(&world, &format!("{drawing}\nmore"));
    world.turn(input);
    world.finish("each-2");
    insta::assert_snapshot!(world.tasks(), @"
    each    completed
    each-1  completed
    each-2  completed
    last    running
    more    running
    ");
}

const LOOP: &str = "implement\ntests after implement on failure -> implement max=2\nship after tests";

/// A plan whose loop has begun its second round.
fn in_its_second_round(drawing: &str) -> World {
    let mut world = World::with_plan(drawing);
    world.finish("implement");
    world.fail("tests", Logic, "red");
    world
}

#[test]
fn reading_the_first_file_again_leaves_the_rounds_of_its_loops() {
    let mut world = in_its_second_round(LOOP);
    world.started();
    let input = again(&world, LOOP);
    assert_eq!(world.refusal(input), "nothing would change [life::nothing-changes]");
    let input = again(&world, &format!("{LOOP} title=\"Ship it\"\nmore after tests"));
    world.turn(input);
    assert_eq!(world.started(), [] as [&str; 0]);
    insta::assert_snapshot!(world.tasks(), @"
    implement     completed
    tests         failed     red
    implement-r2  running
    tests-r2      pending    for implement-r2
    ship          pending    for tests-r2
    more          pending    for tests-r2
    ");
    world.finish("implement-r2");
    world.finish("tests-r2");
    assert_eq!(world.started(), ["tests-r2", "ship", "more"]);
}

#[test]
fn rounds_count_on_after_the_first_file_was_read_again() {
    let mut world = in_its_second_round(LOOP);
    let input = again(&world, &format!("{LOOP}\nmore"));
    world.turn(input);
    world.finish("implement-r2");
    world.fail("tests-r2", Logic, "still red");
    world.finish("implement-r3");
    let input = again(&world, LOOP);
    world.turn(input);
    world.fail("tests-r3", Logic, "red for good");
    insta::assert_snapshot!(world.tasks(), @"
    implement     completed
    tests         failed     red
    implement-r2  completed
    tests-r2      failed     still red
    implement-r3  completed
    tests-r3      failed     red for good
    ship          blocked    for tests-r3
    ");
}

#[test]
fn a_file_that_leaves_out_a_repeated_task_leaves_out_its_rounds() {
    let mut world = in_its_second_round(LOOP);
    let input = again(&world, "ship");
    world.turn(input);
    insta::assert_snapshot!(world.tasks(), @"ship  running");
}

#[test]
fn a_file_that_names_rounds_itself_means_just_those() {
    let mut world = in_its_second_round(LOOP);
    let input = world.revision(|plan| {
        plan.tasks.retain(|task| task.id.as_str() != "tests-r2");
        plan.tasks.last_mut().unwrap().depends_on.clear();
    });
    world.turn(input);
    insta::assert_snapshot!(world.tasks(), @"
    implement     completed
    tests         failed     red
    implement-r2  running
    ship          running
    ");
}

#[test]
fn whole_composites_and_maps_of_later_rounds_stay() {
    let drawing = r#"
        implement
          edit
          each   map  map={"over":[1,2],"each":{"id":"x","action":{"run":"look"}}}
        tests    after implement  on failure -> implement max=2
        ship     after tests  inputs={"log":"tasks.tests.log"}
        "#;
    let mut world = World::with_plan(drawing);
    for task in ["edit", "each-1", "each-2"] {
        world.finish(task);
    }
    world.fail("tests", Logic, "red");
    world.finish("each-r2-1");
    let input = again(&world, drawing);
    assert_eq!(world.refusal(input), "nothing would change [life::nothing-changes]");
    let input = again(&world, &format!("{drawing}\nmore"));
    world.turn(input);
    insta::assert_snapshot!(world.tasks(), @"
    implement     completed
    edit          completed
    each          completed
    each-1        completed
    each-2        completed
    tests         failed     red
    implement-r2  running
    edit-r2       running
    each-r2       running
    each-r2-1     completed
    each-r2-2     running
    tests-r2      pending    for implement-r2
    ship          pending    for tests-r2
    more          running
    ");
}

#[test]
fn what_leads_to_a_repeated_task_or_back_to_it_still_does() {
    let drawing = r#"
        scope      on wide -> implement
        implement
        tests      after implement  on failure -> implement max=2
        review     gate  after tests  gate={"back_to":"implement"}
        ship       after review
        "#;
    let mut world = World::with_plan(drawing);
    world.finish_as("scope", "wide");
    world.finish("implement");
    world.fail("tests", Logic, "red");
    let input = again(&world, drawing);
    assert_eq!(world.refusal(input), "nothing would change [life::nothing-changes]");
}

#[test]
fn when_the_maker_of_an_artifact_leaves_the_plan_its_next_round_makes_it() {
    let mut world = World::with_plan(
        r#"
        write   artifacts=["text"]
        tests   after write  on failure -> write max=2
        print   after tests  inputs={"what":"artifacts.text"}
        "#,
    );
    world.finish("write");
    world.fail("tests", Logic, "red");
    world.started();
    world.revise(|plan| {
        plan.tasks.retain(|task| task.id.as_str() != "write" && task.id.as_str() != "tests");
        let print = plan.tasks.iter_mut().find(|task| task.id.as_str() == "print").unwrap();
        print.depends_on.clear();
    });
    assert_eq!(world.started(), [] as [&str; 0]);
    world.finish_with("write-r2", json!({"text": "better"}));
    let print = world.starts().into_iter().find(|start| start.task.as_str() == "print").cloned();
    assert_eq!(print.unwrap().inputs["what"], "better");
    assert_eq!(world.started(), ["print", "tests-r2"]);
}

#[test]
fn parts_of_something_open_wait_when_it_is_moved_into_something_that_is_not() {
    let mut world = World::with_plan("slow\nlater\nbox\n  y after slow\nhold after later\n  x");
    world.started();
    world.revise(|plan| {
        let moved = plan.tasks.iter_mut().find(|task| task.id.as_str() == "box").unwrap();
        moved.parent = Some(gantry_core::id::TaskId::new("hold").unwrap());
    });
    world.finish("slow");
    assert_eq!(world.started(), Vec::<String>::new(), "what contains it has not begun");
    world.finish("later");
    let mut started = world.started();
    started.sort();
    assert_eq!(started, ["x", "y"]);
}

#[test]
fn a_title_that_is_the_instruction_of_a_model_is_part_of_its_work() {
    let mut world = World::with_plan("a title=\"Write a haiku\" action={\"model\":{}}\nb title=\"B\" model");
    world.finish("a");
    world.finish("b");
    world.started();
    world.revise(|plan| {
        plan.tasks[0].title = "Write a limerick".to_owned();
        plan.tasks[1].title = "Called otherwise".to_owned();
    });
    assert_eq!(world.started(), ["a"], "b has an instruction of its own");
}

/// A composite whose first part has failed, and what comes after.
fn with_a_failed_part() -> World {
    let mut world = World::with_plan(
        r#"
        conf
        group  after conf
          build  inputs={"n":"tasks.conf.n"}
          test   after build
        deploy  after group
        "#,
    );
    world.finish_with("conf", json!({"n": 1}));
    world.fail("build", Logic, "wrong");
    assert!(world.tasks().contains("test    abandoned  `group` failed"));
    assert_eq!(world.state(), PlanState::Failed);
    world.started();
    world
}

#[test]
fn a_part_that_is_mended_takes_along_what_was_given_up_for_it() {
    let revised = |world: &mut World| {
        world.revise(|plan| plan.tasks[2].action = Some(Action::Run(run("make"))));
    };
    let edited = |world: &mut World| world.edit_output("conf", json!({"n": 2}));
    for mend in [revised as fn(&mut World), edited] {
        let mut world = with_a_failed_part();
        mend(&mut world);
        assert_eq!(world.started(), ["build"]);
        world.finish("build");
        assert_eq!(world.started(), ["test"]);
        world.finish("test");
        assert_eq!(world.started(), ["deploy"]);
        world.finish("deploy");
        assert_eq!(world.state(), PlanState::Completed);
        assert!(world.tasks().lines().all(|line| line.ends_with("completed")));
    }
}

#[test]
fn required_work_that_was_given_up_for_something_that_left_the_plan_is_done() {
    let mut world = World::with_plan("policy.recovery.logic=[\"undo\"]\na undo=restore\nb after a");
    world.finish("a");
    world.fail("b", Logic, "wrong");
    world.undo_ends("a", Ok("restored"));
    assert_eq!(world.state(), PlanState::Failed);
    world.started();
    world.revise(|plan| drop(plan.tasks.pop()));
    assert_eq!(world.started(), ["a"]);
    world.finish("a");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn the_own_action_of_an_open_composite_waits_for_a_gate_that_a_revision_puts_before_it() {
    let mut world = World::with_plan(
        "
        build  run=make
          part
          late  after part
        ",
    );
    world.started();
    world.revise(|plan| {
        let mut approval = new_task("approval", &[]);
        approval.action = Some(serde_json::from_value(json!({"gate": {}})).unwrap());
        plan.tasks.push(approval);
        plan.tasks[0].depends_on.push(TaskId::new("approval").unwrap());
    });
    world.finish("part");
    assert!(world.started().is_empty(), "neither its parts nor its own action go on");
    insta::assert_snapshot!(world.tasks(), @"
    build     pending    for approval
    part      completed
    late      pending    for build
    approval  waiting    0 of 1 approvals
    ");
    world.approve("approval", "ana");
    assert_eq!(world.started(), ["late"]);
    world.finish("late");
    assert_eq!(world.started(), ["build"]);
    world.finish("build");
    assert_eq!(world.state(), PlanState::Completed);
    assert_eq!(world.life().task_life("build").unwrap().attempt.0, 1, "it was done once");
}

#[test]
fn an_open_composite_that_nothing_leads_to_any_more_is_left_out() {
    let mut world = World::with_plan("a\ngroup\n  b\n  c after b");
    world.revise(|plan| {
        plan.tasks.push(new_task("never", &[]));
        plan.tasks.last_mut().unwrap().status = InitialStatus::Skipped;
        plan.tasks[1].depends_on.push(TaskId::new("never").unwrap());
    });
    insta::assert_snapshot!(world.tasks(), @"
    a      running
    group  skipped    everything before it was skipped
    b      skipped    everything before it was skipped
    c      skipped    everything before it was skipped
    never  skipped
    ");
    world.finish("a");
    assert_eq!(world.state(), PlanState::Completed);
}
