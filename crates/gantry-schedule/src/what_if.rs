//! What if: change anything, and see only what becomes different.
//!
//! A change is written as `task.build.estimate=5d`: where, and what it becomes. It is applied to the project as data, so
//! everything in a project can be changed, and a wrong change is told in the words of the project.

mod change; // in reading order
mod difference;

use serde::Serialize;

pub use change::{WrongChange, apply};
pub use difference::{Changed, difference};

use crate::problem::{Problem, ProblemKind};
use crate::project::Project;
use crate::schedule::{Options, Schedule, schedule};

/// What becomes different.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// The changes that were tried, as written.
    pub changes: Vec<String>,
    /// What is different then; nothing else is.
    pub difference: Vec<Changed>,
    /// The whole schedule with the changes.
    #[serde(skip)]
    pub schedule: Schedule,
}

/// Schedules a project with and without some changes.
pub fn what_if(project: &Project, changes: &[&str], options: &Options) -> Result<WhatIf, Vec<Problem>> {
    what_if_by(project, changes, |project| schedule(project, options))
}

/// The same, for callers who schedule in their own way, such as with a search that ends after some time.
pub fn what_if_by(
    project: &Project,
    changes: &[&str],
    schedule: impl Fn(&Project) -> Result<Schedule, Vec<Problem>>,
) -> Result<WhatIf, Vec<Problem>> {
    let mut changed = project.clone();
    for change in changes {
        changed = apply(&changed, change)
            .map_err(|wrong| vec![Problem::new(wrong.change, ProblemKind::Value, wrong.what, wrong.fix)])?;
    }
    let before = schedule(project)?;
    let schedule = schedule(&changed)?;
    Ok(WhatIf {
        changes: changes.iter().map(|change| (*change).to_owned()).collect(),
        difference: difference(&before, &schedule),
        schedule,
    })
}
