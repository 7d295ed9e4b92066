//! The independent validator: it knows the instance and the starts, and nothing of how they were found.

use std::collections::BTreeMap;
use std::fmt;

use super::instance::{Instance, Link};

/// One thing that is wrong with a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// There are not as many starts as tasks.
    WrongLength {
        /// How many starts there are.
        starts: usize,
        /// How many tasks there are.
        tasks: usize,
    },
    /// A task starts before it may.
    TooEarly {
        /// The task.
        task: usize,
        /// When it starts.
        start: u32,
        /// When it may.
        release: u32,
    },
    /// A task does not wait for another as long as a link says.
    LinkBroken {
        /// The link.
        link: Link,
        /// By how many periods it comes too early.
        short: i64,
    },
    /// More of a resource is occupied than there is.
    OverCapacity {
        /// The resource.
        resource: usize,
        /// The first period of the stretch.
        period: u32,
        /// How much is occupied.
        occupied: u64,
        /// How much there is.
        capacity: u32,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongLength { starts, tasks } => write!(out, "{starts} starts for {tasks} tasks"),
            Self::TooEarly { task, start, release } => {
                write!(out, "task {task} starts in period {start}, but may only from period {release} on")
            }
            Self::LinkBroken { link: Link { before, after, lag }, short } => {
                write!(out, "task {after} starts {short} periods too early after task {before} (lag {lag})")
            }
            Self::OverCapacity { resource, period, occupied, capacity } => {
                write!(out, "from period {period} on, {occupied} of resource {resource} are occupied of {capacity}")
            }
        }
    }
}

/// Says everything that is wrong with a schedule; nothing when it holds.
pub fn check(instance: &Instance, starts: &[u32]) -> Vec<Violation> {
    if starts.len() != instance.tasks.len() {
        return vec![Violation::WrongLength { starts: starts.len(), tasks: instance.tasks.len() }];
    }
    let mut violations = Vec::new();
    for (task, (&start, given)) in starts.iter().zip(&instance.tasks).enumerate() {
        if start < given.release {
            violations.push(Violation::TooEarly { task, start, release: given.release });
        }
    }
    for link in &instance.links {
        let short = i64::from(starts[link.before]) + i64::from(link.lag) - i64::from(starts[link.after]);
        if short > 0 {
            violations.push(Violation::LinkBroken { link: *link, short });
        }
    }
    for resource in 0..instance.capacities.len() {
        over_capacity(instance, starts, resource, &mut violations);
    }
    violations
}

/// Walks through the periods where something changes and compares what is occupied with what there is.
fn over_capacity(instance: &Instance, starts: &[u32], resource: usize, violations: &mut Vec<Violation>) {
    let mut changes: BTreeMap<u64, i128> = BTreeMap::new();
    for (task, &start) in instance.tasks.iter().zip(starts) {
        for demand in task.demands.iter().filter(|demand| demand.resource == resource && task.duration > 0) {
            *changes.entry(u64::from(start)).or_default() += i128::from(demand.amount);
            *changes.entry(u64::from(start) + u64::from(task.duration)).or_default() -= i128::from(demand.amount);
        }
    }
    let capacity = &instance.capacities[resource];
    for &(from, _) in capacity.steps() {
        changes.entry(u64::from(from)).or_default();
    }
    let mut occupied: i128 = 0;
    for (period, change) in changes {
        occupied += change;
        let period = u32::try_from(period).unwrap_or(u32::MAX);
        if occupied > i128::from(capacity.at(period)) {
            violations.push(Violation::OverCapacity {
                resource,
                period,
                occupied: u64::try_from(occupied).unwrap_or(u64::MAX),
                capacity: capacity.at(period),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::instance::{Capacity, Task};
    use super::*;

    fn two_tasks() -> Instance {
        let mut instance = Instance::default();
        let crane = instance.add_resource(Capacity::changing([(0, 1), (10, 2)]));
        let dig = instance.add_task(Task::new(3).with(crane, 1));
        let pour = instance.add_task(Task::new(2).with(crane, 1).released(2));
        instance.finish_to_start(dig, pour);
        instance
    }

    #[test]
    fn a_schedule_that_holds_has_no_violation() {
        assert_eq!(check(&two_tasks(), &[0, 3]), []);
    }

    #[test]
    fn every_kind_of_violation_is_found() {
        let instance = two_tasks();
        assert_eq!(check(&instance, &[0]), [Violation::WrongLength { starts: 1, tasks: 2 }]);
        assert_eq!(
            check(&instance, &[0, 1]),
            [
                Violation::TooEarly { task: 1, start: 1, release: 2 },
                Violation::LinkBroken { link: instance.links[0], short: 2 },
                Violation::OverCapacity { resource: 0, period: 1, occupied: 2, capacity: 1 },
            ]
        );
    }

    #[test]
    fn capacity_that_ends_under_a_running_task_is_found() {
        let mut instance = Instance::default();
        let crew = instance.add_resource(Capacity::changing([(0, 2), (4, 1)]));
        instance.add_task(Task::new(6).with(crew, 2));
        assert_eq!(
            check(&instance, &[0]),
            [Violation::OverCapacity { resource: 0, period: 4, occupied: 2, capacity: 1 }]
        );
    }

    #[test]
    fn two_demands_for_one_resource_add_up() {
        let mut instance = Instance::default();
        let crew = instance.add_resource(Capacity::constant(3));
        instance.add_task(Task::new(1).with(crew, 2).with(crew, 2));
        assert_eq!(check(&instance, &[0]).len(), 1);
    }
}
