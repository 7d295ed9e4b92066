//! What can be wrong with a configuration.

use std::fmt;

use super::origin::Origin;

/// More faults than this are counted, not kept: a person reads the first few.
const FAULTS_MAX: usize = 50;

/// Everything that is wrong with a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigError {
    /// What is wrong, in the order in which it was found.
    pub faults: Vec<ConfigFault>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// Where: `file:line:column`, the name of a variable, or an option.
    pub place: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Line and column, to tell what comes first in a file.
    pub(super) order: (usize, usize),
}

impl ConfigFault {
    /// Something is wrong.
    pub fn new(message: impl Into<String>) -> Self {
        Self { place: None, message: message.into(), hint: None, order: (0, 0) }
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, origin: &Origin) -> Self {
        self.place = match origin {
            Origin::BuiltIn | Origin::Request => None,
            said => Some(said.place()),
        };
        if let Origin::File { line, column, .. } = origin {
            self.order = (*line, *column);
        }
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl ConfigError {
    /// Adds a fault, once.
    pub fn push(&mut self, fault: ConfigFault) {
        if self.faults.len() < FAULTS_MAX && !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// What to do about it, each advice once.
    pub fn hint(&self) -> Option<String> {
        let mut hints: Vec<&str> = Vec::new();
        for hint in self.faults.iter().filter_map(|fault| fault.hint.as_deref()) {
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
        (!hints.is_empty()).then(|| hints.join("\nhint: "))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

impl From<ConfigFault> for ConfigError {
    fn from(fault: ConfigFault) -> Self {
        Self { faults: vec![fault] }
    }
}
