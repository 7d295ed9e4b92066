//! Where a task's input comes from: a value written down, or a reference to something made elsewhere.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::expr::Expr;
use crate::id::TaskId;

/// A pointer to something that exists only once the plan runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reference {
    /// `tasks.<id>.<output>.<field>…`: an output of another task, or all of its outputs.
    Task {
        /// The task.
        task: TaskId,
        /// The output's name and the fields below it.
        path: Vec<String>,
    },
    /// `artifacts.<name>`: a named artifact of the plan.
    Artifact {
        /// Its name.
        name: String,
    },
    /// `memory.<key>`: something remembered from before.
    Memory {
        /// Its key, which may contain dots.
        key: String,
    },
}

impl Reference {
    /// Reads `tasks.sources.notes`, `artifacts.notes` or `memory.http3.terms`; anything else is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (root, rest) = text.split_once('.')?;
        let clean = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
        if !rest.split('.').all(clean) {
            return None;
        }
        match root {
            "tasks" => {
                let mut parts = rest.split('.');
                let task = TaskId::new(parts.next()?).ok()?;
                Some(Self::Task { task, path: parts.map(str::to_owned).collect() })
            }
            "artifacts" => (!rest.contains('.')).then(|| Self::Artifact { name: rest.to_owned() }),
            "memory" => Some(Self::Memory { key: rest.to_owned() }),
            _ => None,
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task { task, path } => {
                write!(f, "tasks.{task}")?;
                path.iter().try_for_each(|part| write!(f, ".{part}"))
            }
            Self::Artifact { name } => write!(f, "artifacts.{name}"),
            Self::Memory { key } => write!(f, "memory.{key}"),
        }
    }
}

/// One input of a task.
///
/// In files a text that reads as a reference is one; `{value: …}` forces a plain value.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Something made elsewhere.
    From(Reference),
    /// A value written in the plan.
    Value(Value),
}

impl Serialize for Input {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::From(reference) => serializer.collect_str(reference),
            Self::Value(value) if Self::is_ambiguous(value) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("value", value)?;
                map.end()
            }
            Self::Value(value) => value.serialize(serializer),
        }
    }
}

impl Input {
    /// Tells whether the bare value would be read back as something else.
    fn is_ambiguous(value: &Value) -> bool {
        match value {
            Value::String(text) => Reference::parse(text).is_some(),
            Value::Object(map) => map.len() == 1 && map.contains_key("value"),
            _ => false,
        }
    }
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)? {
            Value::String(text) => match Reference::parse(&text) {
                Some(reference) => Self::From(reference),
                None => Self::Value(Value::String(text)),
            },
            Value::Object(mut map) if map.len() == 1 && map.contains_key("value") => {
                Self::Value(map.remove("value").unwrap_or_default())
            }
            value => Self::Value(value),
        })
    }
}

impl JsonSchema for Input {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Input".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "A value, or a reference such as tasks.<id>.<output>, artifacts.<name> or memory.<key>."})
    }
}

impl JsonSchema for Expr {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Expr".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "A CEL expression, such as tests.exit_code == 0."})
    }
}
