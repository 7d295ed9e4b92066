//! What `gantry-format` promises, one scenario per test.

#![allow(clippy::disallowed_methods, reason = "tests read files")]
#![allow(clippy::format_collect, clippy::format_push_string, reason = "tests are read more often than run")]

mod kit; // in reading order

mod canonical;
mod codes;
mod dsl;
mod examples;
mod generator;
mod hostile;
mod refusals;
mod report;
mod roundtrip;
mod schedule;
mod spellings;
mod suites;
mod values;
