//! The optimiser finds shorter schedules, which are checked as any other.

use gantry_schedule::project::{Amount, Need, Resource, Who};
use gantry_schedule::rcpsp::{Capacity, Instance, Task, check};
use gantry_schedule::{Options, Project, Schedule, schedule_until};

use crate::kit::{counted, drawn, office, planned_with, with_people};

/// Six tasks of two people each among three, where rules alone may leave gaps.
fn instance() -> Instance {
    let mut instance = Instance::default();
    let crew = instance.add_resource(Capacity::constant(4));
    let rows = [(0, 0), (3, 2), (4, 3), (2, 4), (2, 2), (1, 4), (4, 1), (3, 3), (2, 2), (4, 2), (0, 0)];
    for (duration, amount) in rows {
        instance.add_task(Task::new(duration).with(crew, amount));
    }
    for (before, after) in
        [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 6), (4, 7), (5, 8), (6, 9), (7, 10), (8, 10), (9, 10)]
    {
        instance.finish_to_start(before, after);
    }
    instance
}

fn starts(schedule: &Schedule) -> Vec<u32> {
    schedule.tasks.iter().map(|row| row.start.to_string().parse().unwrap()).collect()
}

fn searched(project: &Project, schedules: u64) -> Schedule {
    planned_with(project, &Options { schedules, ..Options::default() })
}

#[test]
fn a_problem_on_periods_is_a_project_with_whole_times() {
    let instance = instance();
    let project = Project::from(&instance);
    for schedules in [0, 500] {
        let schedule = searched(&project, schedules);
        assert!(check(&instance, &starts(&schedule)).is_empty());
        assert!(schedule.feasible);
        assert_eq!(schedule.tasks[0].id, "1");
    }
}

#[test]
fn searching_is_never_worse_than_the_rules_and_tells_its_bound() {
    let project = Project::from(&instance());
    let (rules, searched) = (searched(&project, 0), searched(&project, 500));
    assert!(searched.makespan <= rules.makespan);
    let told = searched.optimiser.unwrap();
    assert!(told.lower_bound <= searched.makespan);
    assert!(told.schedules > 0 && rules.optimiser.is_none());
}

#[test]
fn a_search_that_proves_its_schedule_says_so() {
    let project = with_people(counted("a 3d needs ana\n b 2d needs ana\n c 4d needs ana"), &[("ana", 1)]);
    let told = searched(&project, 100).optimiser.unwrap();
    assert!(told.proven);
    assert_eq!(told.lower_bound.to_string(), "9");
}

#[test]
fn a_search_that_is_stopped_still_has_a_schedule() {
    let project = Project::from(&instance());
    let options = Options { schedules: 1_000_000, ..Options::default() };
    let schedule = schedule_until(&project, &options, &|| true).unwrap();
    assert!(check(&instance(), &starts(&schedule)).is_empty());
}

#[test]
fn what_may_begin_before_it_is_let_go_stands_where_that_is_shortest() {
    // `b` may begin two days before `a` does. One after the other in the order of the link takes nine days.
    let mut project = counted("a 3d needs crew\n b 2d after a FS-5d needs crew\n c 4d after b");
    project = with_people(project, &[("crew", 1)]);
    let schedule = searched(&project, 100);
    assert_eq!(drawn(&schedule), "a 2..5\nb 0..2\nc 2..6");
    assert!(schedule.overloads.is_empty() && schedule.warnings.is_empty());
}

/// Forty tasks in office hours for two welders and two painters, one of whom is both; each is away at some time.
fn staffed() -> Project {
    let lines = (0..40).map(|at: usize| {
        let before = [at.wrapping_sub(3), at.wrapping_sub(7 + at % 4)];
        let after: Vec<String> = before.iter().filter(|&&one| one < at).map(|one| format!("t{one:02}")).collect();
        let after = if after.is_empty() { String::new() } else { format!("after {}", after.join(", ")) };
        format!("t{at:02} {}h {after}", 3 + at * 7 % 11)
    });
    let mut project = office(&lines.collect::<Vec<_>>().join("\n"));
    let person = |id: &str, roles: &[&str], away: &str| Resource {
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        absences: vec![away.parse().unwrap()],
        ..Resource::new(id)
    };
    project.resources = vec![
        person("ana", &["welder"], "2026-03-05..2026-03-06"),
        person("ben", &["welder", "painter"], "2026-03-10..2026-03-12"),
        person("cleo", &["painter"], "2026-03-04..2026-03-04"),
    ];
    for (at, task) in project.tasks.iter_mut().enumerate().filter(|(at, _)| at % 5 > 0) {
        let role = Some(if at % 2 == 0 { "welder" } else { "painter" }.to_owned());
        task.needs = vec![Need { who: Who::Fitting { role, skills: Vec::new(), count: 1 }, amount: Amount::default() }];
    }
    project
}

#[test]
fn more_schedules_help_where_people_are_away_and_found_by_role() {
    let finishes = [0, 1, 30, 300].map(|schedules| searched(&staffed(), schedules).finish.to_string());
    let days: Vec<&str> = finishes.iter().map(|finish| &finish[5..16]).collect();
    assert_eq!(days, ["03-26T13:00", "03-25T14:00", "03-25T14:00", "03-25T13:00"]);
}

#[test]
fn more_schedules_help_where_some_tasks_have_priority() {
    let mut project = Project::from(&instance());
    project.tasks[4].priority = 1;
    let finishes = [0, 300].map(|schedules| searched(&project, schedules).finish.to_string());
    assert_eq!(finishes, ["19", "16"]);
}

#[test]
fn a_hard_deadline_that_no_rule_keeps_is_searched_for() {
    let mut project = Project::from(&instance());
    project.tasks[10].deadline = Some("16 hard".parse().unwrap());
    assert_eq!([0, 100].map(|schedules| searched(&project, schedules).feasible), [false, true]);
}
