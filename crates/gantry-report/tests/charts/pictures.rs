//! Charts of a schedule: what was computed is in the picture, by its name and with its unit.

use crate::kit::{count, description, faults, texts};
use gantry_report::chart::Frame;
use gantry_report::picture::Picture;
use gantry_schedule::read::wfcommons;
use gantry_schedule::{Options, Project, Schedule, schedule};
use proptest::prelude::*;

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

/// A project without futures, as a picture of it says it in words.
fn said(picture: Picture, project: &Project) -> (Schedule, String, String) {
    let schedule = schedule(project, &Options::default()).expect("it can be scheduled");
    let svg = picture.draw(&schedule, project, &Frame::titled("Plan", 1280)).expect("it needs no futures");
    let words = description(&svg);
    (schedule, svg, words)
}

#[test]
fn a_deadline_kept_to_the_minute_is_kept() {
    let text = r#"{"start": "2026-03-02", "deadline": "2026-03-10", "tasks": [
        {"id": "a", "estimate": "9d", "deadline": "2026-03-10 hard"}, {"id": "b", "estimate": "8d"}]}"#;
    let project: Project = serde_json::from_str(text).expect("it is a project");
    let (schedule, svg, words) = said(Picture::Gantt, &project);
    assert!(schedule.deadlines.iter().all(|verdict| verdict.met && verdict.margin.in_thousandths() == 0));
    assert!(words.contains("Finishes on 11 March 2026, just before the deadline."), "{words}");
    assert!(!words.contains("After their own deadline") && !svg.contains("missed"), "{words}");
    assert!(svg.contains("Deadline: 10 March 2026"), "the day it is due stands there");
    let schedule = schedule_with_futures(&project);
    for picture in [Picture::Histogram, Picture::SCurve] {
        let svg = picture.draw(&schedule, &project, &Frame::titled("Plan", 1280)).expect("futures were drawn");
        assert!(!svg.contains("Beyond the deadline"), "{picture:?}");
    }
}

fn schedule_with_futures(project: &Project) -> Schedule {
    schedule(project, &Options::usual(project)).expect("it can be scheduled")
}

#[test]
fn a_gap_to_the_deadline_is_the_one_of_the_schedule() {
    let text = r#"{"start": "2026-03-06", "calendar": "office", "deadline": "2026-03-06",
        "calendars": [{"id": "office", "week": {"mon-fri": ["09:00-17:00"]}}], "tasks": [{"id": "a", "estimate": "3d"}]}"#;
    let (_, _, words) = said(Picture::Gantt, &serde_json::from_str(text).expect("it is a project"));
    assert!(words.contains("Finishes on 10 March 2026, 17:00, 2 days of work after the deadline."), "{words}");
}

#[test]
fn what_is_urgent_for_itself_is_critical_and_not_on_the_path() {
    let text = r#"{"tasks": [{"id": "a", "estimate": "2d"}, {"id": "b", "estimate": "5d", "after": ["a"]},
        {"id": "c", "estimate": "1d", "after": ["a"], "deadline": "3 hard"}, {"id": "d", "estimate": "1d", "after": ["b", "c"]}]}"#;
    let project: Project = serde_json::from_str(text).expect("it is a project");
    // A network has such a link in its legend, too.
    for (picture, links) in [(Picture::Gantt, 2), (Picture::Network, 3)] {
        let (schedule, svg, words) = said(picture, &project);
        assert!(schedule.tasks.iter().all(|task| task.critical));
        assert!(words.contains("Critical path: a, b and d."), "{words}");
        assert_eq!(count(&svg, "gc-link-critical"), links, "from a to b, and from b to d");
    }
}

#[test]
fn who_is_away_has_nothing_to_do() {
    let text = r#"{"start": "2026-03-02", "calendar": "office",
        "calendars": [{"id": "office", "week": {"mon-fri": ["09:00-17:00"]}}],
        "resources": [{"id": "ana", "absences": ["2026-03-04"]}, {"id": "ben"}],
        "tasks": [{"id": "a", "estimate": "6d", "needs": ["ana"]}, {"id": "b", "estimate": "6d", "needs": ["ben"]}]}"#;
    let (schedule, _, _) = said(Picture::Load, &serde_json::from_str(text).expect("it is a project"));
    let load = |of: usize| {
        let steps = schedule.resources[of].load.iter();
        steps.map(|step| format!("{}..{}", &step.from.told()[..14], &step.to.told()[..14])).collect::<Vec<_>>()
    };
    assert_eq!(
        load(0),
        ["Mon 2026-03-02..Tue 2026-03-03", "Thu 2026-03-05..Fri 2026-03-06", "Mon 2026-03-09..Tue 2026-03-10"]
    );
    assert_eq!(
        load(1),
        ["Mon 2026-03-02..Fri 2026-03-06", "Mon 2026-03-09..Mon 2026-03-09"],
        "nights are no rest of days"
    );
}

#[test]
fn weekends_are_drawn_where_there_is_room_for_them() {
    let boxes = |weeks: &str| {
        let text = r#"{"start": "2026-03-02", "calendar": "office",
            "calendars": [{"id": "office", "week": {"mon-fri": ["09:00-17:00"]}}],
            "resources": [{"id": "ana"}], "tasks": [{"id": "a", "estimate": "WEEKS", "needs": ["ana"]}]}"#;
        let project = serde_json::from_str(&text.replace("WEEKS", weeks)).expect("it is a project");
        count(&said(Picture::Load, &project).1, "gc-cell")
    };
    assert_eq!((boxes("3w"), boxes("100w")), (3, 1));
}

/// Small projects on an office calendar or round the clock, with deadlines that are met or not.
fn projects() -> impl Strategy<Value = Project> {
    let task =
        (1..4_i64, prop::collection::vec(1..4_usize, 0..3), prop::option::weighted(0.4, 3..20_u8), any::<bool>());
    (prop::collection::vec(task, 1..8), any::<bool>(), prop::option::of(3..20_u8)).prop_map(|(drawn, office, due)| {
        let tasks: Vec<_> = drawn.iter().enumerate().map(|(at, (days, links, due, hard))| {
            let after: Vec<String> = links.iter().filter(|back| **back <= at).map(|back| format!("t{}", at - back)).collect();
            let hard = if *hard { " hard" } else { "" };
            let due = due.map(|day| format!("2026-03-{day:02}{hard}"));
            serde_json::json!({"id": format!("t{at}"), "estimate": format!("{days}d"), "after": after, "deadline": due})
        }).collect();
        let week = if office { serde_json::json!({"mon-fri": ["09:00-17:00"]}) } else { serde_json::Value::Null };
        let calendars = serde_json::json!([{"id": "own", "week": week}]);
        serde_json::from_value(serde_json::json!({"start": "2026-03-02", "calendar": "own", "calendars": calendars,
            "deadline": due.map(|day| format!("2026-03-{day:02}")), "tasks": tasks})).expect("it is a project")
    })
}

/// `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_chart_says_of_deadlines_and_the_critical_path_what_the_schedule_says(project in projects()) {
        let (schedule, _, words) = said(Picture::Gantt, &project);
        let path = format!("Critical path: {}.", listed(&schedule.critical_path));
        prop_assert!(words.contains(&path), "{path} {words}");
        prop_assert!(said(Picture::Network, &project).2.contains(&path));
        let whole = schedule.deadlines.iter().find(|verdict| verdict.task.is_none());
        prop_assert_eq!(words.contains(" before the deadline."), whole.is_some_and(|verdict| verdict.met), "{}", words);
        prop_assert_eq!(words.contains(" after the deadline."), whole.is_some_and(|verdict| !verdict.met), "{}", words);
        let late = schedule.deadlines.iter().filter(|verdict| !verdict.met).filter_map(|verdict| verdict.task.clone());
        let mut late: Vec<String> = late.collect();
        late.sort();
        let told = format!("After their own deadline: {}.", listed(&late));
        prop_assert_eq!(words.contains(&told), !late.is_empty(), "{} {}", told, words);
    }
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
