//! Why the engine did not do what it was asked.

use gantry_core::life::{BadJournal, Refusal};
use gantry_store::StoreError;

/// Why the engine did not do what it was asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// The core said no.
    #[error("{0}")]
    Refused(Refusal),
    /// The core of another process said no; its words.
    #[error("{message}")]
    RefusedElsewhere {
        /// The stable code of the refusal.
        code: String,
        /// What it said.
        message: String,
    },
    /// The store did not do what it was asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal cannot be folded by this program.
    #[error("the journal of plan `{plan}` cannot be read: {why}")]
    Journal {
        /// The plan.
        plan: String,
        /// Why.
        why: String,
    },
    /// The driver of a plan broke: a mistake of this program.
    #[error("work on plan `{plan}` broke off: {why}")]
    Broken {
        /// The plan.
        plan: String,
        /// What broke.
        why: String,
    },
    /// Another process works on the plan.
    #[error("plan `{plan}` is being worked on by another process")]
    Driven {
        /// The plan.
        plan: String,
    },
    /// The plan came from elsewhere, and nobody here has said where it works.
    #[error("plan `{plan}` came from elsewhere, and nobody has said yet where it works here")]
    Homeless {
        /// The plan.
        plan: String,
        /// The names of the secrets that it was given there.
        secrets: Vec<String>,
    },
    /// The process that works on the plan did not answer.
    #[error("the process that works on plan `{plan}` did not answer within {waited_s} s")]
    Silent {
        /// The plan.
        plan: String,
        /// How long was waited.
        waited_s: u64,
    },
}

impl EngineError {
    pub(crate) fn journal(plan: &gantry_core::id::PlanId, bad: &BadJournal) -> Self {
        Self::Journal { plan: plan.to_string(), why: bad.to_string() }
    }

    /// Says what to do about it, as a lowercase fragment.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Refused(_) | Self::RefusedElsewhere { .. } => None,
            Self::Store(error) => error.hint(),
            Self::Journal { .. } => Some("use the program that wrote it, or a newer one".to_owned()),
            Self::Broken { plan, .. } => Some(format!("nothing is lost; go on with `gantry resume {plan}`")),
            Self::Driven { plan } => Some(format!("see what it does with `gantry watch {plan}`")),
            Self::Homeless { plan, secrets } => {
                let mut command = vec![format!("gantry resume {plan} --workspace DIR")];
                command.extend(secrets.iter().map(|name| format!("--secret {name}")));
                let command = command.join(" ");
                Some(format!("look at it with `gantry status {plan}`; if you trust it, go on with `{command}`"))
            }
            Self::Silent { .. } => Some("it was taken back and has no effect; say it again later".to_owned()),
        }
    }
}
