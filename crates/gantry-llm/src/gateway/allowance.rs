//! What may still be spent, shared by everyone who spends it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gantry_core::policy::{Budget, Dimension, Usage};

/// What is left of calls, tokens and money.
///
/// Invariant: what is set aside and what is spent stay within the budget together, but for what a provider reports
/// beyond its estimate; then nothing more is set aside.
#[derive(Debug, Default)]
pub struct Allowance {
    budget: Budget,
    /// Written by everyone who asks; held for an addition, never while waiting.
    taken: Mutex<Taken>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    spent: Usage,
    reserved: Usage,
}

impl Allowance {
    /// As much as there is.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// No more than this: calls, tokens and money count.
    pub fn of(left: Budget) -> Self {
        Self { budget: left, taken: Mutex::default() }
    }

    /// Sets aside what a call will need, or says what is missing.
    pub fn reserve(&self, need: Usage) -> Result<Reserved<'_>, String> {
        let mut taken = self.lock();
        let before = taken.spent.plus(taken.reserved);
        if let Some(short) = self.budget.exceeded_by(before.plus(need)) {
            return Err(self.missing(short, before, need));
        }
        taken.reserved = taken.reserved.plus(need);
        Ok(Reserved { allowance: self, need })
    }

    /// What was spent so far.
    pub fn spent(&self) -> Usage {
        self.lock().spent
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn missing(&self, short: Dimension, before: Usage, need: Usage) -> String {
        let count = |limit: Option<u64>, taken: u64| limit.unwrap_or_default().saturating_sub(taken);
        match short {
            Dimension::CostUsd => {
                let left = count(self.budget.cost_usd.map(|money| money.0), before.cost_usd.0);
                let left = gantry_core::plan::Money(left);
                format!("the call may cost ${}, and ${left} is left", need.cost_usd)
            }
            Dimension::ModelCalls => "no model call is left".into(),
            Dimension::Tokens => {
                let left = count(self.budget.tokens, before.tokens);
                format!("the call may take {} tokens, and {left} are left", need.tokens)
            }
            Dimension::Time | Dimension::Nodes => "the budget is used up".into(),
        }
    }
}

/// What is set aside for one call; given back when dropped.
#[derive(Debug)]
#[must_use = "what is not held is given back"]
pub struct Reserved<'a> {
    allowance: &'a Allowance,
    need: Usage,
}

impl Reserved<'_> {
    /// Spends what was really used, and gives back the rest.
    pub fn settle(self, used: Usage) {
        let mut taken = self.allowance.lock();
        taken.spent = taken.spent.plus(used);
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut taken = self.allowance.lock();
        taken.reserved = taken.reserved.minus(self.need);
    }
}
