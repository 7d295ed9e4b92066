//! The clock of benches.

use std::time::Duration;

/// How long this thread has run: whatever else the machine does does not count.
#[cfg(unix)]
pub fn processor_time() -> Duration {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).expect("threads have a clock");
    Duration::from(time)
}

/// How long the program has run, where threads have no clock of their own.
#[cfg(not(unix))]
pub fn processor_time() -> Duration {
    static BEGAN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGAN.elapsed()
}
