//! What one question took.

use gantry_core::plan::Money;
use gantry_core::time::Timestamp;

use crate::answer::{Answer, Repair, Tokens};
use crate::error::CallError;
use crate::record::Call;
use crate::target::Target;

use super::Asking;

/// Adds up while a question is asked.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Each call that came to nothing.
    pub failed: Vec<CallError>,
    /// What was done to get an answer.
    pub repairs: Vec<Repair>,
    calls: u64,
    tokens: Tokens,
    guessed: bool,
    cost_usd: Money,
}

impl Ledger {
    /// A call was made that came to nothing.
    pub fn lost(&mut self, error: CallError) {
        self.calls += 1;
        self.failed.push(error);
    }

    /// A call was answered.
    pub fn paid(&mut self, tokens: Tokens, guessed: bool, cost_usd: Money) {
        self.calls += 1;
        self.tokens = self.tokens.plus(tokens);
        self.guessed |= guessed;
        self.cost_usd = Money(self.cost_usd.0.saturating_add(cost_usd.0)).min(Money::MAX);
    }

    /// Tells whether nobody was even tried.
    pub fn is_empty(&self) -> bool {
        self.calls == 0 && self.failed.is_empty()
    }

    /// The answer with everything that it took.
    pub fn complete(&self, answer: Answer) -> Answer {
        Answer {
            tokens: self.tokens,
            tokens_guessed: self.guessed,
            cost_usd: self.cost_usd,
            calls_made: self.calls,
            repairs: self.repairs.clone(),
            ..answer
        }
    }

    /// The note about it.
    pub fn note(
        &self,
        key: &str,
        asking: &Asking<'_>,
        chain: &[Target],
        answer: Option<&Answer>,
        started_at: Timestamp,
        ended_at: Timestamp,
    ) -> Call {
        let request = &asking.request;
        Call {
            key: key.to_owned(),
            method: request.prompt.as_ref().map_or_else(|| request.role.clone(), |prompt| prompt.name.clone()),
            request: request.clone(),
            asked: chain.first().map(Target::id).unwrap_or_default(),
            answer: answer.cloned(),
            failed: self.failed.clone(),
            calls: self.calls,
            tokens: self.tokens,
            cost_usd: self.cost_usd,
            started_at,
            ended_at,
            context: asking.context.clone(),
        }
    }
}
