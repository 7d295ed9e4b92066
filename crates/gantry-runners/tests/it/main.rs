//! What the runners promise, with real processes and folders.

#![allow(clippy::unwrap_used, missing_docs)] // tests may

mod world; // in reading order
mod shell;
mod streams;
mod sandbox;
mod secrets;
mod files;
mod http;
mod git;
mod sql;
mod named;
mod checkpoint;
mod pipeline;
mod taking_back;
mod minds;
mod models;
mod agents;
mod following;
mod mcp;
mod approvals;
