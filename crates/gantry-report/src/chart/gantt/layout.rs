//! Where everything in a Gantt chart goes.

use super::{Gantt, GanttTask, TaskShape, rows::Row};
use crate::chart::{
    frame::Frame,
    measure::Measure,
    moment::{Moment, Span},
    scale::Scale,
    text,
};

/// After how many rows the dates are said again, so that they are never far away.
const HEADER_EVERY: usize = 40;

/// The room between the drawing of time and its edges, for diamonds and arrows that reach out.
const EDGE_PX: f64 = 12.0;

/// The sizes and places of a Gantt chart.
pub(super) struct Layout<'a> {
    pub chart: &'a Gantt,
    pub frame: &'a Frame,
    pub rows: Vec<Row>,
    /// The upper edge of each row.
    pub tops: Vec<f64>,
    /// The upper edge of each header.
    pub headers: Vec<f64>,
    pub bottom: f64,
    pub sizes: Sizes,
    pub names: Names,
    /// The left and right edge of the drawing of time.
    pub plot: (f64, f64),
    pub time: Scale,
    /// The time that is drawn.
    pub span: Span,
}

/// Sizes that depend on how many rows there are.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub row: f64,
    pub bar: f64,
    pub font: f64,
    pub indent: f64,
    /// The room for a name above its bar; none where names stand beside the bars.
    pub name_line: f64,
    pub header: f64,
    /// The room for the names of the vertical lines; only the first header has it.
    pub flags: f64,
}

/// Where the columns of names and dates are.
pub(super) struct Names {
    pub left: f64,
    pub right: f64,
    /// The right edges of the columns for start and finish, where there is room for them.
    pub dates: Option<(f64, f64)>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(chart: &'a Gantt, frame: &'a Frame, rows: Vec<Row>, top: f64) -> Self {
        let sizes = Sizes::of(chart, frame, rows.len());
        let span = span(chart);
        let names = Names::of(chart, frame, &rows, &sizes, span);
        let plot_left = match names.dates {
            _ if frame.is_narrow() => frame.margin(),
            Some((_, right)) => right + 12.0,
            None => names.right + 12.0,
        };
        let plot = (plot_left, frame.width() - frame.margin());
        let time = Scale {
            from: span.from.value(),
            until: span.until.value(),
            start_px: plot.0 + EDGE_PX,
            end_px: plot.1 - EDGE_PX,
        };
        let (mut y, mut tops, mut headers) = (top, Vec::new(), Vec::new());
        for at in 0..rows.len().max(1) {
            let enough_follow = at == 0 || rows.len() - at > HEADER_EVERY / 4;
            if at.is_multiple_of(HEADER_EVERY) && enough_follow {
                headers.push(y);
                y += sizes.header + if at == 0 { sizes.flags } else { 0.0 };
            }
            tops.push(y);
            y += sizes.row;
        }
        Self { chart, frame, rows, tops, headers, bottom: y, sizes, names, plot, time, span }
    }

    pub(super) fn at(&self, moment: Moment) -> f64 {
        self.time.at(moment.value())
    }

    /// Says whether rows are so many that fine lines would otherwise outweigh the bars.
    pub(super) fn is_dense(&self) -> bool {
        self.rows.len() > 150
    }

    /// Returns the middle of the bar of a row.
    pub(super) fn middle(&self, row: usize) -> f64 {
        self.tops[row] + self.sizes.name_line + (self.sizes.row - self.sizes.name_line) / 2.0
    }

    /// Returns where a bar begins and ends; the shortest one can still be seen.
    pub(super) fn bar(&self, start: Moment, finish: Moment) -> (f64, f64) {
        let (from, until) = (self.at(start), self.at(finish));
        (from.min(self.time.end_px - 3.0), until.max(from + 3.0).min(self.time.end_px))
    }
}

impl Sizes {
    fn of(chart: &Gantt, frame: &Frame, rows: usize) -> Self {
        let (row, bar, font) = match rows {
            0..=40 => (28.0, 14.0, 12.0),
            41..=150 => (24.0, 12.0, 12.0),
            151..=500 => (20.0, 11.0, 11.0),
            501.. => (17.0, 9.0, 10.0),
        };
        let flags = if chart.today.is_some() || chart.deadline.is_some() { 20.0 } else { 4.0 };
        let (indent, header) = (14.0, 40.0);
        if frame.is_narrow() {
            let name_line = font + 7.0;
            return Self { row: name_line + bar + 8.0, bar, font, indent: 8.0, name_line, header, flags };
        }
        Self { row, bar, font, indent, name_line: 0.0, header, flags }
    }

    /// Returns how far a name is moved in.
    pub(super) fn indent_of(&self, task: &GanttTask) -> f64 {
        const LEVELS_MAX: usize = 8;
        #[expect(clippy::cast_precision_loss, reason = "at most eight")]
        let levels = task.depth.min(LEVELS_MAX) as f64;
        levels * self.indent
    }
}

impl Names {
    fn of(chart: &Gantt, frame: &Frame, rows: &[Row], sizes: &Sizes, span: Span) -> Self {
        let left = frame.margin();
        if frame.is_narrow() {
            return Self { left, right: frame.width() - frame.margin(), dates: None };
        }
        let needed = rows.iter().map(|row| {
            let task = &chart.tasks[row.tasks.start];
            let bold = if task.shape == TaskShape::Summary { 1.08 } else { 1.0 };
            sizes.indent_of(task) + text::width(&text::clean(&task.name), sizes.font) * bold + 24.0
        });
        let room = needed.fold(120.0, f64::max).min(frame.width() * 0.27);
        let right = left + room;
        let dates = (frame.width() >= 900.0).then(|| {
            let width = rows.iter().fold(52.0, |width: f64, row| {
                let start = text::width(&chart.clock.short(row.start, span), 11.0);
                width.max(start).max(text::width(&chart.clock.short(row.finish, span), 11.0))
            });
            let width = width.min(96.0) + 10.0;
            (right + width, right + 2.0 * width)
        });
        Self { left, right, dates }
    }
}

/// Returns the time that is drawn: all work, and what lies beside it unless that is so far away that the work would shrink.
fn span(chart: &Gantt) -> Span {
    let planned = || chart.tasks.iter().filter_map(|task| task.planned);
    let starts = chart.tasks.iter().map(|task| task.start).chain(planned().map(|span| span.from));
    let ends = chart.tasks.iter().flat_map(|task| [Some(task.finish()), task.p80_finish]).flatten();
    let ends = ends.chain(planned().map(|span| span.until.max(span.from)));
    let beside = || chart.deadline.iter().map(|deadline| deadline.at).chain(chart.today);
    let from = starts.clone().chain(beside().filter(|_| chart.tasks.is_empty())).min().unwrap_or_default().value();
    let until = ends.chain(beside().filter(|_| chart.tasks.is_empty())).max().unwrap_or_default().value();
    let least = Measure::Time(chart.clock.clone()).least();
    let reach = (until - from).max(least) * 0.6;
    let floats = chart.tasks.iter().filter_map(|task| task.float.as_ref().map(|float| float.until));
    let own = chart.tasks.iter().filter_map(|task| Some(task.deadline.as_ref()?.at));
    let near = beside().chain(own).chain(floats);
    let (mut low, mut high) = (from, until);
    for moment in near.map(Moment::value).filter(|value| (from - reach..=until + reach).contains(value)) {
        (low, high) = (low.min(moment), high.max(moment));
    }
    let missing = (least - (high - low)).max(0.0);
    Span { from: Moment::at(low), until: Moment::at(high + missing) }
}
