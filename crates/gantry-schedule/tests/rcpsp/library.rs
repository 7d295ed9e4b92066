//! The project scheduling problem library, where it is there: a sample of each set.

use std::path::{Path, PathBuf};

use gantry_schedule::rcpsp::{Effort, check, solve};
use gantry_schedule::read::psplib;
use gantry_schedule::{Options, Project, schedule};

/// So many instances of each set, spread evenly.
const SAMPLE: usize = 16;
const SCHEDULES: u64 = 500;

fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|above| above.join("shared/data/psplib"));
    let found = beside.into_iter().find(|path| path.join("best_known.csv").is_file());
    if found.is_none() {
        eprintln!("skipped: there is no `shared/data/psplib` beside the workspace");
    }
    found
}

/// Name, critical path and best known makespan of the sample of a set.
fn sample(folder: &Path, set: &str) -> Vec<(String, u32, u32)> {
    let table = std::fs::read_to_string(folder.join("best_known.csv")).unwrap();
    let mut rows: Vec<(String, u32, u32)> = Vec::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields[1].rsplit_once('_').is_some_and(|(group, _)| group.starts_with(set)) {
            rows.push((fields[1].to_owned(), fields[3].parse().unwrap(), fields[5].parse().unwrap()));
        }
    }
    rows.sort();
    (0..SAMPLE).map(|at| rows[at * rows.len() / SAMPLE].clone()).collect()
}

/// Percent above the best known makespans, on average, of a sample of a set. Every schedule is checked by the validator,
/// and a project says the same as the search alone.
fn above_best(folder: &Path, set: &str) -> f64 {
    let mut sum = 0.0;
    for (name, critical_path, best_known) in sample(folder, set) {
        let text = std::fs::read_to_string(folder.join(set).join(format!("{name}.sm"))).unwrap();
        let instance = psplib::read(&text).unwrap();
        let effort = Effort { schedules: Some(SCHEDULES), patience: None, seed: 1 };
        let best = solve(&instance, &effort, &|| false).unwrap();
        assert!(check(&instance, &best.starts).is_empty(), "{name} has a schedule that does not hold");
        assert!(best.makespan >= critical_path.max(best.lower_bound), "{name} is shorter than can be");
        let options = Options { schedules: SCHEDULES, ..Options::default() };
        let project = schedule(&Project::from(&instance), &options).unwrap();
        let starts: Vec<u32> = project.tasks.iter().map(|row| row.start.to_string().parse().unwrap()).collect();
        assert!(check(&instance, &starts).is_empty() && project.feasible, "{name} has a project that does not hold");
        assert!(project.makespan.to_string().parse::<u32>().unwrap() <= best.makespan, "{name}: {}", project.makespan);
        sum += f64::from(best.makespan) / f64::from(best_known) - 1.0;
    }
    100.0 * sum / f64::from(u32::try_from(SAMPLE).unwrap())
}

#[test]
fn a_sample_of_the_library_holds_and_is_near_the_best_known() {
    let Some(folder) = folder() else { return };
    for (set, at_most) in [("j30", 1.0), ("j60", 1.2), ("j120", 4.0)] {
        let above = above_best(&folder, set);
        assert!(above <= at_most, "{set}: {above:.2} % above the best known");
    }
}
