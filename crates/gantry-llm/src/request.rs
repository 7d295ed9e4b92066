//! What a model is asked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::ToolCall;
use crate::target::Target;

/// One question to a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// What the model is to be: `planner`, `writer`, `critic`, `judge`, `extractor`, `team.daily`, …
    pub role: String,
    /// One model by name, instead of the chain that the role has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is said, in order. Stable text comes first, so that caches of providers hit.
    pub messages: Vec<Message>,
    /// The tools that it may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// What the answer has to look like; none means free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// How it answers.
    #[serde(default)]
    pub settings: Settings,
    /// Which of several answers to the same question this is: candidates and second tries count up.
    #[serde(default)]
    pub sample: u32,
    /// Which prompt the messages come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptUse>,
    /// The values that went into the prompt, for whoever answers without a model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, Value>,
}

impl Request {
    /// The name under which an answer is kept: a hash of everything that the answer depends on.
    pub fn key(&self, target: &Target) -> String {
        let asked = serde_json::json!([
            target.id(),
            self.messages,
            self.tools,
            self.shape,
            self.settings,
            // Once an id and a flag stood here that nobody set: answers that are on record are named with them.
            Value::Null,
            false,
            self.sample,
        ]);
        blake3::hash(asked.to_string().as_bytes()).to_hex().to_string()
    }

    /// The name under which the reply to one call is kept: to the first, second, … call of one question that asks this.
    pub fn call_key(&self, target: &Target, time: u32) -> String {
        blake3::hash(format!("call {time} {}", self.key(target)).as_bytes()).to_hex().to_string()
    }
}

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Message {
    /// What holds for the whole talk.
    System {
        /// The words.
        text: String,
    },
    /// What is asked.
    User {
        /// The words.
        text: String,
    },
    /// What the model said.
    Assistant {
        /// The words.
        text: String,
        /// The tools that it called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// What a tool answered.
    Tool {
        /// The call that is answered.
        call: String,
        /// The words.
        text: String,
    },
}

impl Message {
    /// What holds for the whole talk.
    pub fn system(text: impl Into<String>) -> Self {
        Self::System { text: text.into() }
    }

    /// What is asked.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// What the model said.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant { text: text.into(), calls: Vec::new() }
    }

    /// The words.
    pub fn text(&self) -> &str {
        match self {
            Self::System { text } | Self::User { text } | Self::Assistant { text, .. } | Self::Tool { text, .. } => {
                text
            }
        }
    }
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// What an answer has to look like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// What it is called.
    pub name: String,
    /// Its JSON Schema.
    pub schema: Value,
}

/// How a model answers. What is not set is left to the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How freely it chooses words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How much of the likely words it considers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// How long the answer may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u32>,
    /// Where the answer stops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// How hard it thinks: `minimal`, `low`, `medium`, `high`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The seed, where the provider takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Which prompt a request comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptUse {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its language.
    pub locale: String,
    /// Which of its variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}
