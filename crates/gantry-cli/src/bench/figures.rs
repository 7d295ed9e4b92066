//! What was measured, for people and for programs.

use serde_json::{Map, Value, json};

use super::child::{Resumed, Started};
use super::load::LoadTime;
use super::plans;

/// A rate and its ratio to plain commits of the same moments.
pub struct Rate {
    pub per_s: f64,
    pub ratio: f64,
}

/// What a plan of some size takes for each task.
pub struct Bytes {
    /// How many tasks.
    pub tasks: usize,
    /// In the record.
    pub kept: f64,
    /// Written for that, the log included.
    pub written: f64,
}

/// What was measured; none where it was not asked for.
#[derive(Default)]
pub struct Figures {
    pub commits: f64,
    pub commits_in_room: f64,
    pub syncs: f64,
    pub chain: Option<Rate>,
    pub fan: Option<Rate>,
    pub many: Option<Rate>,
    pub pipeline_ms: Option<f64>,
    pub resume: Option<Resumed>,
    pub start: Option<Started>,
    pub bytes_per_task: Vec<Bytes>,
    pub load: Vec<LoadTime>,
}

/// The bytes of a plan of this many tasks stand for all.
const TYPICAL_TASKS: usize = 1_000;

impl Figures {
    pub fn to_json(&self) -> Value {
        let rounded = |figure: f64| json!((figure * 100.0).round() / 100.0);
        let mut object = Map::new();
        let mut put = |name: &str, value: Value| drop(object.insert(name.to_owned(), value));
        put("raw_commits_per_s", rounded(self.commits));
        put("raw_commits_in_room_per_s", rounded(self.commits_in_room));
        put("raw_syncs_per_s", rounded(self.syncs));
        for (name, rate) in [("chain", &self.chain), ("fan", &self.fan), ("many", &self.many)] {
            if let Some(rate) = rate {
                put(&format!("{name}_tasks_per_s"), rounded(rate.per_s));
                put(&format!("{name}_ratio"), rounded(rate.ratio));
            }
        }
        if let Some(ms) = self.pipeline_ms {
            put("pipeline_ms", rounded(ms));
            put("pipeline_bound_ms", rounded(bound_ms()));
            put("pipeline_ratio", json!((ms / bound_ms() * 1e3).round() / 1e3));
        }
        if let Some(resume) = &self.resume {
            put("resume_ms", rounded(resume.ms));
            put("resume_finished", json!(resume.finished));
            put("resume_repeats", json!(resume.repeats));
        }
        if let Some(start) = &self.start {
            put("start_ms", rounded(start.ms));
            put("idle_mb", rounded(start.idle_mb));
        }
        if let Some(typical) = self.bytes_per_task.iter().find(|bytes| bytes.tasks == TYPICAL_TASKS) {
            put("bytes_per_task", json!(typical.kept.round()));
            put("bytes_written_per_task", json!(typical.written.round()));
            let by_size = self.bytes_per_task.iter().map(|bytes| (bytes.tasks.to_string(), json!(bytes.kept.round())));
            put("bytes_per_task_by_size", Value::Object(by_size.collect()));
        }
        if !self.load.is_empty() {
            let by_entries = self.load.iter().map(|load| (load.entries.to_string(), rounded(load.ms)));
            put("load_ms_by_entries", Value::Object(by_entries.collect()));
        }
        Value::Object(object)
    }

    pub fn to_text(&self) -> String {
        let row = |name: &str, figure: String, ratio: String| format!("{name:<38} {figure:>16} {ratio:>22}\n");
        let rate = |rate: f64| format!("{rate:.0} /s");
        let of_raw = |ratio: f64| format!("{ratio:.2} x raw commits");
        let mut text = row("plain SQLite commits", rate(self.commits), of_raw(1.0));
        let in_room = self.commits_in_room;
        text += &row("the same, log made long before", rate(in_room), of_raw(in_room / self.commits));
        text += &row("plain file syncs", rate(self.syncs), of_raw(self.syncs / self.commits));
        let rates = [
            ("chain, 1,000 tasks", &self.chain),
            ("fan, 1 + 1,000 + 1 tasks", &self.fan),
            ("many, 200 plans of 61 tasks", &self.many),
        ];
        for (name, measured) in rates {
            if let Some(measured) = measured {
                text += &row(name, rate(measured.per_s), of_raw(measured.ratio));
            }
        }
        if let Some(ms) = self.pipeline_ms {
            let bound = format!("{:.3} x longest path", ms / bound_ms());
            text += &row("pipeline, 61 tasks of 50 ms", format!("{ms:.0} ms"), bound);
        }
        if let Some(resume) = &self.resume {
            let repeats = format!("{} of {} repeated", resume.repeats, resume.finished);
            text += &row("killed chain goes on after", format!("{:.1} ms", resume.ms), repeats);
        }
        if let Some(start) = &self.start {
            text += &row("start to first task", format!("{:.1} ms", start.ms), String::new());
            text += &row("idle memory", format!("{:.1} MB", start.idle_mb), String::new());
        }
        for Bytes { tasks, kept, written } in &self.bytes_per_task {
            let written = format!("{written:.0} bytes written");
            text += &row(&format!("record per task, {tasks} tasks"), format!("{kept:.0} bytes"), written);
        }
        for LoadTime { entries, ms } in &self.load {
            text += &row(&format!("loading {entries} entries"), format!("{ms:.1} ms"), String::new());
        }
        text
    }
}

/// How long the pipeline takes when nothing but its tasks takes time.
pub fn bound_ms() -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few dozen tasks")]
    let depth = plans::pipeline_depth() as f64;
    depth * 50.0
}
