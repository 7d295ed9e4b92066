//! Charts of a schedule: what was computed is in the picture, by its name and with its unit.

use crate::kit::{faults, texts};
use gantry_report::chart::Frame;
use gantry_report::picture::Picture;
use gantry_schedule::read::wfcommons;
use gantry_schedule::{Options, Project, Schedule, schedule};

/// A project with everything that pictures show: dates, people, money, doubt, progress and deadlines.
const HOUSE: &str = r#"{"name": "House", "start": "2026-03-02", "calendar": "office", "currency": "EUR",
    "data_date": "2026-03-10T13:00", "budget": 20000, "deadline": "2026-04-08 hard",
    "calendars": [{"id": "office", "week": {"mon-fri": ["09:00-17:00"]}}],
    "resources": [{"id": "ana", "name": "Ana Berg", "rate": 100}, {"id": "ben", "rate": 80}],
    "tasks": [
        {"id": "shell", "title": "Shell"},
        {"id": "walls", "title": "Walls", "parent": "shell", "estimate": "5d", "needs": ["ana"],
            "progress": {"started": "2026-03-02T09:00", "finished": "2026-03-09T12:00", "cost": 4700}},
        {"id": "roof", "title": "Roof", "parent": "shell", "estimate": "3d / 4d / 11d", "after": ["walls"], "needs": ["ben"],
            "progress": {"started": "2026-03-09T12:00", "percent": 25}, "costs": [{"name": "tiles", "amount": 6000}]},
        {"id": "fence", "title": "Fence", "estimate": "2d", "after": ["walls"], "needs": ["ana"], "deadline": "2026-03-13"},
        {"id": "rest", "title": "Rest", "estimate": "15d", "after": ["shell"], "needs": ["ana"]},
        {"id": "done", "title": "Done", "after": ["rest"]}]}"#;

fn computed() -> (Project, Schedule) {
    let project: Project = serde_json::from_str(HOUSE).expect("it is a project");
    let schedule = schedule(&project, &Options::usual(&project)).expect("it can be scheduled");
    (project, schedule)
}

/// Draws a picture on a screen and on a telephone, and returns the first with its visible words.
fn drawn(picture: Picture) -> (String, String) {
    let (project, schedule) = computed();
    let draw = |width| picture.draw(&schedule, &project, &Frame::titled("House", width)).expect("futures were drawn");
    for svg in [draw(1280), draw(390)] {
        assert!(faults(&svg).is_empty(), "{picture:?}: {:?}", faults(&svg));
    }
    let svg = draw(1280);
    let words = texts(&svg).join("\n");
    (svg, words)
}

fn assert_says(picture: Picture, words: &[&str]) {
    let (_, said) = drawn(picture);
    for word in words {
        assert!(said.contains(word), "{picture:?} does not say `{word}`:\n{said}");
    }
}

#[test]
fn a_gantt_of_a_schedule_has_its_deadlines_floats_today_percent_and_people() {
    let words = [
        "Today",
        "Deadline",
        "Task deadline",
        "Float",
        "Summary",
        "Milestone",
        "Dependency",
        "Done",
        "Ana Berg",
        "ben",
    ];
    assert_says(Picture::Gantt, &words);
    let (svg, _) = drawn(Picture::Gantt);
    assert!(svg.contains(" days, until "), "a float has its unit");
    assert!(svg.contains("Deadline 13 March 2026"), "a task has its own deadline");
    assert!(svg.contains("25 % done"), "how much of the roof is done");
}

#[test]
fn a_network_of_a_schedule_has_its_tasks_and_floats() {
    assert_says(Picture::Network, &["Walls", "Roof", "Rest", "Done", " days"]);
}

#[test]
fn futures_of_a_schedule_have_percentiles_and_the_deadline() {
    assert_says(Picture::Histogram, &["P50", "P80", "Deadline"]);
    assert_says(Picture::SCurve, &["P50", "P80", "Deadline"]);
    assert_says(Picture::Tornado, &["Roof"]);
}

#[test]
fn the_s_curve_of_a_schedule_rises_from_none_to_all() {
    let (svg, _) = drawn(Picture::SCurve);
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let curve = document.descendants().find(|node| node.attribute("class") == Some("gc-curve")).expect("a curve");
    let path = curve.attribute("d").expect("a path");
    let numbers = path.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|text| text.parse::<f64>().ok());
    let heights: Vec<f64> = numbers.skip(1).step_by(2).collect();
    let (first, last) = (heights[0], heights[heights.len() - 1]);
    assert!(first - last > 100.0, "from the bottom to the top: {path}");
}

#[test]
fn who_has_nothing_to_do_is_there_all_the_same() {
    let (mut project, _) = computed();
    project.resources.push(gantry_schedule::project::Resource::pool("crane", 2));
    let schedule = schedule(&project, &Options::default()).expect("it can be scheduled");
    let svg = Picture::Load.draw(&schedule, &project, &Frame::titled("House", 1280)).expect("it needs no futures");
    assert!(texts(&svg).iter().any(|text| text.contains("0 of 2")), "{:?}", texts(&svg));
}

#[test]
fn load_and_cash_of_a_schedule_have_people_months_budget_and_today() {
    assert_says(Picture::Load, &["Ana Berg", "ben", "Today"]);
    assert_says(Picture::Cash, &["EUR", "Budget", "Mar", "Today"]);
}

/// The largest workflow that `WfCommons` published, five times side by side on as many machines for each.
fn five_workflows() -> Option<Project> {
    let mut beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let file = "shared/data/wfinstances/montage-chameleon-dss-15d-001.json";
    let text = beside.find_map(|above| std::fs::read_to_string(above.join(file)).ok())?;
    let one = wfcommons::read(&text).expect("a published run can be read").project;
    let mut all = Project { tasks: Vec::new(), ..one.clone() };
    all.resources.iter_mut().for_each(|resource| resource.capacity.0 *= 5);
    for copy in 0..5 {
        all.tasks.extend(one.tasks.iter().cloned().map(|mut task| {
            task.id = format!("{copy}-{}", task.id);
            task.after.iter_mut().for_each(|link| link.task = format!("{copy}-{}", link.task));
            task
        }));
    }
    Some(all)
}

#[test]
fn ten_thousand_tasks_of_a_real_workflow_are_scheduled_and_drawn() {
    let Some(project) = five_workflows() else {
        eprintln!("skipped: there is no `shared/data/wfinstances` beside the workspace");
        return;
    };
    let schedule = schedule(&project, &Options::usual(&project)).expect("it can be scheduled");
    assert!(schedule.tasks.len() > 10_000 && schedule.feasible, "{} tasks", schedule.tasks.len());
    for (picture, most) in [(Picture::Gantt, 3_000_000), (Picture::Network, 3_000_000), (Picture::Load, 300_000)] {
        for width in [1280, 390] {
            let svg = picture.draw(&schedule, &project, &Frame::titled("Montage", width)).expect("it has no futures");
            assert!(faults(&svg).is_empty(), "{picture:?}: {:?}", faults(&svg));
            assert!(svg.len() < most, "{picture:?} has {} bytes", svg.len());
        }
    }
}
