//! What may still be spent, shared by everyone who spends it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gantry_core::policy::{Budget, Dimension, Usage};

/// What is left of calls, tokens and money.
///
/// Invariant: what is set aside and what is spent stay within the budget together, but for what a provider reports
/// beyond its estimate; then nothing more is set aside.
#[derive(Debug, Default)]
pub struct Allowance {
    /// Written by everyone who asks; held for an addition, never while waiting.
    taken: Mutex<Taken>,
    /// What this is a part of: whatever is set aside here is set aside there, too.
    above: Option<Arc<Allowance>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    budget: Budget,
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
        Self { taken: Mutex::new(Taken { budget: left, ..Taken::default() }), above: None }
    }

    /// The same as a part of another one.
    #[must_use]
    pub fn within(self, above: Arc<Self>) -> Self {
        Self { above: Some(above), ..self }
    }

    /// No more than this from now on, what was spent before included.
    pub fn limit(&self, budget: Budget) {
        self.lock().budget = budget;
    }

    /// Counts what was spent without being set aside here.
    pub fn spend(&self, used: Usage) {
        let mut taken = self.lock();
        taken.spent = taken.spent.plus(used);
        drop(taken);
        if let Some(above) = &self.above {
            above.spend(used);
        }
    }

    /// Gives back what was counted before.
    pub fn refund(&self, used: Usage) {
        let mut taken = self.lock();
        taken.spent = taken.spent.minus(used);
        drop(taken);
        if let Some(above) = &self.above {
            above.refund(used);
        }
    }

    /// Sets aside what a call will need, or says what is missing.
    pub fn reserve(&self, need: Usage) -> Result<Reserved<'_>, String> {
        let above = self.above.as_ref().map(|above| above.reserve(need)).transpose()?.map(Box::new);
        let mut taken = self.lock();
        let before = taken.spent.plus(taken.reserved);
        if let Some(short) = taken.budget.exceeded_by(before.plus(need)) {
            return Err(missing(&taken.budget, short, before, need));
        }
        taken.reserved = taken.reserved.plus(need);
        drop(taken);
        Ok(Reserved { allowance: self, need, above })
    }

    /// Tells whether there is a limit in this dimension, here or above.
    pub fn limits(&self, dimension: Dimension) -> bool {
        let budget = self.lock().budget;
        let here = match dimension {
            Dimension::CostUsd => budget.cost_usd.is_some(),
            Dimension::ModelCalls => budget.model_calls.is_some(),
            Dimension::Tokens => budget.tokens.is_some(),
            Dimension::Time | Dimension::Nodes => false,
        };
        here || self.above.as_ref().is_some_and(|above| above.limits(dimension))
    }

    /// What was spent so far.
    pub fn spent(&self) -> Usage {
        self.lock().spent
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn missing(budget: &Budget, short: Dimension, before: Usage, need: Usage) -> String {
    let count = |limit: Option<u64>, taken: u64| limit.unwrap_or_default().saturating_sub(taken);
    match short {
        Dimension::CostUsd => {
            let left = count(budget.cost_usd.map(|money| money.0), before.cost_usd.0);
            format!("the call may cost ${}, and ${} is left", need.cost_usd, gantry_core::plan::Money(left))
        }
        Dimension::ModelCalls => "no model call is left".into(),
        Dimension::Tokens => {
            let left = count(budget.tokens, before.tokens);
            format!("the call may take {} tokens, and {left} are left", need.tokens)
        }
        Dimension::Time | Dimension::Nodes => "the budget is used up".into(),
    }
}

/// What is set aside for one call; given back when dropped.
#[derive(Debug)]
#[must_use = "what is not held is given back"]
pub struct Reserved<'a> {
    allowance: &'a Allowance,
    need: Usage,
    above: Option<Box<Reserved<'a>>>,
}

impl Reserved<'_> {
    /// Spends what was really used, and gives back the rest.
    pub fn settle(mut self, used: Usage) {
        let mut taken = self.allowance.lock();
        taken.spent = taken.spent.plus(used);
        drop(taken);
        if let Some(above) = self.above.take() {
            above.settle(used);
        }
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut taken = self.allowance.lock();
        taken.reserved = taken.reserved.minus(self.need);
    }
}
