//! The plan's graph by task numbers, kept up to date revision by revision.

mod lanes; // where tasks wait for their turn
mod rebuild; // the graph of the next revision
mod tree; // who contains whom

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use lanes::lane_of;
pub(super) use lanes::{INLINE_LANE, capabilities_of};
use tree::Among;

use super::Life;
use super::defined::Defined;
use super::key::definition_hash;
use super::state::{State, TaskLife};
use crate::id::{TaskId, TaskNo};
use crate::plan::{Action, InitialStatus, On, Plan, Route, Task, producers, waits_for};
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

    /// It gets its children when it starts: a map makes them, and what is adopted becomes them.
    pub fn grows(&self) -> bool {
        grows(self.task.action.as_ref())
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

/// The later rounds among these tasks, each with the name that its task had in the first round.
fn rounds_among<'t>(tasks: impl IntoIterator<Item = &'t Task>) -> BTreeMap<TaskId, TaskId> {
    tasks.into_iter().filter_map(|task| Some((task.id.clone(), task.round.as_ref()?.of.clone()))).collect()
}

/// Tells whether a task gets its children when it starts.
pub fn grows(action: Option<&Action>) -> bool {
    matches!(action, Some(Action::Map(_) | Action::Adopt(_)))
}

impl Life {
    /// Tells whether a task has made its parts itself, and they are not over yet.
    pub(super) fn is_grown(&self, no: TaskNo) -> bool {
        let life = self.task(no);
        matches!(life.state, State::Open { .. }) && self.node(no).grows() && !life.key.is_empty()
    }

    /// Takes in all tasks of a new plan.
    pub(super) fn build(&mut self, plan: &Plan) {
        self.producers = producers(plan).into_iter().collect();
        let rounds = rounds_among(&plan.tasks);
        for task in &plan.tasks {
            // What was done, or left out, before the plan was read is so with all of its parts.
            let above = task.parent.as_ref().and_then(|id| self.no(id.as_str())).map(|no| &self.task(no).state);
            let status = match (task.status, above) {
                (InitialStatus::Pending, Some(State::Completed)) => InitialStatus::Completed,
                (InitialStatus::Pending, Some(State::Skipped { .. })) => InitialStatus::Skipped,
                (status, _) => status,
            };
            let no = self.add_node(task, status, &rounds);
            self.attach(no, Among::Last);
        }
        for task in &plan.tasks {
            if let Some(no) = self.no(task.id.as_str()) {
                self.link(no);
            }
        }
    }

    /// The hash of what a task does. `rounds` names the later rounds among tasks that are not taken in yet.
    fn definition_of(&self, task: &Task, rounds: &BTreeMap<TaskId, TaskId>) -> String {
        definition_hash(task, &|id: &TaskId| {
            let known = || self.no(id.as_str()).and_then(|no| self.node(no).task.round.as_ref());
            rounds.get(id).or_else(|| known().map(|round| &round.of)).cloned()
        })
    }

    /// Gives a task its number. Its place comes with [`Life::attach`], its edges with [`Life::link`].
    fn add_node(&mut self, task: &Task, status: InitialStatus, rounds: &BTreeMap<TaskId, TaskId>) -> TaskNo {
        let no = TaskNo(u32::try_from(self.nodes.len() + 1).unwrap_or(u32::MAX));
        let definition = self.definition_of(task, rounds);
        Arc::make_mut(&mut self.nodes).push(Arc::new(Node {
            definition,
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
            if !self.task(no).is_settled() {
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
            if !self.task(no).is_settled() {
                self.task_mut(to).routes_open -= 1;
            }
        }
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

    /// When the timebox of a composite that opens now is over. One that was open before goes on with what is left.
    pub(super) fn timebox_end(&self, no: TaskNo, now: Timestamp) -> Option<Timestamp> {
        let task = &self.node(no).task;
        let whole = [task.timebox, task.budget.time].into_iter().flatten().min()?;
        Some(now + self.task(no).box_left.map_or(whole, |left| left.min(whole)))
    }

    /// The newest round of a task.
    pub(super) fn newest(&self, id: &str) -> Option<TaskNo> {
        self.newest_round.get(id).copied().filter(|no| !self.node(*no).removed).or_else(|| self.no(id))
    }
}
