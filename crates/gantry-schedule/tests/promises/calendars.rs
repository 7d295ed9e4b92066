//! Dates worked out by hand on real calendars.

use gantry_schedule::project::{Calendar, Project, Resource};

use crate::kit::{drawn, office, planned, row, tasks, when};

#[test]
fn work_stops_for_the_weekend() {
    let schedule = planned(&office("a 3d from 2026-03-05"));
    assert_eq!(drawn(&schedule), "a 03-05 09:00..03-09 17:00", "Thursday, Friday, Monday");
}

#[test]
fn work_stops_for_a_holiday() {
    let mut project = office("a 3d from 2026-12-23");
    project.calendars[0].days_off.push("2026-12-25..2026-12-26".parse().unwrap());
    assert_eq!(drawn(&planned(&project)), "a 12-23 09:00..12-28 17:00", "Wednesday, Thursday, Monday");
}

#[test]
fn a_change_of_clocks_neither_gains_nor_loses_work() {
    // Clocks in Vienna go forward on Sunday, 2026-03-29: the wall says the same, the instants are an hour closer.
    let calendar = Calendar::office("office", "Europe/Vienna");
    let project = Project { tasks: tasks("a 2d from 2026-03-27"), ..Project::starting(when("2026-03-23"), calendar) };
    let schedule = planned(&project);
    assert_eq!(schedule.tasks[0].start.to_string(), "2026-03-27T09:00:00+01:00");
    assert_eq!(schedule.tasks[0].finish.to_string(), "2026-03-30T17:00:00+02:00");
}

#[test]
fn a_day_round_the_clock_is_24_hours_when_clocks_change() {
    let calendar = Calendar { zone: Some("Europe/Vienna".to_owned()), ..Calendar::always("crisis") };
    let project = Project { tasks: tasks("a 1d"), ..Project::starting(when("2026-03-28T12:00"), calendar) };
    assert_eq!(planned(&project).finish.to_string(), "2026-03-29T13:00:00+02:00");
}

#[test]
fn each_calendar_keeps_its_own_zone() {
    // Vienna ends at 17:00 (16:00 UTC); New York goes on at 09:00 (14:00 UTC) the same day, and does 2 of its 8 hours.
    let mut project = office("vienna 1d on vienna\n york 1d on york after vienna");
    project.calendars.push(Calendar::office("vienna", "Europe/Vienna"));
    project.calendars.push(Calendar::office("york", "America/New_York"));
    let schedule = planned(&project);
    assert_eq!(drawn(&schedule), "vienna 03-02 08:00..03-02 16:00\nyork 03-02 16:00..03-03 16:00");
}

#[test]
fn a_person_who_is_away_goes_on_when_back() {
    let mut project = office("a 3d needs ana");
    let away = vec!["2026-03-03..2026-03-05".parse().unwrap()];
    project.resources = vec![Resource { absences: away, ..Resource::new("ana") }];
    assert_eq!(drawn(&planned(&project)), "a 03-02 09:00..03-09 17:00", "Monday, Friday, Monday");
}

#[test]
fn who_is_away_does_not_work_special_hours() {
    let mut project = office("a 4d needs ana from 2026-12-21");
    project.calendars[0].exceptions.insert("2026-12-24".parse().unwrap(), vec!["08:00-12:00".parse().unwrap()]);
    let away = vec!["2026-12-23..2027-01-03".parse().unwrap()];
    project.resources = vec![Resource { calendar: Some("office".to_owned()), absences: away, ..Resource::new("ana") }];
    assert_eq!(drawn(&planned(&project)), "a 12-21 09:00..01-05 17:00", "two days before and two after");
}

#[test]
fn two_people_work_when_both_do() {
    let mut project = office("a 4h needs early, late");
    let shift = |id: &str, hours: &str| -> Calendar {
        serde_json::from_str(&format!(r#"{{"id":"{id}","week":{{"mon-fri":["{hours}"]}}}}"#)).unwrap()
    };
    project.calendars.extend([shift("mornings", "06:00-14:00"), shift("evenings", "12:00-20:00")]);
    let person = |id: &str, calendar: &str| Resource { calendar: Some(calendar.to_owned()), ..Resource::new(id) };
    project.resources = vec![person("early", "mornings"), person("late", "evenings")];
    assert_eq!(drawn(&planned(&project)), "a 03-02 12:00..03-03 14:00", "two hours on each of two days");
}

#[test]
fn concrete_dries_over_the_weekend() {
    let schedule = planned(&office("pour 1d from 2026-03-06\n dry 3ed after pour\n build 1d after dry"));
    assert_eq!(
        drawn(&schedule),
        "pour 03-06 09:00..03-06 17:00\ndry 03-06 17:00..03-09 17:00\nbuild 03-10 09:00..03-10 17:00"
    );
}

#[test]
fn a_decade_of_work_has_a_date() {
    let schedule = planned(&office("a 10y\n b 60y after a"));
    assert_eq!(schedule.tasks[0].finish.to_string(), "2036-02-29T17:00:00+00:00", "2610 working days are 522 weeks");
    assert!(schedule.finish > schedule.tasks[0].finish);
}

#[test]
fn elapsed_work_is_told_in_elapsed_units() {
    let schedule = planned(&office("dry 3ed\n build 1d after dry"));
    assert_eq!(row(&schedule, "dry").duration.to_string(), "3");
    // It is dry on Thursday at midnight, nine hours before anyone is there; still it holds the finish.
    assert_eq!(row(&schedule, "dry").float.to_string(), "0.375");
    assert!(row(&schedule, "dry").critical);
    assert_eq!(schedule.critical_path, ["dry", "build"]);
    assert_eq!(row(&schedule, "dry").drag.to_string(), "3", "three working days would be gained");
}
