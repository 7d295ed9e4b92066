//! Requests that the core says no to. Expected, answered, and nothing has changed.

use std::fmt;

use super::view::PlanState;
use crate::id::Revision;
use crate::plan::Problem;

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// There is no such task.
    UnknownTask {
        /// The name that was given.
        task: String,
    },
    /// The plan is in another state.
    WrongState {
        /// What was asked for, as in "cannot be paused".
        verb: &'static str,
        /// Where the plan stands.
        state: PlanState,
    },
    /// The task does not wait for this.
    NotWaitingFor {
        /// The task.
        task: String,
        /// What was offered.
        what: String,
    },
    /// The task is no gate.
    NotAGate {
        /// The task.
        task: String,
    },
    /// The gate was decided before.
    DecidedAlready {
        /// The gate.
        gate: String,
    },
    /// This person approved before.
    ApprovedAlready {
        /// The gate.
        gate: String,
        /// Who.
        by: String,
    },
    /// This person may not decide.
    NotAllowed {
        /// The gate.
        gate: String,
        /// Who.
        by: String,
        /// The role that it takes, if they do not have it.
        role: Option<String>,
        /// The people who may, if they are none of them.
        approvers: Vec<String>,
    },
    /// The plan says who has this role, and it is not this person.
    NotInRole {
        /// Who.
        by: String,
        /// The role that they claim.
        role: String,
        /// Who has it.
        people: Vec<String>,
    },
    /// The gate cannot send work back any more.
    NoMoreRounds {
        /// The gate.
        gate: String,
        /// Why not.
        reason: String,
    },
    /// Something that is needed is missing.
    Incomplete {
        /// The task.
        task: String,
        /// What is missing.
        missing: String,
    },
    /// The answer is none of those that can be chosen.
    UnknownAnswer {
        /// The task.
        task: String,
        /// The answer.
        answer: String,
        /// What can be chosen.
        choices: Vec<String>,
    },
    /// The plan has changed since it was looked at.
    OldRevision {
        /// The revision that was looked at.
        seen: Revision,
        /// The revision now.
        current: Revision,
    },
    /// The changed plan would be wrong.
    BadPlan {
        /// What is wrong with it.
        problems: Vec<Problem>,
    },
    /// The change does not fit this plan.
    DoesNotFit {
        /// Why.
        reason: String,
    },
    /// The request changes nothing.
    NothingChanges,
    /// The change costs more than the budget allows.
    OverBudget {
        /// What is missing.
        detail: String,
    },
    /// The task runs right now.
    TaskRuns {
        /// The task.
        task: String,
    },
    /// The task is not finished.
    NotFinished {
        /// The task.
        task: String,
    },
    /// What was done is being taken back right now.
    Undoing,
    /// There is no such checkpoint or finished task.
    UnknownPoint {
        /// What was named.
        to: String,
    },
    /// There is a hypothesis with this id already.
    KnownHypothesis {
        /// The id.
        id: String,
    },
    /// There is no room for another one.
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        max: usize,
    },
    /// There is no such hypothesis.
    UnknownHypothesis {
        /// The id.
        id: String,
    },
}

impl Refusal {
    /// A stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownTask { .. } => "life::unknown-task",
            Self::WrongState { .. } => "life::wrong-state",
            Self::NotWaitingFor { .. } => "life::not-waiting",
            Self::NotAGate { .. } => "life::not-a-gate",
            Self::DecidedAlready { .. } => "life::decided-already",
            Self::ApprovedAlready { .. } => "life::approved-already",
            Self::NotAllowed { .. } => "life::not-allowed",
            Self::NotInRole { .. } => "life::not-in-role",
            Self::NoMoreRounds { .. } => "life::no-more-rounds",
            Self::Incomplete { .. } => "life::incomplete",
            Self::UnknownAnswer { .. } => "life::unknown-answer",
            Self::OldRevision { .. } => "life::old-revision",
            Self::BadPlan { .. } => "life::bad-plan",
            Self::DoesNotFit { .. } => "life::does-not-fit",
            Self::NothingChanges => "life::nothing-changes",
            Self::OverBudget { .. } => "life::over-budget",
            Self::TaskRuns { .. } => "life::task-runs",
            Self::NotFinished { .. } => "life::not-finished",
            Self::Undoing => "life::undoing",
            Self::UnknownPoint { .. } => "life::unknown-point",
            Self::KnownHypothesis { .. } => "life::known-hypothesis",
            Self::TooMany { .. } => "life::too-many",
            Self::UnknownHypothesis { .. } => "life::unknown-hypothesis",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTask { task } => write!(f, "there is no task `{task}`"),
            Self::WrongState { verb, state } => write!(f, "a plan that is {state} cannot be {verb}"),
            Self::NotWaitingFor { task, what } => write!(f, "task `{task}` does not wait for {what}"),
            Self::NotAGate { task } => write!(f, "task `{task}` is not a gate"),
            Self::DecidedAlready { gate } => write!(f, "gate `{gate}` is decided already"),
            Self::ApprovedAlready { gate, by } => write!(f, "{by} has approved gate `{gate}` already"),
            Self::NotAllowed { gate, by, role, approvers } => {
                write!(f, "{by} may not decide gate `{gate}`")?;
                match (approvers.is_empty(), role) {
                    (true, None) => Ok(()),
                    (true, Some(role)) => write!(f, ": it takes the role `{role}`"),
                    (false, None) => write!(f, ": only {} may", approvers.join(", ")),
                    (false, Some(role)) => write!(f, ": only {} may, in the role `{role}`", approvers.join(", ")),
                }
            }
            Self::NotInRole { by, role, people } => {
                write!(f, "{by} is no {role} of this plan: it names {}", people.join(", "))
            }
            Self::NoMoreRounds { gate, reason } => write!(f, "gate `{gate}` cannot send work back: {reason}"),
            Self::Incomplete { task, missing } => write!(f, "task `{task}` also needs {missing}"),
            Self::UnknownAnswer { task, answer, choices } => {
                write!(f, "`{answer}` is no answer to `{task}`; choose one of: {}", choices.join(", "))
            }
            Self::OldRevision { seen, current } => {
                write!(f, "revision {seen} was looked at, but revision {current} is current")
            }
            Self::BadPlan { problems } => {
                write!(f, "the changed plan would be wrong")?;
                problems.iter().try_for_each(|problem| write!(f, "; {}", problem.message))
            }
            Self::DoesNotFit { reason } => f.write_str(reason),
            Self::NothingChanges => f.write_str("nothing would change"),
            Self::OverBudget { detail } => write!(f, "the budget does not allow it: {detail}"),
            Self::TaskRuns { task } => write!(f, "task `{task}` runs right now"),
            Self::NotFinished { task } => write!(f, "task `{task}` is not finished"),
            Self::Undoing => f.write_str("what was done is being taken back right now"),
            Self::UnknownPoint { to } => write!(f, "there is no checkpoint or finished task `{to}`"),
            Self::KnownHypothesis { id } => write!(f, "there is a hypothesis `{id}` already"),
            Self::TooMany { what, max } => write!(f, "a plan has at most {max} {what}"),
            Self::UnknownHypothesis { id } => write!(f, "there is no hypothesis `{id}`"),
        }
    }
}

impl std::error::Error for Refusal {}
