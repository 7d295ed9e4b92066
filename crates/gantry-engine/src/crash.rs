//! Named points at which tests have the process killed. Not in a release build.

/// Kills this process, as `kill -9` does, when `GANTRY_CRASH_AT` is `<point>:<nth>` and this is the nth time here.
#[cfg(debug_assertions)]
pub(crate) fn crash_point(point: &str) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static PASSED: AtomicU32 = AtomicU32::new(0);
    let Ok(wanted) = std::env::var("GANTRY_CRASH_AT") else { return };
    let Some((name, nth)) = wanted.split_once(':') else { return };
    if name == point && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == nth.parse().unwrap_or(0) {
        // It does not return; if it could not be sent, the test notices that nobody died.
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// Nothing, in a release build.
#[cfg(not(debug_assertions))]
pub(crate) fn crash_point(_point: &str) {}
