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
    spent: Spent,
    /// What of it is on record already.
    recorded: Usage,
    /// What replies took that a note has counted already.
    before: Spent,
    /// When the same question began the last time that it was noted: replies up to there are counted.
    noted: Option<Timestamp>,
    /// It is on record that the question was begun.
    pub begun: bool,
    /// What was asked, of whom.
    asked: Vec<(String, Request)>,
}

/// What calls took.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    calls: u64,
    tokens: Tokens,
    guessed: bool,
    cost_usd: Money,
}

impl Spent {
    #[must_use]
    fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            tokens: self.tokens.plus(other.tokens),
            guessed: self.guessed || other.guessed,
            cost_usd: Money(self.cost_usd.0.saturating_add(other.cost_usd.0)).min(Money::MAX),
        }
    }
}

impl Ledger {
    /// Nothing yet, for a question that was noted before, where it was.
    pub fn after(noted: Option<Timestamp>) -> Self {
        Self { noted, ..Self::default() }
    }

    /// A call was made that came to nothing; what it used is a guess.
    pub fn lost(&mut self, error: CallError, tokens: Tokens, cost_usd: Money) {
        self.paid(tokens, tokens != Tokens::default(), cost_usd);
        self.failed.push(error);
    }

    /// A call was answered.
    pub fn paid(&mut self, tokens: Tokens, guessed: bool, cost_usd: Money) {
        self.spent = self.spent.plus(Spent { calls: 1, tokens, guessed, cost_usd });
    }

    /// Counts how often the same was asked of the same model before, and that it is asked now.
    pub fn time(&mut self, target: &Target, request: &Request) -> u32 {
        let asked = (target.id(), request.clone());
        let before = self.asked.iter().filter(|other| **other == asked).count();
        self.asked.push(asked);
        u32::try_from(before).unwrap_or(u32::MAX)
    }

    /// A call was answered before, and is on record. What a note has counted is not counted again.
    pub fn remembered(&mut self, rung: &Rung) {
        let (tokens, guessed, cost_usd) = (rung.tokens, rung.guessed, rung.cost_usd);
        if self.noted.is_some_and(|noted| rung.started_at <= noted) {
            self.before = self.before.plus(Spent { calls: 1, tokens, guessed, cost_usd });
            return;
        }
        self.paid(tokens, guessed, cost_usd);
        self.recorded = self.recorded.plus(rung.usage());
    }

    /// What was used is on record from now on.
    pub fn recorded(&mut self, usage: Usage) {
        self.recorded = self.recorded.plus(usage);
    }

    /// What is not on record yet.
    pub fn unrecorded(&self) -> Usage {
        let Spent { calls, tokens, cost_usd, .. } = self.spent;
        let all = Usage { cost_usd, model_calls: calls, tokens: tokens.all(), ..Usage::default() };
        all.minus(self.recorded)
    }

    /// Tells whether nobody was even tried.
    pub fn is_empty(&self) -> bool {
        self.before.plus(self.spent).calls == 0 && self.failed.is_empty()
    }

    /// The answer with everything that it took.
    pub fn complete(&self, answer: Answer) -> Answer {
        let Spent { calls, tokens, guessed, cost_usd } = self.before.plus(self.spent);
        Answer { tokens, tokens_guessed: guessed, cost_usd, calls_made: calls, repairs: self.repairs.clone(), ..answer }
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
            calls: self.spent.calls,
            tokens: self.spent.tokens,
            cost_usd: self.spent.cost_usd,
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
