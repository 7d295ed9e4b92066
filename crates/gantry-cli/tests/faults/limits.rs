//! Machines that run out of file descriptors and memory.

use gantry_core::event::Event;
use gantry_core::life::PlanState;

use crate::kit::{MARK, Scene, said};

/// Twelve tasks at once that must not be done twice, and one behind them.
fn fan() -> String {
    let names: Vec<String> = (0..12).map(|number| format!("t{number}")).collect();
    let tasks: Vec<String> = names.iter().map(|name| format!("  - {{id: {name}, run: '{MARK}'}}\n")).collect();
    format!(
        "id: fan\npolicy: {{retry: {{max: 2, backoff: 1ms}}}}\ntasks:\n{}  - {{id: last, run: '{MARK}', depends_on: [{}]}}\n",
        tasks.concat(),
        names.join(", ")
    )
}

const RUN: [&str; 4] = ["run", "plan.yaml", "--key", "once"];

/// Runs the plan under a limit, then without it: whatever came of the first, everything is done once.
fn survives(limit: &str) -> Option<i32> {
    let scene = Scene::with_plan(&fan());
    let limited = ["-c", &format!("{limit}; exec \"$0\" \"$@\"")];
    let first = said(scene.gantry_under("sh", &limited, &RUN));
    assert!(!first.err.contains("panicked"), "{limit}: {}", first.err);
    let audit = scene.look("fan");
    if let Some(1 | 2) = first.code {
        assert!(first.err.contains("error: "), "{limit}: it says why: {first:?}");
    }
    // What could not even be started was not done, and can be done again when there is room.
    if let Some(audit) = audit.filter(|audit| audit.state == PlanState::Failed) {
        // Where not even the end can be read any more, that is what it says.
        assert!(matches!(first.code, Some(1 | 3)), "{limit}: {first:?}");
        for task in audit.tasks(|event| matches!(event, Event::TaskFailed { .. })) {
            assert!(!scene.tasks().contains(&task), "{limit}: `{task}` was done and is said to have failed");
            scene.expect(0, &["retry", "fan", &task]);
        }
    }
    scene.settle("fan", &RUN);
    assert_eq!(scene.audit("fan").state, PlanState::Completed, "{limit}");
    assert_eq!(scene.tasks().len(), 13, "{limit}: each once: {:?}", scene.tasks());
    first.code
}

#[test]
fn with_few_file_descriptors_work_is_refused_or_done_one_by_one_and_never_twice() {
    let ends: Vec<Option<i32>> =
        [6, 15, 18, 22, 28, 40].iter().map(|files| survives(&format!("ulimit -n {files}"))).collect();
    assert_eq!(ends[..2], [Some(1), Some(1)], "too few for anything");
    assert_eq!(ends[4..], [Some(0), Some(0)], "enough for one attempt at a time, or two");
}

#[test]
fn with_little_memory_work_is_refused_or_broken_off_and_never_done_twice() {
    let ends: Vec<Option<i32>> =
        [20_000, 60_000, 120_000].iter().map(|kb| survives(&format!("ulimit -v {kb}"))).collect();
    assert!(ends.iter().any(|end| *end != Some(0)), "{ends:?}");
}

#[test]
fn work_that_the_machine_killed_for_want_of_memory_is_asked_about_and_never_repeated_blindly() {
    let killed = format!("{MARK}; test -e ledger.full && exit 0; touch ledger.full; kill -KILL $$");
    let plan = format!("id: oom\ntasks:\n  - {{id: pay, run: '{killed}', retry: {{max: 3, backoff: 1ms}}}}\n");
    let scene = Scene::with_plan(&plan);
    let waits = scene.expect(4, &["run", "plan.yaml"]);
    assert!(waits.err.contains("SIGKILL"), "{waits:?}");
    assert_eq!(scene.settle("oom", &["resume", "oom"]), 1);
    assert_eq!(scene.audit("oom").state, PlanState::Completed);
    assert_eq!(scene.tasks(), ["pay"]);
}
