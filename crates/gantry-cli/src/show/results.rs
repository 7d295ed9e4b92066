//! What a plan gave: the outputs of its last tasks, in short.

use std::collections::BTreeSet;

use gantry_core::event::Outputs;
use gantry_core::id::TaskId;
use gantry_core::life::{Life, TaskState};
use serde_json::Value;

use super::style::{PLAIN, STRONG};
use super::table::{self, Cell, cell};
use super::{first_line, overwritten};
use crate::file::count;

/// How many tasks are shown.
const TASKS_MAX: usize = 5;
/// How many outputs of each.
const OUTPUTS_MAX: usize = 6;
/// How much of a value.
const VALUE_CHARS_MAX: usize = 160;

/// What every process leaves; the rest is what its task gives on purpose.
const OF_PROCESSES: [&str; 7] = ["stdout", "stderr", "json", "exit_code", "signal", "sandbox", "left_behind"];

/// Draws what the last tasks of a plan gave; nothing when they gave nothing.
pub fn draw(life: &Life, width: usize) -> String {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let with_results = last_tasks(life).into_iter().filter_map(|task| {
        let shown = of_task(life.outputs(task.as_str())?);
        (!shown.is_empty()).then_some((task, shown))
    });
    let (mut tasks, mut more) = (0, 0);
    for (task, shown) in with_results {
        if tasks == TASKS_MAX {
            more += 1;
            continue;
        }
        tasks += 1;
        for (no, line) in shown.into_iter().enumerate() {
            rows.push(vec![cell(STRONG, if no == 0 { task.as_str() } else { "" }), cell(PLAIN, line)]);
        }
    }
    let mut drawn = table::draw("  ", &rows, width);
    if more > 0 {
        let hint = format!("  and of {more} more; see one with `gantry task show {} TASK`\n", life.id());
        drawn.push_str(&hint);
    }
    drawn
}

/// The finished tasks that nobody works with any further.
fn last_tasks(life: &Life) -> Vec<TaskId> {
    let plan = life.plan();
    let waits = plan.waits();
    let used: BTreeSet<&TaskId> = waits.iter().flatten().collect();
    let parent = |id: &TaskId| life.definition(id.as_str()).and_then(|task| task.parent.clone());
    let is_last = |id: &TaskId| std::iter::successors(Some(id.clone()), parent).all(|above| !used.contains(&above));
    let is_done = |id: &TaskId| life.task_state(id.as_str()) == Some(TaskState::Completed);
    plan.tasks.iter().map(|task| &task.id).filter(|id| is_done(id) && is_last(id)).cloned().collect()
}

/// The outputs of one task, one line each: those that it gave on purpose, or else the end of what it wrote.
fn of_task(outputs: &Outputs) -> Vec<String> {
    let named = outputs.iter().filter(|(name, _)| !OF_PROCESSES.contains(&name.as_str()));
    let mut lines: Vec<String> = named.map(|(name, value)| format!("{name} = {}", short(value))).collect();
    let more = lines.len().saturating_sub(OUTPUTS_MAX);
    lines.truncate(OUTPUTS_MAX);
    if more > 0 {
        lines.push(format!("and {}", count(more, "more output")));
    }
    if lines.is_empty() {
        lines.extend(outputs.get("stdout").and_then(Value::as_str).and_then(last_line));
    }
    lines
}

/// A value in one line; texts without their quotes.
pub fn short(value: &Value) -> String {
    match value {
        Value::String(text) => first_line(text, VALUE_CHARS_MAX),
        other => first_line(&other.to_string(), VALUE_CHARS_MAX),
    }
}

/// The last line that says something, and how many there are.
fn last_line(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(overwritten).filter(|line| !line.trim().is_empty()).collect();
    let last = first_line(lines.last()?, VALUE_CHARS_MAX);
    Some(if lines.len() > 1 { format!("{last} (the last of {} lines)", lines.len()) } else { last })
}
