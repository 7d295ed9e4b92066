//! Who changed what over HTTP: one line of JSON for each request that may change something, in a file beside the record.
//!
//! What happened to a plan stands in its journal, with the same name; this also has what was refused and what is about no
//! plan, such as accounts and signing in.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gantry_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How much of the end of the file is read to show the last lines.
const TAIL_BYTES: u64 = 1 << 20;

/// One request that may have changed something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditLine {
    /// When.
    #[schema(value_type = String)]
    pub at: Timestamp,
    /// Who; nobody when they were not known.
    pub who: Option<String>,
    /// From which address.
    pub from: String,
    /// The method.
    pub method: String,
    /// The path.
    pub path: String,
    /// What was answered.
    pub status: u16,
}

/// The file.
pub struct Audit {
    path: PathBuf,
    file: Mutex<Option<std::fs::File>>,
}

impl Audit {
    /// The file beside a record.
    pub fn beside(record: &Path) -> Self {
        let mut path = record.as_os_str().to_owned();
        path.push(".audit.jsonl");
        Self { path: PathBuf::from(path), file: Mutex::default() }
    }

    /// Writes a line.
    pub fn write(&self, line: &AuditLine) -> std::io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            *file = Some(std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?);
        }
        let Some(file) = file.as_mut() else { return Ok(()) };
        let mut text = serde_json::to_string(line).unwrap_or_default();
        text.push('\n');
        file.write_all(text.as_bytes())
    }

    /// The last lines, the newest first.
    pub fn last(&self, lines_max: usize) -> std::io::Result<Vec<AuditLine>> {
        let mut file = match std::fs::File::open(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened?,
        };
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        // The first may be cut, also in the middle of a letter, and a cut line is none.
        let read = bytes.split(|byte| *byte == b'\n').rev().filter_map(|line| serde_json::from_slice(line).ok());
        Ok(read.take(lines_max).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_read_wherever_the_first_of_them_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::beside(&folder.path().join("gantry.db"));
        let line = |path: String| AuditLine {
            at: Timestamp::from_ms(0),
            who: Some("Zoë Çelik".to_owned()),
            from: "127.0.0.1".to_owned(),
            method: "POST".to_owned(),
            path,
            status: 200,
        };
        audit.write(&line(format!("/{}", "ü".repeat(usize::try_from(TAIL_BYTES).unwrap())))).unwrap();
        for cut in 0..3 {
            audit.write(&line("x".repeat(cut))).unwrap();
            let last = audit.last(10).unwrap();
            assert_eq!(last.len(), cut + 1, "the long one is cut");
            assert_eq!(last[0].path.len(), cut);
        }
    }
}
