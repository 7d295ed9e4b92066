//! The 14 checks of the DCMA: each passes on a sound project and fails on one that is not.

use gantry_schedule::project::{Baseline, Project};
use gantry_schedule::{Check, health};

use crate::kit::{counted, office, planned, when, with_people};

fn checked(project: &Project, id: &str) -> Check {
    let checks = health(project, &planned(project));
    assert_eq!(checks.len(), 14);
    checks.into_iter().find(|check| check.id == id).expect("there is such a check")
}

/// Draws `value passed`, and who fails it.
fn told(project: &Project, id: &str) -> String {
    let check = checked(project, id);
    let verdict = if check.passed { "ok" } else { "fails" };
    format!("{} {verdict} {}", check.value, check.tasks.join(" ")).trim_end().to_owned()
}

/// A chain of this many days, `t0` to the last, with something said of one of them.
fn chain(days: usize, special: usize, said: &str) -> Project {
    let line = |at: usize| {
        let after = if at == 0 { String::new() } else { format!("after t{}", at - 1) };
        format!("t{at} 1d {after} {}", if at == special { said } else { "" })
    };
    counted(&(0..days).map(line).collect::<Vec<_>>().join("\n"))
}

#[test]
fn every_task_but_the_first_and_the_last_has_one_before_and_one_after() {
    assert_eq!(told(&counted("a 1d\n b 1d after a\n c 1d after b"), "logic"), "0 ok");
    assert_eq!(told(&counted("a 1d\n b 1d after a\n c 1d after a\n d 1d after b"), "logic"), "25 fails c");
    assert_eq!(told(&counted("a 1d\n b 1d\n c 1d after a, b"), "logic"), "33.33 fails b");
}

#[test]
fn links_of_a_summary_hold_for_what_is_in_it() {
    let tied = "start -\n s - after start\n a 1d in s\n b 1d in s\n end - after s";
    assert_eq!(told(&counted(tied), "logic"), "0 ok");
    let loose = "start -\n s -\n a 1d in s after start\n b 1d in s\n end - after s";
    assert_eq!(told(&counted(loose), "logic"), "50 fails b");
}

#[test]
fn there_are_no_leads() {
    assert_eq!(told(&counted("a 3d\n b 1d after a"), "leads"), "0 ok");
    assert_eq!(told(&counted("a 3d\n b 1d after a FS-1d\n c 1d after b"), "leads"), "50 fails b");
}

#[test]
fn lags_are_few() {
    assert_eq!(told(&chain(21, 20, ""), "lags"), "0 ok");
    let one = |tasks: usize| {
        let mut project = chain(tasks, 0, "");
        project.tasks[1].after[0].lag = "2d".parse().unwrap();
        project
    };
    assert_eq!(told(&one(21), "lags"), "5 ok t1", "one of twenty links");
    assert_eq!(told(&one(20), "lags"), "5.26 fails t1", "one of nineteen");
    assert_eq!(told(&one(20), "leads"), "0 ok", "a lag is no lead");
}

#[test]
fn nine_in_ten_links_are_from_finish_to_start() {
    let one = |tasks: usize| {
        let mut project = chain(tasks, 0, "");
        project.tasks[1].after = vec!["t0 SS".parse().unwrap()];
        project
    };
    assert_eq!(told(&one(11), "relationship_types"), "90 ok t1");
    assert_eq!(told(&one(10), "relationship_types"), "88.89 fails t1");
    let alone = checked(&counted("a 1d"), "relationship_types");
    assert_eq!((alone.passed, alone.note.as_deref()), (true, Some("no open task waits for another")));
}

#[test]
fn dates_that_stop_the_logic_are_few() {
    assert_eq!(told(&chain(20, 5, "by 90 hard"), "hard_constraints"), "5 ok t5");
    assert_eq!(told(&chain(19, 5, "by 90 hard"), "hard_constraints"), "5.26 fails t5");
    assert_eq!(told(&chain(2, 1, "by 90"), "hard_constraints"), "0 ok", "a soft deadline stops nothing");
    assert_eq!(told(&chain(2, 1, "from 3"), "hard_constraints"), "0 ok", "nor does an early date");
}

#[test]
fn little_has_a_float_of_more_than_44_days() {
    assert_eq!(told(&counted("a 1d\n b 45d after a\n c 1d after a\n d 1d after b, c"), "high_float"), "0 ok");
    assert_eq!(told(&counted("a 1d\n b 46d after a\n c 1d after a\n d 1d after b, c"), "high_float"), "25 fails c");
    let working = "a 1d\n b 46d after a\n c 1d after a\n d 1d after b, c";
    assert_eq!(told(&office(working), "high_float"), "25 fails c", "days of work, not days that pass");
}

#[test]
fn nothing_is_late_already() {
    assert_eq!(told(&counted("a 2d by 3 hard\n b 1d after a"), "negative_float"), "0 ok");
    assert_eq!(told(&counted("a 2d by 1 hard\n b 1d after a"), "negative_float"), "50 fails a");
    let mut project = counted("a 2d\n b 1d after a\n c 1d");
    project.deadline = Some("2 hard".parse().unwrap());
    assert_eq!(
        told(&project, "negative_float"),
        "66.67 fails a b",
        "the project is a day late, and `c` has two to spare"
    );
}

#[test]
fn little_takes_more_than_44_days() {
    assert_eq!(told(&counted("a 44d"), "high_duration"), "0 ok");
    assert_eq!(told(&counted("a 45d"), "high_duration"), "100 fails a");
    assert_eq!(told(&office("a 45d"), "high_duration"), "100 fails a");
    assert_eq!(told(&office("a 60ed"), "high_duration"), "0 ok", "60 days that pass have 43 days of work");
    assert_eq!(told(&office("a 63ed"), "high_duration"), "100 fails a", "63 have 45");
}

#[test]
fn nothing_was_done_in_the_future() {
    let mut project = counted("a 3d started 1 finished 4\n b 2d after a started 4 percent 50");
    assert_eq!(told(&project, "invalid_dates"), "0 ok");
    assert!(checked(&project, "invalid_dates").note.unwrap().contains("without a data date"));
    project.data_date = Some(when("5"));
    assert_eq!(told(&project, "invalid_dates"), "0 ok");
    assert_eq!(checked(&project, "invalid_dates").note, None);
    project.data_date = Some(when("3"));
    assert_eq!(told(&project, "invalid_dates"), "100 fails a b");
}

#[test]
fn everything_that_takes_time_has_someone_or_a_cost() {
    let mut project = with_people(counted("m -\n a 1d needs ana\n b 1d after a"), &[("ana", 1)]);
    assert_eq!(told(&project, "resources"), "50 fails b", "a milestone needs nobody");
    project.tasks[2].costs = vec![serde_json::from_str(r#"{"name": "parts", "amount": 100}"#).unwrap()];
    assert_eq!(told(&project, "resources"), "0 ok");
    let nobody = with_people(counted("a 1d needs ana 2"), &[("ana", 1)]);
    assert_eq!(told(&nobody, "resources"), "100 fails a", "whoever cannot be there does not count");
}

fn agreed(mut project: Project, task: usize, start: &str, finish: &str) -> Project {
    let cost = serde_json::from_str("0").unwrap();
    project.tasks[task].baseline = Some(Baseline { start: when(start), finish: when(finish), cost });
    project
}

#[test]
fn what_was_agreed_is_done_by_then() {
    let mut project = counted("a 2d started 0 finished 2\n b 2d after a started 2 finished 5\n c 2d after b");
    let note = checked(&project, "missed_tasks").note.unwrap();
    assert_eq!(note, "there is no data date, so nothing to miss yet");
    project.data_date = Some(when("5"));
    assert_eq!(told(&project, "missed_tasks"), "50 fails b", "planned for the fourth, done on the fifth");
    assert_eq!(told(&agreed(project.clone(), 1, "2", "5"), "missed_tasks"), "0 ok", "that was agreed");
    project.data_date = Some(when("1"));
    project.tasks[0].progress = serde_json::from_str(r#"{"started": 0, "percent": 50}"#).unwrap();
    project.tasks[1].progress = Default::default();
    let early = checked(&project, "missed_tasks");
    assert_eq!(early.note.as_deref(), Some("nothing is due yet, so nothing to miss"));
}

#[test]
fn as_much_is_done_as_was_agreed() {
    let mut project = counted("a 2d started 0 finished 2\n b 2d after a started 2 finished 5\n c 2d after b");
    project.data_date = Some(when("5"));
    assert_eq!(told(&project, "baseline_execution_index"), "1 ok", "two were to be done, two are, though one was late");
    project.data_date = Some(when("6"));
    assert_eq!(told(&project, "baseline_execution_index"), "0.67 fails c");
    let ahead = agreed(agreed(project, 1, "2", "9"), 2, "9", "12");
    assert_eq!(told(&ahead, "baseline_execution_index"), "2 ok", "one was to be done, two are");
}

#[test]
fn the_end_follows_a_critical_task() {
    assert_eq!(told(&counted("a 2d\n b 3d after a\n c 1d"), "critical_path_test"), "100 ok");
    let waiting = with_people(office("a 2d needs ana\n b 3d needs ana"), &[("ana", 1)]);
    assert_eq!(told(&waiting, "critical_path_test"), "100 ok", "the order of people carries a delay, too");
    let broken = counted("a 2d\n b 12d after a\n c 2d by 1 hard");
    assert_eq!(told(&broken, "critical_path_test"), "98 fails c", "a date makes `c` critical, not its work");
    let note = checked(&broken, "critical_path_test").note.unwrap();
    assert_eq!(note, "600 days more for `c` move the end by 588");
}

#[test]
fn the_critical_path_fits_before_the_deadline() {
    let index = |deadline: &str| {
        let mut project = counted("a 15d\n b 5d after a");
        project.deadline = Some(deadline.parse().unwrap());
        told(&project, "critical_path_length_index")
    };
    assert_eq!(index("22"), "1.1 ok");
    assert_eq!(index("19"), "0.95 ok");
    assert_eq!(index("18"), "0.9 fails");
    let free = checked(&counted("a 15d"), "critical_path_length_index");
    assert!(free.passed && free.note.unwrap().contains("to miss yet"));
    let late = agreed(counted("a 20d"), 0, "0", "18");
    assert_eq!(told(&late, "critical_path_length_index"), "0.9 fails", "without a deadline by what was agreed");
}

#[test]
fn what_is_done_is_not_held_against_a_schedule() {
    let mut project = counted("a 90d started 0 finished 90\n b 1d after a FS-1d started 89 finished 90\n c 1d after b");
    project.data_date = Some(when("90"));
    for id in ["high_duration", "leads", "negative_float"] {
        assert_eq!(told(&project, id), "0 ok", "{id}");
    }
}

#[test]
fn a_project_of_milestones_has_nothing_to_fail() {
    let checks = health(&counted("a -\n b - after a"), &planned(&counted("a -\n b - after a")));
    assert!(checks.iter().all(|check| check.passed), "{checks:?}");
}

#[test]
fn only_so_many_tasks_are_named() {
    let many = (0..50).map(|at| format!("t{at:02} 1d")).collect::<Vec<_>>().join("\n");
    let check = checked(&counted(&many), "logic");
    assert_eq!((check.count, check.tasks.len(), check.value), (50, 20, 100.0), "even the first has none after it");
}
