//! Serial generation: tasks are placed in a given order, each as early as it fits.

use super::loose::Loose;
use super::network::Network;
use super::plane::Plane;

/// What making schedules for one network needs, kept from one schedule to the next.
pub(super) struct Maker<P> {
    /// The network schedules are made for.
    pub network: Network,
    /// What is still free.
    pub planes: Vec<P>,
    /// What is placed, where that is not known from the order alone.
    pub loose: Loose,
}

impl<P: Plane> Maker<P> {
    /// Prepares for a network.
    pub fn new(network: Network, horizon: i32) -> Self {
        let planes = network.supply.planes().iter().map(|steps| P::new(steps, horizon)).collect();
        Self { network, planes, loose: Loose::default() }
    }

    /// Makes a schedule by placing tasks in this order, which must respect the links that are not loose. Returns when it ends, or nothing
    /// when some task finds no room before capacity ends for good.
    pub fn serial(&mut self, order: &[u32], starts: &mut [i32]) -> Option<i32> {
        for plane in &mut self.planes {
            plane.clear();
        }
        self.begin_loose();
        let loose = self.network.is_loose();
        let mut end = 0;
        for &task in order {
            let task = task as usize;
            let mut start = self.network.releases[task];
            if loose {
                start = self.bound(task, starts);
            } else {
                for &(other, lag) in self.network.before.of(task) {
                    start = start.max(starts[other as usize] + lag);
                }
            }
            start = self.place(task, start)?;
            starts[task] = start;
            end = end.max(start + self.network.durations[task]);
            if loose {
                end = end.max(self.settle_loose(task, starts)?);
            }
        }
        Some(end)
    }

    /// Places a task as early as it fits, and returns where.
    #[inline]
    pub fn place(&mut self, task: usize, from: i32) -> Option<i32> {
        let duration = self.network.durations[task];
        let demands = self.network.demands.of(task);
        let start = self.earliest(task, from)?;
        for &(plane, demand) in demands {
            self.planes[plane as usize].take(start, duration, demand);
        }
        Some(start)
    }

    /// The first period where a task fits in every plane.
    #[inline]
    pub fn earliest(&self, task: usize, from: i32) -> Option<i32> {
        let duration = self.network.durations[task];
        let demands = self.network.demands.of(task);
        let mut start = from;
        loop {
            let mut moved = start;
            for &(plane, demand) in demands {
                moved = self.planes[plane as usize].earliest(moved, duration, demand)?;
            }
            // With one plane the first answer is final; with several each must agree with the last.
            if moved == start || demands.len() == 1 {
                return Some(moved);
            }
            start = moved;
        }
    }
}
