//! An attempt ends, is silent, or turns out to be lost.

use super::draft::Draft;
use super::start_task::lease_length;
use super::state::{State, Waiting};
use super::{Life, Refusal};
use crate::effect::{ArtifactRef, Effect, Failure};
use crate::event::{AnswerTo, Event, Outputs, Source};
use crate::id::{AttemptNo, TaskId, TaskNo};
use crate::input::Success;
use crate::plan::{Action, Idempotency};
use crate::policy::{FailureClass, Usage};
use crate::time::Timestamp;

/// How often in a row a task may be interrupted before that counts as its failure.
const LOSSES_MAX: u32 = 20;

impl Life {
    /// The task whose attempt is under way under this number; why not, otherwise.
    fn attempt_under_way(&self, task: &TaskId, attempt: AttemptNo) -> Result<Result<TaskNo, String>, Refusal> {
        let no = self.known_once(task).ok_or_else(|| Refusal::UnknownTask { task: task.to_string() })?;
        let life = self.task(no);
        Ok(match &life.state {
            _ if self.node(no).removed => Err("the task is no longer part of the plan".to_owned()),
            State::Running { attempt: current, .. } if *current == attempt => Ok(no),
            State::Running { attempt: current, .. } => Err(format!("attempt {current} is under way")),
            _ if attempt.0 > life.attempt.0 => Err(format!("there was no attempt {attempt}")),
            state => Err(format!("the attempt is over and the task is {}", state.name())),
        })
    }

    /// What a late answer adds to what was counted when its attempt ended.
    ///
    /// An attempt answers once: where an answer was counted before, this is the same one delivered again.
    fn beyond_counted(&self, task: &TaskId, attempt: AttemptNo, usage: Usage) -> Usage {
        let counted = self
            .known_once(task)
            .and_then(|no| self.task(no).unanswered.iter().find(|(unanswered, _)| *unanswered == attempt));
        counted.map_or_else(Usage::default, |(_, counted)| usage.minus(*counted))
    }

    /// What a late answer to another question used, unless an answer to it was counted before.
    pub(super) fn owed_for(&self, no: TaskNo, to: AnswerTo, attempt: AttemptNo, usage: Usage) -> Usage {
        if self.task(no).owed.contains(&(to, attempt)) { usage } else { Usage::default() }
    }
}

impl Draft {
    pub(super) fn end_attempt(
        &mut self,
        task: &TaskId,
        attempt: AttemptNo,
        end: &Result<Success, Failure>,
        usage: Usage,
    ) -> Result<(), Refusal> {
        let no = match self.life.attempt_under_way(task, attempt)? {
            Ok(no) => no,
            Err(reason) => {
                let usage = self.life.beyond_counted(task, attempt, usage);
                self.ignore(task, attempt, AnswerTo::Attempt, reason, usage);
                return Ok(());
            }
        };
        match end {
            Ok(success) => {
                self.record(Event::AttemptSucceeded {
                    task: task.clone(),
                    attempt,
                    outputs: success.outputs.clone(),
                    artifacts: success.artifacts.clone(),
                    outcome: success.outcome.clone(),
                    shortfall: success.shortfall.clone(),
                    usage,
                });
                self.trip_if_overrun();
                if self.is_stale(no) {
                    self.record(Event::TaskReopened {
                        task: task.clone(),
                        because: "what it worked on has changed meanwhile".to_owned(),
                        afresh: false,
                    });
                } else {
                    self.accept(no, success.outputs.clone(), success.outcome.clone(), Source::Made);
                }
            }
            Err(failure) => {
                self.record(Event::AttemptFailed {
                    task: task.clone(),
                    attempt,
                    failure: failure.clone(),
                    usage,
                    unanswered: false,
                });
                self.trip_if_overrun();
                self.fail(no, failure.clone());
            }
        }
        Ok(())
    }

    /// Tells whether the attempt that just ended worked on something that is no longer true.
    fn is_stale(&self, no: TaskNo) -> bool {
        let life = self.life.task(no);
        life.unmet > 0 || life.children_open > 0 || self.life.key(no).map_or(true, |(key, _)| key != life.key)
    }

    /// Writes down an answer that nobody waits for any more; what it used was used all the same.
    pub(super) fn ignore(&mut self, task: &TaskId, attempt: AttemptNo, to: AnswerTo, reason: String, usage: Usage) {
        self.record(Event::AnswerIgnored { task: task.clone(), attempt, reason, usage, to });
        self.trip_if_overrun();
    }

    /// What was really used may be more than was set aside: then nothing new starts.
    pub(super) fn trip_if_overrun(&mut self) {
        if self.life.is_under_way()
            && self.life.breaker.is_none()
            && let Some((dimension, detail)) = self.life.overrun()
        {
            self.record(Event::BreakerTripped { dimension, detail: detail.clone() });
            self.wish(Effect::Notify { to: String::new(), task: None, text: detail });
        }
    }

    pub(super) fn heartbeat(
        &mut self,
        task: &TaskId,
        attempt: AttemptNo,
        note: &str,
        artifacts: &[ArtifactRef],
    ) -> Result<(), Refusal> {
        let Ok(no) = self.life.attempt_under_way(task, attempt)? else {
            // A runner that works on something that is over should stop; its heartbeats are no news.
            self.wish(Effect::CancelAttempt { task: task.clone(), attempt, why: "it is over".to_owned() });
            return Ok(());
        };
        if !note.is_empty() || !artifacts.is_empty() {
            self.record(Event::ProgressMade {
                task: task.clone(),
                attempt,
                note: note.to_owned(),
                artifacts: artifacts.to_vec(),
            });
        }
        // However often a runner is heard from: a lease is renewed once a third of it, one heartbeat, is gone.
        if let (Some(until), Some(heartbeat)) = (self.lease(no), self.life.node(no).task.heartbeat) {
            let length = lease_length(heartbeat);
            if (until - self.now).as_ms() * 3 <= length.as_ms() * 2 {
                self.record(Event::LeaseExtended { task: task.clone(), attempt, until: self.now + length });
            }
        }
        Ok(())
    }

    fn lease(&self, no: TaskNo) -> Option<Timestamp> {
        match &self.life.task(no).state {
            State::Running { lease_until, .. } => *lease_until,
            _ => None,
        }
    }

    /// The process was away: everything in flight is lost, everything that can be asked again is.
    pub(super) fn recover_lost(&mut self) {
        let waiting = self.life.waiting.clone();
        self.ask_judges_again();
        for no in self.life.running.clone() {
            if !self.take_up(no) {
                self.interrupt(no);
            }
        }
        for no in waiting {
            self.verify_again(no);
        }
        for no in self.life.blocked.clone() {
            if let State::Blocked { needs, .. } = &self.life.task(no).state
                && !needs.is_empty()
            {
                self.wish(Effect::Observe { facts: needs.clone() });
            }
        }
        self.restart_undo();
    }

    /// Has someone find out again whether an attempt happened: asking twice does no harm.
    fn verify_again(&mut self, no: TaskNo) {
        if let State::Waiting(Waiting::Verify { attempt }) = &self.life.task(no).state
            && let Some(action) = self.life.node(no).task.verify.clone()
        {
            self.wish(Effect::Verify { task: self.id(no), attempt: *attempt, action });
        }
    }

    /// What writes down its steps is not lost with a process: its attempt is taken up where it is.
    fn take_up(&mut self, no: TaskNo) -> bool {
        let life = self.life.task(no);
        let State::Running { attempt, reserved, prose, .. } = &life.state else { return false };
        let (attempt, reserved) = (*attempt, *reserved);
        // Another one does not go on with what an agent, or a model, has begun.
        if *prose != self.life.header.policy.prose && self.prose(no).is_some() {
            return false;
        }
        let known = self.life.key(no).ok().filter(|(key, _)| *key == life.key);
        let action = self.effective_action(no).filter(Action::keeps_steps);
        let (Some(action), Some((key, inputs))) = (action, known) else { return false };
        if let Some(heartbeat) = self.life.node(no).task.heartbeat {
            let until = self.now + lease_length(heartbeat);
            self.record(Event::LeaseExtended { task: self.id(no), attempt, until });
        }
        self.wish_attempt(no, attempt, action, (key, inputs), reserved);
        true
    }

    /// The process that ran an attempt went away. That is not the task's fault: what is safe to repeat is ready again
    /// at once and as often as before, unless it is what the process keeps going away over.
    fn interrupt(&mut self, no: TaskNo) {
        let why = "the process that ran it went away";
        let life = self.life.task(no);
        if self.life.node(no).task.repeatable() != Idempotency::Safe || life.losses >= LOSSES_MAX {
            return self.lose(no, why);
        }
        let State::Running { attempt, reserved, .. } = &life.state else { return };
        let (task, attempt, usage) = (self.id(no), *attempt, self.life.used_unanswered(no, *reserved));
        let failure = Failure::new(FailureClass::Lost, why);
        self.record(Event::AttemptFailed { task: task.clone(), attempt, failure, usage, unanswered: true });
        self.trip_if_overrun();
        self.record(Event::TaskUnblocked { task });
    }

    /// No answer will come for the attempt under way: it may or may not have happened.
    pub(super) fn lose(&mut self, no: TaskNo, why: &str) {
        self.break_off(no, FailureClass::Lost, why);
    }

    /// Ends the attempt under way without an answer.
    pub(super) fn break_off(&mut self, no: TaskNo, class: FailureClass, why: &str) {
        let State::Running { attempt, reserved, .. } = &self.life.task(no).state else { return };
        // A plan inside is no guess: what it used is in its own record, and its late answer says so.
        let nests = matches!(self.life.action_now(no), Some(Action::Plan(_)));
        let usage = if nests { Usage::default() } else { self.life.used_unanswered(no, *reserved) };
        let (task, attempt, failure) = (self.id(no), *attempt, Failure::new(class, why));
        self.record(Event::AttemptFailed { task, attempt, failure: failure.clone(), usage, unanswered: true });
        // Meanwhile others may have used what it had set aside.
        self.trip_if_overrun();
        self.fail(no, failure);
    }

    pub(super) fn verified(
        &mut self,
        task: &TaskId,
        attempt: AttemptNo,
        happened: Option<bool>,
        outputs: &Outputs,
        usage: Usage,
    ) -> Result<(), Refusal> {
        let no = self.life.no(task.as_str()).ok_or_else(|| Refusal::UnknownTask { task: task.to_string() })?;
        if self.life.task(no).state != State::Waiting(Waiting::Verify { attempt }) {
            let reason = "nobody asks whether it happened any more".to_owned();
            let usage = self.life.owed_for(no, AnswerTo::Verify, attempt, usage);
            self.ignore(task, attempt, AnswerTo::Verify, reason, usage);
            return Ok(());
        }
        self.record(Event::Verified { task: task.clone(), attempt, happened, usage });
        self.trip_if_overrun();
        match happened {
            // It happened, but for what was there then.
            Some(true) if self.is_stale(no) => self.record(Event::TaskReopened {
                task: task.clone(),
                because: "what it worked on has changed meanwhile".to_owned(),
                afresh: false,
            }),
            Some(true) => self.accept(no, outputs.clone(), None, Source::Made),
            Some(false) => {
                let failure = Failure::new(FailureClass::Lost, "the attempt was lost and did not happen");
                self.recover(no, failure);
            }
            None => {
                self.ask_for_help(no, Failure::new(FailureClass::Lost, "the attempt was lost and may have happened"));
            }
        }
        Ok(())
    }
}
