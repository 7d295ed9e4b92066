//! How much of a resource is in use, over time.

use std::collections::BTreeMap;

/// Use and capacity of one resource as steps over time.
#[derive(Clone, Debug)]
pub(super) struct Load {
    /// From which second on there is how much.
    capacity: Vec<(i64, u32)>,
    /// From which second on how much is in use; nothing before the first.
    used: BTreeMap<i64, u32>,
}

/// Why something does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocked {
    /// Until this second; then it is worth trying again.
    Until(i64),
    /// There will never be enough.
    ForEver,
}

impl Load {
    pub(super) fn new(capacity: Vec<(i64, u32)>) -> Self {
        Self { capacity, used: BTreeMap::new() }
    }

    /// The most that there ever is from a second on.
    pub(super) fn most_from(&self, second: i64) -> u32 {
        let now = self.step_at(second);
        self.capacity[now..].iter().map(|step| step.1).max().unwrap_or(0)
    }

    fn step_at(&self, second: i64) -> usize {
        self.capacity.partition_point(|step| step.0 <= second).saturating_sub(1)
    }

    /// Whether so much is free from one second to another.
    pub(super) fn fits(&self, amount: u32, from: i64, to: i64) -> Result<(), Blocked> {
        let mut at = from;
        let mut step = self.step_at(from);
        let mut used = self.used.range(..=from).next_back().map_or(0, |(_, used)| *used);
        let mut next_uses = self.used.range(from + 1..).peekable();
        // Once it is blocked, look on to where it is free again: a long queue is then passed in one go.
        let mut blocked = false;
        while at < to || blocked {
            let capacity = self.capacity[step].1;
            let change = next_uses.peek().map(|(second, _)| **second);
            let next_step = self.capacity.get(step + 1).map(|step| step.0);
            let until = [change, next_step].into_iter().flatten().min();
            let free = u64::from(used) + u64::from(amount) <= u64::from(capacity);
            if free && blocked {
                return Err(Blocked::Until(at));
            }
            blocked = !free;
            let Some(until) = until else { return if blocked { Err(Blocked::ForEver) } else { Ok(()) } };
            if change == Some(until)
                && let Some((_, now)) = next_uses.next()
            {
                used = *now;
            }
            if next_step == Some(until) {
                step += 1;
            }
            at = until;
        }
        Ok(())
    }

    /// Uses so much from one second to another, whether it is there or not.
    pub(super) fn take(&mut self, amount: u32, from: i64, to: i64) {
        if amount == 0 || from >= to {
            return;
        }
        let level = |used: &BTreeMap<i64, u32>, at: i64| used.range(..=at).next_back().map_or(0, |(_, used)| *used);
        let (first, last) = (level(&self.used, from), level(&self.used, to));
        self.used.insert(from, first);
        self.used.insert(to, last);
        for (_, used) in self.used.range_mut(from..to) {
            *used = used.saturating_add(amount);
        }
        // Equal neighbours are one step: long busy stretches stay short to look through.
        for at in [to, from] {
            let before = self.used.range(..at).next_back().map_or(0, |(_, used)| *used);
            if self.used.get(&at) == Some(&before) {
                self.used.remove(&at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_not_free() {
        let mut load = Load::new(vec![(i64::MIN, 2), (100, 3)]);
        load.take(1, 10, 20);
        load.take(1, 15, 30);
        assert_eq!(load.fits(1, 0, 15), Ok(()));
        assert_eq!(load.fits(1, 0, 16), Err(Blocked::Until(20)));
        assert_eq!(load.fits(2, 20, 40), Err(Blocked::Until(30)));
        assert_eq!(load.fits(3, 40, 50), Err(Blocked::Until(100)));
        assert_eq!(load.fits(3, 100, 1_000), Ok(()));
        assert_eq!(load.fits(4, 100, 1_000), Err(Blocked::ForEver));
        assert_eq!(load.fits(3, 12, 14), Err(Blocked::Until(100)), "everything in between is blocked too");
        load.take(1, 30, 40);
        assert_eq!(load.used.len(), 4, "one step from 20 to 40");
    }
}
