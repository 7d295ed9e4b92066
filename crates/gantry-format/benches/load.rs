//! Loading and checking plan files, by size.
//!
//! `cargo bench -p gantry-format --bench load` prints, for YAML and JSON plans of 100 to 50,000 tasks with five
//! dependencies each, the time for reading and checking, microseconds per task with the ratio to the smallest (it
//! should stay flat), and how much memory the process has used at most so far.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and what it used")]

use std::fmt::Write;
use std::time::Instant;

fn main() {
    println!(
        "{:<6} {:>8} {:>9} {:>10} {:>12} {:>7} {:>12}",
        "form", "tasks", "KB", "ms", "us a task", "ratio", "peak MB"
    );
    for (form, file) in [("yaml", "plan.yaml"), ("json", "plan.json")] {
        let mut smallest = None;
        for tasks in [100, 1_000, 10_000, 50_000] {
            let yaml = draw(tasks);
            let text = match form {
                "yaml" => yaml,
                _ => gantry_format::to_json(
                    &gantry_format::load("plan.yaml", yaml.as_bytes()).plan.expect("a sound plan"),
                ),
            };
            // Small files are read several times, so that every row is measured over as many tasks.
            let rounds = (20_000 / tasks).max(1);
            let begin = Instant::now();
            for _ in 0..rounds {
                let loaded = gantry_format::load(file, text.as_bytes());
                assert_eq!(loaded.plan.expect("a sound plan").tasks.len(), tasks);
            }
            let seconds = begin.elapsed().as_secs_f64() / rounds as f64;
            let each = seconds * 1e6 / tasks as f64;
            let base = *smallest.get_or_insert(each);
            println!(
                "{form:<6} {tasks:>8} {:>9} {:>10.1} {each:>12.1} {:>7.2} {:>12}",
                text.len() / 1_000,
                seconds * 1e3,
                each / base,
                peak_mb().map_or("?".to_owned(), |mb| mb.to_string()),
            );
        }
    }
}

/// A plan in which each task waits for up to five of the two hundred before it.
fn draw(tasks: usize) -> String {
    let mut yaml = String::from("title: A large plan\ntasks:\n");
    for n in 0..tasks {
        let mut needs: Vec<usize> =
            (1..=5).map(|k| (n * 7 + k * 31) % 199 + 1).filter_map(|back| n.checked_sub(back)).collect();
        needs.sort_unstable();
        needs.dedup();
        let needs: Vec<String> = needs.iter().map(|need| format!("task-{need}")).collect();
        let _ = write!(
            yaml,
            "  - id: task-{n}\n    title: Task number {n}\n    kind: implement\n    run: make part-{n}\n    depends_on: [{}]\n    timeout: 10m\n    success_criteria: [\"exit_code == 0\"]\n",
            needs.join(", "),
        );
    }
    yaml
}

/// The most memory that this process has held, in megabytes, where the system tells.
fn peak_mb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb / 1_000)
}
