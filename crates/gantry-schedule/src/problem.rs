//! What is wrong with a project that cannot be scheduled at all: where, what, and what to do.

use std::fmt;

use serde::Serialize;

/// One thing that must be put right before there can be a schedule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Where, as a path such as `task.build.after`.
    pub at: String,
    /// What sort of problem it is.
    pub kind: ProblemKind,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub fix: String,
}

/// Sorts of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProblemKind {
    /// Two things have one id.
    Duplicate,
    /// Something is named that is not there.
    Unknown,
    /// Tasks wait for each other in a circle, or contain each other.
    Cycle,
    /// A value makes no sense.
    Value,
    /// Calendars leave no time to work.
    Calendar,
}

impl Problem {
    pub(crate) fn new(
        at: impl Into<String>,
        kind: ProblemKind,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { at: at.into(), kind, what: what.into(), fix: fix.into() }
    }

    pub(crate) fn unknown(at: impl Into<String>, sort: &str, name: &str, known: &[&str]) -> Self {
        let words: Vec<&str> = name.split_whitespace().collect();
        let fix = match nearest(name, known) {
            _ if words.len() > 1 && words.iter().all(|word| known.contains(word)) => {
                format!("several are written with commas: `{}`", words.join(", "))
            }
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("add a {sort} with this id, or name one that is there"),
        };
        Self::new(at, ProblemKind::Unknown, format!("there is no {sort} `{name}`"), fix)
    }

    pub(crate) fn value(at: impl Into<String>, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new(at, ProblemKind::Value, what, fix)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.at, self.what, self.fix)
    }
}

impl std::error::Error for Problem {}

/// The name that differs least, if it differs by no more than two letters, or a third of a long name.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let length = name.chars().count();
    let close = if length < 4 { 1 } else { (length / 3).max(2) };
    let near = known.iter().map(|other| (distance(name, other), *other)).min()?;
    (near.0 <= close).then_some(near.1)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
