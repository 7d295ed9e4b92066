//! Who contains whom, and in which order.

use std::sync::Arc;

use crate::id::{TaskId, TaskNo};
use crate::life::Life;
use crate::plan::Diff;

/// Where to put a task among its siblings.
#[derive(Clone, Copy)]
pub(super) enum Among {
    First,
    After(TaskNo),
    Last,
}

impl Life {
    /// Counts (or stops counting) a task and its parts among what others wait for: what a failed
    /// part means to others follows from what contains it.
    pub(super) fn count_among_waits(&mut self, no: TaskNo, by: i64) {
        for no in self.subtree(no) {
            for dependent in self.node(no).dependents.clone() {
                self.count_wait(dependent, no, by);
            }
        }
    }

    /// Takes a task out of its parent's list.
    pub(super) fn detach(&mut self, no: TaskNo) {
        self.count_among_waits(no, -1);
        let open = u32::from(!self.task(no).is_settled());
        let failed = u32::from(self.failed.contains(&no));
        let active = self.task(no).active_below + u32::from(self.task(no).active);
        match self.node(no).parent {
            None => Arc::make_mut(&mut self.roots).retain(|root| *root != no),
            Some(parent) => {
                self.node_mut(parent).children.retain(|child| *child != no);
                let life = self.task_mut(parent);
                life.children_open -= open;
                life.children_failed -= failed;
                self.add_active_above(parent, -i64::from(active));
            }
        }
        self.node_mut(no).parent = None;
        self.count_among_waits(no, 1);
    }

    /// Puts new and moved tasks where they belong: each after its sibling, which may itself be one of them.
    pub(super) fn place_all(&mut self, diff: &Diff) {
        let moved = diff.moved.iter().map(|moved| (&moved.id, moved.after.as_ref()));
        let added = diff.added.iter().map(|placed| (&placed.task.id, placed.after.as_ref()));
        let mut pending: Vec<(&TaskId, Option<&TaskId>)> = moved.chain(added).collect();
        while !pending.is_empty() {
            let before = pending.len();
            pending.retain(|(id, after)| {
                let Some(no) = self.no(id.as_str()) else { return false };
                let place = match after {
                    None => Among::First,
                    Some(after) => match self.no(after.as_str()).filter(|after| self.is_placed_beside(no, *after)) {
                        Some(after) => Among::After(after),
                        None => return true,
                    },
                };
                self.attach(no, place);
                false
            });
            if pending.len() == before {
                for (id, _) in std::mem::take(&mut pending) {
                    if let Some(no) = self.no(id.as_str()) {
                        self.attach(no, Among::Last);
                    }
                }
            }
        }
    }

    /// The list that a task stands in, by its definition.
    pub(super) fn siblings(&self, no: TaskNo) -> &[TaskNo] {
        match self.node(no).task.parent.as_ref().and_then(|id| self.no(id.as_str())) {
            None => &self.roots,
            Some(parent) => &self.node(parent).children,
        }
    }

    pub(super) fn is_placed_beside(&self, no: TaskNo, other: TaskNo) -> bool {
        self.siblings(no).contains(&other)
    }

    /// Puts a task that stands nowhere where it belongs.
    pub(super) fn attach(&mut self, no: TaskNo, among: Among) {
        self.count_among_waits(no, -1);
        let parent = self.node(no).task.parent.as_ref().and_then(|id| self.no(id.as_str()));
        let open = u32::from(!self.task(no).is_settled());
        let failed = u32::from(self.failed.contains(&no));
        let active = self.task(no).active_below + u32::from(self.task(no).active);
        let put = |siblings: &mut Vec<TaskNo>| match among {
            Among::First => siblings.insert(0, no),
            Among::Last => siblings.push(no),
            Among::After(other) => {
                let at = siblings.iter().position(|sibling| *sibling == other).map_or(siblings.len(), |at| at + 1);
                siblings.insert(at, no);
            }
        };
        match parent {
            None => put(Arc::make_mut(&mut self.roots)),
            Some(parent) => {
                put(&mut self.node_mut(parent).children);
                let life = self.task_mut(parent);
                life.children_open += open;
                life.children_failed += failed;
                self.add_active_above(parent, i64::from(active));
            }
        }
        self.node_mut(no).parent = parent;
        self.count_among_waits(no, 1);
    }

    pub(in crate::life) fn ancestors(&self, no: TaskNo) -> impl Iterator<Item = TaskNo> {
        std::iter::successors(self.node(no).parent, |no| self.node(*no).parent)
    }

    /// The task and everything below it, parents first.
    pub(in crate::life) fn subtree(&self, no: TaskNo) -> Vec<TaskNo> {
        let mut tree = Vec::new();
        let mut stack = vec![no];
        while let Some(no) = stack.pop() {
            tree.push(no);
            stack.extend(self.node(no).children.iter().rev());
        }
        tree
    }
}
