//! The health of a schedule: the 14 checks of the Defense Contract Management Agency (DCMA), each beside its formula.
//!
//! A task here is a leaf that takes time: summaries and milestones are left out, as the DCMA does. A task is open until all
//! of it is done. A link counts as long as the task that waits is open. The limits are tripwires: to fail a check is a
//! reason to look, no proof that a plan is wrong. Follows DCMA-EA PAM 200.1 (October 2012), section 4.

mod links; // in reading order
mod tasks;
mod dates;
mod path;

use std::collections::BTreeMap;

use serde::Serialize;

pub(crate) use path::{PathTest, path_test};

use crate::model::{HORIZON_FIRST, Model};
use crate::project::{Project, Task};
use crate::schedule::{Basis, Schedule, TaskRow};

/// So many tasks that fail a check are named.
const NAMED_MAX: usize = 20;

/// One of the 14 checks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What programs call it.
    pub id: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Whether the value keeps the limit.
    pub passed: bool,
    /// What was found, with at most two places.
    pub value: f64,
    /// What the value is held against.
    pub limit: f64,
    /// Whether the limit is the most or the least.
    pub bound: Bound,
    /// `%`, or `index` for a ratio.
    pub unit: &'static str,
    /// What to know beside the value, above all when there was nothing to measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How many tasks or links fail it.
    pub count: usize,
    /// The first tasks that fail it, in the order of the project, each once; for a link the task that waits.
    pub tasks: Vec<String>,
}

/// On which side of a limit a value is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The limit is the highest good value.
    AtMost,
    /// The limit is the lowest good value.
    AtLeast,
}

impl Check {
    fn new(id: &'static str, title: &'static str, unit: &'static str, bound: Bound, limit: f64, value: f64) -> Self {
        let passed = match bound {
            Bound::AtMost => value <= limit,
            Bound::AtLeast => value >= limit,
        };
        let value = (value * 100.0).round() / 100.0;
        Self { id, title, passed, value, limit, bound, unit, note: None, count: 0, tasks: Vec::new() }
    }

    /// At most `limit` percent of `of` may be among `found`.
    fn share(id: &'static str, title: &'static str, limit: f64, found: &[&str], of: usize) -> Self {
        Self::new(id, title, "%", Bound::AtMost, limit, percent(found.len(), of, 0.0)).naming(found)
    }

    fn naming(mut self, found: &[&str]) -> Self {
        self.count = found.len();
        for id in found {
            if self.tasks.len() < NAMED_MAX && self.tasks.last().is_none_or(|last| last != id) {
                self.tasks.push((*id).to_owned());
            }
        }
        self
    }

    /// The same check with a word beside it, if there is one to say.
    fn noted(self, note: Option<impl Into<String>>) -> Self {
        Self { note: note.map(Into::into), ..self }
    }
}

#[expect(clippy::cast_precision_loss, reason = "no project has so many tasks")]
fn percent(part: usize, whole: usize, of_nothing: f64) -> f64 {
    if whole == 0 { of_nothing } else { 100.0 * part as f64 / whole as f64 }
}

/// A task that the checks look at.
struct Subject<'a> {
    given: &'a Task,
    row: &'a TaskRow,
}

impl Subject<'_> {
    fn is_open(&self) -> bool {
        self.row.percent < 100
    }
}

/// Everything the checks look at.
struct Case<'a> {
    project: &'a Project,
    schedule: &'a Schedule,
    model: Model<'a>,
    rows: BTreeMap<&'a str, &'a TaskRow>,
    /// Leaves that take time, in the order of the project.
    subjects: Vec<Subject<'a>>,
}

impl<'a> Case<'a> {
    fn new(project: &'a Project, schedule: &'a Schedule) -> Option<Self> {
        let model = Model::new(project, Basis::default(), HORIZON_FIRST).ok()?;
        let rows: BTreeMap<&str, &TaskRow> = schedule.tasks.iter().map(|row| (&*row.id, row)).collect();
        let takes_time = |task: &&Task| {
            let summary = model.is_summary(model.place(&task.id));
            !summary && task.estimate.is_some_and(|estimate| !estimate.high.is_zero())
        };
        let subject = |given: &'a Task| rows.get(&*given.id).map(|row| Subject { given, row });
        let subjects = project.tasks.iter().filter(takes_time).filter_map(subject).collect();
        Some(Self { project, schedule, model, rows, subjects })
    }

    fn open(&self) -> impl Iterator<Item = &Subject<'a>> {
        self.subjects.iter().filter(|subject| subject.is_open())
    }

    /// The share of open tasks of which something is true may be this many percent.
    fn open_share(
        &self,
        id: &'static str,
        title: &'static str,
        limit: f64,
        bad: impl Fn(&Subject<'a>) -> bool,
    ) -> Check {
        let found: Vec<&str> = self.open().filter(|subject| bad(subject)).map(|subject| &*subject.given.id).collect();
        let open = self.open().count();
        Check::share(id, title, limit, &found, open).noted((open == 0).then_some("no task is open"))
    }
}

/// The 14 checks of the DCMA, in its order. `schedule` is the schedule of this project; for a project that cannot be
/// scheduled there are no checks.
pub fn health(project: &Project, schedule: &Schedule) -> Vec<Check> {
    let Some(case) = Case::new(project, schedule) else { return Vec::new() };
    let [leads, lags, kinds] = links::of_links(&case);
    let [missed, execution] = dates::against_the_baseline(&case);
    vec![
        links::logic(&case),
        leads,
        lags,
        kinds,
        tasks::hard_constraints(&case),
        tasks::high_float(&case),
        tasks::negative_float(&case),
        tasks::high_duration(&case),
        dates::invalid(&case),
        tasks::resources(&case),
        missed,
        path::test(&case),
        path::length_index(&case),
        execution,
    ]
}
