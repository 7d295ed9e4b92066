//! The instance as compact lists of numbers, in canonical order, in either direction of time.
//!
//! Times are `i32`: no period exceeds the limit that faults are checked for, and going backwards a lag may be negative.

use super::canon;
use super::fault::{self, Fault};
use super::instance::Instance;
use super::supply::{Packing, Supply};
use super::work;

/// Tasks and links as seen by a schedule that is made in one direction of time.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// How long each task takes.
    pub durations: Vec<i32>,
    /// When each task may start at the earliest.
    pub releases: Vec<i32>,
    /// For each task, which tasks are placed before it and how long after their starts it may start.
    pub before: Rows<(u32, i32)>,
    /// For each task, which tasks are placed after it and how long after its start they may start.
    pub after: Rows<(u32, i32)>,
    /// The same of links with a negative lag, of which either task may be placed first.
    pub loose_before: Rows<(u32, i32)>,
    /// The other end of these.
    pub loose_after: Rows<(u32, i32)>,
    /// For each task, what it occupies: the plane, and the demands packed into a word.
    pub demands: Rows<(u32, u64)>,
    /// What there is.
    pub supply: Supply,
    /// True when the network is seen forwards in time: links then point to higher numbers, otherwise to lower ones.
    pub forwards: bool,
}

/// Rows of different lengths in one list.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows<T> {
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T> Rows<T> {
    /// Puts rows one behind the other.
    pub fn new(rows: impl IntoIterator<Item = impl IntoIterator<Item = T>>) -> Self {
        let mut all = Self { ends: vec![0], items: Vec::new() };
        for row in rows {
            all.items.extend(row);
            all.ends.push(u32::try_from(all.items.len()).expect("fewer links than 32 bits count"));
        }
        all
    }

    /// Whether all rows are empty.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// One row.
    #[inline]
    pub fn of(&self, row: usize) -> &[T] {
        &self.items[self.ends[row] as usize..self.ends[row + 1] as usize]
    }
}

/// An instance that has been found sound, and the way back to its written order.
pub(super) struct Prepared {
    /// The network forwards in time.
    pub forward: Network,
    /// The written number of each task of the network.
    pub written: Vec<usize>,
    /// A period by which all schedules have ended, if capacity lasts.
    pub horizon: i32,
    /// How hard each task works what is scarce, in every period it runs.
    pub rates: Vec<f64>,
}

impl Prepared {
    /// Checks an instance and renumbers its tasks.
    pub fn new(instance: &Instance) -> Result<Self, Fault> {
        fault::of_parts(instance)?;
        let written = canon::order(instance)?;
        let horizon = i32::try_from(fault::horizon(instance)).map_err(|_| Fault::TooLong)?;
        let rates = work::rates(instance, &written);
        Ok(Self { rates, forward: Network::forward(instance, &written), written, horizon })
    }
}

impl Network {
    fn forward(instance: &Instance, written: &[usize]) -> Self {
        let mut place = vec![0_u32; written.len()];
        for (index, &task) in (0_u32..).zip(written) {
            place[task] = index;
        }
        let mut links: Vec<(u32, u32, i32)> =
            instance.links.iter().map(|link| (place[link.before], place[link.after], link.lag)).collect();
        // Of several links between two tasks the longest lag holds.
        links.sort_unstable_by_key(|&(before, after, lag)| (before, after, -i64::from(lag)));
        links.dedup_by_key(|link| (link.0, link.1));
        let packing = Packing::new(&instance.capacities);
        let tasks = || written.iter().map(|&task| &instance.tasks[task]);
        Self::linked(
            tasks().map(|task| task.duration.cast_signed()).collect(),
            tasks().map(|task| task.release.cast_signed()).collect(),
            &links,
            Rows::new(tasks().map(|task| packing.words(task))),
            Supply::new(&packing, &instance.capacities),
        )
    }

    /// The same tasks seen from `end` backwards in time, when nothing is released late.
    ///
    /// What happens before period zero in that view is harmless: a schedule made backwards only gives the order for
    /// one made forwards, unless capacity never changes; then it is as good as one made forwards.
    pub fn mirrored(&self, end: i32) -> Self {
        let mut links = Vec::new();
        for task in 0..self.len() {
            for &(after, lag) in self.after.of(task).iter().chain(self.loose_after.of(task)) {
                let turned = lag + self.durations[after as usize] - self.durations[task];
                links.push((after, u32::try_from(task).expect("tasks are counted in 32 bits"), turned));
            }
        }
        Self::linked(
            self.durations.clone(),
            vec![0; self.len()],
            &links,
            self.demands.clone(),
            self.supply.mirrored(end),
        )
    }

    fn linked(
        durations: Vec<i32>,
        releases: Vec<i32>,
        links: &[(u32, u32, i32)],
        demands: Rows<(u32, u64)>,
        supply: Supply,
    ) -> Self {
        let rows = |wanted: fn(i32) -> bool| {
            let mut before = vec![Vec::new(); durations.len()];
            let mut after = vec![Vec::new(); durations.len()];
            for &(one, other, lag) in links.iter().filter(|link| wanted(link.2)) {
                after[one as usize].push((other, lag));
                before[other as usize].push((one, lag));
            }
            (Rows::new(before), Rows::new(after))
        };
        let (before, after) = rows(|lag| lag >= 0);
        let (loose_before, loose_after) = rows(|lag| lag < 0);
        let forwards = links.iter().all(|&(one, other, _)| one < other);
        Self { durations, releases, before, after, loose_before, loose_after, demands, supply, forwards }
    }

    /// How many tasks there are.
    pub fn len(&self) -> usize {
        self.durations.len()
    }

    /// Whether some task may start before one it waits for.
    pub fn is_loose(&self) -> bool {
        !self.loose_after.is_empty()
    }

    /// All tasks, each after those it waits for.
    pub fn in_order(&self) -> impl Iterator<Item = usize> + use<> {
        let last = self.len().saturating_sub(1);
        let forwards = self.forwards;
        (0..self.len()).map(move |place| if forwards { place } else { last - place })
    }

    /// The earliest start of each task by links and releases alone.
    pub fn earliest(&self) -> Vec<i32> {
        let mut starts = self.releases.clone();
        for task in self.in_order() {
            for &(other, lag) in self.before.of(task).iter().chain(self.loose_before.of(task)) {
                starts[task] = starts[task].max(starts[other as usize] + lag);
            }
        }
        starts
    }
}
