//! Folds events into the state. The only code that changes a [`Life`].

use std::collections::BTreeSet;
use std::sync::Arc;

use super::results::Results;
use super::state::{State, TaskLife, UNANSWERED_MAX, Waiting, Watch};
use super::{Breaker, CheckpointMark, DoneWords, Life, Phase, Undoing};
use crate::effect::ArtifactRef;
use crate::event::{AfterUndo, AnswerTo, Asked, Entry, Event, JudgeOf, Source};
use crate::id::{AttemptNo, TaskNo};
use crate::input::Decision;
use crate::policy::{FailureClass, Remedy, Usage};
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
            Event::PlanPaused { .. } => self.set_phase(Phase::Paused { used_ms: self.used_ms(entry.at) }),
            Event::PlanResumed { .. } => {
                let used_ms = self.used_ms(entry.at);
                self.set_phase(Phase::Running { since: entry.at, used_ms, waits: false });
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
                if self.phase != Phase::Created {
                    self.count_added(diff.added.len() as u64);
                }
                self.count_round(diff);
                self.change_plan(|life| life.rebuild(diff, woken));
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
            }
            Event::Judged { task: None, verdicts, usage, .. } => {
                self.charge_plan(*usage);
                self.judge_owed = false;
                // Where nobody asks any more, only what it used counts.
                if matches!(self.done_words, DoneWords::Asked(_)) {
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
            other => self.apply_to_task(other, entry, woken),
        }
    }

    fn apply_to_task(&mut self, event: &Event, entry: &Entry, woken: &mut Vec<TaskNo>) {
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
            Event::TaskOpened { until, .. } => self.set_state(no, State::Open { until: *until }, woken),
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
                    timeout_at: *timeout_at,
                    lease_until: *lease_until,
                };
                self.change(no, woken, |life| {
                    life.attempt = *attempt;
                    life.in_doubt = false;
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
            Event::AttemptSucceeded { outputs, artifacts, outcome, usage, .. } => {
                self.end_attempt(no, *usage, woken, |life| {
                    life.outputs = Results::from(outputs);
                    life.keep(artifacts);
                    life.outcome.clone_from(outcome);
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
                }
                life.outputs = Results::from(outputs);
                life.key.clone_from(key);
                life.outcome.clone_from(outcome);
                life.source = *source;
                life.unjudged.clone_from(unjudged);
                life.done_seq = Some(entry.seq);
                // A fallback is no answer that could serve again.
                if *source != Source::Fallback {
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
                let waiting = Waiting::Judge { checks: checks.clone(), of: *of };
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
    fn enter(&mut self, no: TaskNo, state: State, watch: Watch, woken: &mut Vec<TaskNo>) {
        self.change(no, woken, |life| {
            life.state = state;
            life.watch = watch;
        });
    }

    /// Settles an attempt. The task stays as it is until the next event says what becomes of it.
    fn end_attempt(&mut self, no: TaskNo, usage: Usage, woken: &mut Vec<TaskNo>, change: impl FnOnce(&mut TaskLife)) {
        if let State::Running { reserved, charged, .. } = &Arc::clone(self.task(no)).state {
            self.settle(charged, *reserved, usage);
        }
        self.change(no, woken, |life| {
            change(life);
            life.spent = life.spent.plus(usage);
            if let State::Running { reserved, timeout_at, lease_until, .. } = &mut life.state {
                *reserved = Usage::default();
                *timeout_at = None;
                *lease_until = None;
            }
        });
    }

    /// When to tell someone about a task that now waits or runs.
    fn watch_for(&self, no: TaskNo, event: &Event, now: Timestamp) -> Watch {
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

    fn apply_reopened(&mut self, no: TaskNo, afresh: bool, woken: &mut Vec<TaskNo>) {
        for target in std::mem::take(&mut self.task_mut(no).taken) {
            self.task_mut(target).routes_taken -= 1;
            self.refresh(target, woken);
        }
        // A part of a finished composite makes it unfinished again.
        let closed: Vec<TaskNo> = self
            .ancestors(no)
            .take_while(|above| !matches!(self.task(*above).state, State::Open { .. } | State::Running { .. }))
            .collect();
        // While the own action of one above is under way, its parts wait for that.
        let under_way = self.ancestors(no).any(|above| matches!(self.task(above).state, State::Running { .. }));
        self.change(no, woken, |life| {
            if afresh {
                life.memo.clear();
                life.in_doubt = false;
            }
            life.retries = 0;
            life.losses = 0;
            life.repairs = 0;
            life.way = 0;
            life.feedback = None;
            life.failure = None;
            life.because = None;
            life.suspect = false;
            life.undone = false;
            life.judged_before = false;
            life.done_seq = None;
            life.outputs = Results::default();
            life.outcome = None;
            life.rest();
        });
        for above in closed {
            let until = self.timebox_end(above, self.last_at);
            let state = if under_way { State::Pending } else { State::Open { until } };
            self.change(above, woken, |life| life.resume(state));
            self.suspect_behind(above, woken);
        }
        self.suspect_behind(no, woken);
    }

    /// Everything finished behind a task that is done again may have to be done again, too.
    fn suspect_behind(&mut self, no: TaskNo, woken: &mut Vec<TaskNo>) {
        let mut stack: Vec<TaskNo> = self.behind(no);
        while let Some(no) = stack.pop() {
            let life = self.task(no);
            if life.state != State::Completed || life.suspect {
                continue;
            }
            self.change(no, woken, |life| life.suspect = true);
            stack.extend(self.behind(no));
            stack.extend(self.subtree(no).into_iter().skip(1));
        }
    }

    fn undo_step(&mut self, change: impl FnOnce(&mut Undoing)) {
        if let Some(undoing) = &mut self.undoing {
            change(Arc::make_mut(undoing));
        }
    }

    fn apply_undone(&mut self, no: TaskNo, woken: &mut Vec<TaskNo>) {
        let again = match &self.undoing {
            Some(undoing) => matches!(undoing.then, AfterUndo::Pause),
            None => false,
        };
        self.undo_step(|undoing| undoing.next(no));
        if let Some(tried) = self.task_mut(no).tried_seq.take() {
            self.tried.strike(tried);
        }
        match &self.task(no).state {
            State::Completed | State::Failed { .. } | State::Abandoned if again => self.apply_reopened(no, true, woken),
            State::Completed => self.change(no, woken, |life| {
                life.undone = true;
                life.because = Some("taken back".to_owned());
                life.end(State::Abandoned);
            }),
            // It was half done, or it was opened again meanwhile.
            _ => self.task_mut(no).undone = true,
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

impl Undoing {
    /// One task is dealt with.
    fn next(&mut self, done: TaskNo) {
        self.rest.retain(|other| *other != done);
        self.attempt = None;
        self.failures = 0;
        self.halted = None;
    }
}

impl TaskLife {
    /// Goes back to where it can start (again): a composite with children to its children.
    fn rest(&mut self) {
        self.state = State::Pending;
        self.watch = Watch::default();
    }

    /// Goes on after one of its parts was opened again.
    fn resume(&mut self, state: State) {
        self.state = state;
        self.watch = Watch::default();
        self.suspect = false;
        self.done_seq = None;
    }

    /// Remembers that an answer will have to be paid for.
    fn owe(&mut self, to: AnswerTo, attempt: AttemptNo) {
        self.owed.retain(|owed| *owed != (to, attempt));
        if self.owed.len() >= UNANSWERED_MAX {
            self.owed.remove(0);
        }
        self.owed.push((to, attempt));
    }

    /// What an answer used is counted: delivered again, it is not.
    fn paid(&mut self, to: AnswerTo, attempt: AttemptNo) {
        match to {
            AnswerTo::Attempt => self.unanswered.retain(|(unanswered, _)| *unanswered != attempt),
            AnswerTo::Verify | AnswerTo::Judge | AnswerTo::Undo => self.owed.retain(|owed| *owed != (to, attempt)),
        }
    }

    /// Remembers what was counted for an attempt that ended without an answer.
    fn expect_late_answer(&mut self, attempt: AttemptNo, counted: Usage) {
        if self.unanswered.len() >= UNANSWERED_MAX {
            self.unanswered.remove(0);
        }
        self.unanswered.push((attempt, counted));
    }

    /// Keeps pieces of output; a newer piece of the same name replaces the older.
    fn keep(&mut self, artifacts: &[ArtifactRef]) {
        self.artifacts.retain(|kept| !artifacts.iter().any(|newer| newer.name == kept.name));
        self.artifacts.extend(artifacts.iter().cloned());
    }

    fn end(&mut self, state: State) {
        self.state = state;
        self.watch = Watch::default();
        self.suspect = false;
    }
}
