//! Which task an event is about.

use super::Event;
use crate::id::TaskId;

impl Event {
    /// The task that the event is about, if it is about one.
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::PlanCreated { .. }
            | Self::PlanForked { .. }
            | Self::PlanStarted
            | Self::PlanPaused { .. }
            | Self::PlanResumed { .. }
            | Self::PlanCompleted { .. }
            | Self::PlanFailed { .. }
            | Self::PlanAbandoned { .. }
            | Self::PlanReopened { .. }
            | Self::PlanRevised { .. }
            | Self::BreakerTripped { .. }
            | Self::BreakerReset
            | Self::UndoBegun { .. }
            | Self::UndoFinished
            | Self::FactsObserved { .. }
            | Self::HypothesisAdded { .. }
            | Self::EvidenceAdded { .. } => None,
            Self::TaskOpened { task, .. }
            | Self::TaskBlocked { task, .. }
            | Self::TaskUnblocked { task }
            | Self::AttemptStarted { task, .. }
            | Self::LeaseExtended { task, .. }
            | Self::ProgressMade { task, .. }
            | Self::AttemptSucceeded { task, .. }
            | Self::AttemptFailed { task, .. }
            | Self::AnswerIgnored { task, .. }
            | Self::RetryPlanned { task, .. }
            | Self::TaskCompleted { task, .. }
            | Self::TaskFailed { task, .. }
            | Self::TaskSkipped { task, .. }
            | Self::TaskAbandoned { task, .. }
            | Self::TaskReopened { task, .. }
            | Self::TaskConfirmed { task }
            | Self::RouteTaken { from: task, .. }
            | Self::GateOpened { task, .. }
            | Self::GateDecided { task, .. }
            | Self::PersonAsked { task, .. }
            | Self::PersonAnswered { task, .. }
            | Self::WaitBegun { task, .. }
            | Self::VerifyAsked { task, .. }
            | Self::Verified { task, .. }
            | Self::Escalated { task, .. }
            | Self::UndoStarted { task, .. }
            | Self::TaskUndone { task, .. }
            | Self::UndoPassedOver { task }
            | Self::UndoFailed { task, .. }
            | Self::UndoHalted { task, .. }
            | Self::OutputEdited { task, .. } => Some(task),
            Self::DeadlineMissed { task }
            | Self::JudgeAsked { task, .. }
            | Self::Judged { task, .. }
            | Self::JudgeFailed { task, .. }
            | Self::CheckpointMade { task, .. }
            | Self::NoteAdded { task, .. } => task.as_ref(),
        }
    }
}
