//! What if: only the difference, and clear words for a wrong change.

use gantry_schedule::what_if::apply;
use gantry_schedule::{Options, what_if};

use crate::kit::{counted, with_people};

fn difference(project: &gantry_schedule::Project, changes: &[&str]) -> Vec<String> {
    let told = what_if(project, changes, &Options::default()).unwrap();
    told.difference.iter().map(|change| format!("{} {}→{}", change.path, change.before, change.after)).collect()
}

#[test]
fn no_change_is_no_difference() {
    let project = counted("a 3d\n b 2d after a");
    assert!(difference(&project, &[]).is_empty());
    assert!(difference(&project, &["task.a.estimate=3d"]).is_empty(), "the same value changes nothing");
}

#[test]
fn only_what_becomes_different_is_told() {
    let project = counted("a 3d\n b 2d after a\n c 1d");
    let told = difference(&project, &["task.a.estimate=5d"]);
    assert_eq!(
        told,
        [
            "makespan 5→7",
            "finish 5→7",
            "tasks.a.finish 3→5",
            "tasks.a.late_finish 3→5",
            "tasks.a.duration 3→5",
            "tasks.a.hours.low 72→120",
            "tasks.a.hours.likely 72→120",
            "tasks.a.hours.high 72→120",
            "tasks.a.drag 3→5",
            "tasks.b.start 3→5",
            "tasks.b.finish 5→7",
            "tasks.b.late_start 3→5",
            "tasks.b.late_finish 5→7",
            "tasks.c.late_start 4→6",
            "tasks.c.late_finish 5→7",
            "tasks.c.float 4→6",
            "tasks.c.free_float 4→6",
        ]
    );
}

#[test]
fn anything_can_be_changed() {
    let project = with_people(counted("a 3d needs ana\n b 2d needs ana\n x.y 1d"), &[("ana", 1)]);
    let makespan = |change: &str| {
        let told = what_if(&project, &[change], &Options::default()).unwrap();
        told.schedule.makespan.to_string()
    };
    assert_eq!(makespan("resource.ana.capacity=2"), "3");
    assert_eq!(makespan("task.b=none"), "3");
    assert_eq!(makespan("task.b.needs=[]"), "3");
    assert_eq!(makespan("task.x.y.estimate=9d"), "9");
    assert_eq!(makespan("task.b.after=[\"a FS+1d\"]"), "6");
    assert_eq!(makespan("task.new={\"estimate\": \"8d\"}"), "8");
    assert_eq!(makespan("project.calendar=none"), "5");
    assert_eq!(makespan("task.a.progress.finished=1"), "2");
}

#[test]
fn a_wrong_change_says_why_and_what_to_write() {
    let project = counted("build 3d");
    let rows = [
        ("task.build.estimate", "no `=`", "task.x.estimate=5d"),
        ("tusk.build.estimate=5d", "no `tusk`", "did you mean `task`?"),
        ("task.biuld.estimate=5d", "no task `biuld`", "did you mean `build`?"),
        ("task.build.estimate=5x", "`5x` is not a length", "see the fields"),
        ("task.build.estimat=5d", "unknown field `estimat`", "see the fields"),
        ("task.build=5d", "what of `build` to change", "task.build.field=value"),
        ("project=5d", "names no field", "project.deadline"),
    ];
    for (change, what, fix) in rows {
        let wrong = apply(&project, change).unwrap_err();
        assert!(wrong.what.contains(what) && wrong.fix.contains(fix), "{change}: {wrong}");
    }
}
