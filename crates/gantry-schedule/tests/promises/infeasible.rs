//! What cannot be kept is said: which, by how much, and what would help.

use gantry_schedule::{Constraint, Options, what_if};

use crate::kit::{counted, office, planned, with_people};

#[test]
fn a_hard_deadline_that_is_missed_says_by_how_much_and_what_would_fix_it() {
    let schedule = planned(&counted("a 5d\n b 4d after a by 7 hard"));
    assert!(!schedule.feasible);
    let infeasible = &schedule.infeasible[0];
    assert_eq!(infeasible.what, "`b` is due by 7 and is done at 9, 2d of work too late");
    assert!(matches!(&infeasible.constraint, Constraint::Deadline { task: Some(task), .. } if task == "b"));
    let fixes: Vec<&str> = infeasible.fixes.iter().map(|fix| &*fix.what).collect();
    assert_eq!(fixes, ["move the deadline of `b` to 9", "make `a` shorter by 2d", "make `b` shorter by 2d"]);
    assert_eq!(schedule.tasks[0].float.to_string(), "-2");
}

#[test]
fn every_fix_that_can_be_tried_helps() {
    let mut project = office("a 5d\n b 4d after a\n c 6d from 2026-03-11\n d 1d after b, c by 2026-03-18 hard");
    project.deadline = Some("2026-03-17 hard".parse().unwrap());
    let schedule = planned(&project);
    assert_eq!(schedule.infeasible.len(), 2);
    let mut tried = 0;
    for infeasible in &schedule.infeasible {
        for change in infeasible.fixes.iter().filter_map(|fix| fix.change.as_deref()) {
            let after = what_if(&project, &[change], &Options::default()).unwrap().schedule;
            let same = |other: &&gantry_schedule::Infeasible| match (&infeasible.constraint, &other.constraint) {
                (Constraint::Deadline { task: a, .. }, Constraint::Deadline { task: b, .. }) => a == b,
                _ => false,
            };
            assert!(after.infeasible.iter().find(same).is_none(), "{change}");
            tried += 1;
        }
    }
    assert!(tried >= 4, "only {tried} fixes could be tried");
}

#[test]
fn a_soft_deadline_that_is_missed_is_told_and_no_more() {
    let schedule = planned(&counted("a 5d by 3"));
    assert!(schedule.feasible && !schedule.deadlines[0].met);
    assert_eq!(schedule.deadlines[0].margin.to_string(), "2");
    assert_eq!(schedule.tasks[0].float.to_string(), "0");
}

#[test]
fn a_deadline_on_a_day_means_its_end() {
    let schedule = planned(&office("a 5d by 2026-03-06 hard"));
    assert!(schedule.feasible, "Friday evening is still Friday");
}

#[test]
fn more_than_there_ever_is_is_told() {
    let schedule = planned(&with_people(counted("a 2d needs crane 3"), &[("crane", 2)]));
    let infeasible = &schedule.infeasible[0];
    assert_eq!(infeasible.what, "`a` needs 3 of `crane`, but there are never more than 2");
    assert_eq!(infeasible.fixes[0].change.as_deref(), Some("resource.crane.capacity=3"));
}

#[test]
fn a_role_that_nobody_has_is_told() {
    let schedule = planned(&with_people(counted("a 2d role diver"), &[("ana", 1)]));
    assert_eq!(schedule.infeasible[0].what, "`a` needs 1 × diver, but there are 0");
    assert!(!schedule.feasible);
}
