//! Published runs of `PlanExe`: with its own durations and dependencies the schedules hold, and are shorter.
//!
//! It names phases, tasks with durations, some dependencies, and for parts of tasks the roles that are needed; it never
//! says how many people there are. So there are as many here as its own schedule would need if phases came one after
//! the other and the tasks of each ran at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gantry_schedule::project::{Length, Link, Need, Project, Resource, Task, Unit};
use gantry_schedule::{Constraint, Options, Schedule};
use serde_json::Value;

use crate::kit::planned_with;
use crate::world::{assert_holds, entries, folder};

/// Horizons that prompts state, in days.
const HORIZONS: [(&str, i64); 4] = [
    ("20251101_e_bus_security", 365),
    ("20260201_yellowstone_evacuation", 3),
    ("20260202_heatwave_resilience", 365),
    ("20260310_hong_kong_game", 20 * 30),
];

struct Run {
    name: String,
    project: Project,
    /// Days, if phases follow each other and the tasks of each run at once.
    phase_by_phase: i64,
    /// Days, if everything follows everything.
    serial: i64,
}

fn json(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The roles that the parts of a task need.
fn roles(task: &Value) -> BTreeSet<String> {
    let parts = list(&task["task_children"]);
    parts.iter().flat_map(|part| list(&part["extra_fields"]["resources_needed"])).map(text).collect()
}

fn read(folder: &Path) -> Run {
    let mut days = BTreeMap::new();
    for entry in list(&json(folder, "022-2-task_durations.json")) {
        // One run has a task of minus one day, which stands for nobody knows.
        days.insert(text(&entry["task_id"]), entry["days_realistic"].as_i64().unwrap().max(0));
    }
    let mut after: BTreeMap<String, Vec<Link>> = BTreeMap::new();
    for entry in list(&json(folder, "021-task_dependencies_raw.json")["task_dependency_details"]) {
        let links = list(&entry["depends_on_task_id_list"]).iter().map(|before| Link::after(text(before)));
        after.entry(text(&entry["dependent_task_id"])).or_default().extend(links);
    }
    let tree = json(folder, "023-3-wbs_project_level1_and_level2_and_level3.json");
    let mut project = Project::counting(Unit::Day);
    let mut most: BTreeMap<String, u32> = BTreeMap::new();
    let (mut phase_by_phase, mut serial) = (0, 0);
    for phase in list(&tree["wbs_project"]["task_children"]) {
        project.tasks.push(Task { title: text(&phase["description"]), ..Task::milestone(text(&phase["id"])) });
        let mut busy: BTreeMap<String, u32> = BTreeMap::new();
        let mut longest = 0;
        for task in list(&phase["task_children"]) {
            let id = text(&task["id"]);
            let length = days[&id];
            (longest, serial) = (longest.max(length), serial + length);
            let roles = roles(task);
            for role in &roles {
                *busy.entry(role.clone()).or_default() += 1;
            }
            project.tasks.push(Task {
                title: text(&task["description"]),
                after: after.remove(&id).unwrap_or_default(),
                needs: roles.into_iter().map(Need::named).collect(),
                ..Task::new(id, Length::days(length)).within(text(&phase["id"]))
            });
        }
        phase_by_phase += longest;
        for (role, count) in busy {
            let known = most.entry(role).or_default();
            *known = count.max(*known);
        }
    }
    assert!(after.is_empty(), "every dependency is between tasks of the plan");
    project.resources = most.into_iter().map(|(role, count)| Resource::pool(role, count)).collect();
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    Run { name, project, phase_by_phase, serial }
}

fn runs() -> Vec<Run> {
    let Some(folder) = folder("planexe-runs") else { return Vec::new() };
    entries(&folder).iter().filter(|path| path.is_dir()).map(|path| read(path)).collect()
}

fn scheduled(project: &Project) -> Schedule {
    planned_with(project, &Options { schedules: 200, ..Options::default() })
}

fn days(schedule: &Schedule) -> i64 {
    schedule.makespan.in_thousandths() / 1_000
}

#[test]
fn no_dependency_is_violated_and_nobody_is_needed_twice_at_once() {
    for run in runs() {
        let schedule = scheduled(&run.project);
        assert_holds(&run.project, &schedule);
        assert!(days(&schedule) < run.serial, "{}: not everything waits for everything", run.name);
    }
}

#[test]
fn no_plan_takes_longer_than_its_phases_one_after_the_other() {
    for run in runs() {
        let schedule = scheduled(&run.project);
        let found = days(&schedule);
        eprintln!("{}: {found} days, {} phase by phase, {} one by one", run.name, run.phase_by_phase, run.serial);
        assert!(found <= run.phase_by_phase, "{}: {found} days, not {}", run.name, run.phase_by_phase);
    }
}

#[test]
fn a_stated_horizon_is_met_or_missed_by_a_gap_that_is_told() {
    let mut missed = Vec::new();
    for mut run in runs() {
        let Some((_, horizon)) = HORIZONS.iter().find(|(name, _)| *name == run.name) else { continue };
        run.project.deadline = Some(format!("{horizon} hard").parse().unwrap());
        let schedule = scheduled(&run.project);
        let gap = days(&schedule) - horizon;
        match schedule.infeasible.first() {
            None => assert!(gap <= 0, "{}", run.name),
            Some(told) => {
                let Constraint::Deadline { task: None, by, .. } = &told.constraint else { panic!("{}", told.what) };
                assert_eq!(by.in_thousandths(), gap * 1_000, "{}: {}", run.name, told.what);
                assert!(!told.fixes.is_empty(), "{}: what would help is told", run.name);
                missed.push(run.name);
            }
        }
    }
    if folder("planexe-runs").is_some() {
        assert_eq!(missed, ["20260201_yellowstone_evacuation"], "seventy-two hours are too few for what it plans");
    }
}
