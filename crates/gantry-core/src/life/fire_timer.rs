//! Time passes: timeouts, leases, retries, deadlines, escalations.

use super::draft::Draft;
use super::start_task::HEARTBEATS_MISSED_MAX;
use super::state::{State, Timer, Waiting};
use crate::effect::{Effect, Failure};
use crate::event::{Event, Outputs, Source};
use crate::id::{AttemptNo, TaskNo};
use crate::plan::{Action, Escalation, Idempotency};
use crate::policy::{Dimension, FailureClass, Usage};
use crate::time::Duration;

impl Draft {
    /// Fires every timer that is due, the earliest first. Firing removes the timer.
    pub(super) fn fire_timers(&mut self) {
        while let Some((at, timer)) = self.life.timers.get_min().copied() {
            // Nobody is waited for before the start and after the end, which a timer may bring about.
            if at > self.now || !self.life.is_under_way() {
                return;
            }
            self.fire(timer);
            debug_assert!(!self.life.timers.contains(&(at, timer)), "a timer that fired must be gone: {timer:?}");
            if self.life.timers.contains(&(at, timer)) {
                return;
            }
        }
    }

    fn fire(&mut self, timer: Timer) {
        match timer {
            Timer::PlanTime => {
                let detail = "the time budget of the plan is used up".to_owned();
                self.record(Event::BreakerTripped { dimension: Dimension::Time, detail: detail.clone() });
                self.wish(Effect::Notify { to: String::new(), task: None, text: detail });
            }
            Timer::PlanDeadline => {
                self.record(Event::DeadlineMissed { task: None });
                let to = self.life.header.owner.clone().unwrap_or_default();
                self.wish(Effect::Notify { to, task: None, text: "the plan has missed its deadline".to_owned() });
            }
            Timer::Deadline(no) => {
                self.record(Event::DeadlineMissed { task: Some(self.id(no)) });
                let to = self.owner_of(no);
                self.wish(Effect::Notify { to, task: Some(self.id(no)), text: "the deadline has passed".to_owned() });
            }
            Timer::Timeout(no, attempt) => self.time_out(no, attempt),
            Timer::Lease(no, attempt) => {
                self.stop_attempt(no, attempt, "it was not heard from");
                self.lose(no, &format!("it was not heard from for {HEARTBEATS_MISSED_MAX} heartbeats"));
            }
            Timer::Timebox(no) => self.close_timebox(no),
            Timer::Retry(no) => self.record(Event::TaskUnblocked { task: self.id(no) }),
            Timer::Due(no) => self.due(no),
            Timer::Escalate(no) => self.escalate(no),
        }
    }

    fn time_out(&mut self, no: TaskNo, attempt: AttemptNo) {
        self.stop_attempt(no, attempt, "it took too long");
        if let (Some(left), State::Running { since, .. }) = (self.life.time_left(no), &self.life.task(no).state)
            && *since + left <= self.now
        {
            let Failure { class, message, .. } = self.life.out_of_time(no);
            return self.break_off(no, class, &message);
        }
        // It was stopped in the middle of something: only what is safe to repeat is simply tried again.
        // Asking for retries is about attempts that failed; it does not say that half a run can be repeated.
        let class = match self.life.node(no).task.repeatable() {
            Idempotency::Safe | Idempotency::Keyed => FailureClass::Transient,
            Idempotency::Unsafe => FailureClass::Lost,
        };
        self.break_off(no, class, "it took too long and was stopped");
    }

    pub(super) fn stop_attempt(&mut self, no: TaskNo, attempt: AttemptNo, why: &str) {
        self.wish(Effect::CancelAttempt { task: self.id(no), attempt, why: why.to_owned() });
    }

    /// The time of a composite is up. What is done in a timebox counts, and what is not is given up; a budget that does
    /// not suffice is a failure.
    fn close_timebox(&mut self, no: TaskNo) {
        let task = &self.life.node(no).task;
        if task.budget.time.is_some_and(|budget| task.timebox.is_none_or(|timebox| budget < timebox)) {
            return self.give_up(no, self.life.out_of_time(no));
        }
        let because = format!("the timebox of `{}` is over", self.id(no));
        self.say(no, "the timebox is over: what is not done is given up");
        self.abandon_parts(no, &because);
        // With nothing open below, the composite ends when it is looked at; its timer must go now.
        let until = None;
        self.record(Event::TaskOpened { task: self.id(no), until, key: None });
    }

    /// Stops the attempt under way, if there is one, and settles it.
    ///
    /// It may have happened before it was stopped: what is not safe to repeat counts as lost, so that someone finds out
    /// before it starts again.
    pub(super) fn end_running(&mut self, no: TaskNo, why: &str) {
        let class = match self.life.node(no).task.repeatable() {
            Idempotency::Unsafe => FailureClass::Lost,
            Idempotency::Safe | Idempotency::Keyed => FailureClass::Cancelled,
        };
        self.end_running_as(no, class, why);
    }

    pub(super) fn end_running_as(&mut self, no: TaskNo, class: FailureClass, why: &str) {
        if let State::Running { attempt, .. } = &self.life.task(no).state {
            let attempt = *attempt;
            self.stop_attempt(no, attempt, why);
            let failure = crate::effect::Failure::new(class, why);
            let (task, usage) = (self.id(no), Usage::default());
            self.record(Event::AttemptFailed { task, attempt, failure, usage, unanswered: true });
        }
    }

    fn due(&mut self, no: TaskNo) {
        match (&self.life.task(no).state, &self.life.node(no).task.action) {
            (State::Waiting(Waiting::Answer { .. }), Some(Action::Ask(ask))) => {
                let default = ask.default.clone().unwrap_or_default();
                self.take_answer(no, "nobody in time", &default);
            }
            _ => self.accept(no, Outputs::new(), None, Source::Made),
        }
    }

    /// Tells the next person, and says when the one after is due.
    fn escalate(&mut self, no: TaskNo) {
        let task = std::sync::Arc::clone(&self.life.node(no).task);
        let life = self.life.task(no);
        let level = life.watch.level + 1;
        let ladder = task.escalation.clone().or_else(|| {
            let after = match &task.action {
                Some(Action::Gate(gate)) => gate.escalate_after.or(self.life.header.policy.escalate_after),
                _ => self.life.header.policy.escalate_after,
            };
            after.map(|after| Escalation { after, to: Vec::new(), levels: 3 })
        });
        let to = ladder
            .as_ref()
            .and_then(|ladder| ladder.to.get(level as usize - 1).or(ladder.to.last()).cloned())
            .unwrap_or_else(|| self.owner_of(no));
        let next_at = ladder
            .filter(|ladder| level < ladder.levels && ladder.after > Duration::default())
            .map(|ladder| self.now + ladder.after);
        let reason = format!("`{}` is {} for longer than agreed", task.id, life.state.name());
        self.record(Event::Escalated { task: task.id.clone(), to: to.clone(), level, next_at, reason: reason.clone() });
        self.wish(Effect::Notify { to, task: Some(task.id.clone()), text: reason });
    }
}
