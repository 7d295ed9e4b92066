//! What cannot be kept is said: which, by how much, and what would help.

use gantry_schedule::project::{Amount, CapacityChange, Need, Project, ReferenceClass, Task};
use gantry_schedule::{Constraint, Infeasible, Options, what_if};
use proptest::prelude::*;

use crate::kit::{counted, office, planned, when, with_people};

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
fn a_missed_day_is_told_as_that_day() {
    let mut project = office("a 10d");
    project.deadline = Some("2026-03-11 hard".parse().unwrap());
    let infeasible = &planned(&project).infeasible[0];
    assert_eq!(
        infeasible.what,
        "the project is due by Wed 2026-03-11 and is done at Fri 2026-03-13 17:00, 2d of work too late"
    );
    assert_eq!(infeasible.fixes[0].what, "move the deadline of the project to Fri 2026-03-13 17:00");
    assert_eq!(infeasible.fixes[0].change.as_deref(), Some("project.deadline=2026-03-13T17:00:00+00:00 hard"));
}

#[test]
fn what_was_due_before_it_could_begin_is_not_told_to_be_shortened() {
    let schedule = planned(&counted("a 2d by -30 hard"));
    let fixes: Vec<&str> = schedule.infeasible[0].fixes.iter().map(|fix| &*fix.what).collect();
    assert_eq!(fixes, ["move the deadline of `a` to 2"]);
}

/// Tries every fix that can be tried, and says how many that were.
fn assert_every_fix_helps(project: &Project) -> usize {
    let schedule = planned(project);
    let mut tried = 0;
    for infeasible in &schedule.infeasible {
        for change in infeasible.fixes.iter().filter_map(|fix| fix.change.as_deref()) {
            let after = what_if(project, &[change], &Options::default()).unwrap().schedule;
            let same = |other: &Infeasible| match (&infeasible.constraint, &other.constraint) {
                (Constraint::Deadline { task: a, .. }, Constraint::Deadline { task: b, .. }) => a == b,
                (
                    Constraint::Capacity { task: a, resource: x, .. },
                    Constraint::Capacity { task: b, resource: y, .. },
                ) => (a, x) == (b, y),
                _ => false,
            };
            assert!(!after.infeasible.iter().any(same), "{} is not mended by {change}", infeasible.what);
            tried += 1;
        }
    }
    tried
}

#[test]
fn every_fix_that_can_be_tried_helps() {
    let mut project = office("a 5d\n b 4d after a\n c 6d from 2026-03-11\n d 1d after b, c by 2026-03-18 hard");
    project.deadline = Some("2026-03-17 hard".parse().unwrap());
    assert_eq!(planned(&project).infeasible.len(), 2);
    let tried = assert_every_fix_helps(&project);
    assert!(tried >= 4, "only {tried} fixes could be tried");
}

#[test]
fn a_fix_knows_of_classes_progress_and_elapsed_time() {
    let mut project = office(
        "a 5d by 2026-03-06 hard\n b 10d started 2026-03-02 percent 20 by 2026-03-10 hard\n c 9ed by 2026-03-09 hard",
    );
    project.data_date = Some(when("2026-03-03"));
    project.classes = vec![ReferenceClass { id: "past".to_owned(), ratios: vec![1.5, 2.5] }];
    project.tasks[0].class = Some("past".to_owned());
    let schedule = planned(&project);
    let shorter: Vec<_> =
        schedule.infeasible.iter().filter_map(|missed| missed.fixes.get(1)?.change.as_deref()).collect();
    let expected = ["task.a.estimate=16h", "task.b.progress.remaining=48h", "task.c.estimate=168eh"];
    assert_eq!(shorter, expected, "four days at twice the time; six of eight days; seven of nine");
    assert_eq!(assert_every_fix_helps(&project), 6);
}

#[test]
fn what_never_fits_is_an_object_with_a_fix() {
    let together = with_people(counted("a 2d needs crane 2, crane 2"), &[("crane", 3)]);
    let mut ending = with_people(counted("a 5d needs crane"), &[("crane", 1)]);
    ending.resources[0].changes = vec![CapacityChange { from: when("2"), capacity: Amount(0) }];
    let whats = [
        "`a` needs 4 of `crane`, but there are never more than 3",
        "`a` needs 1 of `crane`, but there are at last no more than 0",
    ];
    for (project, what) in [together, ending].iter().zip(whats) {
        let schedule = planned(project);
        assert!(!schedule.feasible);
        assert_eq!(schedule.infeasible[0].what, what);
        assert_eq!(assert_every_fix_helps(project), 1);
    }
}

/// Projects with deadlines that are hard to keep: people who come and go, past work, work under way, elapsed time.
fn pressed() -> impl Strategy<Value = Project> {
    let task =
        (1..6_i64, prop::collection::vec(1..6_usize, 0..3), 0..4_u32, 0..8_u8, prop::option::weighted(0.4, 1..12_i64));
    let steps = prop::collection::vec((1..15_i64, 0..4_u32), 0..3);
    (prop::collection::vec(task, 1..10), steps, 1..20_i64, 0..3_i64).prop_map(|(drawn, steps, end, data_date)| {
        let mut project = with_people(counted(""), &[("crew", 3)]);
        for (at, (days, links, crew, kind, due)) in drawn.iter().enumerate() {
            let unit = if kind % 4 == 1 { "ed" } else { "d" };
            let mut task = Task::new(format!("t{at}"), format!("{days}{unit}").parse().unwrap());
            for back in links.iter().filter(|back| **back <= at) {
                task = task.after(&format!("t{}", at - back));
            }
            if *crew > 0 {
                task = task.needs(Need::of("crew", *crew));
            }
            task.class = (kind % 4 == 2).then(|| "past".to_owned());
            if *kind == 3 {
                task.progress.started = Some(when("0"));
                task.progress.percent = Some(10);
            }
            task.start_no_earlier = (*kind == 7).then(|| when("3"));
            task.deadline = due.map(|due| format!("{due} hard").parse().unwrap());
            project.tasks.push(task);
        }
        project.classes = vec![ReferenceClass { id: "past".to_owned(), ratios: vec![0.9, 1.7] }];
        project.data_date = Some(when(&data_date.to_string()));
        project.deadline = Some(format!("{end} hard").parse().unwrap());
        let mut steps = steps;
        steps.sort_unstable();
        steps.dedup_by_key(|step| step.0);
        let change = |(from, units): (i64, u32)| CapacityChange {
            from: when(&from.to_string()),
            capacity: Amount::whole(units),
        };
        project.resources[0].changes = steps.into_iter().map(change).collect();
        project
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_fix_helps(project in pressed()) {
        assert_every_fix_helps(&project);
        let schedule = planned(&project);
        prop_assert_eq!(schedule.feasible, schedule.infeasible.is_empty(), "{:?}", schedule.overloads);
    }
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

#[test]
fn a_cost_without_who_is_missing_is_told() {
    let mut project = with_people(counted("a 2d needs ana\n b 2d role diver"), &[("ana", 1)]);
    assert!(planned(&project).warnings.is_empty(), "nobody is paid");
    project.resources[0].rate = Some("10".parse().unwrap());
    let warnings = planned(&project).warnings;
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].task.as_deref(), Some("b"));
    assert_eq!(warnings[0].what, "its cost leaves out who is missing for it");
}
