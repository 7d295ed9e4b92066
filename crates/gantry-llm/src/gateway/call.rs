//! One call to one model, and again while its trouble may pass.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use gantry_core::plan::Money;
use gantry_core::policy::Usage;
use gantry_core::time::Timestamp;

use crate::answer::{Reply, Tokens};
use crate::error::{AskError, CallError, CallFault};
use crate::provider::{Delta, Listener};
use crate::record::{Begun, RecordError, Rung};
use crate::request::Request;
use crate::target::{Protocol, Target};

use super::ledger::{Ledger, method};
use super::{Asking, Gateway, Habits, price};

/// One question on its way down.
pub(super) struct Way<'a> {
    /// The question, with everything around it.
    pub asking: &'a Asking<'a>,
    /// The name under which its answer is kept.
    pub key: &'a str,
    /// Who was to answer, as `provider:model`.
    pub asked: &'a str,
    /// When it began.
    pub started_at: Timestamp,
}

/// A reply, and what is to be written down should the question go on after it.
#[derive(Debug)]
pub(super) struct Replied {
    pub reply: Reply,
    /// None when it is on record already, or cost nothing.
    pub rung: Option<Rung>,
}

/// Why a model gives no answer that holds.
#[derive(Debug)]
pub enum Stop {
    /// Asking is over.
    Over(AskError),
    /// The next model may do better; the ledger says why.
    Next,
    /// It answered, but never as it should; the next model may do better.
    Invalid(Vec<String>),
}

impl From<RecordError> for Stop {
    fn from(error: RecordError) -> Self {
        Self::Over(AskError::Record(error.to_string()))
    }
}

impl Gateway {
    /// Takes a reply that is on record, or calls until one comes, at most as often as the target allows.
    pub(super) async fn call(
        &self,
        target: &Target,
        request: &Request,
        way: &Way<'_>,
        ledger: &mut Ledger,
    ) -> Result<Replied, Stop> {
        let (asking, id) = (way.asking, target.id());
        let key = request.call_key(target, ledger.time(target, request));
        // The offline model says the same again, and costs nothing.
        let pays = target.protocol != Protocol::Offline;
        let known = if pays { asking.record.rung(&key).await? } else { None };
        if let Some(rung) = known {
            ledger.remembered(&rung);
            if let Some(provider) = self.providers.get(&target.protocol) {
                provider.remind(target, request, &rung.reply);
            }
            asking.listener.hear(Delta::Text(rung.reply.text.clone()));
            return Ok(Replied { reply: rung.reply, rung: None });
        }
        let mut waits = waits(&self.habits, target, &key);
        loop {
            let error = match self.call_once(target, &id, request, way, ledger).await? {
                Ok((reply, paid)) => {
                    let (tokens, guessed, cost_usd) = (paid.tokens, paid.guessed, paid.cost_usd);
                    let started_at = way.started_at;
                    let rung = Rung { key, target: id, reply: reply.clone(), tokens, guessed, cost_usd, started_at };
                    return Ok(Replied { reply, rung: pays.then_some(rung) });
                }
                Err(error) => error,
            };
            if error.fault == CallFault::Cancelled {
                return Err(Stop::Over(AskError::Cancelled));
            }
            if !error.fault.may_pass() || error.fault == CallFault::Resting {
                return Err(Stop::Next);
            }
            let Some(wait) = waits.next() else { return Err(Stop::Next) };
            let wait = wait.max(error.retry_after.unwrap_or_default());
            if wait > self.habits.wait_max {
                return Err(Stop::Next);
            }
            asking.listener.again(&error.to_string());
            tokio::select! {
                biased;
                () = asking.stop.cancelled() => return Err(Stop::Over(AskError::Cancelled)),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Writes down a reply after which the question goes on: it is paid for, and must not be asked for again.
    pub(super) async fn go_on(&self, rung: Option<Rung>, way: &Way<'_>, ledger: &mut Ledger) -> Result<(), Stop> {
        let Some(rung) = rung else { return Ok(()) };
        let usage = rung.usage();
        way.asking.record.climb(rung).await?;
        ledger.recorded(usage);
        Ok(())
    }

    /// Sets aside, waits for its turn, calls, and settles.
    async fn call_once(
        &self,
        target: &Target,
        id: &str,
        request: &Request,
        way: &Way<'_>,
        ledger: &mut Ledger,
    ) -> Result<Result<(Reply, Paid), CallError>, Stop> {
        let asking = way.asking;
        let not_called =
            |fault, message: String| CallError { fault, target: id.to_owned(), message, retry_after: None };
        let resting = |left: Duration, ledger: &mut Ledger| {
            let message = format!("it failed too often and is left alone for another {} s", left.as_secs());
            let error = CallError { retry_after: Some(left), ..not_called(CallFault::Resting, message) };
            ledger.failed.push(error.clone());
            Ok(Err(error))
        };
        let Some(provider) = self.providers.get(&target.protocol) else {
            let message = format!("nobody here speaks {:?}", target.protocol);
            let error = not_called(CallFault::Request, message);
            ledger.failed.push(error.clone());
            return Ok(Err(error));
        };
        if let Some(left) = self.breakers.rests(id) {
            return resting(left, ledger);
        }
        if let Some(why) = price::unpriced(target, asking.allowance) {
            let error = not_called(CallFault::Unable, why);
            ledger.failed.push(error.clone());
            return Ok(Err(error));
        }
        let (request, reserved, need) = price::set_aside(request, target, asking.allowance).map_err(|missing| {
            Stop::Over(AskError::Budget(format!("{id} is not asked: {missing}; raise the budget of the plan")))
        })?;
        let request = &request;
        let _place = tokio::select! {
            biased;
            () = asking.stop.cancelled() => return Err(Stop::Over(AskError::Cancelled)),
            place = self.limiters.enter(target, need.tokens) => place,
        };
        // It may have begun to rest while this call waited for its turn.
        let pass = match self.breakers.enter(id, &self.habits) {
            Ok(pass) => pass,
            Err(left) => return resting(left, ledger),
        };
        let counting = Counting { listener: asking.listener, chars: AtomicU64::new(0) };
        let begins = !ledger.begun && target.protocol != Protocol::Offline;
        let begin = async {
            let (request, method) = (&asking.request, method(&asking.request));
            let begun = Begun { key: way.key, method, request, asked: way.asked };
            if begins { asking.record.begin(&begun).await } else { Ok(()) }
        };
        let call = async { Ok(provider.call(target, request, &counting, &asking.stop).await) };
        // The question is written down while it is on its way: that takes no time of anyone, and it is on record before
        // its answer is. A record that cannot be written stops the call.
        let end = tokio::select! {
            biased;
            () = asking.stop.cancelled() => Err(not_called(CallFault::Cancelled, "stopped".into())),
            both = async { tokio::try_join!(biased; call, begin) } => both?.0,
        };
        ledger.begun |= begins;
        Ok(match end {
            Ok(reply) => {
                let (tokens, guessed) = price::used(request, &reply);
                let cost_usd = price::cost(tokens, target.price.as_ref());
                reserved.settle(Usage { cost_usd, model_calls: 1, tokens: tokens.all(), nodes: 0 });
                ledger.paid(tokens, guessed, cost_usd);
                pass.good();
                Ok((reply, Paid { tokens, guessed, cost_usd }))
            }
            Err(error) => {
                // Nobody reports what a call used that came to nothing; what was heard of it is paid for.
                let tokens = price::heard(request, counting.chars.into_inner());
                let cost_usd = price::cost(tokens, target.price.as_ref());
                reserved.settle(Usage { cost_usd, model_calls: 1, tokens: tokens.all(), nodes: 0 });
                ledger.lost(error.clone(), tokens, cost_usd);
                match error.fault {
                    CallFault::Cancelled => {}
                    fault if fault.may_pass() => pass.bad(),
                    _ => pass.good(),
                }
                Err(error)
            }
        })
    }
}

/// Counts the letters of an answer, for whoever has to pay for it although it broke off.
struct Counting<'a> {
    listener: &'a dyn Listener,
    chars: AtomicU64,
}

impl Listener for Counting<'_> {
    fn hear(&self, delta: Delta) {
        let (Delta::Text(text) | Delta::Reasoning(text) | Delta::Call { args: text, .. }) = &delta;
        self.chars.fetch_add(u64::try_from(text.chars().count()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.listener.hear(delta);
    }

    fn again(&self, why: &str) {
        self.listener.again(why);
    }
}

/// What one call used.
struct Paid {
    tokens: Tokens,
    guessed: bool,
    cost_usd: Money,
}

/// How long to wait before each repetition. The same question waits equally long every time it is asked.
fn waits(habits: &Habits, target: &Target, key: &str) -> impl Iterator<Item = Duration> + use<> {
    let hash = blake3::hash(key.as_bytes());
    let chance = hash.as_bytes().iter().take(8).fold(habits.seed, |seed, byte| seed.rotate_left(8) ^ u64::from(*byte));
    // The offline model never fails in a way that passes, so this is for the network.
    let times = if target.protocol == Protocol::Offline { 0 } else { target.limits.retries_max };
    ExponentialBuilder::new()
        .with_min_delay(habits.backoff_min)
        .with_max_delay(habits.backoff_max)
        .with_factor(2.0)
        .with_jitter()
        .with_jitter_seed(chance)
        .with_max_times(usize::try_from(times).unwrap_or(usize::MAX))
        .build()
}
