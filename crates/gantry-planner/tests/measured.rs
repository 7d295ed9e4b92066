//! What makes a breakdown one that people can work with, measured without a judge, over real requests.

#![allow(clippy::unwrap_used)] // a test may

mod shared;

use std::collections::{BTreeMap, BTreeSet};

use gantry_planner::assemble::{self, Setting};
use gantry_planner::facts::{Asked, Facts};
use gantry_planner::kind::Size;
use gantry_planner::knowledge::{BUILT_IN, Calendar, Knowledge, Stage};
use gantry_planner::outline::{Given, Milestone, Outline, OutlinePhase, OutlineRole, OutlineTask};
use jiff::civil::date;
use serde_json::{Value, json};

/// One of so many real requests is measured in each run; with `GANTRY_ALL_REQUESTS=1` all are.
const ONE_OF: usize = 4;
/// Of so many leaves one may be called nearly like another.
const NEAR_TWINS_PER_LEAF: usize = 50;
/// Words that tell nothing apart.
const EMPTY: &str = "a an the of and or to for in on with by from at as is be this that into per via";

fn work(plan: &Value) -> Vec<&Value> {
    plan["tasks"].as_array().unwrap().iter().flat_map(|phase| phase["tasks"].as_array().unwrap()).collect()
}

fn is_there(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty()) || value.as_array().is_some_and(|list| !list.is_empty())
}

/// The words of a title, without endings and without those that tell nothing apart.
fn told(title: &str) -> BTreeSet<String> {
    let words = title.to_lowercase();
    let words = words.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words
        .filter(|word| !EMPTY.split(' ').any(|empty| empty == *word))
        .map(|word| word.trim_end_matches('s').to_owned())
        .collect()
}

fn near_twins(titles: &[&str]) -> usize {
    let told: Vec<BTreeSet<String>> = titles.iter().map(|title| told(title)).collect();
    let near = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        let (shared, all) = (one.intersection(other).count(), one.union(other).count());
        all > 0 && 4 * shared >= 3 * all
    };
    (1..told.len()).filter(|&at| told[..at].iter().any(|other| near(&told[at], other))).count()
}

/// Everything that is asked of a breakdown.
fn assert_measured(name: &str, plan: &Value) {
    let (_, schedule) = shared::scheduled(name, plan);
    let rows: BTreeMap<&str, &Value> =
        schedule["tasks"].as_array().unwrap().iter().map(|row| (row["id"].as_str().unwrap(), row)).collect();
    let hours = |id: &Value, which: &str| rows[id.as_str().unwrap()]["hours"][which].as_f64().unwrap();
    let leaves = work(plan);
    for task in &leaves {
        let id = &task["id"];
        assert!(hours(id, "low") <= hours(id, "likely") && hours(id, "likely") <= hours(id, "high"), "{name}: {task}");
        assert!(hours(id, "low") < hours(id, "high"), "{name}: nobody is that sure: {task}");
        for field in ["owner", "success_criteria", "resources"] {
            assert!(is_there(&task[field]), "{name}: no {field}: {task}");
        }
        assert!(!task["outputs"].as_object().unwrap().is_empty(), "{name}: {task}");
        let critical = rows[id.as_str().unwrap()]["critical"] == true;
        assert!(!critical || is_there(&task["risks"]) || plan["schedule"]["risks"] == json!([]), "{name}: {task}");
    }
    for phase in plan["tasks"].as_array().unwrap() {
        let inside: Vec<f64> =
            phase["tasks"].as_array().unwrap().iter().map(|task| hours(&task["id"], "likely")).collect();
        let (sum, most) = (inside.iter().sum::<f64>(), inside.iter().copied().fold(0.0, f64::max));
        let whole = hours(&phase["id"], "likely");
        assert!(most - 0.01 <= whole && whole <= sum + 0.01, "{name}: {} of {inside:?}", phase["id"]);
    }
    let links: usize = leaves.iter().map(|task| task["depends_on"].as_array().unwrap().len()).sum();
    assert!(links >= leaves.len(), "{name}: {links} links for {} leaves", leaves.len());
    // A number behind the same words tells nobody what a part is about.
    let numeral = |word: &&str| word.trim_matches(['(', ')']).chars().all(|letter| "IVX".contains(letter));
    let plain: Vec<String> = leaves
        .iter()
        .map(|task| {
            task["title"].as_str().unwrap().split(' ').filter(|word| !numeral(word)).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let titles: Vec<&str> = plain.iter().map(String::as_str).collect();
    let mut told: BTreeSet<String> = BTreeSet::new();
    for task in &leaves {
        assert!(told.insert(format!("{}{}", task["description"], task["outputs"])), "{name}: said twice: {task}");
    }
    let twins = near_twins(&titles);
    assert!(twins * NEAR_TWINS_PER_LEAF <= leaves.len(), "{name}: {twins} near twins in {titles:#?}");
}

#[test]
fn real_requests_become_breakdowns_that_people_can_work_with() {
    let Some(requests) = shared::requests("prompts") else { return };
    let one_of = if std::env::var_os("GANTRY_ALL_REQUESTS").is_some() { 1 } else { ONE_OF };
    let mut measured = 0;
    for (id, text) in requests.iter().step_by(one_of) {
        let Ok(facts) = Facts::of(&Asked::new(text.as_str(), date(2026, 11, 16))) else { continue };
        let plan = assemble::plan(&facts.outline().unwrap(), &facts.setting(), &BTreeSet::new()).unwrap();
        assert_measured(id, &plan);
        measured += 1;
    }
    assert!(measured > 10, "{measured}");
}

#[test]
fn errands_of_every_kind_are_measured_by_the_same_bar() {
    for (kind, text) in BUILT_IN {
        let knowledge = Knowledge::read(kind, text).unwrap();
        let matters = knowledge.household.matters.iter();
        let lists = std::iter::once((None, knowledge.clone()))
            .chain(matters.map(|matter| (Some(matter.id.clone()), knowledge.narrowed(matter))));
        for (matter, knowledge) in lists {
            let name = format!("{kind} {}", matter.as_deref().unwrap_or_default());
            let given = Given { matter, ..shared::given(Size::Household) };
            let outline = Outline::of(&knowledge, &given).unwrap();
            let setting = Setting {
                calendar: knowledge.household.calendar.unwrap_or(knowledge.calendar),
                ..shared::setting(&knowledge)
            };
            let plan = assemble::plan(&outline, &setting, &BTreeSet::new()).unwrap();
            assert_measured(&name, &plan);
            assert_eq!(failed(&plan), [""; 0], "{name}");
        }
    }
}

/// A piece of work of one role, with nothing odd about it.
fn task(id: &str, days: f64, after: &[&str]) -> OutlineTask {
    OutlineTask {
        id: id.to_owned(),
        title: format!("Do {id}"),
        stages: Vec::new(),
        beside: String::new(),
        detail: format!("All of {id}."),
        role: "crew".to_owned(),
        with: Vec::new(),
        hours: [days * 7.0, days * 8.0, days * 9.0],
        after: after.iter().map(|id| (*id).to_owned()).collect(),
        output: id.to_owned(),
        done_when: format!("{id} is there."),
        costs: Vec::new(),
        risks: Vec::new(),
        on_the_day: false,
    }
}

fn phase(id: &str, tasks: Vec<OutlineTask>) -> OutlinePhase {
    let milestone = Some(Milestone { title: format!("{id} is decided"), decision: "Go on?".to_owned() });
    let (title, purpose) = (format!("Phase {id}"), "It has to be.".to_owned());
    OutlinePhase { id: id.to_owned(), title, purpose, deliverable: id.to_owned(), milestone, tasks }
}

/// The plan of these phases, with people enough for everything at once.
fn planned(phases: Vec<OutlinePhase>) -> Value {
    let crew = OutlineRole { id: "crew".to_owned(), title: "Crew".to_owned(), count: 9, rate: 50.0 };
    let setting = Setting {
        team: None,
        start: date(2027, 1, 4),
        calendar: Calendar::Office,
        zone: "UTC".to_owned(),
        days_off: Vec::new(),
        currency: "EUR".to_owned(),
        budget: None,
        deadline: None,
        held: None,
        success: Vec::new(),
    };
    assemble::plan(&Outline { roles: vec![crew], phases, risks: Vec::new() }, &setting, &BTreeSet::new()).unwrap()
}

/// Who waits for whom: `walls after dig`.
fn drawn(plan: &Value) -> String {
    let line = |task: &&Value| {
        let before: Vec<&str> =
            task["depends_on"].as_array().unwrap().iter().map(|before| before.as_str().unwrap()).collect();
        format!("{} after {}: {}", task["id"].as_str().unwrap(), before.join(", "), task["title"].as_str().unwrap())
    };
    work(plan).iter().map(line).collect::<Vec<_>>().join("\n")
}

fn failed(plan: &Value) -> Vec<&'static str> {
    let (project, _) = shared::scheduled("plan", plan);
    let schedule = gantry_schedule::schedule(&project, &gantry_schedule::Options::default()).unwrap();
    let checks = gantry_schedule::health(&project, &schedule).into_iter();
    checks.filter(|check| !check.passed).map(|check| check.id).collect()
}

#[test]
fn what_takes_months_is_handed_over_in_its_stages_and_those_in_sections() {
    let stage = |title: &str, done_when: &str| Stage { title: title.to_owned(), done_when: done_when.to_owned() };
    let stages = vec![stage("Dig", "The pit is dry."), stage("Cast", "")];
    let plan = planned(vec![phase(
        "build",
        vec![
            OutlineTask { stages, ..task("base", 120.0, &[]) },
            task("roof", 60.0, &["base"]),
            task("paint", 20.0, &["roof"]),
        ],
    )]);
    insta::assert_snapshot!(drawn(&plan), @"
    base-part-1 after : Dig: make a start and settle the way
    base-part-2 after base-part-1: Dig: complete and hand over
    base-part-3 after base-part-2: Cast: make a start and settle the way
    base-part-4 after base-part-3: Cast: complete and hand over
    roof-part-1 after base-part-4: Do roof: make a start and settle the way
    roof-part-2 after roof-part-1: Do roof: complete and hand over
    paint after roof-part-2: Do paint
    build-done after paint: build is decided
    ");
    let done: Vec<&Value> = work(&plan).iter().map(|task| &task["success_criteria"][0]["words"]).collect();
    assert_eq!((done[1], done[3]), (&json!("The pit is dry."), &json!("base is there.")));
    assert_eq!(
        done[0],
        "Part one of two of this was looked at by whoever goes on with it, and nothing in it is left open."
    );
    assert_eq!(failed(&plan), [""; 0]);
}

#[test]
fn what_goes_along_with_longer_work_holds_it_part_by_part() {
    let plan = planned(vec![phase(
        "build",
        vec![task("frame", 160.0, &[]), OutlineTask { beside: "frame".to_owned(), ..task("inspect", 80.0, &[]) }],
    )]);
    insta::assert_snapshot!(drawn(&plan), @"
    frame-part-1 after : Do frame: make a start and settle the way
    frame-part-2 after frame-part-1: Do frame: carry on at full pace
    frame-part-3 after frame-part-2, inspect-part-1: Do frame: check what is there, then continue
    frame-part-4 after frame-part-3: Do frame: complete and hand over
    inspect-part-1 after : Do inspect: make a start and settle the way
    inspect-part-2 after inspect-part-1, frame-part-2: Do inspect: complete and hand over
    build-done after frame-part-4, inspect-part-2: build is decided
    ");
    assert!(!failed(&plan).contains(&"high_float"));
}

#[test]
fn work_with_months_to_spare_is_released_by_a_step_on_the_way_to_whoever_needs_it() {
    let plan = planned(vec![
        phase("build", vec![task("walls", 160.0, &[]), task("signs", 5.0, &[])]),
        phase("open", vec![task("hang-signs", 2.0, &["signs", "walls"])]),
    ]);
    insta::assert_snapshot!(drawn(&plan), @"
    walls-part-1 after : Do walls: make a start and settle the way
    walls-part-2 after walls-part-1: Do walls: carry on at full pace
    walls-part-3 after walls-part-2: Do walls: check what is there, then continue
    walls-part-4 after walls-part-3: Do walls: complete and hand over
    signs after walls-part-3: Do signs
    build-done after walls-part-4, signs: build is decided
    hang-signs after signs, walls-part-4, build-done: Do hang-signs
    open-done after hang-signs: open is decided
    ");
    assert_eq!(failed(&plan), [""; 0]);
}

#[test]
fn a_decision_that_nobody_would_wait_for_holds_the_next_work_and_delays_nothing() {
    let permits = || phase("permits", vec![task("permit", 10.0, &[])]);
    let build = || phase("build", vec![task("design", 30.0, &[]), task("dig", 10.0, &["design"])]);
    let plan = planned(vec![permits(), build()]);
    insta::assert_snapshot!(drawn(&plan), @"
    permit after : Do permit
    permits-done after permit: permits is decided
    design after : Do design
    dig after design, permits-done: Do dig
    build-done after dig: build is decided
    ");
    let finish = |plan: &Value| shared::scheduled("plan", plan).1["finish"].as_str().unwrap().to_owned();
    assert_eq!(finish(&plan), finish(&planned(vec![build()])));
}

#[test]
fn big_projects_of_every_kind_have_nothing_that_takes_months_in_one_go() {
    for (kind, text) in BUILT_IN {
        let knowledge = Knowledge::read(kind, text).unwrap();
        for size in [Size::Large, Size::Mega] {
            let outline = Outline::of(&knowledge, &shared::given(size)).unwrap();
            let setting = shared::setting(&knowledge);
            let plan = assemble::plan(&outline, &setting, &BTreeSet::new()).unwrap();
            assert_eq!(failed(&plan), [""; 0], "{kind} {size}");
        }
    }
}
