//! Blocked tasks are looked at again when something that they read has changed, and only then.

use std::collections::BTreeSet;

use super::Life;
use super::state::State;
use crate::event::Event;
use crate::expr::Expr;
use crate::id::TaskNo;
use crate::plan::{Check, Reference, references};

/// The name under which all readers of artifacts are found.
const ARTIFACTS: &str = "artifacts";

impl Life {
    /// What must hold before a task starts: its own preconditions and those of the tools that it uses.
    pub(super) fn preconditions_of(&self, no: TaskNo) -> impl Iterator<Item = &Check> {
        let node = self.node(no);
        let tools = self.header.capabilities.iter().filter(|tool| {
            node.capabilities().any(|name| name == tool.name) || node.task.capabilities.contains(&tool.name)
        });
        node.task.preconditions.iter().chain(tools.flat_map(|tool| &tool.preconditions))
    }

    /// The names that decide whether a task can start: tasks, and facts by the first part of their name.
    fn names_read(&self, no: TaskNo) -> BTreeSet<String> {
        let exprs = self.preconditions_of(no).filter_map(|check| match check {
            Check::Expr(expr) => Some(expr),
            Check::Words(_) => None,
        });
        let in_checks = exprs.flat_map(Expr::paths).filter_map(|path| match path.segments.as_slice() {
            [root, task, ..] if root == "tasks" => Some(task.clone()),
            [root, ..] => Some(root.clone()),
            [] => None,
        });
        let in_inputs = references(&self.node(no).task).into_iter().map(|(_, reference)| match reference {
            Reference::Task { task, .. } => task.to_string(),
            Reference::Artifact { .. } => ARTIFACTS.to_owned(),
            Reference::Memory { .. } => "memory".to_owned(),
        });
        in_checks.chain(in_inputs).collect()
    }

    /// Has a blocked task looked at when something that it reads changes.
    pub(super) fn watch_names(&mut self, no: TaskNo) {
        for name in self.names_read(no) {
            self.watchers.entry(name).or_default().insert(no);
        }
    }

    /// Takes back [`Life::watch_names`].
    pub(super) fn unwatch_names(&mut self, no: TaskNo) {
        for name in self.names_read(no) {
            if let Some(watching) = self.watchers.get_mut(&name) {
                watching.remove(&no);
                if watching.is_empty() {
                    self.watchers.remove(&name);
                }
            }
        }
    }

    /// Does something to the header that may change what blocked tasks read.
    pub(super) fn change_header(&mut self, change: impl FnOnce(&mut Self)) {
        let blocked: Vec<TaskNo> = self.blocked.iter().copied().collect();
        for no in &blocked {
            self.unwatch_names(*no);
        }
        change(self);
        for no in &blocked {
            self.watch_names(*no);
        }
    }

    /// The blocked tasks that an event about this task may let go.
    pub(super) fn blocked_readers(&self, no: TaskNo, event: &Event) -> Vec<TaskNo> {
        let changes_what_others_read = matches!(event, Event::OutputEdited { .. } | Event::TaskReopened { .. })
            || self.task(no).state.is_final() && !matches!(event, Event::DeadlineMissed { .. });
        if self.watchers.is_empty() || !changes_what_others_read {
            return Vec::new();
        }
        let task = &self.node(no).task;
        let round_of = task.round.as_ref().map(|round| round.of.as_str());
        let names = [Some(task.id.as_str()), round_of, Some(ARTIFACTS), Some("tasks")];
        self.blocked_on(names.into_iter().flatten())
    }

    /// The blocked tasks that read one of these names.
    pub(super) fn blocked_on<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<TaskNo> {
        let all: BTreeSet<TaskNo> = names.filter_map(|name| self.watchers.get(name)).flatten().copied().collect();
        debug_assert!(all.iter().all(|no| matches!(self.task(*no).state, State::Blocked { .. })));
        all.into_iter().collect()
    }
}
