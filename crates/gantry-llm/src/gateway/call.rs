//! One call to one model, and again while its trouble may pass.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use gantry_core::policy::Usage;

use crate::answer::Reply;
use crate::error::{AskError, CallError, CallFault};
use crate::request::Request;
use crate::target::{Protocol, Target};

use super::ledger::Ledger;
use super::{Asking, Gateway, Habits, price};

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

impl Gateway {
    /// Calls until an answer comes, at most as often as the target allows.
    pub(super) async fn call(
        &self,
        target: &Target,
        request: &Request,
        asking: &Asking<'_>,
        ledger: &mut Ledger,
    ) -> Result<Reply, Stop> {
        let id = target.id();
        let mut waits = waits(&self.habits, target, request);
        loop {
            let error = match self.call_once(target, &id, request, asking, ledger).await? {
                Ok(reply) => return Ok(reply),
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

    /// Sets aside, waits for its turn, calls, and settles.
    async fn call_once(
        &self,
        target: &Target,
        id: &str,
        request: &Request,
        asking: &Asking<'_>,
        ledger: &mut Ledger,
    ) -> Result<Result<Reply, CallError>, Stop> {
        let not_called =
            |fault, message: String| CallError { fault, target: id.to_owned(), message, retry_after: None };
        let resting = |left: Duration, ledger: &mut Ledger| {
            let message = format!("it failed too often and is left alone for another {} s", left.as_secs());
            let error = not_called(CallFault::Resting, message);
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
        let need = price::estimate(request, target);
        let reserved = asking.allowance.reserve(need).map_err(|missing| {
            Stop::Over(AskError::Budget(format!("{id} is not asked: {missing}; raise the budget of the plan")))
        })?;
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
        let end = tokio::select! {
            biased;
            () = asking.stop.cancelled() => Err(not_called(CallFault::Cancelled, "stopped".into())),
            end = provider.call(target, request, asking.listener, &asking.stop) => end,
        };
        match &end {
            Ok(reply) => {
                let (tokens, guessed) = price::used(request, reply);
                let cost_usd = price::cost(tokens, target.price.as_ref());
                reserved.settle(Usage { cost_usd, model_calls: 1, tokens: tokens.all(), nodes: 0 });
                ledger.paid(tokens, guessed, cost_usd);
                pass.good();
            }
            Err(error) => {
                // What a call used that came to nothing is not known.
                reserved.settle(Usage { model_calls: 1, ..Usage::default() });
                ledger.lost(error.clone());
                match error.fault {
                    CallFault::Cancelled => {}
                    fault if fault.may_pass() => pass.bad(),
                    _ => pass.good(),
                }
            }
        }
        Ok(end)
    }
}

/// How long to wait before each repetition. The same question waits equally long every time it is asked.
fn waits(habits: &Habits, target: &Target, request: &Request) -> impl Iterator<Item = Duration> {
    let hash = blake3::hash(request.key(target).as_bytes());
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
