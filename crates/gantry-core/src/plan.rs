//! What a plan is: the goal, its limits, and its tasks as an ordered tree and a graph.
//!
//! A plan is a plain value. It can be built in any order and may be wrong; [`Plan::check`] says
//! everything that is wrong with it, and only a plan without errors may begin a life.

mod task; // in reading order
mod route;
mod criterion;
mod action;
mod parts;
mod spending;
mod human;
mod reference;
mod pipeline;
mod edges;
mod schedule;
mod work;
mod check;
mod diff;
mod place;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use action::{
    Action, Adopt, Agent, Ask, Branch, Checkpoint, Choice, Command, Compute, Decide, Gate, Manual, Map, Model, Nested,
    Run, Strategy, Tool, UndoTo, Wait,
};
pub(crate) use check::{DEPTH_MAX, HYPOTHESES_MAX, LOOPS_MAX, deploys};
pub use check::{Location, Problem, Severity};
pub use criterion::Check;
pub use diff::{Diff, Edge, FieldChange, Mismatch, Moved, Placed, TaskChange, diff};
pub(crate) use diff::{patched, patched_header, task_change};
pub use edges::references;
pub(crate) use edges::{producers, waits_for};
pub use human::{Confidence, Money};
pub(crate) use human::{folded, is_same};
pub use parts::{
    ArtifactDecl, Capability, Escalation, Estimate, FailureMode, Hypothesis, Output, PlanArtifact, ResourceUse,
    Retention, Risk, Scope, Stakeholder,
};
pub use pipeline::{Call, parse_pipeline};
pub use place::{Misplaced, Place};
pub use reference::{Input, Reference};
pub use route::{On, Route};
pub use schedule::{Scheduling, TaskScheduling, own_part, when};
pub use task::{Idempotency, InitialStatus, Kind, Round, Task, Undo};

use crate::id::{PlanId, TaskId};
use crate::policy::Policy;
use crate::time::Timestamp;

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The goal and its graph: everything a person or a model says before the work begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The plan's id; given when the plan is created if the file has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<PlanId>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub title: String,
    /// What shall be true when it is done, in words.
    #[serde(default, skip_serializing_if = "is_default")]
    pub objective: String,
    /// What belongs to it and what does not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scope: Scope,
    /// Conditions that the work must respect.
    #[serde(default, skip_serializing_if = "is_default")]
    pub constraints: Vec<String>,
    /// When it has to be done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deadline: Option<Timestamp>,
    /// The definition of done: the plan completes only when all of these hold.
    #[serde(default, skip_serializing_if = "is_default")]
    pub done_when: Vec<Check>,
    /// Who has a say, and in which role.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stakeholders: Vec<Stakeholder>,
    /// Who answers for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub owner: Option<String>,
    /// What the plan may touch and spend, and how failures are answered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: Policy,
    /// Falsifiable statements that the work is to support or refute.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hypotheses: Vec<Hypothesis>,
    /// Keys of long-lived memory that the plan reads or writes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub memory: Vec<String>,
    /// Named results of the plan, and the task that each comes from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub artifacts: Vec<PlanArtifact>,
    /// The tools that its tasks use, with what one should know before using them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capabilities: Vec<Capability>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "is_default")]
    pub labels: Vec<String>,
    /// The language that results are written in, such as `en` or `ko`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub locale: Option<String>,
    /// When the file says it was written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub created_at: Option<Timestamp>,
    /// The version number that the file carries, for people who keep one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub version: Option<u32>,
    /// What its schedule knows beyond the tasks: calendars, people, money and chance. It changes nothing of how it runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub schedule: Scheduling,
    /// Anything else that tools want to keep with the plan.
    #[serde(default, skip_serializing_if = "is_default")]
    pub metadata: BTreeMap<String, Value>,
    /// The tasks, parents before their children and siblings in order.
    #[serde(default)]
    pub tasks: Vec<Task>,
}

impl Plan {
    /// Returns what people call it: its title, or the first line of its objective, or its id.
    pub fn name(&self) -> &str {
        let objective = || self.objective.lines().next().unwrap_or_default().trim();
        let id = || self.id.as_ref().map_or("plan", PlanId::as_str);
        [self.title.trim(), objective(), id()].into_iter().find(|name| !name.is_empty()).unwrap_or("plan")
    }

    /// Returns the task with this id.
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id.as_str() == id)
    }

    /// Returns the plan inside one of its tasks that a place leads into.
    pub fn inside(&self, place: &Location) -> Option<&Self> {
        let mut task = self.tasks.get(place.task?)?;
        for _ in place.path.matches("map.each.") {
            let Some(Action::Map(map)) = &task.action else { return None };
            task = map.each.as_deref()?;
        }
        match &task.action {
            Some(Action::Plan(nested)) => nested.plan.as_deref(),
            _ => None,
        }
    }

    /// For each task, the tasks that must be over before it can start: what it depends on and who makes its inputs.
    pub fn waits(&self) -> Vec<Vec<TaskId>> {
        let producers = producers(self);
        self.tasks.iter().map(|task| waits_for(task, &producers)).collect()
    }

    /// Copies everything but the tasks.
    pub(crate) fn clone_header(&self) -> Self {
        Self {
            id: self.id.clone(),
            title: self.title.clone(),
            objective: self.objective.clone(),
            scope: self.scope.clone(),
            constraints: self.constraints.clone(),
            deadline: self.deadline,
            done_when: self.done_when.clone(),
            stakeholders: self.stakeholders.clone(),
            owner: self.owner.clone(),
            policy: self.policy.clone(),
            hypotheses: self.hypotheses.clone(),
            memory: self.memory.clone(),
            artifacts: self.artifacts.clone(),
            capabilities: self.capabilities.clone(),
            labels: self.labels.clone(),
            locale: self.locale.clone(),
            created_at: self.created_at,
            version: self.version,
            schedule: self.schedule.clone(),
            metadata: self.metadata.clone(),
            tasks: Vec::new(),
        }
    }

    /// Puts the tasks in tree order: parents before children, siblings as they stand.
    ///
    /// A task whose parent is missing or part of a cycle of parents stays at the end, so that
    /// [`Plan::check`] can still name it.
    pub fn sort_tree(&mut self) {
        let mut children: BTreeMap<Option<&TaskId>, Vec<usize>> = BTreeMap::new();
        for (index, task) in self.tasks.iter().enumerate() {
            children.entry(task.parent.as_ref()).or_default().push(index);
        }
        let mut order = Vec::with_capacity(self.tasks.len());
        let mut placed = vec![false; self.tasks.len()];
        let mut stack: Vec<usize> = children.get(&None).into_iter().flatten().rev().copied().collect();
        while let Some(index) = stack.pop() {
            if std::mem::replace(&mut placed[index], true) {
                continue;
            }
            order.push(index);
            stack.extend(children.get(&Some(&self.tasks[index].id)).into_iter().flatten().rev());
        }
        if order.iter().copied().eq(0..self.tasks.len()) {
            return;
        }
        order.extend((0..self.tasks.len()).filter(|index| !placed[*index]));
        let mut tasks: Vec<Option<Task>> = std::mem::take(&mut self.tasks).into_iter().map(Some).collect();
        self.tasks = order.into_iter().filter_map(|index| tasks[index].take()).collect();
    }

    /// Says everything that is wrong with the plan, errors and warnings, in reading order.
    pub fn check(&self) -> Vec<Problem> {
        check::check(self)
    }
}
