//! Why an instance has no schedule, or is none at all.

use std::fmt;

use super::instance::{Demand, Instance};

/// The latest period that may be written down. All sums of two such periods fit in 32 bits.
pub(super) const LATEST: u32 = 1 << 29;

/// What is wrong with an instance. Tasks and resources are named by their place in its lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A link names a task that is not there.
    UnknownTask {
        /// The place of the link in the list of links.
        link: usize,
        /// The task it names.
        task: usize,
    },
    /// A task demands a resource that is not there.
    UnknownResource {
        /// The task.
        task: usize,
        /// The resource it names.
        resource: usize,
    },
    /// Durations, lags and releases add up to more periods than can be counted.
    TooLong,
    /// Each of these tasks waits for the one before it, and the first for the last.
    Cycle {
        /// The tasks, in the order in which they wait.
        tasks: Vec<usize>,
    },
    /// A task demands more of a resource than there ever is.
    TooMuch {
        /// The task.
        task: usize,
        /// What it demands.
        demand: Demand,
        /// The most there ever is.
        most: u32,
    },
    /// A task demands no more than there is at times, but never for as long as the task takes.
    NoWindow {
        /// The task.
        task: usize,
        /// The first period in which it could start.
        from: u32,
    },
    /// The work of all tasks is more than there ever is of a resource that ends for good.
    TooMuchWork {
        /// The resource.
        resource: usize,
        /// The work, in units of the resource times periods.
        work: u64,
        /// The first period in which any of it can be done.
        from: u32,
    },
    /// Every task fits alone, but no schedule of all of them was found before capacity ends for good.
    NotFound {
        /// The schedules tried.
        schedules: u64,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTask { link, task } => write!(out, "link {link} names task {task}, which does not exist"),
            Self::UnknownResource { task, resource } => {
                write!(out, "task {task} demands resource {resource}, which does not exist")
            }
            Self::TooLong => write!(out, "the periods add up to more than {LATEST}: count in longer periods"),
            Self::Cycle { tasks } => {
                write!(out, "tasks wait for each other in a circle:")?;
                for task in tasks.iter().chain(tasks.first()) {
                    write!(out, " {task}")?;
                }
                Ok(())
            }
            Self::TooMuch { task, demand: Demand { resource, amount }, most } => write!(
                out,
                "task {task} demands {amount} of resource {resource}, of which there is never more than {most}: lower \
                 the demand or add {} to the capacity",
                amount - most
            ),
            Self::NoWindow { task, from } => write!(
                out,
                "task {task} fits nowhere from period {from} on: the capacity it demands never lasts as long as the \
                 task takes"
            ),
            Self::TooMuchWork { resource, work, from } => write!(
                out,
                "all tasks together need {work} unit-periods of resource {resource}, more than there are from period \
                 {from} on: add capacity or take work away"
            ),
            Self::NotFound { schedules } => write!(
                out,
                "none of {schedules} schedules finds room for every task before capacity ends for good: add capacity \
                 at the end or try more schedules"
            ),
        }
    }
}

impl std::error::Error for Fault {}

/// Finds what can be seen to be wrong without looking at how links hang together.
pub(super) fn of_parts(instance: &Instance) -> Result<(), Fault> {
    for (index, link) in instance.links.iter().enumerate() {
        if let Some(&task) = [link.before, link.after].iter().find(|&&task| task >= instance.tasks.len()) {
            return Err(Fault::UnknownTask { link: index, task });
        }
    }
    for (number, task) in instance.tasks.iter().enumerate() {
        for demand in &task.demands {
            let Some(capacity) = instance.capacities.get(demand.resource) else {
                return Err(Fault::UnknownResource { task: number, resource: demand.resource });
            };
            let amount = task.demand_for(demand.resource);
            if amount > u64::from(capacity.most()) {
                let amount = u32::try_from(amount).unwrap_or(u32::MAX);
                let demand = Demand { amount, ..*demand };
                return Err(Fault::TooMuch { task: number, demand, most: capacity.most() });
            }
        }
    }
    if horizon(instance) > u64::from(LATEST) { Err(Fault::TooLong) } else { Ok(()) }
}

/// A period by which every schedule that places tasks as early as they fit has ended, if capacity lasts.
pub(super) fn horizon(instance: &Instance) -> u64 {
    let mut reach: Vec<u64> = instance.tasks.iter().map(|task| u64::from(task.duration)).collect();
    for link in &instance.links {
        reach[link.before] = reach[link.before].max(u64::from(link.lag.unsigned_abs()));
    }
    let release = instance.tasks.iter().map(|task| task.release).max().unwrap_or(0);
    let step = instance.capacities.iter().filter_map(|capacity| capacity.steps().last()).map(|step| step.0).max();
    reach.iter().sum::<u64>() + u64::from(release) + u64::from(step.unwrap_or(0)) + 1
}
