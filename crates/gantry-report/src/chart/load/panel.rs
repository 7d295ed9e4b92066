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

impl Panel<'_> {
    pub(super) fn draw(&self) -> Markup {
        let most =
            self.stretches.iter().map(|stretch| stretch.capacity.max(stretch.wanted)).fold(0.0, f64::max).max(1e-9);
        let y = Scale::over(0.0, most * 1.12, self.plot.bottom, self.plot.top);
        let over: Vec<&Stretch> = self.stretches.iter().filter(|stretch| stretch.is_over()).collect();
        html! {
            (self.name())
            (self.plot.axis_left(&y, &Measure::amount(""), 0.0))
            @if profile::used(self.resource).count() <= BOXES_MAX {
                @for block in self.blocks() { (self.block(&block, &y)) }
            } @else {
                path.gc-bar-3 d=(self.steps(&y, |stretch| stretch.wanted, true)) {}
            }
            @if !over.is_empty() { (self.over(&over, &y)) }
            g {
                title { "Capacity of " (text::clean_or(&self.resource.name, "unnamed")) }
                path.gc-capacity d=(self.steps(&y, |stretch| stretch.capacity, false)) {}
            }
            path.gc-rule d=(Path::through(&[(self.plot.left, self.plot.bottom), (self.plot.right, self.plot.bottom)])) {}
        }
    }

    fn name(&self) -> Markup {
        let most = self.stretches.iter().map(|stretch| stretch.capacity).fold(0.0, f64::max);
        let peak = format!(
            "peak {} of {}",
            Measure::amount("").full(self.peak.wanted),
            Measure::amount(&self.resource.unit).full(most)
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
        let class = if self.peak.first_over.is_some() { "gc-small gc-end gc-bold" } else { "gc-small gc-end gc-soft" };
        html! {
            text.gc-bold x=(Px(left)) y=(Px(baseline)) { (name) }
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
                title { (text::clean_or(block.task, "unnamed")) ": " (Measure::amount(&self.resource.unit).full(block.high - block.low)) }
                rect class=(class) x=(Px(block.from)) y=(Px(top)) width=(Px(width)) height=(Px(bottom - top)) {}
                @if !label.is_empty() { text.gc-tiny x=(Px(block.from + 4.0)) y=(Px((top + bottom) / 2.0 + 3.5)) { (label) } }
            }
        }
    }

    /// What is wanted beyond what there is, in another pattern.
    fn over(&self, over: &[&Stretch], y: &Scale) -> Markup {
        let boxes = over.iter().fold(Path::default(), |path, stretch| {
            let (from, until) = (self.x.at(stretch.from.value()), self.x.at(stretch.until.value()));
            let (top, bottom) = (y.at(stretch.wanted), y.at(stretch.capacity));
            let until = until.max(from + 1.0).min(self.plot.right.max(from));
            path.start(from, top).line(until, top).line(until, bottom).line(from, bottom).close()
        });
        let missing = Measure::amount(&self.resource.unit).full(self.peak.missing);
        html! {
            g {
                title { (text::clean_or(&self.resource.name, "unnamed")) ": up to " (missing) " missing" }
                path.gc-critical d=(boxes) {}
                path fill=(self.frame.fill("over")) d=(boxes) {}
            }
        }
    }

    /// A line in steps, or the area below it; at most two steps for each pixel.
    fn steps(&self, y: &Scale, height: fn(&Stretch) -> f64, is_area: bool) -> Path {
        let mut columns: Vec<(f64, f64, f64)> = Vec::new();
        for stretch in self.stretches {
            let (from, until, value) =
                (self.x.at(stretch.from.value()), self.x.at(stretch.until.value()), height(stretch));
            match columns.last_mut() {
                Some(last) if (last.2 - value).abs() < 1e-12 => last.1 = until,
                Some(last) if until - last.0 < 0.5 => (last.1, last.2) = (until, last.2.max(value)),
                _ => columns.push((from, until, value)),
            }
        }
        let mut points: Vec<(f64, f64)> =
            columns.iter().flat_map(|(from, until, value)| [(*from, y.at(*value)), (*until, y.at(*value))]).collect();
        if let (true, Some(first), Some(last)) = (is_area, points.first().copied(), points.last().copied()) {
            points.extend([(last.0, self.plot.bottom), (first.0, self.plot.bottom)]);
            return Path::shape(&points);
        }
        Path::through(&points)
    }
}
