//! Every call is written down before its answer is used, and an answer that is written down is not asked for again.

use async_trait::async_trait;
use gantry_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::error::CallError;
use crate::request::Request;

/// Keeps calls, for one task of one plan.
#[async_trait]
pub trait Record: Send + Sync {
    /// The answer that was recorded under this key before, anywhere in the plan.
    async fn recall(&self, key: &str) -> Result<Option<Answer>, RecordError>;
    /// Returns once the call is durable.
    async fn note(&self, call: Call) -> Result<(), RecordError>;
}

/// One request and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The key of the request.
    pub key: String,
    /// What was asked.
    pub request: Request,
    /// The answer, or each call that came to nothing.
    pub end: Result<Answer, Vec<CallError>>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
}

/// Why the record could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(pub String);

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forgetful;

#[async_trait]
impl Record for Forgetful {
    async fn recall(&self, _: &str) -> Result<Option<Answer>, RecordError> {
        Ok(None)
    }
    async fn note(&self, _: Call) -> Result<(), RecordError> {
        Ok(())
    }
}
