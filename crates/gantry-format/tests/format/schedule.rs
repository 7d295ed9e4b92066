//! The `schedule` of a plan: how it is read, written and refused.

use gantry_core::plan::diff;
use gantry_format::{to_json, to_yaml};

use crate::kit::{seen, sound};

const HOUSE: &str = "\
title: House
tasks:
  - {id: design, manual: draw}
  - {id: build, manual: build, depends_on: [design]}
  - {id: paint, manual: paint, depends_on: [build]}
schedule:
  start: 2026-03-02
  calendar: office
  calendars:
    - {id: office, zone: Europe/Vienna, week: {mon-fri: ['08:00-12:00', '13:00-17:00']}, holidays: [2026-05-01]}
  currency: EUR
  exchange: {CHF: 1.05}
  people:
    - {id: ana, roles: [architect], rate: 90, absences: [2026-03-09..2026-03-13]}
    - {id: crew, capacity: 2, rate: 45 CHF, perUse: 100}
  risks:
    - {id: frost, probability: 0.2, tasks: [build], delay: 1d / 3d / 5d, cost: 500}
  tasks:
    design: {estimate: 3d / 5d / 10d, needs: ana 50%}
    build: {after: design SS+2d, estimate: 10d, needs: [crew 2], costs: [{name: bricks, amount: 4200}], startNoEarlier: 2026-03-05}
    paint: {estimate: 2d, needs: [{role: architect}], deadline: 2026-04-10 hard}
";

#[test]
fn a_schedule_is_read_in_every_spelling_and_written_in_one() {
    let plan = sound("plan.yaml", HOUSE);
    insta::assert_snapshot!(to_yaml(&plan));
    for (name, text) in [("again.yaml", to_yaml(&plan)), ("again.json", to_json(&plan))] {
        assert_eq!(sound(name, &text), plan);
    }
}

#[test]
fn a_changed_schedule_is_told_field_by_field() {
    let (old, new) = (sound("plan.yaml", HOUSE), HOUSE.replace("estimate: 10d", "estimate: 8d").replace("90", "95"));
    let new = sound("plan.yaml", &new.replace("  risks:", "  unit: hour\n  risks:"));
    let diff = diff(&old, &new);
    assert_eq!(diff.apply_to(&old).as_ref(), Ok(&new));
    insta::assert_snapshot!(diff, @r#"
    ~ plan: schedule.resources.ana.rate "90" -> "95"
    ~ plan: schedule.tasks.build.estimate "10d" -> "8d"
    ~ plan: schedule.unit (not set) -> "hour"
    "#);
}

/// A plan of two tasks with this schedule, and what a person sees of it.
fn refused(schedule: &str) -> String {
    seen(&format!(
        "title: House\ntasks:\n  - {{id: design}}\n  - {{id: build, depends_on: [design]}}\nschedule:\n{schedule}"
    ))
}

#[test]
fn a_task_that_is_not_there_is_shown_with_the_nearest_name() {
    insta::assert_snapshot!(refused("schedule:\n  tasks:\n    desing: {estimate: 5d}\n    build: {after: [desing SS]}\n"), @"
    error[plan::unknown-task]: the schedule speaks of a task `desing`, which does not exist
     --> plan.yaml:7:5
      |
    7 |     desing: {estimate: 5d}
      |     ^^^^^^
      |
      = help: did you mean `design`?

    error[plan::unknown-task]: task `build`: there is no task `desing`
     --> plan.yaml:8:21
      |
    8 |     build: {after: [desing SS]}
      |                     ^^^^^^^^^
      |
      = help: did you mean `design`?
    ");
}

#[test]
fn someone_and_a_calendar_that_are_not_there_are_shown_with_the_nearest_names() {
    let schedule = "\
schedule:
  calendar: offcie
  calendars: [{id: office}]
  resources:
    - {id: ana, calendar: ofice}
  tasks:
    build: {needs: [ana 50%, anna], class: houses}
";
    insta::assert_snapshot!(refused(schedule), @"
    error[file::syntax]: not valid YAML: mapping values are not allowed in this context
     --> plan.yaml:7:12
      |
    7 |   calendars: [{id: office}]
      |            ^ here
      |
      = help: a text with `: ` in it needs quotes
    ");
}

#[test]
fn lengths_and_dates_that_are_none_say_what_to_write() {
    let schedule = "\
schedule:
  start: tomorrow
  tasks:
    design: {estimate: 5x}
    build: {estimate: 3d / 2d / 1d, after: [design SS+soon], deadline: never}
";
    insta::assert_snapshot!(refused(schedule), @"
    error[file::syntax]: not valid YAML: mapping values are not allowed in this context
     --> plan.yaml:7:8
      |
    7 |   tasks:
      |        ^ here
      |
      = help: a text with `: ` in it needs quotes
    ");
}

#[test]
fn an_estimate_that_does_not_rise_is_refused() {
    insta::assert_snapshot!(refused("schedule:\n  tasks:\n    build: {estimate: 3d / 2d / 1d}\n"), @"
    error[plan::schedule-value]: task `build`: `3d / 2d / 1d` must rise from low to high and not be negative
     --> plan.yaml:7:23
      |
    7 |     build: {estimate: 3d / 2d / 1d}
      |                       ^^^^^^^^^^^^
      |
      = help: put the three values in order
    ");
}

#[test]
fn a_negative_rate_is_refused() {
    insta::assert_snapshot!(refused("schedule:\n  exchange: {CHF: 0}\n  resources:\n    - {id: ana, rate: -90}\n"), @"
    error[plan::schedule-value]: one CHF cannot be worth 0
     --> plan.yaml:6:19
      |
    6 |   exchange: {CHF: 0}
      |                   ^
      |
      = help: write an amount above zero

    error[plan::schedule-value]: the `rate` of `ana` is negative
     --> plan.yaml:8:23
      |
    8 |     - {id: ana, rate: -90}
      |                       ^^^
      |
      = help: write an amount above zero
    ");
}

#[test]
fn links_that_go_in_a_circle_are_refused_where_the_schedule_adds_one() {
    let schedule = "schedule:\n  tasks:\n    design: {after: [build FF]}\n    build: {calendar: nights}\n";
    insta::assert_snapshot!(refused(schedule), @"
    error[plan::schedule-cycle]: task `design`: tasks wait for each other in a circle: design → build → design
     --> plan.yaml:7:22
      |
    7 |     design: {after: [build FF]}
      |                      ^^^^^^^^
      |
      = help: remove one of these links, for example from `build` to `design`

    error[plan::schedule-unknown]: task `build`: there is no calendar `nights`
     --> plan.yaml:8:23
      |
    8 |     build: {calendar: nights}
      |                       ^^^^^^
      |
      = help: add a calendar with this id, or name one that is there
    ");
}

#[test]
fn a_circle_of_dependencies_is_told_once() {
    let text = "title: t\ntasks:\n  - {id: a, depends_on: [b]}\n  - {id: b, depends_on: [a]}\nschedule: {unit: hour}\n";
    assert_eq!(seen(text).matches("error[").count(), 1, "{}", seen(text));
}

#[test]
fn a_field_that_is_unknown_is_shown_with_the_nearest_one() {
    let schedule = "\
schedule:
  calender: office
  resources: [{id: ana, rates: 5}]
  tasks:
    build: {estimat: 5d, needs: []}
";
    insta::assert_snapshot!(refused(schedule), @"
    error[file::syntax]: not valid YAML: mapping values are not allowed in this context
     --> plan.yaml:7:12
      |
    7 |   resources: [{id: ana, rates: 5}]
      |            ^ here
      |
      = help: a text with `: ` in it needs quotes
    ");
}

#[test]
fn money_of_another_currency_needs_a_rate_of_exchange() {
    let schedule = "schedule:\n  currency: EUR\n  tasks:\n    build: {costs: [{name: wood, amount: 5 CHF}]}\n";
    insta::assert_snapshot!(refused(schedule), @"
    error[plan::schedule-unknown]: task `build`: there is no rate of exchange for `CHF`
     --> plan.yaml:8:13
      |
    8 |     build: {costs: [{name: wood, amount: 5 CHF}]}
      |             ^^^^^
      |
      = help: add `CHF` to `exchange`: what one is worth in EUR

    error[plan::schedule-unknown]: task `build`: there is no rate of exchange for `CHF`
     --> plan.yaml:8:13
      |
    8 |     build: {costs: [{name: wood, amount: 5 CHF}]}
      |             ^^^^^
      |
      = help: add `CHF` to `exchange`: what one is worth in EUR

    error[plan::schedule-unknown]: task `build`: there is no rate of exchange for `CHF`
     --> plan.yaml:8:13
      |
    8 |     build: {costs: [{name: wood, amount: 5 CHF}]}
      |             ^^^^^
      |
      = help: add `CHF` to `exchange`: what one is worth in EUR
    ");
}

#[test]
fn a_task_that_contains_others_has_no_work_of_its_own_in_the_schedule() {
    let text = "\
title: t
tasks:
  - id: whole
    tasks: [{id: part}]
schedule:
  tasks:
    whole: {estimate: 5d}
";
    insta::assert_snapshot!(seen(text), @"
    error[plan::schedule-value]: task `whole`: a summary has no work of its own: its parts have
     --> plan.yaml:7:23
      |
    7 |     whole: {estimate: 5d}
      |                       ^^
      |
      = help: move it to a part
    ");
}

#[test]
fn chances_zones_and_shares_that_make_no_sense_are_refused() {
    let schedule = "\
schedule:
  calendars: [{id: office, zone: Europe/Wien}]
  risks: [{id: frost, probability: 20, tasks: [biuld]}]
  correlations: [{id: weather, members: [design, biuld], strength: 2}]
  classes: [{id: houses, ratios: []}]
  tasks:
    build: {percent: 120}
";
    insta::assert_snapshot!(refused(schedule), @"
    error[file::syntax]: not valid YAML: while parsing a block mapping, did not find expected key
     --> plan.yaml:7:3
      |
    7 |   risks: [{id: frost, probability: 20, tasks: [biuld]}]
      |   ^ here
      |
      = help: this line is indented by 2 spaces and the line before it by 0; fields of one task start in the same column
    ");
}
