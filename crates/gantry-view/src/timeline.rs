//! What was said about a plan as a whole, in words.

pub use gantry_engine::{Span, Timeline};

use crate::words::said;

/// What one must know about the plan as a whole as it stands, the newest last.
pub fn notes(timeline: &Timeline) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for line in timeline.notes.iter().map(|event| said(event).line()) {
        notes.retain(|known| *known != line);
        notes.push(line);
    }
    notes
}
