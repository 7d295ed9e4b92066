//! Wishes of the core: what the engine is to do outside. Answers come back as inputs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::Outputs;
use crate::id::{AttemptNo, TaskId};
use crate::plan::{Action, Undo, is_default};
use crate::policy::{FailureClass, Usage};
use crate::time::Duration;

/// What the engine is to do, after the events that say so are on disk.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Run this. Answer with `Input::Ended`.
    StartAttempt(Box<StartAttempt>),
    /// Stop it; no answer is awaited.
    CancelAttempt {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: AttemptNo,
        /// Why.
        why: String,
    },
    /// Find out whether a lost attempt happened. Answer with `Input::Verified`.
    Verify {
        /// The task.
        task: TaskId,
        /// The lost attempt.
        attempt: AttemptNo,
        /// How to find out.
        action: Box<Action>,
    },
    /// Judge these checks. Answer with `Input::Judged`, or with `Input::JudgeFailed`.
    Judge {
        /// The task; none means the plan, whose definition of done they are.
        #[serde(skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// The checks, in words.
        checks: Vec<String>,
        /// The result that they are about.
        outputs: Outputs,
        /// Under which number it was asked: the answer names it, so that one to an earlier question is known as such.
        asked: u64,
        /// How often no model could judge it before: each time it is another question to a model.
        #[serde(skip_serializing_if = "is_default")]
        failed: u32,
    },
    /// Take back what this task did. Answer with `Input::UndoEnded`.
    StartUndo {
        /// The task.
        task: TaskId,
        /// Which attempt at undoing.
        attempt: AttemptNo,
        /// How.
        undo: Undo,
    },
    /// Find out these facts. Answer with `Input::Observed`.
    Observe {
        /// Their names.
        facts: Vec<String>,
    },
    /// Tell someone.
    Notify {
        /// Whom; the owner when empty.
        to: String,
        /// About which task; the plan when none.
        task: Option<TaskId>,
        /// What.
        text: String,
    },
}

/// Everything that a runner needs for one attempt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StartAttempt {
    /// The task.
    pub task: TaskId,
    /// Which attempt; answers must name it.
    pub attempt: AttemptNo,
    /// The idempotency key of the work.
    pub key: String,
    /// What to do.
    pub action: Action,
    /// What to work on, resolved.
    pub inputs: Outputs,
    /// What the attempt before was told or did wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// What it may spend at most, where that is limited.
    #[serde(skip_serializing_if = "is_default")]
    pub reserved: Usage,
    /// How long it may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// How often to report that it is alive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Duration>,
    /// Variables that its process sees.
    #[serde(skip_serializing_if = "is_default")]
    pub environment: BTreeMap<String, String>,
}

/// A piece of output that is kept by its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRef {
    /// What it is called.
    pub name: String,
    /// The hash of its content.
    pub hash: String,
    /// How many bytes it has.
    pub bytes: u64,
}

/// Why an attempt did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What sort of failure it is: decides what is done about it.
    pub class: FailureClass,
    /// What happened, as a lowercase fragment.
    pub message: String,
    /// Which of the task's failure modes it is, if the runner knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// How long to wait at least before the next attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
    /// What shows it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub evidence: Vec<ArtifactRef>,
    /// What it gave all the same, such as the `exit_code` of a command: failure modes and routes can ask for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub outputs: Outputs,
}

/// The failure mode of something that nobody here can do; a task may say in its `failure_modes` what to do about it.
const MISSING_CAPABILITY: &str = "missing-capability";

/// The failure mode of something that someone has to approve first.
const NEEDS_APPROVAL: &str = "needs-approval";

impl Failure {
    /// Makes a failure of this class.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            mode: None,
            retry_after: None,
            evidence: Vec::new(),
            outputs: Outputs::new(),
        }
    }

    /// Makes the failure of something that nobody here can do: another way may help, and if there is none a person.
    pub fn missing_capability(message: impl Into<String>) -> Self {
        Self { mode: Some(MISSING_CAPABILITY.to_owned()), ..Self::new(FailureClass::Policy, message) }
    }

    /// Makes the failure of something that someone has to approve first: nothing was done.
    pub fn needs_approval(message: impl Into<String>) -> Self {
        Self { mode: Some(NEEDS_APPROVAL.to_owned()), ..Self::new(FailureClass::Policy, message) }
    }

    /// Tells whether someone has to approve it first.
    pub fn is_needs_approval(&self) -> bool {
        self.class == FailureClass::Policy && self.mode.as_deref() == Some(NEEDS_APPROVAL)
    }

    /// Tells whether nobody here can do it.
    pub fn is_missing_capability(&self) -> bool {
        self.mode.as_deref() == Some(MISSING_CAPABILITY)
    }
}
