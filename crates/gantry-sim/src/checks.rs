//! Checkers that read a journal and the ledger, and share no code with the decider.
//!
//! A [`Book`] keeps its own account of the plan, entry by entry; each rule looks at the next entry
//! with the book as it stands before it. The rules are written from the documentation of the model,
//! so that a mistake in the decider is not repeated here.

mod book; // in reading order
mod doubt;
mod ending;
mod fresh;
mod graph;
mod limits;
mod needs;
mod order;
pub mod turn;
pub mod whole;

use gantry_core::event::{Entry, Event};
use gantry_core::life::Life;

use crate::violation::{Outcome, Violation};
use crate::world::{Deed, Record};

pub use book::{Book, Line, Phase, Stand, Under};
pub use graph::Graph;

/// Checks a whole run: its story is one and the same however it is told, and breaks no rule.
pub fn check_whole(record: &Record, live: &Life) -> Outcome {
    whole::check(record, live)?;
    check(&record.journal, &record.ledger)
}

/// Checks a whole journal against the rules.
pub fn check(journal: &[Entry], ledger: &[Deed]) -> Outcome {
    let Some((first, rest)) = journal.split_first() else {
        return Err(Violation::new("a journal begins with a plan", "it is empty"));
    };
    let Event::PlanCreated { plan, .. } = &first.event else {
        return Err(Violation::new("a journal begins with a plan", format!("{first:?}")));
    };
    let mut book = Book::new(plan);
    let mut before = first;
    for entry in rest {
        let verdict = order::check(&book, before, entry)
            .and_then(|()| needs::check(&book, entry))
            .and_then(|()| limits::check(&book, entry))
            .and_then(|()| doubt::check(&book, entry))
            .and_then(|()| ending::check(&book, entry))
            .and_then(|()| fresh::check(&book, entry))
            .and_then(|()| book.apply(entry));
        verdict.map_err(|broken| Violation::new(broken.rule, format!("entry {}: {}", entry.seq, broken.detail)))?;
        before = entry;
    }
    doubt::check_ledger(journal, ledger)
}
