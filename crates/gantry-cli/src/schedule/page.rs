//! A schedule for people: what matters first, then task by task, then chance and money.

mod money;

use std::fmt::Write as _;

use gantry_schedule::project::Unit;
use gantry_schedule::{DriverKind, Moment, Project, Schedule, TaskKind, TaskRow, WhatIf};

use serde_json::Value;

use crate::file::count;
use crate::show::style::{self, paint};
use crate::show::table::{self, Cell, cell};
use crate::show::{first_line, plain};

/// So many tasks are shown; a table with more belongs into a file.
const TASKS_MAX: usize = 60;
/// So many drivers are shown.
const DRIVERS_MAX: usize = 5;
/// So many troubles of one sort are shown.
const TROUBLES_MAX: usize = 8;

/// Everything on one page.
pub fn page(schedule: &Schedule, project: &Project) -> String {
    let mut page = String::new();
    let name = if schedule.name.is_empty() { "schedule" } else { &schedule.name };
    let _ = writeln!(page, "{}", paint(style::STRONG, plain(&first_line(name, 200))));
    page += &table::draw("  ", &summary(schedule), table::width());
    page += &troubles(schedule, project);
    page += "tasks:\n";
    page += &table::draw("  ", &rows(schedule), table::width());
    let more = schedule.tasks.len().saturating_sub(TASKS_MAX);
    if more > 0 {
        let _ = writeln!(page, "  … and {more} more; `--csv` and `--json` have all of them");
    }
    page += &drivers(schedule);
    page += &money::earned_value(schedule);
    page += &money::cash_flow(schedule);
    page
}

fn summary(schedule: &Schedule) -> Vec<Vec<Cell>> {
    let unit = unit(schedule);
    let mut rows = vec![
        line("start", schedule.start.told()),
        line("finish", schedule.finish.told()),
        line("length", format!("{} of work", counted(&schedule.makespan.to_string(), &unit))),
    ];
    if let Some(futures) = &schedule.monte_carlo {
        let finish = &futures.finish;
        let each = [("P10", finish.p10), ("P50", finish.p50), ("P80", finish.p80), ("P95", finish.p95)];
        rows.push(line("likely", each.map(|(name, at)| format!("{name} {}", briefly(schedule, at))).join(", ")));
    }
    let mut verdicts: Vec<_> = schedule.deadlines.iter().collect();
    verdicts.sort_by_key(|verdict| (verdict.task.is_some(), verdict.met));
    for verdict in verdicts.into_iter().take(TROUBLES_MAX) {
        let chance = verdict.probability.map_or(String::new(), |share| {
            format!(", {}in {:.0} % of futures", if verdict.met { "" } else { "kept " }, share * 100.0)
        });
        let said = if verdict.met { "kept" } else { "MISSED" };
        let margin = counted(&verdict.margin.to_string(), &unit);
        let margin = if verdict.met { format!("with {margin} to spare") } else { format!("by {margin}") };
        let whose =
            verdict.task.as_ref().map_or(String::new(), |task| format!("`{}` by ", plain(&first_line(task, 40))));
        rows.push(line("deadline", format!("{whose}{}: {said} {margin}{chance}", verdict.at.told_as_due())));
    }
    rows.extend(more(schedule.deadlines.len(), "deadline").map(|more| line("", more)));
    rows.extend(money::summary(schedule).into_iter().map(|(name, said)| line(name, said)));
    let critical = schedule.tasks.iter().filter(|task| task.critical && task.kind != TaskKind::Summary).count();
    rows.push(line("critical", format!("{}: {}", count(critical, "task"), path(&schedule.critical_path))));
    let near: Vec<String> =
        schedule.tasks.iter().filter(|task| is_near(task)).map(|task| plain(&first_line(&task.id, 40))).collect();
    if !near.is_empty() {
        let shown = near.iter().take(TROUBLES_MAX).cloned().collect::<Vec<_>>().join(", ");
        let rest = if near.len() > TROUBLES_MAX { ", …" } else { "" };
        rows.push(line("nearly", format!("{}: {shown}{rest}", count(near.len(), "task"))));
    }
    if let Some(search) = &schedule.optimiser {
        let tried = format!("{} tried", counted(&search.schedules.to_string(), "schedule"));
        let bound = if search.proven { "this one".to_owned() } else { counted(&search.lower_bound.to_string(), &unit) };
        rows.push(line("search", format!("{tried}; none is shorter than {bound}")));
    }
    rows
}

/// Whether a task with little float is one that people look at by itself.
fn is_near(task: &TaskRow) -> bool {
    task.near_critical && task.kind != TaskKind::Summary
}

fn line(name: &str, said: String) -> Vec<Cell> {
    vec![cell(style::FAINT, name), cell(style::PLAIN, said)]
}

/// The first tasks of a path and its last.
fn path(tasks: &[String]) -> String {
    const SHOWN: usize = 6;
    let name = |id: &String| plain(&first_line(id, 40));
    if tasks.len() <= SHOWN {
        return tasks.iter().map(name).collect::<Vec<_>>().join(" → ");
    }
    let first: Vec<String> = tasks[..SHOWN - 1].iter().map(name).collect();
    format!("{} → … → {}", first.join(" → "), tasks.last().map(name).unwrap_or_default())
}

/// What cannot be kept, and what is odd.
fn troubles(schedule: &Schedule, project: &Project) -> String {
    let mut lines = Vec::new();
    for found in &schedule.infeasible {
        let width = table::width().saturating_sub(2);
        lines.extend(table::wrap(&plain(&found.what), width).into_iter().map(|line| paint(style::BAD, line)));
        lines.extend(found.fixes.iter().take(3).map(|fix| format!("  {}", plain(&fix.what))));
    }
    for overload in schedule.overloads.iter().take(TROUBLES_MAX) {
        lines.push(format!(
            "`{}` has {} to do and can do {}, from {} to {}",
            plain(&overload.resource),
            overload.used,
            overload.capacity,
            overload.from.told(),
            overload.to.told()
        ));
    }
    lines.extend(more(schedule.overloads.len(), "over-allocation"));
    lines.extend(schedule.warnings.iter().take(TROUBLES_MAX).map(|warning| match &warning.task {
        Some(task) => format!("`{}`: {}", plain(task), plain(&warning.what)),
        None => plain(&warning.what),
    }));
    lines.extend(more(schedule.warnings.len(), "warning"));
    let contains = |id: &str| project.tasks.iter().any(|task| task.parent.as_deref() == Some(id));
    let unknown = project.tasks.iter().filter(|task| task.estimate.is_none() && !contains(&task.id)).count();
    if unknown > 0 && unknown == project.tasks.iter().filter(|task| !contains(&task.id)).count() {
        lines.push("no task has an estimate, so everything takes no time; give tasks an `estimate`".to_owned());
    }
    if lines.is_empty() {
        return String::new();
    }
    let width = table::width().saturating_sub(2);
    let whole = |line: &String| if line.contains('\u{1b}') { vec![line.clone()] } else { table::wrap(line, width) };
    let lines = lines.iter().flat_map(whole);
    lines.fold("mind:\n".to_owned(), |page, line| page + "  " + &line + "\n")
}

fn more(all: usize, noun: &str) -> Option<String> {
    let left = all.saturating_sub(TROUBLES_MAX);
    (left > 0).then(|| format!("… and {} more, which `--json` has", count(left, noun)))
}

fn rows(schedule: &Schedule) -> Vec<Vec<Cell>> {
    let heading = ["task", "start", "finish", "float", "who"].map(|name| cell(style::FAINT, name));
    std::iter::once(heading.into())
        .chain(schedule.tasks.iter().take(TASKS_MAX).map(|task| row(schedule, task)))
        .collect()
}

fn row(schedule: &Schedule, task: &TaskRow) -> Vec<Cell> {
    let parent = |id: &str| schedule.tasks.iter().find(|task| task.id == id).and_then(|task| task.parent.as_deref());
    let depth = std::iter::successors(task.parent.as_deref(), |id| parent(id)).take(20).count();
    let mark = match task.kind {
        TaskKind::Milestone => "◆ ",
        TaskKind::Task | TaskKind::Summary => "",
    };
    let style = if task.critical { style::STRONG } else { style::PLAIN };
    let who: Vec<String> = task.resources.iter().map(|assigned| plain(&first_line(&assigned.id, 30))).collect();
    let float = match task.percent {
        100 => "done".to_owned(),
        _ if task.critical => "critical".to_owned(),
        _ => counted(&task.float.to_string(), &unit(schedule)),
    };
    vec![
        cell(style, format!("{}{mark}{}", "  ".repeat(depth), plain(&first_line(&task.id, 60)))),
        cell(style::PLAIN, task.start.told()),
        cell(style::PLAIN, task.finish.told()),
        cell(if task.critical { style::BAD } else { style::PLAIN }, float),
        cell(style::FAINT, who.join(", ")),
    ]
}

fn drivers(schedule: &Schedule) -> String {
    let Some(futures) = schedule.monte_carlo.as_ref().filter(|futures| !futures.drivers.is_empty()) else {
        return String::new();
    };
    let unit = unit(schedule);
    let rows: Vec<Vec<Cell>> = futures
        .drivers
        .iter()
        .filter(|driver| driver.swing.in_thousandths() != 0)
        .take(DRIVERS_MAX)
        .map(|driver| {
            let sort = match driver.kind {
                DriverKind::Task => "",
                DriverKind::Class => " (class)",
                DriverKind::Risk => " (risk)",
            };
            let (low, high) = (briefly(schedule, driver.low_finish), briefly(schedule, driver.high_finish));
            vec![
                cell(style::PLAIN, plain(&first_line(&driver.id, 40)) + sort),
                cell(style::PLAIN, counted(&driver.swing.to_string(), &unit)),
                cell(style::FAINT, format!("{low} if it goes well, {high} if not")),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("what moves the finish most:\n{}", table::draw("  ", &rows, table::width()))
}

/// A value in a few words; what says something in words of its own is those.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => plain(&first_line(text, 40)),
        Value::Array(list) if list.is_empty() => "nothing".to_owned(),
        Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join("; "),
        Value::Object(fields) if fields.contains_key("what") => {
            plain(&first_line(fields["what"].as_str().unwrap_or_default(), 120))
        }
        other => plain(&first_line(&other.to_string(), 40)),
    }
}

/// What would be different.
pub fn differences(found: &WhatIf) -> String {
    if found.difference.is_empty() {
        return "nothing would be different\n".to_owned();
    }
    let rows: Vec<Vec<Cell>> = found
        .difference
        .iter()
        .map(|change| {
            vec![
                cell(style::STRONG, plain(&change.path)),
                cell(style::FAINT, shown(&change.before)),
                cell(style::PLAIN, format!("→ {}", shown(&change.after))),
            ]
        })
        .collect();
    table::draw("", &rows, table::width())
}

/// What times are counted in, as one word.
pub(super) fn unit(schedule: &Schedule) -> String {
    serde_json::to_value(schedule.unit).ok().and_then(|unit| unit.as_str().map(str::to_owned)).unwrap_or_default()
}

/// So many of something.
pub(super) fn counted(number: &str, noun: &str) -> String {
    if number == "1" { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The day, or where hours matter the hour; for lines with several.
fn briefly(schedule: &Schedule, moment: Moment) -> String {
    let form = match schedule.unit {
        Unit::Second => "%m-%d %H:%M:%S",
        Unit::Minute | Unit::Hour => "%m-%d %H:%M",
        Unit::Day | Unit::Week | Unit::Month | Unit::Year | Unit::Period => "%Y-%m-%d",
    };
    match moment {
        Moment::Count(count) => count.to_string(),
        Moment::Date(instant, offset) => offset.to_datetime(instant).strftime(form).to_string(),
    }
}
