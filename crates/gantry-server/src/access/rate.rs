//! How often someone may ask: a bucket for each address or account that fills again with time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// How many buckets are kept; full ones are forgotten first.
const BUCKETS_MAX: usize = 10_000;

/// A bucket for each key.
pub struct Rate {
    per_second: f64,
    burst: f64,
    buckets: Mutex<HashMap<String, (f64, Instant)>>,
}

impl Rate {
    /// So many in a second for a while, and so many at once.
    pub fn new(per_second: f64, burst: u32) -> Self {
        Self { per_second, burst: f64::from(burst), buckets: Mutex::default() }
    }

    /// Takes one, if there is one left.
    pub fn take(&self, key: &str, now: Instant) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= BUCKETS_MAX {
            let (rate, burst) = (self.per_second, self.burst);
            let full = |(left, at): &(f64, Instant)| left + now.duration_since(*at).as_secs_f64() * rate >= burst;
            buckets.retain(|_, bucket| !full(bucket));
            if buckets.len() >= BUCKETS_MAX {
                return false; // so many at once that nobody can be told from anybody
            }
        }
        let (left, at) = buckets.entry(key.to_owned()).or_insert((self.burst, now));
        *left = (*left + now.duration_since(*at).as_secs_f64() * self.per_second).min(self.burst);
        *at = now;
        if *left < 1.0 {
            return false;
        }
        *left -= 1.0;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn whoever_asks_too_often_has_to_wait_and_nobody_else() {
        let (rate, now) = (Rate::new(1.0, 2), Instant::now());
        assert!(rate.take("ann", now) && rate.take("ann", now));
        assert!(!rate.take("ann", now));
        assert!(rate.take("bob", now));
        assert!(rate.take("ann", now + Duration::from_secs(1)));
        assert!(!rate.take("ann", now + Duration::from_secs(1)));
    }
}
