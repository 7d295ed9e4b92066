//! The way back from a command: the working folder as it was before it, and as it was after it.
//!
//! Nobody knows beforehand what a command will change, so a task that is to be restored has the whole folder kept
//! before it begins, and once more when it has ended. What differs between the two goes back, and nothing else: what
//! others changed later stays, and where both changed one file nothing goes back. A command that was cut off has no
//! folder after it; then all of the folder goes back, and what was there is kept first.

use std::collections::BTreeSet;

use gantry_core::effect::Failure;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::checkpoint::{Manifest, capture_files, restore};
use crate::ports::Ports;
use crate::text::shortened;
use crate::work::Place;

/// How many files that were not kept are named; the rest is counted.
const NAMED_MAX: usize = 3;

/// What is written down about a command that is to be taken back.
#[derive(Serialize, Deserialize)]
struct Record {
    /// The hash of the folder before it.
    before: String,
    /// The hash of the folder after it; none means that it was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

/// The working folder before a command.
pub(super) struct Before {
    manifest: Manifest,
    hash: String,
}

impl Before {
    /// Keeps the folder and makes the way back durable.
    pub(super) async fn keep(place: &Place, ports: &Ports, stop: &CancellationToken) -> Result<Self, Failure> {
        let manifest = capture_files(place, ports, stop, &Manifest::default()).await?;
        let hash = manifest.keep(ports).await?.hash;
        ports.intend(json!(Record { before: hash.clone(), after: None })).await?;
        Ok(Self { manifest, hash })
    }

    /// Notes what the command changed. Where that cannot be done, the command counts as cut off.
    pub(super) async fn compare(self, place: &Place, ports: &Ports) {
        // The attempt may have been stopped; its way back is written down all the same.
        let stop = CancellationToken::new();
        let Ok(after) = capture_files(place, ports, &stop, &self.manifest).await else { return };
        if let Ok(after) = after.keep(ports).await {
            let record = Record { before: self.hash, after: Some(after.hash) };
            // What was written down before still leads back.
            let _ = ports.intend_instead(json!(record)).await;
        }
    }
}

/// Takes back what a command did to the folder.
pub(super) async fn take_back(record: &Value, place: &Place, ports: &Ports) -> Result<String, String> {
    let Record { before, after } = serde_json::from_value(record.clone())
        .map_err(|error| format!("the record of what was there before cannot be read: {error}"))?;
    let stop = CancellationToken::new();
    let before = Manifest::fetch(&before, ports).await?;
    let Some(after) = after else {
        let restored = restore(&before, place, ports, &stop).await?;
        let how = format!(
            "it was cut off, so the whole folder is as before it ({}); as it was just now it is kept as {}",
            count(restored.written + restored.removed),
            restored.safety.hash
        );
        return Ok(how + &not_kept(&before));
    };
    let after = Manifest::fetch(&after, ports).await?;
    let changed = after.changed_since(&before);
    let now = capture_files(place, ports, &stop, &after).await.map_err(|failure| failure.message)?;
    for path in &changed {
        let here = now.files.get(*path);
        if here != after.files.get(*path) && here != before.files.get(*path) {
            return Err(format!("`{path}` was changed since; taking it back would lose that change"));
        }
    }
    let restored = restore(&with_changes_undone(&now, &before, &after, &changed), place, ports, &stop).await?;
    Ok(match restored.written + restored.removed {
        0 if changed.is_empty() => "it had changed no file".to_owned(),
        0 => "everything was as before already".to_owned(),
        1 => "one file is as before".to_owned(),
        more => format!("{more} files are as before"),
    } + &not_kept(&before))
}

/// The folder as it is now, but for what a command changed, which is as before it.
fn with_changes_undone(now: &Manifest, before: &Manifest, after: &Manifest, changed: &BTreeSet<&str>) -> Manifest {
    let mut wanted = now.clone();
    for path in changed {
        match before.files.get(*path) {
            Some(kept) => wanted.files.insert((*path).to_owned(), kept.clone()),
            None => wanted.files.remove(*path),
        };
    }
    let made: BTreeSet<&String> = after.empty_folders.difference(&before.empty_folders).collect();
    wanted.empty_folders.retain(|folder| !made.contains(folder));
    let lost = before.empty_folders.difference(&after.empty_folders);
    wanted.empty_folders.extend(lost.cloned());
    wanted
}

fn count(files: usize) -> String {
    if files == 1 { "one file".to_owned() } else { format!("{files} files") }
}

/// Says what the folder had that could not be kept, and so was not brought back.
fn not_kept(before: &Manifest) -> String {
    let left_out = before.left_out();
    if left_out.is_empty() {
        return String::new();
    }
    let named: Vec<String> = left_out.keys().take(NAMED_MAX).map(|path| format!("`{}`", shortened(path, 80))).collect();
    let more = left_out.len() - named.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("; not kept, so left as it is: {}{more}", named.join(", "))
}
