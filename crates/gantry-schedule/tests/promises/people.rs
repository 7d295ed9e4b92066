//! Who does what when there are not enough of them.

use gantry_schedule::project::{Amount, CapacityChange, Need, Project, Resource, Who};
use gantry_schedule::{Levelling, Options, Schedule};

use crate::kit::{column, counted, drawn, office, planned, planned_with, row, when, with_people};

fn who(schedule: &Schedule, id: &str) -> Vec<String> {
    row(schedule, id).resources.iter().map(|assigned| assigned.id.clone()).collect()
}

fn levelled(project: &Project, levelling: Levelling) -> Schedule {
    planned_with(project, &Options { levelling, ..Options::default() })
}

#[test]
fn one_person_does_one_thing_at_a_time() {
    let schedule = planned(&with_people(counted("a 3d needs ana\n b 2d needs ana"), &[("ana", 1)]));
    assert_eq!(schedule.makespan.to_string(), "5");
    assert!(schedule.overloads.is_empty() && schedule.feasible);
    assert_eq!(schedule.critical_path.len(), 2, "the order of people is part of the critical path");
}

#[test]
fn half_a_person_does_two_things_at_a_time() {
    let project = counted("a 3d needs ana 50%\n b 2d needs ana 50%\n c 1d needs ana 50%");
    assert_eq!(planned(&with_people(project, &[("ana", 1)])).makespan.to_string(), "3");
}

#[test]
fn the_task_with_less_float_goes_first() {
    let project = counted("short 2d needs crew\n long 2d needs crew\n tail 6d after long");
    let schedule = planned(&with_people(project, &[("crew", 1)]));
    assert_eq!(drawn(&schedule), "short 2..4\nlong 0..2\ntail 2..8");
}

#[test]
fn without_levelling_over_allocation_is_told() {
    let project = with_people(counted("a 3d needs ana\n b 2d needs ana"), &[("ana", 1)]);
    let schedule = levelled(&project, Levelling::Off);
    assert_eq!(drawn(&schedule), "a 0..3\nb 0..2");
    assert!(!schedule.feasible);
    let overload = &schedule.overloads[0];
    assert_eq!((overload.from.to_string(), overload.to.to_string()), ("0".to_owned(), "2".to_owned()));
    assert_eq!((overload.used, overload.capacity), (Amount::whole(2), Amount::whole(1)));
    assert_eq!(overload.tasks, ["a", "b"]);
}

#[test]
fn levelling_within_float_keeps_the_finish_and_tells_the_rest() {
    // b has float 2 and can wait for a; d has none and cannot wait for c.
    let project = counted("a 2d needs ana\n b 2d needs ana\n c 4d needs bob\n d 4d needs bob");
    let schedule = levelled(&with_people(project, &[("ana", 1), ("bob", 1)]), Levelling::WithinFloat);
    assert_eq!(drawn(&schedule), "a 0..2\nb 2..4\nc 0..4\nd 0..4");
    assert_eq!(schedule.makespan.to_string(), "4");
    let overloaded: Vec<&str> = schedule.overloads.iter().map(|overload| &*overload.resource).collect();
    assert_eq!(overloaded, ["bob"]);
}

#[test]
fn capacity_may_grow_with_time() {
    let mut project = with_people(counted("a 4d needs crew 2\n b 1d needs crew"), &[("crew", 1)]);
    project.resources[0].changes = vec![CapacityChange { from: when("3"), capacity: Amount::whole(2) }];
    assert_eq!(drawn(&planned(&project)), "a 3..7\nb 0..1");
}

#[test]
fn a_hard_deadline_is_kept_even_if_the_end_is_later() {
    // First `a` ends all at 9, but then `x` is done at 4.
    let project = counted("a 3d needs ana\n tail 6d after a\n x 1d needs ana by 1 hard");
    let project = with_people(project, &[("ana", 1)]);
    for schedules in [0, 100] {
        let schedule = planned_with(&project, &Options { schedules, ..Options::default() });
        assert_eq!(drawn(&schedule), "a 1..4\ntail 4..10\nx 0..1");
        assert!(schedule.feasible, "{:?}", schedule.infeasible);
    }
}

#[test]
fn a_hard_deadline_is_kept_in_a_large_project_too() {
    let many = (0..1_200).map(|at| format!("t{at:04} 1d needs crew\n u{at:04} 3d after t{at:04}"));
    let text = format!("{}\nx 1d needs crew by 1 hard", many.collect::<Vec<_>>().join("\n"));
    for priority in [0, 1] {
        let mut project = with_people(counted(&text), &[("crew", 1)]);
        project.tasks[2_000].priority = priority;
        let schedule = planned(&project);
        assert!(schedule.infeasible.is_empty() || priority > 0, "{:?}", schedule.infeasible);
        assert!(schedule.overloads.is_empty());
    }
}

#[test]
fn a_point_in_a_large_project_lies_where_its_work_ends() {
    let many = (0..1_200).map(|at| format!("t{at:04} 1d needs crew")).collect::<Vec<_>>().join("\n");
    let project = with_people(office(&format!("{many}\nend - after t0000")), &[("crew", 240)]);
    let schedule = planned(&project);
    assert_eq!(row(&schedule, "t0000").finish, row(&schedule, "end").finish, "and not the next morning");
}

#[test]
fn capacity_that_falls_keeps_its_order_in_floats_and_futures() {
    let project = counted("a 5d needs crew\n b 5d needs crew from 5\n c 5d needs crew from 5");
    let mut project = with_people(project, &[("crew", 3)]);
    project.resources[0].changes = vec![CapacityChange { from: when("5"), capacity: Amount::whole(1) }];
    let schedule = planned_with(&project, &Options { draws: 64, ..Options::default() });
    assert_eq!(drawn(&schedule), "a 0..5\nb 5..10\nc 10..15");
    assert_eq!(column(&schedule, |row| row.float.to_string()), "a 0, b 0, c 0");
    assert_eq!(schedule.critical_path, ["a", "b", "c"]);
    assert_eq!(schedule.monte_carlo.unwrap().finish.p10, schedule.finish, "there is no doubt");
}

#[test]
fn who_comes_after_a_fall_of_capacity_waits_for_all_who_were_there() {
    // Two leave on day six: then `d` alone can work, and only when all three are done, whoever is late.
    let drawing = "a 3d/3d/30d needs crew\n b 4d/4d/40d needs crew\n c 5d/5d/50d needs crew\n d 1d needs crew from 90";
    let mut project = with_people(counted(drawing), &[("crew", 3)]);
    project.resources[0].changes = vec![CapacityChange { from: when("80"), capacity: Amount::whole(1) }];
    let schedule = planned_with(&project, &Options { draws: 64, ..Options::default() });
    assert_eq!(column(&schedule, |row| row.late_finish.to_string()), "a 90, b 90, c 90, d 91");
}

#[test]
fn people_are_found_by_role_and_skill() {
    let mut project = counted("weld 2d\n paint 2d");
    let need = |skill: &str| Need {
        who: Who::Fitting { role: Some("worker".to_owned()), skills: vec![skill.to_owned()], count: 1 },
        amount: Amount::default(),
    };
    project.tasks[0].needs = vec![need("welding")];
    project.tasks[1].needs = vec![need("painting")];
    let worker = |id: &str, skills: &[&str]| Resource {
        roles: vec!["worker".to_owned()],
        skills: skills.iter().map(|skill| (*skill).to_owned()).collect(),
        ..Resource::new(id)
    };
    project.resources = vec![worker("all", &["welding", "painting"]), worker("painter", &["painting"])];
    let schedule = planned(&project);
    assert_eq!(who(&schedule, "weld"), ["all"]);
    assert_eq!(who(&schedule, "paint"), ["painter"], "the one with fewer skills is enough");
    assert_eq!(schedule.makespan.to_string(), "2");
}

#[test]
fn of_two_who_fit_the_cheaper_is_found_whatever_they_are_paid_in() {
    let mut project = office("a 1d role welder");
    project.currency = "EUR".to_owned();
    project.exchange.insert("JPY".to_owned(), "0.006".parse().unwrap());
    let welder = |id: &str, rate: &str| Resource {
        roles: vec!["welder".to_owned()],
        rate: Some(rate.parse().unwrap()),
        ..Resource::new(id)
    };
    project.resources = vec![welder("ana", "90"), welder("kei", "5000 JPY")];
    let schedule = planned(&project);
    assert_eq!(who(&schedule, "a"), ["kei"]);
    assert_eq!(schedule.cost.total.to_string(), "240.00", "eight hours at 30");
}

#[test]
fn time_that_passes_with_people_who_rest_is_told() {
    let mut project = office("a 2ed needs ana\n b 2d needs ana after a\n c 2ed needs oven\n d 2ed needs ben");
    let away = Resource { absences: vec!["2026-03-04".parse().unwrap()], ..Resource::new("ana") };
    let paid = Resource { rate: Some("40".parse().unwrap()), ..Resource::new("ben") };
    project.resources = vec![away, paid, Resource::new("oven")];
    let warnings = planned(&project).warnings;
    let told: Vec<&str> = warnings.iter().filter_map(|warning| warning.task.as_deref()).collect();
    assert_eq!(told, ["a", "d"]);
    assert!(warnings[0].what.contains("hours and absences of `ana`"), "{}", warnings[0].what);
    project.calendar = None;
    project.start = Some(when("2026-03-02"));
    project.resources[0].absences.clear();
    assert!(planned(&project).warnings.is_empty(), "everybody works round the clock");
}

#[test]
fn several_people_of_one_role_are_different_people() {
    let mut project = counted("lift 1d");
    let who_fits = Who::Fitting { role: Some("worker".to_owned()), skills: Vec::new(), count: 2 };
    project.tasks[0].needs = vec![Need { who: who_fits, amount: Amount::default() }];
    let worker = |id: &str| Resource { roles: vec!["worker".to_owned()], ..Resource::new(id) };
    project.resources = vec![worker("a"), worker("b"), worker("c")];
    assert_eq!(who(&planned(&project), "lift"), ["a", "b"]);
}

#[test]
fn a_person_found_works_in_their_own_hours() {
    let mut project = counted("call 2d role night");
    let week = r#"{"id":"nights","week":{"mon-sun":["00:00-12:00"]}}"#;
    project.calendars = vec![serde_json::from_str(week).unwrap()];
    let night =
        Resource { roles: vec!["night".to_owned()], calendar: Some("nights".to_owned()), ..Resource::new("nox") };
    project.resources = vec![night];
    // Two days of 24 hours of work, 12 hours a day.
    assert_eq!(drawn(&planned(&project)), "call 0..3.5");
}

#[test]
fn priority_wins_where_two_want_the_same() {
    let mut project = with_people(counted("a 2d needs ana\n b 2d needs ana"), &[("ana", 1)]);
    project.tasks[1].priority = 5;
    assert_eq!(drawn(&planned(&project)), "a 2..4\nb 0..2");
}

#[test]
fn priority_wins_in_a_large_project_too() {
    let many = (0..1_200).map(|at| format!("t{at:04} 1d needs crew")).collect::<Vec<_>>().join("\n");
    let mut project = with_people(counted(&many), &[("crew", 3)]);
    project.tasks[1_199].priority = 1;
    project.tasks[0].priority = -1;
    let schedule = planned(&project);
    assert!(schedule.overloads.is_empty());
    assert_eq!(schedule.makespan.to_string(), "400", "three at a time");
    assert_eq!(
        (row(&schedule, "t1199").start.to_string(), row(&schedule, "t0000").start.to_string()),
        ("0".into(), "399".into())
    );
}

#[test]
fn a_lag_of_work_is_the_same_whoever_is_found() {
    // Six hours of the office end on Tuesday at eleven, when Eve has gone home; in her own hours they would end on Wednesday.
    let mut project = office("a 4h\n b 4h after a FS+6h role worker\n c 1h after b");
    let week = r#"{"id":"early","week":{"mon-sat":["06:00-10:00"]}}"#;
    project.calendars.push(serde_json::from_str(week).unwrap());
    let early =
        Resource { roles: vec!["worker".to_owned()], calendar: Some("early".to_owned()), ..Resource::new("eve") };
    project.resources = vec![early];
    let schedule = planned_with(&project, &Options { draws: 64, ..Options::default() });
    let expected = "a 03-02 09:00..03-02 13:00\nb 03-04 06:00..03-04 10:00\nc 03-04 10:00..03-04 11:00";
    assert_eq!(drawn(&schedule), expected);
    assert_eq!(column(&schedule, |row| row.float.to_string()), "a 0.75, b 0, c 0", "until Tuesday evening");
    assert_eq!(schedule.monte_carlo.unwrap().finish.p95, schedule.finish, "futures count it alike");
}
