//! A plan as a project: as it is written, or as it stands in the record.

use gantry_core::plan::{Plan, when};
use gantry_core::time::Timestamp;
use gantry_schedule::Project;
use gantry_schedule::project::When;

use crate::show::under_way::UnderWay;

/// The project of a plan that starts now, or of one that is under way.
pub fn project(plan: &Plan, under_way: Option<UnderWay<'_>>, now: Timestamp) -> Project {
    under_way.map_or_else(|| plan.project(now), |under_way| under_way.project(plan, now))
}

/// A point in time as projects have it.
pub fn at(time: Timestamp) -> When {
    when(time)
}
