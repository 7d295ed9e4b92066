//! What attempts leave behind can be read afterwards, however they ended.

use std::time::Duration;

use gantry_core::id::PlanId;
use gantry_store::{Hash, Store};

use serde_json::json;

use crate::kit::{Act, World};

/// Everything that is kept of a plan: task, attempt, name and content.
async fn kept(world: &World, plan: &PlanId) -> Vec<String> {
    let mut lines = Vec::new();
    for row in world.store.artifacts(plan, 0, 100).await.unwrap().items {
        let artifact = row.artifact;
        let body = world.store.get_blob(artifact.hash).await.unwrap().unwrap();
        lines.push(format!(
            "{}#{} {}: {}",
            artifact.task,
            artifact.attempt,
            artifact.name,
            String::from_utf8_lossy(&body)
        ));
    }
    lines
}

#[tokio::test(start_paused = true)]
async fn what_a_failed_attempt_said_can_be_read() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, run: a, retry: {max: 1}}]").await;
    world.script.task("a", [Act::FailSaying("no such thing"), Act::FailSaying("still not")]);
    let _ = world.run(&plan).await;
    assert_eq!(kept(&world, &plan).await, ["a#1 stderr: no such thing", "a#2 stderr: still not"]);
}

#[tokio::test(start_paused = true)]
async fn what_an_attempt_said_that_took_too_long_can_be_read() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, run: a, timeout: 1m}]").await;
    world.script.task("a", [Act::HangSaying("waiting for the lock")]);
    let _ = world.run(&plan).await;
    assert_eq!(kept(&world, &plan).await, ["a#1 stderr: waiting for the lock"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_is_recorded_with_request_answer_hash_and_how_long_it_took() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, run: a}]").await;
    world.script.task("a", [Act::RunProgram(Duration::from_hours(9))]);
    let _ = world.run(&plan).await;
    let rows = world.store.effects(&plan, None, 0, 100).await.unwrap().items;
    let [row] = rows.as_slice() else { panic!("one call was made: {rows:?}") };
    assert_eq!((row.kind.as_str(), &row.request), ("process", &json!({"command": "make"})));
    assert_eq!(row.request_hash, Hash::of(row.request.to_string().as_bytes()));
    assert_eq!(row.answer, Some(json!({"exit": {"code": 0}})));
    let took = row.ended_at.unwrap().as_ms() - row.started_at.as_ms();
    assert_eq!(u64::try_from(took).unwrap() / 3_600_000, 9);
}

#[tokio::test(start_paused = true)]
async fn a_plan_inside_is_recorded_with_how_long_it_took() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, plan: {title: inner, tasks: [{id: b, run: b}]}}]").await;
    world.script.task("b", [Act::Take(Duration::from_hours(9))]);
    let _ = world.run(&plan).await;
    let rows = world.store.effects(&plan, None, 0, 100).await.unwrap().items;
    let [row] = rows.as_slice() else { panic!("one plan was driven: {rows:?}") };
    let took = row.ended_at.unwrap().as_ms() - row.started_at.as_ms();
    assert_eq!(u64::try_from(took).unwrap() / 3_600_000, 9);
}
