//! Links that let a task start before the one it waits for: a lead longer than that one takes, or, seen backwards in time,
//! one that finishes first.
//!
//! Such a link says nothing of which of the two is placed first, and the shortest schedule may need either. So orders
//! need not respect it, and each task looks both ways when it is placed: it starts no earlier than those before it
//! allow, and those after it that stand too early now are taken up and placed again, with everything that hangs on
//! them. They only move later, in the order of the links, so that this ends.

use std::collections::BTreeSet;

use super::plane::Plane;
use super::serial::Maker;

/// What is placed so far, and what has to move.
#[derive(Default)]
pub(super) struct Loose {
    placed: Vec<bool>,
    /// Tasks that stand too early, in the order of the links.
    moving: BTreeSet<usize>,
}

impl<P: Plane> Maker<P> {
    /// Forgets what was placed, if there are loose links at all.
    pub(super) fn begin_loose(&mut self) {
        if self.network.is_loose() {
            self.loose.placed.clear();
            self.loose.placed.resize(self.network.len(), false);
        }
    }

    /// The first period in which the tasks that are placed let this one start.
    pub(super) fn bound(&self, task: usize, starts: &[i32]) -> i32 {
        let before = self.network.before.of(task).iter().chain(self.network.loose_before.of(task));
        let placed = before.filter(|(other, _)| self.loose.placed[*other as usize]);
        placed.map(|&(other, lag)| starts[other as usize] + lag).fold(self.network.releases[task], i32::max)
    }

    /// Moves what stands too early now that this task is placed; says when the last of it ends, or nothing when some task
    /// finds no room before capacity ends for good.
    pub(super) fn settle_loose(&mut self, task: usize, starts: &mut [i32]) -> Option<i32> {
        self.loose.placed[task] = true;
        self.too_early_after(task, starts);
        let mut end = 0;
        while let Some(place) = self.loose.moving.pop_first() {
            let task = self.in_place(place);
            let duration = self.network.durations[task];
            for &(plane, demand) in self.network.demands.of(task) {
                self.planes[plane as usize].give(starts[task], duration, demand);
            }
            starts[task] = self.place(task, self.bound(task, starts))?;
            end = end.max(starts[task] + duration);
            self.too_early_after(task, starts);
        }
        Some(end)
    }

    fn too_early_after(&mut self, task: usize, starts: &[i32]) {
        let after = self.network.after.of(task).iter().chain(self.network.loose_after.of(task));
        for &(other, lag) in after {
            let other = other as usize;
            if self.loose.placed[other] && starts[other] < starts[task] + lag {
                self.loose.moving.insert(self.in_place(other));
            }
        }
    }

    /// The place of a task in the order of the links, and the task in a place.
    fn in_place(&self, task: usize) -> usize {
        if self.network.forwards { task } else { self.network.len() - 1 - task }
    }
}
