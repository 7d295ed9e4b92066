//! How good and how fast the search is on the project scheduling problem library.
//!
//! `cargo bench -p gantry-schedule --bench psplib` prints, for each set and for 1,000, 5,000 and 50,000 generated
//! schedules, the average deviation from the critical-path bound (for j30 also from the optimum), the share solved to
//! the best known makespan, and the processor's time. A generated schedule is one pass of a generation scheme; each justification
//! pass is one more. The validator checks every schedule the search returns.
//!
//! Instances are looked for in the folder named by `GANTRY_PSPLIB`, otherwise in `../shared/data/psplib` beside the
//! workspace. To run a part: `-- --sets j60,j120 --schedules 1000,5000 --sample 100 --seed 7 --threads 2`.
//!
//! It ends with 1 when a schedule does not hold, or when a whole set misses its bar.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gantry_schedule::rcpsp::{Effort, Instance, check, solve};
use gantry_schedule::read::psplib;

mod clock;

/// What is asked for on the command line.
struct Request {
    sets: Vec<String>,
    schedules: Vec<u64>,
    sample: usize,
    seed: u64,
    threads: usize,
}

/// How good a set must be for so many schedules: at most so many percent above the critical path on average, and at most
/// so many instances that are not solved to the best known makespan.
const BARS: [(&str, u64, f64, usize); 5] = [
    ("j30", 50_000, f64::INFINITY, 10),
    ("j60", 5_000, 11.2, usize::MAX),
    ("j120", 1_000, 34.5, usize::MAX),
    ("j120", 5_000, 33.0, usize::MAX),
    ("j120", 50_000, 31.5, usize::MAX),
];

/// One instance with what the world knows of it.
struct Known {
    instance: Instance,
    critical_path: u32,
    best: u32,
}

/// What the search found for one instance.
struct Found {
    makespan: u32,
    schedules: u64,
    time: Duration,
    violations: usize,
}

fn main() -> ExitCode {
    let request = Request::from_arguments();
    let Some(folder) = folder() else {
        println!(
            "psplib: skipped, there are no instances. Set GANTRY_PSPLIB to a folder with j30, j60, j120 and best_known.csv."
        );
        return ExitCode::SUCCESS;
    };
    let table = known(&folder.join("best_known.csv"));
    println!("set    instances  schedules  above path %  above best %    best known  infeasible   time s  us/schedule");
    let mut holds = true;
    for set in &request.sets {
        let instances = instances(&folder, &table, set, request.sample);
        for &schedules in &request.schedules {
            let effort = Effort { schedules: Some(schedules), patience: None, seed: request.seed };
            let found = solve_all(&instances, &effort, request.threads);
            let row = print_row(set, schedules, &instances, &found);
            // A sample is not the set that the bars are for.
            holds &= row.infeasible == 0 && (request.sample < usize::MAX || is_good(set, schedules, &row));
        }
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Request {
    fn from_arguments() -> Self {
        let arguments: Vec<String> = std::env::args().collect();
        let after = |name: &str| {
            arguments.iter().position(|argument| argument == name).and_then(|place| arguments.get(place + 1)).cloned()
        };
        let number = |name: &str, otherwise: usize| {
            after(name).map_or(otherwise, |given| given.parse().unwrap_or_else(|_| panic!("{name} takes a number")))
        };
        let schedules = after("--schedules").unwrap_or_else(|| "1000,5000,50000".into());
        Self {
            sets: after("--sets").unwrap_or_else(|| "j30,j60,j120".into()).split(',').map(str::to_owned).collect(),
            schedules: schedules.split(',').map(|it| it.parse().expect("--schedules takes numbers")).collect(),
            sample: number("--sample", usize::MAX),
            seed: number("--seed", 1) as u64,
            threads: number("--threads", 1),
        }
    }
}

/// The folder with the instances, if there is one.
fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("shared/data/psplib"));
    let named = std::env::var_os("GANTRY_PSPLIB").map(PathBuf::from);
    named.into_iter().chain(beside).find(|folder| folder.join("best_known.csv").is_file())
}

/// The critical path and the best known makespan of each instance.
fn known(table: &Path) -> BTreeMap<String, (u32, u32)> {
    let text = std::fs::read_to_string(table).expect("the table of best known makespans can be read");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        (
            fields[1].to_owned(),
            (fields[3].parse().expect("a critical path"), fields[5].parse().expect("an upper bound")),
        )
    };
    text.lines().skip(1).map(row).collect()
}

/// The instances of a set: all of them, or so many spread evenly.
fn instances(folder: &Path, table: &BTreeMap<String, (u32, u32)>, set: &str, sample: usize) -> Vec<Known> {
    let of_set: Vec<_> = table
        .iter()
        .filter(|(name, _)| {
            name.rsplit_once('_').is_some_and(|(group, _)| {
                group.starts_with(set) && folder.join(set).join(format!("{name}.sm")).is_file()
            })
        })
        .collect();
    let count = of_set.len().min(sample);
    let chosen = (0..count).map(|place| of_set[place * of_set.len() / count]);
    chosen
        .map(|(name, &(critical_path, best))| {
            let path = folder.join(set).join(format!("{name}.sm"));
            let text = std::fs::read_to_string(&path).expect("the instance can be read");
            let instance = psplib::read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            Known { instance, critical_path, best }
        })
        .collect()
}

/// Solves every instance, on so many threads; each is solved on one.
fn solve_all(instances: &[Known], effort: &Effort, threads: usize) -> Vec<Found> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((place, known)) = take(&next, instances) {
                    let began = clock::processor_time();
                    let best = solve(&known.instance, effort, &|| false).expect("every instance has a schedule");
                    let violations =
                        check(&known.instance, &best.starts).len() + usize::from(best.makespan < known.critical_path);
                    let one = Found {
                        makespan: best.makespan,
                        schedules: best.schedules,
                        time: clock::processor_time().saturating_sub(began),
                        violations,
                    };
                    found.lock().expect("no thread panics").insert(place, one);
                }
            });
        }
    });
    found.into_inner().expect("no thread panics").into_values().collect()
}

/// The next instance nobody works on.
fn take<'a>(next: &AtomicUsize, instances: &'a [Known]) -> Option<(usize, &'a Known)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    instances.get(place).map(|known| (place, known))
}

/// What a row says.
struct Row {
    above_path: f64,
    unsolved: usize,
    infeasible: usize,
}

/// Whether all bars for a row are kept; says so if not.
fn is_good(set: &str, schedules: u64, row: &Row) -> bool {
    let mut bars = BARS.iter().filter(|bar| (bar.0, bar.1) == (set, schedules));
    let good = bars.all(|bar| row.above_path <= bar.2 && row.unsolved <= bar.3);
    if !good {
        println!("{set} with {schedules} schedules misses its bar");
    }
    good
}

/// Prints what was found.
fn print_row(set: &str, schedules: u64, instances: &[Known], found: &[Found]) -> Row {
    let pairs = || instances.iter().zip(found);
    let above = |reference: fn(&Known) -> u32| {
        let sum: f64 = pairs().map(|(known, one)| f64::from(one.makespan) / f64::from(reference(known)) - 1.0).sum();
        100.0 * sum / found.len() as f64
    };
    let solved = pairs().filter(|(known, one)| one.makespan <= known.best).count();
    let infeasible = found.iter().filter(|one| one.violations > 0).count();
    let time: f64 = found.iter().map(|one| one.time.as_secs_f64()).sum();
    let made: u64 = found.iter().map(|one| one.schedules).sum();
    println!(
        "{set:<6}{:>10}{schedules:>11}{:>14.2}{:>14.3}{:>14}{infeasible:>12}{time:>9.1}{:>13.2}",
        found.len(),
        above(|known| known.critical_path),
        above(|known| known.best),
        format!("{solved} of {}", found.len()),
        1e6 * time / made as f64,
    );
    Row { above_path: above(|known| known.critical_path), unsolved: found.len() - solved, infeasible }
}
