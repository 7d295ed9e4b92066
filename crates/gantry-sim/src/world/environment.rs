//! What runners, models and the network do with the effects that the plan wishes for.

use gantry_core::effect::{ArtifactRef, Effect, Failure, StartAttempt};
use gantry_core::event::Outputs;
use gantry_core::id::{AttemptNo, TaskId};
use gantry_core::input::{Input, Success, Verdict as Judgement};
use gantry_core::plan::{Action, Money, Nested};
use gantry_core::policy::{FailureClass, Usage};
use serde_json::{Value, json};

use super::{Coming, Deed, World};
use crate::violation::Outcome;

/// How long a late answer takes at most.
const LATE_MS_MAX: u64 = 3_600_000;

impl World {
    pub(super) fn start_effects(&mut self, effects: Vec<Effect>) -> Outcome {
        for effect in effects {
            match effect {
                Effect::StartAttempt(start) => self.run_attempt(&start)?,
                Effect::CancelAttempt { task, attempt, .. } => self.cancel_attempt(&task, attempt),
                Effect::Verify { task, attempt, .. } => {
                    // Looked up when it arrives: what happens until then counts.
                    let input = Input::Verified {
                        task,
                        attempt,
                        happened: None,
                        outputs: Outputs::new(),
                        usage: Usage::default(),
                    };
                    self.answer(20_000, input);
                }
                Effect::Judge { task, checks, asked, .. } => {
                    let input = self.judgement(task, &checks, Some(asked));
                    self.answer(20_000, input);
                }
                Effect::StartUndo { task, attempt, .. } => self.run_undo(task, attempt),
                Effect::Observe { facts } => {
                    let facts = facts.into_iter().map(|name| (name.clone(), self.fact(&name))).collect();
                    self.answer(10_000, Input::Observed { facts });
                }
                Effect::Notify { .. } => {} // people look by themselves
            }
        }
        Ok(())
    }

    /// Lets something happen outside, or returns the answer that has come.
    pub(super) fn arrive(&mut self, coming: Coming) -> Option<Input> {
        match coming {
            Coming::Act { deed, answer, after_ms } => {
                // What writes down its steps is not done again by whoever takes the attempt up.
                if ["plan", "model", "agent", "decide"].contains(&deed.what) && self.record.ledger.contains(&deed) {
                    self.say(|| format!("has happened already: {deed:?}"));
                } else {
                    self.say(|| format!("really happens: {deed:?}"));
                    self.record.ledger.push(deed);
                }
                self.deliver(after_ms, *answer);
                None
            }
            Coming::Answer(input) => match *input {
                Input::Verified { task, attempt, .. } => Some(self.look_up(task, attempt)),
                Input::Heartbeat { task, attempt, .. } if self.silent.contains(&(task.clone(), attempt)) => None,
                other => Some(other),
            },
        }
    }

    /// Sends an answer back after a while, or twice, or late, or never.
    fn answer(&mut self, within_ms: u64, input: Input) {
        let after_ms = self.draw_ms(1, within_ms);
        self.deliver(after_ms, input);
    }

    fn deliver(&mut self, mut after_ms: i64, input: Input) {
        if self.strikes(self.mix.lose) {
            return self.fault("answer lost");
        }
        if self.strikes(self.mix.delay) {
            self.fault("answer late");
            after_ms += self.draw_ms(1, LATE_MS_MAX);
        }
        if self.strikes(self.mix.double) {
            self.fault("answer twice");
            let again = after_ms + self.draw_ms(0, 100_000);
            self.send(again, Coming::Answer(Box::new(input.clone())));
        }
        self.send(after_ms, Coming::Answer(Box::new(input)));
    }

    pub(super) fn draw_ms(&mut self, low: u64, high: u64) -> i64 {
        i64::try_from(self.dice.between(low, high)).unwrap_or(0)
    }

    fn run_attempt(&mut self, start: &StartAttempt) -> Outcome {
        let (task, attempt) = (start.task.clone(), start.attempt);
        if self.strikes(self.mix.silence) {
            self.fault("runner silent");
            self.silent.insert((task.clone(), attempt));
        }
        let length = if self.dice.percent(75) { self.draw_ms(10, 8_000) } else { self.draw_ms(10, 60_000) };
        if let Some(heartbeat) = start.heartbeat {
            let every = i64::try_from(heartbeat.as_ms()).unwrap_or(1_000).max(1);
            for beat in 1..=(length / every).min(20) {
                let note = if self.dice.percent(20) { "half way".to_owned() } else { String::new() };
                let input = Input::Heartbeat { task: task.clone(), attempt, note, artifacts: Vec::new() };
                self.send(beat * every, Coming::Answer(Box::new(input)));
            }
        }
        let usage = self.usage(start);
        let failed = self.strikes(self.mix.fail);
        if failed {
            let failure = self.failure();
            let input = Input::Ended { task, attempt, end: Err(failure), usage };
            self.deliver(length, input);
            return Ok(());
        }
        let deed = Deed { task: task.clone(), attempt, key: start.key.clone(), what: start.action.key() };
        let mut success = self.success(Some(&start.action));
        let declared = self.life.definition(task.as_str()).map(|task| task.artifacts.clone()).unwrap_or_default();
        success.artifacts =
            declared.into_iter().map(|made| ArtifactRef { name: made.name, hash: "2b".to_owned(), bytes: 7 }).collect();
        let end = match &start.action {
            Action::Plan(Nested { plan: Some(plan), .. }) => self.run_nested(&task, plan)?.map(|()| success),
            _ => Ok(success),
        };
        let answer = Box::new(Input::Ended { task, attempt, end, usage });
        let acts_at = length * 2 / 3;
        self.send(acts_at, Coming::Act { deed, answer, after_ms: length - acts_at });
        Ok(())
    }

    fn usage(&mut self, start: &StartAttempt) -> Usage {
        let reserved = start.reserved;
        if self.calm {
            return Usage { model_calls: reserved.model_calls.min(1), ..Usage::default() };
        }
        let usage = Usage {
            cost_usd: Money(self.dice.between(0, reserved.cost_usd.0)),
            model_calls: self.dice.between(0, reserved.model_calls),
            tokens: self.dice.between(0, reserved.tokens),
            nodes: 0,
        };
        if self.strikes(self.mix.overspend) {
            self.fault("overspent");
            let more = Usage {
                cost_usd: Money::from_cents(self.dice.below(50)),
                model_calls: self.dice.below(3),
                tokens: self.dice.below(500),
                nodes: 0,
            };
            return usage.plus(more);
        }
        usage
    }

    /// What a judge, a verifier or an undo uses: nothing is set aside for them.
    fn usage_beside(&mut self) -> Usage {
        if self.calm || self.dice.percent(50) {
            return Usage::default();
        }
        Usage {
            cost_usd: Money::from_cents(self.dice.below(4)),
            model_calls: self.dice.below(2),
            tokens: self.dice.below(60),
            nodes: 0,
        }
    }

    fn failure(&mut self) -> Failure {
        let class = match self.dice.below(10) {
            0..=3 => FailureClass::Transient,
            4..=6 => FailureClass::Logic,
            7 => FailureClass::Policy,
            8 => FailureClass::Lost,
            _ => FailureClass::Cancelled,
        };
        let mut failure = Failure::new(class, "it did not work");
        if self.dice.percent(20) {
            failure.mode = Some(self.dice.word(&["flaky", "unheard of"]).to_owned());
        }
        if failure.class == FailureClass::Policy && self.dice.percent(50) {
            failure = Failure::needs_approval(failure.message);
        }
        if self.dice.percent(10) {
            failure.retry_after = Some(crate::plans::seconds(&mut self.dice, 0, 100));
        }
        failure
    }

    /// A result; good enough for everything once the faults have stopped.
    pub(super) fn success(&mut self, action: Option<&Action>) -> Success {
        let items: Vec<u64> = (0..self.dice.below(4)).collect();
        let (exit_code, score) =
            if self.calm { (0, 9) } else { (u64::from(self.dice.percent(10)), self.dice.below(10)) };
        let mut outputs = Outputs::from([
            ("exit_code".to_owned(), json!(exit_code)),
            ("score".to_owned(), json!(score)),
            ("items".to_owned(), json!(items)),
        ]);
        if !self.calm && self.dice.percent(4) {
            outputs.remove("items");
        }
        let outcome = match action {
            Some(Action::Decide(decide)) => self.dice.pick(&decide.options).map(|branch| branch.outcome.clone()),
            Some(Action::Run(_) | Action::Model(_) | Action::Tool(_)) if self.dice.percent(50) => {
                Some(self.dice.word(&["good", "bad"]).to_owned())
            }
            _ => None,
        };
        Success { outputs, outcome, ..Success::default() }
    }

    /// The runner stops, unless it is too late or it does not hear.
    fn cancel_attempt(&mut self, task: &TaskId, attempt: AttemptNo) {
        if !self.calm && self.dice.percent(30) {
            return;
        }
        self.coming.retain(|_, coming| match coming {
            Coming::Act { deed, .. } => deed.task != *task || deed.attempt != attempt,
            Coming::Answer(input) => !is_about(input, task, attempt),
        });
    }

    /// Whether an attempt happened, as the ledger has it.
    pub(super) fn look_up(&mut self, task: TaskId, attempt: AttemptNo) -> Input {
        let happened = self.record.ledger.iter().any(|deed| deed.task == task && deed.attempt == attempt);
        let unknown = !self.calm && self.dice.percent(20);
        let outputs = if happened { self.success(None).outputs } else { Outputs::new() };
        let usage = self.usage_beside();
        Input::Verified { task, attempt, happened: (!unknown).then_some(happened), outputs, usage }
    }

    pub(super) fn judgement(&mut self, task: Option<TaskId>, checks: &[String], asked: Option<u64>) -> Input {
        let holds = self.calm || self.dice.percent(85);
        let another_way = !holds && self.dice.percent(50);
        let because = "that is how it looks";
        let say = |check: &String| Judgement { check: check.clone(), holds, because: because.to_owned(), another_way };
        let mut verdicts: Vec<Judgement> = checks.iter().map(say).collect();
        if !self.calm && self.dice.percent(5) {
            verdicts.clear();
        }
        Input::Judged { task, by: "judge".to_owned(), verdicts, usage: self.usage_beside(), attempt: None, asked }
    }

    fn run_undo(&mut self, task: TaskId, attempt: AttemptNo) {
        let (after_ms, usage) = (self.draw_ms(10, 20_000), self.usage_beside());
        if self.strikes(self.mix.fail) {
            let end = Err("it is stuck".to_owned());
            return self.deliver(after_ms, Input::UndoEnded { task, attempt, end, usage });
        }
        let deed = Deed { task: task.clone(), attempt, key: String::new(), what: "undo" };
        let answer = Box::new(Input::UndoEnded { task, attempt, end: Ok("as it was before".to_owned()), usage });
        self.send(after_ms, Coming::Act { deed, answer, after_ms: 5 });
    }

    /// What is true outside, under this name.
    pub(super) fn fact(&mut self, name: &str) -> Value {
        let good = match name {
            "network.online" => json!(true),
            "env.region" => json!("eu"),
            "memory.level" => json!(3),
            _ => json!("something"),
        };
        let value = if self.calm || self.dice.percent(60) { good } else { json!(false) };
        self.facts.insert(name.to_owned(), value.clone());
        value
    }
}

pub(super) fn is_about(input: &Input, id: &TaskId, number: AttemptNo) -> bool {
    matches!(input, Input::Ended { task, attempt, .. } | Input::Heartbeat { task, attempt, .. }
        if task == id && *attempt == number)
}
