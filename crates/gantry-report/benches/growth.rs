//! How the time of charts and reports grows with the number of tasks.
//!
//! `cargo bench -p gantry-report --bench growth` first makes reports of plans with 50, 200 and 1,000 tasks. Then it takes the largest workflow that `WfCommons` published, once and several
//! times side by side (from `../shared/data/wfinstances` beside the workspace), schedules it, draws it, and prints the time
//! and the size of each chart, and the time for one task.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]
#![expect(clippy::disallowed_methods, reason = "a bench looks at the clock")]

use std::fmt::Write as _;
use std::time::Instant;

use gantry_core::time::Timestamp;
use gantry_report::chart::Frame;
use gantry_report::document::{self, document};
use gantry_report::picture::Picture;
use gantry_report::report::{Choice, Layout, Subject, compose, html};
use gantry_schedule::read::wfcommons;
use gantry_schedule::{Options, Project, schedule};

fn main() {
    println!("{:>8}{:>10}{:>12}{:>12}{:>10}", "tasks", "what", "ms", "us/task", "KB");
    for tasks in [50, 200, 1_000] {
        report_of(tasks);
    }
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut files = beside.map(|above| above.join("shared/data/wfinstances/montage-chameleon-dss-15d-001.json"));
    let Some(text) = files.find_map(|file| std::fs::read_to_string(file).ok()) else {
        println!("skipped: there is no `shared/data/wfinstances` beside the workspace");
        return;
    };
    let one = wfcommons::read(&text).expect("a published run can be read").project;
    for copies in [1, 2, 5, 10] {
        let project = side_by_side(&one, copies);
        let tasks = project.tasks.len();
        let tell = |what: &str, began: Instant, bytes: usize| tell(tasks, what, began, bytes);
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

fn tell(tasks: usize, what: &str, began: Instant, bytes: usize) {
    let time = began.elapsed().as_secs_f64();
    println!(
        "{tasks:>8}{what:>10}{:>12.1}{:>12.1}{:>10}",
        1e3 * time,
        1e6 * time / tasks as f64,
        bytes.div_ceil(1_000)
    );
}

/// A plan file with so many tasks in phases of ten, and its page.
fn report_of(tasks: usize) {
    let mut file = "title: A plan\nschedule: {start: 2027-03-01}\ntasks:\n".to_owned();
    for at in 0..tasks {
        let after = if at % 10 == 0 { String::new() } else { format!(", depends_on: [t{}]", at - 1) };
        let said = "Say what is done, by whom, and how one sees that it is done, in two or three clauses.";
        let _ = writeln!(
            file,
            "  - {{id: t{at}, title: Task {at} of many, description: \"{said}\", manual: do it, owner: Ana, estimate: {{low: 2h, likely: 4h, high: 9h}}{after}}}"
        );
    }
    let plan = gantry_format::load("plan.yaml", file.as_bytes()).plan.expect("it is a plan");
    let project = plan.project(Timestamp::from_ms(0));
    let scheduled = schedule(&project, &Options::usual(&project)).expect("it can be scheduled");
    let began = Instant::now();
    let parts = serde_json::Map::new();
    let written = document(&document::Subject {
        kept: serde_json::Map::new(),
        plan: &plan,
        state_of: &|_| None,
        scheduled: Ok((&project, &scheduled)),
        source: serde_json::from_str(&gantry_format::to_json(&plan)).expect("it is JSON"),
        parts: &parts,
    });
    let subject = Subject {
        title: plan.title.clone(),
        day: "2027-03-01".to_owned(),
        parts,
        plan: written,
        life: serde_json::Value::Null,
        sources: Vec::new(),
        scheduled: Some((&project, &scheduled)),
        begun: false,
    };
    let layout = Layout::built_in().expect("it is a layout");
    let page = html::write(&compose(&layout, &subject, &Choice::default()));
    tell(tasks, "report", began, page.len());
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
