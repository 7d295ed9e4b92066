//! Families: an id that ends in `-*` stands for as many tasks as an upstream list has items.
//!
//! The task becomes a `map`. Its list is what the one task that it depends on hands out: that
//! task's only output, else the plan's only artifact from it, else its only declared artifact,
//! else everything it hands out.

use std::collections::BTreeMap;

use gantry_core::id::TaskId;
use gantry_core::plan::{Action, Input, Map, Plan, Reference, Task};

use super::Reader;
use crate::diagnostic::Diagnostic;
use crate::node::{Key, Node, Span, Value};

/// A family whose list is still to be found.
pub(super) struct Family {
    /// Where its task stands in the reader's list.
    pub(super) position: usize,
    /// Where the wildcard stands.
    pub(super) span: Span,
}

/// Takes the wildcard off an id: `gaps-deep-dive-*` is the family `gaps-deep-dive`.
pub(super) fn strip(id: &str) -> Option<&str> {
    id.strip_suffix("-*").or_else(|| id.strip_suffix('*'))
}

/// Takes the wildcards off the ids that other tasks name.
pub(super) fn strip_references(fields: &mut [(Key, Node)]) {
    for (key, node) in fields {
        let Value::Seq(items) = &mut node.value else { continue };
        match key.text.as_str() {
            "depends_on" => items.iter_mut().for_each(strip_node),
            "next" => items.iter_mut().for_each(|item| strip_entry(item, "to")),
            _ => {}
        }
    }
}

/// Takes the wildcards off the sources of the plan's artifacts.
pub(super) fn strip_artifact_sources(fields: &mut [(Key, Node)]) {
    for (key, node) in fields {
        if let (true, Value::Seq(items)) = (key.text == "artifacts", &mut node.value) {
            for item in items {
                strip_entry(item, "from");
            }
        }
    }
}

fn strip_entry(node: &mut Node, name: &str) {
    if let Value::Map(entries) = &mut node.value {
        entries.iter_mut().filter(|(key, _)| key.text == name).for_each(|(_, node)| strip_node(node));
    }
}

fn strip_node(node: &mut Node) {
    if let Value::Str { text, .. } = &mut node.value
        && let Some(family) = strip(text)
    {
        *text = family.to_owned();
    }
}

/// Turns a task into the family that it describes: what places it stays, what runs goes to `each`.
pub(super) fn spread(mut task: Task) -> Task {
    let mut family = Task::new(task.id.clone());
    family.title = std::mem::take(&mut task.title);
    family.kind.clone_from(&task.kind);
    family.parent = task.parent.take();
    family.depends_on = std::mem::take(&mut task.depends_on);
    family.next = std::mem::take(&mut task.next);
    family.optional = std::mem::take(&mut task.optional);
    family.status = std::mem::take(&mut task.status);
    let mut bare = Task::new(task.id.clone());
    bare.kind.clone_from(&task.kind);
    let each = (task != bare).then(|| Box::new(task));
    let over = Input::Value(serde_json::Value::Array(Vec::new()));
    family.action = Some(Action::Map(Map { over, r#as: "item".to_owned(), max: None, each }));
    family
}

impl Reader<'_> {
    /// Finds the list of every family, now that all tasks are known.
    pub(super) fn resolve_families(&mut self, plan: &Plan) {
        let positions: BTreeMap<TaskId, usize> =
            self.tasks.iter().enumerate().rev().map(|(position, (task, _))| (task.id.clone(), position)).collect();
        for Family { position, span } in std::mem::take(&mut self.families) {
            let [source] = self.tasks[position].0.depends_on.as_slice() else {
                self.findings.push(
                    Diagnostic::error("plan::family-source", "a family of tasks needs one task to take its list from")
                        .at(span)
                        .label("as many tasks as a list has items")
                        .hint("let it depend on exactly one task, or write `map: {over: tasks.<id>.<output>}`"),
                );
                continue;
            };
            let upstream = positions.get(source).and_then(|position| self.tasks.get(*position));
            let output = upstream.and_then(|(task, _)| list_of(task, plan));
            let reference = Reference::Task { task: source.clone(), path: output.into_iter().collect() };
            if let Some(Action::Map(map)) = &mut self.tasks[position].0.action {
                map.over = Input::From(reference);
            }
        }
    }
}

/// Names the one thing that a task hands out, if it is one.
fn list_of(task: &Task, plan: &Plan) -> Option<String> {
    let from_plan: Vec<&String> =
        plan.artifacts.iter().filter(|artifact| artifact.from == task.id).map(|artifact| &artifact.name).collect();
    let outputs: Vec<&String> = task.outputs.keys().collect();
    let artifacts: Vec<&String> = task.artifacts.iter().map(|artifact| &artifact.name).collect();
    [outputs, from_plan, artifacts].into_iter().find_map(|names| match names.as_slice() {
        [name] => Some((*name).clone()),
        _ => None,
    })
}
