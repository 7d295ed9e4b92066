//! Words to find plans by.

use gantry_core::id::{PlanId, TaskId};
use serde::{Deserialize, Serialize};

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// The title and the objective of a plan.
    Title,
    /// A task.
    Task,
    /// An artifact.
    Artifact,
}

impl TextKind {
    /// Returns the word that is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Task => "task",
            Self::Artifact => "artifact",
        }
    }
    /// Reads the word that is stored.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Title, Self::Task, Self::Artifact].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// A text to search; it takes the place of the one with the same task, kind and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRow {
    /// The task that it is about; none means the plan.
    pub task: Option<TaskId>,
    /// What it is.
    pub kind: TextKind,
    /// What it is called, where there are several of a kind; else empty.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The plan.
    pub plan: PlanId,
    /// The task; none means the plan.
    pub task: Option<TaskId>,
    /// What the text is.
    pub kind: TextKind,
    /// The part of the text that fits.
    pub snippet: String,
}

/// How many words of a query count.
const QUERY_WORDS_MAX: usize = 20;

/// Splits a text into what is searched: runs of letters and digits, in lower case.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns the words that a query asks for: a text fits if each of them begins one of its words.
pub fn query_words(query: &str) -> Vec<String> {
    words(query).take(QUERY_WORDS_MAX).collect()
}
