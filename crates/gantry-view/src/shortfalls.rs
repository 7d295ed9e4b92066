//! What stopped nothing and must still be known: deadlines that passed, and checks that nobody judged.

use gantry_core::id::TaskId;
use gantry_core::life::Life;
use gantry_core::time::Timestamp;
use serde_json::{Value, json};

use crate::count;
use crate::elapsed::clock;
use crate::first_line;

/// How many of a kind are named.
const NAMED_MAX: usize = 8;

/// Something that was not done as it should have been.
pub struct Shortfall {
    /// What it is, for many of them at once.
    pub title: String,
    /// Each of them, in a line.
    pub lines: Vec<String>,
}

/// Everything that was not done as it should have been.
pub fn all(life: &Life) -> Vec<Shortfall> {
    let late = life.missed_deadlines().map(|task| {
        let due = deadline(life, task).map(|at| format!(" was due {}", clock(at))).unwrap_or_default();
        format!("{}{due}", whose(task))
    });
    let late: Vec<String> = late.collect();
    let unjudged = life.unjudged().map(|(task, check)| format!("{}: {}", whose(task), first_line(check, 200)));
    let unjudged: Vec<String> = unjudged.collect();
    let late = Shortfall { title: count(late.len(), "missed deadline"), lines: bounded(late) };
    let title = format!("{} judged by nobody", count(unjudged.len(), "check"));
    let unjudged = Shortfall { title, lines: bounded(unjudged) };
    [late, unjudged].into_iter().filter(|shortfall| !shortfall.lines.is_empty()).collect()
}

/// The deadlines that passed, for programs; one without a task is the plan's.
pub fn missed_deadlines(life: &Life) -> Value {
    life.missed_deadlines().map(|task| json!({"task": task, "deadline": deadline(life, task)})).collect()
}

/// The checks that nobody judged, for programs; one without a task is about the whole plan.
pub fn unjudged(life: &Life) -> Value {
    life.unjudged().map(|(task, check)| json!({"task": task, "check": check})).collect()
}

fn deadline(life: &Life, task: Option<&TaskId>) -> Option<Timestamp> {
    match task {
        None => life.header().deadline,
        Some(task) => life.definition(task.as_str())?.deadline,
    }
}

fn whose(task: Option<&TaskId>) -> String {
    task.map_or_else(|| "the plan".to_owned(), ToString::to_string)
}

fn bounded(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(NAMED_MAX);
    lines.truncate(NAMED_MAX);
    lines.extend((more > 0).then(|| format!("and {more} more; see all with `--json`")));
    lines
}
