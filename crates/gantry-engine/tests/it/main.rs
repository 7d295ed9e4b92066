//! What the engine promises, with a store in memory, scripted runners and simulated time.

#![allow(clippy::unwrap_used, missing_docs)] // a test may

mod kit;

mod crashes;
mod driving;
mod keeping;
mod people;
mod replaying;
mod undoing;
