//! What a plan needs of the place where it is to run. Known only there, so these are warnings, and only on request.

use std::collections::BTreeSet;

use gantry_core::plan::{Action, InitialStatus, Location, Task};
use gantry_core::suggest::nearest;
use gantry_core::time::Timestamp;

use crate::diagnostic::{Diagnostic, Findings};
use crate::read::Reading;

/// What is known about the place where a plan is to run.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The names of the capabilities that are there; the keys of actions count as names, and `mcp.git.*` stands for all
    /// that begin so.
    pub capabilities: &'a [&'a str],
    /// What time it is.
    pub now: Timestamp,
}

impl Around<'_> {
    /// Tells whether there is this capability.
    fn has(&self, name: &str) -> bool {
        self.capabilities.iter().any(|known| match known.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => *known == name,
        })
    }
}

/// Warns of capabilities that are missing, each once, and of deadlines that have passed.
pub(super) fn check(reading: &Reading, around: &Around<'_>, findings: &mut Findings) {
    let passed = |deadline: Option<Timestamp>| deadline.filter(|deadline| *deadline <= around.now);
    if let Some(deadline) = passed(reading.plan.deadline) {
        let place = Location::new(None, "deadline");
        findings.push(missed("the plan", deadline).at(reading.places.find(&place)));
    }
    let mut missing = BTreeSet::new();
    for (index, task) in reading.plan.tasks.iter().enumerate() {
        if task.status != InitialStatus::Pending {
            continue;
        }
        let place = |path: &str| reading.places.find(&Location::new(Some(index), path));
        if let Some(deadline) = passed(task.deadline) {
            findings.push(missed(&format!("task `{}`", task.id), deadline).at(place("deadline")));
        }
        let mut lacks = needs(task);
        lacks.retain(|(_, name)| !around.has(name) && missing.insert((*name).to_owned()));
        if let Some((path, _)) = lacks.first() {
            findings.push(without(&lacks, task, around).at(place(path)));
        }
    }
}

/// The capabilities that a task needs to run, each with the field that says so.
fn needs(task: &Task) -> Vec<(&'static str, &str)> {
    match &task.action {
        Some(Action::Model(_)) => vec![("model", "model")],
        Some(Action::Agent(_)) => vec![("agent", "agent")],
        Some(Action::Run(_)) => vec![("run", "run")],
        Some(Action::Tool(tool)) => vec![("tool.name", tool.name.as_str())],
        Some(Action::Command(command)) => {
            command.calls().into_iter().flatten().map(|call| ("command", call.name.as_str())).collect()
        }
        Some(
            Action::Decide(_)
            | Action::Gate(_)
            | Action::Ask(_)
            | Action::Manual(_)
            | Action::Map(_)
            | Action::Adopt(_)
            | Action::Plan(_)
            | Action::Compute(_)
            | Action::Checkpoint(_)
            | Action::Wait(_)
            | Action::UndoTo(_),
        )
        | None => Vec::new(),
    }
}

fn without(lacks: &[(&str, &str)], task: &Task, around: &Around<'_>) -> Diagnostic {
    let names: Vec<String> = lacks.iter().map(|(_, name)| format!("`{name}`")).collect();
    let near = lacks.iter().find_map(|(_, name)| nearest(name, around.capabilities.iter().copied()));
    // A misspelt name is a mistake; what nobody here can do, a person may do.
    let then = if near.is_some() { "would fail" } else { "will ask for help" };
    let message = format!("there is no capability {} here: task `{}` {then}", names.join(", "), task.id);
    let hint = near.map_or_else(
        || format!("there are {}", around.capabilities.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    Diagnostic::warning("plan::no-capability", message).hint(hint)
}

fn missed(whose: &str, deadline: Timestamp) -> Diagnostic {
    Diagnostic::warning("plan::deadline-passed", format!("the deadline of {whose} has passed already: {deadline}"))
        .hint("missing a deadline stops nothing, but someone is told at once")
}
