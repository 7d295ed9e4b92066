//! The lane in which a task waits for its turn: tasks in one lane use the same capabilities.

use std::sync::Arc;

use imbl::OrdSet;

use crate::id::TaskNo;
use crate::life::Life;
use crate::plan::{Action, Task};
use crate::policy::{Judge, Policy, ProseBy};

/// The lane of tasks that the core finishes by itself or hands to people: no limit holds them up.
pub(in crate::life) const INLINE_LANE: &str = "-";

/// The capabilities that tasks in a lane use.
pub(in crate::life) fn capabilities_of(lane: &str) -> impl Iterator<Item = &str> {
    lane.trim_start_matches(['-', '+']).split(',').filter(|name| !name.is_empty())
}

/// The lane of a task in the way that is tried now, by whom the policy has it done.
pub(super) fn lane_of(task: &Task, policy: &Policy, way: u32) -> String {
    let action = match way {
        0 => task.action.as_ref(),
        way => task.alternates.get(way as usize - 1),
    };
    let inline = match action {
        Some(Action::Command(command)) => command.calls().is_none() && policy.prose == ProseBy::Person,
        Some(Action::Decide(decide)) => decide.is_computed() || policy.judge != Judge::Model,
        Some(
            Action::Gate(_)
            | Action::Ask(_)
            | Action::Manual(_)
            | Action::Map(_)
            | Action::Adopt(_)
            | Action::Compute(_)
            | Action::Wait(_)
            | Action::UndoTo(_),
        ) => true,
        None => policy.prose == ProseBy::Person,
        Some(
            Action::Model(_)
            | Action::Run(_)
            | Action::Tool(_)
            | Action::Agent(_)
            | Action::Plan(_)
            | Action::Checkpoint(_),
        ) => false,
    };
    if inline {
        return INLINE_LANE.to_owned();
    }
    let mut names: Vec<&str> = task.capabilities.iter().map(String::as_str).collect();
    let prose = if policy.prose == ProseBy::Agent { "agent" } else { "model" };
    match action {
        Some(Action::Run(_)) => names.push("shell"),
        Some(Action::Model(_) | Action::Decide(_)) => names.push("model"),
        Some(Action::Agent(_)) => names.push("agent"),
        Some(Action::Tool(tool)) => names.push(&tool.name),
        Some(Action::Command(command)) => match command.calls() {
            Some(calls) => names.extend(calls.iter().map(|call| call.name.as_str())),
            None => names.push(prose),
        },
        None => names.push(prose),
        _ => {}
    }
    names.sort_unstable();
    names.dedup();
    format!("+{}", names.join(","))
}

impl Life {
    /// Finds each task's lane anew: others may be the ones to do it now.
    pub(super) fn change_all_lanes(&mut self, woken: &mut Vec<TaskNo>) {
        for no in self.numbers().collect::<Vec<TaskNo>>() {
            self.leave_lane(no);
            self.leave_indexes(no);
            self.find_lane(no);
            self.enter_indexes(no);
            self.refresh(no, woken);
        }
    }

    /// Finds the lane of a task that stands in none.
    pub(in crate::life) fn find_lane(&mut self, no: TaskNo) {
        let lane = lane_of(&self.node(no).task, &self.header.policy, self.task(no).way);
        self.node_mut(no).lane = lane;
    }

    /// Puts a task into its lane.
    pub(in crate::life) fn enter_lane(&mut self, no: TaskNo) {
        let node = Arc::clone(self.node(no));
        let place = (-i64::from(node.task.rank()), no);
        let head = self.head_of(&node.lane);
        match self.lanes.get_mut(&node.lane) {
            Some(lane) => drop(lane.insert(place)),
            None => drop(self.lanes.insert(node.lane.clone(), OrdSet::unit(place))),
        }
        self.follow_head(&node.lane, head);
        self.task_mut(no).in_lane = true;
    }

    pub(in crate::life) fn leave_lane(&mut self, no: TaskNo) {
        if !self.task(no).in_lane {
            return;
        }
        let node = Arc::clone(self.node(no));
        let head = self.head_of(&node.lane);
        if let Some(lane) = self.lanes.get_mut(&node.lane) {
            lane.remove(&(-i64::from(node.task.rank()), no));
            if lane.is_empty() {
                self.lanes.remove(&node.lane);
            }
        }
        self.follow_head(&node.lane, head);
        self.task_mut(no).in_lane = false;
    }

    /// The first task of a lane.
    fn head_of(&self, lane: &str) -> Option<(i64, TaskNo)> {
        self.lanes.get(lane)?.get_min().copied()
    }

    /// Keeps the heads of lanes up to date when that of one lane may have changed.
    fn follow_head(&mut self, lane: &str, before: Option<(i64, TaskNo)>) {
        let head = self.head_of(lane);
        if head != before {
            before.map(|head| self.heads.remove(&head));
            head.map(|head| self.heads.insert(head));
        }
    }
}
