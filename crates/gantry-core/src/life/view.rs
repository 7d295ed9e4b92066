//! What people and programs see of a life, in the words they know.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::state::{State, TaskLife, Waiting};
use super::{Life, Phase};
use crate::event::{AfterUndo, Outputs};
use crate::id::{Revision, TaskId, TaskNo};
use crate::plan::{Check, Reference, Task, references};
use crate::policy::Judge;

/// Where a plan stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    /// Not started.
    Pending,
    /// Something goes on, or can.
    Running,
    /// Someone paused it.
    Paused,
    /// Nothing can go on without someone or something outside.
    Blocked,
    /// Done.
    Completed,
    /// Not done, and it will not be.
    Failed,
    /// Given up.
    Abandoned,
}

impl PlanState {
    /// Tells whether nothing more happens to a plan in this state by itself.
    pub fn is_over(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Abandoned => true,
            Self::Pending | Self::Running | Self::Paused | Self::Blocked => false,
        }
    }
}

impl fmt::Display for PlanState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
        })
    }
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Something before it is not over.
    Pending,
    /// It starts as soon as limits allow.
    Ready,
    /// It, or a part of it, goes on.
    Running,
    /// It waits for a person, a judge or a time.
    Waiting,
    /// A precondition does not hold, or something before it failed.
    Blocked,
    /// Done.
    Completed,
    /// Failed.
    Failed,
    /// Not needed.
    Skipped,
    /// Given up.
    Abandoned,
}

impl TaskState {
    /// Returns the state's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Abandoned => "abandoned",
        }
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Something outside that the plan waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitsFor {
    /// The task; none means the plan itself.
    pub task: Option<TaskId>,
    /// For what, in words.
    pub what: String,
}

/// What is being taken back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TakingBack<'l> {
    /// The task that is next, or under way.
    pub next: Option<&'l TaskId>,
    /// What comes after it.
    pub then: &'l AfterUndo,
    /// Why it cannot go on without a person.
    pub halted: Option<&'l str>,
}

impl Life {
    /// What is being taken back, if anything is.
    pub fn taking_back(&self) -> Option<TakingBack<'_>> {
        self.undoing.as_ref().map(|undoing| TakingBack {
            next: undoing.rest.first().map(|no| self.task_id(*no)),
            then: &undoing.then,
            halted: undoing.halted.as_deref(),
        })
    }

    /// Which budget is used up and holds the plan, in words.
    pub fn over_budget(&self) -> Option<&str> {
        self.breaker.as_ref().map(|breaker| breaker.detail.as_str())
    }

    /// Where the plan stands.
    pub fn state(&self) -> PlanState {
        match &self.phase {
            Phase::Created => PlanState::Pending,
            Phase::Paused { .. } => PlanState::Paused,
            Phase::Completed { .. } => PlanState::Completed,
            // A plan that failed and is being taken back has not ended.
            Phase::Failed { .. } if self.undoing.is_some() && self.is_stuck_outside() => PlanState::Blocked,
            Phase::Failed { .. } if self.undoing.is_some() => PlanState::Running,
            Phase::Failed { .. } => PlanState::Failed,
            Phase::Abandoned => PlanState::Abandoned,
            Phase::Running { .. } if self.is_stuck_outside() => PlanState::Blocked,
            Phase::Running { .. } => PlanState::Running,
        }
    }

    /// Nothing runs, nothing can start, and no timer will change that.
    fn is_stuck_outside(&self) -> bool {
        if let Some(undoing) = &self.undoing {
            return undoing.halted.is_some();
        }
        let can_start = self.breaker.is_none() && !self.lanes.is_empty();
        self.running.is_empty() && !can_start && self.stirring.time == 0
    }

    /// Nothing goes on until someone outside does something: no verifier and no model is at work either.
    pub(super) fn waits_for_others(&self) -> bool {
        let model_judges = self.header.policy.judge == Judge::Model;
        let judged = model_judges && (self.stirring.judge > 0 || !self.judging().is_empty());
        self.is_stuck_outside() && !judged && self.stirring.verifier == 0
    }

    /// What missed its deadline, whether it is done by now or not; the plan itself comes first, without a name.
    pub fn missed_deadlines(&self) -> impl Iterator<Item = Option<&TaskId>> {
        let plan = self.deadline_missed.then_some(None);
        let tasks = self.numbers().filter(|no| self.task(*no).deadline_missed);
        plan.into_iter().chain(tasks.map(|no| Some(self.task_id(no))))
    }

    /// Checks in words that nobody judged, each with its task; without one when it is about the whole plan.
    pub fn unjudged(&self) -> impl Iterator<Item = (Option<&TaskId>, &str)> {
        let done = self.numbers().filter(|no| self.task(*no).state == State::Completed);
        let tasks = done.flat_map(move |no| {
            let checks = self.task(no).unjudged.iter();
            checks.map(move |check| (Some(self.task_id(no)), check.as_str()))
        });
        let ended = matches!(self.phase, Phase::Completed { .. }) && self.header.policy.judge == Judge::Nobody;
        let words = self.header.done_when.iter().filter(move |check| ended && matches!(check, Check::Words(_)));
        words.map(|check| (None, check.text())).chain(tasks)
    }

    /// Why the plan failed.
    pub fn causes(&self) -> &[String] {
        match &self.phase {
            Phase::Failed { causes, .. } => causes,
            _ => &[],
        }
    }

    /// Where a task stands.
    pub fn task_state(&self, id: &str) -> Option<TaskState> {
        self.no(id).map(|no| self.state_of(no))
    }

    fn state_of(&self, no: TaskNo) -> TaskState {
        let life = self.task(no);
        match &life.state {
            State::Pending => match self.phase {
                Phase::Abandoned => TaskState::Abandoned,
                Phase::Failed { .. } => TaskState::Blocked,
                _ if life.in_lane => TaskState::Ready,
                _ => TaskState::Pending,
            },
            State::Blocked { .. } => TaskState::Blocked,
            State::Open { .. } | State::Running { .. } => TaskState::Running,
            State::Waiting(_) => TaskState::Waiting,
            State::Completed => TaskState::Completed,
            State::Failed { .. } => TaskState::Failed,
            State::Skipped { .. } => TaskState::Skipped,
            State::Abandoned => TaskState::Abandoned,
        }
    }

    /// The tasks that this one waits for and that are not over, in the order it names them.
    pub fn held_by(&self, id: &str) -> Vec<TaskId> {
        let Some(no) = self.no(id) else { return Vec::new() };
        let holds_up =
            |no: &&TaskNo| !self.task(**no).state.is_final() || self.task(**no).suspect || self.failed.contains(*no);
        let node = self.node(no);
        let own = node.waits.iter().chain(&node.routed_from).filter(holds_up);
        let above = node.parent.iter().filter(|parent| !matches!(self.task(**parent).state, State::Open { .. }));
        own.chain(above).map(|no| self.task_id(*no).clone()).collect()
    }

    /// Everything known about a task.
    pub fn task_life(&self, id: &str) -> Option<&TaskLife> {
        self.no(id).map(|no| &**self.task(no))
    }

    /// A task's definition.
    pub fn definition(&self, id: &str) -> Option<&Task> {
        self.no(id).map(|no| &**self.node(no).task)
    }

    /// A task's stable number.
    pub fn number(&self, id: &str) -> Option<TaskNo> {
        self.no(id)
    }

    /// The task with a number.
    pub fn numbered(&self, no: u32) -> Option<&Task> {
        let node = self.nodes.get((no as usize).checked_sub(1)?)?;
        (!node.removed).then_some(&**node.task)
    }

    /// The tasks in tree order.
    pub fn task_ids(&self) -> Vec<TaskId> {
        let mut ids = Vec::new();
        let mut stack: Vec<TaskNo> = self.roots.iter().rev().copied().collect();
        while let Some(no) = stack.pop() {
            ids.push(self.task_id(no).clone());
            stack.extend(self.node(no).children.iter().rev());
        }
        ids
    }

    /// What is known of a fact.
    pub fn fact(&self, name: &str) -> Option<&serde_json::Value> {
        self.facts.get(name)
    }

    /// The outputs of a task.
    pub fn outputs(&self, id: &str) -> Option<&Outputs> {
        self.no(id).map(|no| &*self.task(no).outputs)
    }

    /// The names of a task's outputs that other tasks work on: what whoever does it has to hand in.
    pub fn outputs_needed(&self, id: &str) -> BTreeSet<String> {
        let Some(no) = self.no(id) else { return BTreeSet::new() };
        let behind = self.node(no).dependents.iter().map(|no| &self.node(*no).task);
        let needed = behind.flat_map(|task| references(task)).filter_map(|(_, reference)| match reference {
            Reference::Task { task, path } if task.as_str() == id => path.first().cloned(),
            _ => None,
        });
        needed.collect()
    }

    /// How many tasks are in each state.
    pub fn counts(&self) -> BTreeMap<TaskState, u32> {
        State::COUNTED.into_iter().zip(self.counts).filter(|(_, count)| *count > 0).collect()
    }

    /// How many tasks there are, removed ones left out.
    pub fn task_count(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// What a task works on, resolved as far as that is possible now.
    pub fn inputs_of(&self, id: &str) -> Outputs {
        self.no(id).and_then(|no| self.key(no).ok()).map(|(_, inputs)| inputs).unwrap_or_default()
    }

    /// Attempts under way: task and number.
    pub fn in_flight(&self) -> Vec<(TaskId, crate::id::AttemptNo)> {
        self.running.iter().map(|no| (self.task_id(*no).clone(), self.task(*no).attempt)).collect()
    }

    /// Revisions and why each was made.
    pub fn revisions(&self) -> impl Iterator<Item = (Revision, &str)> {
        self.revisions.iter().map(|(revision, why)| (*revision, why.as_str()))
    }

    /// What the plan waits for from outside, one line for each.
    pub fn waits_for(&self) -> Vec<WaitsFor> {
        self.waits().collect()
    }

    /// The same one by one, for those who want only the first.
    pub fn waits(&self) -> impl Iterator<Item = WaitsFor> {
        let tasks = self.waiting.iter().chain(&self.blocked).filter_map(|no| {
            let what = match &self.task(*no).state {
                State::Waiting(waiting) => waiting.to_string(),
                State::Blocked { reason, .. } => reason.clone(),
                _ => return None,
            };
            Some(WaitsFor { task: Some(self.task_id(*no).clone()), what })
        });
        self.plan_waits().into_iter().chain(tasks)
    }

    /// What the plan as a whole waits for.
    fn plan_waits(&self) -> Vec<WaitsFor> {
        let mut all = Vec::new();
        if let Phase::Paused { .. } = self.phase {
            all.push(WaitsFor { task: None, what: "someone to resume it".to_owned() });
        }
        // Who has ended waits for nothing.
        if let Some(breaker) = self.breaker.as_ref().filter(|_| self.is_under_way()) {
            all.push(WaitsFor { task: None, what: format!("a larger budget: {}", breaker.detail) });
        }
        if let Some(undoing) = &self.undoing {
            let task = undoing.rest.first().map(|no| self.task_id(*no).clone());
            let what = undoing.halted.clone().unwrap_or_else(|| "an undo".to_owned());
            all.push(WaitsFor { task, what });
        }
        if !self.judging().is_empty() {
            all.push(WaitsFor { task: None, what: format!("a judge of {}", self.judging().join("; ")) });
        }
        all
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gate { needed, approved_by, .. } => write!(f, "{} of {needed} approvals", approved_by.len()),
            Self::Answer { .. } => f.write_str("an answer"),
            Self::Work => f.write_str("someone to do it"),
            Self::Help { failure } if failure.is_needs_approval() => write!(f, "approval: {}", failure.message),
            Self::Help { failure } => write!(f, "help: {}", failure.message),
            Self::Judge { checks, why, .. } if why.is_empty() => write!(f, "a judge of {}", checks.join("; ")),
            Self::Judge { checks, why, .. } => {
                write!(f, "a judge of {}; no model could judge: {why}", checks.join("; "))
            }
            Self::Verify { attempt } => write!(f, "whether attempt {attempt} happened"),
            Self::Undo => f.write_str("what it takes back"),
            Self::Time { until } => write!(f, "{until}"),
            Self::Retry { at } => write!(f, "another try at {at}"),
        }
    }
}
