//! Parallel generation: time moves forwards, and at each time the most urgent tasks that fit start.

use super::plane::Plane;
use super::serial::Maker;

/// Beyond so many tasks schedules are made task by task only: the time of parallel generation grows with the number of
/// tasks times how many of them are ready at once.
pub(super) const TASKS_MAX: usize = 2_000;

/// What parallel generation keeps from one schedule to the next.
#[derive(Default)]
pub(super) struct Ready {
    /// For each task, how many tasks it still waits for.
    waits: Vec<usize>,
    /// For each task that is ready, a time before which it cannot start.
    from: Vec<i32>,
    /// The tasks that are ready, most urgent first.
    tasks: Vec<u32>,
}

impl<P: Plane> Maker<P> {
    /// Makes a schedule in which no task waits while it could start, tasks with small keys first. Returns when it ends,
    /// or nothing when some task finds no room before capacity ends for good.
    pub fn parallel(&mut self, keys: &[i32], ready: &mut Ready, starts: &mut [i32]) -> Option<i32> {
        for plane in &mut self.planes {
            plane.clear();
        }
        self.begin_loose();
        let loose = self.network.is_loose();
        ready.begin(self, keys);
        let mut end = 0;
        while let Some(now) = ready.next_time() {
            let mut place = 0;
            while place < ready.tasks.len() {
                let task = ready.tasks[place] as usize;
                if loose {
                    // What it waits for may have been moved since it became ready.
                    ready.from[task] = ready.from[task].max(self.bound(task, starts));
                }
                // What is free only shrinks, so a time that was too early for this task once is so for good. (Tasks that
                // are moved because of a loose link leave room behind; that is not looked for again.)
                if ready.from[task] == now {
                    ready.from[task] = self.earliest(task, now)?;
                }
                if ready.from[task] > now {
                    place += 1;
                    continue;
                }
                starts[task] = self.place(task, now)?;
                end = end.max(now + self.network.durations[task]);
                if loose {
                    end = end.max(self.settle_loose(task, starts)?);
                }
                ready.tasks.remove(place);
                // A task that became ready now stands among the more urgent ones, if that is where it belongs; it has
                // its turn in the next round, which may be of the same time.
                ready.release(self, keys, starts, task, &mut place);
            }
        }
        Some(end)
    }
}

impl Ready {
    /// Starts again with the tasks that wait for nothing.
    fn begin<P>(&mut self, maker: &Maker<P>, keys: &[i32]) {
        let network = &maker.network;
        self.waits.clear();
        self.waits.extend((0..network.len()).map(|task| network.before.of(task).len()));
        self.from.clone_from(&network.releases);
        self.tasks.clear();
        self.tasks.extend((0..).take(network.len()).filter(|&task: &u32| self.waits[task as usize] == 0));
        self.tasks.sort_unstable_by_key(|&task| (keys[task as usize], task));
    }

    /// The first time at which some ready task may start.
    fn next_time(&self) -> Option<i32> {
        self.tasks.iter().map(|&task| self.from[task as usize]).min()
    }

    /// Lets go of what waited for a task that has been placed. `place` is kept pointing at the same task.
    fn release<P>(&mut self, maker: &Maker<P>, keys: &[i32], starts: &[i32], placed: usize, place: &mut usize) {
        for &(task, lag) in maker.network.after.of(placed) {
            let follower = task as usize;
            self.from[follower] = self.from[follower].max(starts[placed] + lag);
            self.waits[follower] -= 1;
            if self.waits[follower] == 0 {
                let key = (keys[follower], task);
                let here = self.tasks.partition_point(|&other| (keys[other as usize], other) < key);
                self.tasks.insert(here, task);
                *place += usize::from(here < *place);
            }
        }
    }
}
