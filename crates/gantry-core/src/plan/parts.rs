//! The smaller parts of plans and tasks: artifacts, risks, estimates, people.

use schemars::{JsonSchema, Schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::human::{Confidence, Money, short_form};
use super::{Check, is_default};
use crate::id::TaskId;
use crate::time::Duration;

/// What belongs to the plan and what does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// What belongs to it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub included: Vec<String>,
    /// What does not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub excluded: Vec<String>,
}

short_form! {
    short = name, full = FullStakeholder;
    /// Someone with a say in the plan. Short form: the name.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Stakeholder {
        /// Who.
        pub name: String,
        /// In which role, such as `maintainer`.
        pub role: Option<String>,
        /// How to reach them.
        pub contact: Option<String>,
    }
}

short_form! {
    short = id, full = FullHypothesis;
    /// A falsifiable statement. Short form: its id, such as `H1`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Hypothesis {
        /// A short name, such as `H1`.
        pub id: String,
        /// What is claimed.
        pub statement: Option<String>,
        /// How sure one is before any evidence.
        pub confidence: Confidence,
    }
}

/// How long an artifact is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(transform = or_a_length)]
pub enum Retention {
    /// Until the task that made it is final.
    Task,
    /// As long as the plan is kept.
    #[default]
    Plan,
    /// For ever.
    Forever,
    /// For this long after the plan ended.
    For(Duration),
}

/// A length of time alone says how long, too.
fn or_a_length(schema: &mut Schema) {
    if let Some(Value::Array(forms)) = schema.get_mut("oneOf") {
        let meaning = "For this long after the plan ended, such as 30d.";
        forms.push(serde_json::json!({"type": "string", "pattern": "^[0-9]", "description": meaning}));
    }
}

impl<'de> Deserialize<'de> for Retention {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Word(String),
            Length(Length),
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Length {
            r#for: Duration,
        }
        let wrong = |_| D::Error::custom("write `task`, `plan`, `forever` or a length of time such as `30d`");
        match Written::deserialize(deserializer).map_err(wrong)? {
            Written::Length(length) => Ok(Self::For(length.r#for)),
            Written::Word(word) => match word.as_str() {
                "task" => Ok(Self::Task),
                "plan" => Ok(Self::Plan),
                "forever" => Ok(Self::Forever),
                other => Duration::parse(other).map(Self::For).map_err(|_| {
                    let forms = "write `task`, `plan`, `forever` or a length of time such as `30d`";
                    D::Error::custom(format!("`{other}` does not say how long; {forms}"))
                }),
            },
        }
    }
}

short_form! {
    short = name, full = FullArtifactDecl;
    /// A named output that a task makes. Short form: the name.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ArtifactDecl {
        /// What later tasks call it.
        pub name: String,
        /// What it is, such as `file`, `note`, `list[url]`.
        pub r#type: Option<String>,
        /// How long it is kept.
        pub retention: Retention,
    }
}

/// A named result of the whole plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanArtifact {
    /// The name of the result, which is also the name of the task's output.
    pub name: String,
    /// The task that makes it.
    pub from: TaskId,
}

short_form! {
    short = from, full = FullOutput;
    /// What an output is bound to. Short form: a path, or `artifacts.<name>`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Output {
        /// The artifact (`artifacts.<name>`), the file that holds it, or the part of a model's answer (`items.0.name`);
        /// empty when it is a plain value.
        pub from: String,
        /// What it is, such as `file`, `number`, `list[url]`.
        pub r#type: Option<String>,
        /// What it means.
        pub description: Option<String>,
    }
}

impl Output {
    /// The part of an answer that it is, when it is one: `items.0.name`.
    pub fn part(&self) -> Option<&str> {
        Some(self.from.as_str()).filter(|from| !from.is_empty() && !from.starts_with("artifacts."))
    }
}

short_form! {
    short = name, full = FullRisk;
    /// Something that may go wrong. Short form: its name.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Risk {
        /// What may go wrong.
        pub name: String,
        /// How likely it is, from 0 to 1.
        pub likelihood: Option<Confidence>,
        /// What it would mean.
        pub impact: Option<String>,
        /// What is done about it.
        pub mitigation: Option<String>,
    }
}

/// A way to fail that was thought of beforehand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureMode {
    /// What it is called; a runner may report it by this name.
    pub name: String,
    /// How to tell. An expression is tested on every answer, also on successful ones; words are put to the judge of a
    /// result, with the other checks in words.
    #[serde(default, skip_serializing_if = "is_default")]
    pub detect: Option<Check>,
    /// What to do: a strategy (`retry`, `repair`, `alternate`, `fallback`, `undo`, `escalate`,
    /// `abort`), the id of a task to run instead, or guidance in words for another attempt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub recover: Option<String>,
}

impl FailureMode {
    /// What a judge is asked when this mode is told in words: whether it is absent.
    pub fn absence(&self) -> Option<String> {
        match &self.detect {
            Some(Check::Words(words)) => Some(format!("it is not so that: {words}")),
            Some(Check::Expr(_)) | None => None,
        }
    }
}

short_form! {
    short = name, full = FullCapability;
    /// A tool that tasks use, with what one should know before using it. Short form: the name.
    ///
    /// Declaring a capability is optional; its preconditions then hold for every task that uses it.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Capability {
        /// What tasks call it, such as `web.fetch`.
        pub name: String,
        /// What it does.
        pub description: Option<String>,
        /// The JSON Schema of its arguments.
        pub arguments: Option<Value>,
        /// The JSON Schema of its result.
        pub result: Option<Value>,
        /// What must hold before it is used.
        pub preconditions: Vec<Check>,
        /// What may go wrong.
        pub risks: Vec<Risk>,
        /// It changes something outside.
        pub mutates: bool,
    }
}

/// How much work or time a task takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// If all goes well.
    pub low: Duration,
    /// Most likely.
    pub likely: Duration,
    /// If it does not.
    pub high: Duration,
}

short_form! {
    short = name, full = FullResourceUse;
    /// People or equipment that a task needs. Short form: the name.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ResourceUse {
        /// Which resource.
        pub name: String,
        /// How much of it, in thousandths of one; none means one.
        pub amount: Option<u32>,
        /// What one hour of it costs.
        pub cost_per_hour: Option<Money>,
    }
}

/// Whom to tell when something takes too long, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Escalation {
    /// How long to wait, and how long again before each further level.
    pub after: Duration,
    /// Whom to tell at each level, in order; the last is told at every level after.
    #[serde(default, skip_serializing_if = "is_default")]
    pub to: Vec<String>,
    /// How many levels there are.
    #[serde(default = "Escalation::levels_default")]
    pub levels: u32,
}

impl Escalation {
    fn levels_default() -> u32 {
        3
    }
}
