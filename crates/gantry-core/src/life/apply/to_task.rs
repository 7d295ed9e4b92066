//! What an event does to the task that it is about.

use std::sync::Arc;

use crate::effect::ArtifactRef;
use crate::event::{AnswerTo, Asked, Entry, Event, JudgeOf, Source};
use crate::id::{AttemptNo, TaskNo};
use crate::input::Decision;
use crate::life::Life;
use crate::life::results::Results;
use crate::life::state::{State, TaskLife, UNANSWERED_MAX, Waiting, Watch};
use crate::policy::{FailureClass, Remedy, Usage};
use crate::time::Timestamp;

impl Life {
    pub(super) fn apply_to_task(&mut self, event: &Event, entry: &Entry, woken: &mut Vec<TaskNo>) {
        let Some(no) = event.task().and_then(|id| self.no(id.as_str())) else { return };
        if self.task(no).remembered {
            self.task_mut(no).put_by();
        }
        let watch = self.watch_for(no, event, entry.at);
        if matches!(event, Event::GateOpened { .. } | Event::PersonAsked { what: Asked::Answer | Asked::Work, .. }) {
            // What people are asked about: if it changes, they are asked again.
            let key = self.key(no).map(|(key, _)| key).unwrap_or_default();
            self.task_mut(no).key = key;
        }
        match event {
            Event::TaskOpened { until, key, .. } => self.change(no, woken, |life| {
                life.state = State::Open { until: *until };
                life.box_left = None;
                if let Some(key) = key {
                    life.key.clone_from(key);
                }
            }),
            Event::TaskBlocked { reason, needs, .. } => {
                // Another reason to be blocked does not start the watch anew.
                let still = matches!(self.task(no).state, State::Blocked { .. });
                let watch = if still { self.task(no).watch } else { watch };
                let state = State::Blocked { reason: reason.clone(), needs: needs.clone() };
                self.enter(no, state, watch, woken);
            }
            Event::TaskUnblocked { .. } => self.change(no, woken, TaskLife::rest),
            Event::AttemptStarted { attempt, key, reserved, timeout_at, lease_until, .. } => {
                if let Some(before) = self.task(no).tried_seq {
                    self.tried.strike(before);
                }
                self.tried.insert(entry.seq, no);
                self.task_mut(no).tried_seq = Some(entry.seq);
                let charged = self.reserve(no, *reserved);
                let state = State::Running {
                    attempt: *attempt,
                    reserved: *reserved,
                    charged,
                    since: entry.at,
                    timeout_at: *timeout_at,
                    lease_until: *lease_until,
                    prose: self.header.policy.prose,
                };
                self.change(no, woken, |life| {
                    life.attempt = *attempt;
                    life.in_doubt = false;
                    life.undone = false;
                    life.rolled_back = false;
                    // What is said about this attempt is not said about the result of another one.
                    life.outputs = Results::default();
                    life.outcome = None;
                    life.artifacts.clear();
                    life.key.clone_from(key);
                    life.state = state;
                    life.watch = watch;
                });
            }
            Event::LeaseExtended { until, .. } => self.change(no, woken, |life| {
                if let State::Running { lease_until, .. } = &mut life.state {
                    *lease_until = Some(*until);
                }
            }),
            Event::ProgressMade { artifacts, .. } => self.task_mut(no).keep(artifacts),
            Event::AttemptSucceeded { outputs, artifacts, outcome, shortfall, usage, .. } => {
                self.end_attempt(no, *usage, woken, |life| {
                    life.outputs = Results::from(outputs);
                    life.keep(artifacts);
                    life.outcome.clone_from(outcome);
                    life.shortfall.clone_from(shortfall);
                });
            }
            Event::AttemptFailed { attempt, failure, usage, unanswered, .. } => {
                self.end_attempt(no, *usage, woken, |life| {
                    if *unanswered {
                        life.expect_late_answer(*attempt, *usage);
                    }
                    life.losses += u32::from(failure.class == FailureClass::Lost);
                    life.failure = Some(failure.clone());
                    life.in_doubt = failure.class == FailureClass::Lost;
                    if life.in_doubt
                        && let State::Running { since, .. } = &mut life.state
                    {
                        *since = entry.at; // nobody knows how long it worked
                    }
                });
            }
            Event::RetryPlanned { remedy, at, feedback, .. } => self.change(no, woken, |life| {
                match remedy {
                    Remedy::Retry => life.retries += 1,
                    Remedy::Repair => life.repairs += 1,
                    Remedy::Alternate => {
                        life.way += 1;
                        life.retries = 0;
                        life.repairs = 0;
                    }
                    Remedy::Fallback | Remedy::Undo | Remedy::Escalate | Remedy::Abort => {}
                }
                life.feedback.clone_from(feedback);
                life.watch = Watch::default();
                life.state = State::Waiting(Waiting::Retry { at: *at });
            }),
            Event::TaskCompleted { key, outputs, outcome, source, unjudged, .. } => self.change(no, woken, |life| {
                if *source == Source::Recorded
                    && let Some(memo) = life.recall(key).cloned()
                {
                    life.artifacts.clone_from(&memo.artifacts);
                    life.shortfall = None;
                }
                life.outputs = Results::from(outputs);
                life.key.clone_from(key);
                life.outcome.clone_from(outcome);
                life.source = *source;
                life.unjudged.clone_from(unjudged);
                life.done_seq = Some(entry.seq);
                // What is less than was asked for is no answer that could serve again.
                if *source != Source::Fallback && life.shortfall.is_none() {
                    life.remember();
                }
                life.end(State::Completed);
            }),
            Event::TaskFailed { failure, handled, .. } => self.change(no, woken, |life| {
                life.failure = Some(failure.clone());
                life.end(State::Failed { handled: *handled });
            }),
            Event::TaskSkipped { because, by_hand, .. } => self.change(no, woken, |life| {
                life.because = Some(because.clone());
                life.end(State::Skipped { by_hand: *by_hand });
            }),
            Event::TaskAbandoned { because, .. } => self.change(no, woken, |life| {
                life.because = Some(because.clone());
                life.end(State::Abandoned);
            }),
            Event::TaskReopened { afresh, .. } => self.apply_reopened(no, *afresh, woken),
            Event::TaskConfirmed { .. } => self.change(no, woken, |life| life.suspect = false),
            Event::GateOpened { needed, revision, .. } => {
                let state =
                    State::Waiting(Waiting::Gate { needed: *needed, approved_by: Vec::new(), revision: *revision });
                self.enter(no, state, watch, woken);
            }
            Event::GateDecided { by, decision: Decision::Approve, .. } => self.change(no, woken, |life| {
                if let State::Waiting(Waiting::Gate { approved_by, .. }) = &mut life.state {
                    approved_by.push(by.clone());
                }
            }),
            Event::PersonAsked { what, until, .. } => {
                let waiting = match what {
                    Asked::Answer => Waiting::Answer { until: *until },
                    Asked::Work => Waiting::Work,
                    Asked::Help { failure } => Waiting::Help { failure: failure.clone() },
                };
                self.enter(no, State::Waiting(waiting), watch, woken);
            }
            Event::WaitBegun { until, .. } => {
                self.enter(no, State::Waiting(Waiting::Time { until: *until }), watch, woken);
            }
            Event::JudgeAsked { checks, of, outputs, outcome, .. } => {
                let waiting =
                    Waiting::Judge { checks: checks.clone(), of: *of, asked: entry.seq, failed: 0, why: String::new() };
                if *of == JudgeOf::Result {
                    let life = self.task_mut(no);
                    life.outputs = Results::from(outputs);
                    life.outcome.clone_from(outcome);
                }
                let attempt = self.task(no).attempt;
                self.task_mut(no).owe(AnswerTo::Judge, attempt);
                self.enter(no, State::Waiting(waiting), watch, woken);
            }
            Event::Judged { usage, .. } => {
                self.charge(no, *usage);
                let attempt = self.task(no).attempt;
                self.task_mut(no).paid(AnswerTo::Judge, attempt);
                let before = matches!(self.task(no).state, State::Waiting(Waiting::Judge { of: JudgeOf::Start, .. }));
                self.change(no, woken, |life| {
                    life.judged_before = before;
                    if before {
                        life.rest();
                    }
                });
            }
            Event::JudgeFailed { why: because, usage, .. } => {
                self.charge(no, *usage);
                self.change(no, woken, |life| {
                    if let State::Waiting(Waiting::Judge { failed, why, .. }) = &mut life.state {
                        *failed += 1;
                        why.clone_from(because);
                    }
                });
            }
            Event::Verified { attempt, happened, usage, .. } => {
                self.charge(no, *usage);
                self.task_mut(no).paid(AnswerTo::Verify, *attempt);
                if happened.is_some() {
                    self.task_mut(no).in_doubt = false;
                }
            }
            Event::PersonAnswered { evidence, .. } => {
                let life = self.task_mut(no);
                life.in_doubt = false;
                life.keep(evidence);
            }
            Event::VerifyAsked { attempt, .. } => {
                self.task_mut(no).owe(AnswerTo::Verify, *attempt);
                self.enter(no, State::Waiting(Waiting::Verify { attempt: *attempt }), watch, woken);
            }
            Event::Escalated { level, next_at, .. } => self.change(no, woken, |life| {
                life.watch = Watch { at: *next_at, level: *level };
            }),
            Event::DeadlineMissed { .. } => self.change(no, woken, |life| life.deadline_missed = true),
            Event::OutputEdited { outputs, .. } => {
                let life = self.task_mut(no);
                life.outputs = Results::from(outputs);
                life.remember();
            }
            Event::UndoStarted { attempt, .. } => {
                self.task_mut(no).owe(AnswerTo::Undo, *attempt);
                self.undo_step(|undoing| undoing.attempt = Some(*attempt));
            }
            Event::UndoFailed { attempt, usage, .. } => {
                self.charge(no, *usage);
                self.task_mut(no).paid(AnswerTo::Undo, *attempt);
                self.undo_step(|undoing| {
                    undoing.attempt = None;
                    undoing.failures += 1;
                });
            }
            Event::UndoHalted { reason, .. } => self.undo_step(|undoing| undoing.halted = Some(reason.clone())),
            Event::TaskUndone { usage, .. } => {
                self.charge(no, *usage);
                if let Some(attempt) = self.undoing.as_ref().and_then(|undoing| undoing.attempt) {
                    self.task_mut(no).paid(AnswerTo::Undo, attempt);
                }
                self.apply_undone(no, woken);
            }
            Event::UndoPassedOver { .. } => self.undo_step(|undoing| undoing.next(no)),
            // A decision that is no approval is followed by what comes of it.
            Event::GateDecided { decision: Decision::Reject | Decision::NeedsChanges, .. } => {}
            // Events about the plan, and those that `apply_one` has dealt with.
            Event::PlanCreated { .. }
            | Event::PlanForked { .. }
            | Event::PlanStarted
            | Event::PlanPaused { .. }
            | Event::PlanResumed { .. }
            | Event::PlanCompleted { .. }
            | Event::PlanFailed { .. }
            | Event::PlanAbandoned { .. }
            | Event::PlanReopened { .. }
            | Event::PlanRevised { .. }
            | Event::AnswerIgnored { .. }
            | Event::RouteTaken { .. }
            | Event::BreakerTripped { .. }
            | Event::BreakerReset
            | Event::UndoBegun { .. }
            | Event::UndoFinished
            | Event::CheckpointMade { .. }
            | Event::FactsObserved { .. }
            | Event::HypothesisAdded { .. }
            | Event::EvidenceAdded { .. }
            | Event::NoteAdded { .. } => {}
        }
        woken.extend(self.blocked_readers(no, event));
    }

    /// Enters a state in which someone may have to be told that it takes too long.
    pub(super) fn enter(&mut self, no: TaskNo, state: State, watch: Watch, woken: &mut Vec<TaskNo>) {
        self.change(no, woken, |life| {
            life.state = state;
            life.watch = watch;
        });
    }

    /// Settles an attempt. The task stays as it is until the next event says what becomes of it.
    pub(super) fn end_attempt(
        &mut self,
        no: TaskNo,
        usage: Usage,
        woken: &mut Vec<TaskNo>,
        change: impl FnOnce(&mut TaskLife),
    ) {
        if let State::Running { reserved, charged, .. } = &Arc::clone(self.task(no)).state {
            self.settle(charged, *reserved, usage);
        }
        let now = self.last_at;
        self.change(no, woken, |life| {
            change(life);
            life.spent = life.spent.plus(usage);
            if let State::Running { reserved, since, timeout_at, lease_until, .. } = &mut life.state {
                life.worked = life.worked.plus(now - std::mem::replace(since, now));
                *reserved = Usage::default();
                *timeout_at = None;
                *lease_until = None;
            }
        });
    }

    /// When to tell someone about a task that now waits or runs.
    pub(super) fn watch_for(&self, no: TaskNo, event: &Event, now: Timestamp) -> Watch {
        let task = &self.node(no).task;
        let own = if task.escalates { task.escalation.as_ref().map(|escalation| escalation.after) } else { None };
        let after = match event {
            Event::GateOpened { .. } => match &task.action {
                Some(crate::plan::Action::Gate(gate)) => {
                    gate.escalate_after.or(own).or(self.header.policy.escalate_after)
                }
                _ => own,
            },
            Event::PersonAsked { .. } => own.or(self.header.policy.escalate_after),
            _ => own,
        };
        Watch { at: after.map(|after| now + after), level: 0 }
    }
}

impl TaskLife {
    /// Goes back to where it can start (again): a composite with children to its children.
    pub(super) fn rest(&mut self) {
        self.state = State::Pending;
        self.watch = Watch::default();
    }

    /// Goes on after one of its parts was opened again.
    pub(super) fn resume(&mut self, state: State) {
        self.state = state;
        self.box_left = None;
        self.watch = Watch::default();
        self.suspect = false;
        self.done_seq = None;
    }

    /// Remembers that an answer will have to be paid for.
    pub(super) fn owe(&mut self, to: AnswerTo, attempt: AttemptNo) {
        self.owed.retain(|owed| *owed != (to, attempt));
        if self.owed.len() >= UNANSWERED_MAX {
            self.owed.remove(0);
        }
        self.owed.push((to, attempt));
    }

    /// What an answer used is counted: delivered again, it is not.
    pub(super) fn paid(&mut self, to: AnswerTo, attempt: AttemptNo) {
        match to {
            AnswerTo::Attempt => self.unanswered.retain(|(unanswered, _)| *unanswered != attempt),
            AnswerTo::Verify | AnswerTo::Judge | AnswerTo::Undo => self.owed.retain(|owed| *owed != (to, attempt)),
        }
    }

    /// Remembers what was counted for an attempt that ended without an answer.
    pub(super) fn expect_late_answer(&mut self, attempt: AttemptNo, counted: Usage) {
        if self.unanswered.len() >= UNANSWERED_MAX {
            self.unanswered.remove(0);
        }
        self.unanswered.push((attempt, counted));
    }

    /// Keeps pieces of output; a newer piece of the same name replaces the older.
    pub(super) fn keep(&mut self, artifacts: &[ArtifactRef]) {
        self.artifacts.retain(|kept| !artifacts.iter().any(|newer| newer.name == kept.name));
        self.artifacts.extend(artifacts.iter().cloned());
    }

    pub(super) fn end(&mut self, state: State) {
        self.state = state;
        self.box_left = None;
        self.watch = Watch::default();
        self.suspect = false;
    }
}
