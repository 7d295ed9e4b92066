//! Who is signed in: kept by the hash of a secret, in a file beside the accounts, so that a server that is started anew
//! signs nobody out.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use gantry_core::time::{Duration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{file, random_hex};

/// How long a session lasts.
const LASTS_HOURS: u64 = 12;
/// How many sessions there may be.
const SESSIONS_MAX: usize = 10_000;

/// A session: of an account by its id, so that one of the same name that is made later is another.
#[derive(Clone, Serialize, Deserialize)]
struct Session {
    account: String,
    until: Timestamp,
}

pub struct Sessions {
    path: PathBuf,
    /// By the hash of the secret, in hexadecimal digits.
    all: Mutex<HashMap<String, Session>>,
}

fn hash(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}

impl Sessions {
    /// The sessions that are kept in a file; one that cannot be read has none, and people sign in again.
    pub fn kept_in(path: PathBuf) -> Self {
        let read = std::fs::read(&path).ok();
        let all = read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Self { path, all: Mutex::new(all) }
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, Session>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps them. Where that does not work they last as long as this process.
    fn keep(&self, all: &HashMap<String, Session>) {
        let _ = serde_json::to_vec(all).map(|bytes| file::replace(&self.path, &bytes));
    }

    /// Begins a session of an account and returns its secret.
    pub fn begin(&self, account: &str, now: Timestamp) -> String {
        let secret = random_hex(32);
        let mut all = self.all();
        all.retain(|_, session| session.until > now);
        if all.len() >= SESSIONS_MAX {
            all.clear();
        }
        let session = Session { account: account.to_owned(), until: now + Duration::from_hours(LASTS_HOURS) };
        all.insert(hash(&secret), session);
        self.keep(&all);
        secret
    }

    /// The id of the account whose session it is. Found by a hash, so that how long it takes says nothing about the secret.
    pub fn find(&self, secret: &str, now: Timestamp) -> Option<String> {
        let session = self.all().get(&hash(secret)).cloned()?;
        (session.until > now).then_some(session.account)
    }

    /// Ends a session.
    pub fn end(&self, secret: &str) {
        let mut all = self.all();
        if all.remove(&hash(secret)).is_some() {
            self.keep(&all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_outlives_the_process_and_its_secret_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (path, now) = (folder.path().join("sessions.json"), Timestamp::from_ms(0));
        let secret = Sessions::kept_in(path.clone()).begin("a1", now);
        assert!(!std::fs::read_to_string(&path).unwrap().contains(&secret));
        let next = Sessions::kept_in(path.clone());
        assert_eq!(next.find(&secret, now).as_deref(), Some("a1"));
        assert_eq!(next.find(&secret, now + Duration::from_hours(LASTS_HOURS)), None);
        next.end(&secret);
        assert_eq!(Sessions::kept_in(path).find(&secret, now), None);
    }
}
