//! The checkers bite: a journal that is wrong in one place is found out.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use gantry_core::effect::Failure;
use gantry_core::event::{AfterUndo, AnswerTo, Entry, Event, Source};
use gantry_core::expr::Expr;
use gantry_core::id::{AttemptNo, PlanId, Revision, TaskId};
use gantry_core::input::Decision;
use gantry_core::life;
use gantry_core::plan::{
    Action, Adopt, Compute, Diff, Gate, Idempotency, Input, Map, Model, Money, On, Placed, Plan, Reference, Round,
    Route, Run, Task, Undo,
};
use gantry_core::policy::{Dimension, FailureClass, Policy, Remedy, Usage};
use gantry_core::time::Timestamp;
use gantry_sim::checks;
use gantry_sim::world::Deed;
use serde_json::json;

fn id(name: &str) -> TaskId {
    TaskId::new(name).unwrap()
}

fn task(name: &str, after: &[&str]) -> Task {
    let action = Some(Action::Run(Run { command: "make".to_owned(), ..Run::default() }));
    Task { action, depends_on: after.iter().map(|name| id(name)).collect(), ..Task::new(id(name)) }
}

fn asking() -> Action {
    Action::Model(Model { instruction: Some("Say it.".to_owned()), ..Model::default() })
}

fn failed(name: &str) -> Event {
    Event::TaskFailed { task: id(name), failure: Failure::new(FailureClass::Logic, "no"), handled: false }
}

fn skipped(name: &str) -> Event {
    Event::TaskSkipped { task: id(name), because: "so".to_owned(), by_hand: false }
}

fn plan(tasks: Vec<Task>) -> Plan {
    Plan { title: "Checked".to_owned(), tasks, ..Plan::default() }
}

/// A journal under construction: events become entries, one millisecond apart.
struct Journal(Vec<Entry>);

impl Journal {
    fn of(plan: Plan) -> Self {
        let journal = life::create(plan, PlanId::mint("Checked", 1), 1, Timestamp::from_ms(1_000)).unwrap();
        Self(journal).and(Event::PlanStarted)
    }

    fn and(mut self, event: Event) -> Self {
        let seq = self.0.len() as u64 + 1;
        let at = Timestamp::from_ms(1_000 + i64::try_from(seq).unwrap());
        self.0.push(Entry { v: 1, seq, at, event });
        self
    }

    fn start(self, name: &str, attempt: u32) -> Self {
        self.start_with(name, attempt, Usage::default())
    }

    fn start_with(self, name: &str, attempt: u32, reserved: Usage) -> Self {
        self.and(Event::AttemptStarted {
            task: id(name),
            attempt: AttemptNo(attempt),
            key: format!("key of {name}"),
            reserved,
            timeout_at: None,
            lease_until: None,
        })
    }

    fn succeed(self, name: &str, attempt: u32) -> Self {
        self.and(Event::AttemptSucceeded {
            task: id(name),
            attempt: AttemptNo(attempt),
            outputs: [].into(),
            artifacts: Vec::new(),
            outcome: None,
            shortfall: None,
            usage: Usage::default(),
        })
    }

    fn fail(self, name: &str, attempt: u32, class: FailureClass) -> Self {
        let failure = Failure::new(class, "no");
        self.and(Event::AttemptFailed {
            task: id(name),
            attempt: AttemptNo(attempt),
            failure,
            usage: Usage::default(),
            unanswered: false,
        })
    }

    fn complete(self, name: &str) -> Self {
        self.complete_as(name, None)
    }

    fn complete_as(self, name: &str, outcome: Option<&str>) -> Self {
        self.and(Event::TaskCompleted {
            task: id(name),
            key: format!("key of {name}"),
            outputs: [].into(),
            outcome: outcome.map(str::to_owned),
            source: Source::Made,
            unjudged: Vec::new(),
        })
    }

    fn done(self, name: &str) -> Self {
        self.start(name, 1).succeed(name, 1).complete(name)
    }

    fn retry(self, name: &str) -> Self {
        let at = Timestamp::from_ms(2_000);
        self.and(Event::RetryPlanned { task: id(name), remedy: Remedy::Retry, at, feedback: None })
            .and(Event::TaskUnblocked { task: id(name) })
    }

    fn revise(self, added: Vec<Task>) -> Self {
        let added = added.into_iter().map(|task| Placed { after: None, task }).collect();
        let diff = Box::new(Diff { added, ..Diff::default() });
        self.and(Event::PlanRevised { revision: Revision(2), diff, rationale: String::new(), by: "gantry".to_owned() })
    }

    fn rule(&self) -> Option<&'static str> {
        checks::check(&self.0, &[]).err().map(|violation| violation.rule)
    }

    fn breaks(&self, rule: &str) {
        assert_eq!(self.rule(), Some(rule));
    }

    fn holds(self) -> Self {
        assert_eq!(checks::check(&self.0, &[]), Ok(()));
        self
    }
}

#[test]
fn a_correct_journal_breaks_no_rule() {
    let end = Event::PlanCompleted { degraded: Vec::new(), unjudged: Vec::new() };
    Journal::of(plan(vec![task("a", &[]), task("b", &["a"])])).done("a").done("b").and(end).holds();
}

#[test]
fn a_missing_entry_is_found() {
    let mut journal = Journal::of(plan(vec![task("a", &[])])).done("a");
    journal.0.remove(2);
    journal.breaks("entries have no gaps");
}

#[test]
fn time_that_goes_back_is_found() {
    let mut journal = Journal::of(plan(vec![task("a", &[])])).done("a");
    journal.0[3].at = Timestamp::from_ms(0);
    journal.breaks("time never goes back in a journal");
}

#[test]
fn a_task_that_starts_before_what_it_needs_is_found() {
    let tasks = vec![task("a", &[]), task("b", &["a"])];
    Journal::of(plan(tasks.clone())).start("b", 1).breaks("nothing starts before what it needs");
    Journal::of(plan(tasks)).and(skipped("a")).start("b", 1).breaks("nothing starts before what it needs");
}

#[test]
fn a_task_that_starts_without_the_route_to_it_is_found() {
    let mut first = task("a", &[]);
    first.next.push(Route { on: On::Failure, to: id("b"), max: None, when: None });
    let journal = Journal::of(plan(vec![first, task("b", &[])])).done("a");
    journal.start("b", 1).breaks("nothing starts before what it needs");
}

#[test]
fn a_start_behind_work_that_is_done_again_is_found() {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("c", &["b"])];
    let reopened = Event::TaskReopened { task: id("a"), because: "again".to_owned(), afresh: true };
    let journal = Journal::of(plan(tasks)).done("a").done("b").and(reopened);
    journal.start("c", 1).breaks("nothing starts before what it needs");
}

#[test]
fn a_start_behind_a_gate_that_sent_work_back_is_found() {
    let gate = Task { action: Some(Action::Gate(Gate::default())), ..task("gate", &[]) };
    let opened = Event::GateOpened { task: id("gate"), needed: 1, revision: Revision(1), findings: Vec::new() };
    let decided = Event::GateDecided {
        task: id("gate"),
        by: "ana".to_owned(),
        role: None,
        decision: Decision::NeedsChanges,
        rationale: String::new(),
        evidence: Vec::new(),
    };
    let journal = Journal::of(plan(vec![gate, task("ship", &["gate"])])).and(opened).and(decided);
    let journal = journal.complete_as("gate", Some("needs_changes"));
    journal.start("ship", 1).breaks("nothing starts behind a gate that did not approve");
}

#[test]
fn a_start_outside_an_open_composite_is_found() {
    let inner = Task { parent: Some(id("whole")), ..task("part", &[]) };
    let tasks = vec![Task::new(id("whole")), inner];
    Journal::of(plan(tasks)).start("part", 1).breaks("nothing starts outside an open composite");
}

#[test]
fn a_start_while_the_plan_is_held_is_found() {
    let held = Event::PlanPaused { by: "ana".to_owned(), why: String::new() };
    let journal = || Journal::of(plan(vec![task("a", &[])]));
    journal().and(held).start("a", 1).breaks("nothing starts unless the plan runs");
    let begun = Event::UndoBegun { tasks: Vec::new(), then: AfterUndo::Pause, why: String::new() };
    journal().and(begun).start("a", 1).breaks("nothing starts unless the plan runs");
}

#[test]
fn finished_work_that_is_done_again_is_found() {
    let journal = Journal::of(plan(vec![task("a", &[])])).done("a");
    journal.start("a", 2).breaks("what is over or under way does not start");
}

#[test]
fn two_attempts_of_one_task_at_a_time_are_found() {
    let journal = Journal::of(plan(vec![task("a", &[])])).start("a", 1);
    journal.start("a", 2).breaks("one attempt of a task at a time");
}

#[test]
fn attempt_numbers_that_do_not_rise_are_found() {
    let journal = Journal::of(plan(vec![task("a", &[])])).start("a", 1).fail("a", 1, FailureClass::Transient);
    journal.retry("a").start("a", 1).breaks("attempt numbers rise");
}

#[test]
fn a_dropped_failure_of_an_attempt_is_found() {
    let mut journal = Journal::of(plan(vec![task("a", &[])])).start("a", 1).fail("a", 1, FailureClass::Transient);
    journal.0.pop();
    journal.retry("a").start("a", 2).breaks("one attempt of a task at a time");
}

#[test]
fn an_answer_of_an_attempt_that_is_over_is_found() {
    let journal = Journal::of(plan(vec![task("a", &[])])).start("a", 1).succeed("a", 1);
    journal.succeed("a", 1).breaks("only an attempt under way ends");
}

#[test]
fn more_attempts_at_once_than_allowed_are_found() {
    let mut limited = plan(vec![task("a", &[]), task("b", &[])]);
    limited.policy.parallel = Some(1);
    let journal = Journal::of(limited).start("a", 1);
    journal.start("b", 1).breaks("no more attempts at once than the policy allows");
}

#[test]
fn more_users_of_a_capability_than_allowed_are_found() {
    let mut limited = plan(vec![task("a", &[]), task("b", &[])]);
    limited.policy.capabilities.insert("shell".to_owned(), 1);
    let journal = Journal::of(limited).start("a", 1);
    journal.start("b", 1).breaks("no more attempts use a capability than the policy allows");
}

#[test]
fn a_start_that_the_budget_does_not_allow_is_found() {
    let asks = |name: &str| Task { action: Some(asking()), ..task(name, &[]) };
    let mut limited = plan(vec![asks("a"), asks("b")]);
    limited.policy.budget.model_calls = Some(1);
    let one = Usage { model_calls: 1, ..Usage::default() };
    let journal = Journal::of(limited).start_with("a", 1, one);
    journal.start_with("b", 1, one).breaks("nothing starts that the budget does not allow");
}

/// A plan with one call of a model to spend, which `b` would make.
fn with_one_call() -> Journal {
    let asks = Task { action: Some(asking()), ..task("b", &[]) };
    let mut limited = plan(vec![task("a", &[]), asks]);
    limited.policy.budget.model_calls = Some(1);
    Journal::of(limited)
}

const ONE_CALL: Usage = Usage { model_calls: 1, cost_usd: Money(0), tokens: 0, nodes: 0 };

#[test]
fn a_start_that_others_have_used_the_budget_for_is_found() {
    let rule = Some("nothing starts that the budget does not allow");
    let (a, attempt, usage) = (id("a"), AttemptNo(1), ONE_CALL);
    let judged = |task: Option<TaskId>| Event::Judged { task, by: "judge".to_owned(), verdicts: Vec::new(), usage };
    let verified = Event::Verified { task: a.clone(), attempt, happened: None, usage };
    let (reason, to) = (String::new(), AnswerTo::Attempt);
    let late = Event::AnswerIgnored { task: a.clone(), attempt, reason, usage, to };
    with_one_call().start_with("b", 1, ONE_CALL).holds();
    for used in [judged(None), judged(Some(a)), verified, late] {
        let journal = with_one_call().and(used.clone()).holds();
        assert_eq!(journal.start_with("b", 1, ONE_CALL).rule(), rule, "{used:?}");
    }
}

#[test]
fn a_start_that_taking_back_has_used_the_budget_for_is_found() {
    let undone = |usage: Usage| Event::TaskUndone { task: id("a"), how: String::new(), usage };
    let stuck =
        |usage: Usage| Event::UndoFailed { task: id("a"), attempt: AttemptNo(9), message: String::new(), usage };
    let free = Usage::default();
    let journal = |stuck_using: Usage, undone_using: Usage| {
        let begun = with_one_call().done("a").and(begun_then(&["a"], AfterUndo::Pause)).and(undo_started("a"));
        let again = begun.and(stuck(stuck_using)).and(undo_started("a"));
        again.and(undone(undone_using)).and(Event::UndoFinished).holds().start_with("b", 1, ONE_CALL)
    };
    journal(free, free).holds();
    journal(ONE_CALL, free).breaks("nothing starts that the budget does not allow");
    journal(free, ONE_CALL).breaks("nothing starts that the budget does not allow");
}

#[test]
fn a_lost_attempt_that_is_repeated_blindly_is_found() {
    let lost = || {
        let unsafe_task = Task { idempotency: Some(Idempotency::Unsafe), ..task("a", &[]) };
        Journal::of(plan(vec![unsafe_task])).start("a", 1).fail("a", 1, FailureClass::Lost)
    };
    lost().retry("a").start("a", 2).breaks("what may have happened is not repeated blindly");
    let verified =
        Event::Verified { task: id("a"), attempt: AttemptNo(1), happened: Some(false), usage: Usage::default() };
    lost().and(verified).retry("a").start("a", 2).holds();
}

#[test]
fn an_effect_that_really_happened_twice_is_found() {
    let deed =
        |attempt: u32| Deed { task: id("a"), attempt: AttemptNo(attempt), key: "key of a".to_owned(), what: "run" };
    let stopped = Journal::of(plan(vec![task("a", &[])])).start("a", 1).fail("a", 1, FailureClass::Cancelled);
    let journal = stopped.retry("a").start("a", 2).holds();
    let rule = |ledger: &[Deed]| checks::check(&journal.0, ledger).err().map(|violation| violation.rule);
    assert_eq!(rule(&[deed(2)]), None);
    assert_eq!(rule(&[deed(1), deed(2)]), Some("nothing unsafe happens twice under one key"));
    assert_eq!(rule(&[deed(1), deed(1)]), Some("an attempt happens once"));
}

fn restored(name: &str) -> Task {
    Task { undo: Undo::Restore, ..task(name, &[]) }
}

fn begun_then(tasks: &[&str], then: AfterUndo) -> Event {
    Event::UndoBegun { tasks: tasks.iter().map(|name| id(name)).collect(), then, why: String::new() }
}

fn begun(tasks: &[&str]) -> Event {
    begun_then(tasks, AfterUndo::Abandon)
}

fn undo_started(name: &str) -> Event {
    Event::UndoStarted { task: id(name), attempt: AttemptNo(9) }
}

#[test]
fn undo_in_the_wrong_order_is_found() {
    let journal = || Journal::of(plan(vec![restored("a"), restored("b")])).done("a").done("b");
    journal().and(begun(&["b", "a"])).holds();
    journal().and(begun(&["a", "b"])).breaks("undo goes backwards through what really happened");
    let undone = Event::TaskUndone { task: id("a"), how: String::new(), usage: Usage::default() };
    journal().and(begun(&["b", "a"])).and(undone).breaks("undo goes in its order");
}

#[test]
fn half_done_work_that_is_taken_back_in_the_wrong_order_is_found() {
    // `b` was tried between the end of `a` and the end of `c`, and did not finish.
    let journal = || {
        let begun = Journal::of(plan(vec![restored("a"), restored("b"), restored("c")])).done("a");
        begun.start("b", 1).fail("b", 1, FailureClass::Logic).done("c")
    };
    journal().and(begun(&["c", "b", "a"])).holds();
    for wrong in [["b", "c", "a"], ["c", "a", "b"]] {
        journal().and(begun(&wrong)).breaks("undo goes backwards through what really happened");
    }
}

#[test]
fn half_done_work_counts_from_its_last_try() {
    let again = |journal: Journal| journal.fail("a", 1, FailureClass::Transient).done("b").retry("a").start("a", 2);
    let tried = || again(Journal::of(plan(vec![restored("a"), restored("b")])).start("a", 1));
    let journal = || tried().fail("a", 2, FailureClass::Logic);
    journal().and(begun(&["a", "b"])).holds();
    journal().and(begun(&["b", "a"])).breaks("undo goes backwards through what really happened");
}

#[test]
fn a_second_reason_to_take_back_that_breaks_the_order_is_found() {
    let journal = || {
        let done = Journal::of(plan(vec![restored("a"), restored("b"), restored("c")])).done("a").done("b").done("c");
        done.and(begun_then(&["b", "a"], AfterUndo::Fail)).and(undo_started("b")).and(begun(&["c", "b", "a"]))
    };
    let undone = |name: &str| Event::TaskUndone { task: id(name), how: String::new(), usage: Usage::default() };
    journal().and(undone("b")).and(undo_started("c")).and(undone("c")).and(undo_started("a")).holds();
    journal().and(undone("b")).and(undo_started("a")).breaks("undo goes in its order");
}

#[test]
fn taking_back_what_was_not_done_is_found() {
    let rule = "only what was done is taken back";
    let journal = || Journal::of(plan(vec![restored("a"), task("b", &[])]));
    journal().and(begun(&["a"])).breaks(rule);
    journal().start("a", 1).and(begun(&["a"])).breaks(rule);
    // What says nothing about undo is taken back when it is done, and not when it is half done.
    journal().done("b").and(begun(&["b"])).holds();
    journal().start("b", 1).fail("b", 1, FailureClass::Logic).and(begun(&["b"])).breaks(rule);
}

#[test]
fn giving_up_without_taking_everything_back_is_found() {
    let journal = || Journal::of(plan(vec![restored("a"), restored("b")])).done("a");
    let rule = "giving up takes back everything that was done";
    journal().and(begun(&[])).breaks(rule);
    journal().start("b", 1).fail("b", 1, FailureClass::Lost).and(begun(&["a"])).breaks(rule);
    journal().and(begun_then(&[], AfterUndo::Pause)).holds();
}

#[test]
fn a_task_that_ends_twice_is_found() {
    let rule = "a task that is over does not end again";
    let journal = || Journal::of(plan(vec![task("a", &[])])).done("a");
    journal().complete("a").breaks(rule);
    journal().and(failed("a")).breaks(rule);
    journal().and(skipped("a")).breaks(rule);
    journal().and(Event::TaskAbandoned { task: id("a"), because: String::new() }).breaks(rule);
}

#[test]
fn a_task_that_ends_while_its_attempt_runs_is_found() {
    let journal = Journal::of(plan(vec![task("a", &[])])).start("a", 1);
    journal.complete("a").breaks("an attempt ends before its task");
}

#[test]
fn an_event_about_an_unknown_task_is_found() {
    Journal::of(plan(vec![task("a", &[])])).start("z", 1).breaks("events are about tasks of the plan");
}

#[test]
fn a_journal_without_a_beginning_is_found() {
    let rule = "a journal begins with a plan";
    Journal(Vec::new()).breaks(rule);
    let mut journal = Journal::of(plan(vec![task("a", &[])]));
    journal.0.remove(0);
    journal.breaks(rule);
}

#[test]
fn a_plan_that_ends_twice_is_found() {
    let end = || Event::PlanCompleted { degraded: Vec::new(), unjudged: Vec::new() };
    let journal = || Journal::of(plan(vec![task("a", &[])])).done("a").and(end());
    journal().and(end()).breaks("a plan that is over does not end again");
    let failed = Event::PlanFailed { causes: vec!["so".to_owned()] };
    journal().and(failed).breaks("a plan that is over does not end again");
}

#[test]
fn a_start_after_the_end_or_without_money_is_found() {
    let rule = "nothing starts unless the plan runs";
    let end = Event::PlanFailed { causes: vec!["so".to_owned()] };
    let journal = || Journal::of(plan(vec![task("a", &[]), Task::new(id("whole"))]));
    journal().and(end.clone()).start("a", 1).breaks(rule);
    journal().and(end).and(Event::TaskOpened { task: id("whole"), until: None, key: None }).breaks(rule);
    let tripped = Event::BreakerTripped { dimension: Dimension::Tokens, detail: String::new() };
    journal().and(tripped.clone()).start("a", 1).breaks(rule);
    journal().and(tripped).and(Event::BreakerReset).start("a", 1).holds();
}

#[test]
fn an_alternate_that_uses_a_capability_beyond_its_limit_is_found() {
    let ask = || asking();
    let other = Task { alternates: vec![ask()], ..task("b", &[]) };
    let mut limited = plan(vec![Task { action: Some(ask()), ..task("a", &[]) }, other]);
    limited.policy.capabilities.insert("model".to_owned(), 1);
    let at = Timestamp::from_ms(2_000);
    let other_way = Event::RetryPlanned { task: id("b"), remedy: Remedy::Alternate, at, feedback: None };
    let journal = Journal::of(limited).start("a", 1).start("b", 1).holds().fail("b", 1, FailureClass::Logic);
    let journal = journal.and(other_way).and(Event::TaskUnblocked { task: id("b") });
    journal.start("b", 2).breaks("no more attempts use a capability than the policy allows");
}

#[test]
fn a_fallback_that_a_completed_plan_keeps_quiet_about_is_found() {
    let fallback = Event::TaskCompleted {
        task: id("a"),
        key: String::new(),
        outputs: [].into(),
        outcome: None,
        source: Source::Fallback,
        unjudged: Vec::new(),
    };
    let end = |degraded: Vec<TaskId>| Event::PlanCompleted { degraded, unjudged: Vec::new() };
    let journal = || Journal::of(plan(vec![task("a", &[])])).and(fallback.clone());
    journal().and(end(vec![id("a")])).holds();
    journal().and(end(Vec::new())).breaks("a completed plan has done everything it had to");
}

#[test]
fn more_rounds_than_allowed_are_found() {
    let back = |name: &str| Route { on: On::Failure, to: id(name), max: Some(1), when: None };
    let round = |number: u32, because: &str| {
        let name = format!("a-r{number}");
        let round = Some(Round { of: id("a"), number, because: id(because) });
        Task { round, next: vec![back(&name)], ..task(&name, &[]) }
    };
    let once = || {
        let source = Task { next: vec![back("a")], ..task("a", &[]) };
        Journal::of(plan(vec![source])).revise(vec![round(2, "a")])
    };
    once().holds();
    once().revise(vec![round(3, "a-r2")]).breaks("no more rounds than allowed");
}

#[test]
fn more_parts_of_a_map_than_allowed_are_found() {
    let over = gantry_core::plan::Input::Value(json!([1, 2]));
    let map = Map { over, r#as: "item".to_owned(), max: Some(1), each: None };
    let mapped = Task { action: Some(Action::Map(map)), ..task("m", &[]) };
    let part = |name: &str| Task { parent: Some(id("m")), ..task(name, &[]) };
    let journal = Journal::of(Plan { policy: Policy::default(), ..plan(vec![mapped]) });
    journal.revise(vec![part("m-1"), part("m-2")]).breaks("no more parts of a map than allowed");
}

#[test]
fn what_is_taken_in_once_more_without_a_round_is_found() {
    let part = |number: u32| {
        let round = Some(Round { of: id("own"), number, because: id("all") });
        Task { round, parent: Some(id("all")), ..task(&format!("own-r{number}"), &[]) }
    };
    let journal = |action: Action| Journal::of(plan(vec![Task { action: Some(action), ..task("all", &[]) }]));
    let adopt = || Action::Adopt(Adopt(gantry_core::plan::Input::Value(json!({"tasks": []}))));
    let broken = "only a round of what adopts takes in once more";
    journal(adopt()).revise(vec![part(2)]).breaks(broken);
    journal(Action::Run(Run { command: "make".to_owned(), ..Run::default() })).revise(vec![part(1)]).breaks(broken);
}

#[test]
fn a_part_that_is_nested_too_deep_is_found() {
    let over = gantry_core::plan::Input::Value(json!([1]));
    let map = Map { over, r#as: "item".to_owned(), max: None, each: None };
    let mapped = Task { action: Some(Action::Map(map)), ..task("m", &[]) };
    let journal = |depth: u32| {
        let mut limited = plan(vec![mapped.clone()]);
        limited.policy.budget.depth = Some(depth);
        Journal::of(limited).revise(vec![Task { parent: Some(id("m")), ..task("m-1", &[]) }])
    };
    journal(2).holds();
    journal(1).breaks("nothing is nested deeper than the budget allows");
}

#[test]
fn a_plan_that_completes_too_early_is_found() {
    let end = || Event::PlanCompleted { degraded: Vec::new(), unjudged: Vec::new() };
    let journal = Journal::of(plan(vec![task("a", &[]), task("b", &[])])).done("a");
    journal.and(end()).breaks("a completed plan has done everything it had to");
    let journal = Journal::of(plan(vec![task("a", &[])])).start("a", 1).fail("a", 1, FailureClass::Logic);
    journal.and(failed("a")).and(end()).breaks("a completed plan has done everything it had to");
}

#[test]
fn a_plan_that_ends_while_something_runs_is_found() {
    let end = Event::PlanFailed { causes: vec!["so".to_owned()] };
    let journal = Journal::of(plan(vec![task("a", &[])])).start("a", 1);
    journal.and(end).breaks("a plan ends with nothing under way");
}

#[test]
fn tasks_that_can_never_start_are_found() {
    let end = Event::PlanFailed { causes: vec!["some tasks can never start".to_owned()] };
    Journal::of(plan(vec![task("a", &[])])).and(end).breaks("every task of a valid plan can start or is left out");
}

#[test]
fn a_diff_that_does_not_fit_is_found() {
    let journal = Journal::of(plan(vec![task("a", &[])]));
    journal.revise(vec![task("a", &[])]).breaks("a recorded diff fits the plan before it");
}

#[test]
fn an_own_start_of_a_composite_before_what_it_needs_is_found() {
    let part = Task { parent: Some(id("whole")), ..task("part", &[]) };
    let before = plan(vec![task("whole", &[]), part, task("first", &[])]);
    let mut after = before.clone();
    after.tasks[0].depends_on.push(id("first"));
    let diff = Box::new(gantry_core::plan::diff(&before, &after));
    let journal = Journal::of(before).and(Event::TaskOpened { task: id("whole"), until: None, key: None }).done("part");
    let revised = Event::PlanRevised { revision: Revision(2), diff, rationale: String::new(), by: "ana".to_owned() };
    journal.and(revised).start("whole", 1).breaks("nothing starts before what it needs");
}

fn given_up(name: &str) -> Event {
    Event::TaskAbandoned { task: id(name), because: "so".to_owned() }
}

#[test]
fn work_that_was_given_up_for_nothing_is_found() {
    let rule = "a completed plan has done everything it had to";
    let end = || Event::PlanCompleted { degraded: vec![id("b")], unjudged: Vec::new() };
    let journal = |whole: Task| {
        let parts = ["a", "b"].map(|name| Task { parent: Some(id("whole")), ..task(name, &[]) });
        let journal = Journal::of(plan([vec![whole], parts.to_vec()].concat()));
        let open = Event::TaskOpened { task: id("whole"), until: None, key: None };
        journal.and(open).done("a").and(given_up("b")).complete("whole").and(end())
    };
    journal(Task::new(id("whole"))).breaks(rule);
    let timebox = Some(gantry_core::time::Duration::from_mins(1));
    assert_eq!(journal(Task { timebox, ..Task::new(id("whole")) }).rule(), None);
    let alone = Journal::of(plan(vec![task("a", &[]), task("b", &[])])).done("a").and(given_up("b")).and(end());
    alone.breaks(rule);
}

#[test]
fn finished_work_about_what_is_no_longer_there_is_found() {
    let reads = |name: &str| Task {
        inputs: [("x".to_owned(), Input::From(Reference::Task { task: id("a"), path: vec!["x".to_owned()] }))].into(),
        ..task(name, &[])
    };
    let edited = Event::OutputEdited {
        task: id("a"),
        outputs: [("x".to_owned(), json!(2))].into(),
        by: "ana".to_owned(),
        why: String::new(),
    };
    let end = || Event::PlanCompleted { degraded: Vec::new(), unjudged: Vec::new() };
    let rule = "finished work is about what is there now";
    let journal = || Journal::of(plan(vec![task("a", &[]), reads("b")])).done("a").done("b");
    assert_eq!(journal().and(end()).rule(), None);
    journal().and(edited.clone()).and(end()).breaks(rule);
    let sum = Compute([("y".to_owned(), Expr::parse("default(tasks.a.x, 1)").unwrap())].into());
    let far = Task { action: Some(Action::Compute(sum)), ..task("far", &["mid"]) };
    let journal = Journal::of(plan(vec![task("a", &[]), task("mid", &["a"]), far])).done("a").done("mid");
    journal.complete("far").and(edited).and(end()).breaks(rule);
}

#[test]
fn a_composite_that_does_nothing_may_begin_before_its_input_is_there() {
    let route = || vec![Route { on: On::Success, to: id("whole"), max: None, when: None }];
    let led = |from: &str| Event::RouteTaken { from: id(from), to: id("whole"), on: On::Success };
    let late = |journal: Journal| {
        let outputs = [("x".to_owned(), json!(1))].into();
        let made = Event::OutputEdited { task: id("late"), outputs, by: "ana".to_owned(), why: String::new() };
        journal.and(led("late")).done("late").and(made)
    };
    let journal = |action: Option<Action>| {
        let reads = Input::From(Reference::Task { task: id("late"), path: vec!["x".to_owned()] });
        let whole = Task { action, inputs: [("x".to_owned(), reads)].into(), ..Task::new(id("whole")) };
        let part = Task { parent: Some(id("whole")), ..task("part", &[]) };
        let [first, late] = ["first", "late"].map(|name| Task { next: route(), ..task(name, &[]) });
        let journal = Journal::of(plan(vec![first, late, whole, part])).and(led("first")).done("first");
        journal.and(Event::TaskOpened { task: id("whole"), until: None, key: None }).done("part")
    };
    let end = || Event::PlanCompleted { degraded: Vec::new(), unjudged: Vec::new() };
    late(journal(None).complete("whole")).and(end()).holds();
    late(journal(Some(asking())).done("whole")).and(end()).breaks("finished work is about what is there now");
}

#[test]
fn finished_work_behind_a_route_that_is_followed_anew_is_found() {
    let next = vec![Route { on: On::Success, to: id("b"), max: None, when: None }];
    let led = || Event::RouteTaken { from: id("a"), to: id("b"), on: On::Success };
    let again = |name: &str| Event::TaskReopened { task: id(name), because: "so".to_owned(), afresh: true };
    let sure = |name: &str| Event::TaskConfirmed { task: id(name) };
    let tasks = || vec![Task { next: next.clone(), ..task("a", &[]) }, task("b", &[]), task("c", &["b"])];
    let journal = || {
        let journal = Journal::of(plan(tasks())).and(led()).done("a").done("b").done("c");
        journal.and(again("a")).and(led()).start("a", 2).succeed("a", 2).complete("a")
    };
    let end = || Event::PlanCompleted { degraded: Vec::new(), unjudged: Vec::new() };
    journal().and(end()).breaks("a completed plan has done everything it had to");
    journal().and(sure("b")).and(sure("c")).and(end()).holds();
}
