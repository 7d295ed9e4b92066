//! What people see in a browser: a real one, on real pages.

#![allow(clippy::unwrap_used)] // a test may

#[path = "commands/kit.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod kit; // in reading order
#[path = "browser/report.rs"]
mod report;
#[path = "serve/server.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod server;
#[path = "browser/site.rs"]
mod site;
#[path = "browser/changes.rs"]
mod changes;
#[path = "browser/graph.rs"]
mod graph;
#[path = "browser/writing.rs"]
mod writing;
#[path = "browser/pages.rs"]
mod pages;
