//! The graph of the next revision: what a diff takes out, changes and adds.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::lanes::lane_of;
use super::{Node, rounds_among};
use crate::id::{TaskId, TaskNo};
use crate::life::Life;
use crate::life::defined::Defined;
use crate::life::state::State;
use crate::plan::{Diff, Task, patched, patched_header};

impl Life {
    /// Makes the graph of the next revision; every task that it touches is looked at again.
    pub(in crate::life) fn rebuild(&mut self, diff: &Diff, woken: &mut Vec<TaskNo>) {
        if !diff.plan.is_empty()
            && let Ok(header) = patched_header(&self.header, &diff.plan)
        {
            let was = Arc::clone(&self.header);
            self.change_header(|life| life.header = Arc::new(header));
            woken.extend(self.blocked.iter());
            // Another deadline is another thing to miss.
            self.deadline_missed &= was.deadline == self.header.deadline;
            if (was.policy.prose, was.policy.judge) != (self.header.policy.prose, self.header.policy.judge) {
                self.change_all_lanes(woken);
            }
            let artifacts = self.header.artifacts.clone();
            for artifact in artifacts {
                self.producers.insert(artifact.name, artifact.from);
            }
        }
        let mut orphaned: BTreeSet<String> = BTreeSet::new();
        for id in &diff.removed {
            orphaned.extend(self.remove_node(id, woken));
        }
        let moved: Vec<TaskNo> = diff.moved.iter().filter_map(|moved| self.no(moved.id.as_str())).collect();
        let mut affected: Vec<TaskNo> = moved.iter().filter_map(|no| self.node(*no).parent).collect();
        for no in &moved {
            self.detach(*no);
        }
        let changed: Vec<(TaskNo, Task)> = diff
            .changed
            .iter()
            .filter_map(|change| {
                let no = self.no(change.id.as_str())?;
                Some((no, patched(&self.node(no).task, change).ok()?))
            })
            .collect();
        affected.extend(
            changed
                .iter()
                .flat_map(|(no, _)| Node::forward_routes(&self.node(*no).task))
                .filter_map(|route| self.no(route.to.as_str())),
        );
        let rounds = rounds_among(diff.added.iter().map(|placed| &placed.task));
        for (no, task) in &changed {
            self.leave_lane(*no);
            self.unlink(*no);
            // What the task means to others, its timers and its place in the counts follow its definition.
            let (dependents, parent) = (self.node(*no).dependents.clone(), self.node(*no).parent);
            for dependent in &dependents {
                self.count_wait(*dependent, *no, -1);
            }
            let was_failed = self.failed.contains(no);
            self.leave_indexes(*no);
            let same_deadline = self.node(*no).task.deadline == task.deadline;
            self.task_mut(*no).deadline_missed &= same_deadline;
            let definition = self.definition_of(task, &rounds);
            let other_ways =
                self.node(*no).definition != definition || self.node(*no).task.alternates != task.alternates;
            if other_ways && self.task(*no).state == State::Pending {
                // The ways are others now: it begins with the first one.
                self.task_mut(*no).way = 0;
            }
            let lane = lane_of(task, &self.header.policy, self.task(*no).way);
            let node = self.node_mut(*no);
            node.definition = definition;
            node.lane = lane;
            node.task = Defined::new(task.clone());
            self.enter_indexes(*no);
            let is_failed = self.failed.contains(no);
            if let Some(parent) = parent {
                let life = self.task_mut(parent);
                life.children_failed = life.children_failed + u32::from(is_failed) - u32::from(was_failed);
            }
            for dependent in dependents {
                self.count_wait(dependent, *no, 1);
                affected.push(dependent);
            }
        }
        for (_, task) in &changed {
            for artifact in &task.artifacts {
                self.producers.entry(artifact.name.clone()).or_insert_with(|| task.id.clone());
            }
        }
        let mut repeated: Vec<(TaskNo, TaskNo)> = Vec::new();
        for placed in &diff.added {
            for artifact in &placed.task.artifacts {
                self.producers.entry(artifact.name.clone()).or_insert_with(|| placed.task.id.clone());
            }
            let before = placed.task.round.as_ref().and_then(|round| self.newest(round.of.as_str()));
            let no = self.add_node(&placed.task, placed.task.status, &rounds);
            repeated.extend(before.map(|before| (before, no)));
        }
        self.place_all(diff);
        affected.extend(self.find_makers(&orphaned));
        let touched: Vec<TaskNo> = diff
            .added
            .iter()
            .filter_map(|placed| self.no(placed.task.id.as_str()))
            .chain(changed.iter().map(|(no, _)| *no))
            .collect();
        for no in &touched {
            self.link(*no);
        }
        // Where a repeated task leads, its new round says.
        for (before, no) in repeated {
            let goes_on = |to: &TaskNo| self.node(*to).routed_from.contains(&no);
            let kept: Vec<TaskNo> = self.task(before).taken.iter().copied().filter(|to| !goes_on(to)).collect();
            if kept.len() < self.task(before).taken.len() {
                self.change(before, woken, |life| life.taken = kept);
            }
        }
        // A route that came or went changes what its target waits for.
        let targets: Vec<TaskNo> = touched
            .iter()
            .flat_map(|no| Node::forward_routes(&self.node(*no).task))
            .filter_map(|route| self.no(route.to.as_str()))
            .collect();
        for no in touched.into_iter().chain(moved.iter().copied()).chain(targets).chain(affected) {
            self.link(no);
            self.arm(no);
            self.refresh(no, woken);
        }
        // What is open was opened where it stood before.
        for no in moved {
            self.refresh_parts(no, woken);
        }
    }

    /// Takes a task out; returns the artifacts that nobody is known to make any more.
    pub(super) fn remove_node(&mut self, id: &TaskId, woken: &mut Vec<TaskNo>) -> Vec<String> {
        let Some(no) = self.no(id.as_str()) else { return Vec::new() };
        self.set_state(no, State::Abandoned, woken);
        let led_to: Vec<TaskNo> = Node::forward_routes(&Arc::clone(&self.node(no).task))
            .iter()
            .filter_map(|route| self.no(route.to.as_str()))
            .collect();
        self.unlink(no);
        for target in led_to {
            self.refresh(target, woken);
        }
        for dependent in self.node(no).dependents.clone() {
            self.unwait(dependent, no);
            self.refresh(dependent, woken);
        }
        self.change(no, woken, |life| life.taken.clear());
        let parent = self.node(no).parent;
        self.detach(no);
        if let Some(parent) = parent {
            self.refresh(parent, woken);
        }
        self.counts[State::Abandoned.place()] -= 1;
        let task = Arc::clone(&self.node(no).task);
        let made = task.artifacts.iter().map(|artifact| artifact.name.clone());
        let orphaned: Vec<String> = made.filter(|name| self.producers.get(name) == Some(id)).collect();
        for name in &orphaned {
            self.producers.remove(name);
        }
        self.node_mut(no).removed = true;
        self.retired.insert(id.clone(), no);
        self.by_id.remove(id);
        self.failed.remove(&no);
        orphaned
    }
}
