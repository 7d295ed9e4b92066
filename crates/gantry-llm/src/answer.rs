//! What a model answers.

use gantry_core::plan::Money;
use gantry_core::policy::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What one provider said to one call, as it said it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The words.
    pub text: String,
    /// What it thought, where the provider shows it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The tools that it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// What it used; none when the provider reports nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Why it stopped.
    pub finish: Finish,
    /// What the provider calls this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model that really answered.
    pub model: String,
}

/// A tool that a model calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What the call is called.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// With which arguments.
    pub args: Value,
}

/// What an answer used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// What was read.
    pub input: u64,
    /// What of it came from a cache of the provider.
    #[serde(default)]
    pub cached: u64,
    /// What was written, thoughts included.
    pub output: u64,
    /// What of it were thoughts.
    #[serde(default)]
    pub reasoning: u64,
}

impl Tokens {
    /// In and out.
    pub fn all(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Adds, stopping at the largest number.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

/// Why a model stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It had said everything.
    #[default]
    Done,
    /// There was no room for more.
    Length,
    /// It calls tools.
    Tools,
    /// It, or its provider, would not answer.
    Refused,
    /// Something else, in the words of the provider.
    Other(String),
}

/// What the gateway gives back: an answer that holds, and how it came about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The words.
    pub text: String,
    /// The value, when the request has a shape; it fits the shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The tools that it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish: Finish,
    /// What the provider calls this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model that was asked first, as `provider:model`.
    pub asked: String,
    /// The model that really answered.
    pub model: String,
    /// What was used in all, by every call that was made for this answer.
    pub tokens: Tokens,
    /// The provider did not say what was used, at least once: it is a guess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens_guessed: bool,
    /// What it cost in all.
    pub cost_usd: Money,
    /// How many calls were made for it; none when the answer was recorded before.
    pub calls_made: u64,
    /// What was done to the words of the model before they held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// Why another than the model asked first has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
}

impl Answer {
    /// Tells whether the offline model has answered: it says what it is in its name.
    pub fn is_offline(&self) -> bool {
        self.model.starts_with("gantry-offline") || self.model.starts_with("vdos-stub")
    }

    /// What counts against budgets.
    pub fn usage(&self) -> Usage {
        Usage { cost_usd: self.cost_usd, model_calls: self.calls_made, tokens: self.tokens.all(), nodes: 0 }
    }
}

/// One thing that was done to make an answer hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// The value stood in a fence of Markdown.
    Fence,
    /// There were words before or after the value.
    Prose,
    /// Something of its notation was mended: commas, quotes, comments.
    Notation(String),
    /// A word was one of the allowed ones but for its case.
    Case(String),
    /// The answer was cut off, and the model went on.
    Continued,
    /// The answer was too long for one go, and came in this many parts.
    Split(u32),
    /// A part began with this many items that were there already; they are left out.
    Overlap(u32),
    /// The faults were shown to the model, and it answered again.
    FedBack(Vec<String>),
    /// The next model of the chain was asked.
    NextModel(String),
}
