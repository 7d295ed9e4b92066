//! Signals: asked to end, asked at any moment, killed while ending, stopped for a while.

use gantry_core::event::Event;
use gantry_core::life::PlanState;
use gantry_store::Store;
use gantry_store_sqlite::SqliteStore;
use rustix::process::Signal;

use crate::kit::{Busy, Dice, HOLD, MARK, Scene, eventually};

/// A task that holds on until it is told to go, and one behind it. Neither may be done twice.
fn holding() -> String {
    format!(
        "id: hold\ntasks:\n  - {{id: hold, run: '{MARK}; {HOLD}; echo done'}}\n  - {{id: after, run: '{MARK}', depends_on: [hold]}}\n"
    )
}

const RUN: [&str; 4] = ["run", "plan.yaml", "--key", "once"];

#[test]
fn asked_to_end_it_lets_work_finish_starts_nothing_more_and_goes_on_later() {
    let scene = Scene::with_plan(&holding());
    let mut busy = scene.start(&RUN);
    busy.until("hold | ready");
    busy.signal(Signal::TERM);
    busy.until("pausing, waiting for hold to finish");
    scene.write("go", "");
    let (status, heard) = busy.end();
    assert_eq!(status.code(), Some(4), "{heard}");
    let audit = scene.audit("hold");
    assert_eq!((audit.state, audit.completed()), (PlanState::Paused, vec!["hold".to_owned()]));
    assert_eq!(scene.tasks(), ["hold"]);
    scene.expect(0, &RUN);
    assert_eq!(scene.audit("hold").state, PlanState::Completed);
    assert_eq!(scene.tasks(), ["hold", "after"]);
}

#[test]
fn work_that_must_not_be_done_twice_is_done_once_however_often_it_is_asked_to_end() {
    let task = |id: &str, needs: &str| format!("  - {{id: {id}, run: '{MARK}', depends_on: [{needs}]}}\n");
    let tasks = [task("a", ""), task("b", "a"), task("c", "a"), task("d", "b, c"), task("e", "d"), task("f", "d")];
    let plan = format!("id: web\ntasks:\n{}", tasks.concat());
    let mut dice = Dice::new(0x5eed);
    let mut asked = 0;
    while asked < 40 {
        let scene = Scene::with_plan(&plan);
        let ended = (0..12).any(|_| {
            let busy = scene.start(&RUN);
            // Not a wait for anything: the moment of the signal is what is drawn.
            std::thread::sleep(std::time::Duration::from_micros(dice.below(250_000)));
            busy.signal(Signal::TERM);
            asked += 1;
            let (status, heard) = busy.end();
            // Before it listens nothing has begun, so that the signal may simply end it.
            assert!(matches!(status.code(), None | Some(0 | 4)), "{status}: {heard}");
            status.code() == Some(0)
        });
        if !ended {
            scene.expect(0, &RUN);
        }
        let audit = scene.audit("web");
        assert_eq!(audit.state, PlanState::Completed);
        assert_eq!(audit.count(|event| matches!(event, Event::PersonAsked { .. })), 0, "nothing was ever in doubt");
        assert_eq!(scene.tasks().len(), 6, "each once: {:?}", scene.tasks());
    }
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_is_killed_while_it_comes_to_its_end() {
    let mut kills = 0;
    for point in ["before_append", "after_append", "after_effect"] {
        for nth in 1..=4 {
            let scene = Scene::with_plan(&holding());
            let mut command = scene.gantry(&RUN);
            command.env("GANTRY_CRASH_AT", format!("{point}:{nth}"));
            let mut busy = Busy::from(command);
            if busy.hears("hold | ready") {
                busy.signal(Signal::TERM);
                busy.hears("pausing");
            }
            scene.write("go", "");
            kills += u32::from(busy.end().0.code().is_none());
            scene.settle("hold", &RUN);
            let audit = scene.audit("hold");
            assert_eq!(audit.state, PlanState::Completed, "{point}:{nth}");
            assert_eq!(scene.tasks(), ["hold", "after"], "{point}:{nth}");
        }
    }
    assert!(kills >= 7, "only {kills} kills");
    eprintln!("kills: {kills}");
}

#[test]
fn a_process_that_was_stopped_for_longer_than_a_lease_runs_nothing_twice_and_keeps_its_plan() {
    let plan = format!(
        "id: beat\ntasks:\n  - id: beat\n    heartbeat: 300ms\n    run: '{MARK}; echo ready; until test -e stopped; do sleep 0.01; done; sleep 1.5; touch slept; until test -e go; do sleep 0.01; done'\n  - {{id: after, run: '{MARK}', depends_on: [beat]}}\n"
    );
    let scene = Scene::with_plan(&plan);
    let mut busy = scene.start(&RUN);
    busy.until("beat | ready");
    busy.signal(Signal::STOP);
    scene.write("stopped", "");
    eventually("the task outlives three heartbeats", || scene.path("slept").exists());
    let refused = scene.expect(5, &["resume", "beat"]);
    assert!(refused.err.contains("is being worked on by another process"), "{refused:?}");
    busy.signal(Signal::CONT);
    scene.write("go", "");
    let (status, heard) = busy.end();
    assert_eq!(status.code(), Some(0), "nobody has to be asked: the process was there all the time: {heard}");
    assert_eq!(scene.audit("beat").state, PlanState::Completed);
    assert_eq!(scene.tasks(), ["beat", "after"]);
}

#[test]
fn what_is_said_to_a_process_that_is_stopped_is_heard_when_it_goes_on() {
    let plan = format!(
        "id: gated\ntasks:\n  - {{id: ok, gate: {{approvals: 1}}}}\n  - {{id: ship, run: '{MARK}', depends_on: [ok]}}\n"
    );
    let scene = Scene::with_plan(&plan);
    let mut busy = scene.start(&["run", "plan.yaml", "--wait"]);
    busy.until("ok: waits for");
    busy.signal(Signal::STOP);
    let mut approve = scene.start(&["gate", "approve", "gated", "ok"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = SqliteStore::open(scene.db()).unwrap();
    let plan = gantry_core::id::PlanId::new("gated").unwrap();
    eventually("the approval waits", || !runtime.block_on(store.inbox(&plan)).unwrap().is_empty());
    assert!(approve.is_running(), "it is not acknowledged before someone heard it");
    assert_eq!(scene.tasks(), Vec::<String>::new());
    busy.signal(Signal::CONT);
    assert_eq!(approve.end().0.code(), Some(0));
    assert_eq!(busy.end().0.code(), Some(0));
    let audit = scene.audit("gated");
    let decided = audit.count(|event| matches!(event, Event::GateDecided { .. }));
    assert_eq!((audit.state, decided), (PlanState::Completed, 1));
    assert_eq!(scene.tasks(), ["ship"]);
}
