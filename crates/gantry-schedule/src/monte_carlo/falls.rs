//! People who leave: in a future that runs late, work meets a capacity that has fallen.
//!
//! The order of people is kept by ties, which know nothing of dates. So wherever capacity falls, each future counts what
//! is free by itself, and work that no longer fits waits until it does. Where it never does, it stays, and that is told.

use super::LANES;
use crate::calendar::Timeline;
use crate::level::{Levelling, Load};
use crate::network::{Node, Times, occupied_from, place};
use crate::schedule::{Computed, Options};

/// The resources whose capacity falls, and who needs them.
pub(super) struct Falls {
    /// What is free of each when nothing is placed.
    loads: Vec<Load>,
    /// For each node, which of these it needs and how much.
    shares: Vec<Vec<(usize, u32)>>,
}

/// What is free in each future of a block.
pub(super) type Free = Vec<Vec<Load>>;

impl Falls {
    /// None of interest where over-allocation is told and not avoided.
    pub(super) fn new(computed: &Computed<'_>, options: &Options, axis: Option<&Timeline>) -> Self {
        let model = &computed.model;
        let mut falls = Self { loads: Vec::new(), shares: vec![Vec::new(); computed.network.len()] };
        if options.levelling != Levelling::Slip {
            return falls;
        }
        for (resource, supply) in model.resources.iter().enumerate() {
            if !supply.capacity.windows(2).any(|pair| pair[1].1 < pair[0].1) {
                continue;
            }
            for (at, shares) in computed.placement.shares.iter().enumerate() {
                let node = &computed.network.nodes[at];
                let held = node.finished.is_none() && node.duration > 0 && !computed.placement.forced.contains(&at);
                let here = shares.iter().filter(|share| held && share.resource == resource);
                falls.shares[at].extend(here.map(|share| (falls.loads.len(), share.amount)));
            }
            let on_axis = |&(from, amount): &(i64, u32)| match axis {
                Some(axis) if from > i64::MIN => (axis.work_before(from), amount),
                _ => (from, amount),
            };
            // Of two steps at night only the later one is seen in the morning.
            let mut steps: Vec<(i64, u32)> = Vec::with_capacity(supply.capacity.len());
            for step in supply.capacity.iter().map(on_axis) {
                steps.pop_if(|last| last.0 == step.0);
                steps.push(step);
            }
            falls.loads.push(Load::new(&steps));
        }
        falls
    }

    /// Nothing is placed yet, in any future.
    pub(super) fn free(&self) -> Free {
        vec![self.loads.clone(); if self.loads.is_empty() { 0 } else { LANES }]
    }

    /// Whether a node may have to wait.
    pub(super) fn concern(&self, at: usize) -> bool {
        !self.shares[at].is_empty()
    }

    /// The times of a node that is held back to two bounds in one future, once there is room for it. The error is where it
    /// stays because there never is.
    pub(super) fn place(
        &self,
        at: usize,
        (node, line): (&Node, &Timeline),
        duration: i64,
        (mut start, finish): (i64, i64),
        free: &mut [Load],
    ) -> Result<Times, Times> {
        let node = Node { duration, ..node.clone() };
        let bound = place(line, duration, start, finish.max(start));
        loop {
            let times = place(line, duration, start, finish.max(start));
            let from = occupied_from(&node, line, times);
            let blocked = self.shares[at]
                .iter()
                .find_map(|&(resource, amount)| free[resource].fits(amount, (from, times.finish), duration).err());
            let Some(blocked) = blocked else {
                for &(resource, amount) in &self.shares[at] {
                    free[resource].take(amount, from, times.finish);
                }
                return Ok(times);
            };
            match blocked.until() {
                Some(until) => start = until.max(start + 1),
                None => return Err(bound),
            }
        }
    }
}
