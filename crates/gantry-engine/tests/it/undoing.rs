//! What was done is taken back by the records that were made before it was done.

use std::time::Duration;

use gantry_core::input::{Input, TakeBack};
use gantry_core::life::PlanState;
use gantry_core::policy::FailureClass;
use gantry_engine::{Ending, Stop, Until};

use crate::kit::{Act, World};

const CHANGES: &str = "
tasks:
  - {id: a, run: a, undo: restore}
  - {id: b, run: b, undo: restore, depends_on: [a]}
  - {id: c, run: c, undo: restore, depends_on: [b]}
";

fn cancel() -> Input {
    Input::Cancel { by: "ana".to_owned(), why: "wrong".to_owned(), undo: TakeBack::Everything }
}

fn undo() -> Input {
    Input::Undo { to: String::new(), by: "ana".to_owned(), why: "wrong".to_owned() }
}

#[tokio::test(start_paused = true)]
async fn everything_is_taken_back_the_last_thing_first_and_once() {
    let mut world = World::new();
    let plan = world.create(CHANGES).await;
    world.script.task("a", [Act::Change("x")]);
    world.script.task("b", [Act::Change("y")]);
    world.script.task("c", [Act::Hang]);
    world.kill_while_running(&plan, "c", vec![Input::Start]).await;
    let ended = world.drive(&plan, vec![cancel()]).await;
    assert_eq!(ended, Ending::Ended { state: PlanState::Abandoned, causes: Vec::new() });
    assert_eq!(world.script.ledger(), ["a#1", "b#1", "c#1", "undo b: y", "undo a: x"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_back_is_called_with_its_own_arguments() {
    let world = World::new();
    let plan = world
        .create(
            "
tasks:
  - id: order
    tool: {name: script, args: {method: POST}}
    undo: {tool: {name: script, args: {method: DELETE, of: tasks.order.number}}}
  - {id: later, tool: {name: script}, depends_on: [order], undo: {tool: {name: script}}}
",
        )
        .await;
    world.script.task("order", [Act::Give(serde_json::json!({"number": 7}))]);
    assert_eq!(world.run(&plan).await, crate::kit::completed());
    let _ = world.drive(&plan, vec![undo()]).await;
    let ledger = world.script.ledger();
    let given: Vec<&str> = ledger.iter().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    assert_eq!(given, [r#"script {"method":"POST"}"#, r#"script {"method":"DELETE","of":7}"#], "{ledger:?}");
}

#[tokio::test(start_paused = true)]
async fn an_undo_that_needs_what_was_never_made_asks_a_person_and_does_nothing() {
    let world = World::new();
    let plan = world
        .create("tasks: [{id: order, run: o, undo: {tool: {name: script, args: {of: tasks.order.number}}}}]")
        .await;
    assert_eq!(world.run(&plan).await, crate::kit::completed());
    let Ending::Waiting(waits) = world.drive(&plan, vec![undo()]).await else { panic!("a person is needed") };
    assert_eq!(
        waits[0].what,
        "`order` could not be taken back: `tasks.order.number` was not made by task `order`",
        "{:?}",
        world.script.ledger()
    );
    assert_eq!(world.script.ledger(), ["order#1"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_killed_attempt_was_about_to_change_is_taken_back_too() {
    let mut world = World::new();
    let plan = world.create("tasks: [{id: a, run: a, undo: restore, idempotency: safe}]").await;
    world.script.task("a", [Act::ChangeAndHang("half")]);
    world.kill_while_running(&plan, "a", vec![Input::Start]).await;
    let _ = world.drive(&plan, vec![cancel()]).await;
    let undone = world.script.ledger().iter().filter(|line| *line == "undo a: half").count();
    assert_eq!(undone, 1, "{:?}", world.script.ledger());
}

#[tokio::test(start_paused = true)]
async fn a_program_that_nothing_was_kept_before_is_not_said_to_be_taken_back() {
    let world = World::new();
    let gated = "tasks: [{id: a, run: a, undo: restore}, {id: ok, gate: {approvals: 1}, depends_on: [a]}]";
    let plan = world.create(gated).await;
    world.script.task("a", [Act::RunProgram(Duration::ZERO)]);
    let _ = world.run(&plan).await;
    let Ending::Waiting(waits) = world.drive(&plan, vec![cancel()]).await else { panic!("a person is needed") };
    assert_eq!(
        waits[0].what,
        "`a` could not be taken back: nothing was kept before `a` was done, so what it changed is not known: take it \
         back by hand"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_cut_off_is_not_said_to_have_changed_nothing() {
    let mut world = World::new();
    let plan = world.create("tasks: [{id: a, run: a, undo: restore}]").await;
    world.script.task("a", [Act::RunProgram(Duration::from_hours(9))]);
    let driving = world.engine.drive(&plan, Until::Ended, vec![Input::Start]).await.unwrap();
    world.script.program_runs("a").await;
    driving.stopper()(Stop::Now);
    assert_eq!(driving.ended().await.unwrap(), Ending::Stopped);
    world.another_process();
    let Ending::Waiting(waits) = world.drive(&plan, vec![cancel()]).await else { panic!("a person is needed") };
    assert!(waits[0].what.contains("what it changed is not known: take it back by hand"), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_record_that_was_replaced_is_taken_back_once() {
    let world = World::new();
    let plan = world.create("tasks: [{id: a, run: a, undo: restore}, {id: b, run: b, depends_on: [a]}]").await;
    world.script.task("a", [Act::ChangeTwice("guess", "known")]);
    world.script.task("b", [Act::Fail(FailureClass::Logic, "no")]);
    let _ = world.run(&plan).await;
    let _ = world.drive(&plan, vec![cancel()]).await;
    assert_eq!(world.script.ledger(), ["a#1", "b#1", "undo a: known"]);
}
