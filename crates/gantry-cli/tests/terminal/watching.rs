//! `gantry watch` on a terminal.

use crate::kit::Scene;

#[test]
fn plans_are_watched_on_the_whole_screen_until_q_is_typed() {
    let scene = Scene::new();
    scene.go();
    let (screen, _, code) = scene.start("xterm-256color", &["run", "plan.yaml"]).ends();
    assert_eq!(code, 0, "{screen}");
    let mut watch = scene.start("xterm-256color", &["watch"]);
    let list = watch.until("q quits");
    assert!(list.contains("Hold on") && list.contains("completed"), "{list}");
    watch.types("\r");
    let one = watch.until("second");
    assert!(one.contains("first"), "{one}");
    watch.types("q");
    let (screen, raw, code) = watch.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(raw.rfind("\u{1b}[?1049l") > raw.rfind("\u{1b}[?1049h"), "the screen is given back: {raw:?}");
    assert!(!screen.contains("q quits"), "what was there before is there again:\n{screen}");
}

#[test]
fn a_plan_is_watched_while_it_goes_on() {
    let scene = Scene::new();
    let run = scene.start("xterm-256color", &["run", "plan.yaml"]);
    run.until("ready");
    let mut watch = scene.start("xterm-256color", &["watch", "hold"]);
    watch.until("running");
    watch.until("done about ");
    scene.go();
    watch.until("2/2");
    watch.types("q");
    assert_eq!(watch.ends().2, 0);
    assert_eq!(run.ends().2, 0);
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_cannot_be_watched_on() {
    let (screen, _, code) = Scene::new().start("dumb", &["watch"]).ends();
    assert_eq!(code, 2, "{screen}");
    assert!(screen.contains("gantry status"), "{screen}");
}

#[test]
fn the_status_of_a_thousand_tasks_and_of_thirty_fits_the_screen() {
    for number in [30, 1_000] {
        let scene = Scene::new();
        // Each fails in its own way, so that there is much to say.
        let task = |n: usize| format!("  - {{id: task-{n}, optional: true, run: 'echo no reason {n} >&2; exit 1'}}\n");
        let few = number.min(30);
        let rest = (few..number).map(|n| format!("  - {{id: task-{n}, manual: look}}\n"));
        let tasks: String = (0..few).map(task).chain(rest).collect();
        scene.write("plan.yaml", &format!("id: many\ntitle: Many\ntasks:\n{tasks}"));
        scene.start("dumb", &["run", "plan.yaml"]).ends();
        let (screen, raw, code) = scene.start("xterm-256color", &["status", "many"]).ends();
        assert_eq!(code, 0, "{screen}");
        let lines = raw.lines().count();
        assert!(lines < 30, "{number} tasks take {lines} lines:\n{raw}");
        assert!(screen.contains("Many") && screen.contains("see all with `gantry status many --json`"), "{screen}");
    }
}
