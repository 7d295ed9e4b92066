//! Editing results: exactly the tasks whose keys change are done again.

use gantry_testkit::World;
use serde_json::json;

fn pipeline() -> World {
    let mut world = World::with_plan(
        r#"
        sources
        notes    inputs={"docs":"tasks.sources.docs"}
        report   inputs={"notes":"tasks.notes.text"}
        archive  after sources
        print    after report
        "#,
    );
    world.finish_with("sources", json!({"docs": 1, "log": "x"}));
    world.finish_with("notes", json!({"text": "about 1"}));
    world.finish("archive");
    world.finish_with("report", json!({"pages": 3}));
    world.finish("print");
    assert_eq!(world.state().to_string(), "completed");
    world.started();
    world
}

#[test]
fn only_true_dependents_are_redone_after_an_edit() {
    let mut world = pipeline();
    world.edit_output("sources", json!({"docs": 2, "log": "x"}));
    assert_eq!(world.started(), ["notes"]);
    insta::assert_snapshot!(world.tasks(), @"
    sources  completed
    notes    running    attempt 2
    report   completed
    archive  completed
    print    completed
    ");
    world.finish_with("notes", json!({"text": "about 2"}));
    assert_eq!(world.started(), ["report"]);
    world.finish_with("report", json!({"pages": 3}));
    assert!(world.started().is_empty(), "print reads nothing of the report, so it stays finished");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn a_redone_task_with_the_same_result_redoes_nothing_behind_it() {
    let mut world = pipeline();
    world.edit_output("sources", json!({"docs": 2, "log": "x"}));
    world.started();
    world.finish_with("notes", json!({"text": "about 1"}));
    assert!(world.started().is_empty());
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn an_edit_of_something_that_nobody_reads_redoes_nothing() {
    let mut world = pipeline();
    world.edit_output("sources", json!({"docs": 1, "log": "y"}));
    assert!(world.started().is_empty());
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn changing_it_back_uses_the_recorded_answer() {
    let mut world = pipeline();
    world.edit_output("sources", json!({"docs": 2, "log": "x"}));
    world.finish_with("notes", json!({"text": "about 2"}));
    world.finish_with("report", json!({"pages": 4}));
    world.started();
    let before = world.length();
    world.edit_output("sources", json!({"docs": 1, "log": "x"}));
    assert!(world.started().is_empty(), "the answers of before serve");
    assert_eq!(world.state().to_string(), "completed");
    insta::assert_snapshot!(world.log_since(before), @r#"
    output_edited sources by=ana outputs={"docs":1,"log":"x"}
    plan_reopened why=ana edited the output of `sources`
    task_reopened notes because=ana edited the output of `sources`
    task_completed notes outputs={"text":"about 1"} source=recorded
    task_reopened report because=what it works on has changed
    task_completed report outputs={"pages":3} source=recorded
    task_confirmed print
    plan_completed
    "#);
}

#[test]
fn nothing_new_starts_on_results_that_are_being_redone() {
    let mut world = World::with_plan(
        r#"
        sources
        notes   inputs={"docs":"tasks.sources.docs"}
        report  after notes
        "#,
    );
    world.finish_with("sources", json!({"docs": 1}));
    world.finish("notes");
    world.fail("report", gantry_core::policy::FailureClass::Logic, "no paper");
    world.started();
    world.edit_output("sources", json!({"docs": 2}));
    world.retry("report");
    assert_eq!(world.started(), ["notes"]);
    insta::assert_snapshot!(world.tasks(), @"
    sources  completed
    notes    running    attempt 2
    report   pending    for notes
    ");
}

#[test]
fn an_answer_about_inputs_that_have_changed_meanwhile_is_not_taken() {
    let mut world = World::with_plan("sources\nnotes inputs={\"docs\":\"tasks.sources.docs\"}");
    world.finish_with("sources", json!({"docs": 1}));
    world.edit_output("sources", json!({"docs": 2}));
    world.started();
    world.finish("notes");
    assert_eq!(world.started(), ["notes"]);
    world.finish("notes");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn a_question_is_withdrawn_while_what_it_is_about_is_redone() {
    let mut world = World::with_plan("a\nb inputs={\"x\":\"tasks.a.x\"}\nok gate after b");
    world.finish_with("a", json!({"x": 1}));
    world.finish("b");
    world.edit_output("a", json!({"x": 2}));
    insta::assert_snapshot!(world.tasks(), @"
    a   completed
    b   running    attempt 2
    ok  pending    for b
    ");
    world.finish("b");
    assert_eq!(world.waits_for(), ["ok: 0 of 1 approvals"]);
}

#[test]
fn retrying_a_finished_task_does_it_afresh() {
    let mut world = pipeline();
    world.retry("notes");
    assert_eq!(world.started(), ["notes"]);
}

#[test]
fn edits_that_make_no_sense_are_refused() {
    let mut world = World::with_plan("a\nb after a");
    let edit = |task: &str| gantry_core::input::Input::EditOutput {
        task: gantry_core::id::TaskId::new(task).unwrap(),
        by: "ana".to_owned(),
        why: String::new(),
        outputs: Default::default(),
    };
    assert_eq!(world.refusal(edit("b")), "task `b` is not finished [life::not-finished]");
    world.finish("a");
    assert_eq!(world.refusal(edit("a")), "nothing would change [life::nothing-changes]");
}

#[test]
fn an_edit_reaches_what_computes_with_it_however_far_behind() {
    let mut world = World::with_plan(
        r#"
        a
        b       after a
        z       after b  compute={"y":"a.x * 2"}
        d       after b  decide={"options":[{"outcome":"big","when":"a.x > 3"}],"otherwise":"small"}  on big -> large  on small -> little
        large
        little
        last    after z  inputs={"y":"tasks.z.y"}
        "#,
    );
    world.finish_with("a", json!({"x": 1}));
    for task in ["b", "little", "last"] {
        world.finish(task);
    }
    assert_eq!(world.state().to_string(), "completed");
    world.started();
    world.edit_output("a", json!({"x": 5}));
    assert_eq!(world.started(), ["large", "last"]);
    insta::assert_snapshot!(world.tasks(), @"
    a       completed
    b       completed
    z       completed
    d       completed  big
    large   running
    little  skipped    no route led to it
    last    running    attempt 2
    ");
    assert_eq!(world.life().task_life("z").unwrap().outputs["y"], json!(10));
}
