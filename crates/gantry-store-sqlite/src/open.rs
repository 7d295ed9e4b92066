//! Opening the file: the checks before it, the settings of every connection.

use std::path::Path;
use std::time::Duration;

use gantry_store::StoreError;
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};
use rusqlite::{Connection, OpenFlags};

use crate::error::{io, sql};
use crate::{log_end, schema};

/// How long to wait for another process that writes.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How many prepared statements each connection keeps.
const STATEMENTS_MAX: usize = 64;

/// How a connection is going to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Write,
    Read,
    /// Reads a file that this process may not write.
    ReadOnlyFile,
}

/// Which file it is, whatever it is called: its disk and its number there.
pub(crate) type FileId = (u64, u64);

/// Which file a path leads to; none where there is none, or where the system cannot tell.
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    #[cfg(unix)]
    {
        let metadata = std::fs::metadata(path).ok()?;
        Some((std::os::unix::fs::MetadataExt::dev(&metadata), std::os::unix::fs::MetadataExt::ino(&metadata)))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Opens the one connection that writes, and brings the file to the newest schema. Says what is wrong with its log.
pub(crate) fn for_writing(path: &Path) -> Result<(Connection, Option<String>), StoreError> {
    check_folder(path)?;
    if path.exists() {
        may_be_written(path)?;
    } else {
        make_private(path)?;
    }
    let mut conn = connect(path, Use::Write)?;
    // Before anything is changed: is it ours?
    let version = schema::version(&conn, schema::known_version()).map_err(|error| locate(error, path))?;
    if conn.is_readonly("main").map_err(|error| sql(&error, "looking at the file"))? {
        return Err(StoreError::ReadOnly { what: format!("`{}` may not be written", path.display()) });
    }
    settle_in(&conn)?;
    // Before anything is written over what stands there.
    let note = log_end::settle(&conn, path);
    if version < schema::known_version() {
        schema::migrate(&mut conn, schema::MIGRATIONS)?;
    }
    Ok((conn, note))
}

/// Asks the system whether this process may read and write the file.
///
/// To open it and see would be a disaster: whoever closes a file takes every lock away that its process has on it, those
/// of other connections as well. Another process would then believe that it is alone, and remove the log.
fn may_be_written(path: &Path) -> Result<(), StoreError> {
    let wanted = AccessFlags::R_OK | AccessFlags::W_OK;
    faccessat(AT_FDCWD, path, wanted, AtFlags::AT_EACCESS).map_err(|errno| io(&errno.into(), "opening", path))
}

/// Makes an empty file that its owner alone may read: plans hold what people and programs said. SQLite gives the files
/// beside it the same mode.
pub(crate) fn make_private(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        // Another process makes the same file at this moment: it is private, too.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop).map_err(|error| io(&error, "making", path)),
    }
}

/// Opens a connection that only reads.
pub(crate) fn for_reading(path: &Path, how: Use) -> Result<Connection, StoreError> {
    let versioned = |conn: Connection| {
        let version = schema::version(&conn, schema::known_version()).map_err(|error| locate(error, path))?;
        Ok((conn, version))
    };
    let opened = match connect(path, how).and_then(versioned) {
        // A log cannot be made beside a file in a folder that is read-only; where there is none, none is needed.
        Err(StoreError::Io { .. } | StoreError::ReadOnly { .. }) if how == Use::ReadOnlyFile && !has_log(path) => {
            connect_immutable(path).and_then(versioned)
        }
        opened => opened,
    };
    let (conn, version) = opened?;
    if version == 0 {
        return Err(StoreError::Foreign { what: format!("`{}` is empty", path.display()) });
    }
    conn.execute_batch("PRAGMA query_only = ON").map_err(|error| sql(&error, "opening for reading"))?;
    Ok(conn)
}

/// Reads the schema version of a file; a file that is not there yet has version 0.
pub(crate) fn schema_version(path: &Path) -> Result<u32, StoreError> {
    if !path.exists() {
        return Ok(0);
    }
    let conn = connect(path, Use::Read)?;
    schema::version(&conn, schema::known_version()).map_err(|error| locate(error, path))
}

fn has_log(path: &Path) -> bool {
    std::fs::metadata(crate::beside(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

fn check_folder(path: &Path) -> Result<(), StoreError> {
    let folder = folder_of(path);
    let metadata = std::fs::metadata(folder).map_err(|error| io(&error, "opening the folder", folder))?;
    if !metadata.is_dir() {
        return Err(StoreError::Foreign { what: format!("`{}` is not a folder", folder.display()) });
    }
    if path.is_dir() {
        return Err(StoreError::Foreign { what: format!("`{}` is a folder", path.display()) });
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn connect(path: &Path, how: Use) -> Result<Connection, StoreError> {
    let access = match how {
        Use::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        Use::Read => OpenFlags::SQLITE_OPEN_READ_WRITE,
        Use::ReadOnlyFile => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    if how != Use::Write {
        std::fs::metadata(path).map_err(|error| io(&error, "opening", path))?;
    }
    let conn = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(|error| cannot_open(&error, path))?;
    configure(&conn).map_err(|error| locate(error, path))?;
    Ok(conn)
}

fn connect_immutable(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let escaped = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let conn = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)
        .map_err(|error| cannot_open(&error, path))?;
    configure(&conn).map_err(|error| locate(error, path))?;
    Ok(conn)
}

/// SQLite only says that it cannot open the file; the file system says why.
fn cannot_open(error: &rusqlite::Error, path: &Path) -> StoreError {
    if !path.exists() {
        return StoreError::ReadOnly { what: format!("`{}` cannot be made: {error}", path.display()) };
    }
    if let Err(cause) = may_be_written(path) {
        return cause;
    }
    // Too many files are open, say: the folder cannot be opened then, either.
    match std::fs::File::open(folder_of(path)) {
        Err(cause) => io(&cause, "opening", path),
        Ok(_) => sql(error, &format!("opening `{}`", path.display())),
    }
}

fn locate(error: StoreError, path: &Path) -> StoreError {
    match error {
        StoreError::Foreign { what } => StoreError::Foreign { what: format!("`{}`: {what}", path.display()) },
        other => other,
    }
}

/// Settings that every connection needs. Caches are small: the operating system has one, too.
fn configure(conn: &Connection) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| sql(&error, "setting up the connection");
    conn.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    conn.execute_batch(
        "PRAGMA cache_size = -2000; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON;",
    )
    .map_err(failed)
}

/// Switches to the write-ahead log. When another process makes the same file at this moment, SQLite says that it is
/// locked without waiting, so the waiting is done here.
fn switch_to_wal(conn: &Connection) -> Result<String, rusqlite::Error> {
    let since = std::time::Instant::now();
    loop {
        match conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)) {
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
                    && since.elapsed() < std::time::Duration::from_secs(5) =>
            {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            outcome => return outcome,
        }
    }
}

/// Settings of the connection that writes: its cache holds what a group of a few hundred plans touches, and whoever
/// has it says when the log is taken over.
fn settle_in(conn: &Connection) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| sql(&error, "setting up the log");
    let mode = switch_to_wal(conn).map_err(failed)?;
    if mode != "wal" {
        return Err(StoreError::Io { what: format!("the file system cannot hold a write-ahead log (mode `{mode}`)") });
    }
    conn.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;
         PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8000;",
    )
    .map_err(failed)
}
