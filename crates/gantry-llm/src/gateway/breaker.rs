//! Models that fail again and again are left alone for a while.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::Habits;

/// The breakers of all models, by `provider:model`.
#[derive(Debug, Default)]
pub struct Breakers {
    /// Held for a look, never while waiting.
    of: Mutex<BTreeMap<String, State>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    failures: u32,
    /// When it may be tried again; none while it is in use as usual.
    rests_until: Option<Instant>,
    /// Somebody tries it right now; the others wait for the outcome elsewhere.
    tried: bool,
}

impl State {
    fn rests(&self) -> Option<Duration> {
        let left = self.rests_until?.saturating_duration_since(Instant::now());
        (self.tried || !left.is_zero()).then_some(left)
    }
}

impl Breakers {
    /// How long a model still rests; none when it may be called.
    pub fn rests(&self, target: &str) -> Option<Duration> {
        self.lock().get(target)?.rests()
    }

    /// Lets one call through, whose outcome must be told; or says how long the model still rests.
    pub fn enter<'a>(&'a self, target: &'a str, habits: &Habits) -> Result<Pass<'a>, Duration> {
        let mut of = self.lock();
        let state = of.entry(target.to_owned()).or_default();
        if let Some(left) = state.rests() {
            return Err(left);
        }
        let trial = state.rests_until.is_some();
        state.tried = trial;
        Ok(Pass { breakers: self, target, trial, failures_max: habits.failures_max, rest: habits.rest })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, State>> {
        self.of.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call that was let through. Dropped without an outcome, a trial is free for the next one.
#[derive(Debug)]
#[must_use = "the outcome must be told"]
pub struct Pass<'a> {
    breakers: &'a Breakers,
    target: &'a str,
    trial: bool,
    failures_max: u32,
    rest: Duration,
}

impl Pass<'_> {
    /// Somebody answered: all is well.
    pub fn good(self) {
        self.breakers.lock().remove(self.target);
    }

    /// It failed in a way that may pass.
    pub fn bad(self) {
        let mut of = self.breakers.lock();
        let state = of.entry(self.target.to_owned()).or_default();
        state.failures = state.failures.saturating_add(1);
        if state.failures >= self.failures_max || self.trial {
            state.rests_until = Some(Instant::now() + self.rest);
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.trial
            && let Some(state) = self.breakers.lock().get_mut(self.target)
        {
            state.tried = false;
        }
    }
}
