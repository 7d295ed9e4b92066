//! Room for attempts in this process, shared fairly between plans.
//!
//! A turn takes what is free, starts what it can and gives the rest back. A plan that had to leave something
//! ready stands in line; each attempt that ends lets the first in line look again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// How many attempts may run at once in this process.
#[derive(Debug)]
pub(crate) struct Slots {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    free: u32,
    line: VecDeque<Arc<Notify>>,
}

impl Slots {
    pub(crate) fn new(attempts_max: u32) -> Self {
        Self { inner: Mutex::new(Inner { free: attempts_max, line: VecDeque::new() }) }
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        // Counters are whole after every statement, so a panic elsewhere leaves nothing half done.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all that is free, up to `wanted`.
    pub(crate) fn take(&self, wanted: u32) -> u32 {
        let mut inner = self.inner();
        let taken = inner.free.min(wanted);
        inner.free -= taken;
        taken
    }

    /// Gives some back and lets as many of those in line look again.
    pub(crate) fn give_back(&self, count: u32) {
        let mut inner = self.inner();
        inner.free += count;
        for _ in 0..count {
            let Some(first) = inner.line.pop_front() else { break };
            first.notify_one();
        }
    }

    /// Stands in line, at most once.
    pub(crate) fn wait_in_line(&self, who: &Arc<Notify>) {
        let mut inner = self.inner();
        if inner.free > 0 {
            who.notify_one();
        } else if !inner.line.iter().any(|other| Arc::ptr_eq(other, who)) {
            inner.line.push_back(Arc::clone(who));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_stands_in_line_first_is_called_first() {
        let slots = Slots::new(1);
        let (first, second) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        assert_eq!(slots.take(5), 1);
        slots.wait_in_line(&first);
        slots.wait_in_line(&second);
        slots.wait_in_line(&first);
        slots.give_back(1);
        first.notified().await;
        assert_eq!(slots.take(5), 1);
        slots.give_back(1);
        second.notified().await;
        assert!(slots.inner().line.is_empty(), "nobody stands in line twice");
    }
}
