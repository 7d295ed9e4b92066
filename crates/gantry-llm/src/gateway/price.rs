//! What calls cost, and what they may cost.

use gantry_core::plan::Money;
use gantry_core::policy::{Dimension, Usage};

use crate::answer::{Reply, Tokens};
use crate::error::AskError;
use crate::request::Request;
use crate::target::{Price, Protocol, Target};

use super::{Allowance, Gateway, Reserved};

/// How many characters make a token, roughly.
const CHARS_PER_TOKEN: u64 = 4;

/// How long an answer is thought to be when nobody says how long it may be.
const ANSWER_TOKENS: u32 = 1_000;

/// How long it may be under a budget, if there is room for that; otherwise as long as it is thought to be.
const ANSWER_TOKENS_MAX: u32 = 8_000;

/// A price is for so many tokens.
const PRICED_TOKENS: u128 = 1_000_000;

/// What tokens cost, rounded up to a millionth of a dollar.
pub fn cost(tokens: Tokens, price: Option<&Price>) -> Money {
    let Some(price) = price else { return Money(0) };
    let cached = tokens.cached.min(tokens.input);
    let part = |count: u64, price: Money| u128::from(count) * u128::from(price.0);
    let micros = part(tokens.input - cached, price.input)
        + part(cached, price.cached.unwrap_or(price.input))
        + part(tokens.output, price.output);
    Money(u64::try_from(micros.div_ceil(PRICED_TOKENS)).unwrap_or(u64::MAX)).min(Money::MAX)
}

/// What one call may use: the words that are sent, and the longest answer.
pub fn estimate(request: &Request, target: &Target) -> Usage {
    if target.protocol == Protocol::Offline {
        return Usage { model_calls: 1, ..Usage::default() };
    }
    let output = u64::from(request.settings.tokens_max.unwrap_or(ANSWER_TOKENS));
    let tokens = Tokens { input: asked(request), output, ..Tokens::default() };
    Usage { cost_usd: cost(tokens, target.price.as_ref()), model_calls: 1, tokens: tokens.all(), nodes: 0 }
}

/// The request as it is sent under a budget, and what is set aside for it.
///
/// An answer is as long as it likes unless it is told otherwise, and then no budget of tokens or money holds: so it is
/// told to be as long as what is set aside. The error says what is missing.
pub(super) fn set_aside<'a>(
    request: &Request,
    target: &Target,
    allowance: &'a Allowance,
) -> Result<(Request, Reserved<'a>, Usage), String> {
    let mut sent = request.clone();
    let capped = allowance.limits(Dimension::Tokens) || allowance.limits(Dimension::CostUsd);
    if !capped || target.protocol == Protocol::Offline || request.settings.tokens_max.is_some() {
        let need = estimate(request, target);
        return Ok((sent, allowance.reserve(need)?, need));
    }
    sent.settings.tokens_max = Some(ANSWER_TOKENS_MAX);
    let need = estimate(&sent, target);
    if let Ok(reserved) = allowance.reserve(need) {
        return Ok((sent, reserved, need));
    }
    sent.settings.tokens_max = Some(ANSWER_TOKENS);
    let need = estimate(&sent, target);
    Ok((sent, allowance.reserve(need)?, need))
}

/// Why a budget cannot be held with this model.
pub(super) fn unpriced(target: &Target, allowance: &Allowance) -> Option<String> {
    let unknown = target.price.is_none() && target.protocol != Protocol::Offline;
    (unknown && allowance.limits(Dimension::CostUsd)).then(|| {
        "its price is not known, so that a budget in dollars cannot be held; set `price` of the model in gantry.toml, \
         or budget tokens"
            .to_owned()
    })
}

/// What a call has used that came to nothing after so many letters of an answer: a guess.
pub(super) fn heard(request: &Request, chars: u64) -> Tokens {
    match chars {
        0 => Tokens::default(),
        chars => Tokens { input: asked(request), output: chars.div_ceil(CHARS_PER_TOKEN), ..Tokens::default() },
    }
}

/// What a question would take before anyone is asked, without repairs and repetitions.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreseen {
    /// Who would be asked first, as `provider:model`.
    pub target: String,
    /// What the call may use.
    pub usage: Usage,
    /// Its price is known.
    pub priced: bool,
}

impl Gateway {
    /// Says what a question would take. Nobody is asked.
    pub fn foresee(&self, request: &Request) -> Result<Foreseen, AskError> {
        let chain = self.chain(request, false)?;
        let nobody = || AskError::Configuration(format!("no model is configured for `{}`", request.role));
        let first = chain.first().ok_or_else(nobody)?;
        let priced = first.price.is_some() || first.protocol == Protocol::Offline;
        Ok(Foreseen { target: first.id(), usage: estimate(request, first), priced })
    }
}

/// What an answer used, as reported or else as guessed, and whether it is a guess.
pub(super) fn used(request: &Request, reply: &Reply) -> (Tokens, bool) {
    let guess = || Tokens {
        input: asked(request),
        output: words(&reply.text) + words(&reply.reasoning) + json(&reply.calls),
        ..Tokens::default()
    };
    reply.tokens.map_or_else(|| (guess(), true), |tokens| (tokens, false))
}

/// How many tokens a request has, roughly.
pub(super) fn asked(request: &Request) -> u64 {
    let said: u64 = request.messages.iter().map(json).sum();
    said + json(&request.tools) + json(&request.shape)
}

fn words(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX).div_ceil(CHARS_PER_TOKEN)
}

/// The tokens of a value; nothing at all takes none.
fn json(value: &impl serde::Serialize) -> u64 {
    match serde_json::to_string(value).as_deref() {
        Ok("null" | "[]") | Err(_) => 0,
        Ok(text) => words(text),
    }
}
