//! The search as a project sees it.

use std::cell::Cell;

use gantry_schedule::{Options, Project, schedule, schedule_until};

use crate::random;

#[test]
fn a_search_without_a_number_is_as_good_as_one_with_it() {
    let project = Project::from(&random::project(60, 4, 3));
    let asked = Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) > 5_000;
    let options = Options { schedules: Options::UNTIL_STOPPED, ..Options::default() };
    let found = schedule_until(&project, &options, &stop).unwrap();
    let numbered = schedule(&project, &Options { schedules: 1_000, ..Options::default() }).unwrap();
    assert!(found.optimiser.unwrap().schedules > 2_000, "it went on until it was stopped");
    assert!(found.makespan <= numbered.makespan, "{}", found.makespan);
}
