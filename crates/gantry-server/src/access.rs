//! Who may do what: accounts with a role, proven by a token or a password, kept hashed in a file beside the record.
//!
//! Without any account the server answers this machine alone, and whoever sits at it may do everything.
//! Tokens are `gantry_<id>_<secret>`; of the secret only an argon2 hash is kept. A token that was proven once is
//! remembered by its hash, so that requests do not pay for argon2 each time.

mod audit; // in reading order
mod file;
mod rate;
mod sessions;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use gantry_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use utoipa::ToSchema;

pub use audit::{Audit, AuditLine};
use file::Kept;
pub use rate::Rate;
use sessions::Sessions;

/// What someone may do; each role may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Look.
    Viewer,
    /// Create and steer plans.
    Operator,
    /// Decide gates, answer questions, approve calls.
    Approver,
    /// Everything, accounts and forgetting plans among it.
    Admin,
}

impl Role {
    /// All roles, the least first.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Operator, Self::Approver, Self::Admin];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Who makes a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Who {
    /// The name that goes into the journal.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// How they are known.
    pub by: Known,
}

impl Who {
    /// Tells whether their role reaches.
    pub fn may(&self, role: Role) -> bool {
        self.role >= role
    }
}

/// How someone is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// They sit at this machine, and there are no accounts.
    Machine,
    /// By a token.
    Token,
    /// They signed in.
    Session,
}

/// What an account is proven by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// A token, for programs.
    Token,
    /// A password, for people.
    Password,
}

/// An account as it is shown: nothing in it proves anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Account {
    /// Who it is.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// What it is proven by.
    pub proof: Proof,
    /// When it was made.
    #[schema(value_type = String)]
    pub created_at: Timestamp,
}

/// Why something about accounts was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The file does not work.
    #[error("the accounts cannot be kept in `{file}`: {why}")]
    File {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// The name is taken.
    #[error("there is an account `{name}` already")]
    Taken {
        /// The name.
        name: String,
    },
    /// There is no such account.
    #[error("there is no account `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The name or password cannot be used.
    #[error("{why}")]
    Unusable {
        /// Why.
        why: String,
    },
}

/// The shortest password.
const PASSWORD_CHARS_MIN: usize = 10;
/// The longest name, password or token that is looked at.
const SECRET_BYTES_MAX: usize = 1_024;
/// How many proven tokens are remembered.
const PROVEN_MAX: usize = 1_024;
/// What tokens begin with.
const TOKEN_PREFIX: &str = "gantry_";

/// All accounts, and who is signed in.
pub struct Access {
    path: PathBuf,
    kept: Mutex<Kept>,
    /// Tokens that were proven, by their hash, with what is kept of them.
    proven: Mutex<HashMap<blake3::Hash, String>>,
    sessions: Sessions,
    /// Counts changes of accounts and sessions: whoever is let in for long looks again then.
    changes: watch::Sender<u64>,
    /// Who sits at this machine.
    operator: String,
}

impl Access {
    /// The accounts beside a record.
    pub fn beside(record: &Path, operator: &str) -> Result<Self, AccessError> {
        let beside = |ending: &str| {
            let mut path = record.as_os_str().to_owned();
            path.push(ending);
            PathBuf::from(path)
        };
        let path = beside(".access.json");
        let kept = Mutex::new(Kept::read(&path)?);
        let (operator, sessions) = (operator.to_owned(), Sessions::kept_in(beside(".sessions.json")));
        Ok(Self { path, kept, proven: Mutex::default(), sessions, changes: watch::Sender::new(0), operator })
    }

    /// Tells when accounts have changed, or someone has signed out.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Looks whether another process has changed the accounts.
    pub fn look(&self) {
        drop(self.kept());
    }

    fn tell(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// What was kept, read again when another process changed it.
    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that cannot be read just now leaves everyone who they were.
        if let Ok(Some(newer)) = kept.newer(&self.path) {
            *kept = newer;
            self.tell();
        }
        kept
    }

    /// Tells whether there are accounts: then nobody is known without one.
    pub fn is_guarded(&self) -> bool {
        !self.kept().accounts.is_empty()
    }

    /// Who sits at this machine, as long as there are no accounts.
    pub fn of_machine(&self) -> Option<Who> {
        let open = !self.is_guarded();
        open.then(|| Who { name: self.operator.clone(), role: Role::Admin, by: Known::Machine })
    }

    /// All accounts.
    pub fn accounts(&self) -> Vec<Account> {
        self.kept().accounts.iter().map(file::Entry::shown).collect()
    }

    /// Makes an account with a token, and returns the token: it is shown once and kept by nobody.
    pub fn add_token(&self, name: &str, role: Role, now: Timestamp) -> Result<String, AccessError> {
        let (id, secret) = (random_hex(8), random_hex(32));
        self.add(name, role, Proof::Token, &id, &secret, now)?;
        Ok(format!("{TOKEN_PREFIX}{id}_{secret}"))
    }

    /// Makes an account with a password.
    pub fn add_user(&self, name: &str, role: Role, password: &str, now: Timestamp) -> Result<(), AccessError> {
        if password.chars().count() < PASSWORD_CHARS_MIN || password.len() > SECRET_BYTES_MAX {
            let why = format!("a password has at least {PASSWORD_CHARS_MIN} characters and at most {SECRET_BYTES_MAX}");
            return Err(AccessError::Unusable { why });
        }
        self.add(name, role, Proof::Password, &random_hex(8), password, now)
    }

    fn add(
        &self,
        name: &str,
        role: Role,
        proof: Proof,
        id: &str,
        secret: &str,
        now: Timestamp,
    ) -> Result<(), AccessError> {
        let name = name.trim();
        let is_fine = !name.is_empty() && name.chars().count() <= 100 && !name.contains(char::is_control);
        if !is_fine {
            let why = "the name of an account is one line of 1 to 100 characters".to_owned();
            return Err(AccessError::Unusable { why });
        }
        let hash = hashed(secret)?;
        let mut kept = self.kept();
        if kept.accounts.iter().any(|account| account.name == name) {
            return Err(AccessError::Taken { name: name.to_owned() });
        }
        let (id, name) = (id.to_owned(), name.to_owned());
        kept.accounts.push(file::Entry { id, name, role, proof, hash, created_at: now });
        kept.write(&self.path)?;
        self.tell();
        Ok(())
    }

    /// Removes an account; whoever is signed in with it is not any more.
    pub fn remove(&self, name: &str) -> Result<(), AccessError> {
        let mut kept = self.kept();
        let before = kept.accounts.len();
        kept.accounts.retain(|account| account.name != name);
        if kept.accounts.len() == before {
            return Err(AccessError::Unknown { name: name.to_owned() });
        }
        kept.write(&self.path)?;
        self.tell();
        Ok(())
    }

    /// Whose token this is. Slow the first time: not for the threads that answer.
    pub fn by_token(&self, token: &str) -> Option<Who> {
        let entry = self.proven(token)?;
        Some(Who { name: entry.name, role: entry.role, by: Known::Token })
    }

    /// Tells whether a token was proven before: then it costs nothing to ask whose it is.
    pub fn is_proven(&self, token: &str) -> bool {
        let digest = blake3::hash(token.as_bytes());
        self.proven.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&digest)
    }

    /// The account of a token.
    fn proven(&self, token: &str) -> Option<file::Entry> {
        let (id, secret) = token.strip_prefix(TOKEN_PREFIX)?.split_once('_')?;
        if token.len() > SECRET_BYTES_MAX {
            return None;
        }
        let entry = self.kept().accounts.iter().find(|one| one.id == id && one.proof == Proof::Token).cloned()?;
        let digest = blake3::hash(token.as_bytes());
        let known = self.proven.lock().unwrap_or_else(PoisonError::into_inner).get(&digest) == Some(&entry.hash);
        if !known {
            if !is_secret(&entry.hash, secret) {
                return None;
            }
            let mut proven = self.proven.lock().unwrap_or_else(PoisonError::into_inner);
            if proven.len() >= PROVEN_MAX {
                proven.clear();
            }
            proven.insert(digest, entry.hash.clone());
        }
        Some(entry)
    }

    /// Signs someone in by name and password, or by a token, and returns the session's secret. Slow: not for the threads
    /// that answer.
    pub fn sign_in(&self, name: &str, secret: &str, now: Timestamp) -> Option<String> {
        if secret.len() > SECRET_BYTES_MAX {
            return None;
        }
        if let Some(entry) = self.proven(secret).filter(|entry| name.is_empty() || entry.name == name) {
            return Some(self.sessions.begin(&entry.id, now));
        }
        let found = self.kept().accounts.iter().find(|one| one.name == name && one.proof == Proof::Password).cloned();
        // Whether there is such an account must not be heard from how long the answer takes.
        let hash = found.as_ref().map_or_else(|| no_hash().to_owned(), |entry| entry.hash.clone());
        let fits = is_secret(&hash, secret);
        found.filter(|_| fits).map(|entry| self.sessions.begin(&entry.id, now))
    }

    /// Whose session this is.
    pub fn by_session(&self, secret: &str, now: Timestamp) -> Option<Who> {
        let id = self.sessions.find(secret, now)?;
        let entry = self.kept().accounts.iter().find(|account| account.id == id).cloned()?;
        Some(Who { name: entry.name, role: entry.role, by: Known::Session })
    }

    /// Ends a session.
    pub fn sign_out(&self, secret: &str) {
        self.sessions.end(secret);
        self.tell();
    }
}

fn hashed(secret: &str) -> Result<String, AccessError> {
    let hash: Result<PasswordHash, _> = Argon2::default().hash_password(secret.as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| AccessError::Unusable { why: error.to_string() })
}

/// Compares in constant time.
fn is_secret(hash: &str, secret: &str) -> bool {
    PasswordHash::new(hash).is_ok_and(|hash| Argon2::default().verify_password(secret.as_bytes(), &hash).is_ok())
}

/// The hash of a secret that nobody knows.
fn no_hash() -> &'static str {
    static HASH: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    HASH.get_or_init(|| hashed(&random_hex(32)).unwrap_or_default())
}

/// Chance from the system, as hexadecimal digits, two for each byte.
pub(crate) fn random_hex(bytes: usize) -> String {
    let mut buffer = vec![0_u8; bytes];
    let mut filled = 0;
    while filled < bytes {
        match rustix::rand::getrandom(&mut buffer[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(got) => filled += got,
            Err(rustix::io::Errno::INTR) => {}
            // A system without chance cannot keep secrets.
            Err(error) => panic!("this system has no source of chance: {error}"),
        }
    }
    buffer.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}"); // writing into a string cannot fail
        hex
    })
}
