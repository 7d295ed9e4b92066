//! What can reach a plan: answers from outside, words from people, the passing of time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::effect::{ArtifactRef, Failure};
use crate::event::Outputs;
use crate::id::{AttemptNo, Revision, TaskId};
use crate::plan::{Diff, Hypothesis, Plan, is_default};
use crate::policy::Usage;

/// One thing that reached the plan. Kept beside the events that it caused, so that a life can be decided again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum Input {
    /// Begin.
    Start,
    /// Start nothing new.
    Pause {
        /// Who asks.
        by: String,
        /// Why.
        why: String,
    },
    /// Go on.
    Resume {
        /// Who asks.
        by: String,
    },
    /// Give up: stop everything at once.
    Cancel {
        /// Who asks.
        by: String,
        /// Why.
        why: String,
        /// Whether to take back what was done.
        undo: TakeBack,
    },
    /// Time has passed, or there is more to do.
    Tick,
    /// The process was away: attempts in flight are lost.
    Recover,
    /// An attempt ended.
    Ended {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: AttemptNo,
        /// How.
        end: Result<Success, Failure>,
        /// What it used.
        usage: Usage,
    },
    /// A runner is alive.
    Heartbeat {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: AttemptNo,
        /// How far it is; empty means just alive.
        note: String,
        /// What it hands in already.
        artifacts: Vec<ArtifactRef>,
    },
    /// It was found out whether a lost attempt happened.
    Verified {
        /// The task.
        task: TaskId,
        /// The lost attempt.
        attempt: AttemptNo,
        /// Whether it happened; none means that it cannot be known.
        happened: Option<bool>,
        /// Its result, if it happened.
        outputs: Outputs,
        /// What finding out used.
        usage: Usage,
    },
    /// A judge answered.
    Judged {
        /// The task; none means the plan, whose definition of done was judged.
        task: Option<TaskId>,
        /// Who judged.
        by: String,
        /// One verdict for each check.
        verdicts: Vec<Verdict>,
        /// What judging used.
        usage: Usage,
        /// The attempt whose result a model was shown; people judge what is there now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<AttemptNo>,
        /// Which question a model answers, by the number of the event that asked it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked: Option<u64>,
    },
    /// No model could judge.
    JudgeFailed {
        /// The task; none means the plan, whose definition of done was to be judged.
        task: Option<TaskId>,
        /// Why.
        why: String,
        /// What trying used.
        usage: Usage,
        /// The attempt whose result was to be judged.
        attempt: AttemptNo,
        /// Which question it is about, by the number of the event that asked it.
        asked: u64,
        /// How often the question came to nothing before.
        failed: u32,
    },
    /// An undo ended.
    UndoEnded {
        /// The task.
        task: TaskId,
        /// Which attempt at undoing.
        attempt: AttemptNo,
        /// How it was taken back, or why not.
        end: Result<String, String>,
        /// What taking back used.
        usage: Usage,
    },
    /// Facts were observed.
    Observed {
        /// By name.
        facts: BTreeMap<String, Value>,
    },
    /// People decided about gates: all of these in one review, or none.
    Review {
        /// Who.
        by: String,
        /// In which role.
        role: Option<String>,
        /// What about each gate.
        decisions: Vec<GateDecision>,
    },
    /// Someone answered a question.
    Answer {
        /// The task.
        task: TaskId,
        /// Who.
        by: String,
        /// What.
        answer: String,
    },
    /// Someone did, or could not do, a manual task.
    Report {
        /// The task.
        task: TaskId,
        /// Who.
        by: String,
        /// What they hand in, or why it could not be done.
        end: Result<Success, String>,
    },
    /// Someone says what to do about a failure.
    Resolve {
        /// The task.
        task: TaskId,
        /// Who.
        by: String,
        /// What to do.
        resolution: Resolution,
        /// Why.
        why: String,
    },
    /// Someone changes the plan.
    Revise {
        /// Who.
        by: String,
        /// Why.
        rationale: String,
        /// The revision that they saw.
        base: Revision,
        /// What is to change.
        change: Change,
    },
    /// Someone changes the outputs of a finished task.
    EditOutput {
        /// The task.
        task: TaskId,
        /// Who.
        by: String,
        /// Why.
        why: String,
        /// All of its outputs from now on.
        outputs: Outputs,
    },
    /// Do a task again.
    Retry {
        /// The task.
        task: TaskId,
        /// Who asks.
        by: String,
        /// Why.
        why: String,
    },
    /// Take back everything since a task or checkpoint.
    Undo {
        /// The checkpoint's id or name, or a task's id; everything after it is taken back. Empty means everything.
        to: String,
        /// Who asks.
        by: String,
        /// Why.
        why: String,
    },
    /// Mark a point to come back to.
    Checkpoint {
        /// What to call it.
        name: String,
    },
    /// Add a statement to be tested.
    Hypothesise {
        /// The statement.
        hypothesis: Hypothesis,
    },
    /// Something speaks for or against a statement.
    Evidence {
        /// Which statement.
        hypothesis: String,
        /// Which way.
        direction: EvidenceFor,
        /// What.
        evidence: String,
        /// Who found it.
        by: String,
    },
    /// Write something down.
    Note {
        /// About which task.
        task: Option<TaskId>,
        /// Who.
        by: String,
        /// What.
        text: String,
    },
}

impl Input {
    /// Tells whether it may turn out to be refused when something of it was recorded already: several decisions are
    /// taken or none, and whether there is another round is seen in the making.
    pub(crate) fn may_be_refused_midway(&self) -> bool {
        match self {
            Self::Review { decisions, .. } => {
                decisions.len() > 1 || decisions.iter().any(|decision| decision.decision == Decision::NeedsChanges)
            }
            Self::Revise { .. } | Self::EditOutput { .. } | Self::Undo { .. } => true,
            Self::Tick
            | Self::Recover
            | Self::Ended { .. }
            | Self::Heartbeat { .. }
            | Self::Verified { .. }
            | Self::UndoEnded { .. }
            | Self::Observed { .. }
            | Self::Start
            | Self::Pause { .. }
            | Self::Resume { .. }
            | Self::Cancel { .. }
            | Self::Judged { .. }
            | Self::JudgeFailed { .. }
            | Self::Answer { .. }
            | Self::Report { .. }
            | Self::Resolve { .. }
            | Self::Retry { .. }
            | Self::Checkpoint { .. }
            | Self::Hypothesise { .. }
            | Self::Evidence { .. }
            | Self::Note { .. } => false,
        }
    }
}

/// What a successful attempt gives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Success {
    /// Values by name.
    pub outputs: Outputs,
    /// Kept pieces of output.
    pub artifacts: Vec<ArtifactRef>,
    /// How it ended, when there is more than one way to end well.
    pub outcome: Option<String>,
    /// Why the result is less than what was asked for, when it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
}

/// Whether giving up includes taking back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakeBack {
    /// Leave things as they are.
    Nothing,
    /// Undo what was done, the last thing first.
    Everything,
}

/// What someone decided about one gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateDecision {
    /// The gate.
    pub gate: TaskId,
    /// What.
    pub decision: Decision,
    /// Why.
    pub rationale: String,
    /// What they had seen.
    pub evidence: Vec<String>,
    /// The revision that they looked at, if the surface knows.
    pub revision: Option<Revision>,
}

/// What can be decided about a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Go on.
    Approve,
    /// Do not.
    Reject,
    /// Do the work before it once more.
    NeedsChanges,
}

/// What someone says about something that has to be approved first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// Go on.
    Granted,
    /// Do not.
    Refused {
        /// Why.
        why: String,
    },
}

impl Approval {
    /// The answers that there are; a reason may follow a refusal: `refuse: too early`.
    pub const ANSWERS: [&str; 2] = ["approve", "refuse"];

    /// Reads an answer; none when it is no approval and no refusal.
    pub fn parse(answer: &str) -> Option<Self> {
        let [approve, refuse] = Self::ANSWERS;
        if answer == approve {
            return Some(Self::Granted);
        }
        let rest = answer.strip_prefix(refuse)?;
        let why = if rest.is_empty() { rest } else { rest.strip_prefix(':')?.trim() };
        Some(Self::Refused { why: why.to_owned() })
    }
}

/// What a judge says about one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The check.
    pub check: String,
    /// Whether it holds.
    pub holds: bool,
    /// Why.
    pub because: String,
    /// Whether this way cannot lead there, as a critic says: the task's next alternate is tried then, if it has one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub another_way: bool,
}

/// What a person can say about a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Try again, knowing this.
    Retry {
        /// What the next attempt is told.
        guidance: Option<String>,
    },
    /// It happened, or was done by hand: this is the result.
    Complete {
        /// The result.
        outputs: Outputs,
    },
    /// Leave it out.
    Skip,
    /// Let it fail.
    Fail,
}

/// How a plan is to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// To this.
    To(Box<Plan>),
    /// By this.
    By(Box<Diff>),
}

/// Which way a piece of evidence points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceFor {
    /// It makes the statement likelier: the odds are doubled.
    Supports,
    /// Much likelier: the odds are multiplied by eight.
    StronglySupports,
    /// Neither.
    Neutral,
    /// It makes it less likely: the odds are halved.
    Refutes,
    /// Much less likely: the odds are divided by eight.
    StronglyRefutes,
}
