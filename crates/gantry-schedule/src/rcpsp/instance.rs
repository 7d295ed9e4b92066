//! What is to be scheduled: tasks, the links between them and the capacities they share.

/// Tasks, links and capacities. Tasks and resources are named by their place in the lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// What must wait for what.
    pub links: Vec<Link>,
    /// How much there is of each resource.
    pub capacities: Vec<Capacity>,
}

/// One piece of work that is not interrupted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// How many periods it takes. A task of none is a milestone and occupies nothing.
    pub duration: u32,
    /// The first period in which it may start.
    pub release: u32,
    /// What it occupies in every period it runs.
    pub demands: Vec<Demand>,
}

/// So much of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The resource.
    pub resource: usize,
    /// How much of it.
    pub amount: u32,
}

/// A minimal distance between two starts: `after` starts at least `lag` periods after `before` does.
///
/// All four kinds of link are this one: finish-to-start is a lag of the first task's duration, finish-to-finish of the
/// first duration less the second, start-to-finish of minus the second duration. A negative lag lets the second task
/// start before the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The task waited for.
    pub before: usize,
    /// The task that waits.
    pub after: usize,
    /// Periods from start to start.
    pub lag: i32,
}

/// How much there is of a resource, period by period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// From which period on there is how much: the first from period zero, rising, no two equal amounts in a row.
    steps: Vec<(u32, u32)>,
}

impl Task {
    /// A task of so many periods that may start at once and occupies nothing.
    pub fn new(duration: u32) -> Self {
        Self { duration, ..Self::default() }
    }

    /// The same task, not before this period.
    #[must_use]
    pub fn released(self, release: u32) -> Self {
        Self { release, ..self }
    }

    /// The same task, occupying so much of a resource too.
    #[must_use]
    pub fn with(mut self, resource: usize, amount: u32) -> Self {
        self.demands.push(Demand { resource, amount });
        self
    }

    /// How much of a resource it occupies in every period it runs; a task of no duration occupies nothing.
    pub fn demand_for(&self, resource: usize) -> u64 {
        let demands = self.demands.iter().filter(|demand| demand.resource == resource && self.duration > 0);
        demands.map(|demand| u64::from(demand.amount)).sum()
    }
}

impl Instance {
    /// Adds a resource and returns its number.
    pub fn add_resource(&mut self, capacity: Capacity) -> usize {
        self.capacities.push(capacity);
        self.capacities.len() - 1
    }

    /// Adds a task and returns its number.
    pub fn add_task(&mut self, task: Task) -> usize {
        self.tasks.push(task);
        self.tasks.len() - 1
    }

    /// Lets one task start only when another has finished. Durations too long for a lag are refused by `solve`.
    pub fn finish_to_start(&mut self, before: usize, after: usize) {
        let duration = self.tasks.get(before).map_or(0, |task| task.duration);
        self.links.push(Link { before, after, lag: i32::try_from(duration).unwrap_or(i32::MAX) });
    }
}

impl Capacity {
    /// The same amount for ever.
    pub fn constant(amount: u32) -> Self {
        Self { steps: vec![(0, amount)] }
    }

    /// An amount that changes: each step says from which period on there is how much. Before the first step there is
    /// nothing; of two steps for one period the later counts.
    pub fn changing(steps: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut given: Vec<(u32, u32)> = std::iter::once((0, 0)).chain(steps).collect();
        given.sort_by_key(|&(from, _)| from);
        let mut steps: Vec<(u32, u32)> = Vec::with_capacity(given.len());
        for (from, amount) in given {
            if steps.last().is_some_and(|last| last.0 == from) {
                steps.pop();
            }
            if steps.last().is_none_or(|last| last.1 != amount) {
                steps.push((from, amount));
            }
        }
        Self { steps }
    }

    /// The steps: from which period on there is how much.
    pub fn steps(&self) -> &[(u32, u32)] {
        &self.steps
    }

    /// How much there is in a period.
    pub fn at(&self, period: u32) -> u32 {
        let next = self.steps.partition_point(|&(from, _)| from <= period);
        self.steps[next - 1].1
    }

    /// The most there ever is.
    pub fn most(&self) -> u32 {
        self.steps.iter().map(|&(_, amount)| amount).max().unwrap_or(0)
    }

    /// How much there is once nothing changes any more.
    pub fn last(&self) -> u32 {
        self.steps.last().map_or(0, |&(_, amount)| amount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_sorted_and_merged() {
        let capacity = Capacity::changing([(9, 2), (3, 1), (5, 1), (9, 4)]);
        assert_eq!(capacity.steps(), [(0, 0), (3, 1), (9, 4)]);
        assert_eq!([0, 2, 3, 8, 9, 1_000].map(|period| capacity.at(period)), [0, 0, 1, 1, 4, 4]);
    }

    #[test]
    fn a_step_at_period_zero_replaces_the_nothing_before_it() {
        assert_eq!(Capacity::changing([(0, 3)]), Capacity::constant(3));
    }
}
