//! Why a store did not do what it was asked, sorted by what happens next.

use gantry_core::id::PlanId;

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Someone else appended first: load, decide again, append again.
    #[error("the journal has {length} entries by now: someone else appended first")]
    Conflict {
        /// How long the journal is.
        length: u64,
    },
    /// There is no such thing.
    #[error("there is no {what}")]
    NotFound {
        /// What was looked for.
        what: String,
        /// Things that do exist and may be meant.
        candidates: Vec<String>,
    },
    /// A reference fits more than one plan.
    #[error("`{reference}` fits more than one plan: {}", .candidates.join(", "))]
    Ambiguous {
        /// What was looked for.
        reference: String,
        /// The plans that it fits, as many as are worth showing.
        candidates: Vec<String>,
    },
    /// Another process holds the record for longer than we wait.
    #[error("the record is busy: {what}")]
    Busy {
        /// What was going on.
        what: String,
    },
    /// There is no room left.
    #[error("there is no room left: {what}")]
    Full {
        /// What could not be written.
        what: String,
    },
    /// The record can be read and not written.
    #[error("the record is read-only: {what}")]
    ReadOnly {
        /// Why.
        what: String,
    },
    /// The file is not where it was.
    #[error("the record is gone: {what}")]
    Gone {
        /// What is not there any more.
        what: String,
    },
    /// What is stored is not what was written.
    #[error("the record is damaged: {what}")]
    Corrupt {
        /// What is damaged, by name.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// This is not a record of Gantry.
    #[error("this is not a record of Gantry: {what}")]
    Foreign {
        /// What it is.
        what: String,
    },
    /// A newer program wrote the record.
    #[error("the record has schema {found}, and this program knows schemas up to {known}")]
    NewerSchema {
        /// The schema of the record.
        found: u32,
        /// The newest schema that this program knows.
        known: u32,
    },
    /// The same request was carried out before.
    #[error("this request was carried out before: plan `{plan}`")]
    AlreadyDone {
        /// The plan that it was about.
        plan: PlanId,
    },
    /// A key for one request was used for another one.
    #[error("the key `{key}` was used for another request before")]
    KeyReused {
        /// The key.
        key: String,
    },
    /// Something is larger than the store takes.
    #[error("{what} has {bytes} bytes, and at most {bytes_max} are kept")]
    TooLarge {
        /// What it is.
        what: String,
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        bytes_max: u64,
    },
    /// The request contradicts itself or the record.
    #[error("the request makes no sense: {what}")]
    Invalid {
        /// In which way.
        what: String,
    },
    /// The plan is pinned, so it is not removed.
    #[error("plan `{plan}` is pinned")]
    Pinned {
        /// The plan.
        plan: PlanId,
    },
    /// The machine failed.
    #[error("{what}")]
    Io {
        /// What was tried and how it failed.
        what: String,
    },
}

impl StoreError {
    /// Makes the error for something that does not exist, with nothing to suggest.
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::NotFound { what: what.into(), candidates: Vec::new() }
    }

    /// Makes the error for something damaged.
    pub fn corrupt(what: impl Into<String>) -> Self {
        let hint = "do not write to this record; restore a backup, or run `gantry audit` to see what is still sound";
        Self::Corrupt { what: what.into(), hint: hint.to_owned() }
    }

    /// Tells whether the same request can succeed later without anyone changing it.
    ///
    /// A conflict is not transient: the same append fails again, a newly decided one may not.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Busy { .. } | Self::Full { .. } | Self::Io { .. } => true,
            Self::Conflict { .. }
            | Self::NotFound { .. }
            | Self::Ambiguous { .. }
            | Self::ReadOnly { .. }
            | Self::Gone { .. }
            | Self::Corrupt { .. }
            | Self::Foreign { .. }
            | Self::NewerSchema { .. }
            | Self::AlreadyDone { .. }
            | Self::KeyReused { .. }
            | Self::TooLarge { .. }
            | Self::Invalid { .. }
            | Self::Pinned { .. } => false,
        }
    }

    /// Says what to do about it, as a lowercase fragment.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Conflict { .. } => "load the plan and decide again",
            Self::NotFound { candidates, .. } if candidates.is_empty() => "list what exists with `gantry list`",
            Self::NotFound { candidates, .. } => return Some(format!("did you mean {}?", candidates.join(", "))),
            Self::Ambiguous { .. } => "write more of the id, or the plan's number",
            Self::Busy { .. } => "try again; if it stays busy, see which process holds the file",
            Self::Full { .. } => "free some room on the disk; nothing that was acknowledged is lost",
            Self::ReadOnly { .. } => "check the permissions of the file and of its folder",
            Self::Gone { .. } => "put the file back where it was; nothing that was acknowledged is lost",
            Self::Corrupt { hint, .. } => return Some(hint.clone()),
            Self::Foreign { .. } => "name another file: this one was left as it is",
            Self::NewerSchema { .. } => "use the newer program; the record was left as it is",
            Self::AlreadyDone { .. } => "look at the plan that the first request made",
            Self::KeyReused { .. } => "choose a new key for a new request",
            Self::TooLarge { .. } => "split it, or keep it outside and record where it is",
            Self::Invalid { .. } => return None,
            Self::Pinned { .. } => "unpin it first",
            Self::Io { .. } => "check the disk; nothing that was acknowledged is lost",
        };
        Some(hint.to_owned())
    }
}
