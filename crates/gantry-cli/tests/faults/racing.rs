//! Several processes on one record.

use gantry_core::event::Event;
use gantry_core::life::PlanState;
use rustix::process::Signal;

use crate::kit::{Busy, Dice, HOLD, MARK, Scene, eventually};

#[test]
fn plans_that_are_begun_at_once_on_a_record_that_does_not_exist_yet_are_all_carried_out() {
    for _ in 0..4 {
        let scene = Scene::new();
        let names = ["one", "two", "three", "four"];
        for name in names {
            let task =
                |id: &str, needs: &str| format!("  - {{id: {name}-{id}, run: '{MARK}', depends_on: [{needs}]}}\n");
            let plan = format!("id: {name}\ntasks:\n{}{}", task("a", ""), task("b", &format!("{name}-a")));
            scene.write(&format!("{name}.yaml"), &plan);
        }
        let all: Vec<Busy> = names.iter().map(|name| scene.start(&["run", &format!("{name}.yaml")])).collect();
        for busy in all {
            let (status, heard) = busy.end();
            assert_eq!(status.code(), Some(0), "{heard}");
        }
        for name in names {
            assert_eq!(scene.audit(name).state, PlanState::Completed);
        }
        assert_eq!(scene.tasks().len(), 8, "each once: {:?}", scene.tasks());
    }
}

#[test]
fn one_request_from_many_processes_at_once_is_carried_out_once() {
    for _ in 0..4 {
        let scene = Scene::with_plan(&format!("title: Once\ntasks:\n  - {{id: a, run: '{MARK}'}}\n"));
        let run = ["run", "plan.yaml", "--key", "nightly"];
        let all: Vec<Busy> = (0..4).map(|_| scene.start(&run)).collect();
        for busy in all {
            let (status, heard) = busy.end();
            assert!(matches!(status.code(), Some(0 | 5)), "{status}: {heard}");
        }
        scene.expect(0, &run);
        assert_eq!(scene.json(&["list", "--json"]).as_array().unwrap().len(), 1, "they made one plan");
        assert_eq!(scene.audit("@last").state, PlanState::Completed);
        assert_eq!(scene.tasks(), ["a"]);
    }
}

fn holding() -> String {
    format!(
        "id: hold\ntasks:\n  - {{id: ok, gate: {{approvals: 1}}}}\n  - {{id: hold, run: '{MARK}; {HOLD}', depends_on: [ok]}}\n"
    )
}

#[test]
fn of_several_that_resume_one_plan_one_goes_on_and_the_others_are_refused() {
    for _ in 0..3 {
        let scene = Scene::with_plan(&holding());
        scene.expect(4, &["run", "plan.yaml"]);
        scene.expect(0, &["gate", "approve", "hold", "ok"]);
        let mut all: Vec<Busy> = (0..4).map(|_| scene.start(&["resume", "hold"])).collect();
        let running = |all: &mut Vec<Busy>| all.iter_mut().filter_map(|busy| busy.is_running().then_some(())).count();
        eventually("three of four have given up", || running(&mut all) == 1);
        scene.write("go", "");
        let mut codes: Vec<Option<i32>> = all.into_iter().map(|busy| busy.end().0.code()).collect();
        codes.sort_unstable();
        assert_eq!(codes, [Some(0), Some(5), Some(5), Some(5)]);
        assert_eq!(scene.audit("hold").state, PlanState::Completed);
        assert_eq!(scene.tasks(), ["hold"]);
    }
}

#[test]
fn a_run_goes_on_when_the_one_before_it_has_ended_and_others_look() {
    let scene = Scene::new();
    let later = HOLD.replace("-e go", "-e later");
    scene.write("one.yaml", &format!("id: one\ntasks:\n  - {{id: a, run: '{MARK}; {HOLD}'}}\n"));
    scene.write(
        "two.yaml",
        &format!(
            "id: two\ntasks:\n  - {{id: b, run: '{MARK}; {later}'}}\n  - {{id: c, run: '{MARK}', depends_on: [b]}}\n"
        ),
    );
    let mut one = scene.start(&["run", "one.yaml"]);
    one.until("a | ready");
    let mut two = scene.start(&["run", "two.yaml"]);
    two.until("b | ready");
    scene.write("go", "");
    let (status, heard) = one.end();
    assert_eq!(status.code(), Some(0), "{heard}");
    for _ in 0..20 {
        assert_eq!(scene.json(&["status", "two", "--json"])["id"], "two");
    }
    scene.write("later", "");
    let (status, heard) = two.end();
    assert_eq!(status.code(), Some(0), "{status}: {heard}");
    assert_eq!(scene.audit("two").state, PlanState::Completed);
    assert_eq!(scene.tasks(), ["a", "b", "c"]);
}

#[test]
fn while_one_process_works_on_a_plan_others_change_nothing_behind_its_back_and_take_over_when_it_dies() {
    let plan = format!(
        "id: hold\ntasks:\n  - {{id: start, checkpoint: start}}\n  - {{id: hold, run: '{MARK}; {HOLD}', depends_on: [start], idempotency: safe}}\n"
    );
    let scene = Scene::with_plan(&plan);
    let mut busy = scene.start(&["run", "plan.yaml"]);
    busy.until("hold | ready");
    let before = scene.json(&["status", "hold", "--json"])["length"].clone();
    for refused in
        [["resume", "hold"].as_slice(), &["forget", "hold", "--force"], &["restore", "hold", "--to", "start"]]
    {
        scene.expect(5, refused);
    }
    // The same file again makes a plan of its own.
    let mut other = scene.start(&["run", "plan.yaml"]);
    other.until("hold | ready");
    assert_ne!(scene.json(&["status", "@last", "--json"])["id"], "hold");
    drop(other);
    assert_eq!(scene.json(&["status", "hold", "--json"])["length"], before, "nothing was written");
    busy.signal(Signal::KILL);
    busy.end();
    scene.write("go", "");
    scene.expect(0, &["resume", "hold"]);
    let audit = scene.audit("hold");
    assert_eq!(audit.state, PlanState::Completed);
    assert_eq!(audit.count(|event| matches!(event, Event::AttemptStarted { .. })), 3, "the killed one, and one more");
}

#[test]
fn while_another_program_holds_the_record_nothing_new_begins_and_then_everything_goes_on_once() {
    let step = |id: &str, needs: &str| {
        let hold = format!("echo ready-{id}; until test -e go-{id}; do sleep 0.01; done; touch ended-{id}");
        format!("  - {{id: {id}, run: '{MARK}; {hold}', depends_on: [{needs}]}}\n")
    };
    let scene = Scene::with_plan(&format!("id: held\ntasks:\n{}{}{}", step("a", ""), step("b", "a"), step("c", "b")));
    let mut busy = scene.start(&["run", "plan.yaml"]);
    for (index, id) in ["a", "b", "c"].iter().enumerate() {
        busy.until(&format!("ready-{id}"));
        let other = rusqlite::Connection::open(scene.db()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        scene.write(&format!("go-{id}"), "");
        eventually("the task is over", || scene.path(&format!("ended-{id}")).exists());
        assert_eq!(scene.tasks().len(), index + 1, "what comes next waits until this is on record");
        other.execute_batch("COMMIT").unwrap();
    }
    let (status, heard) = busy.end();
    assert_eq!(status.code(), Some(0), "{heard}");
    assert_eq!(scene.audit("held").state, PlanState::Completed);
    assert_eq!(scene.tasks(), ["a", "b", "c"]);
}

#[test]
fn of_an_approval_and_a_cancellation_at_once_both_are_answered_and_the_record_says_which_came_first() {
    let plan = format!(
        "id: gated\ntasks:\n  - {{id: ok, gate: {{approvals: 1}}}}\n  - {{id: ship, run: '{MARK}', depends_on: [ok]}}\n"
    );
    for round in 0..8 {
        let scene = Scene::with_plan(&plan);
        let mut busy = scene.start(&["run", "plan.yaml", "--wait"]);
        busy.until("ok: waits for");
        let words = [["gate", "approve", "gated", "ok"].as_slice(), ["cancel", "gated"].as_slice()];
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        let said = order.map(|index| (index, scene.start(words[index])));
        let mut codes = [None, None];
        for (index, busy) in said {
            let (status, heard) = busy.end();
            assert!(matches!(status.code(), Some(0 | 5)), "{:?}: {heard}", words[index]);
            codes[index] = status.code();
        }
        let (status, heard) = busy.end();
        let audit = scene.audit("gated");
        let approved = audit.count(|event| matches!(event, Event::GateDecided { .. }));
        assert_eq!(approved, usize::from(codes[0] == Some(0)), "what was acknowledged is in the record: {heard}");
        if codes[1] == Some(0) {
            assert_eq!((audit.state, status.code()), (PlanState::Abandoned, Some(3)), "{heard}");
        } else {
            assert_eq!((audit.state, status.code()), (PlanState::Completed, Some(0)), "{heard}");
            assert_eq!(scene.tasks(), ["ship"]);
        }
    }
}

#[test]
fn a_cancellation_that_races_with_the_end_wins_or_is_refused_and_the_plan_ends_once() {
    let plan = format!("id: short\ntasks:\n  - {{id: work, run: '{MARK}; echo marked'}}\n");
    let mut dice = Dice::new(7);
    for _ in 0..10 {
        let scene = Scene::with_plan(&plan);
        let mut busy = scene.start(&["run", "plan.yaml"]);
        busy.until("work: started");
        // Not a wait for anything: the moment of the cancellation is what is drawn.
        std::thread::sleep(std::time::Duration::from_micros(dice.below(40_000)));
        let cancel = scene.say(&["cancel", "short"]);
        let (status, heard) = busy.end();
        let audit = scene.audit("short");
        let ends = audit.count(|event| matches!(event, Event::PlanCompleted { .. } | Event::PlanAbandoned { .. }));
        assert_eq!(ends, 1, "{heard}");
        match cancel.code {
            Some(0) => assert_eq!((audit.state, status.code()), (PlanState::Abandoned, Some(3)), "{heard}"),
            Some(5) => assert_eq!((audit.state, status.code()), (PlanState::Completed, Some(0)), "{heard}"),
            _ => panic!("{cancel:?}"),
        }
    }
}
