//! The faults stop and everybody helps: now the plan has to end.

use gantry_core::input::{Input, TakeBack};
use gantry_core::life::{PlanState, State};

use super::environment::is_about;
use super::{Coming, World};
use crate::checks::turn;
use crate::violation::{Outcome, Violation};

/// A life this long has shown what it can; whoever helps it gives it up, so that no seed takes minutes.
const ENTRIES_MAX: usize = 3_000;

impl World {
    /// Helps the plan to its end.
    pub(super) fn calm_down(&mut self) -> Outcome {
        self.calm = true;
        self.silent.clear();
        self.say(|| "calm".to_owned());
        if self.must_recover {
            self.recover()?;
        }
        if self.has_orphans() {
            self.crash(None)?;
            self.recover()?;
        }
        let input = self.observation();
        self.turn(input)?;
        self.help_within(1_000 + 60 * self.plan.tasks.len())
    }

    /// Helps the plan until it ends, which must not take more turns than this.
    pub fn help_within(&mut self, turns_max: usize) -> Outcome {
        self.calm = true;
        let mut given_up = false;
        for _ in 0..turns_max {
            if self.has_ended() {
                return Ok(());
            }
            if self.record.journal.len() > ENTRIES_MAX && !given_up {
                given_up = true;
                let (by, why) = ("ana".to_owned(), "it takes too long".to_owned());
                self.turn(Input::Cancel { by, why, undo: TakeBack::Nothing })?;
                continue;
            }
            let moved = self.time_passes()? || self.everybody_helps()?;
            turn::helped(&self.life, moved)?;
        }
        let detail =
            format!("{:?} after {turns_max} turns, it waits for {:?}", self.life.state(), self.life.waits_for());
        Err(Violation::new("a plan that is helped ends", detail))
    }

    /// Tells whether an attempt or an undo is under way that no runner knows of.
    fn has_orphans(&self) -> bool {
        let undoing = self.life.waits_for().iter().any(|wait| wait.what == "an undo");
        let undone = self.coming.values().any(|coming| match coming {
            Coming::Act { deed, .. } => deed.what == "undo",
            Coming::Answer(input) => matches!(**input, Input::UndoEnded { .. }),
        });
        undoing && !undone || self.has_lost_attempts()
    }

    fn has_lost_attempts(&self) -> bool {
        self.life.in_flight().iter().any(|(task, attempt)| {
            !self.coming.values().any(|coming| match coming {
                Coming::Act { deed, .. } => deed.task == *task && deed.attempt == *attempt,
                Coming::Answer(input) => matches!(**input, Input::Ended { .. }) && is_about(input, task, *attempt),
            })
        })
    }

    /// Everything that the plan waits for is done. False when nothing could be done.
    fn everybody_helps(&mut self) -> Outcome<bool> {
        let before = self.record.journal.len();
        match self.life.state() {
            PlanState::Pending => self.turn(Input::Start)?,
            PlanState::Paused => self.turn(Input::Resume { by: "ana".to_owned() })?,
            _ => {}
        }
        let waits = self.life.waits_for();
        if self.dice.permille(self.mix.together) {
            let inputs: Vec<Input> = waits.iter().filter_map(|wait| self.response(wait)).collect();
            self.turn_of(&inputs)?;
        } else {
            for wait in waits {
                if let Some(input) = self.response(&wait) {
                    self.turn(input)?;
                }
            }
        }
        if self.record.journal.len() == before {
            self.remove_obstacles()?;
        }
        Ok(self.record.journal.len() > before)
    }

    /// What no fact can change, a change of the plan can.
    fn remove_obstacles(&mut self) -> Outcome {
        let blocked =
            |id: &str| self.life.task_life(id).is_some_and(|life| matches!(life.state, State::Blocked { .. }));
        let waits = self.life.waits_for();
        if waits.iter().any(|wait| wait.task.as_ref().is_some_and(|task| blocked(task.as_str()))) {
            let input = self.without_preconditions();
            self.turn(input)?;
        }
        Ok(())
    }
}
