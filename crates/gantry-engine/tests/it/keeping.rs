//! What attempts leave behind can be read afterwards, however they ended.

use gantry_core::id::PlanId;
use gantry_store::Store;

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
