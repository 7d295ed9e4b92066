//! The table of results: one row for each topic, on disk as soon as it is known.
//!
//! Rows are appended while the run goes on; a row that was cut off in the middle by a kill is no row. When the run ends, the
//! table is written once more in the order of the topics, at once or not at all.

mod table;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::score::Score;
use crate::topics::Topic;

pub use table::{Ended, Table, replace};

/// How the topics are called that came to nothing, beside the table.
pub const FAILED_FILE: &str = "failed_topics.jsonl";

/// What became of one topic. The first six columns are a promise, in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What people call it.
    #[serde(alias = "title")]
    pub topic: String,
    /// The number of the plan; empty where there is none.
    #[serde(default)]
    pub plan_id: String,
    /// Whether there is a plan with tasks in it.
    #[serde(alias = "success")]
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
    /// Why the offline model made it instead of the one that was asked, where it did.
    #[serde(default)]
    pub degraded: String,
    /// The run that it is of: the same run and topic is the same plan, wherever the table is.
    #[serde(default)]
    pub run_id: String,
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
    rows(path)?.collect()
}

/// The rows of a table, one after the other, as far as it was written.
pub fn rows(path: &Path) -> Result<impl Iterator<Item = Result<Row, BadTable>> + use<>, BadTable> {
    let place = path.display().to_string();
    let foreign =
        move |why: String| BadTable { message: format!("`{place}` is no table of results: {why}"), foreign: true };
    let broken = |error: std::io::Error| BadTable {
        message: format!("`{}` cannot be read: {error}", path.display()),
        foreign: false,
    };
    let mut file = File::open(path).map_err(broken)?;
    let whole = whole_bytes(&file).map_err(broken)?;
    file.rewind().map_err(broken)?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(BufReader::new(file.take(whole)));
    let head = reader.headers().map_err(|error| foreign(error.to_string()))?;
    let has = |wanted: &str| head.iter().any(|name| name == wanted);
    // Other programs say it in other words.
    let others = has("title") && has("plan_id") && has("success");
    if whole > 0 && !others && (!has("topic") || !has("status")) {
        return Err(foreign("its first line has no `topic` and no `status`".to_owned()));
    }
    Ok(reader.into_deserialize().map(move |row| row.map_err(|error: csv::Error| foreign(error.to_string()))))
}

/// How many bytes a table has without what was cut off in the middle: all up to the last end of a line.
fn whole_bytes(file: &File) -> std::io::Result<u64> {
    let mut end = file.metadata()?.len();
    let mut part = [0; 8_192];
    while end > 0 {
        let begin = end.saturating_sub(part.len() as u64);
        let part = &mut part[..usize::try_from(end - begin).unwrap_or_default()];
        file.read_exact_at(part, begin)?;
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(begin + at as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
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

/// The run that the rows of a table are of, if they say so.
pub fn run_of(table: &Path) -> Result<Option<String>, BadTable> {
    for row in rows(table)? {
        let run = row?.run_id;
        if !run.is_empty() {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

/// Where it is kept which plans a server had before the run of a table.
pub fn before_file(table: &Path) -> PathBuf {
    let mut name = table.file_name().unwrap_or_default().to_owned();
    name.push(".before");
    table.with_file_name(name)
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
        self.degraded = one_line(&self.degraded);
        self
    }
}

/// A cell is one line, so that an end of a line is the end of a row.
pub fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The first line of a table.
fn head() -> String {
    // It is that of an empty row.
    let whole = written(&Row::default(), true);
    whole.lines().next().map(|head| format!("{head}\n")).unwrap_or_default()
}

/// A row as it stands in a table.
fn line(row: &Row) -> String {
    written(row, false)
}

fn written(row: &Row, with_head: bool) -> String {
    let mut writer = csv::WriterBuilder::new().has_headers(with_head).from_writer(Vec::new());
    // Writing to memory does not fail, and a row is flat.
    let _ = writer.serialize(row);
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}
