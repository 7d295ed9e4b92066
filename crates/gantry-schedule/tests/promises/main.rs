//! What the crate promises, as sentences.

mod kit; // in reading order
mod network;
mod calendars;
mod people;
mod infeasible;
mod progress;
