//! Seeds as tests: a range that must hold, and runs that once broke a rule.
//!
//! Each named run also shows that it still meets the situation in which the rule was broken. When a
//! change of the generator moves that situation to other seeds, the test says so, and
//! `cargo run --release -p gantry-sim --example find_seeds` finds new ones. That each rule can be broken at
//! all is shown in `checkers.rs` and `stories.rs`.

mod situations;

use gantry_core::event::Event;
use gantry_core::id::{AttemptNo, PlanId, Revision, TaskId};
use gantry_core::input::{Change, Input, Success};
use gantry_core::life;
use gantry_core::plan::{self, Action, FailureMode, Idempotency, Map, Plan, Run, Task};
use gantry_core::policy::Usage;
use gantry_sim::plans;
use gantry_sim::run::{run_range, run_seed};
use gantry_sim::world::Trace;
use situations::{Situation, meets};

/// How many seeds are run in a test without optimisation.
const SEEDS: u64 = 300;

#[test]
fn no_seed_of_a_small_range_breaks_a_rule() {
    let summary = run_range(1_000_090, SEEDS, 2);
    assert_eq!(summary.violations, Vec::new());
    assert_eq!(summary.seeds, SEEDS);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in [3, 44, 555] {
        let (first, second) = (run_seed(seed, Trace::Off), run_seed(seed, Trace::Off));
        assert_eq!(first.record.journal, second.record.journal);
        assert_eq!(first.record.ledger, second.record.ledger);
    }
}

#[test]
fn every_sort_of_fault_is_met() {
    let summary = run_range(2_000_000, SEEDS, 2);
    for fault in [
        "answer late",
        "answer lost",
        "answer twice",
        "bogus answer",
        "crash before append",
        "crash before apply",
        "crash before effects",
        "jump ahead",
        "jump back",
        "kill",
        "little room",
        "no room",
        "overspent",
        "overtaken",
        "refused among others",
        "runner silent",
        "several at once",
        "someone among others",
        "steering",
        "store refuses",
    ] {
        assert!(summary.faults.contains_key(fault), "no {fault} in {SEEDS} seeds");
    }
}

#[test]
fn a_task_that_comes_back_under_its_name_counts_its_attempts_on() {
    let id = |name: &str| TaskId::slugged(name);
    let run = || Some(Action::Run(Run { command: "make".to_owned(), ..Run::default() }));
    let task = |name: &str| Task { action: run(), idempotency: Some(Idempotency::Safe), ..Task::new(id(name)) };
    let plan = Plan { title: "Names".to_owned(), tasks: vec![task("a"), task("b")], ..Plan::default() };
    let now = plans::BEGINNING;
    let journal = life::create(plan, PlanId::mint("Names", 1), 1, now).expect("the plan is valid");
    let mut life = life::replay(&journal).expect("the journal is whole");
    let mut turn = |input: Input| -> Vec<Event> {
        let verdict = life.decide(&input, now).expect("it is allowed");
        life.apply(&verdict.events);
        verdict.events.into_iter().map(|entry| entry.event).collect()
    };
    let revise = |base: u32, names: &[&str]| {
        let tasks = names.iter().map(|name| task(name)).collect();
        let plan = Plan { title: "Names".to_owned(), tasks, ..Plan::default() };
        let change = Change::To(Box::new(plan));
        Input::Revise { by: "ana".to_owned(), rationale: String::new(), base: Revision(base), change }
    };
    turn(Input::Start);
    turn(revise(1, &["b"]));
    let events = turn(revise(2, &["a", "b"]));
    let started = |event: &Event| matches!(event, Event::AttemptStarted { task, attempt, .. } if *task == id("a") && attempt.0 == 2);
    assert!(events.iter().any(started), "{events:?}");
    let end = Ok(Success::default());
    let late = turn(Input::Ended { task: id("a"), attempt: AttemptNo(1), end, usage: Usage::default() });
    assert!(matches!(late[..], [Event::AnswerIgnored { .. }]), "{late:?}");
}

#[test]
fn the_check_names_parts_of_a_map_that_cost_more_than_the_plan() {
    let mut each = Task::new(TaskId::slugged("each"));
    each.budget.model_calls = Some(5);
    let over = plan::Input::Value(serde_json::json!([1]));
    let map = Map { over, r#as: "item".to_owned(), max: None, each: Some(Box::new(each)) };
    let task = Task { action: Some(Action::Map(map)), ..Task::new(TaskId::slugged("m")) };
    let mut plan = Plan { tasks: vec![task], ..Plan::default() };
    plan.policy.budget.model_calls = Some(1);
    assert!(!plans::is_valid(&plan));
}

#[test]
fn the_check_names_a_cycle_through_a_failure_mode() {
    let mut second = Task { depends_on: vec![TaskId::slugged("a")], ..Task::new(TaskId::slugged("b")) };
    second.failure_modes.push(FailureMode { name: "bad".to_owned(), detect: None, recover: Some("a".to_owned()) });
    let plan = Plan { tasks: vec![Task::new(TaskId::slugged("a")), second], ..Plan::default() };
    assert!(!plans::is_valid(&plan));
}

fn holds_and_meets(seed: u64, situation: Situation) {
    let report = run_seed(seed, Trace::Off);
    assert_eq!(report.violation, None, "seed {seed}");
    assert!(meets(&report.record.journal, situation), "seed {seed} no longer meets the situation: find another");
}

macro_rules! runs_that_once_failed {
    ($($name:ident: $seed:literal, $situation:ident;)*) => {
        $(#[test]
        fn $name() {
            holds_and_meets($seed, situations::$situation);
        })*

        #[test]
        fn every_situation_has_a_run() {
            let run = [$(stringify!($situation)),*];
            for (name, _) in situations::ALL {
                assert!(run.contains(&name), "no run meets `{name}`");
            }
        }
    };
}

runs_that_once_failed! {
    seed_9_a_planned_retry_is_read_back_as_it_was_written: 9, a_retry_is_planned;
    seed_494_an_undo_that_is_the_own_action_of_a_composite_ends_once: 494, a_composite_undoes;
    seed_33_what_an_ended_undo_lets_start_starts_at_once: 33, something_starts_after_an_undo;
    seed_185_a_repeated_map_makes_its_own_parts_under_free_names: 185, a_map_is_repeated;
    seed_554_the_timers_of_a_failed_plan_are_silent: 554, a_plan_fails_with_a_timebox_open;
    seed_128_an_alternate_counts_against_the_limits_of_what_it_uses: 128, an_alternate_starts;
    seed_19_a_failure_mode_does_not_repeat_what_may_have_happened: 19, a_lost_attempt_has_a_failure_mode;
    seed_178_a_gate_that_sends_work_along_a_route_holds_everything_else: 178, a_gate_sends_work_forward;
    seed_54_parts_of_an_imported_composite_share_its_status: 54, a_composite_is_imported;
    seed_359_a_task_added_to_a_finished_composite_opens_it: 359, a_part_comes_late;
    seed_3494_a_part_that_is_done_again_runs_inside_its_composite: 3_494, a_part_of_a_judged_composite_reopens;
    seed_258_a_loop_out_of_a_composite_repeats_the_composite: 258, a_loop_leaves_a_composite;
    seed_76_ways_back_lead_to_the_newest_round: 76, a_way_back_moves_to_a_new_round;
    seed_281_a_lost_attempt_stays_in_doubt_when_its_task_is_opened_again: 281, doubt_outlives_a_reopening;
    seed_1146_a_composite_with_a_fallback_skips_what_has_not_begun: 1_146, a_composite_falls_back;
    seed_22_routes_from_outside_lead_to_the_new_round: 22, a_route_leads_into_a_new_round;
    seed_3224_a_reopened_plan_sees_what_people_said_after_its_end: 3_224, a_plan_reopens_after_late_words;
    seed_1269_the_target_of_a_removed_task_can_start: 1_269, a_task_with_a_route_is_removed;
    seed_435_what_waits_for_a_failed_part_is_skipped_when_its_composite_is_answered: 435, a_failed_part_bars_others;
    seed_6879_a_composite_that_loses_its_last_part_ends: 6_879, a_composite_loses_its_last_part;
    seed_349_a_round_of_imported_work_starts_pending: 349, imported_work_is_repeated;
    seed_54_a_failure_mode_that_names_a_task_is_a_route: 54, a_failure_mode_leads_to_a_task;
    seed_108_readers_of_an_artifact_wait_for_the_round_that_makes_it: 108, an_artifact_is_read_in_a_round;
    seed_21907_a_removed_part_of_a_map_leaves_no_mention: 21_907, a_map_loses_a_part;
}
