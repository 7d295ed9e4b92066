//! Finds, for each situation in which a rule was once broken, the first seed that meets it and breaks none.
//!
//! A change of the generator or of the core moves situations to other seeds; run
//! `cargo run --release -p gantry-sim --example find_seeds` and put what it prints into `tests/seeds.rs`.

#[path = "../tests/situations/mod.rs"]
mod situations;

use gantry_sim::run::run_seed;
use gantry_sim::world::Trace;
use situations::{ALL, meets};

/// How many seeds are looked at.
const SEEDS: u64 = 30_000;

fn main() {
    // A panic is a violation of its seed; its message would only be in the way.
    std::panic::set_hook(Box::new(|_| {}));
    let mut missing = ALL.to_vec();
    for seed in 1..SEEDS {
        if missing.is_empty() {
            return;
        }
        let report = run_seed(seed, Trace::Off);
        if report.violation.is_some() {
            continue;
        }
        missing.retain(|(name, situation)| {
            let met = meets(&report.record.journal, *situation);
            if met {
                println!("{seed}, {name}");
            }
            !met
        });
    }
    for (name, _) in missing {
        println!("not met in {SEEDS} seeds: {name}");
    }
}
