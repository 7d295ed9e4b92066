//! Turns of several inputs, inputs to put into them, and a life decided again from what it took in.

use gantry_core::effect::Failure;
use gantry_core::event::Entry;
use gantry_core::input::{Input, Success};
use gantry_core::life::{self, Life, Room, Verdict};
use gantry_core::policy::{FailureClass, Usage};
use gantry_core::time::Timestamp;
use serde_json::{Value, json};

use super::{World, id, outputs_of};

/// What one turn took in: with it, the turn can be decided again.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub now: Timestamp,
    pub room: Room,
    /// Without those that were refused.
    pub inputs: Vec<Input>,
}

impl World {
    /// Lets several inputs happen in one turn.
    ///
    /// # Panics
    /// When the core refuses one of them, or when replaying the journal gives another state.
    pub fn together(&mut self, inputs: &[Input]) {
        let refused = self.together_in(Room::PLENTY, inputs);
        assert!(refused.is_empty(), "refused: {refused:?}");
    }

    /// Lets several inputs happen in one turn with room for so many attempts; returns what the core says to those
    /// that it refuses.
    pub fn together_in(&mut self, room: Room, inputs: &[Input]) -> Vec<String> {
        let mut draft = self.life.clone().draft(self.now, room);
        let (mut taken, mut refused) = (Vec::new(), Vec::new());
        for input in inputs {
            match draft.take(input) {
                Ok(()) => taken.push(input.clone()),
                Err(refusal) => refused.push(format!("{refusal} [{}]", refusal.code())),
            }
        }
        self.commit(draft.close(), Turn { now: self.now, room, inputs: taken });
        refused
    }

    /// Appends, applies and starts what was decided, and compares the living state with the journal.
    pub(super) fn commit(&mut self, verdict: Verdict, turn: Turn) {
        self.turns.push(turn);
        self.journal.extend(verdict.events.iter().cloned());
        self.life.apply(&verdict.events);
        assert_eq!(verdict.life, self.life, "the life of a verdict is what its events say");
        self.effects.extend(verdict.effects);
        let replayed = life::replay(&self.journal).expect("a sound journal");
        assert_eq!(written(&replayed), written(&self.life), "replaying must give the same state, byte for byte");
    }

    /// The journal that comes out when the whole life is decided again from what it took in.
    pub fn decided_again(&self) -> Vec<Entry> {
        let mut journal = self.journal[..1].to_vec();
        let mut life = life::replay(&journal).expect("a journal of one entry");
        for turn in &self.turns {
            let mut draft = life.draft(turn.now, turn.room);
            for input in &turn.inputs {
                draft.take(input).unwrap_or_else(|refusal| panic!("refused the second time: {refusal}"));
            }
            let verdict = draft.close();
            journal.extend(verdict.events);
            life = verdict.life;
        }
        journal
    }

    // --- inputs of runners, for turns of several ---

    /// The task's attempt has succeeded.
    pub fn finished(&self, task: &str) -> Input {
        self.finished_with(task, json!({}))
    }

    /// The task's attempt has succeeded with these outputs.
    pub fn finished_with(&self, task: &str, outputs: Value) -> Input {
        let end = Ok(Success { outputs: outputs_of(outputs), ..Success::default() });
        Input::Ended { task: id(task), attempt: self.attempt(task), end, usage: Usage::default() }
    }

    /// The task's attempt has failed.
    pub fn failed(&self, task: &str, class: FailureClass, message: &str) -> Input {
        let end = Err(Failure::new(class, message));
        Input::Ended { task: id(task), attempt: self.attempt(task), end, usage: Usage::default() }
    }

    /// The runner of a task is alive.
    pub fn alive(&self, task: &str, note: &str) -> Input {
        let attempt = self.attempt(task);
        Input::Heartbeat { task: id(task), attempt, note: note.to_owned(), artifacts: Vec::new() }
    }
}

fn written(life: &Life) -> String {
    serde_json::to_string(life).expect("serialises")
}
