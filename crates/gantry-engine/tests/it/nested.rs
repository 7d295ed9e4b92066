//! Plans inside tasks: each has its own record, and does as the plan around it does.

use std::time::Duration;

use gantry_core::event::Event;
use gantry_core::id::{PlanId, Revision, TaskId};
use gantry_core::input::{Change, Input, TakeBack};
use gantry_core::life::{Life, PlanState};
use gantry_core::plan::Money;
use gantry_core::policy::FailureClass::Logic;
use gantry_engine::{Ending, NewPlan, Origin, Stop, Tell, Until};
use gantry_store::Store;

use crate::kit::{Act, World, approve, completed, in_time};

const GATED: &str = "
tasks:
  - id: inner
    plan: {tasks: [{id: x, run: x}, {id: ok, gate: {approvals: 1}, depends_on: [x]}, {id: y, run: y, depends_on: [ok]}]}
  - {id: after, run: after, depends_on: [inner]}
";

const CHANGES: &str = "
tasks:
  - id: inner
    undo: restore
    plan: {tasks: [{id: x, run: x, undo: restore}, {id: y, run: y, undo: restore, depends_on: [x]}]}
  - {id: hold, run: hold, depends_on: [inner]}
";

fn cancel(undo: TakeBack) -> Input {
    Input::Cancel { by: "ana".to_owned(), why: "wrong".to_owned(), undo }
}

fn retry(task: &str) -> Input {
    Input::Retry { task: TaskId::new(task).unwrap(), by: "ana".to_owned(), why: "again".to_owned() }
}

fn abandoned() -> Ending {
    Ending::Ended { state: PlanState::Abandoned, causes: Vec::new() }
}

/// The same plan with commands that are denied from now on.
fn deny(life: &Life, command: &str) -> Input {
    let mut plan = life.plan();
    plan.policy.commands.deny.push(command.to_owned());
    let (by, rationale, base) = ("ana".to_owned(), "safer".to_owned(), Revision(1));
    Input::Revise { by, rationale, base, change: Change::To(Box::new(plan)) }
}

#[tokio::test(start_paused = true)]
async fn however_long_the_names_are_each_task_has_a_plan_of_its_own() {
    let world = World::new();
    let long = "a-very-long-name-".repeat(5);
    let task = |id: &str| format!("{{id: {long}{id}, plan: {{tasks: [{{id: {id}, run: {id}}}]}}}}");
    let plan = world.create(&format!("id: {long}plan\ntasks: [{}, {}]", task("x"), task("y"))).await;
    assert_eq!(world.run(&plan).await, completed());
    assert_eq!((world.script.times("x"), world.script.times("y")), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_plan_of_that_name_which_is_no_part_of_the_task_is_left_alone() {
    let yaml = "id: outer\ntasks: [{id: inner, plan: {tasks: [{id: x, run: x}]}}]";
    let world = World::new();
    let plan = world.create(yaml).await;
    assert_eq!(world.run(&plan).await, completed());
    let name = world.inside(&plan, "inner").await;
    let world = World::new();
    let stranger = world.create(&format!("id: {name}\ntasks: [{{id: z, run: z}}]")).await;
    let plan = world.create(yaml).await;
    let Ending::Ended { state: PlanState::Failed, causes } = world.run(&plan).await else { panic!("it should fail") };
    assert!(causes[0].contains("it is no part of this task"), "{causes:?}");
    assert_eq!(world.life(&stranger).await.state(), PlanState::Pending);
}

#[tokio::test(start_paused = true)]
async fn with_room_for_one_attempt_plans_inside_plans_still_get_on() {
    let world = World::with_attempts_max(1);
    let inner = |id: &str| {
        format!("{{id: {id}, plan: {{tasks: [{{id: {id}-x, plan: {{tasks: [{{id: {id}-y, run: y}}]}}}}]}}}}")
    };
    let plan = world.create(&format!("tasks: [{}, {}, {}]", inner("a"), inner("b"), inner("c"))).await;
    assert_eq!(in_time(world.run(&plan)).await, completed());
    assert_eq!(world.script.most_at_once(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_gate_inside_is_waited_for_outside_and_its_approval_lets_both_go_on() {
    let mut world = World::new();
    let plan = world.create(GATED).await;
    for _ in 0..25 {
        let first = if world.life(&plan).await.state() == PlanState::Pending { vec![Input::Start] } else { Vec::new() };
        let Ending::Waiting(waits) = in_time(world.drive(&plan, first)).await else { panic!("it should wait") };
        let inner = world.inside(&plan, "inner").await;
        let [wait] = &waits[..] else { panic!("{waits:?}") };
        assert_eq!(wait.task.as_ref().unwrap().as_str(), "inner");
        assert_eq!(wait.what, format!("plan `{inner}`: ok: 0 of 1 approvals"));
        world.another_process();
    }
    let card = world.store.plan(plan.as_str()).await.unwrap().card;
    assert!(card.waiting.iter().any(|line| line.what.contains("0 of 1 approvals")), "{:?}", card.waiting);
    let inner = world.inside(&plan, "inner").await;
    assert_eq!(world.engine.tell(&inner, approve("ok")).await, Ok(Tell::Recorded));
    assert_eq!(in_time(world.resume(&plan)).await, completed());
    assert_eq!(world.script.ledger(), ["x#1", "y#1", "after#1"]);
    let started = |event: &Event| matches!(event, Event::AttemptStarted { task, .. } if task.as_str() == "inner");
    assert_eq!(world.count(&plan, started).await, 1, "going on is no other attempt");
}

#[tokio::test(start_paused = true)]
async fn an_approval_inside_a_plan_that_is_driven_goes_on_at_once() {
    let world = World::new();
    let plan = world.create(GATED).await;
    let mut happenings = world.engine.watch();
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    loop {
        if let gantry_engine::Happening::Events { entries, .. } = happenings.recv().await.unwrap()
            && entries.iter().any(|entry| matches!(entry.event, Event::GateOpened { .. }))
        {
            break;
        }
    }
    let inner = world.inside(&plan, "inner").await;
    assert_eq!(world.engine.tell(&inner, approve("ok")).await, Ok(Tell::Driven));
    assert_eq!(in_time(driving.ended()).await.unwrap(), completed());
}

#[tokio::test(start_paused = true)]
async fn work_inside_that_may_have_happened_is_waited_for_outside() {
    let mut world = World::new();
    let plan = world.create(GATED).await;
    world.script.task("x", [Act::Hang]);
    world.kill_while_running(&plan, "x", vec![Input::Start]).await;
    let Ending::Waiting(waits) = in_time(world.resume(&plan)).await else { panic!("it should wait") };
    assert!(waits[0].what.ends_with("x: help: the process that ran it went away"), "{waits:?}");
    assert_eq!(world.script.ledger(), ["x#1"]);
}

#[tokio::test(start_paused = true)]
async fn parking_and_going_on_reach_the_plans_inside() {
    let world = World::new();
    let plan =
        world.create("tasks: [{id: inner, plan: {tasks: [{id: x, run: x}, {id: y, run: y, depends_on: [x]}]}}]").await;
    world.script.task("x", [Act::Take(Duration::from_mins(1))]);
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("x").await;
    driving.stopper()(Stop::Park);
    assert_eq!(in_time(driving.ended()).await.unwrap(), Ending::Parked);
    let inner = world.inside(&plan, "inner").await;
    assert_eq!(world.life(&inner).await.state(), PlanState::Paused);
    assert_eq!(world.script.ledger(), ["x#1"]);
    assert_eq!(in_time(world.drive(&plan, vec![Input::Resume { by: "ana".to_owned() }])).await, completed());
    assert_eq!(world.script.ledger(), ["x#1", "y#1"]);
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_is_paused_and_resumed_takes_the_plans_inside_along() {
    let world = World::new();
    let plan =
        world.create("tasks: [{id: inner, plan: {tasks: [{id: x, run: x}, {id: y, run: y, depends_on: [x]}]}}]").await;
    world.script.task("x", [Act::Take(Duration::from_mins(1))]);
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("x").await;
    let _ = world.engine.tell(&plan, Input::Pause { by: "ana".to_owned(), why: "lunch".to_owned() }).await.unwrap();
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(world.script.ledger(), ["x#1"], "nothing more starts");
    let _ = world.engine.tell(&plan, Input::Resume { by: "ana".to_owned() }).await.unwrap();
    assert_eq!(in_time(driving.ended()).await.unwrap(), completed());
    assert_eq!(world.script.ledger(), ["x#1", "y#1"]);
}

#[tokio::test(start_paused = true)]
async fn stopping_at_once_stops_the_plans_inside_before_it_returns() {
    let mut world = World::new();
    let plan = world.create(GATED).await;
    world.script.task("x", [Act::Hang]);
    world.kill_while_running(&plan, "x", vec![Input::Start]).await;
    let inner = world.inside(&plan, "inner").await;
    let no = world.store.plan(inner.as_str()).await.unwrap().no;
    assert!(world.store.claim(no).await.unwrap().is_some(), "nobody holds it any more");
    let orphans: Vec<PlanId> = world.engine.orphans().await.unwrap().into_iter().map(|(_, id)| id).collect();
    assert_eq!(orphans, [plan], "what is inside belongs to whoever drives the plan around it");
}

#[tokio::test(start_paused = true)]
async fn a_plan_inside_that_failed_is_tried_again_where_it_failed() {
    let world = World::new();
    let plan =
        world.create("tasks: [{id: inner, plan: {tasks: [{id: w, run: w}, {id: x, run: x, depends_on: [w]}]}}]").await;
    world.script.task("x", vec![Act::Fail(Logic, "3 tests failed"); 4]);
    let Ending::Ended { state: PlanState::Failed, .. } = in_time(world.run(&plan)).await else {
        panic!("it should fail")
    };
    assert_eq!((world.script.times("w"), world.script.times("x")), (1, 3), "it was repaired twice");
    assert_eq!(world.engine.tell(&plan, retry("inner")).await, Ok(Tell::Recorded));
    assert_eq!(in_time(world.resume(&plan)).await, completed());
    assert_eq!((world.script.times("w"), world.script.times("x")), (1, 5));
}

#[tokio::test(start_paused = true)]
async fn a_plan_inside_that_is_wanted_again_is_done_again() {
    let world = World::new();
    let plan = world.create("tasks: [{id: inner, plan: {tasks: [{id: x, run: x}]}}]").await;
    assert_eq!(world.run(&plan).await, completed());
    let first = world.inside(&plan, "inner").await;
    assert_eq!(world.drive(&plan, vec![retry("inner")]).await, completed());
    assert_eq!(world.script.ledger(), ["x#1", "x#1"]);
    let second = world.life(&plan).await.outputs("inner").unwrap()["plan"].as_str().unwrap().to_owned();
    assert_eq!(second, format!("{first}-2"));
}

#[tokio::test(start_paused = true)]
async fn a_plan_inside_that_took_too_long_is_paused_and_goes_on_with_the_next_attempt() {
    let world = World::new();
    let plan = world
        .create(
            "
tasks:
  - id: inner
    timeout: 5m
    retry: {max: 1}
    plan: {tasks: [{id: w, run: w}, {id: x, run: x, idempotency: safe, depends_on: [w]}]}
",
        )
        .await;
    world.script.task("x", [Act::Hang]);
    assert_eq!(in_time(world.run(&plan)).await, completed());
    assert_eq!(world.script.ledger(), ["w#1", "x#1", "x#2"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_plan_inside_did_is_taken_back_with_its_task() {
    let mut world = World::new();
    let plan = world.create(CHANGES).await;
    world.script.task("x", [Act::Change("one")]);
    world.script.task("y", [Act::Change("two")]);
    world.script.task("hold", [Act::Hang]);
    world.kill_while_running(&plan, "hold", vec![Input::Start]).await;
    assert_eq!(in_time(world.drive(&plan, vec![cancel(TakeBack::Everything)])).await, abandoned());
    assert_eq!(world.script.ledger()[3..], ["undo y: two", "undo x: one"]);
}

#[tokio::test(start_paused = true)]
async fn a_plan_inside_that_is_stopped_in_the_middle_is_taken_back_as_far_as_it_came() {
    let world = World::new();
    let plan = world.create(CHANGES).await;
    world.script.task("x", [Act::Change("one")]);
    world.script.task("y", [Act::ChangeAndHang("two")]);
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("y").await;
    assert_eq!(world.engine.tell(&plan, cancel(TakeBack::Everything)).await, Ok(Tell::Driven));
    assert_eq!(in_time(driving.ended()).await.unwrap(), abandoned());
    assert_eq!(world.script.ledger()[2..], ["undo y: two", "undo x: one"]);
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_is_given_up_gives_up_the_plans_inside() {
    let world = World::new();
    let plan = world.create(CHANGES).await;
    world.script.task("x", [Act::Hang]);
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("x").await;
    assert_eq!(world.engine.tell(&plan, cancel(TakeBack::Nothing)).await, Ok(Tell::Driven));
    assert_eq!(in_time(driving.ended()).await.unwrap(), abandoned());
    let inner = world.inside(&plan, "inner").await;
    assert_eq!(world.life(&inner).await.state(), PlanState::Abandoned);
}

#[tokio::test(start_paused = true)]
async fn a_part_may_not_do_what_the_whole_may_not() {
    let world = World::new();
    let plan = world
        .create("policy: {commands: {deny: [touch]}}\ntasks: [{id: inner, plan: {tasks: [{id: x, run: touch it}]}}]")
        .await;
    let Ending::Waiting(waits) = in_time(world.run(&plan)).await else { panic!("it should ask") };
    assert!(waits[0].what.contains("touch"), "{waits:?}");
    assert!(world.script.ledger().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_forbidden_while_a_plan_runs_is_forbidden_in_the_plans_inside_too() {
    let world = World::new();
    let plan = world
        .create("tasks: [{id: inner, plan: {tasks: [{id: x, run: x}, {id: y, run: touch it, depends_on: [x]}]}}]")
        .await;
    world.script.task("x", [Act::Take(Duration::from_mins(1))]);
    let driving = world.engine.drive(&plan, Until::Stuck, vec![Input::Start]).await.unwrap();
    world.script.begun("x").await;
    assert_eq!(world.engine.tell(&plan, deny(&world.life(&plan).await, "touch")).await, Ok(Tell::Driven));
    let Ending::Waiting(waits) = in_time(driving.ended()).await.unwrap() else { panic!("it should ask") };
    assert!(waits[0].what.contains("touch"), "{waits:?}");
    assert_eq!(world.script.ledger(), ["x#1"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_forbidden_while_a_plan_runs_is_not_started_any_more() {
    let world = World::new();
    let plan = world.create("tasks: [{id: x, run: x}, {id: y, run: touch it, depends_on: [x]}]").await;
    world.script.task("x", [Act::Take(Duration::from_mins(1))]);
    let driving = world.engine.drive(&plan, Until::Stuck, vec![Input::Start]).await.unwrap();
    world.script.begun("x").await;
    assert_eq!(world.engine.tell(&plan, deny(&world.life(&plan).await, "touch")).await, Ok(Tell::Driven));
    let Ending::Waiting(_) = in_time(driving.ended()).await.unwrap() else { panic!("it should ask") };
    assert_eq!(world.script.ledger(), ["x#1"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_plan_inside_spends_is_spent_by_the_whole_and_once() {
    let mut world = World::new();
    let plan = world
        .create(
            "
policy: {budget: {cost_usd: 5}}
tasks:
  - {id: before, run: before}
  - id: inner
    depends_on: [before]
    plan:
      tasks:
        - {id: x, tool: {name: script}}
        - {id: ok, gate: {approvals: 1}, depends_on: [x]}
        - {id: y, tool: {name: script}, depends_on: [ok]}
",
        )
        .await;
    world.script.task("before", [Act::Cost(1_000_000)]);
    world.script.task("x", [Act::Cost(300_000)]);
    world.script.task("y", [Act::Cost(20_000)]);
    let Ending::Waiting(_) = in_time(world.run(&plan)).await else { panic!("it should wait") };
    let inner = world.inside(&plan, "inner").await;
    assert_eq!(world.life(&inner).await.header().policy.budget.cost_usd, Some(Money(4_000_000)), "what is left");
    let _ = world.engine.tell(&inner, approve("ok")).await.unwrap();
    world.another_process();
    assert_eq!(in_time(world.resume(&plan)).await, completed());
    assert_eq!(world.life(&plan).await.spent().cost_usd, Money(1_320_000));
}

/// Two plans inside, each of which wants to spend four dollars, where there are five.
const SIBLINGS: &str = "
policy: {budget: {cost_usd: 5}}
tasks:
  - {id: one, plan: {tasks: [{id: x, tool: {name: script}, budget: {cost_usd: 4}}]}}
  - {id: two, plan: {tasks: [{id: y, tool: {name: script}, budget: {cost_usd: 4}}]}}
";

#[tokio::test(start_paused = true)]
async fn plans_inside_that_go_on_at_the_same_time_spend_no_more_than_is_left() {
    let world = World::new();
    let plan = world.create(SIBLINGS).await;
    world.script.task("x", [Act::Cost(4_000_000)]);
    let ending = in_time(world.run(&plan)).await;
    let Ending::Waiting(waits) = ending else { panic!("it should ask: {ending:?}") };
    assert!(waits[0].what.contains("what is left of the budgets around it does not suffice"), "{waits:?}");
    assert_eq!(world.script.ledger(), ["x#1"], "what cannot be paid for is not started");
    assert_eq!(world.life(&plan).await.spent().cost_usd, Money(4_000_000));
}

#[tokio::test(start_paused = true)]
async fn plans_inside_that_pay_nobody_do_not_wait_for_each_other() {
    let world = World::new();
    let plan = world
        .create(
            "
policy: {budget: {cost_usd: 5}}
tasks:
  - {id: one, plan: {tasks: [{id: x, run: x}]}}
  - {id: two, plan: {tasks: [{id: y, run: y}]}}
",
        )
        .await;
    for task in ["x", "y"] {
        world.script.task(task, [Act::Take(Duration::from_mins(1))]);
    }
    assert_eq!(in_time(world.run(&plan)).await, completed());
    assert_eq!(world.script.most_at_once(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_plan_inside_that_is_tried_again_is_given_what_is_left_then() {
    let world = World::new();
    let plan = world
        .create(
            "
policy: {budget: {cost_usd: 5}, recovery: {repairs_max: 0}}
tasks:
  - id: inner
    plan: {tasks: [{id: x, tool: {name: script}}, {id: y, tool: {name: script}, depends_on: [x]}]}
",
        )
        .await;
    world.script.task("x", [Act::Cost(1_000_000)]);
    world.script.task("y", [Act::Fail(Logic, "no"), Act::Cost(2_000_000)]);
    let Ending::Ended { state: PlanState::Failed, .. } = in_time(world.run(&plan)).await else { panic!("it fails") };
    let life = world.life(&plan).await;
    let mut wanted = life.plan();
    wanted.policy.budget.cost_usd = Some(Money(9_000_000));
    let (by, why) = ("ana".to_owned(), "more money".to_owned());
    let raise = Input::Revise {
        by: by.clone(),
        rationale: why.clone(),
        base: life.revision(),
        change: Change::To(Box::new(wanted)),
    };
    let retry = Input::Retry { task: TaskId::new("inner").unwrap(), by, why };
    assert_eq!(in_time(world.drive(&plan, vec![raise, retry])).await, completed());
    let inner = world.life(&world.inside(&plan, "inner").await).await;
    assert_eq!(inner.header().policy.budget.cost_usd, Some(Money(9_000_000)), "what it had used, and what is left");
    assert_eq!(world.life(&plan).await.spent().cost_usd, Money(3_000_000));
}

#[tokio::test(start_paused = true)]
async fn a_plan_inside_that_someone_else_works_on_is_waited_for() {
    let mut world = World::new();
    let plan = world.create(GATED).await;
    world.script.task("x", [Act::Hang]);
    world.kill_while_running(&plan, "x", vec![Input::Start]).await;
    let inner = world.inside(&plan, "inner").await;
    let no = world.store.plan(inner.as_str()).await.unwrap().no;
    let claim = world.store.claim(no).await.unwrap().unwrap();
    let Ending::Waiting(waits) = in_time(world.resume(&plan)).await else { panic!("it should wait") };
    assert!(waits[0].what.contains("another process"), "{waits:?}");
    drop(claim);
    let Ending::Waiting(waits) = in_time(world.resume(&plan)).await else { panic!("it should wait") };
    assert!(waits[0].what.contains("help"), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn the_same_request_twice_with_plans_inside_is_still_one_plan() {
    let world = World::new();
    let plan = gantry_format::load("p.yaml", GATED.as_bytes()).plan.unwrap();
    let new = || NewPlan { plan: plan.clone(), origin: Origin::default(), once: Some("monday".to_owned()) };
    let first = world.engine.create(new()).await.unwrap();
    let Ending::Waiting(_) = in_time(world.run(&first)).await else { panic!("it should wait") };
    assert_eq!(world.engine.create(new()).await.unwrap(), first);
}
