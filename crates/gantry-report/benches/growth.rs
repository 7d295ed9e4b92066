//! How the time of charts grows with the number of tasks.
//!
//! `cargo bench -p gantry-report --bench growth` takes the largest workflow that `WfCommons` published, once and several
//! times side by side (from `../shared/data/wfinstances` beside the workspace), schedules it, draws it, and prints the time
//! and the size of each chart, and the time for one task.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]
#![expect(clippy::disallowed_methods, reason = "a bench looks at the clock")]

use std::time::Instant;

use gantry_report::chart::Frame;
use gantry_report::picture::Picture;
use gantry_schedule::read::wfcommons;
use gantry_schedule::{Options, Project, schedule};

fn main() {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut files = beside.map(|above| above.join("shared/data/wfinstances/montage-chameleon-dss-15d-001.json"));
    let Some(text) = files.find_map(|file| std::fs::read_to_string(file).ok()) else {
        println!("skipped: there is no `shared/data/wfinstances` beside the workspace");
        return;
    };
    let one = wfcommons::read(&text).expect("a published run can be read").project;
    println!("{:>8}{:>10}{:>12}{:>12}{:>10}", "tasks", "what", "ms", "us/task", "KB");
    for copies in [1, 2, 5, 10] {
        let project = side_by_side(&one, copies);
        let tasks = project.tasks.len();
        let tell = |what: &str, began: Instant, bytes: usize| {
            let time = began.elapsed().as_secs_f64();
            println!(
                "{tasks:>8}{what:>10}{:>12.1}{:>12.1}{:>10}",
                1e3 * time,
                1e6 * time / tasks as f64,
                bytes.div_ceil(1_000)
            );
        };
        let began = Instant::now();
        let schedule = schedule(&project, &Options::default()).expect("it can be scheduled");
        tell("schedule", began, 0);
        for (name, picture) in [("gantt", Picture::Gantt), ("network", Picture::Network), ("load", Picture::Load)] {
            let began = Instant::now();
            let svg = picture.draw(&schedule, &project, &Frame::titled("Montage", 1280)).expect("it has no futures");
            tell(name, began, svg.len());
        }
    }
}

/// A workflow several times, with as many machines for each.
fn side_by_side(one: &Project, copies: u32) -> Project {
    let mut all = Project { tasks: Vec::new(), ..one.clone() };
    all.resources.iter_mut().for_each(|resource| resource.capacity.0 *= copies);
    for copy in 0..copies {
        all.tasks.extend(one.tasks.iter().cloned().map(|mut task| {
            task.id = format!("{copy}-{}", task.id);
            task.after.iter_mut().for_each(|link| link.task = format!("{copy}-{}", link.task));
            task
        }));
    }
    all
}
