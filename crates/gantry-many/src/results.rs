//! The table of results: one row for each topic, on disk as soon as it is known.
//!
//! Rows are appended while the run goes on; a row that was cut off in the middle by a kill is no row. When the run ends, the
//! table is written once more in the order of the topics, at once or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::score::Score;
use crate::topics::Topic;

/// How the topics are called that came to nothing, beside the table.
pub const FAILED_FILE: &str = "failed_topics.jsonl";

/// What became of one topic. The first six columns are a promise, in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What people call it.
    pub topic: String,
    /// The number of the plan; empty where there is none.
    #[serde(default)]
    pub plan_id: String,
    /// Whether there is a plan with tasks in it.
    pub status: Status,
    /// How often it was tried again.
    #[serde(default)]
    pub retries: u32,
    /// Why there is none.
    #[serde(default)]
    pub error: String,
    /// Which request it was.
    #[serde(default)]
    pub session_id: String,
    /// The name of the plan.
    #[serde(default)]
    pub plan: String,
    /// How many tasks it has.
    #[serde(default)]
    pub tasks: Option<u32>,
    /// Why breaking down ended.
    #[serde(default)]
    pub stopped_reason: String,
    /// How long it took.
    #[serde(default)]
    pub ms: u64,
    /// Where what the server said is kept.
    #[serde(default)]
    pub response_path: String,
    /// Where the tree is kept.
    #[serde(default)]
    pub tree_path: String,
    /// What the topic is told by, in any list.
    #[serde(default)]
    pub key: String,
    /// How good it is, from 0 to 100; empty where a server made it.
    #[serde(default)]
    pub score: Option<u32>,
    /// What the score is the mean of, each from 0 to 1.
    #[serde(default)]
    pub coverage: Option<f64>,
    /// Whether the tree is neither flat nor lopsided.
    #[serde(default)]
    pub balance: Option<f64>,
    /// No task stands there twice or says nothing.
    #[serde(default)]
    pub distinct: Option<f64>,
    /// Links make sense.
    #[serde(default)]
    pub order: Option<f64>,
    /// Tasks have owners.
    #[serde(default)]
    pub owners: Option<f64>,
    /// Tasks have estimates.
    #[serde(default)]
    pub estimates: Option<f64>,
    /// Risks are weighed and answered.
    #[serde(default)]
    pub risks: Option<f64>,
    /// Tasks have criteria that can be checked.
    #[serde(default)]
    pub verifiable: Option<f64>,
    /// Parts make a whole.
    #[serde(default)]
    pub whole: Option<f64>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// There is a plan.
    #[serde(alias = "yes", alias = "completed", alias = "ok")]
    Success,
    /// There is none, or nothing is in it.
    #[default]
    #[serde(alias = "no", other)]
    Failed,
}

/// Why a table cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTable {
    /// What is wrong.
    pub message: String,
    /// It is no table of results, rather than a trouble of the disk.
    pub foreign: bool,
}

impl BadTable {
    fn disk(path: &Path, error: impl std::fmt::Display) -> Self {
        Self { message: format!("`{}` cannot be written: {error}", path.display()), foreign: false }
    }
}

/// Reads a table, as far as it was written.
pub fn read(path: &Path) -> Result<Vec<Row>, BadTable> {
    let foreign = |why: String| BadTable {
        message: format!("`{}` is no table of results: {why}", path.display()),
        foreign: true,
    };
    let text = std::fs::read_to_string(path).map_err(|error| BadTable {
        message: format!("`{}` cannot be read: {error}", path.display()),
        foreign: false,
    })?;
    // Whatever stands behind the last end of a line was cut off in the middle.
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(whole.as_bytes());
    let head = reader.headers().map_err(|error| foreign(error.to_string()))?;
    let has = |wanted: &str| head.iter().any(|name| name == wanted);
    if !whole.is_empty() && (!has("topic") || !has("status")) {
        return Err(foreign("its first line has no `topic` and no `status`".to_owned()));
    }
    reader.deserialize().map(|row| row.map_err(|error| foreign(error.to_string()))).collect()
}

/// What a list of topics is told by: the same topic twice is two.
pub fn keys(topics: &[Topic]) -> Vec<String> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let key = |topic: &Topic| {
        let print = topic.fingerprint();
        let times = seen.entry(print.clone()).or_default();
        *times += 1;
        format!("{print}-{times}")
    };
    topics.iter().map(key).collect()
}

/// The table of a run that goes on.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    file: File,
    rows: BTreeMap<String, Row>,
}

impl Table {
    /// Takes a table up where it ended: rows of topics that succeeded are kept, here and in `more`; all others are done again.
    pub fn open(path: &Path, more: Option<&Path>, topics: &[Topic], keys: &[String]) -> Result<Self, BadTable> {
        let mut rows = BTreeMap::new();
        let before = if path.exists() { read(path)? } else { Vec::new() };
        let others = more.map(read).transpose()?.unwrap_or_default();
        // A table of another program has no keys: there the title tells, the first row for the first topic of that title.
        let (mut untold, wanted): (Vec<Row>, BTreeSet<&String>) = (Vec::new(), keys.iter().collect());
        for row in others.into_iter().chain(before).filter(|row| row.status == Status::Success) {
            if row.key.is_empty() {
                untold.push(row);
            } else if wanted.contains(&row.key) {
                rows.insert(row.key.clone(), row);
            }
        }
        for (topic, key) in topics.iter().zip(keys) {
            let same = |row: &Row| row.topic == one_line(&topic.title);
            if !rows.contains_key(key)
                && let Some(at) = untold.iter().position(same)
            {
                rows.insert(key.clone(), Row { key: key.clone(), ..untold.remove(at) });
            }
        }
        let kept: Vec<&Row> = keys.iter().filter_map(|key| rows.get(key)).collect();
        replace(path, &text(&kept, true))?;
        let file = File::options().append(true).open(path).map_err(|error| BadTable::disk(path, error))?;
        Ok(Self { path: path.to_owned(), file, rows })
    }

    /// What became of a topic, if that is known.
    pub fn row(&self, key: &str) -> Option<&Row> {
        self.rows.get(key)
    }

    /// Adds rows; they are on disk when this returns.
    pub fn add(&mut self, rows: Vec<Row>) -> Result<(), BadTable> {
        let rows: Vec<Row> = rows.into_iter().map(Row::in_lines).collect();
        let text = text(&rows.iter().collect::<Vec<_>>(), false);
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| BadTable::disk(&self.path, error))?;
        self.rows.extend(rows.into_iter().map(|row| (row.key.clone(), row)));
        Ok(())
    }

    /// Writes the table in the order of the topics, and those that came to nothing beside it, to be tried again.
    pub fn finish(self, topics: &[Topic], keys: &[String]) -> Result<Vec<Row>, BadTable> {
        let rows: Vec<Row> = keys.iter().filter_map(|key| self.rows.get(key).cloned()).collect();
        replace(&self.path, &text(&rows.iter().collect::<Vec<_>>(), true))?;
        let failed = failed_file(&self.path);
        let mut lines = String::new();
        for (topic, key) in topics.iter().zip(keys) {
            if self.rows.get(key).is_some_and(|row| row.status == Status::Failed) {
                lines += &serde_json::to_string(topic).unwrap_or_default();
                lines.push('\n');
            }
        }
        if !lines.is_empty() {
            replace(&failed, &lines)?;
        } else if failed.exists() {
            std::fs::remove_file(&failed).map_err(|error| BadTable::disk(&failed, error))?;
        }
        Ok(rows)
    }
}

/// Where the topics are that came to nothing.
pub fn failed_file(table: &Path) -> PathBuf {
    table.with_file_name(FAILED_FILE)
}

impl Row {
    /// Takes in how good the plan is.
    pub fn scored(&mut self, found: &Score) {
        let of = found.dimensions;
        self.score = Some(found.score);
        (self.coverage, self.balance, self.distinct) = (of.coverage, of.balance, of.distinct);
        (self.order, self.owners, self.estimates) = (of.order, of.owners, of.estimates);
        (self.risks, self.verifiable, self.whole) = (of.risks, of.verifiable, of.whole);
    }

    fn in_lines(mut self) -> Self {
        self.topic = one_line(&self.topic);
        self.error = one_line(&self.error);
        self.stopped_reason = one_line(&self.stopped_reason);
        self
    }
}

/// A cell is one line, so that an end of a line is the end of a row.
pub fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn text(rows: &[&Row], with_head: bool) -> String {
    let mut writer = csv::WriterBuilder::new().has_headers(with_head).from_writer(Vec::new());
    if rows.is_empty() && with_head {
        // Without a row the head is written by hand: it is that of an empty one.
        let empty = text(&[&Row::default()], true);
        return empty.lines().next().map(|head| format!("{head}\n")).unwrap_or_default();
    }
    for row in rows {
        // Writing to memory does not fail, and a row is flat.
        let _ = writer.serialize(row);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Writes a file at once or not at all.
pub fn replace(path: &Path, text: &str) -> Result<(), BadTable> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let usual = std::os::unix::fs::PermissionsExt::from_mode(0o666); // less what the user's mask takes
        let mut file = tempfile::Builder::new().permissions(usual).tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(|error| BadTable::disk(path, error))
}
