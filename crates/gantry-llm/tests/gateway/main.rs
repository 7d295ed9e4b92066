//! From a question to an answer that holds, or to a failure with a type.

#![allow(missing_docs, clippy::unwrap_used)] // a test may

#[path = "../wire/kit.rs"]
#[allow(dead_code)]
mod kit;
mod world;
mod following;
mod killed;
mod ladder;
mod limits;
mod long;
mod money;
mod network;
mod record;
mod retries;
mod share;
mod team;
