//! What can be wrong with a prompt.

use std::fmt;

/// What is wrong with a prompt, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFault {
    /// The file.
    pub file: String,
    /// The line, from 1; none when it is about the file as a whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl PromptFault {
    /// Something is wrong with a file.
    pub fn new(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, message: message.into(), hint: None }
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What is wrong, where, and what to do about it, in one line.
    pub fn in_words(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("{self}{hint}")
    }
}

impl fmt::Display for PromptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for PromptFault {}
