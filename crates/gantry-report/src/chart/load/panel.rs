//! One resource of the load chart.

use super::{
    Resource,
    profile::{self, Peak, Stretch},
};
use crate::chart::{
    frame::Frame,
    measure::Measure,
    moment::Clock,
    pen::{Path, Px},
    plot::Plot,
    scale::{Scale, tame},
    text,
};
use maud::{Markup, html};

/// The room above a panel for the name of its resource.
pub(super) const NAME_PX: f64 = 20.0;

/// The most uses that are drawn as boxes on top of each other; more are drawn as one area.
const BOXES_MAX: usize = 60;

pub(super) struct Panel<'a> {
    pub frame: &'a Frame,
    pub clock: &'a Clock,
    pub resource: &'a Resource,
    pub stretches: &'a [Stretch],
    pub peak: &'a Peak,
    pub plot: Plot,
    pub x: Scale,
}

/// A part of a use during which it lies at one height.
struct Block<'a> {
    task: &'a str,
    shade: usize,
    from: f64,
    until: f64,
    low: f64,
    high: f64,
}

/// A stretch in pixels.
struct Column {
    from: f64,
    until: f64,
    wanted: f64,
    capacity: f64,
    is_over: bool,
}

impl Panel<'_> {
    pub(super) fn draw(&self) -> Markup {
        let most =
            self.stretches.iter().map(|stretch| stretch.capacity.max(stretch.wanted)).fold(0.0, f64::max).max(1e-9);
        let y = Scale::over(0.0, most * 1.12, self.plot.bottom, self.plot.top);
        let columns = self.columns();
        html! {
            (self.name())
            (self.plot.axis_left(&y, &Measure::amount(""), 0.0))
            @if profile::used(self.resource).count() <= BOXES_MAX {
                @for block in self.blocks() { (self.block(&block, &y)) }
            } @else {
                path.gc-bar-3 d=(self.steps(&columns, &y, |column| column.wanted, true)) {}
            }
            @if self.peak.first_over.is_some() { (self.over(&columns, &y)) }
            g {
                title { "Capacity of " (text::clean_or(&self.resource.name, "unnamed")) }
                path.gc-capacity d=(self.steps(&columns, &y, |column| column.capacity, false)) {}
            }
            path.gc-rule d=(Path::through(&[(self.plot.left, self.plot.bottom), (self.plot.right, self.plot.bottom)])) {}
        }
    }

    fn name(&self) -> Markup {
        let most = self.stretches.iter().map(|stretch| stretch.capacity).fold(0.0, f64::max);
        let peak = format!(
            "peak {} of {}",
            Measure::amount("").full(self.peak.wanted, 0.0),
            Measure::amount(&self.resource.unit).full(most, 0.0)
        );
        let said = match self.peak.first_over {
            Some(_) => {
                let length = self.clock.length(crate::chart::Moment::at(0.0), crate::chart::Moment::at(self.peak.over));
                format!("▲ over for {length} · {peak}")
            }
            None => peak,
        };
        let (left, baseline) = (self.frame.margin(), self.plot.top - 6.0);
        let said = text::fit(&said, 11.0, (self.plot.right - left) * 0.62);
        let room = self.plot.right - left - text::width(&said, 11.0) - 12.0;
        let name = text::fit(&text::clean_or(&self.resource.name, "unnamed"), 12.0, room / 1.08);
        let class = if self.peak.first_over.is_some() {
            "gc-small gc-end gc-bold gc-halo"
        } else {
            "gc-small gc-end gc-soft gc-halo"
        };
        html! {
            text.gc-bold.gc-halo x=(Px(left)) y=(Px(baseline)) { (name) }
            text class=(class) x=(Px(self.plot.right)) y=(Px(baseline)) { (said) }
        }
    }

    /// Stacks the uses in the order in which they begin, so that each keeps its height while nothing below it ends.
    fn blocks(&self) -> Vec<Block<'_>> {
        let mut uses: Vec<&super::Use> = profile::used(self.resource).collect();
        uses.sort_by_key(|one| (one.from, one.until));
        let mut blocks: Vec<Block<'_>> = Vec::new();
        let mut last_of: Vec<Option<usize>> = vec![None; uses.len()];
        for stretch in self.stretches {
            let (from, until) = (self.x.at(stretch.from.value()), self.x.at(stretch.until.value()));
            let mut height = 0.0;
            for (at, one) in
                uses.iter().enumerate().filter(|(_, one)| one.from <= stretch.from && one.until >= stretch.until)
            {
                let (low, high) = (height, height + tame(one.amount));
                height = high;
                let goes_on = last_of[at].filter(|last| {
                    let last: &Block<'_> = &blocks[*last];
                    (last.until - from).abs() < 0.01 && (last.low - low).abs() < 1e-9
                });
                match goes_on {
                    Some(last) => blocks[last].until = until,
                    None => {
                        last_of[at] = Some(blocks.len());
                        blocks.push(Block { task: &one.task, shade: at % 2, from, until, low, high });
                    }
                }
            }
        }
        blocks
    }

    fn block(&self, block: &Block<'_>, y: &Scale) -> Markup {
        let (top, bottom) = (y.at(block.high), y.at(block.low));
        let width = block.until - block.from;
        let class = if block.shade == 0 { "gc-bar-3 gc-cell" } else { "gc-bar-2 gc-cell" };
        let label = if bottom - top >= 15.0 && width >= 28.0 {
            text::fit(block.task, 10.0, width - 8.0)
        } else {
            String::new()
        };
        html! {
            g {
                title { (text::clean_or(block.task, "unnamed")) ": " (Measure::amount(&self.resource.unit).full(block.high - block.low, 0.0)) }
                rect class=(class) x=(Px(block.from)) y=(Px(top)) width=(Px(width)) height=(Px(bottom - top)) {}
                @if !label.is_empty() { text.gc-tiny x=(Px(block.from + 4.0)) y=(Px(f64::midpoint(top, bottom) + 3.5)) { (label) } }
            }
        }
    }

    /// What is wanted beyond what there is, in another pattern.
    fn over(&self, columns: &[Column], y: &Scale) -> Markup {
        let boxes = columns.iter().filter(|column| column.is_over).fold(Path::default(), |path, column| {
            let until = column.until.max(column.from + 1.0).min(self.plot.right.max(column.from));
            let (top, bottom) = (y.at(column.wanted), y.at(column.capacity));
            path.start(column.from, top).line(until, top).line(until, bottom).line(column.from, bottom).close()
        });
        let missing = Measure::amount(&self.resource.unit).full(self.peak.missing, 0.0);
        html! {
            g {
                title { (text::clean_or(&self.resource.name, "unnamed")) ": up to " (missing) " missing" }
                path fill=(self.frame.fill("over")) d=(boxes) {}
            }
        }
    }

    /// A line in steps, or the area below it.
    fn steps(&self, columns: &[Column], y: &Scale, height: fn(&Column) -> f64, is_area: bool) -> Path {
        let level = |column: &Column| [(column.from, y.at(height(column))), (column.until, y.at(height(column)))];
        let mut points: Vec<(f64, f64)> = Vec::new();
        for point in columns.iter().flat_map(level) {
            match points.as_slice() {
                [.., before, last] if same(before.1, point.1) && same(last.1, point.1) => points.pop(),
                _ => None,
            };
            points.push(point);
        }
        if let (true, Some(first), Some(last)) = (is_area, points.first().copied(), points.last().copied()) {
            points.extend([(last.0, self.plot.bottom), (first.0, self.plot.bottom)]);
            return Path::shape(&points);
        }
        Path::through(&points)
    }

    /// The stretches in pixels. Those too short to be seen become one, as bad as the worst of them.
    fn columns(&self) -> Vec<Column> {
        const SEEN_PX: f64 = 2.0;
        let mut columns: Vec<Column> = Vec::new();
        for stretch in self.stretches {
            let (wanted, capacity) = (stretch.wanted, stretch.capacity);
            let (from, until) = (self.x.at(stretch.from.value()), self.x.at(stretch.until.value()));
            let is_over = stretch.is_over();
            match columns.last_mut() {
                Some(last) if until - last.from < SEEN_PX => {
                    last.until = until;
                    if wanted - capacity > last.wanted - last.capacity {
                        (last.wanted, last.capacity, last.is_over) = (wanted, capacity, is_over);
                    }
                }
                _ => columns.push(Column { from, until, wanted, capacity, is_over }),
            }
        }
        columns
    }
}

/// Says whether two heights in pixels cannot be told apart.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.01
}
