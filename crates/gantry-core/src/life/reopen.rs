//! Doing finished work again: exactly the tasks whose keys change.

use std::collections::BTreeSet;

use super::Refusal;
use super::draft::Draft;
use super::state::{State, Waiting};
use crate::event::{Event, Outputs};
use crate::id::{TaskId, TaskNo};
use crate::plan::Action;

impl Draft {
    /// Opens a task again; whoever waits behind it with a question withdraws it.
    pub(super) fn reopen(&mut self, no: TaskNo, because: &str, afresh: bool) {
        self.record(Event::TaskReopened { task: self.id(no), because: because.to_owned(), afresh });
        self.withdraw_behind(no);
    }

    /// Withdraws the questions behind a task that is done again.
    pub(super) fn withdraw_behind(&mut self, no: TaskNo) {
        let mut seen = BTreeSet::new();
        let mut stack: Vec<TaskNo> = self.life.behind(no);
        while let Some(behind) = stack.pop() {
            if !seen.insert(behind) {
                continue;
            }
            match &self.life.task(behind).state {
                State::Waiting(_) | State::Blocked { .. } => {
                    let because = format!("`{}` before it is done again", self.id(no));
                    self.record(Event::TaskReopened { task: self.id(behind), because, afresh: false });
                }
                State::Completed | State::Open { .. } => {
                    stack.extend(self.life.behind(behind));
                    stack.extend(&self.life.node(behind).children);
                }
                _ => {}
            }
        }
    }

    /// A finished task whose inputs were made again: is it still the same work?
    pub(super) fn recheck(&mut self, no: TaskNo) {
        let node = self.life.node(no);
        let led_to = node.routed_from.is_empty() || self.life.task(no).routes_taken > 0;
        if led_to && self.life.key(no).is_ok_and(|(key, _)| key == self.life.task(no).key) {
            self.record(Event::TaskConfirmed { task: self.id(no) });
        } else {
            self.reopen(no, "what it works on has changed", false);
        }
    }

    /// Opens a finished or failed task again if its definition or inputs changed.
    pub(super) fn redo_if_changed(&mut self, no: TaskNo) {
        let life = self.life.task(no);
        let changed = self.life.key(no).map_or(true, |(key, _)| key != life.key);
        match &life.state {
            State::Completed if changed && !life.suspect => {
                self.reopen(no, "its definition or input has changed", false);
            }
            State::Open { .. } if changed && self.life.is_grown(no) => {
                self.reopen(no, "what its parts were made of has changed", false);
            }
            State::Failed { .. } | State::Waiting(_) | State::Blocked { .. } => {
                self.reopen(no, "its definition has changed", false);
            }
            _ => {}
        }
    }

    pub(super) fn edit_output(&mut self, task: &TaskId, by: &str, why: &str, outputs: &Outputs) -> Result<(), Refusal> {
        let no = self.life.known(task)?;
        if self.life.task(no).state != State::Completed {
            return Err(Refusal::NotFinished { task: task.to_string() });
        }
        if *self.life.task(no).outputs == *outputs {
            return Err(Refusal::NothingChanges);
        }
        self.record(Event::OutputEdited {
            task: task.clone(),
            outputs: outputs.clone(),
            by: by.to_owned(),
            why: why.to_owned(),
        });
        let stale = |reader: &TaskNo| {
            let life = self.life.task(*reader);
            let answered = life.state == State::Completed && !life.suspect;
            let asked = matches!(
                life.state,
                State::Waiting(Waiting::Gate { .. } | Waiting::Answer { .. } | Waiting::Work | Waiting::Judge { .. })
            );
            (answered || asked || self.life.is_grown(*reader))
                && self.life.key(*reader).map_or(true, |(key, _)| key != life.key)
        };
        let mut readers: Vec<TaskNo> = self.life.behind(no).into_iter().filter(stale).collect();
        // The results of a map, and what a composite's own gate approved, are made of its parts.
        readers.extend(self.life.node(no).parent.filter(|parent| {
            let composite = self.life.node(*parent);
            let reads = matches!(composite.task.action, Some(Action::Map(_) | Action::Gate(_)));
            reads && self.life.task(*parent).state == State::Completed
        }));
        if readers.is_empty() {
            return Ok(());
        }
        self.reopen_plan(&format!("{by} edited the output of `{task}`"))?;
        for reader in readers {
            // The key of a map says nothing about its parts, so its recorded results would serve again.
            let afresh = self.life.node(no).parent == Some(reader)
                && matches!(self.life.node(reader).task.action, Some(Action::Map(_)));
            self.reopen(reader, &format!("{by} edited the output of `{task}`"), afresh);
        }
        Ok(())
    }
}
