//! What is done stays done, and the rest is planned from the data date.

use gantry_schedule::Options;
use gantry_schedule::project::CapacityChange;

use crate::kit::{column, counted, drawn, office, planned, planned_with, row, when, with_people};

fn at(data_date: &str, drawing: &str) -> gantry_schedule::Project {
    let mut project = counted(drawing);
    project.data_date = Some(when(data_date));
    project
}

#[test]
fn finished_work_keeps_its_actual_dates() {
    let schedule = planned(&at("4", "a 3d started 1 finished 4\n b 2d after a"));
    assert_eq!(drawn(&schedule), "a 1..4\nb 4..6");
    assert!(!schedule.tasks[0].critical, "what is done can delay nothing");
    assert_eq!(column(&schedule, |row| row.percent.to_string()), "a 100, b 0");
}

#[test]
fn work_in_progress_has_its_remaining_duration_from_the_data_date() {
    let schedule = planned(&at("5", "a 4d started 2 percent 50\n b 4d started 1 left 6d\n c 1d after a, b"));
    assert_eq!(drawn(&schedule), "a 2..7\nb 1..11\nc 11..12");
}

#[test]
fn what_is_left_says_how_much_is_done() {
    let schedule = planned(&at("5", "a 4d started 3 left 1d\n b 4d started 1 left 6d\n c 4d started 1 left 0d\n d 4d"));
    assert_eq!(column(&schedule, |row| row.percent.to_string()), "a 75, b 40, c 99, d 0");
}

#[test]
fn a_summary_is_as_far_as_its_parts() {
    let done = (0..9).map(|at| format!("p{at} 2d in all started {} finished {}", at * 2, at * 2 + 2));
    let drawing = format!("all -\n{}\nlast 2d in all\nnone -\n m - in none", done.collect::<Vec<_>>().join("\n"));
    let schedule = planned(&at("18", &drawing));
    assert_eq!((row(&schedule, "all").percent, row(&schedule, "none").percent), (90, 0));
    let halves = planned(&at("3", "all -\n a 6d in all started 0 percent 50\n b 2d in all started 0 finished 2"));
    assert_eq!(row(&halves, "all").percent, 62, "five days of eight");
}

#[test]
fn what_is_done_nobody_says_since_when_was_worked_on_last() {
    let schedule = planned(&at("9", "a 4d percent 50\n b 2d percent 100\n c 40d percent 50"));
    assert_eq!(drawn(&schedule), "a 7..11\nb 7..9\nc 0..29", "and not before the project began");
    let mut project = with_people(office("a 5d needs ana percent 40"), &[("ana", 1)]);
    project.resources[0].rate = Some("10".parse().unwrap());
    project.data_date = Some(when("2026-03-16"));
    let schedule = planned(&project);
    assert_eq!(drawn(&schedule), "a 03-12 09:00..03-18 17:00");
    assert_eq!(schedule.earned_value.unwrap().ac.to_string(), "160.00", "two days of five");
    assert_eq!(schedule.cost.total.to_string(), "400.00");
}

#[test]
fn nothing_unfinished_is_planned_before_the_data_date() {
    let schedule = planned(&at("10", "a 3d\n b 2d after a"));
    assert_eq!(drawn(&schedule), "a 10..13\nb 13..15");
}

#[test]
fn progress_against_the_links_is_told_and_the_rest_waits() {
    let schedule = planned(&at("3", "a 5d started 0 percent 40\n b 4d after a started 1 percent 25"));
    assert_eq!(drawn(&schedule), "a 0..6\nb 1..9");
    assert_eq!(schedule.warnings[0].task.as_deref(), Some("b"));
    assert!(schedule.warnings[0].what.contains("link from `a`"));
}

#[test]
fn people_at_work_stay_at_it() {
    let project = with_people(at("2", "a 4d needs ana\n b 4d needs ana started 1 percent 25"), &[("ana", 1)]);
    assert_eq!(drawn(&planned(&project)), "a 5..9\nb 1..5");
}

#[test]
fn what_is_left_of_started_work_waits_for_people_in_every_future() {
    let started = ["a", "b", "c", "d"].map(|id| format!("{id} 1d needs crew started 2026-03-02T09:00"));
    let mut project = with_people(office(&started.join("\n")), &[("crew", 1)]);
    project.data_date = Some(when("2026-03-02T09:00"));
    let schedule = planned_with(&project, &Options { draws: 100, ..Options::default() });
    assert_eq!(schedule.finish.to_string(), "2026-03-05T17:00:00+00:00", "four days, one after the other");
    assert!(schedule.warnings.is_empty(), "to wait for someone is not wrong: {:?}", schedule.warnings);
    let futures = schedule.monte_carlo.unwrap();
    assert_eq!((futures.finish.p10, futures.finish.p95), (schedule.finish, schedule.finish), "there is no doubt");
}

#[test]
fn started_work_goes_on_when_there_is_someone_again() {
    let mut project = with_people(office("a 3d needs crew 2 started 2026-03-02T09:00 percent 50"), &[("crew", 1)]);
    project.data_date = Some(when("2026-03-03T12:00"));
    let capacity = "2".parse().unwrap();
    project.resources[0].changes.push(CapacityChange { from: when("2026-03-09"), capacity });
    let schedule = planned(&project);
    assert!(schedule.feasible, "{:?}", schedule.overloads);
    let futures = planned_with(&project, &Options { draws: 100, ..Options::default() }).monte_carlo.unwrap();
    assert_eq!(futures.finish.p10, schedule.finish, "there is no doubt, and nobody comes earlier in any future");
    assert_eq!(row(&schedule, "a").start.to_string(), "2026-03-02T09:00:00+00:00");
    assert_eq!(row(&schedule, "a").finish.to_string(), "2026-03-10T13:00:00+00:00", "a day and a half from the ninth");
}

#[test]
fn what_is_left_of_work_follows_its_start_even_if_that_is_after_the_data_date() {
    let mut project = office("a 4d started 2026-03-09 percent 50\n b 1d after a");
    project.data_date = Some(when("2026-03-04"));
    assert_eq!(drawn(&planned(&project)), "a 03-09 00:00..03-10 17:00\nb 03-11 09:00..03-11 17:00");
}

#[test]
fn work_that_finished_before_it_started_is_a_mistake() {
    let problems = gantry_schedule::schedule(&at("9", "a 3d started 6 finished 4"), &Options::default()).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "task.a.progress: it has finished before it started; exchange the two, or correct one"
    );
}

#[test]
fn what_is_all_done_without_a_date_is_neither_critical_nor_has_it_float() {
    let schedule = planned(&at("3", "a 5d percent 100\n b 2d after a\n c 1d after a percent 100"));
    assert_eq!(schedule.critical_path, ["b"]);
    let done = ["a", "c"].map(|id| row(&schedule, id));
    assert!(done.iter().all(|row| !row.critical && !row.near_critical && row.percent == 100));
    assert_eq!(column(&schedule, |row| row.finish.to_string()), "a 3, b 5, c 3");
}
