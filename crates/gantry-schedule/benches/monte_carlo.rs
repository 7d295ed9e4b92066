//! How long schedules and futures take: `cargo bench -p gantry-schedule --bench monte_carlo`.
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on stops")]

use divan::Bencher;
use gantry_schedule::project::{Calendar, Link, Need, Project, Resource, Task};
use gantry_schedule::{Levelling, Options, schedule};

fn main() {
    divan::main();
}

/// A plan of so many tasks in an office: each waits for up to three of the forty before it, and is estimated with doubt.
fn plan(tasks: usize) -> Project {
    let mut project = Project::starting("2026-03-02".parse().unwrap(), Calendar::office("office", "Europe/Vienna"));
    let mut dice: u64 = 7;
    let mut roll = |sides: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(dice >> 33).unwrap() % sides
    };
    for at in 0..tasks {
        let mut task = Task::milestone(format!("t{at:06}"));
        let days = 1 + roll(9);
        task.estimate = Some(format!("{days}d/{}d/{}d", days + 1, days + 2 + roll(9)).parse().unwrap());
        for _ in 0..roll(4).min(at) {
            task.after.push(Link::after(format!("t{:06}", at - 1 - roll(at.min(40)))));
        }
        project.tasks.push(task);
    }
    project
}

fn staffed(tasks: usize) -> Project {
    let mut project = plan(tasks);
    project.resources = (0..20).map(|at| Resource::pool(format!("team{at:02}"), 3)).collect();
    for (at, task) in project.tasks.iter_mut().enumerate() {
        task.needs.push(Need::named(format!("team{:02}", at * 7 % 20)));
    }
    project
}

/// The same, where one person of each team is away for some weeks, and half of the work is for whoever has the role.
fn absent(tasks: usize) -> Project {
    let mut project = staffed(tasks);
    for (at, resource) in project.resources.iter_mut().enumerate() {
        resource.absences.push(format!("2026-{:02}-01..2026-{:02}-14", 4 + at % 6, 4 + at % 6).parse().unwrap());
        resource.roles.push(format!("role{}", at % 4));
    }
    for (at, task) in project.tasks.iter_mut().enumerate().filter(|(at, _)| at % 2 == 0) {
        task.needs = vec![Need::role(format!("role{}", at / 2 % 4))];
    }
    project
}

/// 10,000 futures of a plan with 500 tasks: by links alone, with teams, and with people who are away or to be found.
#[divan::bench(args = ["links", "teams", "absences"], sample_count = 10)]
fn ten_thousand_futures_of_500_tasks(bencher: Bencher<'_, '_>, kind: &str) {
    let project = match kind {
        "links" => plan(500),
        "teams" => staffed(500),
        _ => absent(500),
    };
    bencher.bench(|| schedule(&project, &Options { draws: 10_000, ..Options::default() }).unwrap());
}

/// The passes, floats, paths and drag alone: near-linear in the number of tasks.
#[divan::bench(args = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000], sample_count = 5)]
fn network_of(bencher: Bencher<'_, '_>, tasks: usize) {
    let project = plan(tasks);
    bencher.bench(|| schedule(&project, &Options { levelling: Levelling::Off, ..Options::default() }).unwrap());
}

/// With 20 teams of three to share: four rules are tried.
#[divan::bench(args = [1_000, 2_000, 5_000, 10_000, 20_000], sample_count = 5)]
fn levelled(bencher: Bencher<'_, '_>, tasks: usize) {
    let project = staffed(tasks);
    bencher.bench(|| schedule(&project, &Options::default()).unwrap());
}
