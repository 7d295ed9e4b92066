//! What reaches a driver, and how driving comes to its end.

use gantry_core::input::Input;
use gantry_core::life::{PlanState, WaitsFor};
use gantry_store::EffectRow;
use tokio::sync::oneshot;

use crate::act::Flight;
use crate::bulk::weight;
use crate::error::EngineError;

/// What reaches a driver.
pub(crate) enum Message {
    /// A runner answers.
    Answer { input: Input, calls: Vec<EffectRow> },
    /// Facts were looked at.
    Observed { flight: Flight, input: Input },
    /// Something that went on outside came to nothing that the plan has to know.
    Gone { flight: Flight },
    /// Someone says something and waits for what becomes of it.
    Told { input: Input, reply: oneshot::Sender<Result<(), EngineError>> },
    /// A plan inside a task waits for this, or goes on again.
    Resting { flight: Flight, waits: Option<Vec<WaitsFor>> },
    /// What the plans around this one may do has changed.
    Rules,
    /// The inbox may have something.
    Look,
    /// The plan around this one waits for someone: start nothing more, and end when nothing runs.
    Leave,
    /// Come to an end.
    Stop(Stop),
}

/// How to come to an end before the plan does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Start nothing more, let what runs finish, pause the plan.
    Park,
    /// Start nothing more, let what runs finish, leave the plan as it stands: the next process goes on with it.
    Leave,
    /// At once: what runs is killed and counts as lost.
    Now,
}

/// Until when a plan is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// It has ended.
    Ended,
    /// It has ended, or nothing can go on without someone outside.
    Stuck,
}

/// How driving a plan came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The plan has ended in this state, for these causes.
    Ended {
        /// Completed, failed or abandoned.
        state: PlanState,
        /// Why it failed.
        causes: Vec<String>,
    },
    /// Nothing can go on without someone outside.
    Waiting(Vec<WaitsFor>),
    /// It was parked.
    Parked,
    /// It was stopped at once.
    Stopped,
}

impl Message {
    /// About how much it adds to a turn.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Answer { input, .. } | Self::Observed { input, .. } | Self::Told { input, .. } => weight(input),
            Self::Gone { .. } | Self::Resting { .. } | Self::Rules | Self::Look | Self::Leave | Self::Stop(_) => 0,
        }
    }
}
