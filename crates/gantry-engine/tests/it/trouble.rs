//! A record that has trouble, clocks that jump, and calls that take long.

use std::time::Duration;

use gantry_core::event::{Entry, Event};
use gantry_core::input::{Input, TakeBack};
use gantry_core::life::PlanState;
use gantry_engine::{Ending, EngineError, Happening, Stop, Until, WhatIf};
use gantry_store::StoreError;

use crate::kit::{Act, Failing, World, approve, completed};

/// Something of everything that needs the record: ways back, contents, words of people, a plan inside.
const BUSY: &str = "
tasks:
  - {id: a, run: a, undo: restore}
  - {id: ok, gate: {approvals: 1}, depends_on: [a]}
  - {id: b, run: b, depends_on: [ok]}
  - {id: inner, plan: {tasks: [{id: x, run: x}]}, depends_on: [b]}
";

/// Carries the plan out with an approval by another process; whatever is refused is asked for again.
async fn live_through(world: &mut World, plan: &gantry_core::id::PlanId) {
    world.script.task("a", [Act::Change("file")]);
    world.script.task("b", [Act::Keep("notes")]);
    let mut happenings = world.engine.watch();
    let driving = loop {
        match world.engine.drive(plan, Until::Ended, vec![Input::Start]).await {
            Ok(driving) => break driving,
            Err(EngineError::Store(error)) if error.is_transient() => {}
            Err(error) => panic!("{error}"),
        }
    };
    let opened = |entry: &Entry| matches!(entry.event, Event::GateOpened { .. });
    while !matches!(happenings.recv().await.unwrap(), Happening::Events { entries, .. } if entries.iter().any(opened)) {
    }
    world.another_process();
    while let Err(error) = world.engine.tell(plan, approve("ok")).await {
        match error {
            EngineError::Store(error) if error.is_transient() => {}
            // The first one was heard, and only its answer was lost.
            EngineError::Refused(_) | EngineError::RefusedElsewhere { .. } => break,
            error => panic!("{error}"),
        }
    }
    assert_eq!(driving.ended().await.unwrap(), completed());
}

async fn lived_once(world: &World, plan: &gantry_core::id::PlanId, what: &str) {
    world.store.fails(Failing::None);
    assert_eq!(world.script.ledger(), ["a#1", "b#1", "x#1"], "{what}");
    assert_eq!(world.life(plan).await.state(), PlanState::Completed, "{what}");
    let decided = |event: &Event| matches!(event, Event::GateDecided { .. });
    assert_eq!(world.count(plan, decided).await, 1, "{what}");
    let replayed = gantry_engine::replay(&*world.store, plan, WhatIf::default()).await.unwrap();
    assert_eq!(replayed.difference, None, "{what}");
}

#[tokio::test(start_paused = true)]
async fn whichever_request_to_the_record_fails_everything_is_done_once() {
    let mut world = World::new();
    let plan = world.create(BUSY).await;
    world.store.fails(Failing::None);
    live_through(&mut world, &plan).await;
    let requests = world.store.fails(Failing::None);
    assert!(requests > 25, "only {requests} requests");
    for nth in 1..=requests {
        let mut world = World::new();
        let plan = world.create(BUSY).await;
        world.store.fails(Failing::Nth(nth));
        live_through(&mut world, &plan).await;
        lived_once(&world, &plan, &format!("request {nth} failed")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_that_goes_away_again_and_again_only_makes_it_slower() {
    for seed in 0..40 {
        let mut world = World::new();
        let plan = world.create(BUSY).await;
        world.store.fails(Failing::Often(seed * 1_000));
        live_through(&mut world, &plan).await;
        lived_once(&world, &plan, &format!("seed {seed}")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_done_is_not_done_again_because_its_result_found_no_room() {
    let world = World::new();
    let plan = world.create("tasks: [{id: pay, run: pay, heartbeat: 1s, retry: {max: 5}}]").await;
    world.script.task("pay", [Act::Keep("receipt")]);
    world.store.has_no_room_for_blobs(1_000);
    let mut happenings = world.engine.watch();
    assert_eq!(world.run(&plan).await, completed());
    assert_eq!(world.script.ledger(), ["pay#1"]);
    let mut troubles = 0;
    while let Ok(happening) = happenings.try_recv() {
        troubles += usize::from(matches!(happening, Happening::StoreTrouble { .. }));
    }
    assert_eq!(troubles, 1, "it is said once");
}

#[tokio::test(start_paused = true)]
async fn a_lease_does_not_run_out_only_because_the_record_had_no_room() {
    let world = World::new();
    let plan = world.create("tasks: [{id: pay, run: pay, heartbeat: 1s}]").await;
    world.script.task("pay", [Act::Keep("receipt")]);
    world.store.has_no_room_for_blobs(30);
    let driving = world.engine.drive(&plan, Until::Stuck, vec![Input::Start]).await.unwrap();
    world.script.begun("pay").await;
    world.store.is_full(true);
    tokio::time::sleep(Duration::from_mins(1)).await; // of the runtime, which is paused: nobody waits
    world.store.is_full(false);
    assert_eq!(driving.ended().await.unwrap(), completed());
    assert_eq!(world.script.ledger(), ["pay#1"]);
}

#[tokio::test(start_paused = true)]
async fn told_to_stop_at_once_it_does_not_wait_for_a_record_that_is_full() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, run: a}, {id: b, run: b, depends_on: [a]}]").await;
    world.script.task("a", [Act::Take(Duration::from_secs(1))]);
    let mut happenings = world.engine.watch();
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("a").await;
    world.store.is_full(true);
    while !matches!(happenings.recv().await.unwrap(), Happening::StoreTrouble { .. }) {}
    driving.stopper()(Stop::Now);
    let ended = driving.ended().await;
    assert!(matches!(ended, Err(EngineError::Store(StoreError::Full { .. }))), "{ended:?}");
    world.store.is_full(false);
    assert_eq!(world.script.ledger(), ["a#1"]);
    let Ending::Waiting(waits) = world.resume(&plan).await else { panic!("`a` is in doubt") };
    assert_eq!(waits.len(), 1);
    assert_eq!(world.script.ledger(), ["a#1"], "and is not repeated");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_hours_is_made_once() {
    let world = World::new();
    let plan = world.create("tasks: [{id: long, run: long}, {id: after, run: after, depends_on: [long]}]").await;
    world.script.task("long", [Act::Take(Duration::from_hours(9))]);
    assert_eq!(world.run(&plan).await, completed());
    assert_eq!(world.script.ledger(), ["long#1", "after#1"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_silent_for_longer_than_its_lease_is_asked_about_and_not_made_again() {
    let world = World::new();
    let plan = world.create("tasks: [{id: pay, run: pay, heartbeat: 60s}]").await;
    world.script.task("pay", [Act::Take(Duration::from_hours(9))]);
    let Ending::Waiting(waits) = world.run(&plan).await else { panic!("it should wait for a person") };
    assert!(waits[0].what.contains("not heard from"), "{waits:?}");
    assert_eq!(world.script.ledger(), ["pay#1"]);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_between_processes_neither_loses_a_timer_nor_fires_it_twice() {
    let mut world = World::new();
    let plan = world
        .create("tasks: [{id: hold, run: h, idempotency: safe}, {id: later, wait: 1h}, {id: end, run: e, depends_on: [later]}]")
        .await;
    world.script.task("hold", vec![Act::Hang; 4]);
    world.kill_while_running(&plan, "hold", vec![Input::Start]).await; // at 2026-03-01T09:00
    let fired = |event: &Event| matches!(event, Event::TaskCompleted { task, .. } if task.as_str() == "later");
    for (time, times) in [("2026-02-28T09:00:00Z", 0), ("2026-05-30T09:00:00Z", 1), ("2026-02-28T09:00:00Z", 1)] {
        world.another_process_at(time);
        let driving = world.engine.drive(&plan, Until::Ended, Vec::new()).await.unwrap();
        if times == 1 {
            world.script.begun("end").await;
        }
        driving.stopper()(Stop::Now);
        let _ = driving.ended().await.unwrap();
        assert_eq!(world.count(&plan, fired).await, times, "at {time}");
    }
    world.script.task("hold", []);
    world.another_process();
    assert_eq!(world.resume(&plan).await, completed());
    assert_eq!((world.count(&plan, fired).await, world.script.times("end")), (1, 1));
    let journal = world.journal(&plan).await;
    assert!(journal.iter().map(|entry| entry.at).is_sorted(), "the journal never goes back");
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_back_while_the_record_has_trouble_is_taken_back_once_and_whole() {
    for seed in 0..40 {
        let world = World::new();
        let plan =
            world.create("tasks: [{id: a, run: a, undo: restore}, {id: ok, ask: Really?, depends_on: [a]}]").await;
        world.script.task("a", [Act::Change("file")]);
        let Ending::Waiting(_) = world.run(&plan).await else { panic!("it should wait") };
        world.store.fails(Failing::Often(seed * 1_000));
        let cancel = Input::Cancel { by: "ana".to_owned(), why: "wrong".to_owned(), undo: TakeBack::Everything };
        let driving = loop {
            match world.engine.drive(&plan, Until::Ended, vec![cancel.clone()]).await {
                Ok(driving) => break driving,
                Err(error) => assert!(matches!(error, EngineError::Store(StoreError::Busy { .. })), "{error}"),
            }
        };
        assert_eq!(driving.ended().await.unwrap(), Ending::Ended { state: PlanState::Abandoned, causes: Vec::new() });
        assert_eq!(world.script.ledger(), ["a#1", "undo a: file"]);
    }
}
