//! How the time of one schedule grows with the number of tasks.
//!
//! `cargo bench -p gantry-schedule --bench growth` schedules projects and prints the processor's time for one schedule and
//! for one task in it; the time per task should stay flat. First whole schedules (dates, floats, paths, loads and money) of
//! random projects of 1,000 to 20,000 tasks: by links alone, by ladders of work that starts and ends behind other work,
//! with people, with different priorities, with people who are away, and with people found by role. Then those of a real
//! workflow, several times side by side, if the runs that `WfCommons` published lie in `../shared/data/wfinstances` beside
//! the workspace. Then single passes of the search, of 1,000 to 100,000 tasks, with short and with long durations.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use gantry_schedule::project::{Amount, Calendar, Link, LinkKind, Need, Resource, Who};
use gantry_schedule::rcpsp::{Capacity, Effort, Instance, Task, check, solve};
use gantry_schedule::read::wfcommons;
use gantry_schedule::{Levelling, Options, Project, schedule};

mod clock;

/// How many schedules are made of each project; the first prepares.
const SCHEDULES: u64 = 8;

fn main() {
    println!("{:>8}{:>12}{:>14}{:>12}", "tasks", "schedule", "ms", "ns/task");
    whole();
    workflows();
    passes();
}

/// Whole schedules.
fn whole() {
    for name in ["links", "ladders", "levelled", "priorities", "absences", "roles"] {
        let levelling = if matches!(name, "links" | "ladders") { Levelling::Off } else { Levelling::Slip };
        for tasks in [1_000, 2_500, 5_000, 10_000, 20_000] {
            let mut project = Project::from(&project(tasks, 10));
            if levelling == Levelling::Off {
                project.tasks.iter_mut().for_each(|task| task.needs.clear());
            }
            if name == "priorities" {
                (0..).zip(&mut project.tasks).for_each(|(at, task)| task.priority = at % 5);
            }
            match name {
                "ladders" => in_ladders(&mut project),
                "absences" => away(&mut project),
                "roles" => in_roles(&mut project),
                _ => {}
            }
            let options = Options { levelling, ..Options::default() };
            timed(name, &project, &options);
        }
    }
}

/// The largest workflow, once and several times side by side, with as many machines for each.
fn workflows() {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut files = beside.map(|above| above.join("shared/data/wfinstances/montage-chameleon-dss-15d-001.json"));
    let Some(text) = files.find_map(|file| std::fs::read_to_string(file).ok()) else {
        println!("skipped: there is no `shared/data/wfinstances` beside the workspace");
        return;
    };
    let one = wfcommons::read(&text).expect("a published run can be read").project;
    for copies in [1, 2, 5, 10] {
        let mut all = Project { tasks: Vec::new(), ..one.clone() };
        for resource in &mut all.resources {
            resource.capacity.0 *= copies;
        }
        for copy in 0..copies {
            all.tasks.extend(one.tasks.iter().cloned().map(|mut task| {
                task.id = format!("{copy}-{}", task.id);
                task.after.iter_mut().for_each(|link| link.task = format!("{copy}-{}", link.task));
                task
            }));
        }
        timed("workflow", &all, &Options::default());
    }
}

fn timed(name: &str, project: &Project, options: &Options) {
    let began = clock::processor_time();
    let schedule = schedule(project, options).expect("the project has a schedule");
    let time = clock::processor_time().saturating_sub(began).as_secs_f64();
    let tasks = schedule.tasks.len();
    assert!(schedule.overloads.is_empty(), "the schedule holds");
    println!("{tasks:>8}{name:>12}{:>14.2}{:>12.0}", 1e3 * time, 1e9 * time / tasks as f64);
}

/// Ten long rows in which each task starts a day after the one before it has started, and ends a day after it has ended.
fn in_ladders(project: &mut Project) {
    let ids: Vec<String> = project.tasks.iter().map(|task| task.id.clone()).collect();
    let row = ids.len() / 10;
    for (at, task) in project.tasks.iter_mut().enumerate() {
        let before = at.checked_sub(1).filter(|_| !at.is_multiple_of(row)).map(|at| ids[at].clone());
        let link = |kind| {
            before.iter().map(move |before| Link { task: before.clone(), kind, lag: "1d".parse().expect("a day") })
        };
        task.after = [LinkKind::StartToStart, LinkKind::FinishToFinish].into_iter().flat_map(link).collect();
    }
}

/// Office hours, and each resource away for a week of its own in every month.
fn away(project: &mut Project) {
    project.start = Some("2026-03-02".parse().expect("a date"));
    project.calendar = Some("office".to_owned());
    project.calendars = vec![Calendar::office("office", "Europe/Berlin")];
    for (at, resource) in project.resources.iter_mut().enumerate() {
        let week = |month: usize| {
            let (year, month, day) = (2026 + month / 12, month % 12 + 1, 1 + 7 * at);
            format!("{year}-{month:02}-{day:02}..{year}-{month:02}-{:02}", day + 4)
        };
        resource.absences = (2..72).map(|month| week(month).parse().expect("a stretch of days")).collect();
    }
}

/// Three people for each resource, found by role, and every tenth of them by a skill as well.
fn in_roles(project: &mut Project) {
    let pools = std::mem::take(&mut project.resources);
    for pool in &pools {
        project.resources.extend((0..3).map(|one| Resource {
            roles: vec![pool.id.clone()],
            skills: (one == 0).then(|| "senior".to_owned()).into_iter().collect(),
            ..Resource::new(format!("{}-{one}", pool.id))
        }));
    }
    for (at, task) in project.tasks.iter_mut().enumerate() {
        let need = |pool: &Resource| Need {
            who: Who::Fitting {
                role: Some(pool.id.clone()),
                skills: at.is_multiple_of(10).then(|| "senior".to_owned()).into_iter().collect(),
                count: 1,
            },
            amount: Amount::default(),
        };
        task.needs = vec![need(&pools[at % pools.len()])];
    }
}

/// Single passes of the search.
fn passes() {
    println!("{:>8}{:>12}{:>14}{:>12}", "tasks", "durations", "ms/schedule", "us/task");
    for longest in [10, 10_000] {
        for tasks in [1_000, 3_000, 10_000, 30_000, 100_000] {
            let instance = project(tasks, longest);
            let time = |schedules| {
                let began = clock::processor_time();
                let effort = Effort { schedules: Some(schedules), patience: None, seed: 1 };
                let best = solve(&instance, &effort, &|| false).expect("the project has a schedule");
                assert!(check(&instance, &best.starts).is_empty(), "the schedule holds");
                (clock::processor_time().saturating_sub(began).as_secs_f64(), best.schedules)
            };
            let ((one, first), (all, made)) = (time(1), time(SCHEDULES));
            let each = (all - one) / (made - first).max(1) as f64;
            println!(
                "{tasks:>8}{:>12}{:>14.2}{:>12.2}",
                format!("1..{longest}"),
                1e3 * each,
                1e6 * each / tasks as f64
            );
        }
    }
}

/// A project with four tight resources and links to a few of the tasks just before.
fn project(tasks: usize, longest: u64) -> Instance {
    let mut state = 7_u64;
    let mut below = move |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((state >> 33) % limit).expect("limits are small")
    };
    let mut instance = Instance { capacities: vec![Capacity::constant(30); 4], ..Instance::default() };
    for number in 0..tasks {
        let task = Task::new(1 + below(longest));
        instance.add_task((0..4).fold(task, |task, resource| task.with(resource, below(10))));
        for back in [1 + below(200), 1 + below(200)] {
            if let Some(before) = number.checked_sub(back as usize) {
                instance.finish_to_start(before, number);
            }
        }
    }
    instance
}
