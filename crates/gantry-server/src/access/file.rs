//! The file with the accounts: readable by its owner alone, replaced as a whole.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::SystemTime;

use gantry_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AccessError, Account, Proof, Role};

/// One account as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub id: String,
    pub name: String,
    pub role: Role,
    pub proof: Proof,
    pub hash: String,
    pub created_at: Timestamp,
}

impl Entry {
    pub fn shown(&self) -> Account {
        let Self { name, role, proof, created_at, .. } = self.clone();
        Account { name, role, proof, created_at }
    }
}

/// Everything that is kept.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Kept {
    pub accounts: Vec<Entry>,
    /// What the file looked like when it was read.
    #[serde(skip)]
    seen: Option<(SystemTime, u64)>,
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

/// Replaces a file as a whole; nobody but its owner can read it.
pub fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    // One that was left behind may be readable by others.
    let _ = std::fs::remove_file(&beside);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)
}

fn fault(path: &Path, why: &impl ToString) -> AccessError {
    AccessError::File { file: path.display().to_string(), why: why.to_string() }
}

impl Kept {
    /// Reads the file; one that is not there has no accounts.
    pub fn read(path: &Path) -> Result<Self, AccessError> {
        let seen = stamp(path);
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self { seen, ..Self::default() }),
            read => read.map_err(|error| fault(path, &error))?,
        };
        let kept: Self = serde_json::from_str(&text).map_err(|error| fault(path, &error))?;
        Ok(Self { seen, ..kept })
    }

    /// Reads the file again if it is another one by now.
    pub fn newer(&self, path: &Path) -> Result<Option<Self>, AccessError> {
        if stamp(path) == self.seen { Ok(None) } else { Self::read(path).map(Some) }
    }

    /// Replaces the file.
    pub fn write(&mut self, path: &Path) -> Result<(), AccessError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| fault(path, &error))?;
        replace(path, &text).map_err(|error| fault(path, &error))?;
        self.seen = stamp(path);
        Ok(())
    }
}
