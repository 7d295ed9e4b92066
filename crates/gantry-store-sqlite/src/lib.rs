//! Keeps Gantry's plans in one SQLite file, with full durability and group commit.
//!
//! Everyone writes at one seat (`writer.rs`), a few threads read (`readers.rs`). Whoever appends writes the JSON and hashes it
//! on its own side (`write/`); everything that is read is checked against its hash or its sum (`read/`). The
//! schema is in `migrations/`, with views for people who look into the file.

mod error; // in reading order
mod schema;
mod open;
mod row;
mod pack;
mod log_room;
mod log_end;
mod seat;
mod writer;
mod write;
mod readers;
mod read;
mod lock;
mod care;
mod store;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gantry_store::{Beside, StoreError};

pub use care::Info;

use lock::Claims;
use open::Use;
use readers::Readers;
use writer::Writer;

/// A record of plans in one SQLite file. A clone is the same handle.
#[derive(Clone)]
pub struct SqliteStore(Arc<Handle>);

struct Handle {
    path: PathBuf,
    claims: Claims,
    readers: Readers,
    /// For what takes long, such as a copy of the whole file: nobody who reads a plan waits for it.
    labour: Readers,
    writer: Writer,
    /// What was wrong with the log when it was opened.
    note: Option<String>,
    /// The folder of a temporary store, removed after everything else.
    folder: Option<Arc<tempfile::TempDir>>,
}

impl SqliteStore {
    /// Opens a file for reading and writing; makes it if there is none, and brings it to the newest schema.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_in(path.as_ref(), None)
    }

    /// Opens a file that is only going to be read. Whatever would write is refused.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        drop(open::for_reading(path, Use::ReadOnlyFile)?);
        let writer = Writer::start(path.to_owned(), None)?;
        Ok(Self::assemble(path, writer, Use::ReadOnlyFile, None, None))
    }

    /// Makes an empty store in a folder of its own, which is removed with it.
    pub fn temporary() -> Result<Self, StoreError> {
        let failed = |error: std::io::Error| error::io(&error, "making a folder in", &std::env::temp_dir());
        let folder = tempfile::Builder::new().prefix("gantry-").tempdir().map_err(failed)?;
        let path = folder.path().join("gantry.db");
        Self::open_in(&path, Some(Arc::new(folder)))
    }

    /// Brings a file to the newest schema without opening it as a store; returns the versions before and after.
    pub fn migrate(path: impl AsRef<Path>) -> Result<(u32, u32), StoreError> {
        let before = open::schema_version(path.as_ref())?;
        drop(open::for_writing(path.as_ref())?);
        Ok((before, schema::known_version()))
    }

    fn open_in(path: &Path, folder: Option<Arc<tempfile::TempDir>>) -> Result<Self, StoreError> {
        let (conn, note) = open::for_writing(path)?;
        let writer = Writer::start(path.to_owned(), Some(conn))?;
        Ok(Self::assemble(path, writer, Use::Read, note, folder))
    }

    fn assemble(
        path: &Path,
        writer: Writer,
        how: Use,
        note: Option<String>,
        folder: Option<Arc<tempfile::TempDir>>,
    ) -> Self {
        let path = path.to_owned();
        let claims = Claims::new(&path);
        let readers = Readers::new(path.clone(), how, "gantry-reader");
        let labour = Readers::new(path.clone(), how, "gantry-labour");
        Self(Arc::new(Handle { path, claims, readers, labour, writer, note, folder }))
    }

    /// Tells what was wrong with the log when the file was opened: commits that could not be read are missing.
    pub fn note(&self) -> Option<&str> {
        self.0.note.as_deref()
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

impl Beside for SqliteStore {
    fn beside(&self) -> Self {
        Self::open_in(&self.0.path, self.0.folder.clone()).expect("a store that is open can be opened once more")
    }
}

/// A file beside the database, such as its log.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
