//! A life is decided again, asked what would have been, and continued from any point.

use gantry_core::life::PlanState;
use gantry_core::policy::{Budget, FailureClass, Policy};
use gantry_engine::{Origin, WhatIf, replay};

use crate::kit::{Act, World, approve, completed};

const PLAN: &str = "
tasks:
  - {id: a, run: a}
  - {id: ok, gate: {approvals: 1}, depends_on: [a]}
  - {id: b, run: b, depends_on: [ok]}
";

async fn lived(world: &World) -> gantry_core::id::PlanId {
    let plan = world.create(PLAN).await;
    world.script.task("a", [Act::Fail(FailureClass::Transient, "reset")]);
    let _ = world.run(&plan).await;
    let _ = world.engine.tell(&plan, approve("ok")).await.unwrap();
    assert_eq!(world.resume(&plan).await, completed());
    plan
}

#[tokio::test(start_paused = true)]
async fn a_whole_life_decided_again_is_the_same_and_runs_nothing() {
    let world = World::new();
    let plan = lived(&world).await;
    let done = world.script.ledger();
    let replayed = replay(&*world.store, &plan, WhatIf::default()).await.unwrap();
    assert_eq!(replayed.difference, None);
    assert_eq!(replayed.entries, world.life(&plan).await.length());
    assert_eq!(world.script.ledger(), done);
}

#[tokio::test(start_paused = true)]
async fn another_policy_shows_where_the_life_would_have_gone_another_way() {
    let world = World::new();
    let plan = lived(&world).await;
    let retry = gantry_core::policy::Retry { max: 0, ..gantry_core::policy::Retry::default() };
    let policy = Policy { retry: Some(retry), budget: Budget::default(), ..Policy::default() };
    let replayed = replay(&*world.store, &plan, WhatIf { policy: Some(policy) }).await.unwrap();
    let difference = replayed.difference.unwrap();
    let kind = |event: &Option<Box<gantry_core::event::Event>>| {
        serde_json::to_value(event.as_ref().unwrap()).unwrap()["event"].as_str().unwrap().to_owned()
    };
    assert_eq!((kind(&difference.recorded), kind(&difference.decided)), ("retry_planned".into(), "task_failed".into()));
}

#[tokio::test(start_paused = true)]
async fn another_life_goes_on_from_any_point_and_the_first_stays_as_it_is() {
    let world = World::new();
    let plan = lived(&world).await;
    let before = world.journal(&plan).await;
    for at in 1..before.len() as u64 {
        let fork = world.engine.fork(&plan, at, Origin::default()).await.unwrap();
        let forked = world.journal(&fork).await;
        assert_eq!(forked[..usize::try_from(at).unwrap()], before[..usize::try_from(at).unwrap()]);
        assert_eq!(replay(&*world.store, &fork, WhatIf::default()).await.unwrap().difference, None);
        let first = match world.life(&fork).await.state() {
            PlanState::Pending => vec![gantry_core::input::Input::Start],
            _ => Vec::new(),
        };
        let _ = world.drive(&fork, first).await;
        assert_eq!(replay(&*world.store, &fork, WhatIf::default()).await.unwrap().difference, None);
    }
    assert_eq!(world.journal(&plan).await, before);
}
