//! A Gantt chart in words.

use super::{Gantt, GanttTask, TaskShape, links::Links, rows::Row};
use crate::chart::{moment::Moment, text};

/// The line above the chart: when it ends, whether that is in time, and how far things are.
pub(super) fn message(chart: &Gantt) -> String {
    let Some(finish) = finish(chart) else { return "No tasks.".to_owned() };
    let verdict = match chart.deadline {
        Some(deadline) if finish <= deadline && finish == deadline => ", exactly at the deadline".to_owned(),
        Some(deadline) if finish < deadline => {
            format!(", {} before the deadline", chart.clock.length(finish, deadline))
        }
        Some(deadline) => format!(", {} after the deadline", chart.clock.length(deadline, finish)),
        None => String::new(),
    };
    let mut message = format!("Finishes {}{verdict}.", chart.clock.full(finish));
    let (all, critical) = (work(chart).count(), work(chart).filter(|task| task.critical).count());
    if critical > 0 {
        message.push_str(&format!(
            " {} of {} on the critical path.",
            text::thousands(critical as u64),
            text::count(all, "task")
        ));
    }
    if work(chart).any(|task| task.percent_done.is_some()) {
        let done = work(chart).filter(|task| task.is_done()).count();
        let begun = work(chart)
            .filter(|task| !task.is_done() && task.percent_done.is_some_and(|percent| percent > 0.0))
            .count();
        message.push_str(&format!(
            " {} done, {} under way.",
            text::thousands(done as u64),
            text::thousands(begun as u64)
        ));
    }
    message
}

/// The whole chart in words.
pub(super) fn summary(chart: &Gantt, rows: &[Row], links: &Links) -> String {
    let (Some(start), Some(finish)) = (chart.tasks.iter().map(|task| task.start).min(), finish(chart)) else {
        return "Gantt chart without tasks.".to_owned();
    };
    let clock = &chart.clock;
    let mut words = format!(
        "Gantt chart of {} from {} to {}. {}",
        text::count(work(chart).count(), "task"),
        clock.full(start),
        clock.full(finish),
        message(chart)
    );
    let mut say = |sentence: String| {
        words.push(' ');
        words.push_str(&sentence);
    };
    let critical: Vec<&str> = work(chart).filter(|task| task.critical).map(|task| task.name.as_str()).collect();
    if !critical.is_empty() {
        say(format!("Critical path: {}.", text::list(&critical, 12)));
    }
    let milestones: Vec<String> = chart
        .tasks
        .iter()
        .filter(|task| task.shape == TaskShape::Milestone)
        .map(|task| format!("{} on {}", text::clean_or(&task.name, "unnamed"), clock.full(task.finish())))
        .collect();
    if !milestones.is_empty() {
        say(format!("Milestones: {}.", text::list(&milestones.iter().map(String::as_str).collect::<Vec<_>>(), 8)));
    }
    let late: Vec<&str> = chart
        .tasks
        .iter()
        .filter(|task| task.deadline.is_some_and(|deadline| task.finish() > deadline))
        .map(|task| task.name.as_str())
        .collect();
    if !late.is_empty() {
        say(format!("After their own deadline: {}.", text::list(&late, 8)));
    }
    if let Some(today) = chart.today {
        say(format!("Today is {}.", clock.full(today)));
    }
    if rows.len() < chart.tasks.len() {
        say(format!("{} are folded into {}.", text::count(chart.tasks.len(), "task"), text::count(rows.len(), "row")));
    }
    if links.left_out > 0 {
        say(format!(
            "{} not drawn, to keep the chart readable.",
            text::count(links.left_out, "further dependency").replace("dependencys", "dependencies")
        ));
    }
    words
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
        TaskShape::Milestone => lines.push(format!("Milestone on {}", clock.full(task.finish()))),
        TaskShape::Task | TaskShape::Summary => lines.push(when(task.start, task.finish())),
    }
    if task.critical {
        lines.push("On the critical path".to_owned());
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
    if let Some(deadline) = task.deadline {
        let late = if task.finish() > deadline { ", missed" } else { "" };
        lines.push(format!("Deadline {}{late}", clock.full(deadline)));
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
