//! Where to go when a task ends.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::is_default;
use crate::expr::Expr;
use crate::id::TaskId;

/// Where to go when a task ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// On which ending.
    pub on: On,
    /// To which task.
    pub to: TaskId,
    /// For a route back: how many rounds at most.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max: Option<u32>,
    /// And only if this holds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub when: Option<Expr>,
}

/// An ending that a route can follow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum On {
    /// The task completed, with whatever outcome.
    Success,
    /// The task failed for good.
    Failure,
    /// However it ended.
    Always,
    /// It completed (a gate: was decided) with this outcome, such as `needs_changes` or `yes`.
    Outcome(String),
}

impl On {
    /// Reads the word of a file.
    pub fn parse(word: &str) -> Self {
        match word {
            "success" => Self::Success,
            "failure" => Self::Failure,
            "always" => Self::Always,
            other => Self::Outcome(other.to_owned()),
        }
    }
}

impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Always => "always",
            Self::Outcome(outcome) => outcome,
        })
    }
}

impl Serialize for On {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for On {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        if word.trim().is_empty() {
            return Err(serde::de::Error::custom(
                "an empty text names no ending; write `success`, `failure`, `always` or an outcome",
            ));
        }
        Ok(Self::parse(&word))
    }
}

impl JsonSchema for On {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "On".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": 1, "examples": ["success", "failure", "always", "needs_changes"]})
    }
}
