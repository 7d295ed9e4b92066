//! A Gantt chart in words.

use super::{Gantt, GanttTask, TaskShape, links::Links, rows::Row};
use crate::chart::{moment::Moment, text};

/// The line above the chart: when it ends, whether that is in time, and how far things are.
pub(super) fn message(chart: &Gantt) -> String {
    let Some(finish) = finish(chart) else { return String::new() };
    let verdict = chart.deadline.as_ref().map_or(String::new(), |deadline| {
        match (deadline.missed, text::clean(&deadline.margin)) {
            (true, margin) if margin.is_empty() => ", after the deadline".to_owned(),
            (true, margin) => format!(", {margin} after the deadline"),
            (false, margin) if margin.is_empty() => ", just before the deadline".to_owned(),
            (false, margin) => format!(", {margin} before the deadline"),
        }
    });
    let (all, critical) = (work(chart).count(), work(chart).filter(|task| task.critical).count());
    let begun = |task: &&GanttTask| !task.is_done() && task.percent_done.is_some_and(|percent| percent > 0.0);
    let (done, begun) = (work(chart).filter(|task| task.is_done()).count(), work(chart).filter(begun).count());
    let number = |count: usize| text::thousands(count as u64);
    text::sentences([
        Some(format!("Finishes {}{verdict}.", chart.clock.when(finish))),
        (critical > 0).then(|| format!("Critical: {} of {}.", number(critical), text::count(all, "task"))),
        work(chart)
            .any(|task| task.percent_done.is_some())
            .then(|| format!("{} done, {} under way.", number(done), number(begun))),
    ])
}

/// The whole chart in words.
pub(super) fn summary(chart: &Gantt, rows: &[Row], links: &Links) -> String {
    let (Some(start), Some(finish)) = (chart.tasks.iter().map(|task| task.start).min(), finish(chart)) else {
        return String::new();
    };
    let clock = &chart.clock;
    let path: Vec<&str> = chart.path.iter().filter_map(|at| Some(chart.tasks.get(*at)?.name.as_str())).collect();
    let is_milestone = |task: &&GanttTask| task.shape == TaskShape::Milestone;
    let milestone =
        |task: &GanttTask| format!("{} {}", text::clean_or(&task.name, "unnamed"), clock.when(task.finish()));
    let milestones: Vec<String> = chart.tasks.iter().filter(is_milestone).map(milestone).collect();
    let is_late = |task: &&GanttTask| task.deadline.as_ref().is_some_and(|deadline| deadline.missed);
    let late: Vec<&str> = chart.tasks.iter().filter(is_late).map(|task| task.name.as_str()).collect();
    let (tasks, lines) = (text::count(chart.tasks.len(), "task"), text::count(rows.len(), "row"));
    let hidden = text::count(links.left_out, "further dependency");
    text::sentences([
        Some(format!(
            "Gantt chart of {} from {} to {}.",
            text::count(work(chart).count(), "task"),
            clock.full(start),
            clock.full(finish)
        )),
        Some(message(chart)),
        (!path.is_empty()).then(|| format!("Critical path: {}.", text::list(&path, 12))),
        (!milestones.is_empty()).then(|| format!("Milestones: {}.", text::list(&milestones, 8))),
        (!late.is_empty()).then(|| format!("After their own deadline: {}.", text::list(&late, 8))),
        chart.today.map(|today| format!("Today is {}.", clock.full(today))),
        (rows.len() < chart.tasks.len()).then(|| format!("{tasks} are folded into {lines}.")),
        (links.left_out > 0).then(|| format!("{hidden} not drawn, to keep the chart readable.")),
    ])
}

/// The tooltip of a row.
pub(super) fn row(chart: &Gantt, row: &Row) -> String {
    let (task, clock) = (&chart.tasks[row.tasks.start], &chart.clock);
    let mut lines = vec![text::clean_or(&task.name, "unnamed")];
    let when = |start: Moment, finish: Moment| {
        format!("{} to {} ({})", clock.full(start), clock.full(finish), clock.length(start, finish))
    };
    if row.is_folded() {
        lines.push(format!("and {} folded into this row", text::count(row.tasks.len() - 1, "more task")));
        lines.push(when(row.start, row.finish));
        return lines.join("\n");
    }
    match task.shape {
        TaskShape::Milestone => lines.push(format!("Milestone {}", clock.when(task.finish()))),
        TaskShape::Task | TaskShape::Summary => lines.push(when(task.start, task.finish())),
    }
    if let Some(planned) = task.planned {
        lines.push(format!("Planned {}", when(planned.from, planned.until.max(planned.from))));
    }
    if task.critical {
        lines.push("Critical".to_owned());
    }
    if let Some(float) = &task.float {
        lines.push(format!("Float {}, until {}", text::clean(&float.length), clock.full(float.until)));
    }
    if let Some(percent) = task.percent_done.filter(|percent| percent.is_finite()) {
        lines.push(format!("{:.0} % done", percent.clamp(0.0, 100.0)));
    }
    if let Some(p80) = task.p80_finish {
        lines.push(format!("P80 finish {}", clock.full(p80)));
    }
    if let Some(deadline) = &task.deadline {
        let late = if deadline.missed { ", missed" } else { "" };
        lines.push(format!("Deadline {}{late}", clock.full(deadline.at)));
    }
    let note = text::clean(&task.note);
    if !note.is_empty() {
        lines.push(note);
    }
    lines.join("\n")
}

fn finish(chart: &Gantt) -> Option<Moment> {
    chart.tasks.iter().map(GanttTask::finish).max()
}

/// The tasks that are not summaries of others.
fn work(chart: &Gantt) -> impl Iterator<Item = &GanttTask> {
    chart.tasks.iter().filter(|task| task.shape != TaskShape::Summary)
}
