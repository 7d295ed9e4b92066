//! What the engine gives to a runner: a place to keep things, someone who watches, a diary of intents.

use std::sync::Arc;

use async_trait::async_trait;
use gantry_core::effect::{ArtifactRef, Failure};
use gantry_core::id::{AttemptNo, TaskId};
use gantry_core::policy::{FailureClass, Usage};
use gantry_core::time::Duration;
use gantry_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::mcp::Sessions;

/// Keeps bytes by their content.
#[async_trait]
pub trait Keep: Send + Sync {
    /// Keeps these bytes durably and returns their hash.
    async fn put(&self, bytes: Vec<u8>) -> Result<String, KeepError>;
    /// Returns the bytes with this hash.
    async fn get(&self, hash: &str) -> Result<Vec<u8>, KeepError>;
}

/// Sees what happens while an attempt runs. Must not block: it is called between two reads of a pipe.
pub trait Watch: Send + Sync {
    /// A piece of output, as it comes.
    fn output(&self, chunk: Chunk);
    /// The runner is alive, and hands this in already.
    fn alive(&self, note: String, artifacts: Vec<ArtifactRef>);
}

/// Writes down how to take back what is about to be done.
#[async_trait]
pub trait Intents: Send + Sync {
    /// Returns once the record is durable. An attempt may intend several times; each record counts, and the
    /// last is taken back first.
    async fn intend(&self, undo: Value) -> Result<(), KeepError>;
    /// Replaces the last record of this attempt: what there is to take back is known better now.
    async fn intend_instead(&self, undo: Value) -> Result<(), KeepError>;
}

/// Writes down what is done outside, and remembers it.
///
/// A call is on record before it is made: one without an answer may have happened, and where there is none, nothing
/// was begun. (A question to a model does no harm when it is asked twice: it is written down while it is on its way.) An
/// attempt that is taken up by another process makes the same calls again, and gets the answers that there are.
#[async_trait]
pub trait Calls: Send + Sync {
    /// What is known of the call with this key, made by anyone in this plan.
    async fn recall(&self, kind: &str, key: &str) -> Result<Option<Recalled>, KeepError>;
    /// Returns, once that is durable, what the call about to be made is called.
    async fn begin(&self, kind: &str, key: &str, request: Value) -> Result<CallNo, KeepError>;
    /// Takes the answer of a call that nobody asks for again; it is durable when the attempt's end is.
    fn answered(&self, call: CallNo, answer: Value);
    /// Returns once the answer is durable.
    async fn end(&self, call: CallNo, answer: Value, usage: Usage) -> Result<(), KeepError>;
    /// Hands in the answer to the last call of an attempt: the next process knows it at once, and it is on disk with the
    /// end of the attempt.
    async fn hand_in(&self, call: CallNo, answer: Value, usage: Usage) -> Result<(), KeepError> {
        self.end(call, answer, usage).await
    }
    /// Tells whether nothing that this attempt did is on record from before.
    async fn is_fresh(&self) -> Result<bool, KeepError> {
        Ok(false)
    }
    /// Writes down a call that was made and answered; returns once that is durable.
    async fn note(&self, call: Noted) -> Result<(), KeepError>;
    /// What calls of this attempt have used, by other processes before this one as well.
    async fn used(&self) -> Result<Usage, KeepError>;
}

/// Which call of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallNo(pub u32);

/// A call that was made and answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Noted {
    /// What was called.
    pub kind: &'static str,
    /// The key of the call.
    pub key: String,
    /// What was asked.
    pub request: Value,
    /// What came of it.
    pub answer: Value,
    /// What it used.
    pub usage: Usage,
    /// When it began.
    pub started_at: Timestamp,
}

/// A call that was made before.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// By which task.
    pub task: TaskId,
    /// In which attempt at it.
    pub attempt: AttemptNo,
    /// What came of it; none means that nobody knows.
    pub answer: Option<Value>,
}

/// Remembers no call, for whoever makes none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forgetful;

#[async_trait]
impl Calls for Forgetful {
    async fn recall(&self, _: &str, _: &str) -> Result<Option<Recalled>, KeepError> {
        Ok(None)
    }
    async fn begin(&self, _: &str, _: &str, _: Value) -> Result<CallNo, KeepError> {
        Ok(CallNo(0))
    }
    fn answered(&self, _: CallNo, _: Value) {}
    async fn end(&self, _: CallNo, _: Value, _: Usage) -> Result<(), KeepError> {
        Ok(())
    }
    async fn note(&self, _: Noted) -> Result<(), KeepError> {
        Ok(())
    }
    async fn used(&self) -> Result<Usage, KeepError> {
        Ok(Usage::default())
    }
}

/// Everything that a runner may use of the engine, for one attempt.
#[derive(Clone)]
pub struct Ports {
    /// Keeps bytes.
    pub keep: Arc<dyn Keep>,
    /// Watches.
    pub watch: Arc<dyn Watch>,
    /// Writes down intents.
    pub intents: Arc<dyn Intents>,
    /// Writes down what is done outside.
    pub calls: Arc<dyn Calls>,
    /// Servers that are spoken to until the attempt is over.
    pub sessions: Sessions,
}

impl Ports {
    /// Keeps bytes under a name.
    pub async fn keep_as(&self, name: &str, bytes: Vec<u8>) -> Result<ArtifactRef, KeepError> {
        let size = bytes.len() as u64;
        let hash = self.keep.put(bytes).await?;
        Ok(ArtifactRef { name: name.to_owned(), hash, bytes: size })
    }

    /// Writes down what is about to be done outside; only then may it be done.
    pub async fn begin(&self, kind: &str, request: Value) -> Result<CallNo, KeepError> {
        self.calls.begin(kind, &key_of(&request), request).await
    }

    /// Does something that may take long, and says as often as it is wanted that the attempt is at work.
    pub async fn beating<T>(&self, every: Option<Duration>, doing: impl Future<Output = T>) -> T {
        let beats = async {
            let Some(every) = every else { return std::future::pending().await };
            let every = std::time::Duration::from_millis(every.as_ms().max(1));
            loop {
                tokio::time::sleep(every).await;
                self.watch.alive(String::new(), Vec::new());
            }
        };
        tokio::select! {
            done = doing => done,
            never = beats => never,
        }
    }

    /// What is known of the call with this request, made by anyone in this plan.
    pub async fn recall(&self, kind: &str, request: &Value) -> Result<Option<Recalled>, KeepError> {
        self.calls.recall(kind, &key_of(request)).await
    }

    /// Makes the way back durable; only then may the mutation start.
    pub async fn intend(&self, undo: Value) -> Result<(), KeepError> {
        self.intents.intend(undo).await
    }

    /// Replaces the last way back with a better one.
    pub async fn intend_instead(&self, undo: Value) -> Result<(), KeepError> {
        self.intents.intend_instead(undo).await
    }
}

/// The key of a call that depends on nothing but its request.
fn key_of(request: &Value) -> String {
    blake3::hash(request.to_string().as_bytes()).to_hex().to_string()
}

/// Why something could not be kept or found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeepError {
    /// Nothing with this hash is kept.
    #[error("nothing is kept under `{hash}`")]
    Unknown {
        /// The hash.
        hash: String,
    },
    /// The store did not answer as it should.
    #[error("the store failed: {why}")]
    Store {
        /// What it said.
        why: String,
    },
}

impl From<KeepError> for Failure {
    /// A store that fails may work the next time; what it does not know will not appear by itself.
    fn from(error: KeepError) -> Self {
        let class = match &error {
            KeepError::Unknown { .. } => FailureClass::Logic,
            KeepError::Store { .. } => FailureClass::Transient,
        };
        Failure::new(class, error.to_string())
    }
}

/// Where a piece of output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// What a model passes to a tool that it calls, piece by piece, as JSON.
    Call,
}

impl Stream {
    /// What the artifact with all of it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Call => "call",
        }
    }
}

/// A piece of output: whole characters, with what is no text made visible as `\xNN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// From where.
    pub stream: Stream,
    /// What.
    pub text: String,
}
