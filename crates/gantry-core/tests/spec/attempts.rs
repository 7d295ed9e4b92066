//! Attempts: numbers, late answers, leases, timeouts.

use gantry_core::effect::Failure;
use gantry_core::event::Event;
use gantry_core::id::AttemptNo;
use gantry_core::input::{Input, Success};
use gantry_core::life::PlanState;
use gantry_core::policy::FailureClass::{Logic, Transient};
use gantry_core::policy::{Retry, Usage};
use gantry_testkit::{World, hours, mins, secs};

#[test]
fn a_late_answer_for_an_older_attempt_changes_nothing_but_is_written_down() {
    let mut world = World::with_plan("flaky");
    world.fail("flaky", Transient, "connection reset");
    world.advance(mins(1));
    assert_eq!(world.life().task_life("flaky").unwrap().attempt, AttemptNo(2));
    let before = world.length();
    world.end("flaky", AttemptNo(1), Ok(Success::default()), Usage::default());
    insta::assert_snapshot!(world.log_since(before), @"answer_ignored flaky attempt=1 reason=attempt 2 is under way");
    insta::assert_snapshot!(world.tasks(), @"flaky  running    attempt 2");
}

#[test]
fn the_same_answer_twice_counts_once() {
    let mut world = World::with_plan("a\nb after a");
    world.finish("a");
    world.end("a", AttemptNo(1), Err(Failure::new(Logic, "no, it failed")), Usage::default());
    insta::assert_snapshot!(world.tasks(), @"
    a  completed
    b  running
    ");
}

#[test]
fn an_answer_for_an_attempt_that_never_was_is_ignored() {
    let mut world = World::with_plan("a");
    let before = world.length();
    world.end("a", AttemptNo(9), Ok(Success::default()), Usage::default());
    insta::assert_snapshot!(world.log_since(before), @"answer_ignored a attempt=9 reason=attempt 1 is under way");
}

#[test]
fn an_answer_for_an_unknown_task_is_refused() {
    let mut world = World::with_plan("a");
    let input = Input::Ended {
        task: gantry_core::id::TaskId::new("zz").unwrap(),
        attempt: AttemptNo(1),
        end: Ok(Success::default()),
        usage: Usage::default(),
    };
    assert_eq!(world.refusal(input), "there is no task `zz` [life::unknown-task]");
}

#[test]
fn transient_failures_are_retried_with_growing_waits_and_then_given_up() {
    let mut world = World::with_plan(r#"flaky  retry={"max":3,"backoff":"10s"}"#);
    let mut waits = Vec::new();
    for _ in 0..4 {
        world.fail("flaky", Transient, "connection reset");
        if let Some(at) = world.life().next_wake() {
            let last = world.journal().last().unwrap().at;
            waits.push((at - last).as_ms());
            world.advance(at - last);
        }
    }
    assert_eq!(waits.len(), 3);
    for (wait, whole) in waits.iter().zip([10_000, 20_000, 40_000]) {
        assert!((whole / 2..=whole).contains(wait), "{wait} ms should be between half and all of {whole} ms");
    }
    insta::assert_snapshot!(world.tasks(), @"flaky  failed     connection reset");
}

#[test]
fn the_runner_can_ask_for_a_longer_wait() {
    let mut world = World::with_plan("limited");
    let mut failure = Failure::new(Transient, "429");
    failure.retry_after = Some(mins(30));
    world.end("limited", AttemptNo(1), Err(failure), Usage::default());
    world.started();
    world.advance(mins(29));
    assert!(world.started().is_empty());
    world.advance(mins(1));
    assert_eq!(world.started(), ["limited"]);
}

#[test]
fn a_wrong_result_is_not_retried_unless_the_task_asks_for_it() {
    let mut world = World::with_plan("plain\neager retry.max=1");
    world.fail("plain", Logic, "exit 1");
    world.fail("eager", Logic, "exit 1");
    insta::assert_snapshot!(world.tasks(), @"
    plain  failed     exit 1
    eager  waiting    another try at 2026-01-01T09:00:00.943Z
    ");
}

#[test]
fn an_attempt_that_takes_too_long_is_stopped() {
    let mut world = World::with_plan("slow model timeout=10m");
    world.wishes();
    world.advance(mins(10));
    insta::assert_snapshot!(world.wishes(), @"cancel_attempt slow attempt=1 why=it took too long");
    insta::assert_snapshot!(world.tasks(), @"slow  waiting    another try at 2026-01-01T09:10:00.809Z");
}

#[test]
fn a_silent_runner_loses_its_lease_and_a_heartbeat_keeps_it() {
    let mut world = World::with_plan("long model heartbeat=10s");
    for _ in 0..10 {
        world.advance(secs(20));
        world.heartbeat("long", "");
    }
    insta::assert_snapshot!(world.tasks(), @"long  running");
    world.advance(secs(31));
    assert_eq!(world.count(|event| matches!(event, Event::AttemptFailed { .. })), 1);
    world.advance(secs(10));
    insta::assert_snapshot!(world.tasks(), @"long  running    attempt 2");
}

#[test]
fn a_heartbeat_of_a_lost_attempt_tells_its_runner_to_stop() {
    let mut world = World::with_plan("long model heartbeat=10s");
    world.advance(mins(1));
    world.wishes();
    let input = Input::Heartbeat {
        task: gantry_core::id::TaskId::new("long").unwrap(),
        attempt: AttemptNo(1),
        note: String::new(),
        artifacts: Vec::new(),
    };
    world.turn(input);
    insta::assert_snapshot!(world.wishes(), @"cancel_attempt long attempt=1 why=it is over");
}

#[test]
fn progress_is_part_of_the_record() {
    let mut world = World::with_plan("long heartbeat=10s");
    let before = world.length();
    world.heartbeat("long", "half of it");
    insta::assert_snapshot!(world.log_since(before), @"progress_made long attempt=1 note=half of it");
}

#[test]
fn a_safe_task_whose_process_went_away_is_ready_at_once_and_loses_no_retry() {
    let mut world = World::with_plan("work idempotency=safe");
    for _ in 0..10 {
        world.crash();
    }
    insta::assert_snapshot!(world.tasks(), @"work  running    attempt 11");
    world.finish("work");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_task_that_its_process_keeps_going_away_over_fails_in_the_end() {
    let mut world = World::with_plan("work idempotency=safe");
    for _ in 0..40 {
        world.crash();
        world.advance(mins(10));
    }
    assert_eq!(world.state(), PlanState::Failed);
}

#[test]
fn asking_for_retries_does_not_say_that_half_a_run_can_be_repeated() {
    let mut world = World::with_plan("pay timeout=1m retry.max=2\nlook timeout=1m retry.max=2 idempotency=safe");
    world.advance(mins(1));
    insta::assert_snapshot!(world.tasks(), @"
    pay   waiting    help: it took too long and was stopped
    look  waiting    another try at 2026-01-01T09:01:00.943Z
    ");
}

#[test]
fn a_task_that_says_nothing_is_tried_again_as_often_as_the_policy_says() {
    let mut world =
        World::with_plan("policy.retry={\"max\":1,\"backoff\":\"8s\",\"backoff_max\":\"8s\"}\na idempotency=safe");
    world.fail("a", Transient, "busy");
    world.advance(secs(8));
    assert_eq!(world.starts().len(), 2);
    world.fail("a", Transient, "busy");
    world.advance(hours(1));
    assert_eq!(world.starts().len(), 2);
}

#[test]
fn the_wait_before_a_retry_doubles_up_to_its_longest() {
    let retry = Retry { max: 9, backoff: secs(1), backoff_max: secs(5) };
    let longest = |nth: u32| retry.wait(nth, u64::MAX).as_ms().max(retry.wait(nth, 0).as_ms());
    assert!([1, 2, 3, 4, 40].map(longest) <= [1_000, 2_000, 4_000, 5_000, 5_000]);
    assert!(retry.wait(40, 0).as_ms() >= 2_500);
}
