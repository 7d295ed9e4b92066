//! Makes plans from sentences.
//!
//! Start at `brief.rs` (what a sentence says: money, times, places, amounts, who, what must and must not be), then
//! `screen.rs` (whether it can and may be planned), `kind.rs` (what kind of project it is, and how big), `knowledge.rs`
//! (what is known about that kind), `outline.rs` (the work, broken down for this request) `assemble.rs` (the
//! plan) and `draft.rs` (all of it in a row).

pub mod assemble;
pub mod brief;
pub mod draft;
pub mod kind;
pub mod knowledge;
pub mod outline;
pub mod screen;
pub mod tools;

mod phrase; // what screening and telling kinds share
mod words;
