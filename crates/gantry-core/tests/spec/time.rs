//! Waits, deadlines, timeboxes, escalation, and clocks that jump.

use gantry_core::event::Event;
use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_core::time::Timestamp;
use gantry_testkit::{World, days, hours, mins};

#[test]
fn a_wait_lets_time_pass_for_a_while_or_until_a_point() {
    let mut world = World::with_plan("rest wait=2h\nlater wait=\"2026-01-05T00:00:00Z\"\na after rest\nb after later");
    world.started();
    world.advance(hours(2));
    assert_eq!(world.started(), ["a"]);
    world.advance(days(4));
    assert_eq!(world.started(), ["b"]);
}

#[test]
fn a_timer_that_was_due_while_the_process_was_away_fires_once_at_the_start() {
    let mut world = World::with_plan("rest wait=2h\na after rest");
    world.clock_shows("2026-03-01T00:00:00Z");
    world.crash();
    world.turn(Input::Tick);
    assert_eq!(world.started(), ["a"]);
    world.turn(Input::Tick);
    assert!(world.started().is_empty());
}

#[test]
fn a_clock_that_jumps_back_never_makes_the_journal_go_back() {
    let mut world = World::with_plan("a\nb after a");
    world.advance(days(90));
    world.finish("a");
    world.clock_shows("2025-12-31T00:00:00Z");
    world.finish("b");
    let times: Vec<_> = world.journal().iter().map(|entry| entry.at).collect();
    assert!(times.is_sorted());
}

#[test]
fn a_missed_deadline_is_told_once_and_stops_nothing() {
    let mut world = World::with_plan(
        "plan.owner=olga\nplan.deadline=\"2026-01-01T12:00:00Z\"\na deadline=\"2026-01-01T10:00:00Z\" owner=ana",
    );
    world.wishes();
    world.advance(days(2));
    insta::assert_snapshot!(world.wishes(), @"
    notify a ana text=the deadline has passed
    notify null olga text=the plan has missed its deadline
    ");
    world.finish("a");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn when_the_timebox_is_over_what_is_done_counts_and_the_rest_is_given_up() {
    let mut world = World::with_plan(
        "
        research  timebox=1h
          one
          two
          three   after two
        write     after research
        ",
    );
    world.finish("one");
    world.wishes();
    world.advance(hours(1));
    insta::assert_snapshot!(world.wishes(), @"
    cancel_attempt two attempt=1 why=the timebox of `research` is over
    start_attempt write attempt=1
    ");
    insta::assert_snapshot!(world.tasks(), @"
    research  completed
    one       completed
    two       abandoned  the timebox of `research` is over
    three     abandoned  the timebox of `research` is over
    write     running
    ");
    world.finish("write");
    insta::assert_snapshot!(world.log_since(world.length() - 1), @r#"plan_completed degraded=["two","three"]"#);
}

#[test]
fn the_watchdog_tells_each_level_in_turn_while_a_task_runs() {
    let mut world = World::with_plan(r#"long escalation={"after":"1h","to":["ana","boss"],"levels":3}"#);
    world.wishes();
    world.advance(hours(9));
    insta::assert_snapshot!(world.wishes(), @"
    notify long ana text=`long` is running for longer than agreed
    notify long boss text=`long` is running for longer than agreed
    notify long boss text=`long` is running for longer than agreed
    ");
    world.finish("long");
    assert_eq!(world.life().next_wake(), None);
}

#[test]
fn the_owner_is_told_about_people_who_are_waited_for_when_the_policy_says_so() {
    let mut world = World::with_plan("policy.escalate_after=1d\nplan.owner=olga\nvisit person");
    world.wishes();
    world.advance(days(1));
    insta::assert_snapshot!(world.wishes(), @"notify visit olga text=`visit` is waiting for longer than agreed");
}

#[test]
fn a_finished_plan_has_no_timers_left() {
    let mut world =
        World::with_plan("policy.budget.time=9h\na timeout=1h heartbeat=10m escalation={\"after\":\"20m\"}");
    world.advance(mins(5));
    world.finish("a");
    assert_eq!(world.life().next_wake(), None);
}

#[test]
fn a_deadline_that_is_set_anew_after_it_was_missed_is_told_again() {
    let mut world = World::with_plan("plan.deadline=2026-01-01T10:00:00Z\na person deadline=2026-01-01T10:00:00Z");
    world.advance(hours(2));
    let missed = |world: &World| world.count(|event| matches!(event, Event::DeadlineMissed { .. }));
    assert_eq!(missed(&world), 2);
    let later = Timestamp::parse("2026-01-01T13:00:00Z").unwrap();
    world.revise(|plan| {
        plan.deadline = Some(later);
        plan.tasks[0].deadline = Some(later);
    });
    world.advance(hours(5));
    assert_eq!(missed(&world), 4);
}

#[test]
fn a_composite_that_is_opened_again_gets_its_timebox_anew() {
    let mut world = World::with_plan("g timebox=1h\n  a\nz person");
    world.advance(mins(50));
    world.finish("a");
    world.retry("a");
    world.advance(mins(50));
    assert_eq!(world.life().task_state("a").unwrap().to_string(), "running");
    world.advance(mins(10));
    insta::assert_snapshot!(world.tasks(), @"
    g  completed
    a  abandoned  the timebox of `g` is over
    z  waiting    someone to do it
    ");
}

#[test]
fn a_missed_deadline_can_be_seen_until_the_end() {
    let mut world = World::with_plan("plan.deadline=\"2026-01-01T10:00:00Z\"\na deadline=\"2026-01-01T11:00:00Z\"\nb");
    let missed = |world: &World| -> Vec<String> {
        let name = |task: Option<&gantry_core::id::TaskId>| task.map_or("the plan".to_owned(), ToString::to_string);
        world.life().missed_deadlines().map(name).collect()
    };
    assert_eq!(missed(&world), Vec::<String>::new());
    world.advance(hours(1));
    assert_eq!(missed(&world), ["the plan"]);
    world.advance(hours(1));
    world.finish("a");
    world.finish("b");
    assert_eq!(missed(&world), ["the plan", "a"]);
}

#[test]
fn a_question_with_a_default_goes_on_by_itself_and_one_without_does_not() {
    let mut world = World::with_plan(
        r#"
        which  ask={"question":"Which?","options":["a","b"],"default":"b","answer_within":"2h"}
        use    after which
        "#,
    );
    assert_eq!(world.state(), PlanState::Running);
    world.advance(hours(2));
    assert_eq!(world.started(), ["use"]);
    let world = World::with_plan(r#"which ask={"question":"Which?","default":"b"}"#);
    assert_eq!(world.state(), PlanState::Blocked);
}

#[test]
fn the_time_of_a_composite_does_not_pass_while_the_plan_is_paused() {
    let mut world = World::with_plan("p timebox=3h\n  a\n  b after a");
    world.advance(hours(1));
    world.pause();
    world.advance(hours(10));
    world.finish("a");
    assert_eq!(world.life().task_state("b"), Some(gantry_core::life::TaskState::Ready));
    world.resume();
    world.advance(hours(1));
    assert!(world.tasks().contains("b  running"), "{}", world.tasks());
    world.advance(hours(1));
    insta::assert_snapshot!(world.tasks(), @"
    p  completed
    a  completed
    b  abandoned  the timebox of `p` is over
    ");
}
