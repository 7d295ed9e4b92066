//! Nothing is too large, too long or too many for long: room, bytes, and the time to stop.

use std::time::Duration;

use gantry_core::event::Event;
use gantry_core::input::{Input, TakeBack};
use gantry_core::life::PlanState;
use gantry_engine::{Ending, Stop, Until};
use gantry_store::Store;
use serde_json::json;

use crate::kit::{Act, World, completed, in_time};

#[tokio::test(start_paused = true)]
async fn room_is_not_kept_for_a_plan_that_wants_none_any_more() {
    let world = World::with_attempts_max(1);
    let (busy, fickle) =
        (world.create("tasks: [{id: a, run: a}]").await, world.create("tasks: [{id: b, run: b}]").await);
    let other = world.create("tasks: [{id: c, run: c}]").await;
    world.script.task("a", [Act::Take(Duration::from_mins(1))]);
    let first = world.engine.drive(&busy, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("a").await;
    let second = world.engine.drive(&fickle, Until::Ended, vec![Input::Start]).await.unwrap();
    while world.life(&fickle).await.state() != PlanState::Running {
        tokio::task::yield_now().await;
    }
    let _ = world.engine.tell(&fickle, Input::Pause { by: "ana".to_owned(), why: "later".to_owned() }).await.unwrap();
    assert_eq!(in_time(first.ended()).await.unwrap(), completed());
    assert_eq!(in_time(world.run(&other)).await, completed());
    second.stopper()(Stop::Now);
    assert_eq!(second.ended().await.unwrap(), Ending::Stopped);
}

#[tokio::test(start_paused = true)]
async fn a_large_output_is_kept_as_an_artifact_and_handed_on_in_short() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, run: a}]").await;
    let large = "ä".repeat(1 << 20);
    world.script.task("a", [Act::Give(json!({"deep": {"text": large}, "n": 7}))]);
    assert_eq!(world.run(&plan).await, completed());
    let outputs = world.life(&plan).await.outputs("a").unwrap().clone();
    assert_eq!(outputs["n"], 7);
    let shown = outputs["deep"]["text"].as_str().unwrap();
    assert!(
        shown.len() < 20_000 && shown.ends_with("all of it is the artifact `deep.text`]\n"),
        "{} bytes",
        shown.len()
    );
    let task = gantry_core::id::TaskId::new("a").unwrap();
    let kept = world.store.artifact(&plan, &task, "deep.text", None).await.unwrap().unwrap();
    assert_eq!(world.store.get_blob(kept.artifact.hash).await.unwrap().unwrap(), large.as_bytes());
}

#[tokio::test(start_paused = true)]
async fn an_output_that_cannot_be_shortened_is_a_clear_failure_and_not_repeated() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, run: a}]").await;
    world.script.task("a", [Act::Give(json!({"list": vec![1; 300_000]}))]);
    let Ending::Ended { state: PlanState::Failed, causes } = world.run(&plan).await else { panic!("it should fail") };
    assert!(causes[0].contains("Keep what is large in files"), "{causes:?}");
    assert_eq!(world.script.times("a"), 1);
}

#[tokio::test(start_paused = true)]
async fn what_ends_at_once_is_put_into_turns_of_a_size_that_can_be_kept() {
    let world = World::new();
    let tasks: Vec<String> = (0..24).map(|n| format!("{{id: t{n}, run: x}}")).collect();
    let plan = world.create(&format!("policy: {{parallel: 24}}\ntasks: [{}]", tasks.join(", "))).await;
    let text = "x".repeat(900 << 10);
    for n in 0..24 {
        world.script.task(&format!("t{n}"), [Act::Give(json!({"text": text}))]);
    }
    assert_eq!(world.run(&plan).await, completed());
    let turns = gantry_engine::turns(&*world.store, &plan).await.unwrap();
    let largest = turns.iter().map(|turn| turn.inputs.len()).max().unwrap();
    assert!(largest < 10 << 20, "{largest} bytes of inputs in one turn");
}

#[tokio::test(start_paused = true)]
async fn told_to_stop_at_once_it_does_not_wait_for_a_record_that_never_answers() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, run: a}, {id: b, run: b, depends_on: [a]}]").await;
    world.script.task("a", [Act::Take(Duration::from_secs(1))]);
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("a").await;
    world.store.hangs(true);
    tokio::time::sleep(Duration::from_secs(5)).await;
    driving.stopper()(Stop::Now);
    let began = tokio::time::Instant::now();
    assert_eq!(in_time(driving.ended()).await.unwrap(), Ending::Stopped);
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn what_was_answered_before_the_stop_is_recorded() {
    let mut world = World::new();
    let plan = world.create("tasks: [{id: z, run: z}, {id: a, run: a}, {id: b, run: b, depends_on: [a]}]").await;
    world.script.task("z", [Act::Take(Duration::from_secs(1))]);
    world.script.task("a", [Act::Take(Duration::from_secs(2))]);
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("a").await;
    world.store.hangs(true);
    tokio::time::sleep(Duration::from_secs(5)).await; // of the runtime: the end of `z` is being written, `a` has ended
    driving.stopper()(Stop::Now);
    world.store.hangs(false);
    assert_eq!(driving.ended().await.unwrap(), Ending::Stopped);
    assert_eq!(world.script.times("b"), 0, "nothing more is started");
    world.another_process();
    assert_eq!(world.resume(&plan).await, completed());
    assert_eq!((world.script.times("z"), world.script.times("a"), world.script.times("b")), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_someone_just_says_something_to_can_be_driven_a_moment_later() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, run: a}]").await;
    let claim = world.store.claim(world.store.plan(plan.as_str()).await.unwrap().no).await.unwrap().unwrap();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(claim);
    });
    assert_eq!(world.run(&plan).await, completed());
}

#[tokio::test(start_paused = true)]
async fn what_was_said_to_have_failed_and_is_on_disk_is_carried_out_once() {
    let mut world = World::new();
    let plan = world.create("tasks: [{id: a, run: a, undo: restore}, {id: b, run: b, depends_on: [a]}]").await;
    world.script.task("a", [Act::Change("file")]);
    world.script.task("b", [Act::Hang]);
    world.store.lies_for(1);
    world.kill_while_running(&plan, "b", vec![Input::Start]).await;
    assert_eq!(world.script.ledger(), ["a#1", "b#1"]);
    let cancel = Input::Cancel { by: "ana".to_owned(), why: "wrong".to_owned(), undo: TakeBack::Everything };
    world.store.lies_for(1);
    let ended = in_time(world.drive(&plan, vec![cancel])).await;
    assert_eq!(ended, Ending::Ended { state: PlanState::Abandoned, causes: Vec::new() });
    assert_eq!(world.script.ledger()[2..], ["undo a: file"]);
    let begun = |event: &Event| matches!(event, Event::UndoStarted { .. });
    assert_eq!(world.count(&plan, begun).await, 1);
}

/// Plans that each want to run some commands at once.
async fn several(world: &World) -> Vec<gantry_core::id::PlanId> {
    let mut plans = Vec::new();
    for name in ["a", "b", "c"] {
        let tasks: Vec<String> = (1..=3).map(|no| format!("{{id: {name}{no}, run: {name}}}")).collect();
        plans.push(
            world.create(&format!("tasks: [{}, {{id: {name}-free, tool: {{name: script}}}}]", tasks.join(", "))).await,
        );
        for task in (1..=3).map(|no| format!("{name}{no}")).chain([format!("{name}-free")]) {
            world.script.task(&task, [Act::Take(Duration::from_mins(1))]);
        }
    }
    plans
}

#[tokio::test(start_paused = true)]
async fn no_more_attempts_use_a_capability_at_once_than_the_process_allows_in_all_plans() {
    let world = World::with_capabilities([("shell", 2)]);
    let plans = several(&world).await;
    let mut drivings = Vec::new();
    for plan in &plans {
        drivings.push(world.engine.drive(plan, Until::Ended, vec![Input::Start]).await.unwrap());
    }
    for driving in drivings {
        assert_eq!(in_time(driving.ended()).await.unwrap(), completed());
    }
    assert_eq!(world.script.most_at_once(), 2 + 3, "two commands, and the tools, which nothing limits");
    for plan in &plans {
        let replayed = gantry_engine::replay(&*world.store, plan, gantry_engine::WhatIf::default()).await.unwrap();
        assert_eq!(replayed.difference, None, "what there was room for is known when it is decided again");
    }
}

#[tokio::test(start_paused = true)]
async fn room_for_a_capability_is_given_back_by_plans_that_stop() {
    let world = World::with_capabilities([("shell", 1)]);
    let (busy, other) = (
        world.create("tasks: [{id: a, run: a}]").await,
        world.create("tasks: [{id: b, run: b}, {id: c, run: c}]").await,
    );
    world.script.task("a", [Act::Hang]);
    let first = world.engine.drive(&busy, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("a").await;
    let second = world.engine.drive(&other, Until::Ended, vec![Input::Start]).await.unwrap();
    while world.life(&other).await.state() != PlanState::Running {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.script.ledger(), ["a#1"], "there is room for one");
    first.stopper()(Stop::Now);
    assert_eq!(in_time(first.ended()).await.unwrap(), Ending::Stopped);
    assert_eq!(in_time(second.ended()).await.unwrap(), completed());
    assert_eq!(world.script.ledger().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn plans_that_need_the_same_two_things_get_both_in_turn() {
    let world = World::with_capabilities([("shell", 1), ("gpu", 1)]);
    let mut drivings = Vec::new();
    for name in ["a", "b"] {
        let task = |no: u32| format!("{{id: {name}{no}, run: {name}, capabilities: [gpu]}}");
        let plan = world.create(&format!("tasks: [{}, {}]", task(1), task(2))).await;
        drivings.push(world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap());
    }
    for driving in drivings {
        assert_eq!(in_time(driving.ended()).await.unwrap(), completed());
    }
    assert_eq!((world.script.most_at_once(), world.script.ledger().len()), (1, 4));
}
