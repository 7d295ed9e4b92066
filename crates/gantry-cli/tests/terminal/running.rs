//! `gantry run` on a terminal.

use crate::kit::{CTRL_C, Scene};

#[test]
fn a_run_is_drawn_while_it_goes_on_and_leaves_its_lines() {
    let scene = Scene::new();
    let terminal = scene.start("xterm-256color", &["run", "plan.yaml"]);
    // A bar, what runs, what it says, and how long it will take.
    terminal.until_all(&["[--------", "] 0/2", "first", "ready", "about ", " left"]);
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
