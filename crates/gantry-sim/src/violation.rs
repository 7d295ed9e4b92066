//! What a checker says when a rule is broken.

use std::fmt;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule, as a sentence.
    pub rule: &'static str,
    /// What broke it.
    pub detail: String,
}

/// What a step of a run gives, unless a rule is broken.
pub type Outcome<T = ()> = Result<T, Violation>;

impl Violation {
    /// Makes a violation.
    pub fn new(rule: &'static str, detail: impl Into<String>) -> Self {
        Self { rule, detail: detail.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken rule: {}: {}", self.rule, self.detail)
    }
}
