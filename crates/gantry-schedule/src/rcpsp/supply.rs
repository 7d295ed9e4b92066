//! How much there is, packed: several resources share a word, so that one subtraction compares them all.
//!
//! Each resource has a lane of bits in a word: as many as its largest capacity needs, and one more above them, the
//! guard, which is always set in what is free. Subtracting a demand clears the guard exactly when too little is free,
//! and never borrows from the next lane.

use super::instance::{Capacity, Task};

/// Where each resource stands.
pub(super) struct Packing {
    lanes: Vec<Lane>,
    planes: usize,
}

#[derive(Clone, Copy)]
struct Lane {
    plane: usize,
    shift: u32,
    width: u32,
}

impl Packing {
    /// Gives every resource a lane, filling word after word.
    pub fn new(capacities: &[Capacity]) -> Self {
        let mut lanes = Vec::with_capacity(capacities.len());
        let (mut plane, mut shift) = (0, 0);
        for capacity in capacities {
            let width = u32::BITS - capacity.most().leading_zeros() + 1;
            if shift + width > u64::BITS {
                (plane, shift) = (plane + 1, 0);
            }
            lanes.push(Lane { plane, shift, width });
            shift += width;
        }
        Self { planes: if lanes.is_empty() { 0 } else { plane + 1 }, lanes }
    }

    /// What a task occupies: a word for each plane in which it occupies anything.
    pub fn words(&self, task: &Task) -> Vec<(u32, u64)> {
        let mut words = vec![0; self.planes];
        for demand in task.demands.iter().filter(|_| task.duration > 0) {
            let lane = self.lanes[demand.resource];
            words[lane.plane] += u64::from(demand.amount) << lane.shift;
        }
        (0..).zip(words).filter(|&(_, word)| word != 0).collect()
    }
}

/// What is free in each plane while nothing is placed.
#[derive(Clone, Debug)]
pub(super) struct Supply {
    planes: Vec<Steps>,
}

/// What is free in one plane, period by period.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// The guards of all lanes.
    pub guards: u64,
    /// From which period on what is free, guards included; the first from period zero.
    pub free: Vec<(i32, u64)>,
    /// The most that is ever free in each lane, guards included.
    most: u64,
}

impl Supply {
    /// Packs capacities.
    pub fn new(packing: &Packing, capacities: &[Capacity]) -> Self {
        let planes = (0..packing.planes).map(|plane| {
            let here = || packing.lanes.iter().zip(capacities).filter(move |(lane, _)| lane.plane == plane);
            let packed = |amount: &dyn Fn(&Capacity) -> u32| {
                here().fold(0, |word, (lane, capacity)| word | (u64::from(amount(capacity)) << lane.shift))
            };
            let guards = here().fold(0, |word, (lane, _)| word | (1 << (lane.shift + lane.width - 1)));
            let mut changes: Vec<u32> = here().flat_map(|(_, it)| it.steps()).map(|&(from, _)| from).collect();
            changes.sort_unstable();
            changes.dedup();
            let free = changes.iter().map(|&from| (from.cast_signed(), guards | packed(&|it| it.at(from)))).collect();
            Steps { guards, free, most: guards | packed(&Capacity::most) }
        });
        Self { planes: planes.collect() }
    }

    /// The planes.
    pub fn planes(&self) -> &[Steps] {
        &self.planes
    }

    /// True when capacity never changes.
    pub fn is_constant(&self) -> bool {
        self.planes.iter().all(|steps| steps.free.len() == 1)
    }

    /// The same seen from `end` backwards. Before the beginning of time there is as much as there ever is, so that
    /// everything fits there.
    pub fn mirrored(&self, end: i32) -> Self {
        let planes = self.planes.iter().map(|steps| {
            if steps.free.len() == 1 {
                return steps.clone();
            }
            let known = steps.free.partition_point(|&(from, _)| from < end).max(1);
            // A step that begins at `from` ends, seen backwards, at `end - from`, where the step before it begins.
            let mut free = vec![(0, steps.free[known - 1].1)];
            free.extend((1..known).rev().map(|step| (end - steps.free[step].0, steps.free[step - 1].1)));
            free.push((end.max(1), steps.most));
            Steps { free, ..*steps }
        });
        Self { planes: planes.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_fill_a_word_before_the_next_begins() {
        let capacities = vec![Capacity::constant(12), Capacity::constant(1 << 30), Capacity::constant(1 << 29)];
        let packing = Packing::new(&capacities);
        assert_eq!(packing.planes, 2);
        let task = Task::new(1).with(0, 3).with(2, 5).with(0, 1);
        assert_eq!(packing.words(&task), [(0, 4), (1, 5)]);
        assert_eq!(packing.words(&Task { duration: 0, ..task }), []);
    }

    #[test]
    fn a_mirror_shows_the_last_period_first() {
        let capacities = vec![Capacity::changing([(0, 1), (4, 2), (6, 3), (20, 0)])];
        let supply = Supply::new(&Packing::new(&capacities), &capacities);
        let guard = 4;
        assert_eq!(supply.planes()[0].free, [(0, guard | 1), (4, guard | 2), (6, guard | 3), (20, guard)]);
        assert_eq!(
            supply.mirrored(10).planes()[0].free,
            [(0, guard | 3), (4, guard | 2), (6, guard | 1), (10, guard | 3)]
        );
    }
}
