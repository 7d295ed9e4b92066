//! Finished work is about what is there now: whatever is done again, edited or repeated reaches everyone who read it.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::event::{Asked, Entry, Event, JudgeOf};
use gantry_core::expr::Expr;
use gantry_core::id::TaskId;
use gantry_core::plan::{Action, Input, Reference};
use serde_json::Value;

use super::book::{Book, Stand};
use super::ending::is_repeated;
use crate::violation::{Outcome, Violation};

/// What a task reads, by where it says so.
pub type Seen = BTreeMap<String, Option<Value>>;

/// Checks the next entry.
pub fn check(book: &Book, entry: &Entry) -> Outcome {
    let Event::PlanCompleted { .. } = &entry.event else { return Ok(()) };
    for (id, line) in &book.lines {
        let Some(seen) = &line.worked_on else { continue };
        // What people said, and what stands in for a result, is about nothing; earlier rounds stay as they were.
        let about_nothing = line.stand != Stand::Completed || line.fallback || line.stated;
        if about_nothing || is_repeated(book, id) {
            continue;
        }
        // What is read and not awaited, or was not then, may have come later.
        let now = book.seen_by(id);
        let counts = |name: &&String| match name.strip_prefix("inputs.") {
            // A composite that does nothing itself begins without what is not there; anything else would have failed.
            Some(input) => seen.get(*name) != Some(&None) || book.needs_input(id, input),
            None => !name.starts_with("tasks.") || (seen.contains_key(*name) && now.contains_key(*name)),
        };
        if seen.keys().chain(now.keys()).filter(counts).any(|name| seen.get(name) != now.get(name)) {
            let detail = format!("`{id}` is about {seen:?}, but by now there is {now:?}");
            return Err(Violation::new("finished work is about what is there now", detail));
        }
    }
    Ok(())
}

impl Book {
    /// Tells whether with this event a task begins what it does, or gives at once.
    pub(super) fn begins(&self, id: &TaskId, event: &Event) -> bool {
        let stand = self.lines.get(id).map_or(Stand::Pending, |line| line.stand);
        match event {
            Event::AttemptStarted { .. }
            | Event::GateOpened { .. }
            | Event::PersonAsked { what: Asked::Answer | Asked::Work, .. }
            | Event::WaitBegun { .. }
            | Event::TaskOpened { key: Some(_), .. } => true,
            Event::JudgeAsked { of: JudgeOf::Result, .. } => stand == Stand::Pending,
            Event::TaskCompleted { .. } => {
                let grows = self
                    .defined
                    .get(id)
                    .is_some_and(|task| matches!(task.action, Some(Action::Map(_) | Action::Adopt(_))));
                stand == Stand::Pending || stand == Stand::Open && !grows
            }
            _ => false,
        }
    }

    /// What a task reads, as it is now.
    pub(super) fn seen_by(&self, id: &TaskId) -> Seen {
        let (Some(task), Some(line)) = (self.defined.get(id), self.lines.get(id)) else { return Seen::new() };
        let inputs = task.inputs.iter().map(|(name, input)| (format!("inputs.{name}"), input));
        let own = if line.way == 0 { task.action.as_ref() } else { None };
        let read = inputs.chain(own_inputs(own)).filter_map(|(name, input)| match input {
            Input::From(Reference::Task { task, path }) if path.len() < 2 => Some((name, self.value_of(task, path))),
            _ => None,
        });
        let mut seen: Seen = read.collect();
        for path in expressions(own).into_iter().flat_map(Expr::paths) {
            if let [root, read, output] = path.segments.as_slice()
                && root == "tasks"
                && let Ok(read) = TaskId::new(read)
                && self.awaits(id, &read)
            {
                let newest = self.newest.get(&read).filter(|id| self.defined.contains_key(*id));
                let value = self.lines.get(newest.unwrap_or(&read)).and_then(|line| line.outputs.get(output));
                seen.insert(path.segments.join("."), value.cloned());
            }
        }
        seen
    }

    /// Tells whether a task does anything with an input, or begins only when it is there: one of several routes may
    /// have led to it before what it reads was made.
    fn needs_input(&self, id: &TaskId, input: &str) -> bool {
        let Some(task) = self.defined.get(id) else { return true };
        match task.inputs.get(input) {
            Some(Input::From(Reference::Task { task: read, .. })) => {
                task.action.is_some() || self.awaits(id, &self.first_name(read))
            }
            _ => true,
        }
    }

    /// The name of a task in its first round.
    fn first_name(&self, id: &TaskId) -> TaskId {
        let round = self.defined.get(id).and_then(|task| task.round.as_ref());
        round.map_or_else(|| id.clone(), |round| round.of.clone())
    }

    /// Tells whether a task begins only when another one, or a round of it, is over: what is read besides is what
    /// happens to be there.
    fn awaits(&self, id: &TaskId, read: &TaskId) -> bool {
        let mut seen = BTreeSet::new();
        let mut look = vec![id.clone()];
        while let Some(at) = look.pop() {
            let around = std::iter::once(at.clone()).chain(self.ancestors(&at));
            for before in around.flat_map(|at| self.graph.waits.get(&at).into_iter().flatten()) {
                if self.first_name(before) == *read {
                    return true;
                }
                if seen.insert(before.clone()) {
                    look.push(before.clone());
                }
            }
        }
        false
    }

    /// What stands at the path of a reference to a task.
    fn value_of(&self, task: &TaskId, path: &[String]) -> Option<Value> {
        let outputs = &self.lines.get(task)?.outputs;
        match path.first() {
            None => serde_json::to_value(outputs).ok(),
            Some(output) => outputs.get(output).cloned(),
        }
    }
}

/// What an action reads besides the inputs of its task.
fn own_inputs(action: Option<&Action>) -> Vec<(String, &Input)> {
    match action {
        Some(Action::Tool(tool)) => tool.args.iter().map(|(name, input)| (format!("args.{name}"), input)).collect(),
        Some(Action::Plan(nested)) => nested.with.iter().map(|(name, input)| (format!("with.{name}"), input)).collect(),
        Some(Action::Map(map)) => vec![("over".to_owned(), &map.over)],
        Some(Action::Adopt(adopt)) => vec![("from".to_owned(), &adopt.0)],
        _ => Vec::new(),
    }
}

fn expressions(action: Option<&Action>) -> Vec<&Expr> {
    match action {
        Some(Action::Compute(compute)) => compute.0.values().collect(),
        Some(Action::Decide(decide)) => decide.options.iter().filter_map(|branch| branch.when.as_ref()).collect(),
        _ => Vec::new(),
    }
}
