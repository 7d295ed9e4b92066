//! The names that expressions can use, looked up in the life of the plan.

use serde_json::{Value, json};

use super::Life;
use crate::effect::Failure;
use crate::event::Outputs;
use crate::expr::{Expr, Scope};
use crate::id::TaskNo;

/// What an expression in one task (or in the plan, when none) sees.
pub(super) struct Sight<'a> {
    pub life: &'a Life,
    pub task: Option<TaskNo>,
    /// The result that is being looked at, before it is accepted.
    pub outputs: Option<&'a Outputs>,
    pub failure: Option<&'a Failure>,
    pub outcome: Option<&'a str>,
}

impl<'a> Sight<'a> {
    pub fn of(life: &'a Life, task: Option<TaskNo>) -> Self {
        Self { life, task, outputs: None, failure: None, outcome: None }
    }

    /// The result, or what a failed attempt gave instead of one.
    fn own_outputs(&self) -> Option<&Outputs> {
        let failed = self.failure.map(|failure| &failure.outputs);
        self.outputs.or(failed).or_else(|| Some(&*self.life.task(self.task?).outputs))
    }

    fn input(&self, name: &str) -> Option<Value> {
        let input = self.life.node(self.task?).task.inputs.get(name)?;
        self.life.resolve(input).ok()
    }

    /// A task as expressions see it: its outputs, and below them `state`, `outcome`, `outputs`.
    fn task_path(&self, id: &str, rest: &[&str]) -> Option<Value> {
        let no = self.life.newest(id)?;
        let task = self.life.task(no);
        let Some((first, deeper)) = rest.split_first() else {
            let mut all = serde_json::to_value(&*task.outputs).ok()?;
            all["state"] = json!(task.state.name());
            all["outcome"] = json!(task.outcome);
            return Some(all);
        };
        let value = match task.outputs.get(*first) {
            Some(value) => walk(value, deeper)?.clone(),
            None if *first == "outputs" => match deeper.split_first() {
                None => serde_json::to_value(&*task.outputs).ok()?,
                Some((name, deeper)) => walk(task.outputs.get(*name)?, deeper)?.clone(),
            },
            None if *first == "state" && deeper.is_empty() => json!(task.state.name()),
            None if *first == "outcome" && deeper.is_empty() => json!(task.outcome),
            None => return None,
        };
        Some(value)
    }
}

/// What stands at a path in a value: fields by name, items of a list by number.
pub(super) fn walk<'v>(value: &'v Value, path: &[impl AsRef<str>]) -> Option<&'v Value> {
    path.iter().map(AsRef::as_ref).try_fold(value, |value, part| match value {
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    })
}

impl Scope for Sight<'_> {
    fn lookup(&self, name: &str) -> Option<Value> {
        self.lookup_path(&[name])
    }

    fn lookup_path(&self, path: &[&str]) -> Option<Value> {
        let (root, rest) = path.split_first()?;
        // Own results and inputs by bare name first, then what everybody sees.
        if let Some(value) = self.own_outputs().and_then(|outputs| outputs.get(*root)) {
            return walk(value, rest).cloned();
        }
        if let Some(value) = self.input(root) {
            return walk(&value, rest).cloned();
        }
        match *root {
            "outputs" => match rest.split_first() {
                None => serde_json::to_value(self.own_outputs()?).ok(),
                Some((name, deeper)) => walk(self.own_outputs()?.get(*name)?, deeper).cloned(),
            },
            "inputs" => {
                let (name, deeper) = rest.split_first()?;
                walk(&self.input(name)?, deeper).cloned()
            }
            "tasks" => {
                let (id, deeper) = rest.split_first()?;
                self.task_path(id, deeper)
            }
            "artifacts" => {
                let (name, deeper) = rest.split_first()?;
                let reference = crate::plan::Reference::Artifact { name: (*name).to_owned() };
                let value = self.life.resolve(&crate::plan::Input::From(reference)).ok()?;
                walk(&value, deeper).cloned()
            }
            "failure" => {
                let value = serde_json::to_value(self.failure?).ok()?;
                walk(&value, rest).cloned()
            }
            "outcome" if rest.is_empty() => Some(json!(self.outcome?)),
            "attempt" if rest.is_empty() => Some(json!(self.life.task(self.task?).attempt.0)),
            "plan" => {
                let value = serde_json::to_value(&*self.life.header).ok()?;
                walk(&value, rest).cloned()
            }
            _ => self.fact(path).or_else(|| self.task_path(root, rest)),
        }
    }
}

impl Sight<'_> {
    /// Facts are kept under dotted names: the longest that is known, then what is below it.
    fn fact(&self, path: &[&str]) -> Option<Value> {
        (1..=path.len()).rev().find_map(|length| {
            let value = self.life.facts.get(&path[..length].join("."))?;
            walk(value, &path[length..]).cloned()
        })
    }
}

/// The facts about the world that an expression reads: names below these roots.
pub(super) fn facts_read(expr: &Expr) -> impl Iterator<Item = String> {
    expr.paths()
        .iter()
        .filter(|path| matches!(path.segments.first().map(String::as_str), Some("network" | "disk" | "memory" | "env")))
        .map(|path| path.segments.join("."))
}
