//! Failures are classified and answered by one policy.

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::id::AttemptNo;
use gantry_core::input::Resolution;
use gantry_core::life::PlanState;
use gantry_core::policy::FailureClass::{Cancelled, Logic, Lost, Policy, Transient};
use gantry_core::policy::Usage;
use gantry_testkit::{World, mins};
use serde_json::json;

#[test]
fn a_model_is_told_what_was_wrong_and_tries_again() {
    let mut world = World::with_plan(r#"write model success_criteria=["size(text) > 10"]"#);
    world.started();
    world.finish_with("write", json!({"text": "short"}));
    let start = world.starts()[0].clone();
    assert_eq!(start.attempt, AttemptNo(2));
    insta::assert_snapshot!(start.feedback.unwrap(), @"the result is not good enough: size(text) > 10 is false: size(text) = 5");
}

#[test]
fn what_says_nothing_about_the_work_is_not_told_to_the_next_attempt() {
    let mut world = World::with_plan("write model");
    world.fail("write", Transient, "the model is busy");
    world.advance(mins(1));
    world.fail("write", Logic, "it names no cause");
    world.fail("write", Policy, "no money is left");
    world.resolve("write", Resolution::Retry { guidance: None });
    world.fail("write", Policy, "the key is gone");
    world.resolve("write", Resolution::Retry { guidance: Some("look at the log".to_owned()) });
    let told: Vec<Option<&str>> = world.starts().iter().map(|start| start.feedback.as_deref()).collect();
    assert_eq!(told, [None, None, Some("it names no cause"), None, Some("look at the log")]);
}

#[test]
fn after_its_repairs_a_task_takes_its_alternates_and_then_its_fallback() {
    let mut world = World::with_plan(
        r#"
        policy.recovery.repairs_max=1
        write  model  alternates=[{"run":"write by rule"}]  fallback={"text":"(none)"}
        read   after write  inputs={"text":"tasks.write.text"}
        "#,
    );
    let mut ways = Vec::new();
    for _ in 0..3 {
        ways.push(world.starts().last().unwrap().action.key());
        world.fail("write", Logic, "nonsense");
    }
    assert_eq!(ways, ["model", "model", "run"]);
    assert_eq!(world.started().last().unwrap(), "read");
    world.finish("read");
    insta::assert_snapshot!(world.log_since(world.length() - 1), @r#"plan_completed degraded=["write"]"#);
}

#[test]
fn strict_plans_never_go_on_with_a_fallback() {
    let mut world = World::with_plan(
        r#"
        policy.strict=true
        write  fallback={"text":"(none)"}
        "#,
    );
    world.fail("write", Logic, "nonsense");
    insta::assert_snapshot!(world.tasks(), @"write  failed     nonsense");
    assert_eq!(world.state().to_string(), "failed");
}

#[test]
fn a_policy_failure_waits_for_a_person_who_can_say_anything() {
    for (resolution, expected) in [
        (Resolution::Retry { guidance: Some("use the staging host".to_owned()) }, "running"),
        (Resolution::Complete { outputs: Default::default() }, "completed"),
        (Resolution::Skip, "skipped"),
        (Resolution::Fail, "failed"),
    ] {
        let mut world = World::with_plan("deploy");
        world.fail("deploy", Policy, "host not on the allow-list");
        assert_eq!(world.waits_for(), ["deploy: help: host not on the allow-list"]);
        assert_eq!(world.state().to_string(), "blocked");
        world.resolve("deploy", resolution);
        assert_eq!(world.life().task_state("deploy").unwrap().to_string(), expected);
    }
}

#[test]
fn a_lost_attempt_that_is_safe_to_repeat_is_repeated() {
    let mut world = World::with_plan("ask-model model\npay idempotency=keyed");
    world.crash();
    world.advance(mins(1));
    assert_eq!(world.started(), ["ask-model", "pay"]);
}

#[test]
fn a_lost_attempt_that_may_have_happened_waits_for_a_person() {
    let mut world = World::with_plan("pay");
    world.crash();
    assert!(world.started().is_empty());
    insta::assert_snapshot!(world.tasks(), @"pay  waiting    help: the process that ran it went away");
}

#[test]
fn a_lost_attempt_is_verified_when_the_task_says_how() {
    let mut world = World::with_plan(r#"pay  verify={"run":"is it paid?"}"#);
    world.crash();
    insta::assert_snapshot!(world.wishes(), @"verify pay attempt=1");
    world.verified("pay", Some(false));
    world.advance(mins(1));
    assert_eq!(world.started(), ["pay"]);
    world.crash();
    world.verified("pay", Some(true));
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn when_nobody_can_know_whether_it_happened_a_person_decides() {
    let mut world = World::with_plan(r#"pay  verify={"run":"is it paid?"}"#);
    world.crash();
    world.verified("pay", None);
    assert_eq!(world.waits_for(), ["pay: help: the attempt was lost and may have happened"]);
}

#[test]
fn a_failure_mode_is_recognised_in_a_successful_answer_and_its_words_guide_the_next_attempt() {
    let mut world = World::with_plan(
        r#"collect  failure_modes=[{"name":"no_results","detect":"size(top10) == 0","recover":"broaden query, include synonyms"}]"#,
    );
    world.started();
    world.finish_with("collect", json!({"top10": []}));
    let start = world.starts()[0].clone();
    assert_eq!(start.feedback.as_deref(), Some("broaden query, include synonyms"));
}

#[test]
fn a_failure_mode_can_name_a_remedy_or_a_task() {
    let mut world = World::with_plan(
        r#"
        deploy   failure_modes=[{"name":"outage","detect":"failure.message.contains(\"503\")","recover":"rollback"},{"name":"denied","recover":"escalate"}]
        rollback
        "#,
    );
    world.started();
    world.fail("deploy", Transient, "503 from the gateway");
    assert_eq!(world.started(), ["rollback"]);
    insta::assert_snapshot!(world.tasks(), @"
    deploy    failed     503 from the gateway
    rollback  running
    ");

    let mut world = World::with_plan(
        r#"
        deploy   failure_modes=[{"name":"outage","recover":"rollback"},{"name":"denied","recover":"escalate"}]
        rollback
        "#,
    );
    let mut denied = Failure::new(Transient, "no");
    denied.mode = Some("denied".to_owned());
    world.end("deploy", AttemptNo(1), Err(denied), Usage::default());
    assert_eq!(world.waits_for(), ["deploy: help: no"]);
}

#[test]
fn the_policy_can_order_the_remedies_differently() {
    let mut world = World::with_plan(
        r#"
        policy.recovery.transient=["escalate"]
        policy.recovery.logic=["abort"]
        a
        b
        c
        "#,
    );
    world.fail("a", Transient, "later");
    assert_eq!(world.waits_for(), ["a: help: later"]);
    world.fail("b", Logic, "wrong");
    assert_eq!(world.state().to_string(), "failed");
    insta::assert_snapshot!(world.tasks(), @"
    a  waiting    help: later
    b  failed     wrong
    c  abandoned  the plan was aborted
    ");
}

#[test]
fn independent_work_goes_on_after_a_failure_and_the_plan_then_fails_with_its_causes() {
    let mut world = World::with_plan("a\nb\nc after b\nd after a, c");
    world.fail("a", Logic, "broken");
    assert_eq!(world.state().to_string(), "running");
    world.finish("b");
    world.finish("c");
    assert_eq!(world.state().to_string(), "failed");
    assert_eq!(world.life().causes(), ["task `a` failed: broken"]);
    insta::assert_snapshot!(world.tasks(), @"
    a  failed     broken
    b  completed
    c  completed
    d  blocked    for a
    ");
}

#[test]
fn with_fail_fast_a_failure_stops_everything_else() {
    let mut world = World::with_plan("policy.fail_fast=true\na\nb");
    world.wishes();
    world.fail("a", Logic, "broken");
    insta::assert_snapshot!(world.wishes(), @"cancel_attempt b attempt=1 why=the plan was aborted");
    insta::assert_snapshot!(world.tasks(), @"
    a  failed     broken
    b  abandoned  the plan was aborted
    ");
}

#[test]
fn a_failed_plan_goes_on_when_its_task_is_tried_again() {
    let mut world = World::with_plan("a\nb after a");
    world.fail("a", Logic, "broken");
    assert_eq!(world.state().to_string(), "failed");
    world.started();
    world.retry("a");
    assert_eq!(world.started(), ["a"]);
    world.finish("a");
    world.finish("b");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn criteria_in_words_go_to_the_judge_that_the_policy_names() {
    let mut world = World::with_plan(
        r#"
        policy.judge=model
        write  success_criteria=["reads well"]  retry.max=1  retry.backoff=0s
        "#,
    );
    world.started();
    world.finish("write");
    world.judge("write", false, "too long");
    insta::assert_snapshot!(world.tasks(), @"write  running    attempt 2");
    world.advance(mins(1));
    world.finish("write");
    world.judge("write", true, "good");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn a_failure_mode_in_words_that_the_judge_finds_is_answered_as_it_says() {
    let mut world = World::with_plan(
        r#"
        policy.judge=model
        search  success_criteria=["sources are named"]  failure_modes=[{"name":"no_results","detect":"top10 is empty","recover":"broaden the query"}]
        "#,
    );
    world.started();
    let before = world.length();
    world.finish("search");
    world.judge("search", false, "the list has no entries");
    insta::assert_snapshot!(world.log_since(before), @r#"
    attempt_succeeded search attempt=1
    judge_asked search checks=["it is not so that: top10 is empty","sources are named"]
    judged search by=judge verdicts=[{"check":"it is not so that: top10 is empty","holds":false,"because":"the list has no entries"},{"check":"sources are named","holds":false,"because":"the list has no entries"}]
    retry_planned search again_at=2026-01-01T09:00:00Z feedback=broaden the query remedy=repair
    task_unblocked search
    attempt_started search attempt=2
    "#);
    world.finish("search");
    world.judge("search", true, "there are ten");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn criteria_that_nobody_judges_are_named_with_the_result() {
    let mut world = World::with_plan(r#"write  success_criteria=["reads well"]"#);
    let before = world.length();
    world.finish("write");
    insta::assert_snapshot!(world.log_since(before), @r#"
    attempt_succeeded write attempt=1
    task_completed write unjudged=["reads well"]
    plan_completed
    "#);
}

#[test]
fn an_attempt_lost_twice_in_a_row_is_still_only_lost() {
    let mut world = World::with_plan("pay");
    world.crash();
    world.crash();
    assert_eq!(world.waits_for(), ["pay: help: the process that ran it went away"]);
    world.end("pay", AttemptNo(1), Err(Failure::new(Lost, "late")), Usage::default());
    assert_eq!(world.waits_for(), ["pay: help: the process that ran it went away"]);
}

#[test]
fn a_failure_mode_looks_only_at_what_its_own_attempt_gave() {
    let mut world = World::with_plan(
        "
        a  success_criteria=[\"score > 5\"]  retry.max=1  retry.backoff=0s  failure_modes=[{\"name\":\"bad\",\"detect\":\"score == 1 && attempt == 2\",\"recover\":\"mend\"}]
        mend
        ",
    );
    world.finish_with("a", json!({"score": 1}));
    world.fail("a", Logic, "crashed");
    assert_eq!(world.life().task_state("mend").unwrap().to_string(), "skipped");
}

#[test]
fn what_nobody_here_can_do_is_done_another_way_before_a_person_is_asked() {
    let nobody = || Err(Failure::missing_capability("there is no capability `search`"));
    let mut world = World::with_plan(
        r#"
        find  tool tool={"name":"search"}  alternates=[{"run":"grep"}]  fallback={"links":[]}
        ask   tool tool={"name":"search"}
        "#,
    );
    world.started();
    world.end("find", AttemptNo(1), nobody(), Usage::default());
    assert_eq!(world.starts().last().unwrap().action.key(), "run");
    world.end("find", AttemptNo(2), nobody(), Usage::default());
    world.end("ask", AttemptNo(1), nobody(), Usage::default());
    insta::assert_snapshot!(world.tasks(), @"
    find  completed
    ask   waiting    help: there is no capability `search`
    ");
}

/// What a command that failed says about itself.
fn exit(code: u8) -> Failure {
    let outputs = Outputs::from([("exit_code".to_owned(), json!(code))]);
    Failure { outputs, ..Failure::new(Logic, format!("exit code {code}")) }
}

#[test]
fn failure_modes_can_ask_for_what_a_failed_attempt_gave() {
    let mut world = World::with_plan(
        r#"
        copy  failure_modes=[{"name":"full","detect":"exit_code == 75","recover":"clean"}]
        clean
        "#,
    );
    world.end("copy", AttemptNo(1), Err(exit(75)), Usage::default());
    insta::assert_snapshot!(world.tasks(), @"
    copy   failed     exit code 75
    clean  running
    ");
}

#[test]
fn routes_can_ask_for_what_a_failed_attempt_gave() {
    let mut world = World::with_plan(
        r#"
        copy   next=[{"on":"failure","to":"clean","when":"exit_code == 75"},{"on":"failure","to":"other","when":"outputs.exit_code != 75"}]
        clean
        other
        "#,
    );
    world.end("copy", AttemptNo(1), Err(exit(75)), Usage::default());
    insta::assert_snapshot!(world.tasks(), @"
    copy   failed     exit code 75
    clean  running
    other  skipped    no route led to it
    ");
}

#[test]
fn a_failure_mode_that_cannot_be_told_says_so() {
    let mut world =
        World::with_plan(r#"copy failure_modes=[{"name":"full","detect":"disk.free == 0","recover":"escalate"}]"#);
    let before = world.length();
    world.fail("copy", Logic, "exit code 1");
    assert!(world.log_since(before).contains("whether it is `full` cannot be told"), "{}", world.log_since(before));
}

#[test]
fn what_must_hold_after_a_task_is_tested_like_its_criteria() {
    let mut world = World::with_plan(
        r#"
        policy.recovery={"logic":[]}
        build  postconditions=["exit_code == 0","outputs.size < 10"]
        ship   after build
        "#,
    );
    world.finish_with("build", json!({"exit_code": 0, "size": 12}));
    insta::assert_snapshot!(world.tasks(), @"
    build  failed     the result is not good enough: outputs.size < 10 is false: outputs.size = 12
    ship   blocked    for build
    ");
    world.retry("build");
    world.finish_with("build", json!({"exit_code": 0, "size": 9}));
    assert_eq!(world.started().last().unwrap(), "ship");
}

#[test]
fn what_someone_stopped_is_not_tried_again() {
    let mut world = World::with_plan("build retry.max=5\nship after build");
    world.started();
    world.fail("build", Cancelled, "someone stopped it");
    assert!(world.started().is_empty());
    insta::assert_snapshot!(world.tasks(), @"
    build  failed     someone stopped it
    ship   blocked    for build
    ");
}

#[test]
fn a_task_whose_other_ways_are_taken_out_begins_with_its_own() {
    let mut world = World::with_plan(r#"a run=first alternates=[{"run":"second"}]"#);
    world.pause();
    world.fail("a", Logic, "no");
    world.revise(|plan| plan.tasks[0].alternates.clear());
    world.started();
    world.resume();
    assert_eq!(world.starts().len(), 1, "{}", world.tasks());
}

#[test]
fn what_follows_however_a_task_ends_follows_a_failure_that_a_mode_answers() {
    let mut world = World::with_plan(
        r#"
        a        failure_modes=[{"name":"any","detect":"failure.class == \"logic\"","recover":"fix"}]  on always -> cleanup  on failure -> report
        fix
        cleanup
        report
        "#,
    );
    world.started();
    world.fail("a", Logic, "three");
    assert_eq!(world.started(), ["fix", "cleanup"]);
}

#[test]
fn a_missing_input_is_answered_like_any_failure() {
    let mut world = World::with_plan(
        r#"
        a  optional
        b  inputs={"x":"tasks.a.v"}  fallback={"y":1}
        c  inputs={"x":"tasks.a.v"}  failure_modes=[{"name":"none","detect":"failure.class == \"logic\"","recover":"d"}]
        d
        "#,
    );
    world.fail("a", Logic, "no");
    insta::assert_snapshot!(world.tasks(), @"
    a  failed     no
    b  completed
    c  failed     an input is missing: `tasks.a.v` was not made by task `a`
    d  running
    ");
}

#[test]
fn the_failure_modes_of_a_composite_answer_the_failure_of_its_parts() {
    let mut world = World::with_plan(
        r#"
        p       failure_modes=[{"name":"any","detect":"failure.class == \"logic\"","recover":"rescue"}]
          a
          b     after a
        rescue
        after   after p
        "#,
    );
    world.started();
    world.fail("a", Logic, "no");
    assert_eq!(world.started(), ["rescue"]);
    world.finish("rescue");
    assert_eq!(world.state(), PlanState::Completed, "{}", world.tasks());
}

#[test]
fn what_follows_however_a_task_ends_follows_when_someone_leaves_it_out() {
    let mut world = World::with_plan("a on always -> cleanup\ncleanup");
    world.fail("a", Policy, "not allowed");
    world.started();
    world.resolve("a", Resolution::Skip);
    assert_eq!(world.started(), ["cleanup"]);
}

#[test]
fn after_fail_fast_a_retry_does_what_was_stopped_too() {
    let mut world = World::with_plan(
        "
        policy.fail_fast=true
        flaky
        other   idempotency=safe
        behind  after other
        ",
    );
    world.fail("flaky", Logic, "wrong");
    assert_eq!(world.state(), PlanState::Failed);
    world.started();
    world.retry("flaky");
    assert_eq!(world.started(), ["flaky", "other"]);
    for task in ["flaky", "other", "behind"] {
        world.finish(task);
    }
    assert_eq!(world.state(), PlanState::Completed);
    assert!(world.tasks().lines().all(|line| line.ends_with("completed")));
}

#[test]
fn what_was_stopped_in_the_middle_and_may_have_happened_asks_when_the_plan_goes_on() {
    let mut world = World::with_plan("policy.recovery.logic=[\"abort\"]\na\nb");
    world.fail("a", Logic, "wrong");
    world.started();
    world.revise(|plan| plan.tasks[0].action = serde_json::from_value(json!({"run": "make"})).unwrap());
    assert_eq!(world.started(), ["a"]);
    assert_eq!(world.waits_for(), ["b: help: an earlier attempt was lost and may have happened"]);
}
