//! Everything that can be wrong with a plan, found at once and before it begins.
//!
//! Problems name a task by its index and a field by its path, so that a reader of files can point
//! at the line. They come in reading order.

mod content; // in reading order
mod actions;
mod parts;
mod people;
mod each;
mod graph;
mod names;
mod schedule;
mod tools;

pub(crate) use content::HYPOTHESES_MAX;
pub(crate) use graph::{DEPTH_MAX, LOOPS_MAX, deploys};

use super::Plan;
use crate::suggest::nearest;
pub(super) use names::might_be_meant_as_expression;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The plan must not begin.
    Error,
    /// It may, but a person should look.
    Warning,
}

/// Where a problem is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The index in [`Plan::tasks`]; none means the plan itself.
    pub task: Option<usize>,
    /// The field, such as `depends_on.1` or `next.0.to`; empty means the whole.
    pub path: String,
    /// Where in the plan that stands there, when it is in a plan inside.
    pub inside: Option<Box<Location>>,
}

impl Location {
    /// Makes a place in a plan: a task by its index, or the plan itself, and a field by its path.
    pub fn new(task: Option<usize>, path: impl Into<String>) -> Self {
        Self { task, path: path.into(), inside: None }
    }
}

impl<P: AsRef<str>> From<(Option<usize>, P)> for Location {
    fn from((task, path): (Option<usize>, P)) -> Self {
        Self::new(task, path.as_ref())
    }
}

impl From<&Self> for Location {
    fn from(place: &Self) -> Self {
        place.clone()
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// A stable code, such as `plan::unknown-dependency`.
    pub code: &'static str,
    /// Where it is.
    pub place: Location,
    /// What is wrong, as a lowercase fragment.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Collects problems.
pub(super) struct Findings {
    problems: Vec<Problem>,
    /// Finding the nearest name looks at every name, so only the first problems get a suggestion.
    suggestions_left: u32,
}

/// How many problems get a suggestion.
const SUGGESTIONS_MAX: u32 = 20;

impl Findings {
    /// Asks whether the nearest known name was meant.
    fn suggest<'n>(&mut self, name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
        self.suggestions_left = self.suggestions_left.checked_sub(1)?;
        nearest(name, known).map(|near| format!("did you mean `{near}`?"))
    }

    fn add(
        &mut self,
        severity: Severity,
        code: &'static str,
        place: impl Into<Location>,
        message: String,
    ) -> &mut Problem {
        self.problems.push(Problem { severity, code, place: place.into(), message, hint: None });
        let last = self.problems.len() - 1;
        &mut self.problems[last]
    }

    /// Tells whether tasks were found that wait for, or contain, each other.
    fn has_cycle(&self) -> bool {
        let codes = ["plan::cycle", "plan::parent-cycle", "plan::self-dependency", "plan::ancestor-dependency"];
        self.problems.iter().any(|problem| codes.contains(&problem.code))
    }

    fn error(&mut self, code: &'static str, place: impl Into<Location>, message: String) -> &mut Problem {
        self.add(Severity::Error, code, place, message)
    }

    fn warning(&mut self, code: &'static str, place: impl Into<Location>, message: String) -> &mut Problem {
        self.add(Severity::Warning, code, place, message)
    }
}

impl Problem {
    fn hint(&mut self, hint: impl Into<String>) {
        self.hint = Some(hint.into());
    }
}

/// Says everything that is wrong with the plan.
pub(super) fn check(plan: &Plan) -> Vec<Problem> {
    let mut findings = Findings { problems: Vec::new(), suggestions_left: SUGGESTIONS_MAX };
    content::check(plan, &mut findings);
    graph::check(plan, &mut findings);
    schedule::check(plan, &mut findings);
    let mut problems = findings.problems;
    problems.sort_by(|a, b| a.place.cmp(&b.place).then(a.severity.cmp(&b.severity)));
    problems
}
