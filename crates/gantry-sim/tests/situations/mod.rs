//! Situations in which a rule was once broken, recognised in a journal.

use gantry_core::event::{AfterUndo, Asked, Entry, Event, Source};
use gantry_core::id::TaskId;
use gantry_core::plan::{Action, Diff, Idempotency, InitialStatus, Input, On, Reference};
use gantry_core::policy::FailureClass;
use gantry_sim::checks::{Book, Phase, Stand};

/// Tells whether the entry at this index, with the book as it stands before it, is the situation.
pub type Situation = fn(&Book, &[Entry], usize) -> bool;

/// Tells whether a situation is met anywhere in a journal.
pub fn meets(journal: &[Entry], situation: Situation) -> bool {
    let Some(Event::PlanCreated { plan, .. }) = journal.first().map(|entry| &entry.event) else { return false };
    let mut book = Book::new(plan);
    for at in 1..journal.len() {
        if situation(&book, journal, at) {
            return true;
        }
        if book.apply(&journal[at]).is_err() {
            return false;
        }
    }
    false
}

/// All situations by name.
pub const ALL: [(&str, Situation); 24] = [
    ("a_retry_is_planned", a_retry_is_planned),
    ("a_composite_undoes", a_composite_undoes),
    ("something_starts_after_an_undo", something_starts_after_an_undo),
    ("a_map_is_repeated", a_map_is_repeated),
    ("a_plan_fails_with_a_timebox_open", a_plan_fails_with_a_timebox_open),
    ("an_alternate_starts", an_alternate_starts),
    ("a_lost_attempt_has_a_failure_mode", a_lost_attempt_has_a_failure_mode),
    ("a_gate_sends_work_forward", a_gate_sends_work_forward),
    ("a_composite_is_imported", a_composite_is_imported),
    ("a_part_comes_late", a_part_comes_late),
    ("a_part_of_a_judged_composite_reopens", a_part_of_a_judged_composite_reopens),
    ("a_loop_leaves_a_composite", a_loop_leaves_a_composite),
    ("a_way_back_moves_to_a_new_round", a_way_back_moves_to_a_new_round),
    ("doubt_outlives_a_reopening", doubt_outlives_a_reopening),
    ("a_composite_falls_back", a_composite_falls_back),
    ("a_route_leads_into_a_new_round", a_route_leads_into_a_new_round),
    ("a_plan_reopens_after_late_words", a_plan_reopens_after_late_words),
    ("a_task_with_a_route_is_removed", a_task_with_a_route_is_removed),
    ("a_failed_part_bars_others", a_failed_part_bars_others),
    ("a_composite_loses_its_last_part", a_composite_loses_its_last_part),
    ("imported_work_is_repeated", imported_work_is_repeated),
    ("a_failure_mode_leads_to_a_task", a_failure_mode_leads_to_a_task),
    ("an_artifact_is_read_in_a_round", an_artifact_is_read_in_a_round),
    ("a_map_loses_a_part", a_map_loses_a_part),
];

fn revision<'a>(entry: &'a Entry, whose: &str) -> Option<&'a Diff> {
    match &entry.event {
        Event::PlanRevised { diff, by, .. } if (by == "gantry") == (whose == "gantry") => Some(diff),
        _ => None,
    }
}

fn stand(book: &Book, id: &TaskId) -> Option<Stand> {
    book.lines.get(id).map(|line| line.stand)
}

pub fn a_retry_is_planned(_: &Book, entries: &[Entry], at: usize) -> bool {
    matches!(entries[at].event, Event::RetryPlanned { .. })
}

pub fn a_composite_undoes(book: &Book, entries: &[Entry], at: usize) -> bool {
    matches!(&entries[at].event, Event::UndoBegun { then: AfterUndo::CompleteTask(task), .. }
        if book.graph.children.contains_key(task))
}

pub fn something_starts_after_an_undo(book: &Book, entries: &[Entry], at: usize) -> bool {
    let of_task = matches!(&book.undoing, Some((_, AfterUndo::CompleteTask(_))));
    let starts = |event: &Event| {
        matches!(event, Event::AttemptStarted { .. } | Event::PersonAsked { what: Asked::Work | Asked::Answer, .. })
    };
    of_task
        && matches!(entries[at].event, Event::UndoFinished)
        && entries[at..].iter().take(4).any(|entry| entry.at == entries[at].at && starts(&entry.event))
}

pub fn a_map_is_repeated(_: &Book, entries: &[Entry], at: usize) -> bool {
    revision(&entries[at], "gantry").is_some_and(|diff| {
        let tasks = || diff.added.iter().map(|placed| &placed.task);
        tasks().any(|task| task.round.is_some() && matches!(task.action, Some(Action::Map(_))))
    })
}

pub fn a_plan_fails_with_a_timebox_open(book: &Book, entries: &[Entry], at: usize) -> bool {
    let open = |id: &TaskId| stand(book, id) == Some(Stand::Open);
    matches!(entries[at].event, Event::PlanFailed { .. })
        && book.defined.values().any(|task| task.timebox.is_some() && open(&task.id))
}

pub fn an_alternate_starts(book: &Book, entries: &[Entry], at: usize) -> bool {
    matches!(&entries[at].event, Event::AttemptStarted { task, .. } if book.lines[task].way > 0)
}

pub fn a_lost_attempt_has_a_failure_mode(book: &Book, entries: &[Entry], at: usize) -> bool {
    matches!(&entries[at].event, Event::AttemptFailed { task, failure, .. }
        if failure.class == FailureClass::Lost
            && book.defined[task].repeatable() == Idempotency::Unsafe
            && book.defined[task].failure_modes.iter().any(|mode| mode.detect.is_some() && mode.recover.is_some()))
}

pub fn a_gate_sends_work_forward(book: &Book, entries: &[Entry], at: usize) -> bool {
    matches!(&entries[at].event, Event::RouteTaken { from, on: On::Outcome(outcome), .. }
        if outcome == "needs_changes" && book.graph.dependents.contains_key(from))
}

pub fn a_composite_is_imported(book: &Book, _: &[Entry], _: usize) -> bool {
    let parts = |id: &TaskId| book.graph.children.contains_key(id);
    book.defined.values().any(|task| task.status != InitialStatus::Pending && parts(&task.id))
}

pub fn a_part_comes_late(book: &Book, entries: &[Entry], at: usize) -> bool {
    revision(&entries[at], "people").is_some_and(|diff| {
        let parents = diff.added.iter().filter_map(|placed| placed.task.parent.as_ref());
        book.phase != Phase::Ended && parents.into_iter().any(|parent| stand(book, parent) == Some(Stand::Completed))
    })
}

pub fn a_part_of_a_judged_composite_reopens(book: &Book, entries: &[Entry], at: usize) -> bool {
    matches!(&entries[at].event, Event::TaskReopened { task, .. }
        if book.ancestors(task).iter().any(|above| stand(book, above) == Some(Stand::Waiting)))
}

pub fn a_loop_leaves_a_composite(book: &Book, entries: &[Entry], at: usize) -> bool {
    revision(&entries[at], "gantry").is_some_and(|diff| {
        let rounds = || diff.added.iter().filter_map(|placed| placed.task.round.as_ref());
        rounds()
            .any(|round| book.ancestors(&round.because).iter().any(|above| rounds().any(|other| other.of == *above)))
    })
}

pub fn a_way_back_moves_to_a_new_round(book: &Book, entries: &[Entry], at: usize) -> bool {
    revision(&entries[at], "gantry").is_some_and(|diff| {
        let has_rounds = diff.added.iter().any(|placed| placed.task.round.is_some());
        let back = |id: &TaskId| book.defined[id].next.iter().any(|route| route.max.is_some());
        has_rounds
            && diff
                .changed
                .iter()
                .any(|change| back(&change.id) && change.fields.iter().all(|field| field.field == "next"))
    })
}

pub fn doubt_outlives_a_reopening(book: &Book, entries: &[Entry], at: usize) -> bool {
    let Event::TaskReopened { task, afresh: false, .. } = &entries[at].event else { return false };
    let Some(line) = book.lines.get(task).filter(|line| line.doubt.is_some()) else { return false };
    let asked = |event: &Event| match event {
        Event::PersonAsked { task: other, what: Asked::Help { .. }, .. } | Event::VerifyAsked { task: other, .. } => {
            other == task
        }
        _ => false,
    };
    line.stand == Stand::Waiting
        && book.defined[task].repeatable() == Idempotency::Unsafe
        && entries[at..].iter().any(|entry| asked(&entry.event))
}

pub fn a_composite_falls_back(book: &Book, entries: &[Entry], at: usize) -> bool {
    matches!(&entries[at].event, Event::TaskCompleted { task, source: Source::Fallback, .. }
        if book.graph.inside(task).iter().any(|part| stand(book, part) == Some(Stand::Pending)))
}

pub fn a_route_leads_into_a_new_round(_: &Book, entries: &[Entry], at: usize) -> bool {
    let is_round = revision(&entries[at - 1], "gantry")
        .is_some_and(|diff| diff.added.iter().any(|placed| placed.task.round.is_some()));
    is_round && matches!(entries[at].event, Event::RouteTaken { .. })
}

pub fn a_plan_reopens_after_late_words(book: &Book, entries: &[Entry], at: usize) -> bool {
    book.phase == Phase::Ended
        && matches!(entries[at].event, Event::PersonAnswered { .. })
        && entries[at..].iter().any(|entry| matches!(entry.event, Event::PlanReopened { .. }))
}

pub fn a_task_with_a_route_is_removed(book: &Book, entries: &[Entry], at: usize) -> bool {
    revision(&entries[at], "people").is_some_and(|diff| {
        let leads = |id: &TaskId| {
            let mut targets = book.defined[id].next.iter().filter(|route| route.max.is_none());
            targets.any(|route| stand(book, &route.to) == Some(Stand::Pending) && !diff.removed.contains(&route.to))
        };
        book.phase == Phase::Running && diff.removed.iter().any(leads)
    })
}

pub fn a_failed_part_bars_others(book: &Book, entries: &[Entry], at: usize) -> bool {
    let Event::TaskSkipped { task, .. } = &entries[at].event else { return false };
    let failed = |id: &TaskId| {
        let answered = book.lines.get(id).is_some_and(|line| line.stand == Stand::Failed && !line.handled);
        answered && !book.defined[id].optional && !book.ancestors(id).is_empty()
    };
    let shares_parent = |id: &TaskId| book.defined[id].parent == book.defined[task].parent;
    book.graph.waits.get(task).is_some_and(|waits| waits.iter().any(|need| failed(need) && !shares_parent(need)))
}

pub fn a_composite_loses_its_last_part(book: &Book, entries: &[Entry], at: usize) -> bool {
    revision(&entries[at], "people").is_some_and(|diff| {
        let leaves = |id: &TaskId| {
            diff.removed.contains(id)
                || diff
                    .changed
                    .iter()
                    .any(|change| change.id == *id && change.fields.iter().any(|field| field.field == "parent"))
        };
        let mut open = book.graph.children.iter().filter(|(id, _)| stand(book, id) == Some(Stand::Open));
        book.phase == Phase::Running && open.any(|(id, parts)| !diff.removed.contains(id) && parts.iter().all(leaves))
    })
}

pub fn imported_work_is_repeated(book: &Book, entries: &[Entry], at: usize) -> bool {
    revision(&entries[at], "gantry").is_some_and(|diff| {
        let mut rounds = diff.added.iter().filter_map(|placed| placed.task.round.as_ref());
        rounds.any(|round| book.defined.get(&round.of).is_some_and(|task| task.status == InitialStatus::Completed))
    })
}

pub fn a_failure_mode_leads_to_a_task(book: &Book, entries: &[Entry], at: usize) -> bool {
    let Event::RouteTaken { from, to, .. } = &entries[at].event else { return false };
    book.defined[from].failure_modes.iter().any(|mode| mode.recover.as_deref() == Some(to.as_str()))
}

pub fn an_artifact_is_read_in_a_round(_: &Book, entries: &[Entry], at: usize) -> bool {
    revision(&entries[at], "gantry").is_some_and(|diff| {
        let rounds = || diff.added.iter().map(|placed| &placed.task).filter(|task| task.round.is_some());
        let reads = |name: &str| {
            rounds()
                .flat_map(|task| task.inputs.values())
                .any(|input| matches!(input, Input::From(Reference::Artifact { name: read }) if read == name))
        };
        rounds().flat_map(|task| &task.artifacts).any(|artifact| reads(&artifact.name))
    })
}

pub fn a_map_loses_a_part(book: &Book, entries: &[Entry], at: usize) -> bool {
    revision(&entries[at], "gantry")
        .is_some_and(|diff| diff.removed.iter().any(|id| book.graph.dependents.contains_key(id)))
}
