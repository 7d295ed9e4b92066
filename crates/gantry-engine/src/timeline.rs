//! When things began and ended, and what was said about the plan as a whole: folded from the journal, beside the
//! life, which keeps no history, and kept with it in snapshots.

use std::collections::BTreeMap;

use gantry_core::event::{Entry, Event};
use gantry_core::id::TaskId;
use gantry_core::time::{Duration, Timestamp};
use serde::{Deserialize, Serialize};

/// When a task began and ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// When it began, or began again.
    pub began: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
}

impl Span {
    /// How long it took, or has taken until now.
    pub fn length(&self, now: Timestamp) -> Option<Duration> {
        self.began.map(|began| self.ended.unwrap_or(now) - began)
    }
}

/// When everything began and ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The plan.
    pub plan: Span,
    tasks: BTreeMap<TaskId, Span>,
    /// What one must know about the plan as a whole as it stands: who stopped it and why, what was not taken back.
    pub notes: Vec<Event>,
}

impl Timeline {
    /// Folds a journal.
    pub fn of(entries: &[Entry]) -> Self {
        let mut timeline = Self::default();
        timeline.apply(entries);
        timeline
    }

    /// When a task began and ended.
    pub fn task(&self, task: &TaskId) -> Span {
        self.tasks.get(task).copied().unwrap_or_default()
    }

    /// Folds more entries.
    pub fn apply(&mut self, entries: &[Entry]) {
        for entry in entries {
            self.take(entry);
        }
    }

    fn take(&mut self, entry: &Entry) {
        let at = Some(entry.at);
        self.note(&entry.event);
        match &entry.event {
            Event::PlanStarted => self.plan.began = self.plan.began.or(at),
            Event::PlanCompleted { .. } | Event::PlanFailed { .. } | Event::PlanAbandoned { .. } => {
                self.plan.ended = at;
            }
            Event::PlanReopened { .. } => self.plan.ended = None,
            Event::AttemptStarted { task, .. }
            | Event::TaskOpened { task, .. }
            | Event::GateOpened { task, .. }
            | Event::PersonAsked { task, .. }
            | Event::WaitBegun { task, .. } => {
                let span = self.tasks.entry(task.clone()).or_default();
                if span.began.is_none() || span.ended.is_some() {
                    *span = Span { began: at, ended: None };
                }
            }
            Event::TaskCompleted { task, .. } | Event::TaskFailed { task, .. } | Event::TaskAbandoned { task, .. } => {
                if let Some(span) = self.tasks.get_mut(task) {
                    span.ended = at;
                }
            }
            Event::TaskReopened { task, .. } => {
                self.tasks.remove(task);
            }
            _ => {} // nothing begins or ends
        }
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::PlanResumed { .. } | Event::PlanReopened { .. } | Event::BreakerReset => self.notes.clear(),
            Event::PlanPaused { .. }
            | Event::PlanAbandoned { .. }
            | Event::BreakerTripped { .. }
            | Event::UndoBegun { .. }
            | Event::UndoPassedOver { .. } => {
                self.notes.retain(|known| known != event);
                self.notes.push(event.clone());
            }
            _ => {} // about one task, or no longer so
        }
    }
}
