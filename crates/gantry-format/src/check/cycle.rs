//! Tasks that wait for each other, shown with the place of each wait.

use gantry_core::plan::{Action, Input, Location, Plan, Problem, Reference, Task};

use crate::diagnostic::Diagnostic;
use crate::read::Reading;

/// A longer circle is shown by its first waits; the message has all of it.
const WAITS_MAX: usize = 12;

/// One wait of a circle: where it is said, and what it says.
struct Wait {
    place: Location,
    label: String,
}

/// Adds the place of each wait in a circle; the one that the model names, or else the first, is the main one.
pub(super) fn show(finding: Diagnostic, problem: &Problem, reading: &Reading) -> Diagnostic {
    let Some(mut waits) = waits(problem, &reading.plan) else { return finding };
    waits.truncate(WAITS_MAX);
    let main = waits.iter().position(|wait| wait.place == problem.place).unwrap_or(0);
    let first = waits.remove(main);
    let finding = finding.at(reading.places.find(&first.place)).label(first.label);
    waits.into_iter().fold(finding, |finding, wait| finding.other(reading.places.find(&wait.place), wait.label))
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
    let said = |at: usize, path: String, label: String| Some(Wait { place: Location { task: Some(at), path }, label });
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
    let own = task.inputs.iter().map(|(name, input)| (format!("inputs.{name}"), input));
    let more: Vec<(String, &Input)> = match &task.action {
        Some(Action::Tool(tool)) => {
            tool.args.iter().map(|(name, input)| (format!("tool.args.{name}"), input)).collect()
        }
        Some(Action::Plan(nested)) => {
            nested.with.iter().map(|(name, input)| (format!("plan.with.{name}"), input)).collect()
        }
        Some(Action::Map(map)) => vec![("map.over".to_owned(), &map.over)],
        Some(Action::Adopt(adopt)) => vec![("adopt".to_owned(), &adopt.0)],
        _ => Vec::new(),
    };
    let makes = |name: &String| {
        let listed = plan.artifacts.iter().find(|artifact| artifact.name == *name);
        let made = || other.artifacts.iter().any(|artifact| artifact.name == *name);
        listed.map_or_else(made, |artifact| artifact.from == other.id)
    };
    let from = |input: &Input| match input {
        Input::From(Reference::Task { task, .. }) => *task == other.id,
        Input::From(Reference::Artifact { name }) => makes(name),
        Input::From(Reference::Memory { .. }) | Input::Value(_) => false,
    };
    own.chain(more).find(|(_, input)| from(input)).map(|(path, _)| path)
}
