//! What must hold: tested by the core, or judged.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::check::might_be_meant_as_expression;
use crate::expr::Expr;

/// Something that must hold: an expression that the core tests, or words for a judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// Tested by the core.
    Expr(Expr),
    /// Judged by a person, or by a model when the policy allows.
    Words(String),
}

impl Check {
    /// Reads a text: an expression when it is one, otherwise words. A lone word and a lone quoted text are words.
    pub fn read(text: &str) -> Self {
        match Expr::parse(text) {
            Ok(expr) if !is_lone_word(&expr) => Self::Expr(expr),
            Ok(_) | Err(_) => Self::Words(text.to_owned()),
        }
    }

    /// Returns the text as written.
    pub fn text(&self) -> &str {
        match self {
            Self::Expr(expr) => expr.source(),
            Self::Words(words) => words,
        }
    }
}

/// A lone word such as `reviewed`, or a quoted text, parses but is more likely meant for a judge. Truth is not.
fn is_lone_word(expr: &Expr) -> bool {
    let source = expr.source().trim();
    let word = source.chars().all(|c| c.is_alphanumeric() || c == '_');
    let truth = matches!(source, "true" | "false");
    word && !truth || expr.is_text()
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Words that somebody may take for an expression with a slip in it say what they are.
        let plain = !matches!(self, Self::Words(words) if might_be_meant_as_expression(words));
        if plain && Self::read(self.text()) == *self {
            return serializer.serialize_str(self.text());
        }
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Expr(expr) => map.serialize_entry("expr", expr.source())?,
            Self::Words(words) => map.serialize_entry("words", words)?,
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Check {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Forced {
            Expr(Expr),
            Words(String),
        }
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Check;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, `expr: …` or `words: …`")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Check, E> {
                Ok(Check::read(text))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Check, A::Error> {
                let forced = Forced::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(match forced {
                    Forced::Expr(expr) => Check::Expr(expr),
                    Forced::Words(words) => Check::Words(words),
                })
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Check {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Check".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An expression that is tested, or words for a judge.",
            "anyOf": [
                {"type": "string"},
                {"type": "object", "properties": {"expr": {"type": "string"}}, "required": ["expr"], "additionalProperties": false},
                {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"], "additionalProperties": false}
            ]
        })
    }
}
