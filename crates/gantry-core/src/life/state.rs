//! What is known about one task, and the timers that its state brings.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::results::Results;
use super::view::TaskState;
use crate::effect::{ArtifactRef, Failure};
use crate::event::{AnswerTo, JudgeOf, Source};
use crate::id::{AttemptNo, Revision, TaskNo};
use crate::plan::is_default;
use crate::policy::{ProseBy, Usage};
use crate::time::{Duration, Timestamp};

/// Where a task stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not begun. It is ready when it stands in a lane.
    #[default]
    Pending,
    /// Everything before it is done, but a precondition does not hold.
    Blocked {
        /// Why.
        reason: String,
        /// Facts that it needs to know.
        needs: Vec<String>,
    },
    /// A composite whose children may run.
    Open {
        /// When its timebox ends.
        until: Option<Timestamp>,
    },
    /// An attempt is under way.
    Running {
        /// Which.
        attempt: AttemptNo,
        /// What is set aside for it.
        reserved: Usage,
        /// The accounts that it was taken from: 0 is the plan's, others are tasks'.
        charged: Vec<u32>,
        /// When it began.
        #[serde(default)]
        since: Timestamp,
        /// When it is stopped.
        timeout_at: Option<Timestamp>,
        /// When it counts as lost.
        lease_until: Option<Timestamp>,
        /// Who did tasks in prose when it began.
        #[serde(default, skip_serializing_if = "is_default")]
        prose: ProseBy,
    },
    /// It waits for a person, a judge or a time.
    Waiting(Waiting),
    /// Done.
    Completed,
    /// Failed for good.
    Failed {
        /// Someone takes care of it.
        handled: bool,
    },
    /// Not needed.
    Skipped {
        /// Someone said so.
        by_hand: bool,
    },
    /// Given up.
    Abandoned,
}

/// What a task waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waiting {
    /// People to decide about a gate.
    Gate {
        /// How many approvals it needs.
        needed: u32,
        /// Who approved.
        approved_by: Vec<String>,
        /// The revision that they look at.
        revision: Revision,
    },
    /// A person to answer.
    Answer {
        /// Until when.
        until: Option<Timestamp>,
    },
    /// A person to do it.
    Work,
    /// A person to say what to do about a failure.
    Help {
        /// The failure.
        failure: Failure,
    },
    /// A judge.
    Judge {
        /// The checks in words.
        checks: Vec<String>,
        /// What they are about.
        of: JudgeOf,
        /// The number of the event that asked; 0 where that is not known.
        #[serde(default, skip_serializing_if = "is_default")]
        asked: u64,
        /// How often no model could judge.
        #[serde(default, skip_serializing_if = "is_default")]
        failed: u32,
        /// Why not, last.
        #[serde(default, skip_serializing_if = "is_default")]
        why: String,
    },
    /// Someone to find out whether an attempt happened.
    Verify {
        /// The lost attempt.
        attempt: AttemptNo,
    },
    /// What it takes back to be taken back.
    Undo,
    /// A point in time.
    Time {
        /// Which.
        until: Timestamp,
    },
    /// The next attempt.
    Retry {
        /// When.
        at: Timestamp,
    },
}

impl State {
    /// Tells whether nothing more is to be done.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed { .. } | Self::Skipped { .. } | Self::Abandoned)
    }

    /// The states that are counted, as people know them, in the order of [`State::place`].
    pub(super) const COUNTED: [TaskState; 8] = [
        TaskState::Pending,
        TaskState::Blocked,
        TaskState::Running,
        TaskState::Waiting,
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Skipped,
        TaskState::Abandoned,
    ];

    /// Where the state is counted.
    pub(super) fn place(&self) -> usize {
        match self {
            Self::Pending => 0,
            Self::Blocked { .. } => 1,
            Self::Open { .. } | Self::Running { .. } => 2,
            Self::Waiting(_) => 3,
            Self::Completed => 4,
            Self::Failed { .. } => 5,
            Self::Skipped { .. } => 6,
            Self::Abandoned => 7,
        }
    }

    /// The state's name.
    pub(super) fn name(&self) -> &'static str {
        Self::COUNTED[self.place()].name()
    }
}

/// What is known about one task.
///
/// Kept in the order in which it stands here: what every turn touches is together, what few tasks have comes after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[repr(C)]
pub struct TaskLife {
    /// Where it stands.
    pub state: State,
    /// The last attempt; 0 before the first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub attempt: AttemptNo,
    /// Which way is being tried: 0 is the task's action, others its alternates.
    #[serde(default, skip_serializing_if = "is_default")]
    pub way: u32,
    /// Tasks it waits for that are not over.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) unmet: u32,
    /// Tasks it waits for that were done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) ran: u32,
    /// Tasks it waits for that ended in a way that leaves it out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) barred: u32,
    /// Tasks with a route to it that are not over.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) routes_open: u32,
    /// Routes to it that were followed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) routes_taken: u32,
    /// Children that are not over.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) children_open: u32,
    /// Required children that failed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) children_failed: u32,
    /// Tasks below it that are in a lane, running, waiting or blocked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) active_below: u32,
    /// It is itself one of those.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) active: bool,
    /// It stands in its lane.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) in_lane: bool,
    /// Its inputs are being made again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) suspect: bool,
    /// The present result is to be remembered: it joins those below before something else happens to the task.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) remembered: bool,
    /// An attempt was lost, and nobody has found out whether it happened.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) in_doubt: bool,
    /// It was taken back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) undone: bool,
    /// It was taken back because the plan itself says so, not for a failure: it stays so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) rolled_back: bool,
    /// The judge has passed its preconditions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) judged_before: bool,
    /// Someone was told that its deadline passed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deadline_missed: bool,
    /// Where the result comes from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub source: Source,
    /// Why the result is less than what was asked for, when it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
    /// When to tell someone, and how often someone was told.
    #[serde(default, skip_serializing_if = "is_default")]
    pub watch: Watch,
    /// Under which number it was last tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tried_seq: Option<u64>,
    /// Under which number it finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) done_seq: Option<u64>,
    /// The key of the attempt under way or of the result.
    #[serde(default, skip_serializing_if = "is_default")]
    pub key: String,
    /// The result.
    #[serde(default, skip_serializing_if = "is_default")]
    pub outputs: Results,
    /// What its attempts used.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spent: Usage,

    /// Retries since the last change of plan, way or result.
    #[serde(default, skip_serializing_if = "is_default")]
    pub retries: u32,
    /// Attempts that were lost, likewise.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) losses: u32,
    /// How long its attempts took, without those that were lost.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) worked: Duration,
    /// What is left of its timebox, while it is to be opened once more before it has come to an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) box_left: Option<Duration>,
    /// Repairs, likewise.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repairs: u32,
    /// What the next attempt is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// What it made.
    #[serde(default, skip_serializing_if = "is_default")]
    pub artifacts: Vec<ArtifactRef>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Why it failed, last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Checks in words that nobody judged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unjudged: Vec<String>,
    /// Earlier results that were accepted or edited, each under its key, the one that served least recently first. One
    /// serves again when its key comes back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub memo: Vec<Arc<Memo>>,
    /// Attempts that ended without an answer, and what was counted for each.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) unanswered: Vec<(AttemptNo, Usage)>,
    /// Questions to verifiers, judges and undos whose answers are not counted yet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) owed: Vec<(AnswerTo, AttemptNo)>,
    /// Why it was skipped or given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Routes out of it that were followed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) taken: Vec<TaskNo>,
}

/// A result that was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memo {
    /// The key that it was made under.
    pub key: String,
    /// The result.
    pub outputs: Results,
    /// What was made.
    pub artifacts: Vec<ArtifactRef>,
    /// How it ended.
    pub outcome: Option<String>,
    /// Checks in words that nobody judged.
    pub unjudged: Vec<String>,
}

impl TaskLife {
    /// Tells whether it is done with less than what was asked for: its fallback, or a result that fell short.
    pub fn is_degraded(&self) -> bool {
        self.state == State::Completed && (self.source == Source::Fallback || self.shortfall.is_some())
    }

    /// The recorded result for a key, of a task that has no result now.
    pub(super) fn recall(&self, key: &str) -> Option<&Arc<Memo>> {
        debug_assert!(!self.remembered, "the present result was put by when it was opened again");
        self.memo.iter().find(|memo| memo.key == key)
    }

    /// Remembers the result that it has now.
    pub(super) fn remember(&mut self) {
        self.remembered = true;
    }

    /// Tells whether it is over, and whatever it was made of is, too.
    pub(super) fn is_settled(&self) -> bool {
        self.state.is_final() && !self.suspect
    }

    /// Where its routes lead, as far as that is not in question.
    pub(super) fn leads_to(&self) -> &[TaskNo] {
        if self.suspect { &[] } else { &self.taken }
    }

    /// What it did itself was done for parts that are done again, so it is done again, too.
    pub(super) fn forget_result(&mut self) {
        self.remembered = false;
        self.taken.clear();
        self.memo.retain(|memo| memo.key != self.key);
    }

    /// Puts the present result by, if it is one to remember: something is about to happen to it.
    pub(super) fn put_by(&mut self) {
        if !std::mem::take(&mut self.remembered) {
            return;
        }
        self.memo.retain(|memo| memo.key != self.key);
        if self.memo.len() >= MEMOS_MAX {
            self.memo.remove(0);
        }
        self.memo.push(Arc::new(Memo {
            key: self.key.clone(),
            outputs: self.outputs.clone(),
            artifacts: self.artifacts.clone(),
            outcome: self.outcome.clone(),
            unjudged: self.unjudged.clone(),
        }));
    }
}

/// How many attempts without an answer are remembered for one task.
pub(super) const UNANSWERED_MAX: usize = 8;

/// How many accepted results of one task are remembered.
const MEMOS_MAX: usize = 8;

/// When to tell someone that a task takes too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// When next.
    pub at: Option<Timestamp>,
    /// How often someone was told.
    pub level: u32,
}

/// Something that happens when its time comes. At one time, the lower variants go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// The plan's time budget is used up.
    PlanTime,
    /// The plan should be done.
    PlanDeadline,
    /// A task should be done.
    Deadline(TaskNo),
    /// An attempt has taken too long.
    Timeout(TaskNo, AttemptNo),
    /// An attempt was silent for too long.
    Lease(TaskNo, AttemptNo),
    /// A composite has taken too long.
    Timebox(TaskNo),
    /// A task may be tried again.
    Retry(TaskNo),
    /// A wait is over, or nobody answered in time.
    Due(TaskNo),
    /// Someone is to be told.
    Escalate(TaskNo),
}
