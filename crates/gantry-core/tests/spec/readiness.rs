//! Who may start, and when.

use gantry_core::plan::Check;
use gantry_core::policy::FailureClass::Logic;
use gantry_testkit::World;
use serde_json::json;

#[test]
fn a_task_starts_when_everything_before_it_is_done() {
    let mut world = World::with_plan(
        "
        build
        test    after build
        ship    after build, test
        ",
    );
    assert_eq!(world.started(), ["build"]);
    world.finish("build");
    assert_eq!(world.started(), ["test"]);
    insta::assert_snapshot!(world.tasks(), @"
    build  completed
    test   running
    ship   pending    for test
    ");
    world.finish("test");
    world.finish("ship");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn independent_tasks_run_side_by_side_in_the_order_they_are_written() {
    let mut world = World::with_plan("a\nb\nc after a\nd after b");
    assert_eq!(world.started(), ["a", "b"]);
    world.finish("b");
    assert_eq!(world.started(), ["d"]);
}

#[test]
fn a_root_that_depends_on_a_later_root_waits_for_it() {
    let mut world = World::with_plan("first after second\nsecond");
    assert_eq!(world.started(), ["second"]);
    world.finish("second");
    assert_eq!(world.started(), ["first"]);
}

#[test]
fn two_roots_run_in_order_when_only_one_may_run() {
    let mut world = World::with_plan("policy.parallel=1\none\ntwo");
    assert_eq!(world.started(), ["one"]);
    world.finish("one");
    assert_eq!(world.started(), ["two"]);
}

#[test]
fn parts_follow_their_links_and_the_whole_is_over_last() {
    let mut world = World::with_plan("whole\n  first  after second\n  second");
    assert_eq!(world.started(), ["second"]);
    world.finish("second");
    assert_eq!(world.started(), ["first"]);
    assert_eq!(world.state().to_string(), "running");
    world.finish("first");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn higher_priority_goes_first_and_research_before_the_rest() {
    let mut world = World::with_plan(
        "
        policy.parallel=1
        implement  kind=implement
        research   kind=research
        urgent     priority=5
        ",
    );
    assert_eq!(world.started(), ["urgent"]);
    world.finish("urgent");
    assert_eq!(world.started(), ["research"]);
    world.finish("research");
    assert_eq!(world.started(), ["implement"]);
}

#[test]
fn a_capability_limit_holds_only_the_tasks_that_use_it() {
    let mut world = World::with_plan(
        r#"
        policy.capabilities={"browser":1}
        page-1  capabilities=["browser"]
        page-2  capabilities=["browser"]
        other
        "#,
    );
    assert_eq!(world.started(), ["page-1", "other"]);
    world.finish("page-1");
    assert_eq!(world.started(), ["page-2"]);
}

#[test]
fn no_more_attempts_run_at_once_than_the_policy_allows() {
    let mut world = World::with_plan("policy.parallel=2\na\nb\nc\nd");
    assert_eq!(world.started(), ["a", "b"]);
    world.finish("a");
    assert_eq!(world.started(), ["c"]);
}

#[test]
fn people_and_gates_do_not_wait_for_a_free_slot() {
    let mut world = World::with_plan("policy.parallel=1\nlong\nreview  gate\nwork  person");
    assert_eq!(world.started(), ["long"]);
    insta::assert_snapshot!(world.tasks(), @"
    long    running
    review  waiting    0 of 1 approvals
    work    waiting    someone to do it
    ");
}

#[test]
fn a_precondition_blocks_until_the_fact_is_known_and_true() {
    let mut world = World::with_plan(r#"fetch  preconditions=["network.online == true","memory.has_space >= 50MB"]"#);
    insta::assert_snapshot!(world.wishes(), @r#"observe facts=["network.online","memory.has_space"]"#);
    insta::assert_snapshot!(world.tasks(), @"fetch  blocked    `network.online` is not known yet; `memory.has_space` is not known yet");
    world.observe(json!({"network.online": false, "memory.has_space": 40_000_000}));
    insta::assert_snapshot!(world.tasks(), @"fetch  blocked    network.online == true is false: network.online = false; memory.has_space >= 50MB is false: memory.has_space = 40000000");
    world.observe(json!({"network.online": true}));
    insta::assert_snapshot!(world.tasks(), @"fetch  blocked    memory.has_space >= 50MB is false: memory.has_space = 40000000");
    world.observe(json!({"memory.has_space": 60_000_000}));
    assert_eq!(world.started(), ["fetch"]);
}

#[test]
fn a_precondition_on_another_task_is_tested_when_that_task_ends() {
    let mut world = World::with_plan(
        r#"
        tests
        ship  preconditions=["tests.exit_code == 0"]
        "#,
    );
    assert_eq!(world.started(), ["tests"]);
    world.finish_with("tests", json!({"exit_code": 0}));
    assert_eq!(world.started(), ["ship"]);
}

#[test]
fn inputs_are_resolved_before_the_runner_sees_them() {
    let mut world = World::with_plan(
        r#"
        sources
        report  inputs={"notes":"tasks.sources.notes.top","limit":3}
        "#,
    );
    world.started();
    world.finish_with("sources", json!({"notes": {"top": ["a", "b"]}}));
    let inputs = serde_json::to_string(&world.starts()[0].inputs).unwrap();
    assert_eq!(inputs, r#"{"limit":3,"notes":["a","b"]}"#);
}

#[test]
fn reading_an_output_makes_a_task_wait_for_its_maker() {
    let mut world = World::with_plan(
        r#"
        report   inputs={"notes":"tasks.sources.notes"}
        sources
        "#,
    );
    assert_eq!(world.started(), ["sources"]);
}

#[test]
fn an_input_that_was_never_made_fails_the_task_by_name() {
    let mut world = World::with_plan("sources\nreport inputs={\"notes\":\"tasks.sources.notes\"}");
    world.finish("sources");
    insta::assert_snapshot!(world.tasks(), @"
    sources  completed
    report   failed     an input is missing: `tasks.sources.notes` was not made by task `sources`
    ");
}

#[test]
fn a_task_that_the_file_says_is_done_is_not_done_again() {
    let mut world = World::with_plan("old status=completed\nnew after old");
    assert_eq!(world.started(), ["new"]);
}

#[test]
fn what_a_capability_needs_holds_for_every_task_that_uses_it() {
    let mut world = World::with_plan(
        r#"
        plan.capabilities=[{"name":"web.fetch","preconditions":["network.online == true"],"risks":["paywalled"]}]
        fetch  capabilities=["web.fetch"]
        other
        "#,
    );
    assert_eq!(world.started(), ["other"]);
    world.observe(json!({"network.online": true}));
    assert_eq!(world.started(), ["fetch"]);
}

#[test]
fn a_blocked_task_is_let_go_by_what_it_reads() {
    let mut world = World::with_plan(
        r#"
        a
        b
        state  preconditions=["tasks.a.state == \"failed\""]
        facts  preconditions=["network.online"]
        alone  preconditions=["b.x > 1"]
        "#,
    );
    world.started();
    world.fail("a", Logic, "red");
    assert_eq!(world.started(), ["state"]);
    world.observe(json!({"network.online": true}));
    assert_eq!(world.started(), ["facts"]);
    world.finish_with("b", json!({"x": 1}));
    assert!(world.started().is_empty());
    world.edit_output("b", json!({"x": 2}));
    assert_eq!(world.started(), ["alone"]);
}

#[test]
fn a_blocked_task_reads_the_newest_round() {
    let mut world = World::with_plan(
        r#"
        impl
        tests  after impl  on failure -> impl max=2
        ship   preconditions=["impl.x > 1"]
        "#,
    );
    world.finish_with("impl", json!({"x": 1}));
    world.fail("tests", Logic, "red");
    world.started();
    world.finish_with("impl-r2", json!({"x": 2}));
    assert_eq!(world.started(), ["ship", "tests-r2"]);
}

#[test]
fn what_a_tool_needs_is_read_from_the_newest_plan() {
    let mut world = World::with_plan(
        r#"
        plan.capabilities=[{"name":"shell","preconditions":["a.x > 1"]}]
        a  person
        b
        "#,
    );
    assert!(world.started().is_empty());
    world.revise(|plan| plan.capabilities[0].preconditions = vec![Check::read("env.ready == true")]);
    world.observe(json!({"env.ready": true}));
    assert_eq!(world.started(), ["b"]);
}

#[test]
fn what_a_capability_needs_also_holds_back_what_people_do_with_it() {
    let mut world = World::with_plan(
        r#"
        plan.capabilities=[{"name":"crm","preconditions":["network.online == true"]}]
        call  person  capabilities=["crm"]
        "#,
    );
    assert_eq!(world.waits_for(), ["call: `network.online` is not known yet"]);
    world.observe(json!({"network.online": true}));
    assert_eq!(world.waits_for(), ["call: someone to do it"]);
}

#[test]
fn preconditions_in_words_that_nobody_judged_are_named_at_the_end() {
    let mut world = World::with_plan("sail preconditions=[\"the weather is good\"]\nb person");
    world.finish("sail");
    assert_eq!(world.life().task_life("sail").unwrap().unjudged, ["the weather is good"]);
}

#[test]
fn a_task_waits_for_what_it_remembers() {
    let mut world = World::with_plan("build inputs={\"key\":\"memory.release_key\"}");
    assert!(world.started().is_empty());
    insta::assert_snapshot!(world.tasks(), @"build  blocked    `memory.release_key` is not known yet");
    world.observe(json!({"memory.release_key": "k-7"}));
    assert_eq!(serde_json::to_string(&world.starts()[0].inputs).unwrap(), r#"{"key":"k-7"}"#);
}

#[test]
fn what_was_left_out_before_the_plan_began_stays_out() {
    let mut world = World::with_plan("a status=skipped\nb after a\nc");
    assert_eq!(world.started(), ["c"]);
    world.finish("c");
    insta::assert_snapshot!(world.tasks(), @"
    a  skipped
    b  skipped    everything before it was skipped
    c  completed
    ");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn a_blocked_task_is_looked_at_again_when_the_plan_itself_changes() {
    let mut world = World::with_plan(
        r#"
        plan.objective=stop
        plan.capabilities=[{"name":"gpu","preconditions":["env.gpu == true"]}]
        a  preconditions=["plan.objective == \"go\""]
        b  capabilities=["gpu"]
        "#,
    );
    assert_eq!(world.started(), [""; 0]);
    world.revise(|plan| plan.objective = "go".to_owned());
    assert_eq!(world.started(), ["a"]);
    world.revise(|plan| plan.capabilities[0].preconditions.clear());
    assert_eq!(world.started(), ["b"]);
}

#[test]
fn room_on_the_disk_is_found_out_like_other_facts() {
    let mut world = World::with_plan("copy preconditions=[\"disk.free >= 50MB\"]");
    assert!(world.wishes().contains("observe facts=[\"disk.free\"]"));
    world.observe(serde_json::json!({"disk.free": 60_000_000}));
    assert_eq!(world.started(), ["copy"]);
}
