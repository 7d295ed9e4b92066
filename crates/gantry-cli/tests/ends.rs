//! From one end to the other: whole plans about real projects, every example, and hostile surroundings, all through the
//! program itself.

#![allow(clippy::unwrap_used)] // a test may

#[path = "ends/bench.rs"]
mod bench;
#[path = "ends/examples.rs"]
mod examples;
#[path = "ends/hostile.rs"]
mod hostile;
#[path = "ends/outside.rs"]
mod outside;
#[path = "ends/project.rs"]
mod project;
#[path = "ends/secrets.rs"]
mod secrets;
