//! One turn, with everything that can go wrong in it.

use gantry_core::effect::Effect;
use gantry_core::event::{Entry, Event};
use gantry_core::input::Input;
use gantry_core::life::{self, Life, Verdict};
use gantry_core::plan::Severity;
use gantry_core::policy::Usage;
use serde_json::Value;

use super::World;
use crate::violation::{Outcome, Violation};

/// How often a turn is decided again because the store refused or someone was faster.
const TRIES_MAX: u32 = 5;

impl World {
    /// Takes one input in, as the engine does.
    pub(super) fn turn(&mut self, input: Input) -> Outcome {
        self.record.turns += 1;
        self.say(|| format!("input: {input:?}"));
        for try_no in 0..TRIES_MAX {
            let now = self.wall();
            let verdict = match self.life.decide(&input, now) {
                Ok(verdict) => verdict,
                Err(refusal) => {
                    self.record.refusals += 1;
                    self.say(|| format!("refused: {refusal}"));
                    return Ok(());
                }
            };
            if self.dice.percent(5) && self.life.decide(&input, now).as_ref() != Ok(&verdict) {
                return Err(Violation::new("deciding twice gives one verdict", format!("{input:?}")));
            }
            if self.strikes(self.mix.crash) {
                self.fault("crash before append");
                return self.crash(None);
            }
            let last = try_no + 1 == TRIES_MAX;
            if !last && self.strikes(self.mix.refuse) {
                self.fault("store refuses");
                self.true_ms += 50;
                continue;
            }
            if !last && !verdict.events.is_empty() && self.strikes(self.mix.overtake) {
                self.fault("overtaken");
                self.overtake()?;
                continue;
            }
            return self.commit(&input, verdict);
        }
        Ok(())
    }

    pub(super) fn strikes(&mut self, share: u32) -> bool {
        !self.calm && self.dice.permille(share)
    }

    /// Someone else wrote to the journal: what was decided is worth nothing.
    fn overtake(&mut self) -> Outcome {
        let mut other = self.replayed()?;
        let note = Input::Note { task: None, by: "someone else".to_owned(), text: "first".to_owned() };
        let input = if self.dice.percent(60) { note } else { Input::Tick };
        if let Ok(verdict) = other.decide(&input, self.wall()) {
            self.say(|| format!("someone else: {input:?}"));
            other.apply(&verdict.events);
            self.append(&verdict)?;
            self.start_effects(verdict.effects);
        }
        self.life = self.replayed()?;
        if self.life != other {
            return Err(Violation::new("replay equals memory", "after someone else appended"));
        }
        Ok(())
    }

    /// Folds the journal anew.
    pub(super) fn replayed(&self) -> Outcome<Life> {
        life::replay(&self.record.journal).map_err(|bad| Violation::new("a journal replays", bad.to_string()))
    }

    fn commit(&mut self, input: &Input, verdict: Verdict) -> Outcome {
        // What an ignored answer used is counted, and may be the last of the budget.
        let ignored =
            |entry: &Entry| matches!(&entry.event, Event::AnswerIgnored { usage, .. } if *usage == Usage::default());
        let before = verdict.events.iter().any(ignored).then(|| essence(&self.life));
        self.append(&verdict)?;
        if self.strikes(self.mix.crash) {
            self.fault("crash before apply");
            return self.crash(Some(&verdict.events));
        }
        self.life.apply(&verdict.events);
        if let Some(before) = before
            && (verdict.events.len() != 1 || before != essence(&self.life))
        {
            return Err(Violation::new("an ignored answer changes nothing", format!("{input:?}")));
        }
        if verdict.events.iter().any(|entry| matches!(entry.event, Event::PlanRevised { .. })) {
            self.compare_plan()?;
        }
        if self.strikes(self.mix.crash) {
            self.fault("crash before effects");
            return self.crash(None);
        }
        self.start_effects(verdict.effects);
        Ok(())
    }

    fn append(&mut self, verdict: &Verdict) -> Outcome {
        for entry in &verdict.events {
            self.say(|| format!("  event {}: {:?}", entry.seq, entry.event));
            if let Event::PlanRevised { diff, .. } = &entry.event {
                self.plan = diff.apply_to(&self.plan).map_err(|mismatch| {
                    Violation::new("a recorded diff fits the plan before it", format!("{mismatch}: {diff:?}"))
                })?;
            }
        }
        for effect in &verdict.effects {
            self.say(|| format!("  effect: {effect:?}"));
            if let Effect::StartAttempt(start) = effect
                && !verdict.events.iter().any(|entry| starts(entry, start.task.as_str(), start.attempt.0, &start.key))
            {
                return Err(Violation::new("every started attempt is in the journal", format!("{start:?}")));
            }
        }
        self.record.journal.extend(verdict.events.iter().cloned());
        Ok(())
    }

    /// The plan that the life reports is the one that the diffs make.
    pub(super) fn compare_plan(&self) -> Outcome {
        let reported = self.life.plan();
        if reported == self.plan {
            let wrong = reported.check().into_iter().find(|problem| problem.severity == Severity::Error);
            return wrong.map_or(Ok(()), |problem| {
                Err(Violation::new(
                    "every revision is a valid plan",
                    format!("{}: {:?}", problem.message, problem.place),
                ))
            });
        }
        let ids = |tasks: &[gantry_core::plan::Task]| tasks.iter().map(|task| task.id.to_string()).collect::<Vec<_>>();
        let differs = reported.tasks.iter().zip(&self.plan.tasks).find(|(a, b)| a != b);
        let detail = match differs {
            Some((a, b)) => format!("the life has {a:?}, the diffs make {b:?}"),
            None => format!("the life has {:?}, the diffs make {:?}", ids(&reported.tasks), ids(&self.plan.tasks)),
        };
        Err(Violation::new("diffs make the plan that the life reports", detail))
    }
}

fn starts(entry: &Entry, id: &str, number: u32, hash: &str) -> bool {
    matches!(&entry.event, Event::AttemptStarted { task, attempt, key, .. }
        if task.as_str() == id && attempt.0 == number && key == hash)
}

/// The state without its length and its last time.
fn essence(life: &Life) -> Value {
    let mut value = serde_json::to_value(life).unwrap_or_default();
    if let Value::Object(map) = &mut value {
        map.remove("length");
        map.remove("last_at");
        for task in map.get_mut("tasks").and_then(Value::as_array_mut).into_iter().flatten() {
            task.as_object_mut().map(|task| task.remove("unanswered"));
        }
    }
    value
}
