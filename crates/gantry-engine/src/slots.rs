//! Room for attempts in this process, shared fairly between plans.
//!
//! A turn takes what is free, starts what it can and gives the rest back. A plan that had to leave something
//! ready stands in line, and whatever is given back goes to the first in line: nobody overtakes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// How many attempts may run at once in this process.
#[derive(Debug)]
pub(crate) struct Slots {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    free: u32,
    line: VecDeque<Arc<Guest>>,
}

/// One plan that takes slots.
#[derive(Debug, Default)]
pub(crate) struct Guest {
    /// Slots that were set aside for it while it stood in line; written under the lock of [`Inner`] only.
    granted: Mutex<u32>,
    called: Arc<Notify>,
}

impl Guest {
    /// Another guest for the same plan, elsewhere: it is called for either.
    pub(crate) fn elsewhere(&self) -> Self {
        Self { granted: Mutex::default(), called: Arc::clone(&self.called) }
    }

    /// Waits until it is its turn.
    pub(crate) async fn called(&self) {
        self.called.notified().await;
    }

    fn granted(&self) -> MutexGuard<'_, u32> {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    pub(crate) fn new(attempts_max: u32) -> Self {
        Self { inner: Mutex::new(Inner { free: attempts_max, line: VecDeque::new() }) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Counters are whole after every statement, so a panic elsewhere leaves nothing half done.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was set aside for this guest, and if nobody stands in line all that is free, up to `wanted`.
    pub(crate) fn take(&self, guest: &Guest, wanted: u32) -> u32 {
        let mut inner = self.inner();
        let granted = std::mem::take(&mut *guest.granted());
        let more = if inner.line.is_empty() { inner.free.min(wanted.saturating_sub(granted)) } else { 0 };
        inner.free -= more;
        granted + more
    }

    /// Gives some back: each to the first in line, if there is one.
    pub(crate) fn give_back(&self, count: u32) {
        let mut inner = self.inner();
        for _ in 0..count {
            match inner.line.pop_front() {
                Some(first) => {
                    *first.granted() += 1;
                    first.called.notify_one();
                }
                None => inner.free += 1,
            }
        }
    }

    /// Stands in line, at most once.
    pub(crate) fn wait_in_line(&self, guest: &Arc<Guest>) {
        let mut inner = self.inner();
        if inner.free > 0 && inner.line.is_empty() {
            guest.called.notify_one();
        } else if !inner.line.iter().any(|other| Arc::ptr_eq(other, guest)) {
            inner.line.push_back(Arc::clone(guest));
        }
    }

    /// Leaves for good; what was set aside goes to the next.
    pub(crate) fn leave(&self, guest: &Arc<Guest>) {
        self.inner().line.retain(|other| !Arc::ptr_eq(other, guest));
        let granted = std::mem::take(&mut *guest.granted());
        self.give_back(granted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_stands_in_line_first_is_served_first_and_nobody_overtakes() {
        let slots = Slots::new(1);
        let (busy, first, second) = (Guest::default(), Arc::new(Guest::default()), Arc::new(Guest::default()));
        assert_eq!(slots.take(&busy, 5), 1);
        slots.wait_in_line(&first);
        slots.wait_in_line(&second);
        slots.wait_in_line(&first);
        slots.give_back(1);
        first.called().await;
        assert_eq!(slots.take(&busy, 5), 0, "it is set aside");
        assert_eq!(slots.take(&first, 5), 1);
        slots.leave(&first);
        slots.give_back(1);
        second.called().await;
        slots.leave(&second);
        assert_eq!(slots.take(&busy, 5), 1, "what nobody took is free again");
    }
}
