//! Nothing starts before what it needs, outside what contains it, behind an undecided gate, or when it is over.

use gantry_core::event::{AfterUndo, Asked, Entry, Event};
use gantry_core::id::TaskId;
use gantry_core::plan::Action;

use super::book::{Book, Phase, Stand};
use crate::violation::{Outcome, Violation};

/// Checks the next entry.
pub fn check(book: &Book, entry: &Entry) -> Outcome {
    match &entry.event {
        Event::AttemptStarted { task, .. }
        | Event::GateOpened { task, .. }
        | Event::PersonAsked { task, what: Asked::Answer | Asked::Work, .. }
        | Event::WaitBegun { task, .. }
        | Event::UndoBegun { then: AfterUndo::CompleteTask(task), .. } => {
            may_go_on(book, task)?;
            may_start(book, task)
        }
        Event::TaskOpened { task, .. } => {
            if book.phase == Phase::Created || book.phase == Phase::Ended {
                return Err(Violation::new("nothing starts unless the plan runs", format!("`{task}` opens")));
            }
            // The end of a timebox opens what is open once more, without an end.
            if book.line(task)?.stand == Stand::Open { Ok(()) } else { may_start(book, task) }
        }
        // What the core finishes by itself starts and ends in one entry.
        Event::TaskCompleted { task, .. } if book.line(task)?.stand == Stand::Pending => may_start(book, task),
        _ => Ok(()),
    }
}

fn may_go_on(book: &Book, task: &TaskId) -> Outcome {
    let why_not = if book.phase != Phase::Running {
        "the plan does not run"
    } else if book.tripped {
        "a budget is used up"
    } else if book.undoing.is_some() {
        "things are being taken back"
    } else {
        return Ok(());
    };
    Err(Violation::new("nothing starts unless the plan runs", format!("`{task}` starts, but {why_not}")))
}

fn may_start(book: &Book, task: &TaskId) -> Outcome {
    let line = book.line(task)?;
    let children = book.graph.children.get(task).map_or(&[][..], Vec::as_slice);
    let composite_done = line.stand == Stand::Open
        && children.iter().all(|child| book.lines.get(child).is_some_and(|line| line.stand.is_final()));
    if line.stand != Stand::Pending && !composite_done {
        let detail = format!("`{task}` starts, but it is {:?}", line.stand);
        return Err(Violation::new("what is over or under way does not start", detail));
    }
    needs_are_met(book, task, composite_done)?;
    for above in book.ancestors(task) {
        let stand = book.line(&above)?.stand;
        if stand != Stand::Open {
            let detail = format!("`{task}` starts, but `{above}` around it is {stand:?}");
            return Err(Violation::new("nothing starts outside an open composite", detail));
        }
    }
    Ok(())
}

/// What was there when a composite was opened, and was taken back since, does not keep its own action from going on.
fn needs_are_met(book: &Book, task: &TaskId, was_opened: bool) -> Outcome {
    let broken = |detail: String| Err(Violation::new("nothing starts before what it needs", detail));
    let mut ran = 0;
    let mut waits = 0;
    for need in book.graph.waits.get(task).into_iter().flatten() {
        let line = book.line(need)?;
        let definition = book.task(need)?;
        waits += 1;
        match line.stand {
            Stand::Completed if line.suspect => {
                return broken(format!("`{task}` starts, but what `{need}` worked on is being made again"));
            }
            Stand::Completed => {
                ran += 1;
                let gate = matches!(definition.action, Some(Action::Gate(_)));
                let approved = line.outcome.as_deref() == Some("approved") || line.outcome.is_none();
                if gate && !approved {
                    let detail = format!("`{task}` starts behind gate `{need}`, which said {:?}", line.outcome);
                    return Err(Violation::new("nothing starts behind a gate that did not approve", detail));
                }
            }
            Stand::Skipped => {}
            Stand::Failed if definition.optional => ran += 1,
            Stand::Abandoned if was_opened => ran += 1,
            stand => return broken(format!("`{task}` starts, but `{need}` is {stand:?}")),
        }
    }
    let routed = book.graph.routed_from.get(task).is_some_and(|from| !from.is_empty());
    if routed && book.line(task)?.taken_from.is_empty() {
        return broken(format!("`{task}` starts, but no route led to it"));
    }
    if !routed && waits > 0 && ran == 0 {
        return broken(format!("`{task}` starts, but everything before it was left out"));
    }
    Ok(())
}
