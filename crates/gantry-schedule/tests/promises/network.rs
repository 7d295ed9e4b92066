//! The network against numbers worked out by hand.

use crate::kit::{column, counted, drawn, office, planned, planned_with, row};
use gantry_schedule::{Levelling, Options};

/// The network of many textbooks: A 3, B 4, C 2, D 5, E 1, F 2, G 4.
fn textbook() -> gantry_schedule::Project {
    counted(
        "
        a 3d
        b 4d after a
        c 2d after a
        d 5d after b
        e 1d after c
        f 2d after c
        g 4d after d, e
        h 3d after f, g
        ",
    )
}

#[test]
fn the_textbook_network_has_the_textbook_dates() {
    // Forward by hand: a 0-3, b 3-7, c 3-5, d 7-12, e 5-6, f 5-7, g 12-16, h 16-19.
    let schedule = planned(&textbook());
    assert_eq!(drawn(&schedule), "a 0..3\nb 3..7\nc 3..5\nd 7..12\ne 5..6\nf 5..7\ng 12..16\nh 16..19");
    assert_eq!(schedule.makespan.to_string(), "19");
    assert_eq!(schedule.critical_path, ["a", "b", "d", "g", "h"]);
    assert_eq!(schedule.critical_paths.len(), 1);
}

#[test]
fn the_textbook_network_has_the_textbook_floats() {
    // Backward by hand: h 16, g 12, d 7, b 3, e 11, f 14, c 9 (before e at 11), a 0.
    let schedule = planned(&textbook());
    assert_eq!(column(&schedule, |row| row.float.to_string()), "a 0, b 0, c 6, d 0, e 6, f 9, g 0, h 0");
    assert_eq!(column(&schedule, |row| row.free_float.to_string()), "a 0, b 0, c 0, d 0, e 6, f 9, g 0, h 0");
    let critical: Vec<&str> = schedule.tasks.iter().filter(|row| row.critical).map(|row| &*row.id).collect();
    assert_eq!(critical, ["a", "b", "d", "g", "h"]);
}

#[test]
fn drag_is_what_the_whole_would_gain() {
    // Without b: a-d-g-h is 15, a-c-e-g-h is 13: b gives its 4. Without d: a-b-g-h 14, a-c-e-g-h 13: d gives its 5.
    // Without g: a-b-d-h 15, a-c-f-h 10: g gives its 4. With longer e (6): a-c-e-g-h is 18, so b and d give only 1.
    let schedule = planned(&textbook());
    assert_eq!(column(&schedule, |row| row.drag.to_string()), "a 3, b 4, c 0, d 5, e 0, f 0, g 4, h 3");
    let mut project = textbook();
    project.tasks[4].estimate = Some("6d".parse().unwrap());
    let schedule = planned(&project);
    assert_eq!(column(&schedule, |row| row.drag.to_string()), "a 3, b 1, c 0, d 1, e 0, f 0, g 4, h 3");
}

#[test]
fn drag_is_true_when_tried_out() {
    let project = textbook();
    let before = planned(&project);
    for at in 0..project.tasks.len() {
        let mut without = project.clone();
        without.tasks[at].estimate = Some("0".parse().unwrap());
        let gain = before.makespan.in_thousandths() - planned(&without).makespan.in_thousandths();
        assert_eq!(before.tasks[at].drag.in_thousandths(), gain, "{}", before.tasks[at].id);
    }
}

#[test]
fn two_paths_of_one_length_are_both_critical() {
    let schedule = planned(&counted("a 2d\n b 3d after a\n c 3d after a\n d 1d after b, c"));
    assert_eq!(schedule.critical_paths, [["a", "b", "d"], ["a", "c", "d"]]);
    assert_eq!(row(&schedule, "b").drag.to_string(), "0", "shortening one alone gains nothing");
}

#[test]
fn each_kind_of_link_holds_the_end_it_names() {
    let schedule = planned(&counted(
        "
        a  10d
        fs 2d after a FS+1d
        ss 2d after a SS+3d
        ff 4d after a FF-1d
        sf 3d after a SF+7d
        ",
    ));
    // ff finishes at 10 - 1 = 9; sf finishes at 0 + 7.
    assert_eq!(drawn(&schedule), "a 0..10\nfs 11..13\nss 3..5\nff 5..9\nsf 4..7");
}

#[test]
fn a_lead_starts_before_the_other_is_done() {
    let schedule = planned(&counted("a 5d\n b 4d after a FS-2d"));
    assert_eq!(drawn(&schedule), "a 0..5\nb 3..7");
    assert_eq!(schedule.critical_path, ["a", "b"]);
}

#[test]
fn floats_run_through_links_between_finishes() {
    // a 0-6, b finishes with a: 4-6, c 6-8; d 3 long ends at 3 with float 5.
    let schedule = planned(&counted("a 6d\n b 2d after a FF\n c 2d after b\n d 3d"));
    assert_eq!(column(&schedule, |row| row.float.to_string()), "a 0, b 0, c 0, d 5");
    assert_eq!(schedule.critical_path, ["a", "b", "c"]);
}

#[test]
fn work_lag_skips_the_weekend_and_elapsed_lag_does_not() {
    // a is Thursday and Friday. Two days of drying elapse on Sunday evening; two days of work end on Tuesday evening.
    let schedule = planned(&office(
        "
        a 2d from 2026-03-05
        b 1d after a FS+2d
        c 1d after a FS+2ed
        ",
    ));
    assert_eq!(drawn(&schedule), "a 03-05 09:00..03-06 17:00\nb 03-11 09:00..03-11 17:00\nc 03-09 09:00..03-09 17:00");
}

#[test]
fn a_finish_held_into_the_night_is_kept() {
    // a ends on Friday at 17:00; one elapsed day later is Saturday, so b is finished when Monday starts.
    let schedule = planned(&office("a 1d from 2026-03-06\n b 1d after a FF+1ed"));
    assert_eq!(drawn(&schedule), "a 03-06 09:00..03-06 17:00\nb 03-06 09:00..03-09 09:00");
}

#[test]
fn a_milestone_lies_where_the_work_before_it_ends() {
    let schedule = planned(&office("a 5d\n done - after a\n b 1d after done"));
    assert_eq!(
        drawn(&schedule),
        "a 03-02 09:00..03-06 17:00\ndone 03-06 17:00..03-06 17:00\nb 03-09 09:00..03-09 17:00"
    );
}

#[test]
fn a_summary_is_finished_when_the_links_to_its_finish_are_kept() {
    let drawing = "x 10d\n phase - after x FF+2d by 11 hard\n p 2d in phase\n next 1d after phase\n side 3d";
    let schedule = planned(&counted(drawing));
    assert_eq!(drawn(&schedule), "x 0..10\nphase 0..12\np 0..2\nnext 12..13\nside 0..3");
    assert!(row(&schedule, "phase").critical && !row(&schedule, "p").critical);
    assert_eq!(column(&schedule, |row| row.float.to_string()), "x -1, phase -1, p 9, next 0, side 10");
    assert_eq!((schedule.deadlines[0].met, schedule.deadlines[0].margin.to_string()), (false, "1".to_owned()));
    let fixes: Vec<&str> = schedule.infeasible[0].fixes.iter().map(|fix| &*fix.what).collect();
    assert_eq!(fixes, ["move the deadline of `phase` to 12", "make `x` shorter by 1d"]);
}

#[test]
fn a_summary_spans_its_parts_and_passes_links_on() {
    let schedule = planned(&counted(
        "
        prepare 2d
        build -  after prepare
        walls 3d in build
        roof  4d in build after walls
        test  1d after build
        paint 2d in build
        ",
    ));
    assert_eq!(drawn(&schedule), "prepare 0..2\nbuild 2..9\nwalls 2..5\nroof 5..9\ntest 9..10\npaint 2..4");
    assert_eq!(schedule.critical_path, ["prepare", "walls", "roof", "test"]);
    assert_eq!(row(&schedule, "paint").float.to_string(), "5");
    assert_eq!(row(&schedule, "paint").free_float.to_string(), "5", "it moves nothing before the summary closes");
    assert_eq!(row(&schedule, "build").duration.to_string(), "7");
}

#[test]
fn little_float_is_near_critical() {
    let schedule = planned(&counted("a 40d\n b 39d\n c 30d"));
    let near: Vec<&str> = schedule.tasks.iter().filter(|row| row.near_critical).map(|row| &*row.id).collect();
    assert_eq!(near, ["b"], "the default is a twentieth of the makespan");
    let options = Options { near_critical: Some("10d".parse().unwrap()), ..Options::default() };
    let schedule = planned_with(&counted("a 40d\n b 39d\n c 30d"), &options);
    assert!(row(&schedule, "c").near_critical);
}

#[test]
fn an_evacuation_is_planned_in_hours_round_the_clock() {
    let mut project = counted("alert 30m\n move 40h after alert\n shelter 20h after move\n report 1h after shelter");
    project.unit = gantry_schedule::project::Unit::Hour;
    project.deadline = Some("72h hard".parse().unwrap());
    let schedule = planned(&project);
    assert_eq!(schedule.makespan.to_string(), "61.5");
    assert!(schedule.feasible && schedule.deadlines[0].met);
    assert_eq!(schedule.deadlines[0].margin.to_string(), "10.5");
}

#[test]
fn levelling_can_be_left_off() {
    let options = Options { levelling: Levelling::Off, ..Options::default() };
    assert_eq!(planned_with(&textbook(), &options), planned(&textbook()));
}
