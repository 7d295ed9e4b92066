//! The store in one file: what every store does, and what happens to it when the machine does its worst.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod kit; // in reading order
mod child;
mod group_commit;
mod kill;
mod disk;
mod sync;
mod torn_log;
mod damage;
mod opening;
mod processes;
mod backup;
mod views;
mod equal;

mod conformance {
    gantry_store::conformance!(gantry_store_sqlite::SqliteStore::temporary().unwrap());
}
