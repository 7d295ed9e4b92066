//! What bodies look like, for the document and for tests. What is told of plans comes from `gantry-view`; these types say
//! how it reads, and a test holds every answer against them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// A plan as it is listed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanSummary {
    /// Its id.
    pub id: String,
    /// Its number in this record.
    pub no: u64,
    /// What it is called.
    pub title: String,
    /// pending, running, paused, blocked, completed, failed or abandoned.
    pub state: String,
    /// Some process works on it.
    pub driven: bool,
    /// It was made from another plan, and nothing has happened to it since.
    pub not_started: bool,
    /// Its revision.
    pub revision: u64,
    /// How many tasks are in each state.
    pub tasks: BTreeMap<String, u64>,
    /// What it waits for, in words.
    pub waiting_for: Value,
    /// What it used so far.
    pub used: Value,
    /// What it may use.
    pub budget: Value,
    /// What it cost so far, in US dollars.
    pub cost_usd: Value,
    /// Why it failed.
    pub causes: Vec<String>,
    /// When it will be done, as far as its estimates say.
    pub forecast: Option<Value>,
    /// Its labels.
    pub labels: Vec<String>,
    /// Who looks after it: whom it names, or else who made it.
    pub owner: Option<String>,
    /// The plan that it is a part of.
    pub parent: Option<String>,
    /// The plan that it continues.
    pub forked_from: Option<Value>,
    /// When it was created.
    pub created_at: String,
    /// When something last happened to it.
    pub updated_at: String,
    /// How many entries its journal has.
    pub length: u64,
    /// It is kept until someone unpins it.
    pub pinned: bool,
    /// How much of it is done, from 0 to 100.
    pub percent: u32,
}

/// Some plans, and where to go on.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanPage {
    /// The plans, the newest first.
    pub items: Vec<PlanSummary>,
    /// Pass it as `cursor` for the next page; none after the last.
    pub next: Option<u64>,
}

/// A plan with everything that is known about where it stands.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanDetail {
    /// As it is listed.
    #[serde(flatten)]
    pub summary: PlanSummary,
    /// Its tasks, parts below their whole.
    pub task_list: Vec<TaskSummary>,
    /// Tasks whose result is less than what was asked for.
    pub degraded: Vec<String>,
    /// Deadlines that passed.
    pub missed_deadlines: Value,
    /// Checks that nobody judged.
    pub unjudged: Value,
    /// How long it has been at work or waiting.
    pub elapsed_ms: Option<u64>,
    /// What one must know about it as a whole.
    pub notes: Vec<String>,
    /// What to type next on a command line.
    pub next: Vec<String>,
    /// What it is for.
    pub objective: String,
    /// Why this server cannot go on with it, if it cannot.
    pub trouble: Option<String>,
}

/// A task as it is listed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TaskSummary {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: Option<String>,
    /// How it is done, such as `model`, `tool`, `gate`.
    pub action: Option<String>,
    /// The task that it is a part of.
    pub parent: Option<String>,
    /// pending, ready, running, waiting, blocked, completed, failed, skipped or abandoned.
    pub state: String,
    /// The last attempt; 0 before the first.
    pub attempt: u64,
    /// The tasks that it waits for and that are not over.
    pub held_by: Vec<String>,
    /// What it waits for or suffers from, in a few words.
    pub about: String,
    /// When it began.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// How long it took, or has taken.
    pub duration_ms: Option<u64>,
    /// What it cost, in US dollars.
    pub cost_usd: Option<Value>,
    /// Its result is less than what was asked for.
    pub degraded: bool,
}

/// Everything that is known about one task.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TaskDetail {
    /// The plan.
    pub plan: String,
    /// The task.
    pub task: String,
    /// Where it stands.
    pub state: String,
    /// What it waits for or suffers from.
    pub about: String,
    /// As it stands in the plan.
    pub definition: Value,
    /// Everything that is known about it.
    pub life: Value,
    /// The tasks that it waits for and that are not over.
    pub held_by: Vec<String>,
    /// What it works on.
    pub inputs: Value,
    /// What it gave.
    pub outputs: Value,
    /// What it made and is kept.
    pub artifacts: Vec<Value>,
    /// What happened to it.
    pub history: Vec<Value>,
}

/// Some entries of a journal, and where to go on.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct JournalPage {
    /// The entries: each with its number `seq`, its time `at`, the name of its `event`, what happened in words, `said`,
    /// and the whole `entry`.
    pub items: Vec<Value>,
    /// Pass it as `after` for the next page; none after the last.
    pub next: Option<u64>,
}

/// Something, item by item.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Items {
    /// The items.
    pub items: Vec<Value>,
}

/// Any object.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Anything(pub Value);

/// A plan that was created.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Created {
    /// Its id.
    pub plan: String,
    /// Its number.
    pub no: u64,
    /// Where it stands.
    pub state: String,
    /// Where to look at it.
    pub url: String,
    /// Where to watch it.
    pub events: String,
}

/// Something was said to a plan, and is on record.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[allow(clippy::struct_field_names)] // the names are the API's
pub struct Heard {
    /// The plan.
    pub plan: String,
    /// Its number.
    pub no: u64,
    /// Where it stands now.
    pub state: String,
    /// `driven`: who works on it has heard it. `recorded`: it is on record and counts when someone goes on.
    pub heard: String,
    /// What it waits for.
    pub waiting: Value,
    /// Its revision now.
    pub revision: u64,
    /// How many entries its journal has now.
    pub length: u64,
    /// Where to look at it.
    pub url: String,
}

/// Which plans to list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct ListQuery {
    /// Only plans in one of these states, with commas: pending, running, paused, blocked, completed, failed, abandoned.
    pub state: Option<String>,
    /// Only plans with this label.
    pub label: Option<String>,
    /// Only plans that this one looks after.
    pub owner: Option<String>,
    /// Only plans with this text in their title or id.
    pub text: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
    /// Where to go on: `next` of the page before.
    pub cursor: Option<u64>,
    /// Plans inside plans as well.
    pub inside: Option<bool>,
}

/// A plan to be created: exactly one of `plan`, `file` and `objective`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewPlan {
    /// The plan itself, as JSON, in the words of a plan file.
    pub plan: Option<Value>,
    /// The text of a plan file: YAML, JSON, the text form or a Mermaid flowchart.
    pub file: Option<String>,
    /// The name of that file; its ending says the format.
    pub file_name: Option<String>,
    /// What is to be planned, in words.
    pub objective: Option<String>,
    /// How much is worked out: fast, balanced or full.
    pub detail: Option<String>,
    /// The template to plan by.
    pub template: Option<String>,
    /// Only these sections of it.
    pub sections: Vec<String>,
    /// Documents to take into account.
    pub context: Vec<ContextDocument>,
    /// Which models answer: fast, balanced, quality, or a profile of your own. A server that was started with one keeps to it.
    pub profile: Option<String>,
    /// Let this model answer; it must be one that is configured.
    pub model: Option<String>,
    /// Let only the offline model answer.
    pub offline: bool,
    /// Begin at once; otherwise it waits for `start`.
    pub start: Option<bool>,
}

/// A document to take into account.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextDocument {
    /// What it is called.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// Why.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Why {
    /// Why; it is on record.
    #[serde(alias = "rationale")]
    pub why: String,
}

/// Whether and why a plan is given up.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cancel {
    /// Why; it is on record.
    pub why: String,
    /// Take back what was done.
    pub undo: bool,
}

/// What to take back.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Undo {
    /// The checkpoint or task after which everything is taken back; everything when empty.
    pub to: String,
    /// Why; it is on record.
    pub why: String,
}

/// A decision about a gate.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Decide {
    /// Why; needed for all but an approval.
    #[serde(alias = "why")]
    pub rationale: String,
    /// The role of the plan in which it is decided.
    pub role: Option<String>,
    /// What was looked at.
    pub evidence: Vec<String>,
    /// The revision of the plan that was looked at (`plan_revision` of a gate); the current one when it is left out.
    pub revision: Option<u32>,
}

/// Decisions about several gates: all of them, or none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// The gates.
    pub gates: Vec<String>,
    /// approve, reject or `needs_changes`.
    pub decision: String,
    /// Why; needed for all but an approval.
    #[serde(default, alias = "why")]
    pub rationale: String,
    /// The role of the plan in which it is decided.
    #[serde(default)]
    pub role: Option<String>,
    /// What was looked at.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// The revision of the plan that was looked at (`plan_revision` of a gate); the current one when it is left out.
    #[serde(default)]
    pub revision: Option<u32>,
}

/// An answer to a question.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// One of those offered, or any text when none are; `approve` or `refuse` for a call.
    pub answer: String,
    /// Why a call is refused.
    #[serde(default)]
    pub why: Option<String>,
}

/// What came of a task that a person did.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Done {
    /// Values by name.
    pub outputs: BTreeMap<String, Value>,
    /// Texts to keep as proof, by name.
    pub evidence: BTreeMap<String, String>,
}

/// What came of a task that a person did, with files.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "it is described here, and read field by field")]
pub struct DoneForm {
    /// Values by name, as an object of JSON.
    pub outputs: Option<String>,
    /// Files to keep as proof.
    #[schema(value_type = Vec<String>, format = Binary)]
    pub evidence: Vec<Vec<u8>>,
}

/// New outputs of a finished task.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Edit {
    /// New values by name; those that are not named stay.
    pub outputs: BTreeMap<String, Value>,
    /// Outputs to take away.
    pub remove: Vec<String>,
    /// Why; it is on record.
    pub why: String,
    /// Only say what would be done again.
    pub dry_run: bool,
}

/// What an edit means.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Edited {
    /// Done again for sure.
    pub again: Vec<String>,
    /// Done again if those give something else.
    pub perhaps: Vec<String>,
    /// Nothing was changed.
    pub dry_run: bool,
}

/// What to do about a task that asks for help.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Resolve {
    /// retry, complete, skip or fail.
    pub how: String,
    /// What the next attempt is told (with `retry`).
    #[serde(default)]
    pub guidance: Option<String>,
    /// The result (with `complete`).
    #[serde(default)]
    pub outputs: BTreeMap<String, Value>,
    /// Why; it is on record.
    #[serde(default)]
    pub why: String,
}

/// Verdicts about checks in words.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Judge {
    /// One for each check.
    pub verdicts: Vec<JudgeVerdict>,
}

/// A verdict about one check.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeVerdict {
    /// The check, word for word.
    pub check: String,
    /// Whether it holds.
    pub holds: bool,
    /// Why.
    #[serde(default)]
    pub because: String,
}

/// Something to write down.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// What.
    pub text: String,
}

/// A new revision: exactly one of `plan`, `file` and `words`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewRevision {
    /// The whole plan as JSON, in the words of a plan file.
    pub plan: Option<Value>,
    /// The text of a plan file.
    pub file: Option<String>,
    /// What is to be different, in words, for a plan that was made from a sentence.
    pub words: Option<String>,
    /// Why; words are their own reason.
    pub rationale: String,
    /// The revision that it was made from; the header If-Match says the same.
    pub base: Option<u32>,
    /// Only say what would change.
    pub dry_run: bool,
}

/// What a revision changes.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Revised {
    /// Its number.
    pub revision: u64,
    /// What changes.
    pub diff: Value,
    /// The same in words, line by line.
    pub lines: Vec<String>,
    /// Nothing was changed.
    pub dry_run: bool,
}

/// Where another life begins.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fork {
    /// After which entry; the last when it is left out.
    pub at: Option<u64>,
    /// Go on with it at once.
    pub start: bool,
}

/// Which models to ask for a word.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TryModels {
    /// A role or a model; all of them when it is left out.
    pub what: Option<String>,
}

/// Which way back to take.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TakeWay {
    /// Its number, counted from 1.
    pub take: usize,
    /// Why; what it is when it is left out.
    #[serde(default, alias = "rationale")]
    pub why: String,
}

/// What if: everything is decided again under another policy, or with another plan from the beginning on.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Imagine {
    /// Another policy, in the words of a plan file.
    pub policy: Option<Value>,
    /// One of the plan's revisions.
    pub revision: Option<u32>,
    /// The text of a plan file instead of a revision.
    pub file: Option<String>,
}

/// A point to come back to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// What to call it.
    pub name: String,
}

/// Where a working folder is brought back to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// The checkpoint: its name, its task, `TASK@VERSION`, or a hash that a restore gave as `safety`.
    pub to: String,
}

/// A working folder that was brought back.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct FolderRestored {
    /// The plan.
    pub plan: String,
    /// The folder.
    pub folder: String,
    /// The checkpoint that was meant.
    pub to: String,
    /// Its hash.
    pub hash: String,
    /// How many files and links were written.
    pub written: u64,
    /// How many were removed.
    pub removed: u64,
    /// The checkpoint of how it was before: restore that to go back from going back.
    pub safety: String,
}

/// What a copy of a template is called.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyTemplate {
    /// Letters, digits and dashes.
    pub name: String,
}

/// What a model thinks of a plan.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Judgement {
    /// The plan.
    pub plan_id: String,
    /// What it is called.
    pub title: String,
    /// The mean of all dimensions, from 1 to 10.
    pub score: f64,
    /// The six dimensions.
    pub dimensions: Vec<JudgedDimension>,
    /// Who judged.
    pub judged_by: String,
    /// The plan that the asking is recorded as.
    pub record: String,
    /// How many tasks the judge did not see, because the plan is too long.
    pub tasks_unseen: u64,
}

/// One of the six dimensions of a judgement.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct JudgedDimension {
    /// What it is called.
    pub name: String,
    /// From 1 to 10: the points of its criteria.
    pub score: u32,
    /// Its criteria.
    pub criteria: Vec<JudgedCriterion>,
}

/// One criterion of a judgement.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct JudgedCriterion {
    /// What is to hold.
    pub criterion: String,
    /// yes, partly or no.
    pub answer: String,
    /// Why.
    pub reason: String,
}
