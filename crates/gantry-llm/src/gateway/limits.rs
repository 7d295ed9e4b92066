//! How fast and how many at once a provider is called. Whoever has to wait waits; nobody fails.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::clock::{Clock, Reference};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::target::{Limits, Target};

/// The limiters of all providers, made when a provider is called first.
#[derive(Default)]
pub struct Limiters {
    /// Held for a look-up, never while waiting.
    of: Mutex<BTreeMap<String, Arc<Limiter>>>,
}

impl Limiters {
    /// Waits until a call that may take this many tokens may be made; the place is free again when it is dropped.
    pub async fn enter(&self, target: &Target, tokens: u64) -> Option<OwnedSemaphorePermit> {
        let limiter = self.limiter(target);
        let permit = limiter.places.clone().acquire_owned().await.ok();
        if let Some(requests) = &limiter.requests {
            requests.wait(1).await;
        }
        if let Some(per_minute) = &limiter.tokens {
            per_minute.wait(tokens).await;
        }
        permit
    }

    /// One limiter for all models of a provider; another one when its limits change.
    fn limiter(&self, target: &Target) -> Arc<Limiter> {
        let limits = &target.limits;
        let name = format!(
            "{} {} {:?} {:?} {}",
            target.provider,
            target.base_url,
            limits.requests_per_minute,
            limits.tokens_per_minute,
            limits.concurrent_max
        );
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        of.entry(name).or_insert_with(|| Arc::new(Limiter::new(limits))).clone()
    }
}

struct Limiter {
    places: Arc<Semaphore>,
    requests: Option<PerMinute>,
    tokens: Option<PerMinute>,
}

impl Limiter {
    fn new(limits: &Limits) -> Self {
        let per_minute = |count: Option<u32>| count.and_then(NonZeroU32::new).map(PerMinute::new);
        let places = usize::try_from(limits.concurrent_max.max(1)).unwrap_or(Semaphore::MAX_PERMITS);
        Self {
            places: Arc::new(Semaphore::new(places)),
            requests: per_minute(limits.requests_per_minute),
            tokens: per_minute(limits.tokens_per_minute),
        }
    }
}

/// So many of something in a minute.
struct PerMinute {
    count: NonZeroU32,
    clock: SinceStart,
    rate: RateLimiter<NotKeyed, InMemoryState, SinceStart, NoOpMiddleware<Elapsed>>,
    /// Whoever waits holds this, so that all come in the order in which they came.
    queue: tokio::sync::Mutex<()>,
}

impl PerMinute {
    fn new(count: NonZeroU32) -> Self {
        let clock = SinceStart(Instant::now());
        let rate = RateLimiter::direct_with_clock(Quota::per_minute(count), clock);
        Self { count, clock, rate, queue: tokio::sync::Mutex::new(()) }
    }

    /// Waits for room; more than a whole minute's worth counts as a minute's worth, or it would wait for ever.
    async fn wait(&self, wanted: u64) {
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX).min(self.count.get());
        let Some(wanted) = NonZeroU32::new(wanted) else { return };
        let _queue = self.queue.lock().await;
        while let Ok(Err(not_yet)) = self.rate.check_n(wanted) {
            tokio::time::sleep(not_yet.wait_time_from(self.clock.now())).await;
        }
    }
}

/// The clock of the runtime, which tests can stop and turn.
#[derive(Clone, Copy, Debug)]
struct SinceStart(Instant);

/// The time since then.
type Elapsed = Duration;

impl Clock for SinceStart {
    type Instant = Elapsed;
    fn now(&self) -> Elapsed {
        self.0.elapsed()
    }
}

// Says at compile time what the clock above relies on.
const _: fn() = || {
    fn is_reference<T: Reference>() {}
    is_reference::<Elapsed>();
};
