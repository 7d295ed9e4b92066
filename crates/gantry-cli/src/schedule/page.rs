//! A schedule for people: what matters first, then task by task.

use std::fmt::Write as _;

use gantry_schedule::{Moment, Project, Schedule, TaskKind, TaskRow, WhatIf};

use crate::exit::Fault;
use crate::file::count;
use crate::show::style::{self, paint};
use crate::show::table::{self, Cell, cell};
use crate::show::{first_line, plain};

/// So many tasks are shown; a table with more belongs into a file.
const TASKS_MAX: usize = 60;
/// So many drivers are shown.
const DRIVERS_MAX: usize = 5;

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
    page
}

fn summary(schedule: &Schedule) -> Vec<Vec<Cell>> {
    let unit = unit(schedule);
    let mut rows = vec![
        line("start", when(schedule.start)),
        line("finish", when(schedule.finish)),
        line("length", format!("{} of work", counted(&schedule.makespan.to_string(), &unit))),
    ];
    if let Some(futures) = &schedule.monte_carlo {
        let finish = &futures.finish;
        rows.push(line(
            "likely",
            format!("P50 {}, P80 {}, P95 {}", when(finish.p50), when(finish.p80), when(finish.p95)),
        ));
    }
    for verdict in schedule.deadlines.iter().filter(|verdict| verdict.task.is_none()) {
        let chance =
            verdict.probability.map_or(String::new(), |share| format!(", kept in {:.0} % of futures", share * 100.0));
        let said = if verdict.met { "kept" } else { "MISSED" };
        let margin = counted(&verdict.margin.to_string(), &unit);
        let margin = if verdict.met { format!("{margin} to spare") } else { format!("by {margin}") };
        rows.push(line("deadline", format!("{}: {said} {margin}{chance}", when(verdict.at))));
    }
    let cost = &schedule.cost;
    if !cost.total.is_zero() {
        let mut said = format!("{} {}", cost.currency, cost.total);
        if let (Some(contingency), Some(total)) = (cost.contingency, cost.total_with_contingency) {
            let _ = write!(said, "; with a contingency of {contingency} it is {total}");
        }
        if let Some(budget) = cost.budget {
            let _ = write!(said, "; the budget is {budget}");
        }
        rows.push(line("cost", said));
    }
    let critical = schedule.tasks.iter().filter(|task| task.critical && task.kind != TaskKind::Summary).count();
    rows.push(line("critical", format!("{}: {}", count(critical, "task"), path(&schedule.critical_path))));
    if let Some(search) = &schedule.optimiser {
        let proven = if search.proven { "; none is shorter" } else { "" };
        rows.push(line("search", format!("{} made{proven}", counted(&search.schedules.to_string(), "schedule"))));
    }
    rows
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
        lines.push(paint(style::BAD, plain(&found.what)));
        lines.extend(found.fixes.iter().take(3).map(|fix| format!("  {}", plain(&fix.what))));
    }
    for verdict in schedule.deadlines.iter().filter(|verdict| !verdict.met && !verdict.hard) {
        if let Some(task) = &verdict.task {
            lines.push(format!("`{}` is due {} and is done {}", plain(task), when(verdict.at), when(verdict.finish)));
        }
    }
    for overload in &schedule.overloads {
        lines.push(format!(
            "`{}` has {} to do and can do {}, from {} to {}",
            plain(&overload.resource),
            overload.used,
            overload.capacity,
            when(overload.from),
            when(overload.to)
        ));
    }
    lines.extend(
        schedule.warnings.iter().map(|warning| format!("`{}`: {}", plain(&warning.task), plain(&warning.what))),
    );
    let contains = |id: &str| project.tasks.iter().any(|task| task.parent.as_deref() == Some(id));
    let unknown = project.tasks.iter().filter(|task| task.estimate.is_none() && !contains(&task.id)).count();
    if unknown > 0 && unknown == project.tasks.iter().filter(|task| !contains(&task.id)).count() {
        lines.push("no task has an estimate, so everything takes no time; give tasks an `estimate`".to_owned());
    }
    if lines.is_empty() {
        return String::new();
    }
    lines.iter().fold("mind:\n".to_owned(), |page, line| page + "  " + line + "\n")
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
    let float = if task.critical { "critical".to_owned() } else { counted(&task.float.to_string(), &unit(schedule)) };
    vec![
        cell(style, format!("{}{mark}{}", "  ".repeat(depth), plain(&first_line(&task.id, 60)))),
        cell(style::PLAIN, when(task.start)),
        cell(style::PLAIN, when(task.finish)),
        cell(if task.critical { style::BAD } else { style::PLAIN }, float),
        cell(style::FAINT, who.join(", ")),
    ]
}

fn drivers(schedule: &Schedule) -> String {
    let Some(futures) = schedule.monte_carlo.as_ref().filter(|futures| !futures.drivers.is_empty()) else {
        return String::new();
    };
    let mut page = "what moves the finish most:\n".to_owned();
    let unit = unit(schedule);
    let rows: Vec<Vec<Cell>> = futures
        .drivers
        .iter()
        .take(DRIVERS_MAX)
        .map(|driver| {
            vec![
                cell(style::PLAIN, plain(&first_line(&driver.id, 60))),
                cell(style::FAINT, counted(&driver.swing.to_string(), &unit)),
            ]
        })
        .collect();
    page += &table::draw("  ", &rows, table::width());
    page
}

/// What would be different.
pub fn differences(found: &WhatIf) -> String {
    if found.difference.is_empty() {
        return "nothing would be different\n".to_owned();
    }
    let shown = |value: &serde_json::Value| match value {
        serde_json::Value::Null => "nothing".to_owned(),
        serde_json::Value::String(text) => plain(&first_line(text, 40)),
        other => plain(&first_line(&other.to_string(), 40)),
    };
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

/// The tasks as a table for other tools.
pub fn table(schedule: &Schedule) -> Result<String, Fault> {
    let failed = |error: csv::Error| Fault::internal(format!("the table cannot be written: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer
        .write_record([
            "id",
            "title",
            "parent",
            "start",
            "finish",
            "duration",
            "float",
            "critical",
            "resources",
            "cost",
            "percent",
        ])
        .map_err(failed)?;
    for task in &schedule.tasks {
        let who: Vec<&str> = task.resources.iter().map(|assigned| assigned.id.as_str()).collect();
        let record = [
            task.id.clone(),
            task.title.clone(),
            task.parent.clone().unwrap_or_default(),
            task.start.to_string(),
            task.finish.to_string(),
            task.duration.to_string(),
            task.float.to_string(),
            task.critical.to_string(),
            who.join("; "),
            task.cost.to_string(),
            task.percent.to_string(),
        ];
        writer.write_record(record.map(unlike_a_formula)).map_err(failed)?;
    }
    let bytes =
        writer.into_inner().map_err(|error| Fault::internal(format!("the table cannot be written: {error}")))?;
    String::from_utf8(bytes).map_err(|error| Fault::internal(format!("the table cannot be written: {error}")))
}

/// What a spreadsheet would take for a formula is kept from being one.
fn unlike_a_formula(text: String) -> String {
    let number = text.parse::<f64>().is_ok();
    if !number && text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text }
}

fn unit(schedule: &Schedule) -> String {
    serde_json::to_value(schedule.unit).ok().and_then(|unit| unit.as_str().map(str::to_owned)).unwrap_or_default()
}

fn counted(number: &str, noun: &str) -> String {
    if number == "1" { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// `Tue 2026-03-03 17:00`, or a number of units.
fn when(moment: Moment) -> String {
    match moment {
        Moment::Count(count) => count.to_string(),
        Moment::Date(instant, offset) => offset.to_datetime(instant).strftime("%a %Y-%m-%d %H:%M").to_string(),
    }
}
