//! `gantry run` on a terminal.

use crate::kit::{CTRL_C, Scene};

#[test]
fn a_run_is_drawn_while_it_goes_on_and_leaves_its_lines() {
    let scene = Scene::new();
    let terminal = scene.start("xterm-256color", &["run", "plan.yaml"]);
    // A bar, what runs, what it says, and how long it will take.
    terminal.until_all(&["[--------", "] 0/2, 0%", "first", "ready", "about ", " left"]);
    scene.go();
    let (screen, raw, code) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(raw.contains("\u{1b}["), "it is drawn over");
    assert!(screen.contains("Hold on (hold): completed") && screen.contains("2 of 2 done"), "{screen}");
    assert!(screen.contains("second: done in") && !screen.contains("] 0/2"), "the view is gone:\n{screen}");
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_is_written_to_in_plain_lines() {
    let scene = Scene::new();
    let terminal = scene.start("dumb", &["run", "plan.yaml"]);
    terminal.until("ready");
    scene.go();
    let (screen, raw, code) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(!raw.contains('\u{1b}') && !raw.contains("] 0/2"), "{raw:?}");
    assert!(screen.contains("Hold on (hold): completed"), "{screen}");
}

#[test]
fn ctrl_c_lets_what_runs_finish_and_says_how_to_go_on() {
    let scene = Scene::new();
    let mut terminal = scene.start("xterm-256color", &["run", "plan.yaml"]);
    terminal.until("ready");
    terminal.types(CTRL_C);
    terminal.until("pausing, waiting for first to finish; Ctrl-C again stops at once");
    scene.go();
    let (screen, _, code) = terminal.ends();
    assert_eq!(code, 4, "{screen}");
    assert!(screen.contains("Hold on (hold): paused") && screen.contains("gantry resume hold"), "{screen}");
    assert!(screen.contains("1 of 2 done") && !screen.contains("^C"), "{screen}");
}

#[test]
fn a_second_ctrl_c_stops_at_once() {
    let scene = Scene::new();
    let mut terminal = scene.start("xterm-256color", &["run", "plan.yaml"]);
    terminal.until("ready");
    terminal.types(CTRL_C);
    terminal.until("pausing");
    terminal.types(CTRL_C);
    let (screen, _, code) = terminal.ends();
    assert_eq!(code, 4, "{screen}");
    assert!(screen.contains("stopping at once"), "{screen}");
    assert!(screen.contains("Hold on (hold): stopped; what ran counts as lost"), "{screen}");
    assert!(screen.contains("gantry resume hold"), "{screen}");
}

#[test]
fn what_waits_for_whom_how_long_and_what_it_cost_is_drawn() {
    let scene = Scene::new();
    let hold = "until [ -e go ]; do sleep 0.05; done";
    let plan = format!(
        "id: hold\ntitle: Hold on\npolicy: {{budget: {{cost_usd: 5}}}}\ntasks:\n  - {{id: first, run: 'echo ready; {hold}'}}\n  - {{id: sign-off, gate: {{approvers: [zoe]}}}}\n"
    );
    scene.write("plan.yaml", &plan);
    let terminal = scene.start("xterm-256color", &["run", "plan.yaml"]);
    // What runs, what waits and for whom, how long it has taken, and what it has cost of what it may.
    let screen = terminal.until_all(&[
        "first",
        "sign-off waits for 0 of 1 approvals by zoe",
        "s  $0.00 of $5.00",
        "] 0/2, 0%  ",
    ]);
    scene.go();
    let (_, _, code) = terminal.ends();
    assert_eq!(code, 4, "{screen}");
}
