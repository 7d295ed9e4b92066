//! What only a terminal shows: the live view, keys, and signals that a terminal sends.

#![allow(clippy::unwrap_used)] // a test may

#[path = "terminal/kit.rs"]
mod kit; // in reading order
#[path = "terminal/running.rs"]
mod running;
#[path = "terminal/watching.rs"]
mod watching;
#[path = "terminal/chatting.rs"]
mod chatting;
