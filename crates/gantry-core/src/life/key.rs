//! The key of a task: the hash of what it does and what it works on.
//!
//! Same key, same work: the recorded answer serves. A task is done again exactly when its key changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::Life;
use super::begin_round::rename_needs;
use super::scope::{Sight, walk};
use crate::effect::ArtifactRef;
use crate::event::Outputs;
use crate::expr::{Expr, Scope};
use crate::id::{TaskId, TaskNo};
use crate::plan::{Action, ArtifactDecl, Check, Input, Output, Reference, Task, references};

/// Hashes everything in a task that its result depends on, without its inputs.
///
/// Words for people (title, description) count only where they are the instruction itself. Which round of another task
/// it works on is no part of it: `first` gives the name that a task had in the first round.
pub(super) fn definition_hash(task: &Task, first: &impl Fn(&TaskId) -> Option<TaskId>) -> String {
    let reads_round =
        |reference: &Reference| matches!(reference, Reference::Task { task, .. } if first(task).is_some());
    if references(task).into_iter().any(|(_, reference)| reads_round(reference)) {
        let mut task = task.clone();
        rename_needs(&mut task, first);
        return hash_of_definition(&task);
    }
    hash_of_definition(task)
}

fn hash_of_definition(task: &Task) -> String {
    #[derive(Serialize)]
    struct Definition<'a> {
        instruction: Option<(&'a str, &'a Option<String>)>,
        action: &'a Option<Action>,
        environment: &'a BTreeMap<String, String>,
        postconditions: &'a [Check],
        success_criteria: &'a [Check],
        outputs: &'a BTreeMap<String, Output>,
        artifacts: &'a [ArtifactDecl],
    }
    let in_prose = match &task.action {
        None => true,
        Some(Action::Command(command)) => command.calls().is_none(),
        Some(Action::Model(model)) => model.prompt.is_none() && model.instruction.is_none(),
        Some(_) => false,
    };
    hash(&Definition {
        instruction: in_prose.then_some((task.title.as_str(), &task.description)),
        action: &task.action,
        environment: &task.environment,
        postconditions: &task.postconditions,
        success_criteria: &task.success_criteria,
        outputs: &task.outputs,
        artifacts: &task.artifacts,
    })
}

fn hash(value: &impl Serialize) -> String {
    // The types above serialise.
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    blake3::hash(&bytes).to_hex().as_str()[..32].to_owned()
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
    /// The action that is tried now: the task's own, or an alternate.
    pub(super) fn action_now(&self, no: TaskNo) -> Option<&Action> {
        let task = &self.node(no).task;
        match self.task(no).way {
            0 => task.action.as_ref(),
            way => task.alternates.get(way as usize - 1),
        }
    }

    /// What another action of a task works on, such as that of its undo or its verification: the inputs of the task, and
    /// what the action itself is given. The error says what is missing.
    pub fn inputs_for(&self, id: &str, action: &Action) -> Result<Outputs, String> {
        let Some(no) = self.no(id) else { return Ok(Outputs::new()) };
        self.resolve_inputs(no, Some(action)).map_err(|missing| match missing {
            Missing::Fact(fact) => format!("`{fact}` is not known"),
            Missing::Output(message) => message,
        })
    }

    /// Returns the task's key; the error names what it needs and does not have.
    pub(super) fn key(&self, no: TaskNo) -> Result<(String, Outputs), Missing> {
        let inputs = self.resolve_inputs(no, self.action_now(no))?;
        let (node, way) = (self.node(no), self.task(no).way);
        let other_way = self.action_now(no).filter(|_| way > 0);
        let key = hash(&(&node.definition, way, other_way, &inputs, self.settings(no), self.reads(no), self.seen(no)));
        Ok((key, inputs))
    }

    /// What is known about the prompt and the model that a task uses.
    fn settings(&self, no: TaskNo) -> BTreeMap<String, &Value> {
        let facts = match self.action_now(no) {
            Some(Action::Model(model)) => [
                model.prompt.as_ref().map(|name| format!("prompt.{name}")),
                model.role.as_ref().map(|role| format!("model.{role}")),
            ],
            Some(Action::Agent(agent)) => [agent.role.as_ref().map(|role| format!("model.{role}")), None],
            _ => [None, None],
        };
        facts.into_iter().flatten().filter_map(|fact| Some((fact.clone(), self.facts.get(&fact)?))).collect()
    }

    /// The expressions by which a task is computed or decided.
    fn computed_by(&self, no: TaskNo) -> Vec<&Expr> {
        match self.action_now(no) {
            Some(Action::Compute(compute)) => compute.0.values().collect(),
            Some(Action::Decide(decide)) => decide.options.iter().filter_map(|branch| branch.when.as_ref()).collect(),
            _ => Vec::new(),
        }
    }

    /// The tasks whose results these expressions may read: they mean the newest round of each.
    pub(super) fn read_by_expressions(&self, no: TaskNo) -> BTreeSet<TaskNo> {
        let exprs = self.computed_by(no);
        let paths = exprs.into_iter().flat_map(Expr::paths).map(|path| path.segments.as_slice());
        let read = paths.filter_map(|path| match path {
            [root, id, ..] if root == "tasks" => self.newest(id),
            [root, name, ..] if root == "artifacts" => self.newest(self.producers.get(name)?.as_str()),
            [root, ..] => self.newest(root),
            [] => None,
        });
        read.filter(|read| *read != no).collect()
    }

    /// Everything that is computed or decided from one of these, wherever it stands. Looks at all tasks.
    pub(super) fn computed_from(&self, is_read: impl Fn(TaskNo) -> bool) -> Vec<TaskNo> {
        let reads = |no: &TaskNo| self.read_by_expressions(*no).into_iter().any(&is_read);
        self.numbers().filter(reads).collect()
    }

    /// What the expressions of a computed task read.
    fn reads(&self, no: TaskNo) -> Vec<Option<Value>> {
        let exprs = self.computed_by(no);
        let nothing = Outputs::new();
        let sight = Sight { outputs: Some(&nothing), ..Sight::of(self, Some(no)) };
        let look = |path: &crate::expr::FreePath| {
            sight.lookup_path(&path.segments.iter().map(String::as_str).collect::<Vec<_>>())
        };
        exprs.into_iter().flat_map(Expr::paths).map(look).collect()
    }

    /// What people at a gate approve: everything that was made before it, back to the gates before it and what was
    /// approved there. If that changes, they are asked again.
    fn seen(&self, no: TaskNo) -> Vec<(&Outputs, &[ArtifactRef], &str)> {
        if !self.node(no).is_gate() {
            return Vec::new();
        }
        let (mut seen, mut look) = (BTreeSet::new(), vec![no]);
        while let Some(at) = look.pop() {
            let node = self.node(at);
            let before = node.waits.iter().chain(&node.routed_from).chain(&node.children);
            for before in before.copied().filter(|before| *before != no) {
                if seen.insert(before) && !self.node(before).is_gate() {
                    look.push(before);
                }
            }
        }
        let made = |no: &TaskNo| {
            let life = self.task(*no);
            let approved = if self.node(*no).is_gate() { life.key.as_str() } else { "" };
            (&*life.outputs, life.artifacts.as_slice(), approved)
        };
        seen.iter().map(made).collect()
    }

    /// What the task works on when it does this, with every reference replaced by what it points to.
    fn resolve_inputs(&self, no: TaskNo, action: Option<&Action>) -> Result<Outputs, Missing> {
        let mut resolved = Outputs::new();
        for (name, input) in &self.node(no).task.inputs {
            resolved.insert(name.clone(), self.resolve(input)?);
        }
        let (prefix, more) = match action {
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
        if let Some(Action::Map(map)) = action {
            resolved.insert("over".to_owned(), self.resolve(&map.over)?);
        }
        if let Some(Action::Adopt(adopt)) = action {
            resolved.insert("from".to_owned(), self.resolve(&adopt.0)?);
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

/// What a task needs and does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// A fact that can be observed.
    Fact(String),
    /// Something that a task should have made.
    Output(String),
}
