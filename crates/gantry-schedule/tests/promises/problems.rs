//! A wrong project is told everything that is wrong with it, where, and what to do.

use gantry_schedule::project::{Calendar, Project, Unit, Week};
use gantry_schedule::{Options, schedule};

use crate::kit::{counted, office, tasks};

fn told(project: &Project) -> Vec<String> {
    let problems = schedule(project, &Options::default()).expect_err("the project is wrong");
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn a_circle_is_shown_all_around() {
    let told = told(&counted("a 1d after c\n b 1d after a\n c 1d after b\n d 1d after c"));
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("in a circle"), "{}", told[0]);
    assert!(
        ["a → b → c → a", "b → c → a → b", "c → a → b → c"].iter().any(|around| told[0].contains(around)),
        "{}",
        told[0]
    );
}

#[test]
fn an_unknown_name_is_told_with_the_nearest_one() {
    assert_eq!(
        told(&counted("design 1d\n build 1d after desing")),
        ["task.build.after: there is no task `desing`; did you mean `design`?"]
    );
}

#[test]
fn several_names_that_were_taken_for_one_are_told_how_to_be_written() {
    let mut project = counted("a 1d\n b 1d\n c 1d after a");
    project.tasks[2].after[0].task = "a b".to_owned();
    assert_eq!(told(&project), ["task.c.after: there is no task `a b`; several are written with commas: `a, b`"]);
}

#[test]
fn every_problem_is_told_at_once() {
    let mut project = counted("a 1d after x\n a 2d needs bob\n s -\n p 9d/5d/1d in s by 2026-01-01\n q 1d after s SS");
    project.tasks[2].estimate = Some("3d".parse().unwrap());
    project.currency = "euro".to_owned();
    project.calendar = Some("none".to_owned());
    let told = told(&project).join("\n");
    for part in [
        "no task `x`",
        "two have the id `a`",
        "no resource `bob`",
        "must rise from low to high",
        "is a date, but the project has no start date",
        "starts with its first part",
        "a summary has no work of its own",
        "`euro` is not a currency",
        "no calendar `none`",
    ] {
        assert!(told.contains(part), "{part} is missing in\n{told}");
    }
}

#[test]
fn a_calendar_without_work_is_told() {
    let mut project = office("a 1d on empty");
    project.calendars.push(Calendar { week: Some(Week::default()), ..Calendar::always("empty") });
    assert!(told(&project)[0].contains("no working time for a whole year"));
}

#[test]
fn an_empty_project_is_done_at_once() {
    let schedule = schedule(&Project::counting(Unit::Day), &Options { draws: 100, ..Options::default() }).unwrap();
    assert_eq!(schedule.makespan.to_string(), "0");
    assert!(schedule.tasks.is_empty() && schedule.feasible);
}

#[test]
fn a_project_reads_back_what_it_wrote() {
    let mut project = office("a 1d/2d/3d needs ana 50% by 2026-05-01 hard\n b 1d after a SS+2ed started 2026-03-02");
    project.tasks.extend(tasks("c 3mo role welder"));
    let again: Project = serde_json::from_str(&serde_json::to_string(&project).unwrap()).unwrap();
    assert_eq!(again, project);
}
