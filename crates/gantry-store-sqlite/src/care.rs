//! Looking after the file: what is in it, and a copy of it while it is used.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use gantry_store::StoreError;
use rusqlite::{Connection, backup::Backup};
use serde::Serialize;

use crate::error::{io, sql};
use crate::{SqliteStore, beside, log_end, row, schema};

/// What is in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Info {
    /// Where the file is.
    pub path: PathBuf,
    /// How many bytes it has.
    pub bytes: u64,
    /// How many bytes its log has.
    pub log_bytes: u64,
    /// The version of its schema.
    pub schema: u32,
    /// How many plans it holds.
    pub plans: u64,
    /// How many turns.
    pub turns: u64,
    /// How many blobs.
    pub blobs: u64,
    /// How many bytes these have before packing.
    pub blob_bytes: u64,
    /// How many transactions this handle committed.
    pub commits: u64,
}

impl SqliteStore {
    /// Tells what is in the record.
    pub async fn info(&self) -> Result<Info, StoreError> {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let mut info = self.0.readers.read(counts).await?;
        info.bytes = size(&self.0.path);
        info.log_bytes = size(&beside(&self.0.path, "-wal"));
        info.path.clone_from(&self.0.path);
        info.commits = self.0.writer.news.commits.load(Ordering::Relaxed);
        Ok(info)
    }

    /// Checks the file as a whole, its indexes included, and returns what is wrong with it. Reads everything.
    pub async fn check(&self) -> Result<Vec<String>, StoreError> {
        let mut problems = self.0.labour.with_connection(check).await?;
        problems.extend(log_end::copies(&self.0.path).iter().map(|copy| {
            format!(
                "`{}` is a damaged log with commits that could not be read; remove it once nothing is missed",
                copy.display()
            )
        }));
        Ok(problems)
    }

    /// Copies the record to a new file, as it is at one moment, while others go on writing.
    pub async fn backup(&self, to: impl AsRef<Path>) -> Result<(), StoreError> {
        let to = to.as_ref().to_owned();
        self.0.labour.with_connection(move |conn| copy(conn, &to)).await
    }
}

fn counts(conn: &Connection) -> Result<Info, StoreError> {
    let count = |query: &str| {
        conn.query_row(query, [], |row| row::uint(row, 0)).map_err(|error| sql(&error, "counting what is there"))
    };
    Ok(Info {
        path: PathBuf::new(),
        bytes: 0,
        log_bytes: 0,
        schema: schema::version(conn, schema::known_version())?,
        plans: count("SELECT count(*) FROM plan")?,
        turns: count("SELECT count(*) FROM turn")?,
        blobs: count("SELECT count(*) FROM blob WHERE dropped_at IS NULL")?,
        blob_bytes: count("SELECT coalesce(sum(bytes), 0) FROM blob WHERE dropped_at IS NULL")?,
        commits: 0,
    })
}

fn check(conn: &Connection) -> Result<Vec<String>, StoreError> {
    let failed = |error: rusqlite::Error| sql(&error, "checking the file");
    let mut statement = conn.prepare("PRAGMA integrity_check").map_err(failed)?;
    let found: rusqlite::Result<Vec<String>> = statement.query_map([], |row| row.get(0)).map_err(failed)?.collect();
    Ok(found.map_err(failed)?.into_iter().filter(|line| line != "ok").collect())
}

/// Under its name there is a whole copy or none: it is made under another name first.
fn copy(conn: &Connection, to: &Path) -> Result<(), StoreError> {
    if to.exists() {
        return Err(StoreError::Invalid { what: format!("`{}` exists already", to.display()) });
    }
    let partial = beside(to, ".partial");
    let copied = fill(conn, &partial).and_then(|()| {
        let failed = |error: std::io::Error| io(&error, "finishing", to);
        std::fs::File::open(&partial).and_then(|file| file.sync_all()).map_err(failed)?;
        std::fs::rename(&partial, to).map_err(failed)?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
    });
    if copied.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    copied
}

fn fill(conn: &Connection, partial: &Path) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| sql(&error, &format!("copying to `{}`", partial.display()));
    let _ = std::fs::remove_file(partial);
    crate::open::make_private(partial)?;
    let mut copy = Connection::open(partial).map_err(failed)?;
    // All pages in one step: one reading transaction, so that what others write meanwhile is not in it.
    Backup::new(conn, &mut copy).and_then(|backup| backup.step(-1)).map_err(failed)?;
    copy.close().map_err(|(_, error)| failed(error))
}
