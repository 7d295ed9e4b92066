//! Everything that can happen in the life of a plan. Facts, in the past tense, never changed afterwards.
//!
//! Golden files in `tests/golden` hold one line of each kind per version: old lines must still
//! load. Adding a field means a new version on the same day.

mod about; // which task an event is about
mod words; // what events are made of

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use words::{AfterUndo, AnswerTo, Asked, JudgeOf, Source};

use crate::effect::{ArtifactRef, Failure};
use crate::id::{AttemptNo, PlanId, Revision, TaskId};
use crate::input::{Decision, EvidenceFor, Verdict as Judgement};
use crate::plan::{Confidence, Diff, Hypothesis, On, Plan, is_default};
use crate::policy::{Dimension, Remedy, Usage};
use crate::time::Timestamp;

/// The version of the events that this program writes.
pub const EVENT_VERSION: u32 = 1;

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The version of the event's form.
    pub v: u32,
    /// Its place in the journal, from 1.
    pub seq: u64,
    /// When it happened; never earlier than the entry before.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// Outputs by name.
pub type Outputs = BTreeMap<String, Value>;

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The plan came to be, as revision 1.
    PlanCreated {
        /// Its id.
        id: PlanId,
        /// The seed of everything random in it.
        seed: u64,
        /// The whole plan.
        plan: Box<Plan>,
    },
    /// The plan is the continuation of another one, whose first entries stand before this.
    PlanForked {
        /// The new id.
        id: PlanId,
        /// The plan that it was taken from.
        from: PlanId,
        /// After which entry.
        #[serde(rename = "after")] // an entry has an `at` of its own
        at: u64,
    },
    /// Work may begin.
    PlanStarted,
    /// Nothing new starts until it is resumed.
    PlanPaused {
        /// Who paused it.
        by: String,
        /// Why.
        #[serde(default, skip_serializing_if = "is_default")]
        why: String,
    },
    /// Work goes on.
    PlanResumed {
        /// Who resumed it.
        by: String,
    },
    /// Every required task is done and the definition of done holds.
    PlanCompleted {
        /// Tasks that went on with a fallback, or failed without stopping the plan.
        #[serde(default, skip_serializing_if = "is_default")]
        degraded: Vec<TaskId>,
        /// Parts of the definition of done that nobody judged.
        #[serde(default, skip_serializing_if = "is_default")]
        unjudged: Vec<String>,
    },
    /// The plan cannot be completed.
    PlanFailed {
        /// Why, one line for each cause.
        causes: Vec<String>,
    },
    /// Someone gave it up.
    PlanAbandoned {
        /// Who.
        by: String,
        /// Why.
        #[serde(default, skip_serializing_if = "is_default")]
        why: String,
    },
    /// An ended plan goes on.
    PlanReopened {
        /// Why.
        why: String,
    },
    /// The graph changed: a new revision.
    PlanRevised {
        /// Its number.
        revision: Revision,
        /// What changed.
        diff: Box<Diff>,
        /// Why.
        rationale: String,
        /// Who, or `gantry` when the plan itself asked for it.
        by: String,
    },

    /// A composite began: its children may run.
    TaskOpened {
        /// The task.
        task: TaskId,
        /// When its timebox ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
        /// What its children were made of, when it made them itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// A task cannot start yet.
    TaskBlocked {
        /// The task.
        task: TaskId,
        /// Why not.
        reason: String,
        /// Facts that it needs to know.
        #[serde(default, skip_serializing_if = "is_default")]
        needs: Vec<String>,
    },
    /// What blocked a task is gone.
    TaskUnblocked {
        /// The task.
        task: TaskId,
    },
    /// An attempt began.
    AttemptStarted {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: AttemptNo,
        /// The hash of what it does and what it works on.
        key: String,
        /// What it may spend, set aside until it ends.
        #[serde(default, skip_serializing_if = "is_default")]
        reserved: Usage,
        /// When it is stopped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_at: Option<Timestamp>,
        /// When it counts as lost unless its runner is heard from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_until: Option<Timestamp>,
    },
    /// The runner is alive.
    LeaseExtended {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: AttemptNo,
        /// Until when.
        until: Timestamp,
    },
    /// The runner told how far it is, or handed in a part of its output.
    ProgressMade {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: AttemptNo,
        /// How far it is.
        note: String,
        /// What it handed in.
        #[serde(default, skip_serializing_if = "is_default")]
        artifacts: Vec<ArtifactRef>,
    },
    /// An attempt ended well; whether its result is good enough is another question.
    AttemptSucceeded {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: AttemptNo,
        /// What it gave.
        #[serde(default, skip_serializing_if = "is_default")]
        outputs: Outputs,
        /// What it made.
        #[serde(default, skip_serializing_if = "is_default")]
        artifacts: Vec<ArtifactRef>,
        /// How it ended, when there is more than one way to end well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<String>,
        /// Why the result is less than what was asked for, when it is: the result is degraded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shortfall: Option<String>,
        /// What it used.
        #[serde(default, skip_serializing_if = "is_default")]
        usage: Usage,
    },
    /// An attempt did not end well.
    AttemptFailed {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: AttemptNo,
        /// Why.
        failure: Failure,
        /// What it used.
        #[serde(default, skip_serializing_if = "is_default")]
        usage: Usage,
        /// Nobody answered: what it used is a guess until an answer comes late.
        #[serde(default, skip_serializing_if = "is_default")]
        unanswered: bool,
    },
    /// An answer came for an attempt that is over; it changed nothing but the accounts.
    AnswerIgnored {
        /// The task that it was for.
        task: TaskId,
        /// The attempt that it was for.
        attempt: AttemptNo,
        /// Why it was ignored.
        reason: String,
        /// What it used beyond what was counted before.
        #[serde(default, skip_serializing_if = "is_default")]
        usage: Usage,
        /// What it answered.
        #[serde(default, skip_serializing_if = "is_default")]
        to: AnswerTo,
    },
    /// The task will be tried again.
    RetryPlanned {
        /// The task.
        task: TaskId,
        /// In which way.
        remedy: Remedy,
        /// When.
        #[serde(rename = "again_at")] // an entry has an `at` of its own
        at: Timestamp,
        /// What the next attempt is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    /// A task is done.
    TaskCompleted {
        /// The task.
        task: TaskId,
        /// The hash of what it did and what it worked on.
        key: String,
        /// What it gives to others.
        #[serde(default, skip_serializing_if = "is_default")]
        outputs: Outputs,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<String>,
        /// Where its result comes from when no attempt made it just now.
        #[serde(default, skip_serializing_if = "is_default")]
        source: Source,
        /// Checks in words that nobody judged.
        #[serde(default, skip_serializing_if = "is_default")]
        unjudged: Vec<String>,
    },
    /// A task failed for good.
    TaskFailed {
        /// The task.
        task: TaskId,
        /// Why.
        failure: Failure,
        /// A route or another round takes care of it.
        #[serde(default, skip_serializing_if = "is_default")]
        handled: bool,
    },
    /// A task is not needed.
    TaskSkipped {
        /// The task.
        task: TaskId,
        /// Why not.
        because: String,
        /// Someone said so, so it stays out whatever happens.
        #[serde(default, skip_serializing_if = "is_default")]
        by_hand: bool,
    },
    /// A task is given up.
    TaskAbandoned {
        /// The task.
        task: TaskId,
        /// Why.
        because: String,
    },
    /// A task that was over, or waiting, has to be done (again).
    TaskReopened {
        /// The task.
        task: TaskId,
        /// Why.
        because: String,
        /// Forget the recorded answer, too.
        #[serde(default, skip_serializing_if = "is_default")]
        afresh: bool,
    },
    /// What a finished task worked on has changed back or not at all: it stays finished.
    TaskConfirmed {
        /// The task.
        task: TaskId,
    },
    /// A route was followed.
    RouteTaken {
        /// From which task.
        from: TaskId,
        /// To which.
        to: TaskId,
        /// On which ending.
        on: On,
    },

    /// A gate opened, with its automatic checks tested.
    GateOpened {
        /// The gate.
        task: TaskId,
        /// How many approvals it needs.
        needed: u32,
        /// The revision that approvers look at.
        revision: Revision,
        /// What each automatic check found.
        #[serde(default, skip_serializing_if = "is_default")]
        findings: Vec<Judgement>,
    },
    /// Someone decided about a gate.
    GateDecided {
        /// The gate.
        task: TaskId,
        /// Who.
        by: String,
        /// In which role.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
        /// What.
        decision: Decision,
        /// Why.
        #[serde(default, skip_serializing_if = "is_default")]
        rationale: String,
        /// What they had seen.
        #[serde(default, skip_serializing_if = "is_default")]
        evidence: Vec<String>,
    },
    /// A person is asked for something.
    PersonAsked {
        /// The task.
        task: TaskId,
        /// For what.
        what: Asked,
        /// Until when; then the default answer is taken.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A person did what was asked, or said what to do.
    PersonAnswered {
        /// The task.
        task: TaskId,
        /// Who.
        by: String,
        /// What they said.
        said: String,
        /// What they handed in.
        #[serde(default, skip_serializing_if = "is_default")]
        evidence: Vec<ArtifactRef>,
    },
    /// Time has to pass.
    WaitBegun {
        /// The task.
        task: TaskId,
        /// Until when.
        until: Timestamp,
    },
    /// A judge is asked about checks in words.
    JudgeAsked {
        /// The task; none means the plan, whose definition of done they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// The checks.
        checks: Vec<String>,
        /// What they are about.
        #[serde(default, skip_serializing_if = "is_default")]
        of: JudgeOf,
        /// The result that they are about.
        #[serde(default, skip_serializing_if = "is_default")]
        outputs: Outputs,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<String>,
    },
    /// A judge answered.
    Judged {
        /// The task; none means the plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// Who judged.
        by: String,
        /// One verdict for each check.
        verdicts: Vec<Judgement>,
        /// What judging used.
        #[serde(default, skip_serializing_if = "is_default")]
        usage: Usage,
    },
    /// No model could judge: the question stands, for a person or for whoever asks again.
    JudgeFailed {
        /// The task; none means the plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// Why.
        why: String,
        /// What trying used.
        #[serde(default, skip_serializing_if = "is_default")]
        usage: Usage,
    },
    /// Someone is to find out whether a lost attempt happened.
    VerifyAsked {
        /// The task.
        task: TaskId,
        /// The lost attempt.
        attempt: AttemptNo,
    },
    /// It was found out.
    Verified {
        /// The task.
        task: TaskId,
        /// The lost attempt.
        attempt: AttemptNo,
        /// Whether it happened; none means that it cannot be known.
        happened: Option<bool>,
        /// What finding out used.
        #[serde(default, skip_serializing_if = "is_default")]
        usage: Usage,
    },
    /// Someone was told that a task takes too long.
    Escalated {
        /// The task.
        task: TaskId,
        /// Whom.
        to: String,
        /// For the how many-th time.
        level: u32,
        /// When the next level is due.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_at: Option<Timestamp>,
        /// What is late.
        reason: String,
    },
    /// A deadline passed; of the plan when no task is named.
    DeadlineMissed {
        /// The task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    },

    /// A budget is used up: nothing new starts until it is raised.
    BreakerTripped {
        /// Which dimension.
        dimension: Dimension,
        /// What happened, in words.
        detail: String,
    },
    /// The budget was raised.
    BreakerReset,

    /// What was done is being taken back, in this order.
    UndoBegun {
        /// The tasks, the last one done first.
        tasks: Vec<TaskId>,
        /// What comes after.
        then: AfterUndo,
        /// Why.
        why: String,
    },
    /// One undo began.
    UndoStarted {
        /// The task that is taken back.
        task: TaskId,
        /// Which attempt at undoing.
        attempt: AttemptNo,
    },
    /// One task is taken back.
    TaskUndone {
        /// The task.
        task: TaskId,
        /// How, in words.
        how: String,
        /// What taking it back used.
        #[serde(default, skip_serializing_if = "is_default")]
        usage: Usage,
    },
    /// A person said that one task stays as it is.
    UndoPassedOver {
        /// The task.
        task: TaskId,
    },
    /// An undo did not work.
    UndoFailed {
        /// The task.
        task: TaskId,
        /// Which attempt at undoing.
        attempt: AttemptNo,
        /// Why.
        message: String,
        /// What trying used.
        #[serde(default, skip_serializing_if = "is_default")]
        usage: Usage,
    },
    /// Undoing cannot go on without a person.
    UndoHalted {
        /// The task that cannot be taken back.
        task: TaskId,
        /// Why.
        reason: String,
    },
    /// Undoing is over.
    UndoFinished,

    /// A point that one can come back to.
    CheckpointMade {
        /// Its id, `cp-<task>-<time>`.
        id: String,
        /// What it is called.
        name: String,
        /// The last task that was done before it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    },
    /// Someone changed the output of a finished task.
    OutputEdited {
        /// The task.
        task: TaskId,
        /// All of its outputs from now on.
        outputs: Outputs,
        /// Who.
        by: String,
        /// Why.
        #[serde(default, skip_serializing_if = "is_default")]
        why: String,
    },
    /// Facts about the world were observed.
    FactsObserved {
        /// By name, such as `network.online`.
        facts: BTreeMap<String, Value>,
    },
    /// A statement to be tested was added.
    HypothesisAdded {
        /// The statement.
        hypothesis: Hypothesis,
    },
    /// Something speaks for or against a statement.
    EvidenceAdded {
        /// Which statement.
        hypothesis: String,
        /// Which way it points, and how strongly.
        direction: EvidenceFor,
        /// What it is.
        evidence: String,
        /// Who found it.
        by: String,
        /// How sure one is now.
        confidence: Confidence,
    },
    /// Someone wrote something down.
    NoteAdded {
        /// About which task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// Who.
        by: String,
        /// What.
        text: String,
    },
}
