//! The names of the rows and the marks in them.

use super::{GanttTask, TaskShape, layout::Layout, rows::Row, words};
use crate::chart::{
    pen::{Path, Px, diamond},
    text,
};
use maud::{Markup, html};

/// Draws every row.
pub(super) fn draw(layout: &Layout<'_>) -> Markup {
    html! {
        @for (at, row) in layout.rows.iter().enumerate() {
            @let task = &layout.chart.tasks[row.tasks.start];
            g {
                title { (words::row(layout.chart, row)) }
                (name(layout, at, row, task))
                @if row.is_folded() { (folded(layout, at, row)) } @else { (mark(layout, at, task)) }
            }
        }
    }
}

fn name(layout: &Layout<'_>, at: usize, row: &Row, task: &GanttTask) -> Markup {
    let (sizes, names, clock) = (&layout.sizes, &layout.names, &layout.chart.clock);
    let x = names.left + sizes.indent_of(task);
    let middle = layout.tops[at] + if sizes.name_line > 0.0 { sizes.name_line / 2.0 + 2.0 } else { sizes.row / 2.0 };
    let y = middle + sizes.font * 0.36;
    let (start, finish) = (clock.short(row.start, layout.span), clock.short(row.finish, layout.span));
    let dates = if start == finish { start.clone() } else { format!("{start} – {finish}") };
    let is_bold = task.shape == TaskShape::Summary || row.is_folded();
    let weight = if is_bold { 1.1 } else { 1.0 };
    let beside = if layout.frame.is_narrow() { text::width(&dates, 10.0) + 8.0 } else { 0.0 };
    let more =
        if row.is_folded() { format!(" +{}", text::thousands(row.tasks.len() as u64 - 1)) } else { String::new() };
    let room = (names.right - x - beside) / weight - text::width(&more, sizes.font);
    let label = text::fit(&text::clean_or(&task.name, "unnamed"), sizes.font, room);
    let size = if sizes.font >= 12.0 {
        ""
    } else if sizes.font >= 11.0 {
        " gc-small"
    } else {
        " gc-tiny"
    };
    // Lines run behind the names where these stand above the bars.
    let halo = if layout.frame.is_narrow() { " gc-halo" } else { "" };
    let class = format!("{}{size}{halo}", if is_bold { "gc-bold" } else { "gc-name" });
    let date_class = if sizes.font >= 11.0 { "gc-soft gc-small gc-end" } else { "gc-soft gc-tiny gc-end" };
    html! {
        text class=(class) x=(Px(x)) y=(Px(y)) { (label) (more) }
        @if let Some((start_right, finish_right)) = names.dates {
            text class=(date_class) x=(Px(start_right)) y=(Px(y)) { (start) }
            text class=(date_class) x=(Px(finish_right)) y=(Px(y)) { (finish) }
        } @else if layout.frame.is_narrow() {
            text class="gc-soft gc-tiny gc-end gc-halo" x=(Px(names.right)) y=(Px(y)) { (dates) }
        }
    }
}

fn mark(layout: &Layout<'_>, at: usize, task: &GanttTask) -> Markup {
    let middle = layout.middle(at);
    let (from, until) = layout.bar(task.start, task.finish());
    let (top, height) = (middle - layout.sizes.bar / 2.0, layout.sizes.bar);
    html! {
        (beside(layout, task, middle, until))
        @if let Some(planned) = task.planned {
            @let (from, until) = layout.bar(planned.from, planned.until.max(planned.from));
            rect.gc-planned x=(Px(from)) y=(Px(top + height + 1.5)) width=(Px(until - from)) height="3" {}
        }
        @match task.shape {
            TaskShape::Task => (bar(task, from, until, top, height)),
            TaskShape::Summary => {
                path class=(if task.critical { "gc-critical" } else { "gc-summary" }) d=(bracket(from, until, middle - height * 0.35, height * 0.75)) {}
            }
            TaskShape::Milestone => {
                path class=(if task.critical { "gc-critical" } else { "gc-milestone" }) d=(diamond(layout.at(task.finish()), middle, height / 2.0 + 1.0)) {}
            }
        }
        @if let Some(deadline) = task.deadline.as_ref().map(|due| due.at).filter(|at| layout.time.holds(at.value())) {
            path.gc-deadline-mark d=(deadline_mark(layout.at(deadline), middle - 1.0)) {}
        }
        (note(layout, task, middle, until))
    }
}

/// A bar; a critical one has a firm edge below, and what is done runs through the middle.
fn bar(task: &GanttTask, from: f64, until: f64, top: f64, height: f64) -> Markup {
    let width = until - from;
    let done = task
        .percent_done
        .map_or(0.0, |percent| if percent.is_finite() { percent.clamp(0.0, 100.0) / 100.0 } else { 0.0 });
    let strip = (height * 0.3).max(2.5);
    let (fill, done_fill) = if task.critical { ("gc-critical", "gc-critical-done") } else { ("gc-bar", "gc-done") };
    html! {
        rect class=(fill) x=(Px(from)) y=(Px(top)) width=(Px(width)) height=(Px(height)) rx=(Px((width / 2.0).min(2.5))) {}
        @if task.critical { (edge(from, until, top + height)) }
        @if done > 0.0 {
            rect class=(done_fill) x=(Px(from)) y=(Px(top + (height - strip) / 2.0)) width=(Px(width * done)) height=(Px(strip)) {}
        }
    }
}

/// The firm edge below a critical bar.
fn edge(from: f64, until: f64, bottom: f64) -> Markup {
    html! { rect.gc-critical-done x=(Px(from)) y=(Px(bottom - 2.0)) width=(Px(until - from)) height="2" {} }
}

/// A critical bar as the legend shows it.
pub(super) fn critical_swatch(x: f64, y: f64) -> Markup {
    html! {
        rect.gc-critical x=(Px(x)) y=(Px(y - 5.0)) width="22" height="10" rx="2" {}
        (edge(x, x + 22.0, y + 5.0))
    }
}

/// What lies to the right of a bar: when it is finished in 80 of 100 cases, and how late it may be.
fn beside(layout: &Layout<'_>, task: &GanttTask, middle: f64, until: f64) -> Markup {
    let half = layout.sizes.bar / 2.0;
    let ghost = task.p80_finish.map(|p80| layout.at(p80)).filter(|x| *x > until + 1.0);
    let float = task.float.as_ref().map(|float| layout.at(float.until)).filter(|x| *x > until + 1.0);
    html! {
        @if let Some(x) = ghost {
            rect.gc-ghost x=(Px(until)) y=(Px(middle - half + 0.5)) width=(Px(x - until)) height=(Px(half * 2.0 - 1.0)) rx="2" {}
        }
        @if let Some(x) = float {
            @let y = middle + half - 1.0;
            path class=(if layout.is_dense() { "gc-float gc-thin" } else { "gc-float" }) d=(Path::through(&[(until, y), (x, y)]).start(x, y - 5.0).line(x, y + 1.0)) {}
        }
    }
}

/// A few words to the right of everything else in the row, where there is room.
fn note(layout: &Layout<'_>, task: &GanttTask, middle: f64, until: f64) -> Markup {
    let further =
        [task.p80_finish, task.float.as_ref().map(|float| float.until), task.deadline.as_ref().map(|due| due.at)];
    let right = further
        .into_iter()
        .flatten()
        .filter(|moment| layout.time.holds(moment.value()))
        .map(|moment| layout.at(moment));
    let reach = if task.shape == TaskShape::Milestone { layout.sizes.bar / 2.0 } else { 0.0 };
    let x = right.fold(until + reach, f64::max) + 12.0;
    let size = layout.sizes.font.min(11.0);
    let label = text::fit(&task.note, size, layout.plot.1 - x);
    let class = if size >= 11.0 { "gc-soft gc-small gc-halo" } else { "gc-soft gc-tiny gc-halo" };
    html! {
        @if !label.is_empty() { text class=(class) x=(Px(x)) y=(Px(middle + 4.0)) { (label) } }
    }
}

/// A row of several tasks: where any of them is under way, and where a critical one is.
fn folded(layout: &Layout<'_>, at: usize, row: &Row) -> Markup {
    let tasks = &layout.chart.tasks[row.tasks.clone()];
    let (middle, half) = (layout.middle(at), layout.sizes.bar / 2.0);
    let plain = stretches(layout, tasks.iter().filter(|task| !task.critical && task.shape == TaskShape::Task));
    let critical = stretches(layout, tasks.iter().filter(|task| task.critical && task.shape == TaskShape::Task));
    let boxes = |stretches: &[(f64, f64)], top: f64, bottom: f64| {
        stretches.iter().fold(Path::default(), |path, (from, until)| {
            path.start(*from, top).line(*until, top).line(*until, bottom).line(*from, bottom).close()
        })
    };
    let (from, until) = layout.bar(row.start, row.finish);
    html! {
        path.gc-rule d=(Path::through(&[(from, middle), (until, middle)])) {}
        @if !plain.is_empty() {
            @let path = boxes(&plain, middle - half + 1.0, middle + half - 1.0);
            path.gc-bar-3 d=(path) {}
            path fill=(layout.frame.fill("hatch")) d=(path) {}
        }
        @if !critical.is_empty() {
            path.gc-critical d=(boxes(&critical, middle - half + 1.0, middle + half - 1.0)) {}
            path.gc-critical-done d=(boxes(&critical, middle + half - 3.0, middle + half - 1.0)) {}
        }
    }
}

/// Returns where any of these tasks is under way, as stretches that do not touch.
fn stretches<'a>(layout: &Layout<'_>, tasks: impl Iterator<Item = &'a GanttTask>) -> Vec<(f64, f64)> {
    let mut bars: Vec<(f64, f64)> = tasks.map(|task| layout.bar(task.start, task.finish())).collect();
    bars.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    bars.into_iter().fold(Vec::new(), |mut merged: Vec<(f64, f64)>, (from, until)| {
        match merged.last_mut() {
            Some(last) if from <= last.1 + 1.0 => last.1 = last.1.max(until),
            _ => merged.push((from, until)),
        }
        merged
    })
}

/// The bracket of a summary: a beam with its two ends pointing down.
pub(super) fn bracket(from: f64, until: f64, top: f64, height: f64) -> Path {
    let foot = 5.0_f64.min((until - from) / 2.0);
    let beam = top + height * 0.5;
    Path::shape(&[
        (from, top),
        (until, top),
        (until, top + height),
        (until - foot, beam),
        (from + foot, beam),
        (from, top + height),
    ])
}

/// The mark of a task's deadline: an arrow that points down at it.
pub(super) fn deadline_mark(x: f64, tip: f64) -> Path {
    Path::shape(&[(x, tip), (x - 4.5, tip - 8.0), (x + 4.5, tip - 8.0)])
}
