//! The health of a schedule, for people and for programs.

use std::fmt::Write as _;

use gantry_schedule::{Bound, Check, Project, Schedule, health};
use serde::Serialize;

use crate::show::style::{self, paint};
use crate::show::table::{self, Cell, cell};
use crate::show::{first_line, plain};

/// So many tasks are named in a line.
const NAMES_MAX: usize = 4;

/// A schedule with its checks, for programs.
#[derive(Serialize)]
pub struct WithHealth<'a> {
    #[serde(flatten)]
    schedule: &'a Schedule,
    health: Vec<Check>,
}

impl<'a> WithHealth<'a> {
    /// A schedule and how sound it is.
    pub fn of(schedule: &'a Schedule, project: &Project) -> Self {
        Self { schedule, health: health(project, schedule) }
    }
}

/// The 14 checks, one line each.
pub fn page(schedule: &Schedule, project: &Project) -> String {
    let checks = health(project, schedule);
    let mut page = String::new();
    let name = if schedule.name.is_empty() { "schedule" } else { &schedule.name };
    let _ = writeln!(page, "{}", paint(style::STRONG, plain(&first_line(name, 200))));
    let passed = checks.iter().filter(|check| check.passed).count();
    let _ = writeln!(page, "{passed} of {} checks passed", checks.len());
    let heading = ["", "check", "found", "limit", "", ""].map(|name| cell(style::FAINT, name));
    let rows = checks.iter().enumerate().map(|(at, check)| row(at + 1, check));
    page += &table::draw("  ", &std::iter::once(heading.into()).chain(rows).collect::<Vec<_>>(), table::width());
    page
}

fn row(number: usize, check: &Check) -> Vec<Cell> {
    let amount = |value: f64| {
        let unit = if check.unit == "%" { " %" } else { "" };
        format!("{value}{unit}")
    };
    let side = match check.bound {
        Bound::AtMost => "≤",
        Bound::AtLeast => "≥",
    };
    let (said, tone) = if check.passed { ("ok", style::GOOD) } else { ("FAILS", style::BAD) };
    vec![
        cell(style::FAINT, format!("{number:>2}")),
        cell(style::PLAIN, check.title),
        cell(style::PLAIN, amount(check.value)),
        cell(style::FAINT, format!("{side} {}", amount(check.limit))),
        cell(tone, said),
        cell(style::FAINT, about(check)),
    ]
}

/// The tasks that fail it, and what else there is to know.
fn about(check: &Check) -> String {
    if let Some(note) = &check.note {
        return plain(note);
    }
    let names: Vec<String> = check.tasks.iter().take(NAMES_MAX).map(|id| plain(&first_line(id, 30))).collect();
    let more = check.tasks.len() > NAMES_MAX || check.count > check.tasks.len().max(NAMES_MAX);
    names.join(", ") + if more { ", …" } else { "" }
}
