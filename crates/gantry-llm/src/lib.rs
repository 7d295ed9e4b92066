//! One typed way to ask a model.
//!
//! A [`Request`] names a role; the configuration maps it to a chain of [`Target`]s; the gateway asks one after the
//! other until an answer holds, and gives back an [`Answer`] that says who really answered and what it took. Words of
//! the outside (fields of providers, types of client libraries) stay inside the adapters.
//!
//! Invariant: an answer with a schema fits that schema, or it is a typed failure; no value is altered silently.
//! Invariant: a key of a provider is in no event, message, record or error ([`Secret`]).

pub mod request; // in reading order
pub mod answer;
pub mod error;
pub mod target;
pub mod provider;
pub mod record;
pub mod structured;
mod korean;
pub mod offline;
pub mod config;
pub mod prompts;
pub mod ping;
pub mod wire;
pub mod gateway;

pub use answer::{Answer, Finish, Repair, Reply, Tokens, ToolCall};
pub use error::{AskError, CallError, CallFault};
pub use gateway::{Allowance, Asking, Chains, Gateway, Habits, Team};
pub use provider::{Delta, Listener, Provider, Unheard};
pub use record::{Begun, Call, Counters, Forgetful, Record, RecordError, Rung};
pub use request::{Message, PromptUse, Request, Settings, Shape, ToolSpec};
pub use structured::{Checker, Reading, Rules, feedback};
pub use target::{Limits, Price, Protocol, Secret, Target};
pub use wire::{Wire, is_effort};
