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
    seen(&format!("title: House\ntasks:\n  - {{id: design}}\n  - {{id: build, depends_on: [design]}}\n{schedule}"))
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
    error[plan::schedule-unknown]: the schedule's calendar: there is no calendar `offcie`
     --> plan.yaml:6:13
      |
    6 |   calendar: offcie
      |             ^^^^^^
      |
      = help: did you mean `office`?

    error[plan::schedule-unknown]: resource `ana`: there is no calendar `ofice`
     --> plan.yaml:9:27
      |
    9 |     - {id: ana, calendar: ofice}
      |                           ^^^^^
      |
      = help: did you mean `office`?

    error[plan::schedule-unknown]: task `build`: there is no resource `anna`
      --> plan.yaml:11:30
       |
    11 |     build: {needs: [ana 50%, anna], class: houses}
       |                              ^^^^
       |
       = help: did you mean `ana`?

    error[plan::schedule-unknown]: task `build`: there is no class `houses`
      --> plan.yaml:11:44
       |
    11 |     build: {needs: [ana 50%, anna], class: houses}
       |                                            ^^^^^^
       |
       = help: add a class with this id, or name one that is there
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
    error[plan::invalid-value]: `tomorrow` is not a point in time; write `2026-03-02`, `2026-03-02T09:00`, `2026-03-02T09:00:00Z`, or a length after the project's start such as `72h`
     --> plan.yaml:6:10
      |
    6 |   start: tomorrow
      |          ^^^^^^^^

    error[plan::invalid-value]: `5x` is not a length of time; write for example `90m`, `8h`, `5d`, `1w`, `3mo` or `2ed` (elapsed)
     --> plan.yaml:8:24
      |
    8 |     design: {estimate: 5x}
      |                        ^^

    error[plan::invalid-value]: `design SS+soon` is not a link: `+soon` is not a length of time; write for example `90m`, `8h`, `5d`, `1w`, `3mo` or `2ed` (elapsed); write `task`, `task SS`, `task FS+2d` or `task FF-1ed`
     --> plan.yaml:9:45
      |
    9 |     build: {estimate: 3d / 2d / 1d, after: [design SS+soon], deadline: never}
      |                                             ^^^^^^^^^^^^^^

    error[plan::invalid-value]: `never` is not a point in time; write `2026-03-02`, `2026-03-02T09:00`, `2026-03-02T09:00:00Z`, or a length after the project's start such as `72h`
     --> plan.yaml:9:72
      |
    9 |     build: {estimate: 3d / 2d / 1d, after: [design SS+soon], deadline: never}
      |                                                                        ^^^^^
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
    error[plan::unknown-field]: a schedule has no field `calender`
     --> plan.yaml:6:3
      |
    6 |   calender: office
      |   ^^^^^^^^ unknown field
      |
      = help: did you mean `calendar`?

    error[plan::unknown-field]: a resource of the schedule has no field `rates`
     --> plan.yaml:7:25
      |
    7 |   resources: [{id: ana, rates: 5}]
      |                         ^^^^^ unknown field
      |
      = help: did you mean `rate`?

    error[plan::unknown-field]: a task of the schedule has no field `estimat`
     --> plan.yaml:9:13
      |
    9 |     build: {estimat: 5d, needs: []}
      |             ^^^^^^^ unknown field
      |
      = help: did you mean `estimate`?
    ");
}

#[test]
fn money_of_another_currency_needs_a_rate_of_exchange() {
    let schedule = "schedule:\n  currency: EUR\n  tasks:\n    build: {costs: [{name: wood, amount: 5 CHF}]}\n";
    insta::assert_snapshot!(refused(schedule), @"
    error[plan::schedule-unknown]: task `build`: there is no rate of exchange for `CHF`
     --> plan.yaml:8:42
      |
    8 |     build: {costs: [{name: wood, amount: 5 CHF}]}
      |                                          ^^^^^
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
    error[plan::schedule-value]: calendar `office`: there is no time zone `Europe/Wien`
     --> plan.yaml:6:34
      |
    6 |   calendars: [{id: office, zone: Europe/Wien}]
      |                                  ^^^^^^^^^^^
      |
      = help: write for example `Europe/Vienna`

    error[plan::schedule-value]: risk `frost`: 20 is not a probability
     --> plan.yaml:7:36
      |
    7 |   risks: [{id: frost, probability: 20, tasks: [biuld]}]
      |                                    ^^
      |
      = help: write 0 to 1

    error[plan::unknown-task]: risk `frost`: there is no task `biuld`
     --> plan.yaml:7:48
      |
    7 |   risks: [{id: frost, probability: 20, tasks: [biuld]}]
      |                                                ^^^^^
      |
      = help: did you mean `build`?

    error[plan::schedule-value]: the correlations of `biuld` add up to 2
     --> plan.yaml:8:3
      |
    8 |   correlations: [{id: weather, members: [design, biuld], strength: 2}]
      |   ^^^^^^^^^^^^
      |
      = help: make them add up to at most 1

    error[plan::schedule-value]: the correlations of `design` add up to 2
     --> plan.yaml:8:3
      |
    8 |   correlations: [{id: weather, members: [design, biuld], strength: 2}]
      |   ^^^^^^^^^^^^
      |
      = help: make them add up to at most 1

    error[plan::schedule-unknown]: correlation `weather`: there is no task or risk `biuld`
     --> plan.yaml:8:50
      |
    8 |   correlations: [{id: weather, members: [design, biuld], strength: 2}]
      |                                                  ^^^^^
      |
      = help: did you mean `build`?

    error[plan::schedule-value]: correlation `weather`: 2 is not a correlation
     --> plan.yaml:8:68
      |
    8 |   correlations: [{id: weather, members: [design, biuld], strength: 2}]
      |                                                                    ^
      |
      = help: write 0 to 1

    error[plan::schedule-value]: class `houses`: its ratios must be numbers above 0, at least one
     --> plan.yaml:9:26
      |
    9 |   classes: [{id: houses, ratios: []}]
      |                          ^^^^^^
      |
      = help: write for example [0.9, 1.2, 1.6]

    error[plan::schedule-value]: task `build`: 120 percent is more than all of it
      --> plan.yaml:11:22
       |
    11 |     build: {percent: 120}
       |                      ^^^
       |
       = help: write 0 to 100
    ");
}
