//! What a plan may touch and spend, and how its failures are answered.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod budget;
mod recovery;

pub use budget::{Budget, Dimension, Usage};
pub use recovery::{FailureClass, Recovery, Remedy, Retry};

use crate::plan::is_default;
use crate::time::Duration;

/// Limits and rules of one plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// What the whole plan may spend.
    #[serde(skip_serializing_if = "is_default")]
    pub budget: Budget,
    /// Which files it may read and write.
    #[serde(skip_serializing_if = "is_default")]
    pub files: FileScope,
    /// Which hosts it may reach.
    #[serde(skip_serializing_if = "is_default")]
    pub network: NetworkScope,
    /// Which commands it may run.
    #[serde(skip_serializing_if = "is_default")]
    pub commands: CommandScope,
    /// Which tools it may call, and which calls someone has to approve.
    #[serde(skip_serializing_if = "is_default")]
    pub tools: ToolScope,
    /// How many attempts run at once; none means eight.
    #[serde(skip_serializing_if = "is_default")]
    pub parallel: Option<u32>,
    /// How many attempts use one capability at once.
    #[serde(skip_serializing_if = "is_default")]
    pub capabilities: BTreeMap<String, u32>,
    /// How often a task is tried again when it says nothing itself.
    #[serde(skip_serializing_if = "is_default")]
    pub retry: Option<Retry>,
    /// How each class of failure is answered.
    #[serde(skip_serializing_if = "is_default")]
    pub recovery: Recovery,
    /// Who judges checks in plain words.
    #[serde(skip_serializing_if = "is_default")]
    pub judge: Judge,
    /// Who carries out tasks in plain prose.
    #[serde(skip_serializing_if = "is_default")]
    pub prose: ProseBy,
    /// How often a gate or a route back may send work back; none means three.
    #[serde(skip_serializing_if = "is_default")]
    pub rounds_max: Option<u32>,
    /// How many tasks a map may become; none means a hundred.
    #[serde(skip_serializing_if = "is_default")]
    pub map_max: Option<u32>,
    /// Stop everything else when a required task fails.
    #[serde(skip_serializing_if = "is_default")]
    pub fail_fast: bool,
    /// Never go on with a fallback.
    #[serde(skip_serializing_if = "is_default")]
    pub strict: bool,
    /// Allow agents to work by themselves.
    #[serde(skip_serializing_if = "is_default")]
    pub agent_planning: bool,
    /// Tasks of kind `deploy` must stand behind a gate.
    #[serde(skip_serializing_if = "is_default")]
    pub require_gate_for_prod: bool,
    /// Keep the working folder as a checkpoint, `after TASK`, after each task that may change something.
    #[serde(skip_serializing_if = "is_default")]
    pub checkpoint_each_task: bool,
    /// When to tell the owner that a person is waited for.
    #[serde(skip_serializing_if = "is_default")]
    pub escalate_after: Option<Duration>,
    /// Rules for data, in words.
    #[serde(skip_serializing_if = "is_default")]
    pub data: Vec<String>,
}

impl Policy {
    /// How many attempts run at once.
    pub fn parallel(&self) -> u32 {
        self.parallel.unwrap_or(8).max(1)
    }
    /// How often work may be sent back by a gate or a route that asks for so many rounds; never more than the policy says.
    pub fn rounds_limit(&self, asked: Option<u32>) -> u32 {
        limited(asked, self.rounds_max, 3)
    }
    /// How many tasks a map that asks for so many may become; never more than the policy says.
    pub fn map_limit(&self, asked: Option<u32>) -> u32 {
        limited(asked, self.map_max, 100)
    }
}

/// What is asked for, within what is allowed.
fn limited(asked: Option<u32>, allowed: Option<u32>, otherwise: u32) -> u32 {
    match (asked, allowed) {
        (Some(asked), Some(allowed)) => asked.min(allowed),
        (one, other) => one.or(other).unwrap_or(otherwise),
    }
}

/// Which files a plan may read and write, as globs below its workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FileScope {
    /// What it may read; empty means the whole workspace.
    #[serde(skip_serializing_if = "is_default")]
    pub read: Vec<String>,
    /// What it may write; empty means the whole workspace.
    #[serde(skip_serializing_if = "is_default")]
    pub write: Vec<String>,
}

/// Which hosts a plan may reach; none listed means no network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkScope {
    /// The hosts.
    #[serde(skip_serializing_if = "is_default")]
    pub allow: Vec<String>,
}

/// Which commands a plan may run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CommandScope {
    /// Only these programs; empty means any.
    #[serde(skip_serializing_if = "is_default")]
    pub allow: Vec<String>,
    /// Never these.
    #[serde(skip_serializing_if = "is_default")]
    pub deny: Vec<String>,
}

/// Which tools a plan may call. A name stands for one tool, `files.*` for all whose names begin so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolScope {
    /// Only these; empty means any.
    #[serde(skip_serializing_if = "is_default")]
    pub allow: Vec<String>,
    /// Never these.
    #[serde(skip_serializing_if = "is_default")]
    pub deny: Vec<String>,
    /// Only after someone has seen what would be done, and approved it: each call by itself.
    #[serde(skip_serializing_if = "is_default")]
    pub approve: Vec<String>,
}

impl ToolScope {
    /// Tells whether this tool may be called at all.
    pub fn allows(&self, tool: &str) -> bool {
        (self.allow.is_empty() || listed(&self.allow, tool)) && !self.denies(tool)
    }

    /// Tells whether this tool is among those that are never called.
    pub fn denies(&self, tool: &str) -> bool {
        listed(&self.deny, tool)
    }

    /// Tells whether someone has to approve each call of this tool.
    pub fn needs_approval(&self, tool: &str) -> bool {
        listed(&self.approve, tool)
    }
}

fn listed(patterns: &[String], tool: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(begin) => tool.starts_with(begin),
        None => pattern == tool,
    })
}

/// Who judges checks in plain words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// Nobody: they are recorded as not judged, and shown with the result.
    #[default]
    Nobody,
    /// A person, asked for each.
    Person,
    /// A model.
    Model,
}

/// Who carries out tasks in plain prose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProseBy {
    /// A person.
    #[default]
    Person,
    /// A model, in one call.
    Model,
    /// An agent with tools.
    Agent,
}
