//! Words to find plans by.

use gantry_core::id::{PlanId, TaskId};
use serde::{Deserialize, Serialize};

use crate::ArtifactRow;
use crate::kept::FILE_LIST;

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
    /// What it is called, where there are several of a kind, such as `stdout@2`; else empty.
    pub name: String,
    /// The part of the text that fits.
    pub snippet: String,
}

/// How many bytes of an artifact are searched: its beginning. All of a large one would cost more than it is worth.
pub const ARTIFACT_TEXT_BYTES_MAX: usize = 8 << 10;

/// Returns the text that an artifact is found by, given the beginning of its content.
///
/// There is none for what is not text, for the parts of something that is still growing, and for lists of files.
pub fn text_of_artifact(row: &ArtifactRow, beginning: &[u8]) -> Option<TextRow> {
    if row.artifact.whole_name().is_some() || row.artifact.name == FILE_LIST {
        return None;
    }
    let beginning = &beginning[..beginning.len().min(ARTIFACT_TEXT_BYTES_MAX)];
    let text = match std::str::from_utf8(beginning) {
        Ok(text) => text,
        // The last character may be cut off.
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&beginning[..error.valid_up_to()]).ok()?,
        Err(_) => return None,
    };
    if text.contains('\0') || words(text).next().is_none() {
        return None;
    }
    Some(TextRow {
        task: Some(row.artifact.task.clone()),
        kind: TextKind::Artifact,
        name: row.versioned_name(),
        text: text.to_owned(),
    })
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
