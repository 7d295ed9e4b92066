//! A failure is answered: by the task's own failure modes, then by the policy for its class.

use super::Life;
use super::draft::Draft;
use super::follow_route::Ending;
use super::key::draw;
use super::scope::Sight;
use crate::effect::{Effect, Failure};
use crate::event::{AfterUndo, Asked, Event, Source};
use crate::id::{TaskId, TaskNo};
use crate::plan::{Action, Check, FailureMode, Idempotency, On};
use crate::policy::{FailureClass, Remedy};

impl Draft {
    /// Answers a failure.
    pub(super) fn fail(&mut self, no: TaskNo, failure: Failure) {
        // Whatever the plan says about failures: what someone has to approve is not done without them.
        if failure.is_needs_approval() {
            return self.ask_for_help(no, failure);
        }
        // Whatever the plan says about failures: what may have happened is not repeated blindly.
        if failure.class == FailureClass::Lost && self.life.node(no).task.repeatable() == Idempotency::Unsafe {
            return self.find_out(no, failure);
        }
        self.recover(no, failure);
    }

    /// Does what the task's failure modes say, else what the policy says.
    pub(super) fn recover(&mut self, no: TaskNo, failure: Failure) {
        if let Some(mode) = self.detect_mode(no, &failure)
            && self.recover_by_mode(no, &mode, &failure)
        {
            return;
        }
        self.remedy(no, failure);
    }

    /// A lost attempt that is not safe to repeat: find out whether it happened, or ask a person.
    pub(super) fn find_out(&mut self, no: TaskNo, failure: Failure) {
        let task = std::sync::Arc::clone(&self.life.node(no).task);
        match &task.verify {
            Some(action) => {
                let attempt = self.life.task(no).attempt;
                self.record(Event::VerifyAsked { task: task.id.clone(), attempt });
                self.wish(Effect::Verify { task: task.id.clone(), attempt, action: action.clone() });
            }
            None => self.ask_for_help(no, failure),
        }
    }

    /// The failure mode that this failure is: as the runner says, else by its own test.
    fn detect_mode(&mut self, no: TaskNo, failure: &Failure) -> Option<FailureMode> {
        let task = std::sync::Arc::clone(&self.life.node(no).task);
        if let Some(name) = &failure.mode {
            return task.failure_modes.iter().find(|mode| mode.name == *name).cloned();
        }
        for mode in &task.failure_modes {
            let Some(Check::Expr(detect)) = &mode.detect else { continue };
            let sight = Sight { failure: Some(failure), ..Sight::of(&self.life, Some(no)) };
            match detect.test(&sight) {
                Ok(finding) if finding.holds => return Some(mode.clone()),
                Ok(_) => {}
                Err(error) => self
                    .say(no, &format!("whether it is `{}` cannot be told: `{}`: {error}", mode.name, detect.source())),
            }
        }
        None
    }

    /// Does what the failure mode says; false when that cannot be done (any more).
    fn recover_by_mode(&mut self, no: TaskNo, mode: &FailureMode, failure: &Failure) -> bool {
        let Some(recover) = mode.recover.as_deref() else { return false };
        let keyword: Result<Remedy, _> = serde_json::from_value(serde_json::Value::String(recover.to_owned()));
        if let Ok(remedy) = keyword {
            return self.apply_remedy(no, remedy, failure);
        }
        if let Some(to) = self.life.no(recover) {
            let (from, to) = (self.id(no), self.id(to));
            self.record(Event::RouteTaken { from: from.clone(), to, on: On::Outcome(mode.name.clone()) });
            self.follow_always(no, failure);
            self.record(Event::TaskFailed { task: from.clone(), failure: failure.clone(), handled: true });
            self.abandon_parts(no, &format!("`{from}` failed"));
            return true;
        }
        let guided = self.life.task(no).repairs < self.life.header.policy.recovery.repairs_max;
        if guided {
            self.plan_retry(no, Remedy::Repair, Some(recover.to_owned()), failure);
        }
        guided
    }

    /// Answers the failure of a composite as its failure modes say. Its parts have had their own remedies, and starting it
    /// once more would find them as they are, so only what does not try it again can be done.
    pub(super) fn recover_composite(&mut self, no: TaskNo, failure: Failure) {
        let is_usable =
            |life: &Life, recover: &str| matches!(recover, "fallback" | "undo" | "abort") || life.no(recover).is_some();
        if let Some(mode) = self.detect_mode(no, &failure)
            && mode.recover.as_deref().is_some_and(|recover| is_usable(&self.life, recover))
            && self.recover_by_mode(no, &mode, &failure)
        {
            return;
        }
        if !self.apply_remedy(no, Remedy::Fallback, &failure) {
            self.give_up(no, failure);
        }
    }

    /// Tries the remedies of the failure's class in order.
    fn remedy(&mut self, no: TaskNo, failure: Failure) {
        let own_retry = self.life.node(no).task.retry.is_some() && failure.class == FailureClass::Logic;
        if own_retry && self.apply_remedy(no, Remedy::Retry, &failure) {
            return;
        }
        let remedies = self.life.header.policy.recovery.remedies(failure.class).to_vec();
        // Whoever wrote down another way meant it for when the first one is not there.
        let other_ways = if failure.is_missing_capability() { &[Remedy::Alternate, Remedy::Fallback][..] } else { &[] };
        for remedy in other_ways.iter().copied().chain(remedies) {
            if self.apply_remedy(no, remedy, &failure) {
                return;
            }
        }
        self.give_up(no, failure);
    }

    /// Applies one remedy; false when it cannot be used (any more).
    pub(super) fn apply_remedy(&mut self, no: TaskNo, remedy: Remedy, failure: &Failure) -> bool {
        let task = std::sync::Arc::clone(&self.life.node(no).task);
        let life = self.life.task(no);
        let policy = &self.life.header.policy;
        match remedy {
            Remedy::Retry => {
                let retry = task.retry.or(policy.retry).unwrap_or_default();
                let usable = life.retries < retry.max;
                if usable {
                    self.plan_retry(no, remedy, Some(failure.message.clone()), failure);
                }
                usable
            }
            Remedy::Repair => {
                let usable = life.repairs < policy.recovery.repairs_max && self.can_use_feedback(no);
                if usable {
                    self.plan_retry(no, remedy, Some(failure.message.clone()), failure);
                }
                usable
            }
            Remedy::Alternate => {
                // Another way around a gate would be a way past the people who decide.
                let usable = (life.way as usize) < task.alternates.len() && !self.life.node(no).is_gate();
                if usable {
                    self.plan_retry(no, remedy, Some(failure.message.clone()), failure);
                }
                usable
            }
            Remedy::Fallback => match &task.fallback {
                Some(outputs) if !policy.strict => {
                    self.complete(no, outputs.clone(), None, Source::Fallback, Vec::new());
                    true
                }
                Some(_) | None => false,
            },
            Remedy::Undo => {
                self.give_up(no, failure.clone());
                let scope = self.life.node(no).parent;
                self.stop_within(scope, &format!("what `{}` was part of is taken back", task.id));
                self.begin_undo(self.life.done_within(scope), AfterUndo::Fail, &failure.message);
                true
            }
            Remedy::Escalate => {
                self.ask_for_help(no, failure.clone());
                true
            }
            Remedy::Abort => {
                let id = self.id(no);
                self.give_up(no, failure.clone());
                self.abort(&format!("task `{id}` failed and the policy is to abort: {}", failure.message));
                true
            }
        }
    }

    /// Being told what was wrong helps a model or an agent, not a command.
    fn can_use_feedback(&self, no: TaskNo) -> bool {
        matches!(self.effective_action(no), Some(Action::Model(_) | Action::Agent(_) | Action::Plan(_)))
    }

    fn plan_retry(&mut self, no: TaskNo, remedy: Remedy, feedback: Option<String>, failure: &Failure) {
        let life = self.life.task(no);
        let mut at = self.now;
        if remedy == Remedy::Retry {
            let retry = self.life.node(no).task.retry.or(self.life.header.policy.retry).unwrap_or_default();
            at = at + retry.wait(life.retries + 1, draw(self.life.seed, no, life.attempt.0));
        }
        if let Some(wait) = failure.retry_after {
            at = at.max(self.now + wait);
        }
        self.record(Event::RetryPlanned { task: self.id(no), remedy, at, feedback });
        if at <= self.now {
            self.record(Event::TaskUnblocked { task: self.id(no) });
        }
    }

    /// A person is asked what to do.
    pub(super) fn ask_for_help(&mut self, no: TaskNo, failure: Failure) {
        let question = if failure.is_needs_approval() { "may this be done" } else { "what shall be done about this" };
        let text = format!("{question}: {}", failure.message);
        self.record(Event::PersonAsked { task: self.id(no), what: Asked::Help { failure }, until: None });
        self.wish(Effect::Notify { to: self.owner_of(no), task: Some(self.id(no)), text });
    }

    /// The task has failed for good. A route or another round may take care of it.
    pub(super) fn give_up(&mut self, no: TaskNo, failure: Failure) {
        self.give_up_as(no, failure, None);
    }

    pub(super) fn give_up_as(&mut self, no: TaskNo, failure: Failure, outcome: Option<&str>) {
        let handled = self.follow_routes(no, Ending::Failed { failure: &failure, outcome });
        let task: TaskId = self.id(no);
        self.record(Event::TaskFailed { task: task.clone(), failure: failure.clone(), handled });
        self.abandon_parts(no, &format!("`{task}` failed"));
        if self.life.header.policy.fail_fast && self.life.failed.contains(&no) {
            self.abort(&format!("task `{task}` failed: {}", failure.message));
        }
    }
}
