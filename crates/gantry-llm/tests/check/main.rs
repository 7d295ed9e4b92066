//! Answers are checked, and the offline model makes answers that pass.

#![allow(clippy::unwrap_used, clippy::format_push_string)] // a test may

mod corpus; // in reading order
mod notation;
mod limits;
mod faults;
mod strict;
mod offline;
