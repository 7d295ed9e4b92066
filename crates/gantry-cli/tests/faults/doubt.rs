//! Work that may have happened when its process was killed: it is found out or asked, never repeated blindly.

use gantry_core::event::Event;
use gantry_core::life::PlanState;

use crate::kit::{Dice, MARK, POINTS, Scene};

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

#[test]
fn unsafe_and_keyed_work_is_never_done_twice_under_one_key_when_it_is_killed_at_any_moment() {
    let task = |id: &str, needs: &str, kind: &str| {
        format!("  - {{id: {id}, depends_on: [{needs}], idempotency: {kind}, run: '{MARK}; echo marked'}}\n")
    };
    let tasks = [
        task("a", "", "unsafe"),
        task("b", "a", "keyed"),
        task("c", "a", "unsafe"),
        task("d", "b, c", "keyed"),
        task("e", "d", "unsafe"),
    ];
    let plan = format!("id: pay\ntasks:\n{}", tasks.concat());
    let run = ["run", "plan.yaml", "--key", "once"];
    // Set GANTRY_KILLS for more.
    let wanted = std::env::var("GANTRY_KILLS").map_or(40, |wanted| wanted.parse().unwrap());
    let (mut kills, mut asked, mut dice) = (0, 0, Dice::new(7));
    while kills < wanted {
        let scene = Scene::with_plan(&plan);
        for _ in 0..6 {
            let mut child = scene.gantry(&run).spawn().unwrap();
            // Not a wait for anything: the moment of death is what is drawn.
            std::thread::sleep(std::time::Duration::from_micros(dice.below(200_000)));
            let _ = child.kill();
            kills += u32::from(child.wait().unwrap().code().is_none());
            if scene.look("pay").is_some_and(|audit| audit.state == PlanState::Completed) {
                break;
            }
        }
        asked += scene.settle("pay", &run);
        // The audit compares the ledger with the record: unsafe work is done once under its key.
        assert_eq!(scene.audit("pay").state, PlanState::Completed);
        let done: std::collections::BTreeSet<String> = scene.tasks().into_iter().collect();
        assert_eq!(done.into_iter().collect::<Vec<_>>(), ["a", "b", "c", "d", "e"], "nothing was left out");
        // Whoever is told the key can see that it is the same work: work done again has the same one.
        for task in ["b", "d"] {
            let keys: std::collections::BTreeSet<String> =
                scene.marks().into_iter().filter(|mark| mark.task == task).map(|mark| mark.key).collect();
            assert_eq!(keys.len(), 1, "`{task}` was done under several keys: {keys:?}");
        }
    }
    eprintln!("kills: {kills}, asked: {asked}");
}
