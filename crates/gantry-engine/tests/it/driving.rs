//! Plans under way: order, limits, fairness, trouble with the record.

use std::time::Duration;

use gantry_core::event::Event;
use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_core::policy::FailureClass::{Logic, Transient};
use gantry_engine::{Ending, EngineError, Happening, NewPlan, Origin, Stop, Until};
use gantry_store::StoreError;
use serde_json::json;

use crate::kit::{Act, World, completed};

const CHAIN: &str = "
tasks:
  - {id: a, run: make a}
  - {id: b, run: make b, depends_on: [a]}
  - {id: c, run: make c, depends_on: [b]}
";

#[tokio::test(start_paused = true)]
async fn a_chain_is_carried_out_in_its_order() {
    let world = World::new();
    let plan = world.create(CHAIN).await;
    assert_eq!(world.run(&plan).await, completed());
    assert_eq!(world.script.ledger(), ["a#1", "b#1", "c#1"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_told_is_in_the_record_before() {
    let world = World::new();
    let plan = world.create(CHAIN).await;
    let mut happenings = world.engine.watch();
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    let mut told = 1; // the creation was before anyone watched
    while let Ok(happening) = happenings.recv().await {
        let Happening::Events { entries, .. } = happening else { continue };
        let recorded = world.journal(&plan).await;
        for entry in entries.iter() {
            assert_eq!(recorded[usize::try_from(entry.seq).unwrap() - 1], *entry);
            told = entry.seq;
        }
        if entries.iter().any(|entry| matches!(entry.event, Event::PlanCompleted { .. })) {
            break;
        }
    }
    assert_eq!(driving.ended().await.unwrap(), completed());
    assert_eq!(told, world.life(&plan).await.length(), "nothing was left out");
}

#[tokio::test(start_paused = true)]
async fn outputs_flow_to_those_that_ask_for_them() {
    let world = World::new();
    let plan = world
        .create(
            "
tasks:
  - {id: a, run: make a}
  - {id: b, compute: {twice: inputs.n * 2}, inputs: {n: tasks.a.n}}
",
        )
        .await;
    world.script.task("a", [Act::Give(json!({"n": 21}))]);
    assert_eq!(world.run(&plan).await, completed());
    assert_eq!(world.life(&plan).await.outputs("b").unwrap()["twice"], 42);
}

#[tokio::test(start_paused = true)]
async fn a_transient_failure_is_tried_again_after_its_time() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, run: fetch}]").await;
    world.script.task("a", [Act::Fail(Transient, "connection reset"), Act::Fail(Transient, "again")]);
    assert_eq!(world.run(&plan).await, completed());
    assert_eq!(world.script.times("a"), 3);
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_cannot_be_completed_ends_as_failed_and_says_why() {
    let world = World::new();
    let plan = world.create(CHAIN).await;
    world.script.task("b", [Act::Fail(Logic, "3 tests failed")]);
    let causes = vec!["task `b` failed: 3 tests failed".to_owned()];
    assert_eq!(world.run(&plan).await, Ending::Ended { state: PlanState::Failed, causes });
    assert_eq!(world.script.times("c"), 0);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_takes_too_long_is_stopped() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, run: spin, timeout: 5m, idempotency: safe, retry: {max: 0}}]").await;
    world.script.task("a", [Act::Hang]);
    let Ending::Ended { state, .. } = world.run(&plan).await else { panic!("it should end") };
    assert_eq!(state, PlanState::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_runner_that_breaks_loses_its_attempt_and_nothing_else() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, run: x, idempotency: safe}, {id: b, run: y}]").await;
    world.script.task("a", [Act::Panic]);
    assert_eq!(world.run(&plan).await, completed());
    assert_eq!((world.script.times("a"), world.script.times("b")), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn no_more_attempts_run_at_once_than_the_process_allows_and_no_plan_starves() {
    let world = World::with_attempts_max(2);
    let fan = |name: &str| {
        let tasks: Vec<String> = (0..6).map(|n| format!("{{id: {name}{n}, run: work}}")).collect();
        format!("tasks: [{}]", tasks.join(", "))
    };
    let (first, second) = (world.create(&fan("a")).await, world.create(&fan("b")).await);
    for n in 0..6 {
        for name in ["a", "b"] {
            world.script.task(&format!("{name}{n}"), [Act::Take(Duration::from_mins(1))]);
        }
    }
    let one = world.engine.drive(&first, Until::Ended, vec![Input::Start]).await.unwrap();
    let other = world.engine.drive(&second, Until::Ended, vec![Input::Start]).await.unwrap();
    assert_eq!((one.ended().await.unwrap(), other.ended().await.unwrap()), (completed(), completed()));
    assert_eq!(world.script.most_at_once(), 2);
    let ledger = world.script.ledger();
    let b_in_the_first_half = ledger[..6].iter().filter(|line| line.starts_with('b')).count();
    assert!(b_in_the_first_half >= 2, "the second plan had its share: {ledger:?}");
}

#[tokio::test(start_paused = true)]
async fn while_the_record_is_full_nothing_happens_and_then_everything_once() {
    let world = World::new();
    let plan = world.create(CHAIN).await;
    let mut happenings = world.engine.watch();
    world.store.is_full_for(3);
    assert_eq!(world.run(&plan).await, completed());
    assert_eq!(world.script.ledger(), ["a#1", "b#1", "c#1"]);
    let mut troubles = 0;
    while let Ok(happening) = happenings.try_recv() {
        troubles += usize::from(matches!(happening, Happening::StoreTrouble { .. }));
    }
    assert_eq!(troubles, 3);
}

#[tokio::test(start_paused = true)]
async fn parking_lets_what_runs_finish_and_starts_nothing_more() {
    let world = World::new();
    let plan = world.create(CHAIN).await;
    world.script.task("a", [Act::Take(Duration::from_mins(1))]);
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("a").await;
    driving.stopper()(Stop::Park);
    assert_eq!(driving.ended().await.unwrap(), Ending::Parked);
    assert_eq!(world.script.ledger(), ["a#1"]);
    let life = world.life(&plan).await;
    assert_eq!(life.state(), PlanState::Paused);
    assert_eq!(world.drive(&plan, vec![Input::Resume { by: "ana".to_owned() }]).await, completed());
    assert_eq!(world.script.ledger(), ["a#1", "b#1", "c#1"]);
}

#[tokio::test(start_paused = true)]
async fn a_plan_inside_a_task_is_a_plan_of_its_own_and_gives_its_results() {
    let world = World::new();
    let plan = world
        .create(
            "
tasks:
  - id: inner
    plan: {tasks: [{id: x, run: make x}]}
  - {id: after, compute: {n: inputs.n}, inputs: {n: tasks.inner.x.n}}
",
        )
        .await;
    world.script.task("x", [Act::Give(json!({"n": 7}))]);
    assert_eq!(world.run(&plan).await, completed());
    assert_eq!(world.life(&plan).await.outputs("after").unwrap()["n"], 7);
    let inner = world.life(&plan).await.outputs("inner").unwrap()["plan"].as_str().unwrap().to_owned();
    let inner = gantry_core::id::PlanId::new(&inner).unwrap();
    assert_eq!(world.life(&inner).await.state(), PlanState::Completed);
}

#[tokio::test(start_paused = true)]
async fn the_same_request_twice_makes_one_plan_and_another_under_its_key_is_refused() {
    let world = World::new();
    let plan = |yaml: &str| gantry_format::load("p.yaml", yaml.as_bytes()).plan.unwrap();
    let new = |yaml: &str| NewPlan { plan: plan(yaml), origin: Origin::default(), once: Some("monday".to_owned()) };
    let first = world.engine.create(new(CHAIN)).await.unwrap();
    assert_eq!(world.engine.create(new(CHAIN)).await.unwrap(), first);
    let other = world.engine.create(new("tasks: [{id: z, run: z}]")).await;
    assert!(matches!(other, Err(EngineError::Store(StoreError::KeyReused { .. }))), "{other:?}");
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_driven_by_one_at_a_time() {
    let world = World::new();
    let plan = world.create(CHAIN).await;
    world.script.task("a", [Act::Hang]);
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("a").await;
    let second = world.engine.drive(&plan, Until::Ended, Vec::new()).await;
    assert!(matches!(second.err(), Some(EngineError::Driven { .. })));
    assert!(world.engine.orphans().await.unwrap().is_empty(), "a driven plan is no orphan");
    driving.stopper()(Stop::Now);
    assert_eq!(driving.ended().await.unwrap(), Ending::Stopped);
    assert_eq!(world.engine.orphans().await.unwrap().len(), 1, "a plan that nobody drives is found");
}
