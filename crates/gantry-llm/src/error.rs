//! What can go wrong when a model is asked.

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use serde::{Deserialize, Serialize};

/// Why one call of one provider came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{target}: {message}")]
pub struct CallError {
    /// What sort of trouble it is.
    pub fault: CallFault,
    /// Who was asked, as `provider:model`.
    pub target: String,
    /// What happened, without any key.
    pub message: String,
    /// How long the provider wants to be left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
}

/// What sort of trouble a call had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallFault {
    /// Too many calls (429).
    RateLimited,
    /// The provider is broken or too busy (5xx).
    Server,
    /// No answer in time.
    Timeout,
    /// Nobody there, or the line was cut.
    Connection,
    /// The key is missing or wrong, or there is no credit left (401, 402, 403): a person has to look.
    Key,
    /// There is no such model (404, or the provider says so).
    UnknownModel,
    /// The request is wrong in itself (400, 422), too long for the model, say.
    Request,
    /// The answer makes no sense, or the model would not give one.
    Answer,
    /// It cannot do this, whoever asks and whenever: the offline model judges nothing.
    Unable,
    /// It was not called at all: it failed too often just now.
    Resting,
    /// Somebody stopped it.
    Cancelled,
}

impl CallFault {
    /// Tells whether the same call may succeed a little later.
    pub fn may_pass(self) -> bool {
        matches!(self, Self::RateLimited | Self::Server | Self::Timeout | Self::Connection | Self::Resting)
    }

    /// What whoever runs into it can do.
    pub fn advice(self) -> Option<&'static str> {
        Some(match self {
            Self::RateLimited => {
                "let fewer be asked at once: `concurrent` and `requests_per_minute` of the provider in gantry.toml"
            }
            Self::Server | Self::Resting => "try again later, or name another model behind it",
            Self::Timeout => "give it longer: `timeout` and `silence` of the provider in gantry.toml",
            Self::Connection => "see whether it can be reached with `gantry model doctor`",
            Self::Key => "see which key is missing or wrong with `gantry model doctor`",
            Self::UnknownModel => "see which models there are with `gantry model list`",
            Self::Request => {
                "see what was asked with `gantry task show PLAN TASK --calls`, and whether the model can do that"
            }
            Self::Answer => "ask for less at once, or name another model",
            Self::Unable | Self::Cancelled => return None,
        })
    }

    /// Tells whether only a person can change that.
    fn needs_a_person(self) -> bool {
        matches!(self, Self::Key | Self::Unable)
    }
}

/// Why there is no answer that holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// Nobody is configured for it.
    #[error("{0}")]
    Configuration(String),
    /// It would cost more than is left.
    #[error("{0}")]
    Budget(String),
    /// Every model of the chain failed.
    #[error("no model answered `{method}`: {}{}", in_words(.failed), advice(.failed))]
    Calls {
        /// What was wanted: the name of the prompt, or else the role.
        method: String,
        /// Each call that came to nothing, in order.
        failed: Vec<CallError>,
    },
    /// Models answered, but never as the schema and the rules demand.
    #[error("{model} gave no answer to `{method}` that holds: {}{}", .faults.join("; "), behind(.unable.as_ref()))]
    Invalid {
        /// What was wanted: the name of the prompt, or else the role.
        method: String,
        /// Who was asked last.
        model: String,
        /// What is wrong with its last answer.
        faults: Vec<String>,
        /// Why the offline model, which was asked behind it, cannot answer either.
        unable: Option<String>,
    },
    /// The record failed.
    #[error("the answer could not be recorded: {0}")]
    Record(String),
    /// Somebody stopped it.
    #[error("stopped")]
    Cancelled,
}

impl AskError {
    /// What this means for the attempt that asked.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Configuration(_) | Self::Budget(_) => FailureClass::Policy,
            Self::Calls { failed, .. } if failed.iter().any(|call| call.fault.may_pass()) => FailureClass::Transient,
            Self::Calls { failed, .. } if failed.iter().any(|call| call.fault.needs_a_person()) => FailureClass::Policy,
            Self::Invalid { unable: Some(_), .. } => FailureClass::Policy,
            Self::Calls { .. } | Self::Invalid { unable: None, .. } => FailureClass::Logic,
            Self::Record(_) => FailureClass::Transient,
            Self::Cancelled => FailureClass::Cancelled,
        }
    }

    /// Tells whether models have said something that did not hold, and nothing but another question can change that:
    /// what they said is on record, and the same question gets it again.
    pub fn is_settled(&self) -> bool {
        match self {
            Self::Invalid { .. } => true,
            Self::Calls { failed, .. } => {
                let said = failed.iter().any(|call| call.fault == CallFault::Answer);
                said && !failed.iter().any(|call| call.fault.may_pass())
            }
            Self::Configuration(_) | Self::Budget(_) | Self::Record(_) | Self::Cancelled => false,
        }
    }

    /// How long it is until the first of the models that may do better can be asked again.
    fn retry_after(&self) -> Option<Duration> {
        let Self::Calls { failed, .. } = self else { return None };
        // What a model said last counts.
        let last: BTreeMap<&str, &CallError> = failed.iter().map(|call| (call.target.as_str(), call)).collect();
        let passing = last.into_values().filter(|call| call.fault.may_pass());
        passing.map(|call| call.retry_after.unwrap_or_default()).min().filter(|wait| !wait.is_zero())
    }
}

/// What happened, in order; what happened several times in a row is said once.
fn in_words(failed: &[CallError]) -> String {
    let same = |one: &CallError, next: &CallError| (&one.target, &one.message) == (&next.target, &next.message);
    let said = failed.chunk_by(same).map(|times| match times.len() {
        1 => times[0].to_string(),
        many => format!("{} ({many} times)", times[0]),
    });
    said.collect::<Vec<_>>().join("; ")
}

fn behind(unable: Option<&String>) -> String {
    unable.map(|unable| format!("; {unable}")).unwrap_or_default()
}

/// What to do about the last trouble that a model had; the offline model behind it is no remedy.
fn advice(failed: &[CallError]) -> String {
    let advice = failed.iter().rev().find_map(|call| call.fault.advice());
    advice.map(|advice| format!("; {advice}")).unwrap_or_default()
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        let retry_after = error.retry_after().filter(|_| error.class() == FailureClass::Transient);
        let wait =
            |wait: Duration| gantry_core::time::Duration::from_ms(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        Failure { retry_after: retry_after.map(wait), ..Failure::new(error.class(), error.to_string()) }
    }
}
