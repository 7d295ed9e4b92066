//! What the crate promises, as sentences.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod kit; // in reading order
mod network;
mod calendars;
mod people;
mod optimiser;
mod files;
mod hostile;
mod infeasible;
mod progress;
mod health;
mod money;
mod chances;
mod changes;
mod problems;
mod properties;
mod staffed;
mod world; // data that others published
mod workflows;
mod planexe;
