//! Whoever answers one call.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::answer::Reply;
use crate::error::CallError;
use crate::request::Request;
use crate::target::Target;

/// Answers one call: sends the request as it is, once, and gives back what came.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Asks. Ends at once when `stop` is cancelled, and the call outside with it.
    async fn call(
        &self,
        target: &Target,
        request: &Request,
        listener: &dyn Listener,
        stop: &CancellationToken,
    ) -> Result<Reply, CallError>;

    /// Hears that a reply which is on record was given to this request before, perhaps to an earlier process.
    fn remind(&self, _target: &Target, _request: &Request, _reply: &Reply) {}
}

/// Hears an answer while it comes. Must not block.
pub trait Listener: Send + Sync {
    /// The next piece.
    fn hear(&self, delta: Delta);
    /// What was heard of this answer so far does not count: it is asked again.
    fn again(&self, _why: &str) {}
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// Words.
    Text(String),
    /// Thoughts.
    Reasoning(String),
    /// A piece of the arguments of a tool that is called.
    Call {
        /// Which tool.
        name: String,
        /// The piece.
        args: String,
    },
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unheard;

impl Listener for Unheard {
    fn hear(&self, _: Delta) {}
}
