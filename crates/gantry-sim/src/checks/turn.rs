//! What must hold of every turn, whatever was decided in it.

use gantry_core::effect::{Effect, StartAttempt};
use gantry_core::event::{Entry, Event};
use gantry_core::id::{AttemptNo, TaskId};
use gantry_core::input::Input;
use gantry_core::life::{Life, Room, Verdict};
use gantry_core::plan::{Action, Plan, Severity, Task};
use gantry_core::policy::Usage;
use gantry_core::time::Timestamp;
use serde_json::Value;

use crate::violation::{Outcome, Violation};

/// Checks what a turn with so much room wants to start.
pub fn check(verdict: &Verdict, room: Room) -> Outcome {
    let mut starts = 0_u32;
    for effect in &verdict.effects {
        let Effect::StartAttempt(start) = effect else { continue };
        if verdict.events.iter().any(|entry| records(entry, start.task.as_str(), start.attempt.0, &start.key)) {
            starts += 1;
        } else if !is_taken_up(verdict, start) {
            return Err(Violation::new("every started attempt is in the journal", format!("{start:?}")));
        }
    }
    if starts > room.0 {
        let detail = format!("{starts} attempts start where there is room for {}", room.0);
        return Err(Violation::new("a turn starts no more than it has room for", detail));
    }
    Ok(())
}

/// Some work writes down its steps: an attempt at it that is under way is taken up where it stands, if only to be
/// stopped in the same turn.
fn is_taken_up(verdict: &Verdict, start: &StartAttempt) -> bool {
    let under_way = |(task, attempt): &(TaskId, AttemptNo)| *task == start.task && *attempt == start.attempt;
    let stopped = |effect: &Effect| matches!(effect, Effect::CancelAttempt { task, attempt, .. } if *task == start.task && *attempt == start.attempt);
    matches!(start.action, Action::Plan(_) | Action::Model(_) | Action::Agent(_) | Action::Decide(_))
        && (verdict.life.in_flight().iter().any(under_way) || verdict.effects.iter().any(stopped))
}

fn records(entry: &Entry, id: &str, number: u32, hash: &str) -> bool {
    matches!(&entry.event, Event::AttemptStarted { task, attempt, key, .. }
        if task.as_str() == id && attempt.0 == number && key == hash)
}

/// The life in a verdict is what its events make of the life before.
pub fn folds(verdict: &Verdict, folded: &Life) -> Outcome {
    if verdict.life == *folded {
        return Ok(());
    }
    let detail = format!("after entry {:?}", verdict.events.last().map(|entry| entry.seq));
    Err(Violation::new("the life of a verdict is what its events say", detail))
}

/// The same inputs at the same time give the same verdict.
pub fn decided_twice(first: &Verdict, second: &Verdict, inputs: &[Input]) -> Outcome {
    if first == second {
        return Ok(());
    }
    Err(Violation::new("deciding twice gives one verdict", format!("{inputs:?}")))
}

/// An input that was refused among others leaves no trace.
pub fn without_refused(with: &Verdict, without: &Verdict, inputs: &[Input]) -> Outcome {
    if with == without {
        return Ok(());
    }
    let differs = |a: &Entry, b: &Entry| a != b;
    let at = with.events.iter().zip(&without.events).position(|(a, b)| differs(a, b));
    let detail = format!("the events differ from number {at:?} on, of {inputs:?}");
    Err(Violation::new("a refused input leaves no trace", detail))
}

/// An answer that is ignored changes nothing, in a turn with no other input and nothing ready to start.
///
/// What it used is counted, and may be the last of the budget: such an answer says nothing here.
pub fn ignored(before: &Life, verdict: &Verdict) -> Outcome {
    if !ignores(verdict) || verdict.events.len() == 1 && is_unmoved(before, &verdict.life) {
        return Ok(());
    }
    Err(Violation::new("an ignored answer changes nothing", format!("{:?}", verdict.events)))
}

/// Tells whether a verdict ignores an answer that used nothing.
pub fn ignores(verdict: &Verdict) -> bool {
    let is_ignored =
        |entry: &Entry| matches!(&entry.event, Event::AnswerIgnored { usage, .. } if *usage == Usage::default());
    verdict.events.iter().any(is_ignored)
}

/// Tells whether two states are the same but for what an ignored answer may change.
fn is_unmoved(before: &Life, after: &Life) -> bool {
    // Texts are compared faster than values, and mostly tell.
    let text = |life: &Life| serde_json::to_string(life).unwrap_or_default();
    let rest = |text: &str| text.find("\"phase\":").map(|at| text[at..].to_owned());
    let (before_rest, after_rest) = (rest(&text(before)), rest(&text(after)));
    before_rest.is_some() && before_rest == after_rest || essence(before) == essence(after)
}

/// The state without its length, its last time and what is known about answers that are missing.
fn essence(life: &Life) -> Value {
    let mut value = serde_json::to_value(life).unwrap_or_default();
    if let Value::Object(map) = &mut value {
        map.remove("length");
        map.remove("last_at");
        for task in map.get_mut("tasks").and_then(Value::as_array_mut).into_iter().flatten() {
            for field in ["unanswered", "owed"] {
                task.as_object_mut().map(|task| task.remove(field));
            }
        }
    }
    value
}

/// A turn at a wake that is due and with room for attempts does something: otherwise an engine would turn without end.
pub fn woken(life: &Life, now: Timestamp, idle: bool) -> Outcome {
    if idle && life.next_wake().is_some_and(|at| at <= now) {
        return Err(Violation::new("a wake that is due does something", format!("{:?}", life.waits_for())));
    }
    Ok(())
}

/// A plan that everybody helps, and that has not ended, moves.
pub fn helped(life: &Life, moved: bool) -> Outcome {
    if moved {
        return Ok(());
    }
    let detail = format!("{:?}, it waits for {:?}", life.state(), life.waits_for());
    Err(Violation::new("a plan that is helped goes on", detail))
}

/// The plan that a life reports is valid, and the one that the recorded diffs make.
pub fn revision(reported: &Plan, by_diffs: &Plan) -> Outcome {
    if reported == by_diffs {
        let wrong = reported.check().into_iter().find(|problem| problem.severity == Severity::Error);
        return wrong.map_or(Ok(()), |problem| {
            Err(Violation::new("every revision is a valid plan", format!("{}: {:?}", problem.message, problem.place)))
        });
    }
    let ids = |tasks: &[Task]| tasks.iter().map(|task| task.id.to_string()).collect::<Vec<_>>();
    let differs = reported.tasks.iter().zip(&by_diffs.tasks).find(|(a, b)| a != b);
    let detail = match differs {
        Some((a, b)) => format!("the life has {a:?}, the diffs make {b:?}"),
        None => format!("the life has {:?}, the diffs make {:?}", ids(&reported.tasks), ids(&by_diffs.tasks)),
    };
    Err(Violation::new("diffs make the plan that the life reports", detail))
}
