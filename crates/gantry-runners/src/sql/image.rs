//! A database as a whole: copied while others work on it, told apart from another, and put back.
//!
//! The copy is made by SQLite itself, page by page, so it is right in every journal mode and with any number of others at
//! work. Counters in the first page differ from copy to copy and are no part of what is compared.

use std::path::Path;

use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use rusqlite::backup::{Backup, StepResult};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::asked::Access;
use super::open::Database;
use crate::files::Root;
use crate::policy::wrong;
use crate::shell::private_folder;

/// Bytes of the first page that say how often it was changed and how, rather than what is in it.
const COUNTERS: [std::ops::Range<usize>; 4] = [18..20, 24..28, 40..44, 92..100];

/// A folder of our own with a copy of a database in it.
pub(super) struct Copy {
    folder: TempDir,
    path: String,
}

impl Copy {
    /// An empty one.
    pub(super) fn empty(path: &str) -> Result<Self, Failure> {
        let folder = private_folder().map_err(no_room)?;
        Ok(Self { folder, path: path.to_owned() })
    }

    /// A copy of a file of the working folder, as it is for whoever opens it now.
    pub(super) fn of(root: &Root, path: &str, bytes_max: u64, stop: &CancellationToken) -> Result<Self, Failure> {
        let from = Database::open(root, path, Access::Read, stop)?;
        let bytes =
            from.conn.query_row("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", [], |row| {
                row.get::<_, i64>(0)
            });
        let bytes = bytes.map_err(|error| from.failed(&error))?;
        if u64::try_from(bytes).unwrap_or_default() > bytes_max {
            return Err(wrong(format!(
                "`{path}` has {bytes} bytes; at most {bytes_max} are kept to take a change back. Say `undo: never`, or how to take it back, to change it all the same"
            )));
        }
        let copy = Self::empty(path)?;
        let mut to = Database::own(&copy.file(), path, stop)?;
        all_pages(&from, &mut to)?;
        Ok(copy)
    }

    /// With these bytes in it.
    pub(super) fn with(path: &str, bytes: &[u8]) -> Result<Self, Failure> {
        let copy = Self::empty(path)?;
        std::fs::write(copy.file(), bytes).map_err(no_room)?;
        Ok(copy)
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("copy.db")
    }

    /// Opens it.
    pub(super) fn open(&self, stop: &CancellationToken) -> Result<Database, Failure> {
        Database::own(&self.file(), &self.path, stop)
    }

    /// All of it. Nobody may have it open.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, Failure> {
        read(&self.file())
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(no_room)
}

fn no_room(error: std::io::Error) -> Failure {
    Failure::new(FailureClass::Transient, format!("a copy of the database cannot be made: {error}"))
}

/// Makes one database what the other is, in one transaction.
pub(super) fn all_pages(from: &Database, to: &mut Database) -> Result<(), Failure> {
    let copied = Backup::new(&from.conn, &mut to.conn).and_then(|backup| backup.step(-1));
    match copied {
        Ok(StepResult::Done) => Ok(()),
        Ok(_) => Err(Failure::new(FailureClass::Transient, "the database is in use by someone else")),
        Err(error) => Err(from.failed(&error)),
    }
}

/// Tells one content from another.
pub(super) fn digest(bytes: &[u8]) -> String {
    let mut first = bytes[..bytes.len().min(100)].to_vec();
    for range in COUNTERS {
        if let Some(counter) = first.get_mut(range) {
            counter.fill(0);
        }
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(&first).update(&bytes[first.len()..]);
    hasher.finalize().to_hex().to_string()
}
