//! Work that may have happened when its process was killed: it is found out or asked, never repeated blindly.

use gantry_core::event::Event;
use gantry_core::life::PlanState;

use crate::kit::{MARK, POINTS, Scene};

/// Three tasks that may do harm when they are done twice.
fn chain(more: &str) -> String {
    let task = |id: &str, needs: &str| {
        format!("  - id: {id}\n    depends_on: [{needs}]\n    run: '{MARK}; echo marked'\n{more}")
    };
    format!("id: pay\ntasks:\n{}{}{}", task("a", ""), task("b", "a"), task("c", "b"))
}

#[test]
fn work_that_may_have_happened_is_shown_to_a_person_and_never_repeated_wherever_it_is_killed() {
    let mut asked = 0;
    for point in POINTS {
        for nth in 1..=3 {
            let scene = Scene::with_plan(&chain(""));
            let run = ["run", "plan.yaml", "--key", "once"];
            scene.killed_at(point, nth, &run);
            asked += scene.settle("pay", &run);
            assert_eq!(scene.audit("pay").state, PlanState::Completed, "{point}:{nth}");
            assert_eq!(scene.tasks(), ["a", "b", "c"], "{point}:{nth}: each once, in order");
        }
    }
    assert!(asked >= 5, "a person was asked only {asked} times");
    eprintln!("asked: {asked}");
}

#[test]
fn work_that_can_be_looked_up_outside_needs_nobody_and_is_done_once_wherever_it_is_killed() {
    let mut verified = 0;
    for point in POINTS {
        for nth in 1..=3 {
            let scene = Scene::with_plan(&chain("    verify: {run: 'grep -q \" $GANTRY_TASK \" ledger'}\n"));
            scene.write("ledger", "");
            let killed = scene.killed_at(point, nth, &["run", "plan.yaml", "--key", "once"]);
            if killed.code.is_none() {
                scene.expect(0, &["run", "plan.yaml", "--key", "once"]);
            }
            let audit = scene.audit("pay");
            assert_eq!(audit.state, PlanState::Completed, "{point}:{nth}");
            assert_eq!(scene.tasks(), ["a", "b", "c"], "{point}:{nth}: each once, in order");
            verified += audit.count(|event| matches!(event, Event::Verified { .. }));
        }
    }
    assert!(verified >= 5, "only {verified} lost attempts were looked up");
    eprintln!("verified: {verified}");
}
