//! A life is decided again, asked what would have been, and continued from any point.

use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_core::policy::{Budget, FailureClass, Policy};
use gantry_engine::{Clock as _, EngineError, Origin, Until, WhatIf, replay};
use gantry_store::Home;

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
    let replayed = replay(&*world.store, &plan, WhatIf { policy: Some(policy), ..WhatIf::default() }).await.unwrap();
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

#[tokio::test(start_paused = true)]
async fn what_was_given_is_counted_and_the_mark_of_a_fork_follows_from_the_plan() {
    let world = World::new();
    let plan = lived(&world).await;
    let replayed = async |plan| replay(&*world.store, plan, WhatIf::default()).await.unwrap();
    assert_eq!(replayed(&plan).await.given, 0);
    let mut turns = gantry_engine::turns(&*world.store, &plan).await.unwrap();
    let end = turns[1].last_seq();
    let fork = world.engine.fork(&plan, end, Origin::default()).await.unwrap();
    assert_eq!(replayed(&fork).await.given, 0, "it begins with whole turns");
    let turn = turns.iter().find(|turn| turn.entries.len() > 1).unwrap();
    let fork = world.engine.fork(&plan, turn.first_seq, Origin::default()).await.unwrap();
    assert_eq!(replayed(&fork).await.given, 1, "nobody decided a part of a turn");
    // Whoever edits a journal may call anything given.
    for turn in &mut turns {
        turn.inputs = gantry_engine::Cause::Given.to_json();
    }
    let forged = gantry_engine::replay_turns(&plan, &turns, &WhatIf::default()).unwrap();
    assert_eq!((forged.given, forged.turns, forged.difference), (turns.len() as u64 - 1, 0, None));
    let (first, rest) = turns.split_first_mut().unwrap();
    first.entries.extend(rest[0].entries.clone());
    let forged = gantry_engine::replay_turns(&plan, &turns, &WhatIf::default()).unwrap();
    assert_eq!(forged.difference.unwrap().seq, 2, "creating a plan does nothing else");
}

#[tokio::test(start_paused = true)]
async fn a_life_from_elsewhere_works_nowhere_until_someone_says_where() {
    let there = World::new();
    let origin = Origin {
        workspace: "/home/victim".to_owned(),
        secrets: vec!["AWS_SECRET_ACCESS_KEY".to_owned()],
        parent: Some((gantry_core::id::PlanId::new("release").unwrap(), gantry_core::id::TaskId::new("a").unwrap())),
        ..Origin::default()
    };
    let loaded = gantry_format::load("plan.yaml", PLAN.as_bytes());
    let new = gantry_engine::NewPlan { plan: loaded.plan.unwrap(), origin, once: None };
    let plan = there.engine.create(new).await.unwrap();
    let turns = gantry_engine::turns(&*there.store, &plan).await.unwrap();
    let here = World::new();
    let plan = gantry_engine::import(&*here.store, turns, Vec::new(), here.clock.now()).await.unwrap();
    let opened = here.engine.open(&plan).await.unwrap();
    assert_eq!((opened.origin.workspace.as_str(), opened.origin.secrets.len(), &opened.origin.parent), ("", 0, &None));
    assert_eq!(opened.secrets_elsewhere, ["AWS_SECRET_ACCESS_KEY"]);
    let fork = here.engine.fork(&plan, 1, opened.origin).await.unwrap();
    for plan in [&plan, &fork] {
        let refused = here.engine.drive(plan, Until::Stuck, vec![Input::Start]).await.err();
        assert!(matches!(refused, Some(EngineError::Homeless { .. })), "{refused:?}");
    }
    let home =
        Home { workspace: "/home/me".to_owned(), secrets: vec!["TOKEN".to_owned()], given: serde_json::Value::Null };
    here.engine.hold(&plan).await.unwrap().settle("ana", home).await.unwrap();
    let origin = here.engine.open(&plan).await.unwrap().origin;
    assert_eq!((origin.workspace.as_str(), origin.secrets.as_slice()), ("/home/me", &["TOKEN".to_owned()][..]));
    assert!(matches!(here.run(&plan).await, gantry_engine::Ending::Waiting(_)));
    let origin = here.engine.open(&plan).await.unwrap().origin;
    assert_eq!(origin.workspace, "/home/me", "it stays there, however much happens");
    assert_eq!(replay(&*here.store, &plan, WhatIf::default()).await.unwrap().difference, None);
}

#[tokio::test(start_paused = true)]
async fn whoever_holds_a_plan_is_alone_with_it() {
    let world = World::new();
    let plan = lived(&world).await;
    let mut held = world.engine.hold(&plan).await.unwrap();
    held.note("ana", "look at this").await.unwrap();
    let refused = world.engine.hold(&plan).await.err();
    assert!(matches!(refused, Some(EngineError::Driven { .. })), "{refused:?}");
    drop(held);
    assert!(world.engine.hold(&plan).await.is_ok());
    assert_eq!(replay(&*world.store, &plan, WhatIf::default()).await.unwrap().given, 0, "a note can be decided again");
}
