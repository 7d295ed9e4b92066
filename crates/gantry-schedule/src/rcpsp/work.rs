//! How much work of a scarce kind a schedule has done by when: what tells a dense stretch from a thin one.

use super::instance::Instance;

/// How hard each task works in every period it runs: its demands as shares of capacity, each weighed by how scarce that
/// resource is. A resource is as scarce as the time its whole work takes is long; the square lets the scarcest rule.
pub(super) fn rates(instance: &Instance, written: &[usize]) -> Vec<f64> {
    let resources = 0..instance.capacities.len();
    let share = |task: usize, resource: usize| {
        let amount = u32::try_from(instance.tasks[task].demand_for(resource)).unwrap_or(u32::MAX);
        f64::from(amount) / f64::from(instance.capacities[resource].most().max(1))
    };
    let load = |resource| {
        (written.iter().map(|&task| share(task, resource) * f64::from(instance.tasks[task].duration))).sum::<f64>()
    };
    let loads: Vec<f64> = resources.clone().map(load).collect();
    let heaviest = loads.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let rate = |&task: &usize| {
        resources.clone().map(|resource| share(task, resource) * (loads[resource] / heaviest).powi(2)).sum()
    };
    written.iter().map(rate).collect()
}

/// The work a schedule has done by each time, in steps of some periods.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    grain: i32,
    done: Vec<f64>,
}

impl Curve {
    /// The curve of a schedule, from the start, the end and the rate of each task.
    pub fn new(grain: i32, end: i32, tasks: impl Iterator<Item = (i32, i32, f64)>) -> Self {
        let place = |time: i32| usize::try_from(time / grain).unwrap_or(0) + 1;
        let mut done = vec![0.0; place(end) + 1];
        for (start, finish, rate) in tasks {
            done[place(start)] += rate;
            done[place(finish)] -= rate;
        }
        // Changes of the rate become the rate, and the rate becomes the work done.
        for _ in 0..2 {
            for step in 1..done.len() {
                done[step] += done[step - 1];
            }
        }
        Self { grain, done }
    }

    /// The work done between two times.
    pub fn between(&self, from: i32, until: i32) -> f64 {
        self.at(until) - self.at(from)
    }

    fn at(&self, time: i32) -> f64 {
        let step = usize::try_from(time / self.grain).unwrap_or(0);
        self.done[step.min(self.done.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::instance::{Capacity, Task};
    use super::*;

    #[test]
    fn a_curve_counts_work_and_ends_where_the_schedule_does() {
        let curve = Curve::new(1, 6, [(0, 4, 1.0), (2, 6, 0.5)].into_iter());
        let work = [(0, 2), (2, 4), (4, 6), (6, 99)].map(|(from, until)| curve.between(from, until));
        assert_eq!(work.map(|work| format!("{work:.3}")), ["2.000", "3.000", "1.000", "0.000"]);
    }

    #[test]
    fn demands_for_what_is_scarce_count_most() {
        let mut instance = Instance::default();
        let scarce = instance.add_resource(Capacity::constant(1));
        let plenty = instance.add_resource(Capacity::constant(2));
        instance.add_task(Task::new(4).with(scarce, 1));
        instance.add_task(Task::new(4).with(plenty, 1));
        let rates: Vec<String> = rates(&instance, &[0, 1]).iter().map(|rate| format!("{rate:.3}")).collect();
        assert_eq!(rates, ["1.000", "0.125"]);
    }
}
