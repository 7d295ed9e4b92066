//! A task starts: its preconditions hold, its inputs are there, it can be paid for.

use super::draft::Draft;
use super::key::Missing;
use super::ledger::Afford;
use super::scope::{Sight, facts_read};
use super::state::State;
use crate::effect::{Effect, Failure, StartAttempt};
use crate::event::{Asked, Event, JudgeOf, Outputs, Source};
use crate::expr::Scope;
use crate::id::{AttemptNo, TaskNo};
use crate::plan::{Action, Agent, Check, Compute, Decide, Idempotency, Model, Wait};
use crate::policy::{FailureClass, Judge, ProseBy, Usage};
use crate::time::Duration;

/// How many heartbeats may be missed before an attempt counts as lost: the network may drop one
/// and a busy runner may delay one, and the task is still not started twice.
pub(super) const HEARTBEATS_MISSED_MAX: u64 = 3;

/// Whether the checks before a start let it start.
enum Readiness {
    Ready,
    Blocked { reason: String, needs: Vec<String> },
    AskJudge(Vec<String>),
}

impl Draft {
    /// Opens a composite: its children may run.
    pub(super) fn open(&mut self, no: TaskNo) {
        if self.life.lacks_gate(no) {
            return self.fail(no, ungated());
        }
        match self.readiness(no) {
            Readiness::Ready => {
                let until = self.life.timebox_end(no, self.now);
                self.record(Event::TaskOpened { task: self.id(no), until, key: None });
            }
            Readiness::Blocked { reason, needs } => self.block(no, reason, needs),
            Readiness::AskJudge(checks) => self.ask_judge(no, JudgeOf::Start, checks, Outputs::new(), None),
        }
    }

    /// Starts a task whose turn has come.
    pub(super) fn start(&mut self, no: TaskNo) {
        if self.life.lacks_gate(no) {
            return self.fail(no, ungated());
        }
        if self.life.task(no).state == State::Pending {
            match self.readiness(no) {
                Readiness::Ready => {}
                Readiness::Blocked { reason, needs } => return self.block(no, reason, needs),
                Readiness::AskJudge(checks) => return self.ask_judge(no, JudgeOf::Start, checks, Outputs::new(), None),
            }
        }
        let (key, inputs) = match self.life.key(no) {
            Ok(found) => found,
            Err(Missing::Fact(fact)) => return self.block(no, format!("`{fact}` is not known yet"), vec![fact]),
            Err(Missing::Output(message)) => {
                return self.fail(no, Failure::new(FailureClass::Logic, format!("an input is missing: {message}")));
            }
        };
        let task = std::sync::Arc::clone(&self.life.node(no).task);
        // What grows has its parts in the plan, and those may be others than they were when the result was recorded.
        if !self.life.node(no).grows()
            && !matches!(task.action, Some(Action::Gate(_) | Action::Checkpoint(_) | Action::UndoTo(_)))
            && let Some(memo) = self.life.task(no).recall(&key).cloned()
        {
            let outputs = (*memo.outputs).clone();
            return self.complete(no, outputs, memo.outcome.clone(), Source::Recorded, memo.unjudged.clone());
        }
        match self.effective_action(no) {
            Some(Action::Gate(gate)) => self.open_gate(no, &gate),
            Some(Action::Ask(ask)) => self.ask(no, &ask),
            Some(Action::Manual(_)) | None => self.ask_person(no, Asked::Work),
            Some(Action::Wait(wait)) => self.wait(no, wait),
            Some(Action::Map(map)) => self.expand(no, &map, key, inputs),
            Some(Action::Adopt(_)) => self.adopt(no, key, inputs),
            Some(Action::Compute(compute)) => self.compute(no, &compute),
            Some(Action::Decide(decide)) if decide.is_computed() => self.choose(no, &decide),
            Some(Action::Decide(_)) if self.life.header.policy.judge != Judge::Model => {
                self.ask_person(no, Asked::Answer);
            }
            Some(Action::UndoTo(undo)) => self.begin_undo_task(no, &undo.0),
            Some(
                action @ (Action::Model(_)
                | Action::Run(_)
                | Action::Command(_)
                | Action::Tool(_)
                | Action::Agent(_)
                | Action::Plan(_)
                | Action::Checkpoint(_)
                | Action::Decide(_)),
            ) => self.start_attempt(no, action, key, inputs),
        }
    }

    /// The action that is tried now: the task's own or an alternate; prose goes to whom the policy says.
    pub(super) fn effective_action(&self, no: TaskNo) -> Option<Action> {
        let Some(instruction) = self.prose(no) else { return self.given_action(no).cloned() };
        match self.life.header.policy.prose {
            ProseBy::Person => None,
            ProseBy::Model => Some(Action::Model(Model { instruction: Some(instruction), ..Model::default() })),
            ProseBy::Agent => Some(Action::Agent(Agent { goal: instruction, ..Agent::default() })),
        }
    }

    /// What is to be done, where that is said in words alone.
    pub(super) fn prose(&self, no: TaskNo) -> Option<String> {
        let task = &self.life.node(no).task;
        match self.given_action(no) {
            None => Some(task.description.clone().unwrap_or_else(|| task.name().to_owned())),
            Some(Action::Command(command)) if command.calls().is_none() => Some(command.text().to_owned()),
            Some(_) => None,
        }
    }

    fn given_action(&self, no: TaskNo) -> Option<&Action> {
        let task = &self.life.node(no).task;
        match self.life.task(no).way {
            0 => task.action.as_ref(),
            way => task.alternates.get(way as usize - 1),
        }
    }

    fn start_attempt(&mut self, no: TaskNo, action: Action, key: String, inputs: Outputs) {
        let repeatable = self.life.node(no).task.repeatable();
        if repeatable == Idempotency::Unsafe && self.life.task(no).in_doubt {
            let message = "an earlier attempt was lost and may have happened";
            return self.find_out(no, Failure::new(FailureClass::Lost, message));
        }
        let reserved = self.life.reservation(no);
        match self.life.affords(no, reserved) {
            Afford::Yes => {}
            Afford::Later => return self.hold_lane_of(no),
            Afford::Never { detail } => return self.fail(no, Failure::new(FailureClass::Policy, detail)),
        }
        let node = std::sync::Arc::clone(self.life.node(no));
        let time_left = self.life.time_left(no);
        if time_left.is_some_and(|left| left == Duration::default()) {
            return self.fail(no, self.life.out_of_time(no));
        }
        let attempt = AttemptNo(self.life.task(no).attempt.0 + 1);
        let lease = if node.task.is_timed { node.task.heartbeat.map(lease_length) } else { None };
        self.record(Event::AttemptStarted {
            task: node.task.id.clone(),
            attempt,
            key: key.clone(),
            reserved,
            timeout_at: [node.task.timeout, time_left].into_iter().flatten().min().map(|most| self.now + most),
            lease_until: lease.map(|lease| self.now + lease),
        });
        self.use_room(no);
        self.wish_attempt(no, attempt, action, (key, inputs), reserved);
    }

    /// Has the engine run an attempt that is under way.
    pub(super) fn wish_attempt(
        &mut self,
        no: TaskNo,
        attempt: AttemptNo,
        action: Action,
        (key, inputs): (String, Outputs),
        reserved: Usage,
    ) {
        let node = std::sync::Arc::clone(self.life.node(no));
        let feedback = self.told(no);
        self.wish(Effect::StartAttempt(Box::new(StartAttempt {
            task: node.task.id.clone(),
            attempt,
            key,
            action,
            inputs,
            feedback,
            reserved,
            timeout: node.task.timeout,
            heartbeat: node.task.heartbeat,
            environment: node.task.environment.clone(),
        })));
    }

    /// What the next attempt is told. That nobody answered, that something was not allowed or that the money was gone says
    /// nothing about what was done: only a wrong result does.
    fn told(&self, no: TaskNo) -> Option<String> {
        let life = self.life.task(no);
        let passed = life.failure.as_ref().filter(|failure| failure.class != FailureClass::Logic);
        life.feedback.clone().filter(|feedback| passed.is_none_or(|failure| failure.message != *feedback))
    }

    fn readiness(&self, no: TaskNo) -> Readiness {
        if !self.life.node(no).task.has_preconditions && self.life.header.capabilities.is_empty() {
            return Readiness::Ready;
        }
        let sight = Sight::of(&self.life, Some(no));
        let (mut words, mut reasons, mut needs) = (Vec::new(), Vec::new(), Vec::new());
        for check in self.life.preconditions_of(no) {
            let expr = match check {
                Check::Words(text) => {
                    words.push(text.clone());
                    continue;
                }
                Check::Expr(expr) => expr,
            };
            let unknown = |fact: &String| sight.lookup_path(&fact.split('.').collect::<Vec<_>>()).is_none();
            let missing: Vec<String> = facts_read(expr).filter(unknown).collect();
            match expr.test(&sight) {
                Ok(finding) if finding.holds => {}
                Ok(finding) => reasons.push(finding.because),
                Err(_) if !missing.is_empty() => reasons.push(format!("`{}` is not known yet", missing.join("`, `"))),
                Err(error) => reasons.push(format!("`{}`: {error}", expr.source())),
            }
            needs.extend(missing);
        }
        let judge = self.life.header.policy.judge;
        if !reasons.is_empty() {
            Readiness::Blocked { reason: reasons.join("; "), needs }
        } else if words.is_empty() || judge == Judge::Nobody || self.life.task(no).judged_before {
            Readiness::Ready
        } else {
            Readiness::AskJudge(words)
        }
    }

    fn block(&mut self, no: TaskNo, reason: String, needs: Vec<String>) {
        self.record(Event::TaskBlocked { task: self.id(no), reason, needs: needs.clone() });
        if !needs.is_empty() {
            self.wish(Effect::Observe { facts: needs });
        }
    }

    /// Lets a blocked task go when nothing blocks it any more, or says what blocks it now.
    pub(super) fn look_at_blocked(&mut self, no: TaskNo) {
        let (reason, needs) = match self.readiness(no) {
            Readiness::Blocked { reason, needs } => (reason, needs),
            Readiness::Ready | Readiness::AskJudge(_) => match self.life.key(no) {
                Err(Missing::Fact(fact)) => (format!("`{fact}` is not known yet"), vec![fact]),
                Ok(_) | Err(Missing::Output(_)) => return self.record(Event::TaskUnblocked { task: self.id(no) }),
            },
        };
        let now = State::Blocked { reason, needs };
        if self.life.task(no).state != now
            && let State::Blocked { reason, needs } = now
        {
            self.block(no, reason, needs);
        }
    }

    fn wait(&mut self, no: TaskNo, wait: Wait) {
        let until = match wait {
            Wait::For(duration) => self.now + duration,
            Wait::Until(timestamp) => timestamp,
        };
        if until <= self.now {
            return self.accept(no, Outputs::new(), None, Source::Made);
        }
        self.record(Event::WaitBegun { task: self.id(no), until });
    }

    fn compute(&mut self, no: TaskNo, compute: &Compute) {
        let exprs = match compute.in_order() {
            Ok(exprs) => exprs,
            Err(circle) => {
                let message = format!("these need each other: {}", circle.join(", "));
                return self.fail(no, Failure::new(FailureClass::Logic, message));
            }
        };
        let mut outputs = Outputs::new();
        for (name, expr) in exprs {
            let sight = Sight { outputs: Some(&outputs), ..Sight::of(&self.life, Some(no)) };
            match expr.eval(&sight) {
                Ok(value) => {
                    outputs.insert(name.to_owned(), value);
                }
                Err(error) => {
                    let message = format!("`{name}` cannot be computed: {error}");
                    return self.fail(no, Failure::new(FailureClass::Logic, message));
                }
            }
        }
        self.accept(no, outputs, None, Source::Made);
    }

    fn choose(&mut self, no: TaskNo, decide: &Decide) {
        let sight = Sight::of(&self.life, Some(no));
        let mut reasons = Vec::new();
        let mut chosen = None;
        for branch in &decide.options {
            let Some(when) = &branch.when else { continue };
            match when.test(&sight) {
                Ok(finding) if finding.holds => {
                    chosen = Some(branch.outcome.clone());
                    break;
                }
                Ok(finding) => reasons.push(finding.because),
                Err(error) => reasons.push(format!("`{}`: {error}", when.source())),
            }
        }
        let unconditional = decide.options.iter().find(|branch| branch.when.is_none()).map(|branch| &branch.outcome);
        match chosen.or_else(|| decide.otherwise.as_ref().or(unconditional).cloned()) {
            Some(outcome) => self.accept(no, Outputs::new(), Some(outcome), Source::Made),
            None => {
                let message = format!("no condition holds: {}", reasons.join("; "));
                self.fail(no, Failure::new(FailureClass::Logic, message));
            }
        }
    }
}

/// A deploy whose gate was left out on the way.
fn ungated() -> Failure {
    let message = "it deploys, and nobody has approved a gate before it (`require_gate_for_prod`)";
    Failure::new(FailureClass::Policy, message)
}

/// How long a runner may be silent.
pub(super) fn lease_length(heartbeat: Duration) -> Duration {
    heartbeat.times(HEARTBEATS_MISSED_MAX)
}
