//! What one question took.

use gantry_core::plan::Money;
use gantry_core::policy::Usage;
use gantry_core::time::Timestamp;

use crate::answer::{Answer, Repair, Tokens};
use crate::error::CallError;
use crate::record::{Call, Rung};
use crate::request::Request;
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
    /// What of it is on record already.
    recorded: Usage,
    /// It is on record that the question was begun.
    pub begun: bool,
    /// What was asked, of whom.
    asked: Vec<(String, Request)>,
}

impl Ledger {
    /// A call was made that came to nothing; what it used is a guess.
    pub fn lost(&mut self, error: CallError, tokens: Tokens, cost_usd: Money) {
        self.paid(tokens, tokens != Tokens::default(), cost_usd);
        self.failed.push(error);
    }

    /// A call was answered.
    pub fn paid(&mut self, tokens: Tokens, guessed: bool, cost_usd: Money) {
        self.calls += 1;
        self.tokens = self.tokens.plus(tokens);
        self.guessed |= guessed;
        self.cost_usd = Money(self.cost_usd.0.saturating_add(cost_usd.0)).min(Money::MAX);
    }

    /// Counts how often the same was asked of the same model before, and that it is asked now.
    pub fn time(&mut self, target: &Target, request: &Request) -> u32 {
        let asked = (target.id(), request.clone());
        let before = self.asked.iter().filter(|other| **other == asked).count();
        self.asked.push(asked);
        u32::try_from(before).unwrap_or(u32::MAX)
    }

    /// A call was answered before, and is on record.
    pub fn remembered(&mut self, rung: &Rung) {
        self.paid(rung.tokens, rung.guessed, rung.cost_usd);
        self.recorded = self.recorded.plus(rung.usage());
    }

    /// What was used is on record from now on.
    pub fn recorded(&mut self, usage: Usage) {
        self.recorded = self.recorded.plus(usage);
    }

    /// What is not on record yet.
    pub fn unrecorded(&self) -> Usage {
        let all =
            Usage { cost_usd: self.cost_usd, model_calls: self.calls, tokens: self.tokens.all(), ..Usage::default() };
        all.minus(self.recorded)
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
        let first = || chain.first().map(Target::id).unwrap_or_default();
        Call {
            key: key.to_owned(),
            method: method(request).to_owned(),
            request: request.clone(),
            asked: answer.map_or_else(first, |answer| answer.asked.clone()),
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

/// What a request wants: the name of the prompt, or else the role.
pub fn method(request: &Request) -> &str {
    request.prompt.as_ref().map_or(&request.role, |prompt| &prompt.name)
}
