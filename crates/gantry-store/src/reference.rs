//! How people call a plan: its id, its number, the beginning of its id, or `@last`.

use crate::PlanNo;

/// How many plans an error names at most.
pub const CANDIDATES_MAX: usize = 10;

/// What every minted id begins with, so that people need not type it.
const MINTED: &str = "plan-";

/// A plan as people call it. An id that fits in whole comes before everything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// `@last`: the plan that was created last; plans inside plans do not count.
    Last,
    /// Digits: the plan's number.
    No(PlanNo),
    /// Anything else: the beginning of an id.
    Prefix(String),
}

impl Reference {
    /// Reads what someone typed.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        match text.parse() {
            _ if text == "@last" => Self::Last,
            Ok(no) => Self::No(PlanNo(no)),
            Err(_) => Self::Prefix(text.to_owned()),
        }
    }

    /// Returns the beginnings of ids that a text stands for.
    pub fn prefixes(text: &str) -> [String; 2] {
        [text.to_owned(), format!("{MINTED}{text}")]
    }
}
