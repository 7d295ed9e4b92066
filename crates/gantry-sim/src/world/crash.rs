//! The process dies: memory is gone, most of what was on its way too, the journal stays.

use gantry_core::event::Entry;
use gantry_core::input::Input;

use super::{Coming, World};
use crate::checks::turn;
use crate::violation::{Outcome, Violation};

impl World {
    /// Dies and comes back. `appended` are events that are in the journal and not yet in memory.
    pub(super) fn crash(&mut self, appended: Option<&[Entry]>) -> Outcome {
        self.record.crashes += 1;
        let mut expected = self.life.clone();
        expected.apply(appended.unwrap_or_default());
        let keep = self.dice.between(0, 40);
        let coming = std::mem::take(&mut self.coming);
        for (key, item) in coming {
            // A runner elsewhere may live on, and an answer may be under way in the network.
            if self.dice.below(100) < keep {
                self.coming.insert(key, item);
            } else if let Coming::Act { deed, .. } = &item {
                self.silent.insert((deed.task.clone(), deed.attempt));
            }
        }
        let away = if self.dice.percent(10) { 3_600_000 } else { 5_000 };
        self.true_ms += i64::try_from(self.dice.below(away)).unwrap_or(0);
        self.life = self.replayed()?;
        if self.life != expected {
            return Err(Violation::new("replay equals memory", "after a crash"));
        }
        turn::revision(&self.life.plan(), &self.plan)?;
        self.must_recover = true;
        Ok(())
    }

    /// Takes stock after a crash.
    pub(super) fn recover(&mut self) -> Outcome {
        self.must_recover = false;
        self.turn(Input::Recover)
    }
}
