//! Tasks: the outline, links, constraints, progress, and how long each waits for people.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::xml::Xml;
use super::{Sheet, TASK_TEXT, Unwritable, local, work};
use crate::cost;
use crate::frame::Moment;
use crate::network::{Node, Role, Times, bounds, place_node};
use crate::project::{Due, Link, LinkKind, Task};
use crate::schedule::{Basis, TaskKind, TaskRow};

/// Days of work, and days round the clock, in the numbers of the format.
const IN_DAYS: u8 = 7;
const IN_ELAPSED_DAYS: u8 = 8;

/// A line of the outline.
struct Line<'a> {
    task: &'a Task,
    /// Such as `1.2`.
    number: String,
    level: usize,
}

pub(super) fn write(sheet: &Sheet<'_>, xml: &mut Xml) -> Result<(), Unwritable> {
    let ready = ready(sheet);
    xml.within("Tasks", |xml| {
        xml.within("Task", |xml| whole(sheet, xml))?;
        for (line, id) in outline(sheet).iter().zip(1..) {
            xml.within("Task", |xml| task(sheet, xml, line, id, &ready))?;
        }
        Ok(())
    })
}

/// The project itself is the line with number 0, and bears what belongs to no task.
fn whole(sheet: &Sheet<'_>, xml: &mut Xml) -> Result<(), Unwritable> {
    let (project, schedule) = (sheet.project, sheet.schedule);
    xml.put("UID", 0);
    xml.put("ID", 0);
    xml.text_of("Name", if project.name.is_empty() { "Project" } else { &project.name }, 512);
    xml.put("Type", 1);
    xml.flag("IsNull", false);
    xml.put("WBS", 0);
    xml.put("OutlineNumber", 0);
    xml.put("OutlineLevel", 0);
    xml.put("Priority", 500);
    xml.put("Start", local(schedule.start)?);
    xml.put("Finish", local(schedule.finish)?);
    let (start, finish) = (second(sheet, schedule.start), second(sheet, schedule.finish));
    xml.put("Duration", work(sheet.model.line().work_between(start, finish)));
    xml.put("DurationFormat", IN_DAYS);
    xml.flag("Milestone", false);
    xml.flag("Summary", true);
    let of_tasks: Decimal = schedule.tasks.iter().filter(|row| row.parent.is_none()).map(|row| row.cost).sum();
    let (own, all) = (hundredths(schedule.cost.total - of_tasks), hundredths(schedule.cost.total));
    xml.put("FixedCost", own);
    xml.put("FixedCostAccrual", 2);
    xml.put("Cost", all);
    if let Some(deadline) = project.deadline
        && let Some(at) = sheet.due(deadline.at)?
    {
        xml.put("ConstraintType", if deadline.hard { 7 } else { 0 });
        xml.put(if deadline.hard { "ConstraintDate" } else { "Deadline" }, at);
    }
    Ok(())
}

/// The format keeps money in hundredths.
pub(super) fn hundredths(amount: Decimal) -> Decimal {
    (amount * Decimal::ONE_HUNDRED).round_dp(2).normalize()
}

/// Every task under the one that contains it, in the order of the project.
fn outline<'a>(sheet: &Sheet<'a>) -> Vec<Line<'a>> {
    let mut parts: BTreeMap<Option<&str>, Vec<&'a Task>> = BTreeMap::new();
    for task in &sheet.project.tasks {
        parts.entry(task.parent.as_deref()).or_default().push(task);
    }
    let numbered = |tasks: &[&'a Task], above: &str, level: usize| {
        let each = tasks.iter().enumerate().map(|(at, task)| {
            let at = at + 1;
            let number = if above.is_empty() { at.to_string() } else { format!("{above}.{at}") };
            Line { task, number, level }
        });
        each.rev().collect::<Vec<_>>()
    };
    let mut open = numbered(parts.get(&None).map_or(&[][..], Vec::as_slice), "", 1);
    let mut lines = Vec::with_capacity(sheet.project.tasks.len());
    while let Some(line) = open.pop() {
        if let Some(parts) = parts.get(&Some(line.task.id.as_str())) {
            open.extend(numbered(parts, &line.number, line.level + 1));
        }
        lines.push(line);
    }
    lines
}

/// The second of a moment of the schedule.
fn second(sheet: &Sheet<'_>, moment: Moment) -> i64 {
    match moment {
        Moment::Date(instant, _) => instant.as_second() - sheet.model.frame.origin.as_second(),
        Moment::Count(_) => 0,
    }
}

/// For each node, when it could start if all its people were free.
fn ready(sheet: &Sheet<'_>) -> Vec<i64> {
    let model = &sheet.model;
    let network = &model.network;
    let mut times = vec![Times::default(); network.len()];
    let mut ready = vec![0; network.len()];
    for (at, node) in network.nodes.iter().enumerate() {
        let line = &model.lines.all[node.line];
        let (start, finish) = bounds(network, at, &times, &model.lines.all);
        let start = start.max(node.earliest);
        let earliest = place_node(node, line, start, finish.max(start));
        ready[at] = earliest.start;
        let row = sheet.rows.get(model.tasks[node.task].id.as_str()).filter(|_| node.role == Role::Work);
        let planned = |row: &&TaskRow| Times { start: second(sheet, row.start), finish: second(sheet, row.finish) };
        times[at] = row.map_or(earliest, planned);
    }
    ready
}

/// What of a task is done and what is left, in seconds of work.
struct Parts {
    whole: i64,
    done: i64,
    left: i64,
}

fn parts_of(sheet: &Sheet<'_>, task: &Task, node: &Node, row: &TaskRow) -> Parts {
    let line = &sheet.model.lines.all[node.line];
    if node.finished.is_some() {
        let whole = line.work_between(second(sheet, row.start), second(sheet, row.finish));
        return Parts { whole, done: whole, left: 0 };
    }
    let planned = sheet.model.planned(task, Basis::Expected);
    let done = match task.progress.remaining {
        Some(_) => planned * i64::from(row.percent) / 100,
        None => planned - node.duration,
    };
    Parts { whole: done + node.duration, done, left: node.duration }
}

fn task(sheet: &Sheet<'_>, xml: &mut Xml, line: &Line<'_>, id: usize, ready: &[i64]) -> Result<(), Unwritable> {
    let task = line.task;
    let model = &sheet.model;
    let Some(row) = sheet.rows.get(task.id.as_str()) else { return Err(Unwritable::Problems(Vec::new())) };
    let at = model.node_of[model.place(&task.id)];
    let node = at.map(|at| &model.network.nodes[at]);
    let span = model.line().work_between(second(sheet, row.start), second(sheet, row.finish));
    let parts = node.map_or(Parts { whole: span, done: 0, left: span }, |node| parts_of(sheet, task, node, row));
    let elapsed = task.estimate.is_some_and(|estimate| estimate.likely.is_elapsed());

    xml.put("UID", sheet.task_uids[task.id.as_str()]);
    xml.put("ID", id);
    xml.text_of("Name", &row.title, 512);
    xml.put("Type", 1);
    xml.flag("IsNull", false);
    xml.put("WBS", &line.number);
    xml.put("OutlineNumber", &line.number);
    xml.put("OutlineLevel", line.level);
    xml.put("Priority", (500 + i64::from(task.priority)).clamp(0, 1_000));
    xml.put("Start", local(row.start)?);
    xml.put("Finish", local(row.finish)?);
    xml.put("Duration", work(parts.whole));
    xml.put("DurationFormat", if elapsed { IN_ELAPSED_DAYS } else { IN_DAYS });
    let amount: i64 = row.resources.iter().map(|one| i64::from(one.amount.0)).sum();
    xml.put("Work", work(share(parts.whole, amount)));
    if let Some(node) = node.filter(|node| node.started.is_some() && node.finished.is_none()) {
        let line = &model.lines.all[node.line];
        let stop = line.finish_at(line.work_before(second(sheet, row.start)) + parts.done);
        let resume = line.start_at(line.work_before(second(sheet, row.finish)) - parts.left);
        if parts.done > 0 {
            xml.put("Stop", sheet.at(stop)?);
        }
        xml.put("Resume", sheet.at(resume)?);
    }
    xml.flag("EffortDriven", false);
    xml.flag("Estimated", task.estimate.is_some_and(|estimate| !estimate.is_fixed()));
    xml.flag("Milestone", row.kind == TaskKind::Milestone);
    xml.flag("Summary", row.kind == TaskKind::Summary);
    xml.flag("Critical", row.critical);
    xml.put("LateStart", local(row.late_start)?);
    xml.put("LateFinish", local(row.late_finish)?);
    xml.put("FreeSlack", tenths(slack(sheet, row.free_float.in_thousandths(), elapsed)));
    xml.put("TotalSlack", tenths(slack(sheet, row.float.in_thousandths(), elapsed)));
    costs(sheet, xml, task);
    progress(sheet, xml, row, node, &parts)?;
    constraints(sheet, xml, task)?;
    if let (Some(at), Some(node)) = (at, node)
        && node.started.is_none()
    {
        let delay = second(sheet, row.start) - ready[at];
        xml.put("LevelingDelay", tenths(delay.max(0)));
        xml.put("LevelingDelayFormat", IN_ELAPSED_DAYS);
    }
    for link in &task.after {
        predecessor(sheet, xml, task, link);
    }
    xml.within("ExtendedAttribute", |xml| {
        xml.put("FieldID", TASK_TEXT);
        xml.text_of("Value", &task.id, 255);
    });
    baseline(sheet, xml, task)
}

/// So many thousandths of a length.
pub(super) fn share(seconds: i64, thousandths: i64) -> i64 {
    i64::try_from(i128::from(seconds) * i128::from(thousandths) / 1_000).unwrap_or(i64::MAX)
}

/// Tenths of minutes, which the format counts in.
fn tenths(seconds: i64) -> i64 {
    (seconds + seconds.signum() * 3) / 6
}

/// A float in seconds; it is kept in thousandths of the project's unit.
fn slack(sheet: &Sheet<'_>, thousandths: i64, elapsed: bool) -> i64 {
    let scale = &sheet.model.frame.scale;
    let unit = if elapsed { crate::project::Scale::elapsed(scale.unit).unit_s() } else { scale.unit_s() };
    share(unit, thousandths)
}

fn costs(sheet: &Sheet<'_>, xml: &mut Xml, task: &Task) {
    let sum: Decimal = task.costs.iter().map(|cost| cost::planned(sheet.project, &cost.amount, Basis::Expected)).sum();
    xml.put("FixedCost", hundredths(sum));
    xml.put(
        "FixedCostAccrual",
        match task.costs.first().map(|cost| cost.due) {
            None | Some(Due::Start) => 1,
            Some(Due::Spread) => 2,
            Some(Due::Finish) => 3,
        },
    );
}

fn progress(
    sheet: &Sheet<'_>,
    xml: &mut Xml,
    row: &TaskRow,
    node: Option<&Node>,
    parts: &Parts,
) -> Result<(), Unwritable> {
    xml.put("PercentComplete", row.percent);
    xml.put("Cost", hundredths(row.cost));
    let Some(node) = node else { return Ok(()) };
    if node.started.is_some() {
        xml.put("ActualStart", local(row.start)?);
    }
    if node.finished.is_some() {
        xml.put("ActualFinish", local(row.finish)?);
    }
    xml.put("ActualDuration", work(parts.done));
    if let Some(spent) = &sheet.model.tasks[node.task].progress.cost {
        xml.put("ActualCost", hundredths(cost::converted(sheet.project, spent)));
    }
    xml.put("RemainingDuration", work(parts.left));
    Ok(())
}

/// The format has one constraint for each task: beside a start, a hard deadline is a deadline like any other.
fn constraints(sheet: &Sheet<'_>, xml: &mut Xml, task: &Task) -> Result<(), Unwritable> {
    let from = task.start_no_earlier.map(|when| sheet.from(when)).transpose()?.flatten();
    let due = task.deadline.map(|deadline| sheet.due(deadline.at)).transpose()?.flatten();
    let hard = due.filter(|_| from.is_none() && task.deadline.is_some_and(|deadline| deadline.hard));
    xml.put("ConstraintType", if from.is_some() { 4 } else { hard.map_or(0, |_| 7) });
    if let Some(uid) = task.calendar.as_deref().and_then(|id| sheet.calendars.uid(id)) {
        xml.put("CalendarUID", uid);
    }
    if let Some(at) = from.or(hard) {
        xml.put("ConstraintDate", at);
    }
    if let Some(at) = due.filter(|_| hard.is_none()) {
        xml.put("Deadline", at);
    }
    Ok(())
}

fn predecessor(sheet: &Sheet<'_>, xml: &mut Xml, task: &Task, link: &Link) {
    let Some(before) = sheet.task_uids.get(link.task.as_str()) else { return };
    let kind = match link.kind {
        LinkKind::FinishToFinish => 0,
        LinkKind::FinishToStart => 1,
        LinkKind::StartToFinish => 2,
        LinkKind::StartToStart => 3,
    };
    xml.within("PredecessorLink", |xml| {
        xml.put("PredecessorUID", before);
        xml.put("Type", kind);
        xml.flag("CrossProject", false);
        xml.put("LinkLag", tenths(link.lag.to_seconds(&sheet.model.scale_of(task))));
        xml.put("LagFormat", if link.lag.is_elapsed() { IN_ELAPSED_DAYS } else { IN_DAYS });
    });
}

fn baseline(sheet: &Sheet<'_>, xml: &mut Xml, task: &Task) -> Result<(), Unwritable> {
    let Some(agreed) = &task.baseline else { return Ok(()) };
    let (start, finish) = (sheet.from(agreed.start)?, sheet.due(agreed.finish)?);
    xml.within("Baseline", |xml| {
        xml.put("Number", 0);
        xml.flag("Interim", false);
        if let (Some(start), Some(finish)) = (start, finish) {
            xml.put("Start", start);
            xml.put("Finish", finish);
        }
        xml.put("Cost", hundredths(cost::converted(sheet.project, &agreed.cost)));
    });
    Ok(())
}
