//! Which tasks a task waits for: what it says, and what it reads.

use std::collections::{BTreeMap, BTreeSet};

use super::action::Action;
use super::reference::{Input, Reference};
use super::{Plan, Task};
use crate::id::TaskId;

/// Which task makes which artifact: the plan's own list first, then what tasks declare.
pub(crate) fn producers(plan: &Plan) -> BTreeMap<String, TaskId> {
    let mut producers = BTreeMap::new();
    for task in &plan.tasks {
        for artifact in &task.artifacts {
            producers.entry(artifact.name.clone()).or_insert_with(|| task.id.clone());
        }
    }
    for artifact in &plan.artifacts {
        producers.insert(artifact.name.clone(), artifact.from.clone());
    }
    producers
}

/// The tasks that must be over before this one can start: its dependencies and the makers of its
/// inputs, each once, in the order they are written.
pub(crate) fn waits_for(task: &Task, producers: &BTreeMap<String, TaskId>) -> Vec<TaskId> {
    let mut waits: Vec<TaskId> = Vec::new();
    let mut seen: BTreeSet<TaskId> = BTreeSet::from([task.id.clone()]);
    let mut add = |id: &TaskId| {
        if seen.insert(id.clone()) {
            waits.push(id.clone());
        }
    };
    task.depends_on.iter().for_each(&mut add);
    for (_, reference) in references(task) {
        match reference {
            Reference::Task { task, .. } => add(task),
            Reference::Artifact { name } => {
                if let Some(producer) = producers.get(name) {
                    add(producer);
                }
            }
            Reference::Memory { .. } => {}
        }
    }
    waits
}

/// Every reference in a task, with the path of the field that holds it. A map waits for what its parts will read, too.
pub fn references(task: &Task) -> Vec<(String, &Reference)> {
    let mut inputs: Vec<(String, &Input)> =
        task.inputs.iter().map(|(name, input)| (format!("inputs.{name}"), input)).collect();
    let mut inside = Vec::new();
    match &task.action {
        Some(Action::Tool(tool)) => {
            inputs.extend(tool.args.iter().map(|(name, input)| (format!("tool.args.{name}"), input)));
        }
        Some(Action::Plan(nested)) => {
            inputs.extend(nested.with.iter().map(|(name, input)| (format!("plan.with.{name}"), input)));
        }
        Some(Action::Map(map)) => {
            inputs.push(("map.over".to_owned(), &map.over));
            let each = map.each.iter().flat_map(|each| references(each));
            inside.extend(each.map(|(path, reference)| (format!("map.each.{path}"), reference)));
        }
        Some(Action::Adopt(adopt)) => inputs.push(("adopt".to_owned(), &adopt.0)),
        _ => {}
    }
    let own = inputs.into_iter().filter_map(|(path, input)| match input {
        Input::From(reference) => Some((path, reference)),
        Input::Value(_) => None,
    });
    own.chain(inside).collect()
}
