//! A schedule as a parent of others.

use super::network::Network;
use super::work::Curve;

/// How a schedule is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// Task by task.
    Serial,
    /// Period by period.
    Parallel,
}

/// What is kept of a schedule: the order in which it would place tasks in the other direction of time.
///
/// Placing tasks in that order from its end backwards is justification: no task then starts earlier than it did, and
/// what that leaves free at the beginning shortens the schedule.
#[derive(Clone, Debug)]
pub(super) struct Parent {
    /// When the schedule ends.
    pub end: i32,
    /// How good it is: when it ends, and then how early its work is done on average. Small is good.
    pub fitness: f64,
    /// How it was generated. Which way suits an instance is found out by descent.
    pub scheme: Scheme,
    /// A number that differs between schedules.
    pub print: u64,
    /// All tasks, last to finish first.
    pub order: Vec<u32>,
    /// When the tasks finish, in that order.
    pub finishes: Vec<i32>,
    /// The work done by when.
    pub work: Curve,
}

/// How schedules become parents: what is needed for it and the same for all of them.
pub(super) struct Nursery {
    /// How hard each task works in every period.
    rates: Vec<f64>,
    /// The work of all tasks.
    total: f64,
    /// Steps of how many periods curves of work have.
    grain: i32,
    sorted: Vec<(i32, u32)>,
}

/// Into how many steps a curve of work is divided, about.
const STEPS: i32 = 512;

impl Nursery {
    /// Prepares for schedules that end about so late.
    pub fn new(network: &Network, rates: Vec<f64>, end: i32) -> Self {
        let total: f64 = rates.iter().zip(&network.durations).map(|(rate, &duration)| rate * f64::from(duration)).sum();
        Self { rates, total: total.max(f64::MIN_POSITIVE), grain: end / STEPS + 1, sorted: Vec::new() }
    }

    /// Makes a parent of a schedule made for a network, of which is known when it ends and what makes it worse than that.
    pub fn parent(&mut self, network: &Network, scheme: Scheme, (end, worse): (i32, f64), starts: &[i32]) -> Parent {
        self.sort(network, starts);
        let spans = || {
            let tasks = starts.iter().zip(&network.durations).zip(&self.rates);
            tasks.map(|((&start, &duration), &rate)| (start, start + duration, rate))
        };
        let moment: f64 =
            spans().map(|(start, finish, rate)| f64::from(start) * f64::from(finish - start) * rate).sum();
        Parent {
            end,
            fitness: f64::from(end) + moment / self.total + worse,
            scheme,
            print: print(starts.iter().map(|start| start.cast_unsigned())),
            order: self.sorted.iter().map(|&(_, task)| task).collect(),
            finishes: self
                .sorted
                .iter()
                .map(|&(_, task)| starts[task as usize] + network.durations[task as usize])
                .collect(),
            work: Curve::new(self.grain, end, spans()),
        }
    }

    /// Sorts tasks by when they finish, last first, such that whatever waits for a task's end comes before it.
    fn sort(&mut self, network: &Network, starts: &[i32]) {
        let placed = starts.iter().zip(&network.durations).map(|(start, duration)| -(start + duration));
        self.sorted.clear();
        self.sorted.extend(placed.zip(0..));
        // A task that may finish before one it waits for has a loose link to it, seen backwards: either order will do.
        // Among tasks that finish together, those placed later come first, for they may wait for the others.
        let forwards = network.forwards;
        self.sorted.sort_unstable_by_key(|&(finish, task)| (finish, if forwards { !task } else { task }));
    }
}

/// A number that differs between lists of numbers.
pub(super) fn print(numbers: impl Iterator<Item = u32>) -> u64 {
    numbers.fold(0, |print, number| (print.rotate_left(5) ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
