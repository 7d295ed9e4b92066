//! A task: what is to be done, after what, for how long, by whom, and how far it is.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::cost::Cost;
use super::estimate::Estimate;
use super::is_default;
use super::length::Length;
use super::link::Link;
use super::money::Money;
use super::resource::Need;
use super::when::When;

/// A piece of work, a milestone (no estimate) or a summary (others name it as parent).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Its name, unique in the project.
    pub id: String,
    /// What people call it; the id when empty.
    #[serde(default, skip_serializing_if = "is_default")]
    pub title: String,
    /// The summary that contains it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parent: Option<String>,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub after: Vec<Link>,
    /// How long it takes; none is a milestone, or a summary when it has parts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub estimate: Option<Estimate>,
    /// The class of past work whose record corrects the estimate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub class: Option<String>,
    /// When it is worked on; none means when its people work, or as the project says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calendar: Option<String>,
    /// Not before this.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_no_earlier: Option<When>,
    /// When it must, or should, be done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deadline: Option<Deadline>,
    /// The people and equipment it occupies.
    #[serde(default, skip_serializing_if = "is_default")]
    pub needs: Vec<Need>,
    /// What it costs beside its people.
    #[serde(default, skip_serializing_if = "is_default")]
    pub costs: Vec<Cost>,
    /// Higher gets contested people first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority: i32,
    /// How far it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub progress: Progress,
    /// What was once agreed; none means as planned without progress.
    #[serde(default, skip_serializing_if = "is_default")]
    pub baseline: Option<Baseline>,
}

impl Task {
    /// A milestone: a task that takes no time.
    pub fn milestone(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// A task of this length.
    pub fn new(id: impl Into<String>, estimate: Length) -> Self {
        Self { id: id.into(), estimate: Some(Estimate::fixed(estimate)), ..Self::default() }
    }

    /// The same task after another; written as in a file, such as `"design SS+2d"`.
    ///
    /// # Panics
    /// When the text is not a link: this is for programs that know their links.
    #[must_use]
    pub fn after(mut self, link: &str) -> Self {
        self.after.push(link.parse().expect("a link written in a program is right"));
        self
    }

    /// The same task inside a summary.
    #[must_use]
    pub fn within(self, parent: impl Into<String>) -> Self {
        Self { parent: Some(parent.into()), ..self }
    }

    /// The same task, occupying someone too.
    #[must_use]
    pub fn needs(mut self, need: Need) -> Self {
        self.needs.push(need);
        self
    }
}

/// A point in time to be done by, written `2026-06-30` (soft) or `2026-06-30 hard`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Deadline {
    /// By when.
    pub at: When,
    /// Missing a hard deadline makes the project infeasible; missing a soft one is told.
    pub hard: bool,
}

impl FromStr for Deadline {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (at, hard) = match text.trim().strip_suffix("hard") {
            Some(at) => (at, true),
            None => (text.trim().strip_suffix("soft").unwrap_or(text), false),
        };
        Ok(Self { at: at.trim().parse()?, hard })
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.at, if self.hard { " hard" } else { "" })
    }
}

impl<'de> Deserialize<'de> for Deadline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Whole {
            at: When,
            #[serde(default)]
            hard: bool,
        }
        let value = serde_json::Value::deserialize(deserializer)?;
        match value {
            serde_json::Value::String(text) => text.parse().map_err(serde::de::Error::custom),
            serde_json::Value::Number(number) => number.to_string().parse().map_err(serde::de::Error::custom),
            other => serde_json::from_value(other)
                .map(|Whole { at, hard }| Self { at, hard })
                .map_err(|e| serde::de::Error::custom(e.to_string())),
        }
    }
}

/// How far a task is. Nothing given means not started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// When it really started.
    #[serde(default, skip_serializing_if = "is_default")]
    pub started: Option<When>,
    /// When it really finished.
    #[serde(default, skip_serializing_if = "is_default")]
    pub finished: Option<When>,
    /// How much of it is done, 0 to 100.
    #[serde(default, skip_serializing_if = "is_default")]
    pub percent: Option<u8>,
    /// How much longer it will take; none means by percent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub remaining: Option<Length>,
    /// What it has cost so far, with everything that was bought for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cost: Option<Money>,
}

/// What was agreed for a task before work began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The agreed start.
    pub start: When,
    /// The agreed finish.
    pub finish: When,
    /// The agreed cost.
    pub cost: Money,
}
