//! How a task runs. In files each action is a key of the task: `gate: {…}`, `run: cargo test`.

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::human::{Money, short_form};
use super::pipeline::{Call, parse_pipeline};
use super::reference::Input;
use super::{Check, Plan, Task, is_default};
use crate::expr::Expr;
use crate::id::TaskId;
use crate::time::{Duration, Timestamp};

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
}

impl Action {
    /// The keys that actions have in files, in the order of the variants.
    pub const KEYS: [&str; 15] = [
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
        }
    }
}

/// Asks a model once, with inputs by reference and an answer that is checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    /// The name of a registered prompt.
    #[serde(skip_serializing_if = "is_default")]
    pub prompt: Option<String>,
    /// Or the instruction itself.
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

/// Holds everything behind it until checks and people agree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gate {
    /// Expressions that are tested when it opens, and words that the approvers judge.
    #[serde(skip_serializing_if = "is_default")]
    pub checks: Vec<Check>,
    /// How many people must approve; none means one, or nobody when every check is an expression.
    #[serde(skip_serializing_if = "is_default")]
    pub approvals: Option<u32>,
    /// The role that approvers must have.
    #[serde(skip_serializing_if = "is_default")]
    pub role: Option<String>,
    /// Who may approve; empty means anyone with the role.
    #[serde(skip_serializing_if = "is_default")]
    pub approvers: Vec<String>,
    /// What approvers must have seen.
    #[serde(skip_serializing_if = "is_default")]
    pub evidence: Vec<String>,
    /// What sort of gate it is: `schema`, `invariants`, `regression`, `diff`, `approval`.
    #[serde(skip_serializing_if = "is_default")]
    pub r#type: Option<String>,
    /// When to tell someone that nobody decides.
    #[serde(skip_serializing_if = "is_default")]
    pub escalate_after: Option<Duration>,
    /// Where "needs changes" goes back to; none means the tasks that it depends on.
    #[serde(skip_serializing_if = "is_default")]
    pub back_to: Option<TaskId>,
    /// How often it may send work back; none means as the policy says.
    #[serde(skip_serializing_if = "is_default")]
    pub rounds_max: Option<u32>,
}

impl Gate {
    /// Returns how many approvals it takes.
    pub fn approvals_needed(&self) -> u32 {
        self.approvals.unwrap_or_else(|| {
            let automatic = !self.checks.is_empty() && self.checks.iter().all(|check| matches!(check, Check::Expr(_)));
            u32::from(!automatic)
        })
    }
}

short_form! {
    short = question, full = FullAsk;
    /// Asks a person a question. Short form: the question.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Ask {
        /// The question.
        pub question: String,
        /// The answers to choose from; empty means free text.
        pub options: Vec<Choice>,
        /// The answer that is taken when nobody answers in time.
        pub default: Option<String>,
        /// How long to wait for an answer.
        pub answer_within: Option<Duration>,
    }
}

short_form! {
    short = name, full = FullChoice;
    /// One answer to choose from. Short form: its name.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Choice {
        /// What it is called.
        pub name: String,
        /// What speaks for it.
        pub pros: Vec<String>,
        /// What speaks against it.
        pub cons: Vec<String>,
        /// What it costs.
        pub cost_usd: Option<Money>,
    }
}

short_form! {
    short = instruction, full = FullManual;
    /// Is done by a person. Short form: the instruction.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Manual {
        /// What to do.
        pub instruction: String,
        /// What to hand in as proof.
        pub evidence: Vec<String>,
        /// Who may do it.
        pub role: Option<String>,
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
    fn item() -> String {
        "item".to_owned()
    }
    fn is_item(name: &str) -> bool {
        name == "item"
    }
}

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

/// Computes values from expressions: output name to expression.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Compute(pub BTreeMap<String, Expr>);

impl Compute {
    /// The entries in an order in which each stands after those that it reads; the error names entries that read each
    /// other in a circle.
    ///
    /// An entry that reads its own name means something else of that name: an input, say.
    pub fn in_order(&self) -> Result<Vec<(&str, &Expr)>, Vec<&str>> {
        let mut ordered: Vec<(&str, &Expr)> = Vec::new();
        let mut seen: BTreeMap<&str, Seen> = BTreeMap::new();
        for (first, expr) in self.0.iter().map(|(name, expr)| (name.as_str(), expr)) {
            if seen.contains_key(first) {
                continue;
            }
            seen.insert(first, Seen::OnPath);
            let mut path = vec![(first, expr, self.others_read(first, expr))];
            while let Some((name, expr, reads)) = path.last_mut() {
                let Some(read) = reads.pop() else {
                    seen.insert(name, Seen::Placed);
                    ordered.push((name, expr));
                    path.pop();
                    continue;
                };
                match (seen.get(read), self.0.get(read)) {
                    (Some(Seen::Placed), _) | (None, None) => {}
                    (Some(Seen::OnPath), _) => {
                        return Err(path.iter().map(|(name, ..)| *name).skip_while(|name| *name != read).collect());
                    }
                    (None, Some(expr)) => {
                        seen.insert(read, Seen::OnPath);
                        path.push((read, expr, self.others_read(read, expr)));
                    }
                }
            }
        }
        Ok(ordered)
    }

    /// The other entries that an entry reads.
    fn others_read<'a>(&'a self, name: &str, expr: &'a Expr) -> Vec<&'a str> {
        read_names(expr).filter(|read| *read != name && self.0.contains_key(*read)).collect()
    }
}

/// Where an entry stands while the entries are put in order.
enum Seen {
    OnPath,
    Placed,
}

/// The names of own results that an expression may read: `name`, `outputs.name`.
fn read_names(expr: &Expr) -> impl Iterator<Item = &str> {
    expr.paths().iter().filter_map(|path| match path.segments.as_slice() {
        [root, name, ..] if root == "outputs" => Some(name.as_str()),
        [root, ..] => Some(root.as_str()),
        [] => None,
    })
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

/// Lets time pass: for a while, or until a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// For this long after the task becomes ready.
    For(Duration),
    /// Until this point in time.
    Until(Timestamp),
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::For(duration) => duration.fmt(f),
            Self::Until(timestamp) => timestamp.fmt(f),
        }
    }
}

impl Serialize for Wait {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match Timestamp::parse(&text) {
            Ok(timestamp) => Ok(Self::Until(timestamp)),
            Err(_) => Duration::parse(&text).map(Self::For).map_err(serde::de::Error::custom),
        }
    }
}

impl JsonSchema for Wait {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Wait".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "A duration such as 2h, or a point in time, RFC 3339."})
    }
}

/// Takes back what was done since a task or checkpoint. Short form: its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct UndoTo(pub String);
