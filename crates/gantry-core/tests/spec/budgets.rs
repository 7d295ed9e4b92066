//! Budgets: reserved before, settled after, and a breaker.

use gantry_core::effect::Failure;
use gantry_core::event::{Entry, Event, Outputs};
use gantry_core::id::{AttemptNo, TaskId};
use gantry_core::input::{Input, Success, TakeBack};
use gantry_core::plan::{Money, Plan, Task};
use gantry_core::policy::{FailureClass, Usage};
use gantry_testkit::{World, draw_plan, hours, mins};

fn dollars(cents: u64) -> Usage {
    Usage { cost_usd: Money::from_cents(cents), ..Usage::default() }
}

#[test]
fn parallel_tasks_cannot_both_spend_the_last_dollar() {
    let mut world = World::with_plan(
        "
        policy.budget.cost_usd=5
        a  budget.cost_usd=3
        b  budget.cost_usd=3
        ",
    );
    assert_eq!(world.started(), ["a"]);
    world.finish_using("a", dollars(100));
    assert_eq!(world.started(), ["b"]);
    assert_eq!(world.life().spent(), dollars(100));
    assert_eq!(world.life().reserved(), dollars(300));
}

#[test]
fn a_task_that_can_never_be_paid_for_asks_a_person() {
    let mut world = World::with_plan(
        "
        policy.budget.cost_usd=5
        a  budget.cost_usd=3
        b  after a  budget.cost_usd=3
        ",
    );
    world.finish_using("a", dollars(300));
    insta::assert_snapshot!(world.tasks(), @"
    a  completed
    b  waiting    help: the cost_usd budget of the plan does not suffice
    ");
    world.revise(|plan| plan.policy.budget.cost_usd = Some(Money::from_cents(1_000)));
    world.resolve("b", gantry_core::input::Resolution::Retry { guidance: None });
    assert_eq!(world.started().last().unwrap(), "b");
}

#[test]
fn spending_more_than_was_set_aside_trips_the_breaker_until_the_budget_is_raised() {
    let mut world = World::with_plan("policy.budget.cost_usd=5\na\nb after a");
    world.started();
    world.finish_using("a", dollars(700));
    assert!(world.started().is_empty());
    assert_eq!(world.state().to_string(), "blocked");
    assert_eq!(world.waits_for(), ["plan: a larger budget: the cost_usd budget of the plan is overrun"]);
    world.revise(|plan| plan.policy.budget.cost_usd = Some(Money::from_cents(2_000)));
    assert_eq!(world.started(), ["b"]);
}

#[test]
fn a_composite_has_a_budget_of_its_own_inside_the_plan_s() {
    let mut world = World::with_plan(
        "
        policy.budget.model_calls=10
        group  budget.model_calls=2
          a  model
          b  model
          c  model
        other  model
        ",
    );
    assert_eq!(world.started(), ["a", "b"]);
    let call = Usage { model_calls: 1, ..Usage::default() };
    world.finish_using("a", call);
    world.finish_using("b", call);
    insta::assert_snapshot!(world.tasks(), @"
    group  running
    a      completed
    b      completed
    c      waiting    help: the model_calls budget of task `group` does not suffice
    other  running
    ");
}

#[test]
fn the_time_budget_stops_new_work_and_pauses_do_not_count() {
    let mut world = World::with_plan("policy.budget.time=2h\na\nb after a");
    world.advance(hours(1));
    world.pause();
    world.advance(hours(5));
    world.resume();
    world.advance(mins(59));
    assert_eq!(world.waits_for(), Vec::<String>::new());
    world.advance(mins(1));
    assert_eq!(world.waits_for(), ["plan: a larger budget: the time budget of the plan is used up"]);
    world.started();
    world.finish("a");
    assert!(world.started().is_empty());
    world.revise(|plan| plan.policy.budget.time = Some(hours(3)));
    assert_eq!(world.started(), ["b"]);
}

#[test]
fn what_failed_attempts_used_counts_too() {
    let mut world = World::with_plan("policy.budget.tokens=100\na retry.max=5 budget.tokens=40");
    let used = Usage { tokens: 40, ..Usage::default() };
    for _ in 0..2 {
        let attempt = world.life().task_life("a").unwrap().attempt;
        let failure = gantry_core::effect::Failure::new(gantry_core::policy::FailureClass::Transient, "again");
        world.end("a", attempt, Err(failure), used);
        world.advance(hours(1));
    }
    insta::assert_snapshot!(world.tasks(), @"a  waiting    help: the tokens budget of task `a` is used up");
}

#[test]
fn a_plan_may_grow_only_as_its_nodes_budget_allows() {
    let mut world = World::with_plan(
        r#"
        policy.budget.nodes=2
        list
        each  map  map={"over":"tasks.list.items"}
        "#,
    );
    world.finish_with("list", serde_json::json!({"items": [1, 2, 3]}));
    insta::assert_snapshot!(world.tasks(), @"
    list  completed
    each  waiting    help: 3 more tasks are needed, and the nodes budget does not suffice
    ");
    let said = world.refusal(world.revision(|plan| {
        for n in 1..=3 {
            let id = gantry_core::id::TaskId::new(&format!("new-{n}")).unwrap();
            plan.tasks.push(gantry_core::plan::Task::new(id));
        }
    }));
    insta::assert_snapshot!(said, @"the budget does not allow it: 3 tasks more, but the nodes budget allows 2 [life::over-budget]");
}

#[test]
fn a_map_may_not_nest_deeper_than_the_depth_budget() {
    let mut world = World::with_plan("policy.budget.depth=1\neach map map={\"over\":[1]}");
    insta::assert_snapshot!(world.tasks(), @"each  waiting    help: its tasks would be nested 2 deep, and the depth budget does not suffice");
    world.resolve("each", gantry_core::input::Resolution::Skip);
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn what_a_late_answer_used_is_counted_once() {
    let mut world = World::with_plan("a timeout=1m idempotency=safe retry.max=3\nb person");
    world.advance(mins(1));
    world.end("a", AttemptNo(1), Ok(Success::default()), calls(2));
    world.end("a", AttemptNo(1), Ok(Success::default()), calls(2));
    assert_eq!(world.life().spent(), calls(2));
    assert_eq!(world.life().task_life("a").unwrap().spent, calls(2));
}

#[test]
fn a_late_answer_adds_only_what_was_not_counted_when_it_was_given_up() {
    let mut world = World::with_plan("ask model budget.model_calls=3 timeout=1m retry.max=3\nb person");
    world.advance(mins(1));
    assert_eq!(world.life().spent(), calls(3));
    world.end("ask", AttemptNo(1), Ok(Success::default()), calls(5));
    assert_eq!(world.life().spent(), calls(5));
}

#[test]
fn an_answer_to_a_task_that_was_removed_is_counted_too() {
    let mut world = World::with_plan("a\nb person");
    world.revise(|plan| drop(plan.tasks.remove(0)));
    world.end("a", AttemptNo(1), Ok(Success::default()), calls(2));
    assert_eq!(world.life().spent(), calls(2));
}

#[test]
fn a_second_delivery_of_an_answer_costs_nothing() {
    let mut world = World::with_plan("a\nb person");
    world.end("a", AttemptNo(1), Ok(Success::default()), calls(2));
    world.end("a", AttemptNo(1), Ok(Success::default()), calls(2));
    assert_eq!(world.life().spent(), calls(2));
}

#[test]
fn judges_verifiers_and_undoing_are_paid_for() {
    let mut world = World::with_plan(
        "
        policy.judge=model
        write  model  success_criteria=[\"reads well\"]  budget.model_calls=9
        pay    undo=restore  verify={\"run\":\"check\"}
        ",
    );
    world.finish_using("write", calls(1));
    world.judge_using("write", true, "yes", calls(1));
    assert_eq!(world.life().task_life("write").unwrap().spent, calls(2));
    world.crash();
    let (task, attempt) = (TaskId::new("pay").unwrap(), AttemptNo(1));
    let verified =
        Input::Verified { task: task.clone(), attempt, happened: None, outputs: Outputs::new(), usage: calls(1) };
    world.turn(verified);
    assert_eq!(world.life().spent(), calls(3));
    world.cancel(TakeBack::Everything);
    let attempt = world.undo_attempt("pay");
    world.turn(Input::UndoEnded { task: task.clone(), attempt, end: Err("stuck".to_owned()), usage: calls(1) });
    let attempt = world.undo_attempt("pay");
    world.turn(Input::UndoEnded { task, attempt, end: Ok("restored".to_owned()), usage: calls(1) });
    assert_eq!(world.life().spent(), calls(5));
}

#[test]
fn judges_verifiers_and_undoing_are_paid_for_once_however_often_they_answer() {
    let mut world = World::with_plan(
        "
        policy.judge=model
        write  model  success_criteria=[\"reads well\"]
        pay    undo=restore  verify={\"run\":\"check\"}
        wait   person
        ",
    );
    world.finish("write");
    for _ in 0..2 {
        world.judge_using("write", true, "yes", calls(1));
    }
    assert_eq!(world.life().spent(), calls(1));
    world.crash();
    let (task, attempt) = (TaskId::new("pay").unwrap(), AttemptNo(1));
    let verified =
        Input::Verified { task: task.clone(), attempt, happened: Some(true), outputs: Outputs::new(), usage: calls(1) };
    for _ in 0..2 {
        world.turn(verified.clone());
    }
    assert_eq!(world.life().spent(), calls(2));
    world.cancel(TakeBack::Everything);
    let attempt = world.undo_attempt("pay");
    let failed = Input::UndoEnded { task, attempt, end: Err("stuck".to_owned()), usage: calls(1) };
    for _ in 0..2 {
        world.turn(failed.clone());
    }
    assert_eq!(world.life().spent(), calls(3));
}

#[test]
fn an_answer_that_comes_after_the_question_was_withdrawn_is_paid_for_once() {
    let mut world = World::with_plan("policy.judge=model\nwrite model success_criteria=[\"reads well\"]\nwait person");
    world.finish("write");
    world.retry("write");
    for _ in 0..2 {
        world.judge_using("write", true, "yes", calls(1));
    }
    assert_eq!(world.life().spent(), calls(1));
}

#[test]
fn waiting_for_people_uses_up_no_time() {
    let mut world = World::with_plan("policy.budget.time=2h\na\nok gate gate.approvals=1 after a\nb after ok");
    world.advance(hours(1));
    world.finish("a");
    world.advance(hours(240));
    assert_eq!(world.waits_for(), ["ok: 0 of 1 approvals"]);
    world.approve("ok", "ana");
    world.advance(mins(59));
    assert_eq!(world.waits_for(), Vec::<String>::new());
    world.advance(mins(1));
    assert_eq!(world.waits_for(), ["plan: a larger budget: the time budget of the plan is used up"]);
}

#[test]
fn time_goes_on_while_something_runs_beside_a_gate_and_while_a_wait_lasts() {
    let mut world = World::with_plan("policy.budget.time=2h\na\nok gate gate.approvals=1");
    world.advance(hours(2));
    assert!(world.waits_for().contains(&"plan: a larger budget: the time budget of the plan is used up".to_owned()));
    let mut world = World::with_plan("policy.budget.time=2h\nrest wait=3h\nok gate gate.approvals=1");
    world.advance(hours(2));
    assert!(world.waits_for().contains(&"plan: a larger budget: the time budget of the plan is used up".to_owned()));
}

#[test]
fn a_plan_that_has_ended_waits_for_no_budget() {
    let mut world = World::with_plan("policy.budget.time=1h\na");
    world.advance(hours(1));
    assert_eq!(world.waits_for(), ["plan: a larger budget: the time budget of the plan is used up"]);
    world.finish("a");
    assert_eq!(world.state().to_string(), "completed");
    assert_eq!(world.waits_for(), Vec::<String>::new());
}

#[test]
fn a_late_answer_can_use_up_the_budget() {
    let mut world =
        World::with_plan("policy.budget.model_calls=1\na timeout=1m idempotency=safe retry.max=3\nb person");
    world.advance(mins(1));
    world.end("a", AttemptNo(1), Ok(Success::default()), calls(2));
    assert!(
        world.waits_for().contains(&"plan: a larger budget: the model_calls budget of the plan is overrun".to_owned())
    );
}

fn calls(model_calls: u64) -> Usage {
    Usage { model_calls, ..Usage::default() }
}

#[test]
fn a_budget_that_is_used_up_starts_nothing_that_would_use_it() {
    let mut world = World::with_plan(
        "
        policy.budget.cost_usd=1
        policy.budget.tokens=100
        a     model
        ask   model  after a
        tool  tool={\"name\":\"search\"}  after a
        run   after a
        ",
    );
    world.started();
    world.finish_using("a", Usage { tokens: 100, ..dollars(100) });
    assert_eq!(world.started(), ["run"]);
    insta::assert_snapshot!(world.tasks(), @"
    a     completed
    ask   waiting    help: the cost_usd budget of the plan is used up
    tool  waiting    help: the cost_usd budget of the plan is used up
    run   running
    ");
}

#[test]
fn what_others_have_set_aside_is_waited_for() {
    let mut world = World::with_plan("policy.budget.cost_usd=2\na model budget.cost_usd=2\nb model");
    assert_eq!(world.started(), ["a"]);
    world.finish_using("a", dollars(150));
    assert_eq!(world.started(), ["b"]);
}

#[test]
fn more_money_than_can_be_written_down_is_the_most_that_can() {
    let mut world = World::with_plan("a\nb person");
    world.finish_using("a", Usage { cost_usd: Money(u64::MAX), tokens: u64::MAX, ..Usage::default() });
    assert_eq!(world.life().spent(), Usage { cost_usd: Money::MAX, tokens: 1 << 53, ..Usage::default() });
    for entry in world.journal() {
        let line = serde_json::to_string(entry).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&line).unwrap(), *entry);
    }
}

#[test]
fn tasks_that_are_added_before_the_start_use_up_no_nodes() {
    let mut world = World::not_started(draw_plan("policy.budget.nodes=1\na person"));
    let add =
        |plan: &mut Plan, names: &[&str]| plan.tasks.extend(names.iter().map(|id| Task::new(TaskId::new(id).unwrap())));
    world.revise(|plan| add(plan, &["b", "c"]));
    world.turn(Input::Start);
    let said = world.revision(|plan| add(plan, &["d", "e"]));
    assert_eq!(
        world.refusal(said),
        "the budget does not allow it: 2 tasks more, but the nodes budget allows 1 [life::over-budget]"
    );
    world.revise(|plan| add(plan, &["d"]));
}

/// A plan inside that asks a model, and one that only runs a command.
const INSIDE: &str = r#"plan plan={"plan":{"tasks":[{"id":"x","action":{"model":{"instruction":"think"}}}]}}"#;
const FRUGAL: &str = r#"plan plan={"plan":{"tasks":[{"id":"x","action":{"run":"true"}}]}}"#;

#[test]
fn a_plan_inside_sets_aside_all_that_is_left_and_those_who_want_some_wait() {
    let plan = format!("policy.budget.cost_usd=5\npolicy.budget.tokens=100\none {INSIDE}\nfree {FRUGAL}\ntwo {INSIDE}");
    let mut world = World::with_plan(&plan);
    assert_eq!(world.started(), ["one", "free"], "what spends nothing needs nothing");
    assert_eq!(world.life().reserved(), Usage { cost_usd: Money::from_cents(500), tokens: 100, ..Usage::default() });
    world.finish_using("one", Usage { cost_usd: Money::from_cents(200), tokens: 30, ..Usage::default() });
    assert_eq!(world.started(), ["two"]);
    assert_eq!(world.life().reserved(), Usage { cost_usd: Money::from_cents(300), tokens: 70, ..Usage::default() });
}

#[test]
fn a_plan_inside_that_asks_for_less_leaves_the_rest_to_others() {
    let modest = INSIDE.replace(r#"{"plan":{"#, r#"{"plan":{"policy":{"budget":{"cost_usd":2}},"#);
    let mut world = World::with_plan(&format!("policy.budget.cost_usd=5\none {modest}\ntwo {modest}\nthree {modest}"));
    assert_eq!(world.started(), ["one", "two"]);
    world.finish_using("one", Usage { cost_usd: Money::from_cents(200), ..Usage::default() });
    assert_eq!(world.started(), Vec::<String>::new(), "one dollar is free, and two may be when the second has ended");
    world.finish_using("two", Usage::default());
    assert_eq!(world.started(), ["three"]);
}

#[test]
fn what_a_plan_inside_used_that_was_stopped_is_known_from_its_late_answer() {
    let mut world = World::with_plan(&format!("policy.budget.cost_usd=5\none {INSIDE} timeout=1m retry.max=2"));
    world.started();
    world.advance(mins(1));
    assert_eq!(world.life().spent(), Usage::default(), "nobody has to guess");
    let used = Usage { cost_usd: Money::from_cents(150), ..Usage::default() };
    world.end("one", AttemptNo(1), Err(Failure::new(FailureClass::Cancelled, "stopped")), used);
    assert_eq!(world.life().spent(), used);
}

#[test]
fn an_attempt_that_never_answers_trips_the_breaker_when_others_used_what_it_had_set_aside() {
    let mut world = World::with_plan(
        r#"
        policy.judge=model
        policy.budget={"model_calls":3}
        slow   model  timeout=1m
        write  success_criteria=["reads well"]
        more
        last   after slow
        "#,
    );
    world.finish("write");
    world.judge_using("write", true, "yes", calls(3));
    assert_eq!(world.count(|event| matches!(event, Event::BreakerTripped { .. })), 0);
    world.advance(mins(2));
    assert_eq!(world.count(|event| matches!(event, Event::BreakerTripped { .. })), 1);
}

#[test]
fn a_composite_that_uses_up_its_time_has_failed_and_is_not_done() {
    let mut world = World::with_plan(
        "
        build   budget.time=1h
          one
          two   after one
        deploy  after build
        ",
    );
    world.finish("one");
    world.advance(hours(1));
    insta::assert_snapshot!(world.tasks(), @"
    build   failed     the time budget of task `build` is used up
    one     completed
    two     abandoned  `build` failed
    deploy  blocked    for build
    ");
    assert_eq!(world.state().to_string(), "failed");
}

#[test]
fn a_timebox_that_ends_before_the_budget_of_time_is_no_failure() {
    let mut world = World::with_plan("g timebox=1h budget.time=2h\n  a");
    world.advance(hours(1));
    insta::assert_snapshot!(world.tasks(), @"
    g  completed
    a  abandoned  the timebox of `g` is over
    ");
}

#[test]
fn the_time_of_a_task_is_that_of_all_its_attempts() {
    let mut world = World::with_plan("a budget.time=1h retry.max=9 retry.backoff=0s idempotency=safe");
    assert_eq!(world.started(), ["a"]);
    world.advance(mins(40));
    world.fail("a", FailureClass::Transient, "no answer");
    assert_eq!(world.started(), ["a"], "20 minutes are left");
    world.advance(mins(19));
    assert_eq!(world.state().to_string(), "running");
    world.advance(mins(1));
    insta::assert_snapshot!(world.tasks(), @"a  waiting    help: the time budget of task `a` is used up");
    assert!(world.started().is_empty(), "a budget that is used up is not tried again");
    world.revise(|plan| plan.tasks[0].budget.time = Some(hours(2)));
    assert_eq!(world.started(), ["a"]);
}

#[test]
fn time_that_was_lost_with_a_process_is_not_counted() {
    let mut world = World::with_plan("a budget.time=1h idempotency=safe");
    world.started();
    world.advance(mins(50));
    world.crash();
    assert_eq!(world.started(), ["a"]);
    world.advance(mins(50));
    assert_eq!(world.state().to_string(), "running");
}

#[test]
fn a_composite_may_grow_and_nest_only_as_its_own_budget_allows() {
    let plan = |budget: &str| {
        format!("group {budget}\n  each map map={{\"over\":[1,2,3]}}\nother map map={{\"over\":[1,2,3]}}")
    };
    let group = |budget: &str| World::with_plan(&plan(budget)).tasks().lines().nth(1).unwrap_or_default().to_owned();
    insta::assert_snapshot!(group("budget.nodes=3"), @"each     running");
    insta::assert_snapshot!(group("budget.nodes=2"), @"each     waiting    help: 3 more tasks are needed, and the nodes budget does not suffice");
    insta::assert_snapshot!(group("budget.depth=2"), @"each     running");
    insta::assert_snapshot!(group("budget.depth=1"), @"each     waiting    help: its tasks would be 2 deep in `group`, whose depth budget is 1");
}

#[test]
fn an_attempt_sets_aside_what_is_left_of_its_own_budget() {
    let mut world = World::with_plan("write model budget.model_calls=5 success_criteria=[\"size(text) > 5\"]");
    let call = Usage { model_calls: 1, ..Usage::default() };
    for left in [5, 4, 3] {
        assert_eq!(world.life().reserved().model_calls, left);
        let outputs: Outputs = serde_json::from_value(serde_json::json!({"text": "short"})).unwrap();
        let attempt = world.life().task_life("write").unwrap().attempt;
        let success = Success { outputs, ..Success::default() };
        world.end("write", attempt, Ok(success), call);
    }
    assert_eq!(world.life().task_life("write").unwrap().repairs, 2, "it was told what was wrong as often as it may be");
}

#[test]
fn a_command_that_is_lost_has_spent_nothing() {
    let mut world = World::with_plan("a idempotency=safe timeout=1m retry.max=3 budget.cost_usd=1 budget.tokens=10");
    world.advance(mins(1));
    world.advance(hours(1));
    world.crash();
    assert_eq!(world.life().spent(), Usage::default());
    assert!(world.life().task_life("a").unwrap().attempt > AttemptNo(2), "it is tried again");
}
