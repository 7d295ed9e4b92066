//! The rules of ARCHITECTURE.md about who may know whom, read off what cargo really builds; and that the list of faults
//! (`docs/faults.md`) names tests that exist.

#![allow(clippy::unwrap_used)] // a test may

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// What each crate may use of the others. A crate that is not listed must be added here first.
const MAY_USE: &[(&str, &[&str])] = &[
    ("gantry-core", &["gantry-schedule"]),
    ("gantry-format", &["gantry-core", "gantry-schedule"]),
    ("gantry-schedule", &[]),
    ("gantry-report", &["gantry-core", "gantry-schedule"]),
    ("gantry-store", &["gantry-core"]),
    ("gantry-store-sqlite", &["gantry-core", "gantry-store"]),
    ("gantry-llm", &["gantry-core"]),
    ("gantry-runners", &["gantry-core", "gantry-llm"]),
    (
        "gantry-planner",
        &["gantry-core", "gantry-schedule", "gantry-format", "gantry-report", "gantry-llm", "gantry-runners"],
    ),
    ("gantry-engine", &["gantry-core", "gantry-format", "gantry-store", "gantry-llm", "gantry-runners"]),
    (
        "gantry-view",
        &[
            "gantry-core",
            "gantry-format",
            "gantry-schedule",
            "gantry-report",
            "gantry-store",
            "gantry-runners",
            "gantry-engine",
        ],
    ),
    ("gantry-many", &["gantry-core", "gantry-store", "gantry-planner", "gantry-engine", "gantry-view"]),
    (
        "gantry-server",
        &[
            "gantry-core",
            "gantry-format",
            "gantry-store",
            "gantry-llm",
            "gantry-runners",
            "gantry-planner",
            "gantry-engine",
            "gantry-schedule",
            "gantry-report",
            "gantry-view",
            "gantry-many",
        ],
    ),
    (
        "gantry-cli",
        &[
            "gantry-core",
            "gantry-format",
            "gantry-store",
            "gantry-store-sqlite",
            "gantry-llm",
            "gantry-runners",
            "gantry-planner",
            "gantry-engine",
            "gantry-schedule",
            "gantry-report",
            "gantry-view",
            "gantry-many",
            "gantry-server",
        ],
    ),
    ("gantry-testkit", &["gantry-core"]),
    ("gantry-sim", &["gantry-core"]),
];

/// Crates without a runtime, a database, a network or a clock of their own, however deep below.
const PURE: [&str; 4] = ["gantry-core", "gantry-format", "gantry-schedule", "gantry-report"];

/// Signs that something is not pure.
const IMPURE: [&str; 26] = [
    "rustls",
    "h2",
    "isahc",
    "curl",
    "minreq",
    "postgres",
    "deadpool",
    "sled",
    "redb",
    "web-time",
    "tokio",
    "async-std",
    "smol",
    "mio",
    "hyper",
    "reqwest",
    "ureq",
    "axum",
    "rusqlite",
    "libsqlite3-sys",
    "sqlx",
    "tokio-postgres",
    "chrono",
    "time",
    "rand",
    "getrandom",
];

/// Chance that always comes from a seed: this crate without its sources of real chance.
const SEEDED: [(&str, &str); 4] =
    [("gantry-schedule", "rand"), ("gantry-core", "rand"), ("gantry-format", "rand"), ("gantry-report", "rand")];

/// For tests only.
const TEST_ONLY: [&str; 2] = ["gantry-testkit", "gantry-sim"];

fn cargo(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(args)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The names of everything that a crate builds on, without its tests.
fn built_on(name: &str, depth: &str) -> BTreeSet<String> {
    let tree =
        cargo(&["tree", "--locked", "--package", name, "--edges", "normal", "--prefix", "none", "--depth", depth]);
    tree.lines().filter_map(|line| line.split(' ').next()).filter(|other| *other != name).map(str::to_owned).collect()
}

#[test]
fn dependencies_point_down_only() {
    let may: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let metadata: serde_json::Value =
        serde_json::from_str(&cargo(&["metadata", "--locked", "--no-deps", "--format-version", "1"])).unwrap();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let allowed = may.get(name).unwrap_or_else(|| panic!("{name} has no rule: say in MAY_USE what it may know"));
        let ours = built_on(name, "1").into_iter().filter(|other| other.starts_with("gantry-"));
        let forbidden: Vec<String> = ours.filter(|other| !allowed.contains(&other.as_str())).collect();
        assert!(forbidden.is_empty(), "{name} may not use {forbidden:?}");
    }
}

#[test]
fn the_pure_crates_have_no_runtime_database_clock_or_network() {
    for name in PURE {
        let is_impure = |other: &String| IMPURE.contains(&other.as_str()) && !SEEDED.contains(&(name, other.as_str()));
        let found: Vec<String> = built_on(name, "99").into_iter().filter(is_impure).collect();
        assert!(found.is_empty(), "{name} is pure, but builds on {found:?}");
    }
}

#[test]
fn the_test_crates_are_not_in_the_product() {
    let product = built_on("gantry-cli", "99");
    for name in TEST_ONLY {
        assert!(!product.contains(name), "{name} is for tests only");
    }
}

#[test]
fn every_fault_of_the_list_has_tests_and_these_exist() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let list = std::fs::read_to_string(crates.join("../docs/faults.md")).unwrap();
    let rows: Vec<Vec<&str>> = list
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let named: BTreeSet<&str> = rows.iter().flat_map(|row| row[0].split(", ")).collect();
    let all: Vec<String> = (1..=40).map(|number| format!("F{number}")).collect();
    assert!(all.iter().all(|fault| named.contains(fault.as_str())), "{named:?}");
    for row in rows {
        let mut source = String::new();
        for name in row[2].split('`').skip(1).step_by(2) {
            if name.contains('/') {
                source = std::fs::read_to_string(crates.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
            } else {
                assert!(source.contains(&format!("fn {name}(")), "there is no test `{name}`: {row:?}");
            }
        }
        assert!(!source.is_empty(), "{row:?}");
    }
}
