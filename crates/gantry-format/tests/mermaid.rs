//! Mermaid flowcharts: what is read and refused, that real charts read the way mermaid itself reads
//! them, and what they become as plans.

#![allow(clippy::disallowed_methods, reason = "tests read files")]

#[path = "mermaid/exporting.rs"]
mod exporting;
#[path = "mermaid/importing.rs"]
mod importing;
#[path = "mermaid/kit.rs"]
mod kit;
#[path = "mermaid/problems.rs"]
mod problems;
#[path = "mermaid/reading.rs"]
mod reading;
#[path = "mermaid/reference.rs"]
mod reference;
#[path = "mermaid/round_trip.rs"]
mod round_trip;
#[path = "mermaid/subgraphs.rs"]
mod subgraphs;
