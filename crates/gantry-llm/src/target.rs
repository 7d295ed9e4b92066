//! Who is asked: one model at one provider, with everything that it takes to call it.

use std::fmt;
use std::time::Duration;

use gantry_core::plan::Money;
use serde::{Deserialize, Serialize};

/// One model at one provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// What the provider is called in the configuration.
    pub provider: String,
    /// How it is spoken to.
    pub protocol: Protocol,
    /// Its address, with a slash at the end.
    pub base_url: String,
    /// Its key, where it takes one.
    pub key: Option<Secret>,
    /// The model.
    pub model: String,
    /// What it costs, where that is known.
    pub price: Option<Price>,
    /// How it may be used.
    pub limits: Limits,
    /// How many tokens it takes in, question and answer together, where that is known.
    pub context: Option<u32>,
    /// It can be made to answer by a JSON Schema.
    pub schemas: bool,
    /// It can call tools.
    pub tools: bool,
    /// Its provider keeps what is said, so that a talk goes on without being told again.
    pub keep: bool,
}

impl Target {
    /// The offline model, which needs no address and no key and costs nothing.
    pub fn offline() -> Self {
        Self {
            provider: "gantry".into(),
            protocol: Protocol::Offline,
            base_url: String::new(),
            key: None,
            model: "offline".into(),
            price: None,
            limits: Limits { retries_max: 0, ..Limits::default() },
            context: None,
            schemas: true,
            tools: false,
            keep: false,
        }
    }

    /// How records and messages call it: `provider:model`.
    pub fn id(&self) -> String {
        format!("{}:{}", self.provider, self.model)
    }
}

/// How a provider is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// `OpenAI`'s Responses.
    OpenaiResponses,
    /// `OpenAI`'s chat completions, which many others speak too.
    OpenaiChat,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// The offline model, which is part of this program.
    Offline,
}

/// Something that is shown to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Tokens that are read.
    pub input: Money,
    /// Tokens that are read from a cache; none means like others.
    #[serde(default)]
    pub cached: Option<Money>,
    /// Tokens that are written.
    pub output: Money,
}

/// How a provider may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls per minute; none means as many as there are.
    pub requests_per_minute: Option<u32>,
    /// Tokens per minute.
    pub tokens_per_minute: Option<u32>,
    /// Calls at once.
    pub concurrent_max: u32,
    /// How long one call may take.
    pub timeout: Duration,
    /// How long nothing may come while an answer is read.
    pub silence: Duration,
    /// How often a call is made again when the trouble may pass.
    pub retries_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_minute: None,
            tokens_per_minute: None,
            concurrent_max: 16,
            timeout: Duration::from_mins(5),
            silence: Duration::from_mins(2),
            retries_max: 3,
        }
    }
}
