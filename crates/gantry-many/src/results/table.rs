//! The table of a run while it goes on. Rows stand on disk; what is kept in memory of each is where it stands, so that a long
//! list takes hardly more memory than a short one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{BadTable, Row, Status, failed_file, head, line, one_line, read};
use crate::topics::{self, Topic};

/// The table of a run that goes on.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    file: File,
    /// Where the next row goes.
    end: u64,
    rows: BTreeMap<String, Kept>,
    /// The rows of topics that are not in the list.
    others: Vec<Kept>,
    /// What the topics are told by that came to nothing and are not in the list.
    others_failed: BTreeSet<String>,
}

/// A row on disk.
#[derive(Clone, Copy, Debug)]
struct Kept {
    at: u64,
    bytes: usize,
    status: Status,
    /// The number of its plan.
    plan: Option<u64>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// How many topics of the list have a row.
    pub rows: usize,
    /// How many of them came to nothing.
    pub failed: usize,
    /// How many rows of other topics are in the table.
    pub others: usize,
}

impl Table {
    /// Takes a table up where it ended: rows of topics that succeeded are kept, here and in `more`; all others of the list are
    /// done again. What stands there of topics that are not in the list stays, behind those that are.
    pub fn open(path: &Path, more: Option<&Path>, topics: &[Topic], keys: &[String]) -> Result<Self, BadTable> {
        let mut found = BTreeMap::new();
        let before = if path.exists() { read(path)? } else { Vec::new() };
        let more = more.map(read).transpose()?.unwrap_or_default().into_iter();
        // A table of another program has no keys: there the title tells, the first row for the first topic of that title.
        let (mut untold, wanted): (Vec<Row>, BTreeSet<&String>) = (Vec::new(), keys.iter().collect());
        let mut others: Vec<Row> = Vec::new();
        for row in more.filter(|row| row.status == Status::Success).chain(before) {
            let success = row.status == Status::Success;
            if row.key.is_empty() {
                untold.push(row);
            } else if !wanted.contains(&row.key) {
                others.push(row);
            } else if success {
                found.insert(row.key.clone(), row);
            }
        }
        for (topic, key) in topics.iter().zip(keys) {
            let same = |row: &Row| row.topic == one_line(&topic.title);
            if !found.contains_key(key)
                && let Some(at) = untold.iter().position(same)
            {
                let row = untold.remove(at);
                if row.status == Status::Success {
                    found.insert(key.clone(), Row { key: key.clone(), ..row });
                }
            }
        }
        others.extend(untold);
        // The same row may stand in both tables; the later one counts.
        let mut told: BTreeSet<(String, String)> = BTreeSet::new();
        others.reverse();
        others.retain(|row| {
            told.insert((row.topic.clone(), if row.key.is_empty() { row.plan_id.clone() } else { row.key.clone() }))
        });
        others.reverse();
        let (mut whole, mut rows) = (Whole::begin(path)?, BTreeMap::new());
        whole.write(head().as_bytes())?;
        for row in keys.iter().filter_map(|key| found.remove(key)) {
            let (at, text) = (whole.bytes, line(&row));
            whole.write(text.as_bytes())?;
            rows.insert(row.key.clone(), Kept::of(&row, at, text.len()));
        }
        let failed = others.iter().filter(|row| row.status == Status::Failed);
        let others_failed = failed.map(|row| print_of(&row.key).to_owned()).collect();
        let mut kept = Vec::with_capacity(others.len());
        for row in others {
            let (at, text) = (whole.bytes, line(&row));
            whole.write(text.as_bytes())?;
            kept.push(Kept::of(&row, at, text.len()));
        }
        let end = whole.bytes;
        whole.end()?;
        let file = File::options().read(true).append(true).open(path).map_err(|error| BadTable::disk(path, error))?;
        Ok(Self { path: path.to_owned(), file, end, rows, others: kept, others_failed })
    }

    /// Tells whether it is known what became of a topic.
    pub fn has(&self, key: &str) -> bool {
        self.rows.contains_key(key)
    }

    /// The numbers of all plans that are in it.
    pub fn plans(&self) -> impl Iterator<Item = u64> {
        self.rows.values().chain(&self.others).filter_map(|kept| kept.plan)
    }

    /// Adds rows; they are on disk when this returns.
    pub fn add(&mut self, rows: Vec<Row>) -> Result<(), BadTable> {
        let rows: Vec<(Row, String)> =
            rows.into_iter().map(Row::in_lines).map(|row| (line(&row), row)).map(|(text, row)| (row, text)).collect();
        let text: String = rows.iter().map(|(_, text)| text.as_str()).collect();
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| BadTable::disk(&self.path, error))?;
        for (row, text) in rows {
            self.rows.insert(row.key.clone(), Kept::of(&row, self.end, text.len()));
            self.end += text.len() as u64;
        }
        Ok(())
    }

    /// Writes the table in the order of the topics, and those that came to nothing beside it, to be tried again.
    pub fn finish(self, topics: &[Topic], keys: &[String]) -> Result<Ended, BadTable> {
        let failed = failed_file(&self.path);
        let mut again = self.failed_before(&failed, keys);
        let (mut whole, mut ended) = (Whole::begin(&self.path)?, Ended::default());
        whole.write(head().as_bytes())?;
        let copy = |whole: &mut Whole, kept: &Kept| {
            let mut text = vec![0; kept.bytes];
            self.file.read_exact_at(&mut text, kept.at).map_err(|error| BadTable::disk(&self.path, error))?;
            whole.write(&text)
        };
        for (topic, key) in topics.iter().zip(keys) {
            let Some(kept) = self.rows.get(key) else { continue };
            copy(&mut whole, kept)?;
            ended.rows += 1;
            if kept.status == Status::Failed {
                ended.failed += 1;
                again.push(serde_json::to_string(topic).unwrap_or_default());
            }
        }
        for kept in &self.others {
            copy(&mut whole, kept)?;
            ended.others += 1;
        }
        whole.end()?;
        if !again.is_empty() {
            replace(&failed, &(again.join("\n") + "\n"))?;
        } else if failed.exists() {
            std::fs::remove_file(&failed).map_err(|error| BadTable::disk(&failed, error))?;
        }
        Ok(ended)
    }

    /// Topics that stand beside the table to be tried again, are not in this list, and have come to nothing still.
    fn failed_before(&self, file: &Path, keys: &[String]) -> Vec<String> {
        if self.others_failed.is_empty() {
            return Vec::new();
        }
        // One that cannot be read any more is only lost to that list: its row stays.
        let topics = std::fs::read(file).ok().and_then(|bytes| topics::read(super::FAILED_FILE, &bytes).ok());
        let listed: BTreeSet<&str> = keys.iter().map(|key| print_of(key)).collect();
        let open = |topic: &Topic| {
            let print = topic.fingerprint();
            self.others_failed.contains(&print) && !listed.contains(print.as_str())
        };
        let topics = topics.unwrap_or_default().into_iter().filter(open);
        topics.map(|topic| serde_json::to_string(&topic).unwrap_or_default()).collect()
    }
}

/// What a topic is told by, out of a key, which also counts how often it stands in its list.
fn print_of(key: &str) -> &str {
    key.rsplit_once('-').map_or(key, |(print, _)| print)
}

impl Kept {
    fn of(row: &Row, at: u64, bytes: usize) -> Self {
        Self { at, bytes, status: row.status, plan: row.plan_id.parse().ok() }
    }
}

/// A file that is there as a whole or not at all.
struct Whole {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
    bytes: u64,
}

impl Whole {
    fn begin(path: &Path) -> Result<Self, BadTable> {
        let usual = std::fs::Permissions::from_mode(0o666); // less what the user's mask takes
        let file = tempfile::Builder::new().permissions(usual).tempfile_in(folder_of(path));
        let file = file.map_err(|error| BadTable::disk(path, error))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), bytes: 0 })
    }

    fn write(&mut self, text: &[u8]) -> Result<(), BadTable> {
        self.bytes += text.len() as u64;
        self.file.write_all(text).map_err(|error| BadTable::disk(&self.path, error))
    }

    fn end(self) -> Result<(), BadTable> {
        let Self { path, file, .. } = self;
        let put = || -> std::io::Result<()> {
            let file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            File::open(folder_of(&path))?.sync_all()
        };
        put().map_err(|error| BadTable::disk(&path, error))
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a file at once or not at all.
pub fn replace(path: &Path, text: &str) -> Result<(), BadTable> {
    let mut whole = Whole::begin(path)?;
    whole.write(text.as_bytes())?;
    whole.end()
}
