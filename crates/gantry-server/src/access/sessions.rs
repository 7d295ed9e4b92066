//! Who is signed in: kept in memory by the hash of a secret, gone when the server ends.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use gantry_core::time::{Duration, Timestamp};

use super::random_hex;

/// How long a session lasts.
const LASTS_HOURS: u64 = 12;
/// How many sessions there may be.
const SESSIONS_MAX: usize = 10_000;

#[derive(Default)]
pub struct Sessions(Mutex<HashMap<blake3::Hash, (String, Timestamp)>>);

impl Sessions {
    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<blake3::Hash, (String, Timestamp)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a session and returns its secret.
    pub fn begin(&self, name: &str, now: Timestamp) -> String {
        let secret = random_hex(32);
        let mut all = self.all();
        all.retain(|_, (_, until)| *until > now);
        if all.len() >= SESSIONS_MAX {
            all.clear();
        }
        all.insert(blake3::hash(secret.as_bytes()), (name.to_owned(), now + Duration::from_hours(LASTS_HOURS)));
        secret
    }

    /// Whose session it is. Found by a hash, so that how long it takes says nothing about the secret.
    pub fn find(&self, secret: &str, now: Timestamp) -> Option<String> {
        let (name, until) = self.all().get(&blake3::hash(secret.as_bytes())).cloned()?;
        (until > now).then_some(name)
    }

    /// Ends a session.
    pub fn end(&self, secret: &str) {
        self.all().remove(&blake3::hash(secret.as_bytes()));
    }
}
