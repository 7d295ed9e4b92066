//! How a schedule is computed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::level::Levelling;
use crate::project::{Length, Project, Task, Who};

/// Which value of a three-point estimate the schedule takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The mean.
    #[default]
    Expected,
    /// The most likely.
    Likely,
}

/// How a schedule is computed. The default levels, and plays no dice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which value of a three-point estimate counts.
    pub basis: Basis,
    /// What to do when people have too much to do at once.
    pub levelling: Levelling,
    /// How many schedules the optimiser may make to find a shorter one; none is made at zero.
    pub schedules: u64,
    /// Tasks with at most this float are near-critical; none means a twentieth of the makespan.
    pub near_critical: Option<Length>,
    /// How many futures are drawn; none are drawn at zero.
    pub draws: u32,
    /// What all chance comes from.
    pub seed: u64,
    /// The percentile that the contingency covers.
    pub confidence: u8,
}

/// So many schedules are tried when nobody says how many.
const USUAL_SCHEDULES: u64 = 2_000;

/// Where schedules are judged as people really work, each takes longer: so many tasks are placed in all.
const USUAL_PLACED: usize = 20_000;

/// But so many schedules are always tried.
const USUAL_LEAST: usize = 50;

/// So many futures are drawn when nobody says how many.
pub const USUAL_DRAWS: u32 = 2_000;

/// Of a project with more tasks no futures are drawn that nobody asked for.
const DRAWN_TASKS: usize = 5_000;

/// With this many tasks nobody waits for a search that they did not ask for.
const SEARCHED_TASKS: usize = 1_000;

impl Options {
    /// As many schedules as are made until the caller of [`schedule_until`](crate::schedule_until) says stop.
    pub const UNTIL_STOPPED: u64 = u64::MAX;

    /// What is computed when nobody says otherwise, so that every place tells the same dates and costs of a project.
    pub fn usual(project: &Project) -> Self {
        let draws = if project.tasks.len() <= DRAWN_TASKS { USUAL_DRAWS } else { 0 };
        Self { draws, schedules: Self::usual_schedules(project), ..Self::default() }
    }

    /// How many schedules are worth trying when nobody says how many: none where nobody is needed twice, for there the
    /// links alone decide, and none for a large project.
    pub fn usual_schedules(project: &Project) -> u64 {
        let mut needed = BTreeSet::new();
        let mut needs = project.tasks.iter().flat_map(|task| &task.needs);
        let contested = needs.any(|need| match &need.who {
            Who::Named { resource } => !needed.insert(resource.as_str()),
            Who::Fitting { .. } => true,
        });
        match project.tasks.len() {
            SEARCHED_TASKS.. => 0,
            _ if !contested => 0,
            _ if is_plain(project) => USUAL_SCHEDULES,
            tasks => USUAL_SCHEDULES.min((USUAL_PLACED / tasks).max(USUAL_LEAST) as u64),
        }
    }
}

/// Whether there is one calendar, everybody is named and always there, and nothing comes first.
fn is_plain(project: &Project) -> bool {
    let people = project.resources.iter().all(|one| one.calendar.is_none() && one.absences.is_empty());
    let first = project.tasks.first().map_or(0, |task| task.priority);
    let plain = |task: &Task| {
        let named = task.needs.iter().all(|need| matches!(need.who, Who::Named { .. }));
        let due = task.deadline.is_some_and(|deadline| deadline.hard);
        named && !due && task.calendar.is_none() && task.priority == first && task.progress.started.is_none()
    };
    people && project.deadline.is_none_or(|deadline| !deadline.hard) && project.tasks.iter().all(plain)
}

impl Default for Options {
    fn default() -> Self {
        Self {
            basis: Basis::default(),
            levelling: Levelling::default(),
            schedules: 0,
            near_critical: None,
            draws: 0,
            seed: 1,
            confidence: 80,
        }
    }
}
