//! Makes plans from sentences.
//!
//! Start at `brief.rs` (what a sentence says: money, times, places, amounts, who, what must and must not be), then
//! `screen.rs` (whether it can and may be planned), `kind.rs` (what kind of project it is, and how big), `facts.rs` (all
//! of that together). `template.rs` is the graph of steps with its prompts; `offline.rs` answers them without a model,
//! out of `knowledge.rs` (what is known about a kind) and `outline.rs` (the work by that knowledge). `tools.rs` is what
//! code does in between: `weave.rs` (answers become work), `assemble.rs` (work becomes a plan), `overview.rs` (what it
//! means in time and money), `report.rs` (the report of it). `decompose.rs` breaks single tasks down, level by level.

pub mod assemble;
pub mod brief;
pub mod decompose;
pub mod facts;
pub mod intake;
pub mod kind;
pub mod knowledge;
pub mod offline;
pub mod outline;
pub mod overview;
pub mod report;
pub mod screen;
pub mod template;
pub mod tools;
pub mod commands;
pub mod weave;

mod demanded; // what a request alone asks for
mod days; // what happens on the days that were named
mod divide; // what assembling does: long work
mod settle; // and loose ends
mod trace; // what the overview says of demands
mod fill; // what knowledge and templates share
mod phrase; // what screening and telling kinds share
mod words;
