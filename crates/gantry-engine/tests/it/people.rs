//! What people say reaches a plan, whoever drives it.

use gantry_core::event::Event;
use gantry_core::id::TaskId;
use gantry_core::input::{Input, Success, TakeBack};
use gantry_core::life::{PlanState, TaskState};
use gantry_engine::{Ending, EngineError, Tell, Until};
use gantry_store::Store as _;

use crate::kit::{World, approve, completed};

const GATED: &str = "
tasks:
  - {id: build, run: make}
  - {id: ok, gate: {approvals: 1}, depends_on: [build]}
  - {id: ship, run: ship, depends_on: [ok]}
";

#[tokio::test(start_paused = true)]
async fn an_approval_while_nobody_drives_is_recorded_and_starts_nothing() {
    let world = World::new();
    let plan = world.create(GATED).await;
    let Ending::Waiting(waits) = world.run(&plan).await else { panic!("it should wait") };
    assert_eq!(waits[0].what, "0 of 1 approvals");
    assert_eq!(world.engine.tell(&plan, approve("ok")).await, Ok(Tell::Recorded));
    let life = world.life(&plan).await;
    assert_eq!(life.task_state("ok"), Some(TaskState::Completed));
    assert_eq!(life.task_state("ship"), Some(TaskState::Ready));
    assert_eq!(world.script.times("ship"), 0);
    assert_eq!(world.resume(&plan).await, completed());
}

#[tokio::test(start_paused = true)]
async fn an_approval_given_to_the_driving_process_goes_on_at_once() {
    let world = World::new();
    let plan = world.create(GATED).await;
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("build").await;
    while world.life(&plan).await.task_state("ok") != Some(TaskState::Waiting) {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.engine.tell(&plan, approve("ok")).await, Ok(Tell::Driven));
    assert_eq!(driving.ended().await.unwrap(), completed());
}

#[tokio::test(start_paused = true)]
async fn an_approval_given_to_another_process_reaches_the_driver() {
    let mut world = World::new();
    let plan = world.create(GATED).await;
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    while world.life(&plan).await.task_state("ok") != Some(TaskState::Waiting) {
        tokio::task::yield_now().await;
    }
    world.another_process();
    assert_eq!(world.engine.tell(&plan, approve("ok")).await, Ok(Tell::Driven));
    let twice = world.engine.tell(&plan, approve("ok")).await;
    assert!(matches!(twice, Err(EngineError::RefusedElsewhere { .. } | EngineError::Refused(_))), "{twice:?}");
    assert_eq!(driving.ended().await.unwrap(), completed());
    assert_eq!(world.script.times("ship"), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_changes_nothing() {
    let world = World::new();
    let plan = world.create(GATED).await;
    let before = world.life(&plan).await;
    let refused = world.engine.tell(&plan, approve("ok")).await;
    assert!(matches!(refused, Err(EngineError::Refused(_))), "{refused:?}");
    assert_eq!(world.life(&plan).await, before);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_plan_stops_what_runs() {
    let world = World::new();
    let plan = world.create(GATED).await;
    world.script.task("build", [crate::kit::Act::Hang]);
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.begun("build").await;
    let cancel = Input::Cancel { by: "ana".to_owned(), why: "enough".to_owned(), undo: TakeBack::Nothing };
    assert_eq!(world.engine.tell(&plan, cancel).await, Ok(Tell::Driven));
    let ended = driving.ended().await.unwrap();
    assert_eq!(ended, Ending::Ended { state: PlanState::Abandoned, causes: Vec::new() });
}

#[tokio::test(start_paused = true)]
async fn what_nobody_answers_is_taken_back_and_not_obeyed_later() {
    let mut world = World::new();
    let plan = world.create(GATED).await;
    // A process has the plan and hears nothing, as one that hangs.
    let deaf = world.store.claim(world.store.plan(plan.as_str()).await.unwrap().no).await.unwrap();
    world.another_process();
    let cancel = Input::Cancel { by: "ana".to_owned(), why: "enough".to_owned(), undo: TakeBack::Nothing };
    let told = world.engine.tell(&plan, cancel).await;
    assert!(matches!(told, Err(EngineError::Silent { .. })), "{told:?}");
    assert_eq!(world.store.inbox(&plan).await.unwrap(), []);
    drop(deaf);
    assert!(matches!(world.run(&plan).await, Ending::Waiting(_)), "it was not cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_task_for_a_model_that_is_not_there_waits_for_someone_who_does_it() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, model: {instruction: think}}, {id: b, run: b, depends_on: [a]}]").await;
    let Ending::Waiting(waits) = world.run(&plan).await else { panic!("it waits for a person") };
    assert_eq!(waits[0].what, "help: no model is configured to do it; someone may do it by hand instead");
    assert_eq!(world.count(&plan, |event| matches!(event, Event::AttemptStarted { .. })).await, 1);
    let (task, by) = (TaskId::new("a").unwrap(), "ana".to_owned());
    let done = Input::Report { task, by, end: Ok(Success::default()) };
    assert_eq!(world.drive(&plan, vec![done]).await, completed());
    assert_eq!(world.script.ledger(), ["b#1"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_said_elsewhere_before_the_first_drive_counts() {
    let mut world = World::new();
    let (cancelled, forgotten) = (world.create(GATED).await, world.create(GATED).await);
    let here = world.engine.clone();
    world.another_process();
    let cancel = Input::Cancel { by: "ben".to_owned(), why: "not needed".to_owned(), undo: TakeBack::Nothing };
    assert_eq!(world.engine.tell(&cancelled, cancel).await, Ok(Tell::Recorded));
    world.store.forget(&forgotten).await.unwrap();

    let ending = here.drive(&cancelled, Until::Ended, vec![Input::Start]).await.unwrap().ended().await.unwrap();
    assert!(matches!(ending, Ending::Ended { state: PlanState::Abandoned, .. }), "{ending:?}");
    let gone = match here.drive(&forgotten, Until::Ended, vec![Input::Start]).await {
        Ok(driving) => driving.ended().await.err(),
        Err(error) => Some(error),
    };
    assert!(matches!(gone, Some(EngineError::Store(gantry_store::StoreError::NotFound { .. }))), "{gone:?}");
    assert_eq!(world.script.times("build"), 0);
}

#[tokio::test(start_paused = true)]
async fn what_became_overdue_while_nobody_drove_happens_before_the_plan_waits_again() {
    let mut world = World::new();
    let plan = world
        .create(
            "
tasks:
  - {id: ok, gate: {approvals: 1, escalate_after: 1h}}
  - {id: box, timebox: 2h, tasks: [{id: look, manual: {instruction: look}}]}
  - {id: ship, run: ship, depends_on: [box]}
",
        )
        .await;
    let Ending::Waiting(_) = world.run(&plan).await else { panic!("it should wait for people") };
    world.another_process_at("2026-04-01T00:00:00Z");
    let Ending::Waiting(_) = world.resume(&plan).await else { panic!("it should wait for the gate") };
    assert_eq!(world.count(&plan, |event| matches!(event, Event::Escalated { .. })).await, 1);
    assert_eq!(world.life(&plan).await.task_state("ship"), Some(TaskState::Completed));
}

#[tokio::test(start_paused = true)]
async fn a_question_with_a_default_is_waited_for() {
    let world = World::new();
    let plan = world
        .create("tasks: [{id: which, ask: {question: Which?, options: [a, b], default: b, answer_within: 2h}}]")
        .await;
    assert_eq!(world.run(&plan).await, completed());
}
