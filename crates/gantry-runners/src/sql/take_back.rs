//! The way back from a change of a database.

use gantry_core::effect::Failure;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::asked::Access;
use super::image::{Copy, all_pages, digest};
use super::open::Database;
use crate::files::{Image, Kept, Root, blocking};
use crate::policy::wrong;
use crate::ports::Ports;
use crate::work::Place;

/// Files that SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-journal", "-wal", "-shm"];

/// What is written down before a database is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) path: String,
    /// A copy of it.
    pub(super) before: Kept,
    /// What tells that content from others.
    pub(super) digest: Option<String>,
    pub(super) after: After,
    /// Folders that are made for it, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folders: Vec<String>,
}

/// What is there afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum After {
    /// Nobody has looked: it was cut off.
    CutOff,
    /// Others changed it at the same time.
    Mixed,
    /// A content with this digest.
    Is(String),
}

/// Makes a database what it was, unless someone else has changed it since.
pub(super) async fn take_back(record: &Value, place: &Place, ports: &Ports) -> Result<String, String> {
    let record: Record = serde_json::from_value(record.clone())
        .map_err(|error| format!("the record of what was there before cannot be read: {error}"))?;
    let before = record.before.fetch(&record.path, &place.secrets, ports).await?;
    let root = Root::of(place);
    blocking(move || restore(&root.open()?, &record, &before)).await.map_err(|failure| failure.message)
}

fn restore(root: &Root, record: &Record, before: &Image) -> Result<String, Failure> {
    let path = &record.path;
    let since = || wrong(format!("`{path}` was changed since; taking it back would lose that change"));
    let stop = CancellationToken::new(); // taking back is not stopped half way
    if root.size(path)?.is_none() {
        return match before {
            Image::Absent => Ok(format!("there was no `{path}` before, and there is none")),
            _ => Err(since()),
        };
    }
    let mut database = Database::open(root, path, Access::Change, &stop)?;
    database.say("BEGIN IMMEDIATE")?;
    let now = digest(&Copy::of(root, path, u64::MAX, &stop)?.bytes()?);
    if record.digest.as_ref() == Some(&now) {
        return Ok(format!("`{path}` was as before already"));
    }
    match &record.after {
        After::Is(after) if *after != now => return Err(since()),
        After::Mixed => {
            return Err(wrong(format!("others changed `{path}` at the same time; taking it back would lose that")));
        }
        After::Is(_) | After::CutOff => {}
    }
    match before {
        Image::File { bytes, .. } => {
            let copy = Copy::with(path, bytes)?;
            database.say("ROLLBACK")?; // the copy brings a transaction of its own
            all_pages(&copy.open(&stop)?, &mut database)?;
        }
        _ => {
            drop(database);
            for ending in BESIDE.into_iter().chain([""]) {
                root.delete(&format!("{path}{ending}"))?;
            }
            for folder in record.folders.iter().rev() {
                root.remove_folder(folder)?;
            }
        }
    }
    let cut = if record.after == After::CutOff { "; it had been cut off" } else { "" };
    Ok(format!("`{path}` is as before{cut}"))
}
