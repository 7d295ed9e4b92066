//! Rules about the order of things: numbers, times, attempts, undoing.

use gantry_core::event::{AfterUndo, Entry, Event};
use gantry_core::id::TaskId;
use gantry_core::plan::Undo;

use super::book::{Book, Stand};
use crate::violation::{Outcome, Violation};

/// Checks the next entry.
pub fn check(book: &Book, before: &Entry, entry: &Entry) -> Outcome {
    if entry.seq != before.seq + 1 {
        return Err(Violation::new("entries have no gaps", format!("{} after {}", entry.seq, before.seq)));
    }
    if entry.at < before.at {
        return Err(Violation::new("time never goes back in a journal", format!("{} after {}", entry.at, before.at)));
    }
    match &entry.event {
        Event::AttemptStarted { task, attempt, .. } => {
            let line = book.line(task)?;
            if let Some(under) = &line.under {
                let detail = format!("`{task}` starts attempt {attempt} while {} is under way", under.attempt);
                return Err(Violation::new("one attempt of a task at a time", detail));
            }
            if *attempt <= line.attempt {
                let detail = format!("`{task}` starts attempt {attempt} after {}", line.attempt);
                return Err(Violation::new("attempt numbers rise", detail));
            }
            Ok(())
        }
        Event::AttemptSucceeded { task, attempt, .. } | Event::AttemptFailed { task, attempt, .. } => {
            match &book.line(task)?.under {
                Some(under) if under.attempt == *attempt => Ok(()),
                _ => Err(Violation::new("only an attempt under way ends", format!("`{task}` attempt {attempt}"))),
            }
        }
        Event::TaskCompleted { task, .. }
        | Event::TaskFailed { task, .. }
        | Event::TaskSkipped { task, .. }
        | Event::TaskAbandoned { task, .. } => check_end(book, task),
        Event::UndoBegun { tasks, then, .. } => check_undo(book, tasks, then),
        Event::TaskUndone { task, .. } | Event::UndoStarted { task, .. } => {
            let next = book.undoing.as_ref().and_then(|(rest, _)| rest.first());
            if next == Some(task) {
                return Ok(());
            }
            Err(Violation::new("undo goes in its order", format!("`{task}`, but {next:?} is next")))
        }
        _ => Ok(()),
    }
}

/// A task ends once, and not while its attempt is under way.
fn check_end(book: &Book, task: &TaskId) -> Outcome {
    let line = book.line(task)?;
    if line.stand.is_final() {
        return Err(Violation::new("a task that is over does not end again", format!("`{task}` is {:?}", line.stand)));
    }
    if line.under.is_some() {
        return Err(Violation::new("an attempt ends before its task", format!("`{task}`")));
    }
    Ok(())
}

/// What is taken back was done, or tried and not finished, and goes backwards through what really happened.
fn check_undo(book: &Book, tasks: &[TaskId], then: &AfterUndo) -> Outcome {
    let mut last = u64::MAX;
    for task in tasks {
        let line = book.line(task)?;
        let half_done = line.stand != Stand::Completed;
        let at = line.happened_at().filter(|_| line.under.is_none());
        let Some(at) = at.filter(|_| !half_done || book.defined[task].undo != Undo::None) else {
            return Err(Violation::new("only what was done is taken back", format!("`{task}` is {:?}", line.stand)));
        };
        if at >= last {
            let detail = format!("`{task}` happened at {at}, the one before at {last}");
            return Err(Violation::new("undo goes backwards through what really happened", detail));
        }
        last = at;
    }
    let forgotten = book
        .lines
        .iter()
        .find(|(id, line)| line.happened_at().is_some() && book.defined[*id].undo != Undo::None && !tasks.contains(id));
    match forgotten {
        Some((id, line)) if *then == AfterUndo::Abandon => {
            let detail = format!("`{id}` is {:?} and not among {tasks:?}", line.stand);
            Err(Violation::new("giving up takes back everything that was done", detail))
        }
        _ => Ok(()),
    }
}
