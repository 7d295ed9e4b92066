//! Clocks that jump, between two processes and under one.

use std::process::Command;

use gantry_core::event::Event;
use gantry_core::life::PlanState;

use crate::kit::{Busy, HOLD, MARK, Scene, needs, said};

/// A wait of ten days between two tasks that must not be done twice.
fn waiting() -> String {
    format!(
        "id: jump\ntasks:\n  - {{id: first, run: '{MARK}'}}\n  - {{id: later, wait: 10d, depends_on: [first]}}\n  - {{id: ok, ask: Really?}}\n  - {{id: last, run: '{MARK}', depends_on: [later]}}\n"
    )
}

fn fired(event: &Event) -> bool {
    matches!(event, Event::TaskCompleted { task, .. } if task.as_str() == "later")
}

/// A machine whose clock says something else, for one process.
struct OtherClock {
    library: String,
}

impl OtherClock {
    /// None when there is no library that can do it. The program that comes with it is not used: it stands between
    /// the test and the process, which would then outlive it.
    fn find() -> Option<Self> {
        let asked = Command::new("faketime").args(["-f", "+0d", "printenv", "LD_PRELOAD"]).output();
        let library = asked.ok().filter(|output| output.status.success());
        needs("faketime", library.is_some());
        library.map(|output| Self { library: String::from_utf8(output.stdout).unwrap().trim().to_owned() })
    }

    /// A command at another time. Only the time of day is another one: the machine runs as long as it does.
    fn at(&self, scene: &Scene, when: &str, args: &[&str]) -> Command {
        let mut command = scene.gantry(args);
        command.env("LD_PRELOAD", &self.library).env("FAKETIME", when).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command.env("FAKETIME_NO_CACHE", "1");
        command
    }
}

#[test]
fn a_clock_that_jumps_between_two_processes_neither_loses_a_timer_nor_fires_it_twice() {
    let Some(clock) = OtherClock::find() else { return };
    let scene = Scene::with_plan(&waiting());
    let mut busy = Busy::from(scene.gantry(&["run", "plan.yaml", "--wait"]));
    busy.until("first: done");
    busy.until("later");
    drop(busy);
    // A day back, and the day before yesterday: nothing is due, and nothing is lost.
    for when in ["-1d", "-2d"] {
        let mut busy = Busy::from(clock.at(&scene, when, &["resume", "jump", "--wait"]));
        busy.until("jump");
        drop(busy);
        assert_eq!(scene.audit("jump").count(fired), 0, "{when}");
    }
    assert_eq!(said(clock.at(&scene, "+90d", &["ask", "answer", "jump", "ok", "yes"])).code, Some(0));
    assert_eq!(said(clock.at(&scene, "+90d", &["resume", "jump"])).code, Some(0), "it is due and fires");
    let audit = scene.audit("jump");
    assert_eq!((audit.state, audit.count(fired)), (PlanState::Completed, 1));
    assert_eq!(scene.tasks(), ["first", "last"]);
    // Back in the present the journal still only grows.
    scene.expect(0, &["task", "note", "jump", "the clock is right again"]);
    assert_eq!(scene.audit("jump").count(fired), 1);
}

#[test]
fn a_clock_that_is_set_while_a_plan_runs_moves_no_timer_and_no_lease() {
    let Some(clock) = OtherClock::find() else { return };
    let plan = format!(
        "id: jump\ntasks:\n  - {{id: hold, heartbeat: 10s, timeout: 1h, run: '{MARK}; {HOLD}'}}\n  - {{id: later, wait: 10d}}\n  - {{id: last, run: '{MARK}', depends_on: [hold]}}\n"
    );
    for jump in ["+90d", "-1d"] {
        let scene = Scene::with_plan(&plan);
        scene.write("time", "+0d");
        let mut command = clock.at(&scene, "+0d", &["run", "plan.yaml", "--wait"]);
        command.env_remove("FAKETIME").env("FAKETIME_TIMESTAMP_FILE", scene.path("time"));
        let mut busy = Busy::from(command);
        busy.until("hold | ready");
        scene.write("time", jump);
        scene.write("go", "");
        busy.until("last: done");
        drop(busy);
        let audit = scene.audit("jump");
        let later = |event: &Event| matches!(event, Event::TaskCompleted { task, .. } if task.as_str() == "later");
        assert_eq!(audit.count(later), 0, "{jump}: ten days have not passed");
        assert_eq!(audit.count(|event| matches!(event, Event::AttemptFailed { .. })), 0, "{jump}: nothing was lost");
        assert_eq!(scene.tasks(), ["hold", "last"], "{jump}");
    }
}
