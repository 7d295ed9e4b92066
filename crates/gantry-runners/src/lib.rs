//! Carries out what a plan asks for: processes, files, servers, repositories, databases, checkpoints.
//!
//! Each capability is a [`Runner`]: it guards (says no before anything starts), previews (shows what would
//! change and touches nothing), runs, and takes back. What it keeps goes through ports that the engine gives.
//!
//! Invariant: nothing that a runner hands to a port holds the value of a secret ([`secrets`]).
//! Invariant: a mutation starts only after the record that takes it back is durable ([`Ports::intend`]).
//! Invariant: no process outlives its attempt, even when this process is killed ([`process`]).

pub mod ports; // in reading order
pub mod work;
pub mod runner;
pub mod registry;
pub mod secrets;
mod redacting;
mod args;
pub mod policy;
pub mod process;
pub mod shell;
pub mod files;
pub mod http;
pub mod git;
pub mod sql;
pub mod checkpoint;
pub mod mcp;
pub mod observe;
pub mod pipeline;
pub mod models;
pub mod model;
pub mod agent;
pub mod approval;
pub mod judge;
mod named;
mod simple;

mod text;

pub use checkpoint::{Checkpoints, Manifest};
pub use files::{Files, Foreseen};
pub use judge::judge;
pub use mcp::Mcp;
pub use models::{Asker, MODEL, Models, Notes, Outlook, Question, SetUp, Talk};
pub use observe::observe;
pub use ports::{CallNo, Calls, Chunk, Forgetful, Intents, Keep, KeepError, Noted, Ports, Recalled, Stream, Watch};
pub use process::{GuardProgram, guard_main};
pub use registry::Runners;
pub use runner::{Description, Ended, Happened, Preview, Runner};
pub use secrets::Secrets;
pub use shell::Shell;
pub use simple::Noop;
pub use work::{Brief, Limits, Paying, Place, Work};
