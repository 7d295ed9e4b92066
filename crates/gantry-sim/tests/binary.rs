//! What the program says, and how it ends.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::{Command, Output};

fn sim(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gantry-sim")).args(arguments).output().unwrap()
}

#[test]
fn a_range_prints_seeds_plans_transitions_and_violations() {
    let run = sim(&["--start", "5", "--seeds", "3"]);
    let said = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success());
    assert!(said.starts_with("3 seeds, 3 plans, ") && said.contains(" transitions, "), "{said}");
    assert!(said.contains(" 0 violations, "), "{said}");
}

#[test]
fn a_broken_seed_is_told_with_the_command_that_replays_it() {
    let run = sim(&["--start", "5", "--seeds", "3", "--broken", "6", "--json"]);
    assert_eq!(run.status.code(), Some(1));
    let told = String::from_utf8(run.stderr).unwrap();
    let replay = "  replay: cargo run --release -p gantry-sim -- --start 6 --seeds 1 --trace";
    assert_eq!(told.lines().collect::<Vec<_>>(), ["seed 6: broken rule: as if: nothing is broken", replay]);
    let summary: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(summary["seeds"], 3);
    assert_eq!(summary["violations"][0]["seed"], 6);
}
