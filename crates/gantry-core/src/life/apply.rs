//! Folds events into the state. The only code that changes a [`Life`].

mod again; // what is done again, and what is taken back
mod to_task; // what an event does to the task that it is about

use std::collections::BTreeSet;
use std::sync::Arc;

use super::state::{State, Waiting, Watch};
use super::{Breaker, CheckpointMark, DoneWords, Life, Phase, Undoing};
use crate::event::{AfterUndo, Entry, Event};
use crate::id::TaskNo;
use crate::policy::Usage;
use crate::time::Timestamp;

impl Life {
    /// Applies events that are already on disk.
    pub fn apply(&mut self, entries: &[Entry]) {
        let mut woken = Vec::new();
        for entry in entries {
            woken.clear();
            self.apply_one(entry, &mut woken);
        }
    }

    /// Applies one event; tasks whose situation changed are added to `woken`.
    pub(super) fn apply_one(&mut self, entry: &Entry, woken: &mut Vec<TaskNo>) {
        self.length = entry.seq;
        self.last_at = entry.at;
        self.apply_event(entry, woken);
        self.keep_time(entry.at);
    }

    fn apply_event(&mut self, entry: &Entry, woken: &mut Vec<TaskNo>) {
        if Self::unsettles_done(&entry.event) {
            self.done_words = DoneWords::Unasked;
        }
        match &entry.event {
            Event::PlanForked { id, .. } => self.id = id.clone(),
            Event::PlanStarted => {
                self.set_phase(Phase::Running { since: entry.at, used_ms: 0, waits: false });
                woken.extend(self.roots.iter());
            }
            Event::PlanPaused { .. } => {
                self.set_phase(Phase::Paused { used_ms: self.used_ms(entry.at) });
                self.hold_timeboxes(woken);
            }
            Event::PlanResumed { .. } => {
                let used_ms = self.used_ms(entry.at);
                self.set_phase(Phase::Running { since: entry.at, used_ms, waits: false });
                self.release_timeboxes(woken);
            }
            Event::PlanReopened { .. } => {
                let used_ms = self.used_ms(entry.at);
                self.set_phase(Phase::Running { since: entry.at, used_ms, waits: false });
                // What people said after the end has changed the situation of others without anyone looking.
                woken.extend(self.numbers());
            }
            Event::PlanCompleted { .. } => {
                let used_ms = self.used_ms(entry.at);
                self.set_phase(Phase::Completed { used_ms });
            }
            Event::PlanFailed { causes } => {
                let used_ms = self.used_ms(entry.at);
                self.set_phase(Phase::Failed { causes: causes.clone(), used_ms });
            }
            Event::PlanAbandoned { .. } => self.abandon_all(woken),
            Event::PlanRevised { revision, diff, rationale, .. } => {
                self.revision = *revision;
                self.revisions.push_back((*revision, rationale.clone()));
                self.change_plan(|life| life.rebuild(diff, woken));
                if self.phase != Phase::Created {
                    self.count_added(&diff.added);
                }
            }
            Event::BreakerTripped { dimension, detail } => {
                let breaker = Breaker { dimension: *dimension, detail: detail.clone() };
                self.change_plan(|life| life.breaker = Some(breaker));
            }
            Event::BreakerReset => self.change_plan(|life| life.breaker = None),
            Event::CheckpointMade { id, name, .. } => {
                self.points.insert(id.clone(), entry.seq);
                self.points.insert(name.clone(), entry.seq);
                self.checkpoints.push_back(CheckpointMark { id: id.clone(), name: name.clone(), seq: entry.seq });
            }
            Event::FactsObserved { facts } => {
                for (name, value) in facts {
                    self.facts.insert(name.clone(), value.clone());
                }
                woken.extend(self.blocked_on(facts.keys().filter_map(|name| name.split('.').next())));
            }
            Event::HypothesisAdded { hypothesis } => {
                self.beliefs.insert(hypothesis.id.clone(), hypothesis.confidence);
            }
            Event::EvidenceAdded { hypothesis, confidence, .. } => {
                self.beliefs.insert(hypothesis.clone(), *confidence);
            }
            Event::DeadlineMissed { task: None } => self.change_plan(|life| life.deadline_missed = true),
            Event::UndoBegun { tasks, then, .. } => {
                let more: Vec<TaskNo> = tasks.iter().filter_map(|id| self.no(id.as_str())).collect();
                match &mut self.undoing {
                    // Another reason to take things back while that is going on: more to do, and the last word counts.
                    Some(undoing) => {
                        let tasks = Arc::clone(&self.tasks);
                        let moment = |no: &TaskNo| {
                            let life = &tasks[no.0 as usize - 1];
                            std::cmp::Reverse(life.done_seq.or(life.tried_seq))
                        };
                        let undoing = Arc::make_mut(undoing);
                        let known: BTreeSet<TaskNo> = undoing.rest.iter().copied().collect();
                        undoing.rest.extend(more.into_iter().filter(|no| !known.contains(no)));
                        // The last thing first, but for the one that is being taken back.
                        let under_way = usize::from(undoing.attempt.is_some());
                        let first = undoing.rest.first().copied();
                        undoing.rest[under_way..].sort_by_key(moment);
                        if undoing.rest.first().copied() != first {
                            undoing.halted = None;
                        }
                        if *then != AfterUndo::Fail {
                            undoing.then = then.clone();
                        }
                    }
                    None => {
                        let then = then.clone();
                        self.undoing =
                            Some(Arc::new(Undoing { rest: more, then, attempt: None, failures: 0, halted: None }));
                    }
                }
                if let AfterUndo::CompleteTask(task) = then
                    && let Some(no) = self.no(task.as_str())
                {
                    self.enter(no, State::Waiting(Waiting::Undo), Watch::default(), woken);
                }
            }
            Event::UndoFinished => self.undoing = None,
            Event::JudgeAsked { task: None, checks, .. } => {
                self.done_words = DoneWords::Asked(checks.clone());
                self.judge_owed = true;
                self.done_asked = entry.seq;
                self.done_failed = 0;
            }
            Event::JudgeFailed { task: None, usage, .. } => {
                self.charge_plan(*usage);
                self.done_failed += 1;
            }
            Event::Judged { task: None, verdicts, usage, .. } => {
                self.charge_plan(*usage);
                self.judge_owed = false;
                // Where nobody asks any more, or about something else, only what it used counts.
                if let DoneWords::Asked(checks) = &self.done_words
                    && checks.iter().all(|check| verdicts.iter().any(|verdict| verdict.check == *check))
                {
                    let holds = verdicts.iter().all(|verdict| verdict.holds);
                    self.done_words = if holds { DoneWords::Held } else { DoneWords::Unasked };
                }
            }
            // The first event makes the life itself (see `replay`); the others are for readers only.
            Event::PlanCreated { .. } | Event::NoteAdded { .. } => {}
            Event::AnswerIgnored { task, attempt, usage, to, .. } => {
                if let Some(no) = self.known_once(task) {
                    self.charge(no, *usage);
                    self.task_mut(no).paid(*to, *attempt);
                }
            }
            Event::RouteTaken { from, to, .. } => {
                let (Some(from), Some(to)) = (self.no(from.as_str()), self.no(to.as_str())) else { return };
                self.task_mut(from).taken.push(to);
                self.task_mut(to).routes_taken += 1;
                self.refresh(to, woken);
            }
            other => {
                self.apply_to_task(other, entry, woken);
                let opens = matches!(other, Event::TaskOpened { .. } | Event::TaskReopened { .. });
                if opens && matches!(self.phase, Phase::Paused { .. }) {
                    self.hold_timeboxes(woken);
                }
            }
        }
    }

    /// While the plan is paused, the time of its composites does not pass.
    fn hold_timeboxes(&mut self, woken: &mut Vec<TaskNo>) {
        let now = self.last_at;
        for no in self.open.clone() {
            if let State::Open { until: Some(until) } = self.task(no).state {
                self.change(no, woken, |life| {
                    life.box_left = Some(until - now);
                    life.state = State::Open { until: None };
                });
            }
        }
    }

    fn release_timeboxes(&mut self, woken: &mut Vec<TaskNo>) {
        for no in self.open.clone() {
            if self.task(no).box_left.is_some() {
                let until = self.timebox_end(no, self.last_at);
                self.change(no, woken, |life| {
                    life.box_left = None;
                    life.state = State::Open { until };
                });
            }
        }
    }

    /// Everything under way ends; what never began stays as it is.
    fn abandon_all(&mut self, woken: &mut Vec<TaskNo>) {
        self.set_phase(Phase::Abandoned);
        let under_way: Vec<TaskNo> =
            self.running.iter().chain(&self.waiting).chain(&self.blocked).chain(&self.open).copied().collect();
        for no in under_way {
            if let State::Running { reserved, charged, .. } = &Arc::clone(self.task(no)).state {
                self.settle(charged, *reserved, Usage::default());
            }
            self.set_state(no, State::Abandoned, woken);
        }
        self.undoing = None;
        self.timers.clear();
    }

    /// Stops the clock of the time budget while the plan waits for someone outside, and starts it again.
    fn keep_time(&mut self, at: Timestamp) {
        let Phase::Running { waits: waited, .. } = self.phase else { return };
        let waits = self.waits_for_others();
        if waits != waited {
            let used_ms = self.used_ms(at);
            self.set_phase(Phase::Running { since: at, used_ms, waits });
        }
    }

    /// How much of the time budget is used at this point.
    pub(super) fn used_ms(&self, now: Timestamp) -> u64 {
        match &self.phase {
            Phase::Running { used_ms, waits: true, .. } => *used_ms,
            Phase::Running { since, used_ms, waits: false } => used_ms + (now - *since).as_ms(),
            Phase::Paused { used_ms } | Phase::Completed { used_ms } | Phase::Failed { used_ms, .. } => *used_ms,
            Phase::Created | Phase::Abandoned => 0,
        }
    }
}
