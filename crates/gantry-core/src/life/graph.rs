//! The plan's graph by task numbers, kept up to date revision by revision.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Life;
use super::defined::Defined;
use super::key::definition_hash;
use super::state::{State, TaskLife};
use crate::id::{TaskId, TaskNo};
use crate::plan::{Action, Diff, InitialStatus, On, Plan, Route, Task, patched, patched_header, producers, waits_for};
use crate::policy::{Judge, Policy, ProseBy};
use crate::time::Timestamp;

/// A task and its edges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Node {
    pub task: Defined,
    /// The hash of everything in the task that its result depends on, without its inputs.
    pub definition: String,
    pub parent: Option<TaskNo>,
    pub children: Vec<TaskNo>,
    /// The tasks it waits for, without those that a route replaces.
    pub waits: Vec<TaskNo>,
    /// The tasks that wait for it.
    pub dependents: Vec<TaskNo>,
    /// Tasks with a forward route to it, each once.
    pub routed_from: BTreeSet<TaskNo>,
    /// The lane in which it waits for its turn.
    pub lane: String,
    pub removed: bool,
}

impl Node {
    /// The capabilities that an attempt uses.
    pub fn capabilities(&self) -> impl Iterator<Item = &str> {
        capabilities_of(&self.lane)
    }

    /// Its work is a decision.
    pub fn is_gate(&self) -> bool {
        matches!(self.task.action, Some(Action::Gate(_)))
    }

    /// A map becomes its children when it starts.
    pub fn is_map(&self) -> bool {
        matches!(self.task.action, Some(Action::Map(_)))
    }

    /// Routes that lead forward, and failure modes that name a task to run.
    pub fn forward_routes(task: &Task) -> Vec<Route> {
        let named = task.failure_modes.iter().filter_map(|mode| {
            let to = TaskId::new(mode.recover.as_deref()?).ok()?;
            Some(Route { on: On::Outcome(mode.name.clone()), to, max: None, when: None })
        });
        task.next.iter().filter(|route| route.max.is_none()).cloned().chain(named).collect()
    }
}

/// Where to put a task among its siblings.
#[derive(Clone, Copy)]
enum Place {
    First,
    After(TaskNo),
    Last,
}

/// The lane of tasks that the core finishes by itself or hands to people: no limit holds them up.
pub(super) const INLINE_LANE: &str = "-";

/// The capabilities that tasks in a lane use.
pub(super) fn capabilities_of(lane: &str) -> impl Iterator<Item = &str> {
    lane.trim_start_matches(['-', '+']).split(',').filter(|name| !name.is_empty())
}

/// The lane of a task in the way that is tried now, by whom the policy has it done.
fn lane_of(task: &Task, policy: &Policy, way: u32) -> String {
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
    /// Takes in all tasks of a new plan.
    pub(super) fn build(&mut self, plan: &Plan) {
        self.producers = producers(plan).into_iter().collect();
        for task in &plan.tasks {
            // What was done, or left out, before the plan was read is so with all of its parts.
            let above = task.parent.as_ref().and_then(|id| self.no(id.as_str())).map(|no| &self.task(no).state);
            let status = match (task.status, above) {
                (InitialStatus::Pending, Some(State::Completed)) => InitialStatus::Completed,
                (InitialStatus::Pending, Some(State::Skipped { .. })) => InitialStatus::Skipped,
                (status, _) => status,
            };
            let no = self.add_node(task, status);
            self.attach(no, Place::Last);
        }
        for task in &plan.tasks {
            if let Some(no) = self.no(task.id.as_str()) {
                self.link(no);
            }
        }
    }

    /// Gives a task its number. Its place comes with [`Life::attach`], its edges with [`Life::link`].
    fn add_node(&mut self, task: &Task, status: InitialStatus) -> TaskNo {
        let no = TaskNo(u32::try_from(self.nodes.len() + 1).unwrap_or(u32::MAX));
        Arc::make_mut(&mut self.nodes).push(Arc::new(Node {
            definition: definition_hash(task),
            lane: lane_of(task, &self.header.policy, 0),
            task: Defined::new(task.clone()),
            parent: None,
            children: Vec::new(),
            waits: Vec::new(),
            dependents: Vec::new(),
            routed_from: BTreeSet::new(),
            removed: false,
        }));
        let state = match status {
            InitialStatus::Pending => State::Pending,
            InitialStatus::Completed => State::Completed,
            InitialStatus::Skipped => State::Skipped { by_hand: true },
        };
        let source =
            if state == State::Completed { crate::event::Source::Imported } else { crate::event::Source::Made };
        self.counts[state.place()] += 1;
        let mut life = TaskLife { state, source, ..TaskLife::default() };
        if let Some(before) = self.retired.get(&task.id).map(|no| self.task(*no)) {
            life.attempt = before.attempt;
            life.unanswered.clone_from(&before.unanswered);
            life.in_doubt = before.in_doubt;
        }
        Arc::make_mut(&mut self.tasks).push(Arc::new(life));
        self.by_id.insert(task.id.clone(), no);
        if let Some(round) = &task.round {
            self.newest_round.insert(round.of.clone(), no);
        }
        if task.budget.limits_spending() {
            self.accounts.entry(no.0).or_default();
        }
        no
    }

    /// Connects a task with what it waits for and with its routes, and counts what is not over.
    fn link(&mut self, no: TaskNo) {
        let task = Arc::clone(&self.node(no).task);
        let makers: BTreeMap<String, TaskId> =
            if task.inputs.is_empty() && task.action.is_none() { BTreeMap::new() } else { self.makers_for(&task) };
        let known: BTreeSet<TaskNo> = self.node(no).waits.iter().chain(&self.node(no).routed_from).copied().collect();
        for id in waits_for(&task, &makers) {
            let Some(other) = self.no(id.as_str()) else { continue };
            if known.contains(&other) {
                continue;
            }
            self.node_mut(no).waits.push(other);
            self.node_mut(other).dependents.push(no);
            self.count_wait(no, other, 1);
        }
        for route in Node::forward_routes(&task) {
            let Some(to) = self.no(route.to.as_str()) else { continue };
            if to == no || self.node(to).routed_from.contains(&no) {
                continue;
            }
            self.node_mut(to).routed_from.insert(no);
            if !self.task(no).state.is_final() {
                self.task_mut(to).routes_open += 1;
            }
            // The route replaces a plain dependency.
            if self.node(to).waits.contains(&no) {
                self.unwait(to, no);
            }
        }
    }

    /// Only the artifacts that this task names, so that linking costs no more than the task.
    fn makers_for(&self, task: &Task) -> BTreeMap<String, TaskId> {
        crate::plan::references(task)
            .into_iter()
            .filter_map(|(_, reference)| match reference {
                crate::plan::Reference::Artifact { name } => Some((name.clone(), self.producers.get(name)?.clone())),
                _ => None,
            })
            .collect()
    }

    fn unwait(&mut self, no: TaskNo, other: TaskNo) {
        self.count_wait(no, other, -1);
        self.node_mut(no).waits.retain(|wait| *wait != other);
        self.node_mut(other).dependents.retain(|dependent| *dependent != no);
    }

    /// Takes back [`Life::link`].
    fn unlink(&mut self, no: TaskNo) {
        for other in self.node(no).waits.clone() {
            self.unwait(no, other);
        }
        for route in Node::forward_routes(&Arc::clone(&self.node(no).task)) {
            let Some(to) = self.no(route.to.as_str()) else { continue };
            if !self.node(to).routed_from.contains(&no) {
                continue;
            }
            self.node_mut(to).routed_from.remove(&no);
            if !self.task(no).state.is_final() {
                self.task_mut(to).routes_open -= 1;
            }
        }
    }

    /// Makes the graph of the next revision; every task that it touches is looked at again.
    pub(super) fn rebuild(&mut self, diff: &Diff, woken: &mut Vec<TaskNo>) {
        if !diff.plan.is_empty()
            && let Ok(header) = patched_header(&self.header, &diff.plan)
        {
            let was = Arc::clone(&self.header);
            self.change_header(|life| life.header = Arc::new(header));
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
            let lane = lane_of(task, &self.header.policy, self.task(*no).way);
            let node = self.node_mut(*no);
            node.definition = definition_hash(task);
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
        for placed in &diff.added {
            for artifact in &placed.task.artifacts {
                self.producers.entry(artifact.name.clone()).or_insert_with(|| placed.task.id.clone());
            }
            self.add_node(&placed.task, placed.task.status);
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
        // A route that came or went changes what its target waits for.
        let targets: Vec<TaskNo> = touched
            .iter()
            .flat_map(|no| Node::forward_routes(&self.node(*no).task))
            .filter_map(|route| self.no(route.to.as_str()))
            .collect();
        for no in touched.into_iter().chain(moved).chain(targets).chain(affected) {
            self.link(no);
            self.arm(no);
            self.refresh(no, woken);
        }
    }

    /// Takes a task out; returns the artifacts that nobody is known to make any more.
    fn remove_node(&mut self, id: &TaskId, woken: &mut Vec<TaskNo>) -> Vec<String> {
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
        for target in std::mem::take(&mut self.task_mut(no).taken) {
            self.task_mut(target).routes_taken -= 1;
            self.refresh(target, woken);
        }
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

    /// Finds who else makes these artifacts: a later round of the task that did, say. Returns all who read them.
    fn find_makers(&mut self, artifacts: &BTreeSet<String>) -> Vec<TaskNo> {
        if artifacts.is_empty() {
            return Vec::new();
        }
        let in_order: Vec<TaskNo> = self.roots.iter().flat_map(|root| self.subtree(*root)).collect();
        for no in &in_order {
            let task = Arc::clone(&self.node(*no).task);
            for artifact in task.artifacts.iter().filter(|artifact| artifacts.contains(&artifact.name)) {
                self.producers.entry(artifact.name.clone()).or_insert_with(|| task.id.clone());
            }
        }
        let reads = |no: &TaskNo| {
            crate::plan::references(&self.node(*no).task).into_iter().any(
                |(_, reference)| matches!(reference, crate::plan::Reference::Artifact { name } if artifacts.contains(name)),
            )
        };
        in_order.into_iter().filter(reads).collect()
    }

    /// Counts (or stops counting) a task and its parts among what others wait for: what a failed
    /// part means to others follows from what contains it.
    fn count_among_waits(&mut self, no: TaskNo, by: i64) {
        for no in self.subtree(no) {
            for dependent in self.node(no).dependents.clone() {
                self.count_wait(dependent, no, by);
            }
        }
    }

    /// Finds each task's lane anew: others may be the ones to do it now.
    fn change_all_lanes(&mut self, woken: &mut Vec<TaskNo>) {
        for no in self.numbers().collect::<Vec<TaskNo>>() {
            self.leave_lane(no);
            self.leave_indexes(no);
            self.find_lane(no);
            self.enter_indexes(no);
            self.refresh(no, woken);
        }
    }

    /// Finds the lane of a task that stands in none.
    pub(super) fn find_lane(&mut self, no: TaskNo) {
        let lane = lane_of(&self.node(no).task, &self.header.policy, self.task(no).way);
        self.node_mut(no).lane = lane;
    }

    /// Takes a task out of its parent's list.
    fn detach(&mut self, no: TaskNo) {
        self.count_among_waits(no, -1);
        let open = u32::from(!self.task(no).state.is_final());
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
    fn place_all(&mut self, diff: &Diff) {
        let moved = diff.moved.iter().map(|moved| (&moved.id, moved.after.as_ref()));
        let added = diff.added.iter().map(|placed| (&placed.task.id, placed.after.as_ref()));
        let mut pending: Vec<(&TaskId, Option<&TaskId>)> = moved.chain(added).collect();
        while !pending.is_empty() {
            let before = pending.len();
            pending.retain(|(id, after)| {
                let Some(no) = self.no(id.as_str()) else { return false };
                let place = match after {
                    None => Place::First,
                    Some(after) => match self.no(after.as_str()).filter(|after| self.is_placed_beside(no, *after)) {
                        Some(after) => Place::After(after),
                        None => return true,
                    },
                };
                self.attach(no, place);
                false
            });
            if pending.len() == before {
                for (id, _) in std::mem::take(&mut pending) {
                    if let Some(no) = self.no(id.as_str()) {
                        self.attach(no, Place::Last);
                    }
                }
            }
        }
    }

    /// The list that a task stands in, by its definition.
    fn siblings(&self, no: TaskNo) -> &[TaskNo] {
        match self.node(no).task.parent.as_ref().and_then(|id| self.no(id.as_str())) {
            None => &self.roots,
            Some(parent) => &self.node(parent).children,
        }
    }

    fn is_placed_beside(&self, no: TaskNo, other: TaskNo) -> bool {
        self.siblings(no).contains(&other)
    }

    /// Puts a task that stands nowhere where it belongs.
    fn attach(&mut self, no: TaskNo, place: Place) {
        self.count_among_waits(no, -1);
        let parent = self.node(no).task.parent.as_ref().and_then(|id| self.no(id.as_str()));
        let open = u32::from(!self.task(no).state.is_final());
        let failed = u32::from(self.failed.contains(&no));
        let active = self.task(no).active_below + u32::from(self.task(no).active);
        let put = |siblings: &mut Vec<TaskNo>| match place {
            Place::First => siblings.insert(0, no),
            Place::Last => siblings.push(no),
            Place::After(other) => {
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

    /// The plan as it is now, with its tasks in tree order.
    pub fn plan(&self) -> Plan {
        let mut plan = (*self.header).clone();
        plan.id = Some(self.id.clone());
        let mut stack: Vec<TaskNo> = self.roots.iter().rev().copied().collect();
        while let Some(no) = stack.pop() {
            let node = self.node(no);
            plan.tasks.push(Task::clone(&node.task));
            stack.extend(node.children.iter().rev());
        }
        plan
    }

    /// When the timebox of a composite that opens now is over.
    pub(super) fn timebox_end(&self, no: TaskNo, now: Timestamp) -> Option<Timestamp> {
        let task = &self.node(no).task;
        [task.timebox, task.budget.time].into_iter().flatten().min().map(|timebox| now + timebox)
    }

    /// The newest round of a task.
    pub(super) fn newest(&self, id: &str) -> Option<TaskNo> {
        self.newest_round.get(id).copied().filter(|no| !self.node(*no).removed).or_else(|| self.no(id))
    }

    pub(super) fn ancestors(&self, no: TaskNo) -> impl Iterator<Item = TaskNo> {
        std::iter::successors(self.node(no).parent, |no| self.node(*no).parent)
    }

    /// The task and everything below it, parents first.
    pub(super) fn subtree(&self, no: TaskNo) -> Vec<TaskNo> {
        let mut tree = Vec::new();
        let mut stack = vec![no];
        while let Some(no) = stack.pop() {
            tree.push(no);
            stack.extend(self.node(no).children.iter().rev());
        }
        tree
    }
}
