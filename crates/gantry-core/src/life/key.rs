//! The key of a task: the hash of what it does and what it works on.
//!
//! Same key, same work: the recorded answer serves. A task is done again exactly when its key changes.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::Life;
use crate::event::Outputs;
use crate::id::TaskNo;
use crate::plan::{Action, ArtifactDecl, Check, FailureMode, Input, Kind, Output, Reference, Task};

/// Hashes everything in a task that its result depends on, without its inputs.
pub(super) fn definition_hash(task: &Task) -> String {
    #[derive(Serialize)]
    struct Definition<'a> {
        title: &'a str,
        description: &'a Option<String>,
        kind: &'a Option<Kind>,
        action: &'a Option<Action>,
        environment: &'a BTreeMap<String, String>,
        capabilities: &'a [String],
        postconditions: &'a [Check],
        success_criteria: &'a [Check],
        failure_modes: &'a [FailureMode],
        outputs: &'a BTreeMap<String, Output>,
        artifacts: &'a [ArtifactDecl],
        alternates: &'a [Action],
    }
    hash(&Definition {
        title: &task.title,
        description: &task.description,
        kind: &task.kind,
        action: &task.action,
        environment: &task.environment,
        capabilities: &task.capabilities,
        postconditions: &task.postconditions,
        success_criteria: &task.success_criteria,
        failure_modes: &task.failure_modes,
        outputs: &task.outputs,
        artifacts: &task.artifacts,
        alternates: &task.alternates,
    })
}

fn hash(value: &impl Serialize) -> String {
    let mut hasher = blake3::Hasher::new();
    // Writing to a hasher cannot fail, and the types above serialise.
    let _ = serde_json::to_writer(&mut hasher, value);
    hasher.finalize().to_hex().as_str()[..32].to_owned()
}

/// A number that is the same whenever the same attempt of the same plan is drawn for.
pub(super) fn draw(seed: u64, no: TaskNo, nth: u32) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).update(&no.0.to_le_bytes()).update(&nth.to_le_bytes());
    let mut bytes = [0; 8];
    hasher.finalize_xof().fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

impl Life {
    /// Returns the task's key; the error names what it needs and does not have.
    pub(super) fn key(&self, no: TaskNo) -> Result<(String, Outputs), Missing> {
        let inputs = self.resolve_inputs(no)?;
        let node = self.node(no);
        let mut settings: BTreeMap<String, &Value> = BTreeMap::new();
        if let Some(Action::Model(model)) = &node.task.action {
            let named = [("prompt.", &model.prompt), ("model.", &model.role)];
            for (prefix, name) in named {
                let fact = name.as_ref().map(|name| format!("{prefix}{name}"));
                if let Some(value) = fact.as_ref().and_then(|fact| self.facts.get(fact)) {
                    settings.extend(fact.map(|fact| (fact, value)));
                }
            }
        }
        // People at a gate approve what was made before it: if that changes, they are asked again.
        let seen: Vec<_> = match &node.task.action {
            Some(Action::Gate(_)) => node.waits.iter().map(|no| &self.task(*no).outputs).collect(),
            _ => Vec::new(),
        };
        let key = hash(&(&node.definition, self.task(no).way, &inputs, settings, seen));
        Ok((key, inputs))
    }

    /// What the task works on, with every reference replaced by what it points to.
    fn resolve_inputs(&self, no: TaskNo) -> Result<Outputs, Missing> {
        let task = &self.node(no).task;
        let mut resolved = Outputs::new();
        for (name, input) in &task.inputs {
            resolved.insert(name.clone(), self.resolve(input)?);
        }
        let (prefix, more) = match &task.action {
            Some(Action::Tool(tool)) => ("args", Some(&tool.args)),
            Some(Action::Plan(nested)) => ("with", Some(&nested.with)),
            _ => ("", None),
        };
        if let Some(more) = more.filter(|more| !more.is_empty()) {
            let mut group = serde_json::Map::new();
            for (name, input) in more {
                group.insert(name.clone(), self.resolve(input)?);
            }
            resolved.insert(prefix.to_owned(), Value::Object(group));
        }
        if let Some(Action::Map(map)) = &task.action {
            resolved.insert("over".to_owned(), self.resolve(&map.over)?);
        }
        Ok(resolved)
    }

    /// Returns what an input stands for.
    pub(super) fn resolve(&self, input: &Input) -> Result<Value, Missing> {
        let reference = match input {
            Input::Value(value) => return Ok(value.clone()),
            Input::From(reference) => reference,
        };
        match reference {
            Reference::Task { task, path } => {
                let found = self.no(task.as_str()).and_then(|no| {
                    let outputs = &self.task(no).outputs;
                    match path.split_first() {
                        None => serde_json::to_value(&**outputs).ok(),
                        Some((first, rest)) => walk(outputs.get(first)?, rest).cloned(),
                    }
                });
                found.ok_or_else(|| Missing::Output(format!("`{reference}` was not made by task `{task}`")))
            }
            Reference::Artifact { name } => {
                let found = self.producers.get(name).and_then(|task| {
                    let life = self.task(self.newest(task.as_str())?);
                    let value = life.outputs.get(name).cloned();
                    value.or_else(|| {
                        let kept = life.artifacts.iter().find(|artifact| artifact.name == *name)?;
                        serde_json::to_value(kept).ok()
                    })
                });
                found.ok_or_else(|| Missing::Output(format!("artifact `{name}` was not made")))
            }
            Reference::Memory { key } => {
                let fact = format!("memory.{key}");
                self.facts.get(&fact).cloned().ok_or(Missing::Fact(fact))
            }
        }
    }
}

fn walk<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, part| match value {
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    })
}

/// What a task needs and does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// A fact that can be observed.
    Fact(String),
    /// Something that a task should have made.
    Output(String),
}
