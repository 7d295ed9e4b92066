//! Honest endings: a plan is completed only when everything required is, and says what is not as asked.

use gantry_core::event::{Entry, Event};
use gantry_core::id::TaskId;

use super::book::{Book, Phase, Stand};
use crate::violation::{Outcome, Violation};

/// Checks the next entry.
pub fn check(book: &Book, entry: &Entry) -> Outcome {
    match &entry.event {
        Event::PlanCompleted { degraded, .. } => {
            for (id, line) in &book.lines {
                let optional = book.task(id)?.optional;
                let (listed, repeated) = (degraded.contains(id), is_repeated(book, id));
                let fine = match line.stand {
                    Stand::Completed => !line.suspect && (line.fallback && !repeated) == listed,
                    Stand::Skipped => true,
                    Stand::Failed => (optional || line.handled || is_covered(book, id)) && listed != repeated,
                    Stand::Abandoned => {
                        (optional || repeated || line.rolled_back || is_excused(book, id)) && listed != repeated
                    }
                    Stand::Pending | Stand::Blocked | Stand::Open | Stand::Running | Stand::Waiting => false,
                };
                if !fine {
                    let detail = format!("`{id}` is {:?}, handled {}, listed {listed}", line.stand, line.handled);
                    return Err(Violation::new("a completed plan has done everything it had to", detail));
                }
            }
            over(book)
        }
        Event::PlanFailed { causes } => {
            if causes.iter().any(|cause| cause.contains("can never start")) {
                let stuck: Vec<_> = book.lines.iter().filter(|(_, line)| !line.stand.is_final()).collect();
                return Err(Violation::new(
                    "every task of a valid plan can start or is left out",
                    format!("{stuck:?}"),
                ));
            }
            over(book)
        }
        // A plan that failed or was never started can still be given up.
        Event::PlanAbandoned { .. } => Ok(()),
        _ => Ok(()),
    }
}

/// Tells whether a later round did this task, or something around it, once more.
pub fn is_repeated(book: &Book, id: &TaskId) -> bool {
    let round = |id: &TaskId| {
        let round = book.defined.get(id).and_then(|task| task.round.as_ref());
        round.map_or_else(|| (id.clone(), 1), |round| (round.of.clone(), round.number))
    };
    std::iter::once(id.clone()).chain(book.ancestors(id)).any(|one| {
        let (of, number) = round(&one);
        book.defined.keys().map(round).any(|(other, later)| other == of && later > number)
    })
}

/// Tells whether something around a failed task takes care of its failure.
fn is_covered(book: &Book, id: &TaskId) -> bool {
    book.ancestors(id).iter().any(|above| {
        let (line, task) = (book.lines.get(above), book.defined.get(above));
        line.zip(task).is_some_and(|(line, task)| match line.stand {
            Stand::Completed => line.fallback || line.stated,
            Stand::Failed => line.handled || task.optional,
            Stand::Skipped | Stand::Abandoned => true,
            Stand::Pending | Stand::Blocked | Stand::Open | Stand::Running | Stand::Waiting => false,
        })
    })
}

/// Tells whether there is a reason that stands for giving a task up: the end of a timebox, an answer instead of what
/// contains it, or a failure that is taken care of and with which it was taken back.
fn is_excused(book: &Book, id: &TaskId) -> bool {
    let around = book.ancestors(id);
    let over_without_it = around.iter().any(|above| {
        let (line, task) = (book.lines.get(above), book.defined.get(above));
        line.zip(task).is_some_and(|(line, task)| match line.stand {
            Stand::Completed => line.fallback || line.stated || task.timebox.is_some() || task.budget.time.is_some(),
            Stand::Failed => line.handled || task.optional,
            Stand::Skipped | Stand::Abandoned => true,
            Stand::Pending | Stand::Blocked | Stand::Open | Stand::Running | Stand::Waiting => false,
        })
    });
    let failed_beside = book.lines.iter().any(|(other, line)| {
        let parent = book.defined.get(other).and_then(|task| task.parent.as_ref());
        line.stand == Stand::Failed && parent.is_none_or(|parent| around.contains(parent))
    });
    over_without_it || failed_beside
}

/// A plan ends once, with nothing under way.
fn over(book: &Book) -> Outcome {
    if book.phase == Phase::Ended {
        return Err(Violation::new("a plan that is over does not end again", String::new()));
    }
    match book.lines.iter().find(|(_, line)| line.under.is_some()) {
        Some((id, _)) => Err(Violation::new("a plan ends with nothing under way", format!("`{id}` runs"))),
        None => Ok(()),
    }
}
