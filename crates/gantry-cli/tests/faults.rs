//! Faults that have to be survived, with real processes: crashes, signals, races, disks, limits, clocks.
//!
//! The judge is always outside: a ledger that tasks append to, and an audit of the record afterwards.

#![allow(clippy::unwrap_used, clippy::disallowed_macros)] // a test may

#[path = "faults/audit.rs"]
mod audit; // in reading order
#[path = "faults/kit.rs"]
mod kit;
#[path = "faults/doubt.rs"]
mod doubt;
#[path = "faults/crashes.rs"]
mod crashes;
#[path = "faults/signals.rs"]
mod signals;
#[path = "faults/racing.rs"]
mod racing;
#[path = "faults/disk.rs"]
mod disk;
#[path = "faults/limits.rs"]
mod limits;
#[path = "faults/clock.rs"]
mod clock;
