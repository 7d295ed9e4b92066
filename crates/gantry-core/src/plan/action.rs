//! How a task runs. In files each action is a key of the task: `gate: {…}`, `run: cargo test`.

mod inside; // what the core does itself
mod people; // what people do

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

pub use inside::{Compute, Wait};
pub use people::{Ask, Choice, Gate, Manual};

use super::human::short_form;
use super::pipeline::{Call, parse_pipeline};
use super::reference::Input;
use super::{Plan, Task, is_default};
use crate::expr::Expr;
use crate::id::TaskId;

/// How a task runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Asks a model once.
    Model(Model),
    /// Runs a shell command.
    Run(Run),
    /// A pipeline of capability calls, or an instruction in prose.
    Command(Command),
    /// Calls one capability.
    Tool(Tool),
    /// Lets a model work in a bounded loop with tools.
    Agent(Agent),
    /// Chooses one of several outcomes.
    Decide(Decide),
    /// Holds everything behind it until checks and people agree.
    Gate(Gate),
    /// Asks a person a question.
    Ask(Ask),
    /// Is done by a person.
    Manual(Manual),
    /// Becomes one task for each item of a list.
    Map(Map),
    /// Runs another plan inside this one.
    Plan(Nested),
    /// Computes values from expressions.
    Compute(Compute),
    /// Marks a point that one can come back to.
    Checkpoint(Checkpoint),
    /// Lets time pass.
    Wait(Wait),
    /// Takes back what was done since a task or checkpoint.
    UndoTo(UndoTo),
    /// Takes tasks that another task has made into this plan.
    Adopt(Adopt),
}

impl Action {
    /// The keys that actions have in files, in the order of the variants.
    pub const KEYS: [&str; 16] = [
        "model",
        "run",
        "command",
        "tool",
        "agent",
        "decide",
        "gate",
        "ask",
        "manual",
        "map",
        "plan",
        "compute",
        "checkpoint",
        "wait",
        "undo_to",
        "adopt",
    ];

    /// Returns the key of this action.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Model(_) => "model",
            Self::Run(_) => "run",
            Self::Command(_) => "command",
            Self::Tool(_) => "tool",
            Self::Agent(_) => "agent",
            Self::Decide(_) => "decide",
            Self::Gate(_) => "gate",
            Self::Ask(_) => "ask",
            Self::Manual(_) => "manual",
            Self::Map(_) => "map",
            Self::Plan(_) => "plan",
            Self::Compute(_) => "compute",
            Self::Checkpoint(_) => "checkpoint",
            Self::Wait(_) => "wait",
            Self::UndoTo(_) => "undo_to",
            Self::Adopt(_) => "adopt",
        }
    }
}

impl Action {
    /// Tells whether an attempt at it writes down its steps one by one, so that another process can take it up where it
    /// stands: a plan inside has a record of its own, and what a model answered is recorded before it is used.
    pub fn keeps_steps(&self) -> bool {
        matches!(self, Self::Plan(_) | Self::Model(_) | Self::Agent(_) | Self::Decide(_))
    }
}

/// Asks a model once, with inputs by reference and an answer that is checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    /// The name of a registered prompt.
    #[serde(skip_serializing_if = "is_default")]
    pub prompt: Option<String>,
    /// Or the instruction itself; without either, the task's description, or else its title, is the instruction.
    #[serde(skip_serializing_if = "is_default")]
    pub instruction: Option<String>,
    /// Which of the configured models to use, by what it is to do.
    #[serde(skip_serializing_if = "is_default")]
    pub role: Option<String>,
    /// Or one model by name.
    #[serde(skip_serializing_if = "is_default")]
    pub model: Option<String>,
    /// The JSON Schema of the answer.
    #[serde(skip_serializing_if = "is_default")]
    pub schema: Option<Value>,
    /// Provider settings, such as the temperature.
    #[serde(skip_serializing_if = "is_default")]
    pub settings: BTreeMap<String, Value>,
}

impl Model {
    /// The instruction: its own, or else the description of the task, or else its title.
    pub fn told_by<'t>(&'t self, task: &'t Task) -> &'t str {
        let own = self.instruction.as_deref().filter(|text| !text.trim().is_empty());
        let described = task.description.as_deref().filter(|text| !text.trim().is_empty());
        own.or(described).unwrap_or(&task.title)
    }
}

short_form! {
    short = command, full = FullRun;
    /// Runs a shell command. Short form: the command.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Run {
        /// The command line.
        pub command: String,
        /// The shell; none means `sh`.
        pub shell: Option<String>,
        /// The folder to run in, inside the workspace.
        pub cwd: Option<String>,
    }
}

/// A pipeline of capability calls, or an instruction in prose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    text: String,
    calls: Option<Vec<Call>>,
}

impl Command {
    /// Reads the text as a pipeline if it is one.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), calls: parse_pipeline(text) }
    }
    /// Returns the text as written.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// Returns the calls; none when the command is prose.
    pub fn calls(&self) -> Option<&[Call]> {
        self.calls.as_deref()
    }
}

impl Serialize for Command {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(&String::deserialize(deserializer)?))
    }
}

impl JsonSchema for Command {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Command".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "A pipeline such as `search(query) -> links; fetch(links) -> docs`, or an instruction in prose."})
    }
}

short_form! {
    short = name, full = FullTool;
    /// Calls one capability. Short form: its name.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Tool {
        /// Which capability, such as `files.edit`.
        pub name: String,
        /// With which arguments.
        pub args: BTreeMap<String, Input>,
    }
}

impl Tool {
    /// Tells whether it changes nothing anywhere.
    pub fn only_reads(&self) -> bool {
        matches!(self.name.as_str(), "files.read" | "http.get" | "sql.query" | "git.status" | "git.diff")
    }

    /// Tells whether doing it again does no more than doing it once, however far it came: it changes nothing, or one file
    /// of the workspace, as a whole.
    pub fn only_fetches(&self) -> bool {
        self.only_reads() || self.name == "http.download"
    }
}

/// How an agent searches for a solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Think, call a tool, observe.
    #[default]
    React,
    /// Several candidates, judged, the best kept.
    Tot,
    /// Attempt, critique, try again with what was learned.
    Reflexion,
}

short_form! {
    short = goal, full = FullAgent;
    /// Lets a model work in a bounded loop with tools. Short form: the goal.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Agent {
        /// What it is to reach.
        pub goal: String,
        /// How it searches.
        pub strategy: Strategy,
        /// The tools that it may call.
        pub tools: Vec<String>,
        /// How many turns it may take.
        pub max_turns: Option<u32>,
        /// How many candidates at once.
        pub width: Option<u32>,
        /// How deep a chain of candidates may go.
        pub depth: Option<u32>,
        /// Which of the configured models to use.
        pub role: Option<String>,
    }
}

short_form! {
    short = question, full = FullDecide;
    /// Chooses one of several outcomes: the first whose condition holds. Short form: the question.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Decide {
        /// The question, for a judge, when no condition decides.
        pub question: String,
        /// The outcomes, in the order they are tried.
        pub options: Vec<Branch>,
        /// The outcome when no condition holds.
        pub otherwise: Option<String>,
    }
}

impl Decide {
    /// Tells whether conditions alone decide, without a judge.
    pub fn is_computed(&self) -> bool {
        self.options.iter().any(|branch| branch.when.is_some())
    }

    /// Returns the outcomes that can be chosen, each once.
    pub fn outcomes(&self) -> Vec<&str> {
        let mut outcomes: Vec<&str> = Vec::new();
        for outcome in self.options.iter().map(|branch| branch.outcome.as_str()).chain(self.otherwise.as_deref()) {
            if !outcomes.contains(&outcome) {
                outcomes.push(outcome);
            }
        }
        outcomes
    }
}

short_form! {
    short = outcome, full = FullBranch;
    /// One outcome of a decision. Short form: its name.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Branch {
        /// What the outcome is called; routes refer to it.
        pub outcome: String,
        /// When it is chosen.
        pub when: Option<Expr>,
    }
}

/// Becomes one task for each item of a list that is known only once the plan runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// The list.
    pub over: Input,
    /// The name of the input that holds the item.
    #[serde(default = "Map::item", skip_serializing_if = "Map::is_item")]
    pub r#as: String,
    /// How many items at most; none means as the policy says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max: Option<u32>,
    /// What each item becomes; its id is replaced by `<map>-<n>`. None means a task in prose.
    #[serde(default, skip_serializing_if = "is_default")]
    pub each: Option<Box<Task>>,
}

impl Map {
    /// The task that an item of the list becomes.
    pub fn child(&self, of: &Task, id: TaskId, number: usize, item: &Value) -> Task {
        let mut task = match &self.each {
            Some(each) => (**each).clone(),
            None => Task { kind: of.kind.clone(), ..Task::new(id.clone()) },
        };
        if task.title.is_empty() {
            task.title = format!("{} {number}", of.name());
        }
        task.id = id;
        task.parent = Some(of.id.clone());
        task.inputs.insert(self.r#as.clone(), Input::Value(item.clone()));
        task
    }

    fn item() -> String {
        "item".to_owned()
    }
    fn is_item(name: &str) -> bool {
        name == "item"
    }
}

/// Takes the tasks of a plan that another task has made, and its schedule, into this plan: they become parts of the task
/// that adopts them, in a new revision. What it adopts looks like a plan file in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Adopt(pub Input);

/// Runs another plan inside this one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Nested {
    /// The plan itself.
    #[serde(skip_serializing_if = "is_default")]
    pub plan: Option<Box<Plan>>,
    /// Or the name of a template.
    #[serde(skip_serializing_if = "is_default")]
    pub template: Option<String>,
    /// The parameters that it gets.
    #[serde(skip_serializing_if = "is_default")]
    pub with: BTreeMap<String, Input>,
}

short_form! {
    short = name, full = FullCheckpoint;
    /// Marks a point that one can come back to. Short form: its name.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Checkpoint {
        /// What it is called; empty means after the task.
        pub name: String,
        /// Why it is here.
        pub note: Option<String>,
    }
}

/// Takes back what was done since a task or checkpoint. Short form: its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct UndoTo(pub String);
