//! Runs seeds of the simulator and tells what broke.

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use gantry_sim::run::{Summary, run_range, run_seed};
use gantry_sim::violation::Violation;
use gantry_sim::world::Trace;

/// The allocator of the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Drives random plans through an adversarial world and checks what their journals say.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    start: u64,
    /// How many seeds.
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    /// How many threads.
    #[arg(long, default_value_t = 2)]
    jobs: u64,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
    /// Say what is said when this seed breaks a rule.
    #[arg(long, hide = true)]
    broken: Option<u64>,
    /// Print the plan and every input, event and effect; runs the seeds one after the other.
    #[arg(long)]
    trace: bool,
}

/// The most broken seeds that are shown in full.
const SHOWN_MAX: usize = 20;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let began = Instant::now();
    // A panic is reported as a violation of its seed; the default message would only be in the way.
    if !arguments.trace {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let mut summary = if arguments.trace {
        let mut summary = Summary::default();
        for seed in arguments.start..arguments.start.saturating_add(arguments.seeds) {
            summary.add(run_seed(seed, Trace::On));
        }
        summary
    } else {
        run_range(arguments.start, arguments.seeds, arguments.jobs)
    };
    let seconds = began.elapsed().as_secs_f64();
    let pretended = |seed| (seed, Violation::new("as if", "nothing is broken"));
    summary.violations.extend(arguments.broken.map(pretended));
    for (seed, violation) in summary.violations.iter().take(SHOWN_MAX) {
        eprintln!("seed {seed}: {violation}");
        eprintln!("  replay: cargo run --release -p gantry-sim -- --start {seed} --seeds 1 --trace");
    }
    if arguments.json {
        println!("{}", as_json(&summary, seconds));
    } else {
        println!("{}", as_line(&summary, seconds));
    }
    if summary.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn as_line(summary: &Summary, seconds: f64) -> String {
    let faults: Vec<String> = summary.faults.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
    let rate = summary.seeds as f64 / seconds;
    format!(
        "{} seeds, {} plans, {} transitions, {} turns, {} deeds, {} refusals, faults ({}), {} crashes, \
         {} discarded plans, {} violations, {seconds:.1} s, {rate:.0} seeds/s",
        summary.seeds,
        summary.seeds,
        summary.transitions,
        summary.turns,
        summary.deeds,
        summary.refusals,
        faults.join(", "),
        summary.crashes,
        summary.discarded,
        summary.violations.len(),
    )
}

fn as_json(summary: &Summary, seconds: f64) -> serde_json::Value {
    let broken: Vec<_> = summary
        .violations
        .iter()
        .map(|(seed, violation)| serde_json::json!({"seed": seed, "rule": violation.rule, "detail": violation.detail}))
        .collect();
    serde_json::json!({
        "seeds": summary.seeds,
        "plans": summary.seeds,
        "transitions": summary.transitions,
        "turns": summary.turns,
        "deeds": summary.deeds,
        "refusals": summary.refusals,
        "faults": summary.faults,
        "crashes": summary.crashes,
        "discarded": summary.discarded,
        "violations": broken,
        "seconds": seconds,
    })
}
