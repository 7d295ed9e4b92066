//! What is left when a guard was killed: it is adopted by this process, and ended here.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};

use super::guard::{KILL_WITHIN, LOOK_AGAIN, ProcessTable};

/// The guards of this process. Held while one is started, so that none is taken for something that was left.
static GUARDS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Starts a guard. From the first one on, whatever loses its parents below this process is adopted by it.
pub(super) fn start_guard(
    spawn: impl FnOnce() -> io::Result<tokio::process::Child>,
) -> io::Result<tokio::process::Child> {
    static ADOPTS: Once = Once::new();
    ADOPTS.call_once(|| {
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid())); // without it they go to init
    });
    let mut guards = GUARDS.lock().unwrap_or_else(PoisonError::into_inner);
    let guard = spawn()?;
    guards.extend(guard.id().and_then(|pid| i32::try_from(pid).ok()));
    Ok(guard)
}

/// A guard is not needed any more.
pub(super) fn forget_guard(guard: Option<i32>) {
    if let Some(guard) = guard {
        GUARDS.lock().unwrap_or_else(PoisonError::into_inner).remove(&guard);
    }
}

/// Ends everything that guards which are gone left to this process.
pub(super) fn end_orphans() {
    let until = Instant::now() + KILL_WITHIN;
    let mut ended = BTreeSet::new();
    loop {
        let orphans = orphans();
        for orphan in &orphans {
            let _ = rustix::process::kill_process(*orphan, Signal::KILL); // it may just have ended
            ended.insert(orphan.as_raw_nonzero().get());
        }
        // Off the process table, those that are children of this process.
        for pid in ended.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
        }
        if orphans.is_empty() || Instant::now() >= until {
            return;
        }
        std::thread::sleep(LOOK_AGAIN.max(Duration::from_millis(1)));
    }
}

/// Children that this process did not start, and everything below them. What it starts itself stays in its session,
/// except for guards; commands leave it, and so does everything that they start.
fn orphans() -> Vec<Pid> {
    let guards = GUARDS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(table) = ProcessTable::read() else { return Vec::new() };
    let this = rustix::process::getpid();
    let elsewhere = |pid: &Pid| table.session(*pid) != table.session(this);
    let adopted = table.children(this).into_iter();
    let adopted = adopted.filter(|pid| !guards.contains(&pid.as_raw_nonzero().get())).filter(elsewhere);
    adopted.flat_map(|pid| std::iter::once(pid).chain(table.below(pid))).collect()
}
