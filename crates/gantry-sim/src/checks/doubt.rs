//! What may have happened is not done again before someone has found out.

use std::collections::BTreeMap;

use gantry_core::event::{Entry, Event};
use gantry_core::id::{AttemptNo, TaskId};
use gantry_core::plan::Idempotency;
use gantry_core::policy::FailureClass;

use super::book::Book;
use crate::violation::{Outcome, Violation};
use crate::world::Deed;

/// Checks the next entry.
pub fn check(book: &Book, entry: &Entry) -> Outcome {
    let Event::AttemptStarted { task, key, .. } = &entry.event else { return Ok(()) };
    let unsafe_again = book.task(task)?.repeatable() == Idempotency::Unsafe;
    if unsafe_again && book.line(task)?.doubt.as_ref() == Some(key) {
        let detail = format!("`{task}` was lost and starts again, though nobody found out whether it happened");
        return Err(Violation::new("what may have happened is not repeated blindly", detail));
    }
    Ok(())
}

/// Nothing unsafe really happens twice under one key unless something in the journal says so.
pub fn check_ledger(journal: &[Entry], ledger: &[Deed]) -> Outcome {
    let mut deeds: BTreeMap<(&TaskId, &str), Vec<AttemptNo>> = BTreeMap::new();
    for deed in ledger.iter().filter(|deed| deed.what != "undo") {
        deeds.entry((&deed.task, &deed.key)).or_default().push(deed.attempt);
    }
    for ((task, _), mut attempts) in deeds.into_iter().filter(|(_, attempts)| attempts.len() > 1) {
        attempts.sort_unstable();
        for pair in attempts.windows(2) {
            if pair[0] == pair[1] {
                let detail = format!("attempt {} of `{task}` happened twice", pair[0]);
                return Err(Violation::new("an attempt happens once", detail));
            }
            if !is_excused(journal, task, pair[0], pair[1])? {
                let detail = format!("`{task}` happened in attempts {} and {}", pair[0], pair[1]);
                return Err(Violation::new("nothing unsafe happens twice under one key", detail));
            }
        }
    }
    Ok(())
}

/// Tells whether something between two attempts allows the second, though the first may have happened.
fn is_excused(journal: &[Entry], id: &TaskId, first: AttemptNo, second: AttemptNo) -> Outcome<bool> {
    let Some(Event::PlanCreated { plan, .. }) = journal.first().map(|entry| &entry.event) else { return Ok(false) };
    let mut book = Book::new(plan);
    let mut between = false;
    for entry in &journal[1..] {
        match &entry.event {
            Event::AttemptStarted { task, attempt, .. } if task == id && *attempt == first => {
                between = true;
                if book.task(id)?.repeatable() != Idempotency::Unsafe {
                    return Ok(true);
                }
            }
            Event::AttemptStarted { task, attempt, .. } if task == id && *attempt == second => return Ok(false),
            Event::PersonAnswered { task, .. }
            | Event::TaskReopened { task, .. }
            | Event::TaskUndone { task, .. }
            | Event::AttemptSucceeded { task, .. }
            | Event::Verified { task, happened: Some(_), .. }
                if between && task == id =>
            {
                return Ok(true);
            }
            // A runner that says how it failed, or a timeout of a task that asks for retries.
            Event::AttemptFailed { task, failure, .. }
                if between && task == id && !matches!(failure.class, FailureClass::Lost | FailureClass::Cancelled) =>
            {
                return Ok(true);
            }
            _ => {}
        }
        book.apply(entry)?;
    }
    Ok(false)
}
