//! Processes go away in the middle; the record knows everything that counts.

use gantry_core::event::Event;
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_core::policy::FailureClass;
use gantry_engine::{Ending, Happening, Stop, Timeline, Until, WhatIf};
use gantry_view::standing::Standing;

use crate::kit::{Act, World, approve, completed};

#[tokio::test(start_paused = true)]
async fn finished_work_is_not_done_again_and_safe_work_is() {
    let mut world = World::new();
    let plan = world
        .create("tasks: [{id: a, run: a}, {id: b, run: b, depends_on: [a], idempotency: safe}, {id: c, run: c, depends_on: [b]}]")
        .await;
    world.script.task("b", [Act::Hang]);
    world.kill_while_running(&plan, "b", vec![Input::Start]).await;
    assert_eq!(world.resume(&plan).await, completed());
    assert_eq!(world.script.ledger(), ["a#1", "b#1", "b#2", "c#1"]);
}

#[tokio::test(start_paused = true)]
async fn work_that_may_have_happened_waits_for_a_person() {
    let mut world = World::new();
    let plan = world.create("tasks: [{id: pay, run: pay}]").await;
    world.script.task("pay", [Act::Hang]);
    world.kill_while_running(&plan, "pay", vec![Input::Start]).await;
    let Ending::Waiting(waits) = world.resume(&plan).await else { panic!("it should wait") };
    assert_eq!(waits[0].what, "help: the process that ran it went away");
    assert_eq!(world.script.ledger(), ["pay#1"]);
}

#[tokio::test(start_paused = true)]
async fn work_that_is_proved_not_to_have_happened_is_done() {
    let mut world = World::new();
    let plan = world.create("tasks: [{id: pay, run: pay, verify: {run: was it paid}}]").await;
    world.script.task("pay", [Act::Hang]);
    world.kill_while_running(&plan, "pay", vec![Input::Start]).await;
    assert_eq!(world.resume(&plan).await, completed());
    assert_eq!(world.script.ledger(), ["pay#1", "verify pay", "pay#2"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_verifies_is_called_with_its_own_arguments() {
    let mut world = World::new();
    let plan = world
        .create(
            "tasks: [{id: pay, tool: {name: script, args: {pay: 5}}, verify: {tool: {name: look, args: {paid: 5}}}}]",
        )
        .await;
    world.script.task("pay", [Act::Hang]);
    world.kill_while_running(&plan, "pay", vec![Input::Start]).await;
    assert_eq!(world.resume(&plan).await, completed());
    let (pay, look) = (r#"script {"pay":5}"#, r#"verify pay look {"paid":5}"#);
    assert_eq!(world.script.ledger(), [format!("pay#1 {pay}"), look.to_owned(), format!("pay#2 {pay}")]);
}

#[tokio::test(start_paused = true)]
async fn crashing_five_times_in_a_row_while_recovering_loses_nothing() {
    let mut world = World::new();
    let plan = world.create("tasks: [{id: a, run: a}, {id: b, run: b, depends_on: [a], idempotency: safe}]").await;
    world.script.task("b", vec![Act::Hang; 6]);
    world.kill_while_running(&plan, "b", vec![Input::Start]).await;
    for _ in 0..5 {
        let driving = world.engine.drive(&plan, gantry_engine::Until::Ended, Vec::new()).await.unwrap();
        driving.stopper()(gantry_engine::Stop::Now);
        assert_eq!(driving.ended().await.unwrap(), Ending::Stopped);
        world.another_process();
    }
    world.script.task("b", []);
    assert_eq!(world.resume(&plan).await, completed());
    assert_eq!(world.script.times("a"), 1);
    let replayed = gantry_engine::replay(&*world.store, &plan, WhatIf::default()).await.unwrap();
    assert_eq!(replayed.difference, None);
}

#[tokio::test(start_paused = true)]
async fn a_timer_that_was_due_while_nobody_was_there_fires_once_at_the_start() {
    let mut world = World::new();
    let plan = world
        .create("tasks: [{id: hold, run: h}, {id: later, wait: 1h}, {id: end, run: e, depends_on: [later]}]")
        .await;
    world.script.task("hold", [Act::Hang]);
    world.kill_while_running(&plan, "hold", vec![Input::Start]).await;
    tokio::time::advance(std::time::Duration::from_hours(90 * 24)).await;
    let Ending::Waiting(_) = world.resume(&plan).await else { panic!("`hold` may have happened") };
    assert_eq!(world.script.times("end"), 1);
    let done = |event: &Event| matches!(event, Event::TaskCompleted { task, .. } if task.as_str() == "later");
    assert_eq!(world.count(&plan, done).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_long_life_is_loaded_from_its_snapshot_and_is_the_same() {
    let world = World::new();
    let plan = long_life(&world, "").await;
    assert_eq!(world.run(&plan).await, completed());
    let loaded = gantry_store::Store::load(&*world.store, &plan).await.unwrap().unwrap();
    assert!(loaded.snapshot.is_some(), "a snapshot was kept");
    let turns = gantry_store::all_turns(&*world.store, &plan).await.unwrap();
    let entries: Vec<_> = turns.into_iter().flat_map(|turn| turn.entries).collect();
    let folded = gantry_core::life::replay(&entries).unwrap();
    let opened = world.engine.open(&plan).await.unwrap();
    assert_eq!((&opened.life, &opened.timeline), (&folded, &Timeline::of(&entries)));
    assert_eq!(folded.state(), PlanState::Completed);
}

#[tokio::test(start_paused = true)]
async fn loading_a_long_life_reads_only_what_came_after_its_snapshot() {
    let world = World::new();
    let plan = long_life(&world, "").await;
    world.script.task("t299", [Act::Take(LONG_ENOUGH)]);
    assert_eq!(world.run(&plan).await, completed());
    let all = gantry_store::all_turns(&*world.store, &plan).await.unwrap().len() as u64;
    let since = gantry_store::Store::load(&*world.store, &plan).await.unwrap().unwrap().turns.len() as u64;
    let _ = world.store.turns_read();
    let _ = world.life(&plan).await;
    let read = world.store.turns_read();
    // Those since the snapshot, and the first, which says where the plan comes from.
    assert_eq!(read, since + 1, "of {all}");
    assert!(read < all / 2, "{read} of {all}");
}

#[tokio::test(start_paused = true)]
async fn showing_where_a_long_life_stands_reads_no_more_of_it_than_loading_it() {
    let world = World::new();
    let plan = long_life(&world, "").await;
    world.script.task("t299", [Act::Take(LONG_ENOUGH)]);
    assert_eq!(world.run(&plan).await, completed());
    let _ = world.store.turns_read();
    let _ = world.life(&plan).await;
    let loading = world.store.turns_read();
    let standing = Standing::read(&*world.store, plan.as_str()).await.unwrap();
    assert_eq!(world.store.turns_read(), loading);
    assert!(
        standing.length(&gantry_core::id::TaskId::new("t0").unwrap()).is_some(),
        "it is known how long a task took"
    );
}

#[tokio::test(start_paused = true)]
async fn a_damaged_snapshot_is_said_once_when_a_plan_is_opened() {
    let world = World::new();
    let gates = ", {id: one, gate: {approvals: 1}, depends_on: [t299]}, {id: two, gate: {approvals: 1}, depends_on: [one]}, \
                 {id: three, gate: {approvals: 1}, depends_on: [two]}";
    let plan = long_life(&world, gates).await;
    world.script.task("t299", [Act::Take(LONG_ENOUGH)]);
    let Ending::Waiting(_) = world.run(&plan).await else { panic!("it should wait") };
    let mut happenings = world.engine.watch();
    world.store.damages_snapshot();
    let mut said = Vec::new();
    for gate in ["one", "two"] {
        let driving = world.engine.drive(&plan, Until::Ended, vec![approve(gate)]).await.unwrap();
        tokio::time::sleep(LONG_ENOUGH).await;
        driving.stopper()(Stop::Now);
        let _ = driving.ended().await.unwrap();
        said.extend(std::iter::from_fn(|| happenings.try_recv().ok()).filter_map(|happening| match happening {
            Happening::Notice { text, .. } if text.contains("snapshot") => Some(text),
            _ => None,
        }));
    }
    assert_eq!(said, [format!("the snapshot of plan `{plan}`; the whole journal was read instead")]);
}

/// Simulated time goes on when nothing else does, the keeping of a snapshot among it.
const LONG_ENOUGH: std::time::Duration = std::time::Duration::from_mins(1);

/// A plan whose tasks succeed only when they are tried for the third time, and some more tasks.
async fn long_life(world: &World, more: &str) -> PlanId {
    let task = |n: u32| format!("{{id: t{n}, run: x, depends_on: [{}], retry: {{max: 3}}}}", before(n));
    let tasks: Vec<String> = (0..300).map(task).collect();
    for n in 0..300 {
        world.script.task(&format!("t{n}"), vec![Act::Fail(FailureClass::Transient, "not yet"); 2]);
    }
    world.create(&format!("tasks: [{}{more}]", tasks.join(", "))).await
}

fn before(n: u32) -> String {
    n.checked_sub(1).map(|n| format!("t{n}")).unwrap_or_default()
}
