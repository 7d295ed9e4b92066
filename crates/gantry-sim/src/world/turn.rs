//! One turn, with everything that can go wrong in it.

use gantry_core::event::Event;
use gantry_core::input::Input;
use gantry_core::life::{self, Life, Room, Verdict};
use gantry_core::time::Timestamp;

use super::{Taken, World};
use crate::checks::turn;
use crate::violation::{Outcome, Violation};

/// How often a turn is decided again because the store refused or someone was faster.
const TRIES_MAX: u32 = 5;

/// A turn as decided, before anything of it is on disk.
struct Decided {
    taken: Taken,
    verdict: Verdict,
    /// How many inputs were refused.
    refused: usize,
}

impl World {
    /// Takes one input in.
    pub(super) fn turn(&mut self, input: Input) -> Outcome {
        self.turn_of(&[input])
    }

    /// Takes several inputs in at once.
    pub(super) fn turn_of(&mut self, inputs: &[Input]) -> Outcome {
        let room = self.draw_room();
        self.turn_in(room, inputs)
    }

    /// Draws for how many attempts a turn has room; enough, unless the run is a narrow one.
    pub(super) fn draw_room(&mut self) -> Room {
        if !self.dice.permille(self.mix.room) {
            return Room::PLENTY;
        }
        // With no room for ever, nobody could help the plan.
        let room = Room(self.dice.small(u32::from(self.calm), 3));
        self.fault(if room == Room::NONE { "no room" } else { "little room" });
        room
    }

    /// Takes inputs in, as the engine does.
    pub(super) fn turn_in(&mut self, room: Room, inputs: &[Input]) -> Outcome {
        self.record.turns += 1;
        if inputs.len() > 1 {
            self.fault("several at once");
        }
        self.say(|| format!("{room:?}, inputs: {inputs:?}"));
        for try_no in 0..TRIES_MAX {
            let now = self.wall();
            let decided = self.decide(inputs, now, room);
            if try_no == 0 {
                self.record.refusals += decided.refused as u64;
            }
            if decided.taken.inputs.is_empty() {
                return Ok(());
            }
            self.check_decided(inputs, &decided)?;
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
            if !last && !decided.verdict.events.is_empty() && self.strikes(self.mix.overtake) {
                self.fault("overtaken");
                self.overtake()?;
                continue;
            }
            return self.commit(decided);
        }
        Ok(())
    }

    fn decide(&self, inputs: &[Input], now: Timestamp, room: Room) -> Decided {
        let mut draft = self.life.clone().draft(now, room);
        let mut taken = Taken { now, room, inputs: Vec::with_capacity(inputs.len()) };
        for input in inputs {
            match draft.take(input) {
                Ok(()) => taken.inputs.push(input.clone()),
                Err(refusal) => self.say(|| format!("refused: {refusal}")),
            }
        }
        let refused = inputs.len() - taken.inputs.len();
        Decided { taken, verdict: draft.close(), refused }
    }

    /// The same is decided again, sometimes, and whenever something was refused.
    fn check_decided(&mut self, inputs: &[Input], decided: &Decided) -> Outcome {
        let Taken { now, room, inputs: taken } = &decided.taken;
        if decided.refused > 0 {
            self.fault("refused among others");
            let without = self.decide(taken, *now, *room);
            turn::without_refused(&decided.verdict, &without.verdict, inputs)?;
        } else if self.dice.percent(5) {
            let again = self.decide(taken, *now, *room);
            turn::decided_twice(&decided.verdict, &again.verdict, inputs)?;
        }
        turn::check(&decided.verdict, *room)
    }

    pub(super) fn strikes(&mut self, share: u32) -> bool {
        !self.calm && self.dice.permille(share)
    }

    /// Someone else wrote to the journal: what was decided is worth nothing.
    fn overtake(&mut self) -> Outcome {
        let other = self.replayed()?;
        let note = Input::Note { task: None, by: "someone else".to_owned(), text: "first".to_owned() };
        let input = if self.dice.percent(60) { note } else { Input::Tick };
        let now = self.wall();
        if let Ok(verdict) = other.decide(&input, now) {
            self.say(|| format!("someone else: {input:?}"));
            self.append(&verdict, Taken { now, room: Room::PLENTY, inputs: vec![input] })?;
            self.life = self.replayed()?;
            turn::folds(&verdict, &self.life)?;
            self.start_effects(verdict.effects)?;
        }
        Ok(())
    }

    /// Folds the journal anew.
    pub(super) fn replayed(&self) -> Outcome<Life> {
        life::replay(&self.record.journal).map_err(|bad| Violation::new("a journal replays", bad.to_string()))
    }

    fn commit(&mut self, decided: Decided) -> Outcome {
        let Decided { taken, verdict, .. } = decided;
        // An answer that comes alone to a plan with nothing left to start can be told from what follows it.
        let alone = taken.inputs.len() == 1 && turn::ignores(&verdict) && !self.has_ready();
        let before = alone.then(|| self.life.clone());
        self.append(&verdict, taken)?;
        if self.strikes(self.mix.crash) {
            self.fault("crash before apply");
            return self.crash(Some(&verdict.events));
        }
        self.life.apply(&verdict.events);
        turn::folds(&verdict, &self.life)?;
        if let Some(before) = before {
            turn::ignored(&before, &verdict)?;
        }
        if verdict.events.iter().any(|entry| matches!(entry.event, Event::PlanRevised { .. })) {
            turn::revision(&self.life.plan(), &self.plan)?;
        }
        if self.strikes(self.mix.crash) {
            self.fault("crash before effects");
            return self.crash(None);
        }
        self.start_effects(verdict.effects)
    }

    /// Tells whether something could start at once, had there been room.
    fn has_ready(&self) -> bool {
        let last_at = self.record.journal.last().map(|entry| entry.at);
        self.life.next_wake().is_some_and(|wake| Some(wake) <= last_at)
    }

    fn append(&mut self, verdict: &Verdict, taken: Taken) -> Outcome {
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
        }
        self.record.taken.push(taken);
        self.record.journal.extend(verdict.events.iter().cloned());
        Ok(())
    }
}
