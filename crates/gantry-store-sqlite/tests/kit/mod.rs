//! What the tests are written with.
#![allow(dead_code, unused_imports, clippy::unwrap_used, reason = "each test uses a part of it")]

use std::path::PathBuf;

use gantry_store_sqlite::SqliteStore;

pub use gantry_store::conformance::kit::{answered, append, artifact, at, effect, grow, plan, task, turn};

/// A folder that is removed at the end.
pub struct Folder(pub tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    pub fn store(&self) -> SqliteStore {
        SqliteStore::open(self.file("gantry.db")).unwrap()
    }
}
