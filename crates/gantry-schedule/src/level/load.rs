//! How much of a resource is free, over time.
//!
//! Steps stand in blocks. Each block knows the least and the most that is free in it, so that a search for room passes
//! over what is full, or free, at once, and taking some moves the steps of few blocks only.

use super::Share;

/// A block of more steps than this is cut in two.
const STEPS_MAX: usize = 64;

/// So many blocks are looked at one by one before they are searched.
const NEAR: usize = 4;

/// What is free of one resource, as steps over time.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    blocks: Vec<Block>,
}

/// Some steps in a row; never empty.
#[derive(Clone, Debug)]
struct Block {
    /// From which second on how much is free; less than nothing where more was taken than there is.
    steps: Vec<(i64, i64)>,
    least: i64,
    most: i64,
}

/// Why something does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocked {
    /// Until this second; then it is worth trying again.
    Until(i64),
    /// There will never be enough.
    ForEver,
}

impl Blocked {
    /// From when on it is worth trying again, if ever.
    pub(crate) fn until(self) -> Option<i64> {
        match self {
            Self::Until(second) => Some(second),
            Self::ForEver => None,
        }
    }
}

impl Load {
    /// Nothing is taken yet of a capacity: from which second on there is how much.
    pub(crate) fn new(capacity: &[(i64, u32)]) -> Self {
        let steps: Vec<(i64, i64)> = capacity.iter().map(|&(from, amount)| (from, i64::from(amount))).collect();
        Self { blocks: steps.chunks(STEPS_MAX / 2).map(|steps| Block::new(steps.to_vec())).collect() }
    }

    /// The most that is ever free from a second on.
    pub(super) fn most_from(&self, second: i64) -> u32 {
        let (block, step) = self.find(second, 0);
        let later = self.blocks[block + 1..].iter().map(|block| block.most);
        let most = self.blocks[block].steps[step..].iter().map(|step| step.1).chain(later).max();
        most.and_then(|most| u32::try_from(most).ok()).unwrap_or(0)
    }

    /// Whether so much is free from one second to another. If not, it is worth trying again where it is free for so many
    /// seconds, as less would not do.
    pub(crate) fn fits(&self, amount: u32, (from, to): (i64, i64), seconds: i64) -> Result<(), Blocked> {
        let Some(full) = self.full_between(amount, from, to) else { return Ok(()) };
        let again = self.earliest(amount, full, seconds, &mut 0);
        Err(again.map_or(Blocked::ForEver, Blocked::Until))
    }

    /// The first second from one to another at which less is free.
    fn full_between(&self, amount: u32, from: i64, to: i64) -> Option<i64> {
        let amount = i64::from(amount);
        let (first, mut skip) = self.find(from, 0);
        for block in self.blocks[first..].iter().take_while(|block| block.first() < to) {
            let steps = &block.steps[std::mem::take(&mut skip)..];
            if block.least < amount
                && let Some((begin, _)) = steps.iter().find(|(begin, free)| *free < amount && *begin < to)
            {
                return (from < to).then_some((*begin).max(from));
            }
        }
        None
    }

    /// The first second, not before this one, from which on so much is free for so many seconds; none if there is none.
    /// Blocks before that of a hint are known to be past; the hint is moved on.
    pub(super) fn earliest(&self, amount: u32, from: i64, seconds: i64, hint: &mut usize) -> Option<i64> {
        let amount = i64::from(amount);
        let (first, mut skip) = self.find(from, *hint);
        *hint = first;
        // Since when it is free, up to the step being looked at; none while the last step was full.
        let mut since: Option<i64> = None;
        let long_enough = |since: Option<i64>, begin: i64| since.filter(|since| begin - since >= seconds);
        for block in &self.blocks[first..] {
            let steps = &block.steps[std::mem::take(&mut skip)..];
            if let Some(since) = long_enough(since, block.first()) {
                return Some(since);
            }
            if block.most < amount {
                since = None;
            } else if block.least >= amount {
                since = since.or(Some(block.first().max(from)));
            } else {
                for &(begin, free) in steps {
                    if let Some(since) = long_enough(since, begin) {
                        return Some(since);
                    }
                    since = if free >= amount { since.or(Some(begin.max(from))) } else { None };
                }
            }
        }
        since
    }

    /// Takes so much from one second to another, whether it is there or not.
    pub(crate) fn take(&mut self, amount: u32, from: i64, to: i64) {
        if amount == 0 || from >= to {
            return;
        }
        self.cut(from);
        self.cut(to);
        let (first, _) = self.find(from, 0);
        for block in &mut self.blocks[first..] {
            if block.first() >= to {
                break;
            }
            for (_, free) in block.steps.iter_mut().filter(|(begin, _)| (from..to).contains(begin)) {
                *free -= i64::from(amount);
            }
            block.learn();
        }
        self.join(to);
        self.join(from);
    }

    /// The block and the step in it that a second belongs to; no block before `hint`.
    fn find(&self, second: i64, hint: usize) -> (usize, usize) {
        let near = self.blocks[hint..].iter().take(NEAR).take_while(|block| block.first() <= second).count();
        let block = if near < NEAR {
            hint + near.max(1) - 1
        } else {
            hint + self.blocks[hint..].partition_point(|block| block.first() <= second).max(1) - 1
        };
        let step = self.blocks[block].steps.partition_point(|&(begin, _)| begin <= second).max(1) - 1;
        (block, step)
    }

    /// Makes a step begin at a second.
    fn cut(&mut self, second: i64) {
        let (place, step) = self.find(second, 0);
        let block = &mut self.blocks[place];
        let (begin, free) = block.steps[step];
        if begin == second {
            return;
        }
        block.steps.insert(step + 1, (second, free));
        if block.steps.len() > STEPS_MAX {
            let second = Block::new(block.steps.split_off(STEPS_MAX / 2));
            block.learn();
            self.blocks.insert(place + 1, second);
        }
    }

    /// Makes one step of equal neighbours: long busy stretches stay short to look through.
    fn join(&mut self, second: i64) {
        let (place, step) = self.find(second, 0);
        let steps = &mut self.blocks[place].steps;
        if step > 0 && steps[step].1 == steps[step - 1].1 {
            steps.remove(step);
        }
    }
}

/// The first second, not before this one, from which on all of these shares are free for so many seconds at once.
pub(super) fn all_free(loads: &[Load], shares: &[Share], from: i64, seconds: i64, hints: &mut [usize]) -> Option<i64> {
    let (mut second, mut agreed, mut at) = (from, 0, 0);
    while agreed < shares.len() {
        let share = shares[at];
        let next = loads[share.resource].earliest(share.amount, second, seconds, &mut hints[at])?;
        agreed = if next == second { agreed + 1 } else { 1 };
        (second, at) = (next, (at + 1) % shares.len());
    }
    Some(second)
}

impl Block {
    fn new(steps: Vec<(i64, i64)>) -> Self {
        let mut block = Self { steps, least: 0, most: 0 };
        block.learn();
        block
    }

    /// The first second of the block.
    fn first(&self) -> i64 {
        self.steps[0].0
    }

    /// Looks again at what is free in the block.
    fn learn(&mut self) {
        let free = || self.steps.iter().map(|step| step.1);
        (self.least, self.most) = (free().min().unwrap_or(0), free().max().unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_taken_is_not_free() {
        let mut load = Load::new(&[(i64::MIN, 2), (100, 3)]);
        load.take(1, 10, 20);
        load.take(1, 15, 30);
        let fits = |load: &Load, amount, from, to| load.fits(amount, (from, to), 1);
        assert_eq!(fits(&load, 1, 0, 15), Ok(()));
        assert_eq!(fits(&load, 1, 0, 16), Err(Blocked::Until(20)));
        assert_eq!(fits(&load, 2, 20, 40), Err(Blocked::Until(30)));
        assert_eq!(fits(&load, 3, 40, 50), Err(Blocked::Until(100)));
        assert_eq!(fits(&load, 3, 100, 1_000), Ok(()));
        assert_eq!(fits(&load, 4, 100, 1_000), Err(Blocked::ForEver));
        assert_eq!(fits(&load, 3, 12, 14), Err(Blocked::Until(100)), "everything in between is blocked too");
        load.take(1, 30, 40);
        assert_eq!(load.blocks[0].steps.len(), 6, "one step from 20 to 40");
        assert_eq!(load.fits(2, (16, 26), 10), Err(Blocked::Until(40)), "and what is free for less is passed over");
        load.take(2, 45, 50);
        assert_eq!(load.fits(2, (16, 26), 10), Err(Blocked::Until(50)), "so is what is free between");
    }

    proptest! {
        #[test]
        fn room_is_found_where_every_second_has_it(
            steps in prop::collection::vec((1..400_i64, 0..5_u32), 0..4),
            takes in prop::collection::vec((1..3_u32, 0..400_i64, 0..12_i64), 0..200),
            asked in prop::collection::vec((1..4_u32, 0..400_i64, 0..20_i64, 1..20_i64), 1..20),
        ) {
            let mut capacity = vec![(i64::MIN, 4)];
            capacity.extend(steps);
            capacity[1..].sort_unstable();
            capacity.dedup_by_key(|step| step.0);
            let mut load = Load::new(&capacity);
            let mut free: Vec<i64> = (0..1_000)
                .map(|at| i64::from(capacity.iter().rfind(|step| step.0 <= at).unwrap().1))
                .collect();
            for (amount, from, length) in takes {
                load.take(amount, from, from + length);
                for at in from..from + length {
                    free[usize::try_from(at).unwrap()] -= i64::from(amount);
                }
            }
            for (amount, from, length, seconds) in asked {
                let room = |from: i64, length: i64| {
                    (from..from + length).all(|at| free[usize::try_from(at).unwrap()] >= i64::from(amount))
                };
                let expected = if room(from, length) {
                    Ok(())
                } else {
                    let full = (from..from + length).find(|&at| !room(at, 1)).unwrap();
                    let again = (full..900).find(|&at| room(at, seconds));
                    Err(again.map_or(Blocked::ForEver, Blocked::Until))
                };
                prop_assert_eq!(load.fits(amount, (from, from + length), seconds), expected);
            }
        }
    }
}
