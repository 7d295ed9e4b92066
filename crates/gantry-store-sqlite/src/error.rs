//! What SQLite says, in the words of the store.

use std::path::Path;

use gantry_store::StoreError;
use rusqlite::ErrorCode;

/// Translates an error of SQLite; `doing` says what was tried, such as `reading the journal`.
pub(crate) fn sql(error: &rusqlite::Error, doing: &str) -> StoreError {
    let what = format!("{doing}: {error}");
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { what },
        Some(ErrorCode::DiskFull) => StoreError::Full { what },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { what },
        Some(ErrorCode::DatabaseCorrupt) => damaged(what),
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { what: "it is not an SQLite database".to_owned() },
        Some(_) => StoreError::Io { what },
        // The row is there, but a value in it has another type than any that is written.
        None => damaged(what),
    }
}

fn damaged(what: String) -> StoreError {
    let hint = "restore a backup; `PRAGMA quick_check` of the `sqlite3` tool shows how far the damage goes";
    StoreError::Corrupt { what, hint: hint.to_owned() }
}

/// Translates an error of the file system.
pub(crate) fn io(error: &std::io::Error, doing: &str, path: &Path) -> StoreError {
    let what = format!("{doing} `{}`: {error}", path.display());
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreError::Full { what },
        std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => StoreError::ReadOnly { what },
        std::io::ErrorKind::NotFound => StoreError::not_found(format!("`{}`", path.display())),
        _ => StoreError::Io { what },
    }
}
