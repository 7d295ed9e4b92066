//! What the engine promises, with a store in memory, scripted runners and simulated time.

#![allow(clippy::unwrap_used, missing_docs)] // a test may

mod kit;

mod crashes;
mod trouble;
mod driving;
mod keeping;
mod limits;
mod models;
mod nested;
mod people;
mod replaying;
mod undoing;
