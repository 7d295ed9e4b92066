//! What a report promises: it holds together or says where it does not, what others wrote stays text, and the same plan gives
//! the same bytes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod case;
mod contradictions;
mod form;
mod hostile;
