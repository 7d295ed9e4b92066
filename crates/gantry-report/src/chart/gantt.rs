//! The Gantt chart: a tree of tasks against time, with progress, float, the critical path and what depends on what.

mod rows; // in reading order
mod layout;
mod header;
mod bars;
mod links;
mod words;

use super::{
    frame::{self, Frame},
    legend::{self, Legend},
    moment::{Clock, Moment, Span},
    pen::{Heading as Arrow, Path, Px, arrow_head, diamond},
};
use layout::Layout;
use maud::html;

/// A schedule to be drawn against time.
#[derive(Clone, Debug, PartialEq)]
pub struct Gantt {
    /// How moments are read.
    pub clock: Clock,
    /// The tasks in the order of their rows: a summary stands before its parts, which are one deeper.
    pub tasks: Vec<GanttTask>,
    /// What depends on what.
    pub links: Vec<GanttLink>,
    /// The moment up to which things are known.
    pub today: Option<Moment>,
    /// The places of the tasks on the critical path, from its first to its last; none where it is not known.
    pub path: Vec<usize>,
    /// When everything is to be finished.
    pub deadline: Option<Deadline>,
    /// When nobody works, such as weekends; drawn where there is room.
    pub closed: Vec<Span>,
    /// The most rows that are drawn. Beyond it the deeper levels are folded into the rows above them.
    pub rows_max: usize,
}

impl Default for Gantt {
    fn default() -> Self {
        Self {
            clock: Clock::default(),
            tasks: Vec::new(),
            links: Vec::new(),
            today: None,
            path: Vec::new(),
            deadline: None,
            closed: Vec::new(),
            rows_max: 1_200,
        }
    }
}

/// A row of a Gantt chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GanttTask {
    /// What it is called.
    pub name: String,
    /// How deep it is in the tree; top rows are at 0.
    pub depth: usize,
    /// How it is drawn.
    pub shape: TaskShape,
    /// When it begins.
    pub start: Moment,
    /// When it ends; what ends before it begins is drawn where it begins.
    pub finish: Moment,
    /// Whether any delay of it matters.
    pub critical: bool,
    /// How much later it may finish.
    pub float: Option<Float>,
    /// When it is to be finished.
    pub deadline: Option<Deadline>,
    /// How much of it is done, from 0 to 100.
    pub percent_done: Option<f64>,
    /// When it is finished in 80 of 100 cases.
    pub p80_finish: Option<Moment>,
    /// When it was to happen before anything had; drawn where it happened otherwise.
    pub planned: Option<Span>,
    /// A few words beside the bar, such as who does it.
    pub note: String,
}

impl GanttTask {
    /// Returns a plain task with a beginning and an end.
    pub fn new(name: &str, start: Moment, finish: Moment) -> Self {
        Self { name: name.to_owned(), start, finish, ..Self::default() }
    }

    fn finish(&self) -> Moment {
        self.finish.max(self.start)
    }

    fn is_done(&self) -> bool {
        self.percent_done.is_some_and(|percent| percent >= 100.0)
    }
}

/// How a row of a Gantt chart is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskShape {
    /// A bar.
    #[default]
    Task,
    /// A bracket around its parts.
    Summary,
    /// A diamond at its finish.
    Milestone,
}

/// How much later a task may finish without moving the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Float {
    /// The latest finish.
    pub until: Moment,
    /// How long that is, as the schedule says it, such as `3 days`.
    pub length: String,
}

/// When something is to be finished, and how it stands with that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deadline {
    /// Where it is marked. What is due at the end of a day is marked within that day, so that the right date stands there.
    pub at: Moment,
    /// Whether it is missed.
    pub missed: bool,
    /// How far off the finish is, as the schedule says it, such as `3 days of work`; empty where that is nothing.
    pub margin: String,
}

/// Something in a Gantt chart that depends on something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GanttLink {
    /// The place among the tasks of what comes first.
    pub from: usize,
    /// The place among the tasks of what waits for it.
    pub to: usize,
    /// Which ends are tied.
    pub kind: LinkKind,
    /// Whether it is part of the critical path.
    pub critical: bool,
}

/// Which ends of two tasks are tied together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkKind {
    /// The second starts when the first has finished.
    #[default]
    FinishToStart,
    /// The second starts when the first has started.
    StartToStart,
    /// The second finishes when the first has finished.
    FinishToFinish,
    /// The second finishes when the first has started.
    StartToFinish,
}

impl Gantt {
    /// Draws the chart.
    pub fn svg(&self, frame: &Frame) -> String {
        if self.tasks.is_empty() {
            return frame::empty(frame, "No tasks.", "Gantt chart without tasks.");
        }
        let rows = rows::fold(self);
        let links = links::choose(self, &rows);
        let top = frame::top(frame, &words::message(self), &self.legend(&rows, &links, frame));
        let layout = Layout::new(self, frame, rows, top.height);
        let drawn = html! {
            (top.drawn)
            (header::grid(&layout))
            (links::draw(&layout, &links))
            (bars::draw(&layout))
            (header::draw(&layout))
        };
        let words = words::summary(self, &layout.rows, &links);
        frame::svg(frame, (frame.width(), layout.bottom + 12.0), &words, drawn)
    }

    fn legend(&self, rows: &[rows::Row], links: &links::Links, frame: &Frame) -> Legend {
        let shown = || rows.iter().filter(|row| !row.is_folded()).map(|row| &self.tasks[row.tasks.start]);
        let has = |test: fn(&GanttTask) -> bool| shown().any(test);
        let plain = |task: &GanttTask| task.shape == TaskShape::Task;
        let fold = frame.fill("hatch");
        let bar = move |class, line: Option<&'static str>| {
            move |x: f64, y: f64| {
                html! {
                    (legend::swatch(class)(x, y))
                    @if let Some(line) = line { rect class=(line) x=(Px(x)) y=(Px(y - 1.5)) width="13" height="3" {} }
                }
            }
        };
        Legend::default()
            .add(shown().any(|task| plain(task) && !task.critical), "Task", bar("gc-bar", None))
            .add(self.tasks.iter().any(|task| plain(task) && task.critical), "Critical", bars::critical_swatch)
            .add(
                has(|task| task.percent_done.is_some_and(|percent| percent > 0.0)),
                "Done",
                bar("gc-bar", Some("gc-done")),
            )
            .add(has(|task| task.float.is_some()), "Float", |x, y| {
                let line = Path::through(&[(x, y), (x + 20.0, y)]).start(x + 20.0, y - 4.0).line(x + 20.0, y + 4.0);
                html! { path.gc-float d=(line) {} }
            })
            .add(has(|task| task.p80_finish.is_some()), "P80 finish", |x, y| {
                html! { rect.gc-ghost x=(Px(x + 0.5)) y=(Px(y - 4.5)) width="21" height="9" rx="2" {} }
            })
            .add(has(|task| task.planned.is_some()), "As planned", |x, y| {
                html! { rect.gc-planned x=(Px(x)) y=(Px(y - 1.5)) width="22" height="3" {} }
            })
            .add(has(|task| task.shape == TaskShape::Summary), "Summary", |x, y| {
                html! { path.gc-summary d=(bars::bracket(x, x + 22.0, y - 4.0, 8.0)) {} }
            })
            .add(has(|task| task.shape == TaskShape::Milestone), "Milestone", |x, y| {
                html! { path.gc-milestone d=(diamond(x + 11.0, y, 6.0)) {} }
            })
            .add(rows.iter().any(rows::Row::is_folded), "Folded tasks", legend::patterned("gc-bar-3", fold))
            .add(!links.drawn.is_empty(), "Dependency", |x, y| {
                html! {
                    path.gc-link d=(Path::through(&[(x, y), (x + 18.0, y)])) {}
                    path.gc-head d=(arrow_head(x + 22.0, y, Arrow::Right, 6.0)) {}
                }
            })
            .add(has(|task| task.deadline.is_some()), "Task deadline", |x, y| {
                html! { path.gc-deadline-mark d=(bars::deadline_mark(x + 11.0, y + 4.0)) {} }
            })
    }
}
