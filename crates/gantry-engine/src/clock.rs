//! Where the time comes from.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use gantry_core::time::Timestamp;

/// The longest single sleep: after the machine was suspended, timers are looked at this soon.
const NAP_MAX: Duration = Duration::from_secs(30);

/// Tells the time and waits for it.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Returns the time.
    fn now(&self) -> Timestamp;

    /// Returns at this time or, for a look at the clock, somewhat earlier.
    async fn sleep_until(&self, at: Timestamp) {
        let left = u64::try_from(at.as_ms() - self.now().as_ms()).unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(left).min(NAP_MAX)).await;
    }
}

/// The machine's time as of the start, carried on by a clock that nobody can set.
///
/// Someone who sets the machine's clock while plans run moves no timer and no lease; the next start takes over
/// the new time, and a journal never goes back. Time asleep counts.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Timestamp,
    boot_ms: i64,
}

impl SystemClock {
    /// Reads the machine's clock once.
    pub fn new() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let start = Timestamp::from_ms(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX));
        Self { start, boot_ms: boot_ms() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.start.as_ms() + boot_ms() - self.boot_ms)
    }
}

/// Milliseconds since the machine started, time asleep included where the system can tell.
fn boot_ms() -> i64 {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
}

/// The time of the async runtime, which tests can pause and advance.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    start: Timestamp,
    since: tokio::time::Instant,
}

impl TokioClock {
    /// Begins at this time.
    pub fn starting_at(start: Timestamp) -> Self {
        Self { start, since: tokio::time::Instant::now() }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        let elapsed = i64::try_from(self.since.elapsed().as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_ms(self.start.as_ms() + elapsed)
    }
}
