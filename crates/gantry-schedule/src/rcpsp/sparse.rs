//! A plane that knows only the periods where something changes: for long times and for many tasks.
//!
//! Steps stand in blocks. Each block knows a bound on what is free anywhere in it, so that a search for room passes
//! over a full block at once, and placing a task moves the steps of one block only.

use super::plane::Plane;
use super::supply::Steps;

/// A block of more steps than this is cut in two.
const STEPS_MAX: usize = 64;

/// What is free, as steps in blocks.
#[derive(Clone, Debug)]
pub(super) struct Sparse {
    guards: u64,
    empty: Vec<(i32, u64)>,
    blocks: Vec<Block>,
}

/// Some steps in a row; never empty.
#[derive(Clone, Debug)]
struct Block {
    /// From which period on what is free.
    steps: Vec<(i32, u64)>,
    /// All bits that are set in any of the steps: in no lane is more free.
    most: u64,
}

impl Plane for Sparse {
    fn new(steps: &Steps, _horizon: i32) -> Self {
        let mut plane = Self { guards: steps.guards, empty: steps.free.clone(), blocks: Vec::new() };
        plane.clear();
        plane
    }

    fn clear(&mut self) {
        self.blocks.clear();
        self.blocks.extend(self.empty.chunks(STEPS_MAX / 2).map(|steps| Block::new(steps.to_vec())));
    }

    fn earliest(&self, from: i32, duration: i32, demand: u64) -> Option<i32> {
        let fits = |free: u64| free.wrapping_sub(demand) & self.guards == self.guards;
        // Everything from `start` up to the step being looked at fits; `None` while the last step did not.
        let mut start = Some(from);
        let ends = |start: Option<i32>, begin: i32| start.filter(|start| begin >= start + duration);
        let (first, mut skip) = self.find(from);
        for block in &self.blocks[first..] {
            let passed = std::mem::take(&mut skip);
            if let Some(start) = ends(start, block.first()) {
                return Some(start);
            }
            if !fits(block.most) {
                start = None;
                continue;
            }
            for &(begin, free) in &block.steps[passed..] {
                if let Some(start) = ends(start, begin) {
                    return Some(start);
                }
                start = if fits(free) { start.or(Some(begin)) } else { None };
            }
        }
        // Whatever is free in the last step is free for ever.
        start
    }

    fn take(&mut self, from: i32, duration: i32, demand: u64) {
        self.change(from, duration, |free| *free -= demand);
    }

    fn give(&mut self, from: i32, duration: i32, demand: u64) {
        self.change(from, duration, |free| *free += demand);
    }
}

impl Sparse {
    fn change(&mut self, from: i32, duration: i32, change: impl Fn(&mut u64)) {
        self.cut(from);
        self.cut(from + duration);
        let (first, _) = self.find(from);
        for block in &mut self.blocks[first..] {
            if block.first() >= from + duration {
                break;
            }
            for (_, free) in block.steps.iter_mut().filter(|(begin, _)| (from..from + duration).contains(begin)) {
                change(free);
            }
            block.learn();
        }
    }

    /// The block and the step in it that a period belongs to.
    fn find(&self, period: i32) -> (usize, usize) {
        let block = self.blocks.partition_point(|block| block.first() <= period).max(1) - 1;
        let step = self.blocks[block].steps.partition_point(|&(begin, _)| begin <= period).max(1) - 1;
        (block, step)
    }

    /// Makes a step begin in a period.
    fn cut(&mut self, period: i32) {
        let (place, step) = self.find(period);
        let block = &mut self.blocks[place];
        let (begin, free) = block.steps[step];
        if begin == period {
            return;
        }
        block.steps.insert(step + 1, (period, free));
        if block.steps.len() > STEPS_MAX {
            let second = Block::new(block.steps.split_off(STEPS_MAX / 2));
            block.learn();
            self.blocks.insert(place + 1, second);
        }
    }
}

impl Block {
    fn new(steps: Vec<(i32, u64)>) -> Self {
        let mut block = Self { steps, most: 0 };
        block.learn();
        block
    }

    /// The first period of the block.
    fn first(&self) -> i32 {
        self.steps[0].0
    }

    /// Looks again at what is free anywhere in the block.
    fn learn(&mut self) {
        self.most = self.steps.iter().fold(0, |most, &(_, free)| most | free);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::dense::Dense;
    use super::super::instance::{Capacity, Task};
    use super::super::supply::{Packing, Supply};
    use super::*;

    proptest! {
        #[test]
        fn both_kinds_of_plane_find_the_same_room(
            steps in prop::collection::vec((0..60_i32, 0..6_u32, 0..6_u32), 0..6),
            demands in prop::collection::vec((0..80_i32, 1..9_i32, 0..5_u32, 0..5_u32), 1..200),
        ) {
            let of = |which: fn(&(i32, u32, u32)) -> u32| {
                let steps = steps.iter().map(|step| (step.0.unsigned_abs(), which(step)));
                Capacity::changing(steps.chain([(61, 5)]))
            };
            let capacities = [of(|step| step.1), of(|step| step.2)];
            let packing = Packing::new(&capacities);
            let supply = Supply::new(&packing, &capacities);
            let mut dense = Dense::new(&supply.planes()[0], 4_000);
            let mut sparse = Sparse::new(&supply.planes()[0], 4_000);
            for round in 0..2 {
                for (place, &(from, duration, one, other)) in demands.iter().enumerate() {
                    let words = packing.words(&Task::new(1).with(0, one).with(1, other));
                    let demand = words.first().map_or(0, |word| word.1);
                    let start = dense.earliest(from, duration, demand);
                    prop_assert_eq!(start, sparse.earliest(from, duration, demand), "in round {}", round);
                    let start = start.expect("there is room at the end");
                    dense.take(start, duration, demand);
                    sparse.take(start, duration, demand);
                    if place % 3 == 0 {
                        dense.give(start, duration, demand);
                        sparse.give(start, duration, demand);
                    }
                }
                dense.clear();
                sparse.clear();
            }
        }
    }
}
