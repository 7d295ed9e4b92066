//! The small words that events are made of.

use serde::{Deserialize, Serialize};

use crate::effect::Failure;
use crate::id::TaskId;

/// What an answer is an answer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerTo {
    /// An attempt.
    #[default]
    Attempt,
    /// The question whether an attempt happened.
    Verify,
    /// Checks in words.
    Judge,
    /// An attempt at taking back.
    Undo,
}

/// Where the result of a completed task comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// It was made just now.
    #[default]
    Made,
    /// It was made before, under the same key.
    Recorded,
    /// It is the task's fallback: the result is degraded.
    Fallback,
    /// It came with the plan file.
    Imported,
}

/// What a judge is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeOf {
    /// Whether it may start.
    Start,
    /// Whether its result is good enough.
    #[default]
    Result,
}

/// What a person is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// To answer a question.
    Answer,
    /// To do the task.
    Work,
    /// To say what to do about a failure.
    Help {
        /// The failure.
        failure: Failure,
    },
}

/// What comes after undoing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterUndo {
    /// The failure that asked for it stands.
    Fail,
    /// The task that asked for it is done.
    CompleteTask(TaskId),
    /// The plan is paused; what was taken back can be done again.
    Pause,
    /// The plan is abandoned.
    Abandon,
}
