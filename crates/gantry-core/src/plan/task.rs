//! A task: one node of the plan, with its contract.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::action::Action;
use super::criterion::Check;
use super::is_default;
use super::parts::{ArtifactDecl, Escalation, Estimate, FailureMode, Output, ResourceUse, Risk};
use super::reference::Input;
use super::route::Route;
use crate::id::TaskId;
use crate::policy::{Budget, Retry};
use crate::time::{Duration, Timestamp};

/// One node of a plan.
///
/// `parent` says who contains it and `depends_on` whom it waits for. `action` says how it runs and
/// `kind` what it is for. A task with children is a composite: its children run first, then its
/// own action if it has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Its name, a slug unique in the plan.
    pub id: TaskId,
    /// What people call it; the id when empty.
    #[serde(default, skip_serializing_if = "is_default")]
    pub title: String,
    /// What is to be done, in words.
    #[serde(default, skip_serializing_if = "is_default")]
    pub description: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub purpose: Option<String>,
    /// Which sort of work it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: Option<Kind>,
    /// How it runs; none means its children, or a person when it has none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub action: Option<Action>,
    /// The task that contains it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parent: Option<TaskId>,
    /// The tasks that it waits for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub depends_on: Vec<TaskId>,
    /// Where to go when it ends.
    #[serde(default, skip_serializing_if = "is_default")]
    pub next: Vec<Route>,
    /// The plan can complete without it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub optional: bool,
    /// A state that the file brings along: work that was done before the plan was read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: InitialStatus,
    /// What it works on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inputs: BTreeMap<String, Input>,
    /// What it takes for granted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub assumptions: Vec<String>,
    /// What may go wrong.
    #[serde(default, skip_serializing_if = "is_default")]
    pub risks: Vec<Risk>,
    /// What must hold before it starts; until then it is blocked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preconditions: Vec<Check>,
    /// What must hold after it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub postconditions: Vec<Check>,
    /// What it changes in the world, in words.
    #[serde(default, skip_serializing_if = "is_default")]
    pub effects: Vec<String>,
    /// What makes its result good enough.
    #[serde(default, skip_serializing_if = "is_default")]
    pub success_criteria: Vec<Check>,
    /// Ways to fail that were thought of.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failure_modes: Vec<FailureMode>,
    /// The values that it gives to others, by name.
    #[serde(default, skip_serializing_if = "is_default")]
    pub outputs: BTreeMap<String, Output>,
    /// The artifacts that it makes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub artifacts: Vec<ArtifactDecl>,
    /// The tools that it needs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capabilities: Vec<String>,
    /// Variables that its process sees.
    #[serde(default, skip_serializing_if = "is_default")]
    pub environment: BTreeMap<String, String>,
    /// What it, and everything below it, may spend.
    #[serde(default, skip_serializing_if = "is_default")]
    pub budget: Budget,
    /// How often it is tried again; none means as the policy says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub retry: Option<Retry>,
    /// How long one attempt may take.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeout: Option<Duration>,
    /// How often its runner reports that it is alive; silent for three of them is lost.
    #[serde(default, skip_serializing_if = "is_default")]
    pub heartbeat: Option<Duration>,
    /// How long a composite may take before what is left of it is abandoned.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timebox: Option<Duration>,
    /// When it should be done; missing it is told, not punished.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deadline: Option<Timestamp>,
    /// Whom to tell when it takes too long.
    #[serde(default, skip_serializing_if = "is_default")]
    pub escalation: Option<Escalation>,
    /// How long it will take.
    #[serde(default, skip_serializing_if = "is_default")]
    pub estimate: Option<Estimate>,
    /// The people and equipment that it needs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resources: Vec<ResourceUse>,
    /// Who answers for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub owner: Option<String>,
    /// Higher goes first; none means by kind.
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority: Option<i32>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "is_default")]
    pub labels: Vec<String>,
    /// How to take back what it did.
    #[serde(default, skip_serializing_if = "is_default")]
    pub undo: Undo,
    /// How to find out whether a lost attempt happened.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify: Option<Box<Action>>,
    /// Whether it is safe to do twice; none means by action.
    #[serde(default, skip_serializing_if = "is_default")]
    pub idempotency: Option<Idempotency>,
    /// Another way to do it, used when the first way keeps failing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub alternates: Vec<Action>,
    /// Outputs to go on with when every other way failed; the result is then marked degraded.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fallback: Option<BTreeMap<String, Value>>,
    /// Why it is in the plan.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rationale: Option<String>,
    /// Set when the task repeats another in a later round of a loop.
    #[serde(default, skip_serializing_if = "is_default")]
    pub round: Option<Round>,
    /// Anything else that tools want to keep with the task.
    #[serde(default, skip_serializing_if = "is_default")]
    pub metadata: BTreeMap<String, Value>,
}

/// Which task this one repeats, and in which round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// The task of the first round.
    pub of: TaskId,
    /// The round, from 2.
    pub number: u32,
    /// The task whose ending led back here, or the one that took this in.
    pub because: TaskId,
}

impl Task {
    /// Makes a task with this id and nothing else.
    pub fn new(id: TaskId) -> Self {
        Self {
            id,
            title: String::new(),
            description: None,
            purpose: None,
            kind: None,
            action: None,
            parent: None,
            depends_on: Vec::new(),
            next: Vec::new(),
            optional: false,
            status: InitialStatus::default(),
            inputs: BTreeMap::new(),
            assumptions: Vec::new(),
            risks: Vec::new(),
            preconditions: Vec::new(),
            postconditions: Vec::new(),
            effects: Vec::new(),
            success_criteria: Vec::new(),
            failure_modes: Vec::new(),
            outputs: BTreeMap::new(),
            artifacts: Vec::new(),
            capabilities: Vec::new(),
            environment: BTreeMap::new(),
            budget: Budget::default(),
            retry: None,
            timeout: None,
            heartbeat: None,
            timebox: None,
            deadline: None,
            escalation: None,
            estimate: None,
            resources: Vec::new(),
            owner: None,
            priority: None,
            labels: Vec::new(),
            undo: Undo::default(),
            verify: None,
            idempotency: None,
            alternates: Vec::new(),
            fallback: None,
            rationale: None,
            round: None,
            metadata: BTreeMap::new(),
        }
    }

    /// Returns the title, or the id when there is none.
    pub fn name(&self) -> &str {
        if self.title.is_empty() { self.id.as_str() } else { &self.title }
    }

    /// Returns the priority: as written, else research before everything else.
    pub fn rank(&self) -> i32 {
        self.priority.unwrap_or_else(|| i32::from(self.kind.as_ref().is_some_and(|kind| kind.as_str() == "research")))
    }

    /// Tells whether a second run does no harm: as declared, else by action.
    pub fn repeatable(&self) -> Idempotency {
        self.idempotency.unwrap_or(match &self.action {
            Some(Action::Tool(tool)) if tool.only_fetches() => Idempotency::Safe,
            Some(
                Action::Model(_)
                | Action::Decide(_)
                | Action::Compute(_)
                | Action::Wait(_)
                | Action::Checkpoint(_)
                | Action::Gate(_)
                | Action::Ask(_)
                | Action::Map(_)
                | Action::Adopt(_)
                | Action::Plan(_),
            ) => Idempotency::Safe,
            Some(
                Action::Run(_)
                | Action::Command(_)
                | Action::Tool(_)
                | Action::Agent(_)
                | Action::Manual(_)
                | Action::UndoTo(_),
            )
            | None => Idempotency::Unsafe,
        })
    }
}

/// What a task is for: an open set, with a handful of well-known names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Kind(String);

impl Kind {
    /// The names that readers may expect.
    pub const KNOWN: [&str; 11] = [
        "research",
        "implement",
        "validate",
        "debug",
        "refactor",
        "deploy",
        "synthesize",
        "analyze",
        "gate",
        "milestone",
        "plan",
    ];
    /// Makes a kind from any word.
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }
    /// Returns it as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A state that a file may bring along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InitialStatus {
    /// Still to be done.
    #[default]
    Pending,
    /// Done before the plan was read; never done again.
    Completed,
    /// Left out on purpose.
    Skipped,
}

/// Whether doing a task twice does harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Idempotency {
    /// A second run does nothing that the first did not.
    Safe,
    /// The other side refuses a second run under the same key, which is the task's key.
    Keyed,
    /// A second run may do harm: after a lost attempt, check or ask first.
    Unsafe,
}

/// How to take back what a task did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// There is nothing to take back.
    #[default]
    None,
    /// The runner restores what it kept from before.
    Restore,
    /// It cannot be taken back; undoing past it needs a person.
    Never,
    /// By doing this.
    Action(Box<Action>),
}
