//! Makes plans from sentences.
//!
//! Start at `brief.rs` (what a sentence says: money, times, places, amounts, who, what must and must not be), then
//! `screen.rs` (whether it can and may be planned).

pub mod brief;
