//! Tasks that wait for each other, shown with the place of each wait.

use gantry_core::plan::{Location, Plan, Problem, Reference, Task, references};

use super::Spot;
use crate::diagnostic::Diagnostic;

/// A longer circle is shown by its first waits; the message has all of it.
const WAITS_MAX: usize = 12;

/// One wait of a circle: where it is said, and what it says.
struct Wait {
    place: Location,
    label: String,
}

/// Adds the place of each wait in a circle; the one that the model names, or else the first, is the main one.
pub(super) fn show(finding: Diagnostic, problem: &Problem, spot: &Spot<'_>) -> Diagnostic {
    let Some(mut waits) = waits(problem, spot.plan) else { return finding };
    waits.truncate(WAITS_MAX);
    let main = waits.iter().position(|wait| wait.place == *spot.place).unwrap_or(0);
    let first = waits.remove(main);
    let finding = finding.at(spot.places.find(&first.place)).label(first.label);
    waits.into_iter().fold(finding, |finding, wait| finding.other(spot.places.find(&wait.place), wait.label))
}

/// Finds the waits of a circle; the message names the tasks, each of which waits for the next.
fn waits(problem: &Problem, plan: &Plan) -> Option<Vec<Wait>> {
    let ring: Option<Vec<usize>> = problem
        .message
        .split('`')
        .skip(1)
        .step_by(2)
        .map(|id| plan.tasks.iter().position(|task| task.id.as_str() == id))
        .collect();
    let ring = ring.filter(|ring| ring.len() > 1)?;
    ring.windows(2).map(|pair| wait(plan, pair[0], pair[1])).collect()
}

/// Finds where it is said that one task waits for another.
fn wait(plan: &Plan, waits: usize, on: usize) -> Option<Wait> {
    let (task, other) = (&plan.tasks[waits], &plan.tasks[on]);
    let said = |at: usize, path: String, label: String| Some(Wait { place: Location::new(Some(at), path), label });
    if let Some(n) = task.depends_on.iter().position(|id| *id == other.id) {
        return said(waits, format!("depends_on.{n}"), format!("`{}` waits for `{}`", task.id, other.id));
    }
    if let Some(path) = reads(plan, task, other) {
        return said(waits, path, format!("`{}` reads from `{}`", task.id, other.id));
    }
    let leads = format!("`{}` leads to `{}`", other.id, task.id);
    if let Some(n) = other.next.iter().position(|route| route.max.is_none() && route.to == task.id) {
        return said(on, format!("next.{n}.to"), leads);
    }
    let recovers = |recover: &Option<String>| recover.as_deref() == Some(task.id.as_str());
    if let Some(n) = other.failure_modes.iter().position(|mode| recovers(&mode.recover)) {
        return said(on, format!("failure_modes.{n}.recover"), leads);
    }
    if task.parent.as_ref() == Some(&other.id) {
        return said(waits, "parent".to_owned(), format!("`{}` is a part of `{}`", task.id, other.id));
    }
    if other.parent.as_ref() == Some(&task.id) {
        return said(on, "parent".to_owned(), format!("`{}` is a part of `{}`", other.id, task.id));
    }
    None
}

/// The field in which a task reads what another one makes.
fn reads(plan: &Plan, task: &Task, other: &Task) -> Option<String> {
    let makes = |name: &String| {
        let listed = plan.artifacts.iter().find(|artifact| artifact.name == *name);
        let made = || other.artifacts.iter().any(|artifact| artifact.name == *name);
        listed.map_or_else(made, |artifact| artifact.from == other.id)
    };
    let from = |reference: &Reference| match reference {
        Reference::Task { task, .. } => *task == other.id,
        Reference::Artifact { name } => makes(name),
        Reference::Memory { .. } => false,
    };
    references(task).into_iter().find(|(_, reference)| from(reference)).map(|(path, _)| path)
}
