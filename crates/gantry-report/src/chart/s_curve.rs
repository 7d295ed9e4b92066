//! S-curves: how probable each outcome is at the latest, and how money adds up over time.

use super::{
    frame::{self, Frame},
    histogram::{self, Percentile},
    legend::{self, Legend},
    measure::Measure,
    pen::{Path, Px, diamond},
    plot::{AXIS_PX, Labels, Marker, Markers, Plot},
    scale::{Scale, tame},
    text,
};
use maud::{Markup, html};

/// Values that only grow: a probability, sums of money, or both, one above the other on the same axis.
#[derive(Clone, Debug, PartialEq)]
pub struct SCurve {
    /// What lies along the axis below.
    pub measure: Measure,
    /// How probable an outcome of at most each value is, from 0 to 1.
    pub probability: Vec<Point>,
    /// The percentiles that are marked on the curve of probability.
    pub percentiles: Vec<Percentile>,
    /// The deadline, or the budget.
    pub limit: Option<f64>,
    /// How probable it is to stay within the limit, from 0 to 1.
    pub within_limit: Option<f64>,
    /// The moment up to which things are known.
    pub today: Option<f64>,
    /// What the sums are, usually money.
    pub sums_measure: Measure,
    /// Sums over time, such as planned and actual cost.
    pub sums: Vec<Curve>,
}

/// A place on a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// The value along the axis.
    pub x: f64,
    /// The height.
    pub y: f64,
}

/// A sum over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// What it is called.
    pub name: String,
    /// How it is drawn.
    pub kind: CurveKind,
    /// Its points, from left to right.
    pub points: Vec<Point>,
}

/// What a sum over time stands for; each kind has its own line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CurveKind {
    /// What was to be: a solid line.
    #[default]
    Planned,
    /// What the work done was worth: a dashed line.
    Earned,
    /// What was spent: a dotted line.
    Actual,
    /// What is expected: a line of dashes and dots.
    Forecast,
}

impl CurveKind {
    fn class(self) -> &'static str {
        match self {
            Self::Planned => "gc-curve",
            Self::Earned => "gc-curve-2",
            Self::Actual => "gc-curve-3",
            Self::Forecast => "gc-curve-4",
        }
    }
}

/// The most sums that can be told apart.
const SUMS_MAX: usize = 8;

/// The room above a drawing for its name, where there are two.
const CAPTION_PX: f64 = 20.0;

/// The room above a drawing for the label of a percentile close to 100.
const LABEL_ROOM_PX: f64 = 14.0;

impl SCurve {
    /// Draws the chart.
    pub fn svg(&self, frame: &Frame) -> String {
        let sums: Vec<&Curve> = self.sums.iter().filter(|curve| !curve.points.is_empty()).take(SUMS_MAX).collect();
        if sums.is_empty() && self.probability.is_empty() {
            return frame::empty(frame, "Nothing to add up.", "S-curve without points.");
        }
        let legend = sums.iter().fold(Legend::default(), |legend, curve| {
            legend.add(true, &text::clean_or(&curve.name, "Sum"), legend::stroke(curve.kind.class()))
        });
        let top = frame::top(frame, &self.message(), &legend);
        let highest =
            sums.iter().flat_map(|curve| &curve.points).map(|point| tame(point.y)).fold(0.0, f64::max).max(1.0);
        let sum_axis = |bottom, top| Scale::over(0.0, highest * 1.06, bottom, top);
        let has_both = !sums.is_empty() && !self.probability.is_empty();
        let height = Plot::height_in(frame) * if has_both { 0.7 } else { 1.0 };
        let room = [
            (!sums.is_empty()).then(|| Plot::room_left(&sum_axis(height, 0.0), &self.sums_measure, 0.0)),
            Some(Plot::room_left(&Scale::over(0.0, 100.0, height, 0.0), &Measure::Percent, 0.0)),
        ];
        let left = frame.margin() + room.into_iter().flatten().fold(0.0, f64::max);
        let right = frame.width() - frame.margin();
        let x = self.scale(left, right);
        let markers = self.markers();
        let markers = Markers::place(&markers, &x, right);
        let plot = |top: f64| Plot { left, top, right, bottom: top + height };
        let markers_bottom = top.height + markers.height();
        let first = plot(markers_bottom + if has_both { CAPTION_PX } else { LABEL_ROOM_PX });
        let last = if has_both { plot(first.bottom + CAPTION_PX + 14.0) } else { first };
        let (chances, y) = (Scale::over(0.0, 100.0, first.bottom, first.top), sum_axis(last.bottom, last.top));
        let drawn = html! {
            (top.drawn)
            @if !self.probability.is_empty() { (first.axis_left(&chances, &Measure::Percent, 0.0)) }
            @if !sums.is_empty() { (last.axis_left(&y, &self.sums_measure, 0.0)) }
            (markers.draw(&Plot { top: markers_bottom, bottom: last.bottom, ..first }))
            @if has_both {
                (caption(&first, "Probability"))
                (caption(&last, "Sum"))
            }
            @for curve in &sums { (self.sum(curve, &x, &y)) }
            (self.chances(&first, &x, &chances))
            (last.axis_below(&x, &self.measure, Labels::AtMarks))
        };
        frame::svg(frame, (frame.width(), last.bottom + AXIS_PX + 8.0), &self.words(), drawn)
    }

    fn scale(&self, left: f64, right: f64) -> Scale {
        let points = || {
            self.probability.iter().chain(self.sums.iter().flat_map(|curve| &curve.points)).map(|point| tame(point.x))
        };
        let low = points().reduce(f64::min).or(self.limit).or(self.today).unwrap_or(0.0);
        let high = points().reduce(f64::max).or(self.limit).or(self.today).unwrap_or(0.0);
        let reach = high - low;
        let beside =
            [self.limit, self.today].into_iter().flatten().filter(|value| (low - reach..=high + reach).contains(value));
        let (low, high) = beside.fold((low, high), |(low, high), value| (low.min(value), high.max(value)));
        let edge = ((high - low) * 0.02).max(if high > low { 0.0 } else { self.measure.least() / 2.0 });
        Scale::over(low - edge, high + edge, left, right)
    }

    /// How far the values reach.
    fn range(&self) -> f64 {
        let scale = self.scale(0.0, 1.0);
        scale.until - scale.from
    }

    fn markers(&self) -> Vec<Marker> {
        let marker = |class, name: &str, value: Option<f64>| {
            value.map(|value| Marker {
                value,
                label: format!("{name} {}", self.measure.brief(value, self.range())),
                words: format!("{name}: {}", self.measure.full(value, self.range())),
                class,
            })
        };
        let limit = marker("gc-deadline", self.measure.limit_name(), self.limit);
        limit.into_iter().chain(marker("gc-today", "Today", self.today)).collect()
    }

    fn sum(&self, curve: &Curve, x: &Scale, y: &Scale) -> Markup {
        let points = thinned(&curve.points, x, y);
        let last = curve.points.last().copied().unwrap_or_default();
        let (name, end) = (text::clean_or(&curve.name, "Sum"), points.last().copied().unwrap_or_default());
        html! {
            g {
                title { (name) ": " (self.sums_measure.full(last.y, 0.0)) " at " (self.measure.full(last.x, self.range())) }
                path class=(curve.kind.class()) d=(Path::through(&points)) {}
                circle.gc-dot cx=(Px(end.0)) cy=(Px(end.1)) r="3" {}
            }
        }
    }

    /// The curve of probability with its percentiles.
    fn chances(&self, plot: &Plot, x: &Scale, y: &Scale) -> Markup {
        if self.probability.is_empty() {
            return html! {};
        }
        let points: Vec<Point> =
            self.probability.iter().map(|point| Point { x: point.x, y: tame(point.y) * 100.0 }).collect();
        let line = thinned(&points, x, y);
        let area = match (line.first(), line.last()) {
            (Some(first), Some(last)) => {
                let around = [&[(first.0, plot.bottom)][..], &line, &[(last.0, plot.bottom)]].concat();
                Path::shape(&around)
            }
            _ => Path::default(),
        };
        let labels = self.labels(x, y, plot);
        html! {
            path.gc-area d=(area) {}
            path.gc-curve d=(Path::through(&line)) {}
            (self.at_limit(x, y, plot))
            @for (percentile, label) in histogram::marked(&self.percentiles).zip(labels) {
                @let (at, height) = (x.at(percentile.value), y.at(percentile.percent));
                g {
                    title { (percentile.name()) ": " (self.measure.full(percentile.value, self.range())) }
                    path.gc-ghost d=(Path::through(&[(plot.left, height), (at, height), (at, plot.bottom)])) {}
                    circle.gc-dot cx=(Px(at)) cy=(Px(height)) r="4" {}
                    @if let Some((x, label)) = label {
                        text.gc-small.gc-bold.gc-end.gc-halo x=(Px(x)) y=(Px(height - 5.0)) { (label) }
                    }
                }
            }
        }
    }

    /// Where the curve crosses the limit: the chance to meet it.
    fn at_limit(&self, x: &Scale, y: &Scale, plot: &Plot) -> Markup {
        let limit = self.limit.filter(|limit| x.holds(*limit) && !self.probability.is_empty());
        let (Some(limit), Some(chance)) = (limit, self.within_limit) else { return html! {} };
        let (at, height) = (x.at(limit), y.at(chance * 100.0));
        let label = format!("{:.0} %", tame(chance * 100.0).clamp(0.0, 100.0));
        let has_room = at + 12.0 + text::width(&label, 11.0) <= plot.right && height + 14.0 < plot.bottom;
        html! {
            path.gc-deadline-mark d=(diamond(at, height, 5.0)) {}
            @if has_room { text.gc-small.gc-bold.gc-halo.gc-deadline-text x=(Px(at + 9.0)) y=(Px(height + 12.0)) { (label) } }
        }
    }

    /// The labels of the percentiles, to the left of the curve where it is empty; none that would lie on another.
    fn labels(&self, x: &Scale, y: &Scale, plot: &Plot) -> Vec<Option<(f64, String)>> {
        let mut taken: Vec<f64> = Vec::new();
        let label = |percentile: &Percentile| {
            let height = y.at(percentile.percent);
            let label = format!("{} {}", percentile.name(), self.measure.brief(percentile.value, self.range()));
            let right = (x.at(percentile.value) - 8.0).max(plot.left + text::width(&label, 11.0) * 1.08 + 4.0);
            let is_free = taken.iter().all(|other| (other - height).abs() >= 14.0);
            let is_inside = right <= plot.right && height - 16.0 >= plot.top - 14.0;
            (is_free && is_inside).then(|| {
                taken.push(height);
                (right, label)
            })
        };
        histogram::marked(&self.percentiles).map(label).collect()
    }

    fn message(&self) -> String {
        let range = self.range();
        let chances = (!self.probability.is_empty())
            .then(|| histogram::message(&self.measure, range, &self.percentiles, self.limit, self.within_limit));
        let ends = self.sums.iter().filter_map(|curve| {
            let last = curve.points.last()?;
            let (name, sum) = (text::clean_or(&curve.name, "Sum"), self.sums_measure.full(last.y, 0.0));
            Some(format!("{name} reaches {sum} at {}.", self.measure.full(last.x, range)))
        });
        text::sentences(ends.take(SUMS_MAX).map(Some).chain([chances]))
    }

    fn words(&self) -> String {
        let said = |value: f64| self.measure.full(value, self.range());
        let percentiles: Vec<String> = histogram::marked(&self.percentiles)
            .map(|at| format!("{:.0} % by {}", at.percent, said(at.value)))
            .collect();
        let has_chances = !percentiles.is_empty() && !self.probability.is_empty();
        text::sentences([
            Some("S-curve.".to_owned()),
            Some(self.message()),
            has_chances.then(|| format!("Probability: {}.", text::list(&percentiles, 12))),
            self.today.map(|today| format!("Today is {}.", said(today))),
        ])
    }
}

/// The name of one of two drawings, above it.
fn caption(plot: &Plot, name: &str) -> Markup {
    html! { text.gc-soft.gc-small.gc-bold.gc-halo x=(Px(plot.left)) y=(Px(plot.top - 7.0)) { (name) } }
}

/// Returns the points of a curve in pixels, at most two for each.
fn thinned(points: &[Point], x: &Scale, y: &Scale) -> Vec<(f64, f64)> {
    let placed = points.iter().map(|point| (x.at(point.x), y.at(point.y)));
    placed.fold(Vec::new(), |mut kept: Vec<(f64, f64)>, point| {
        match kept.as_slice() {
            [.., before, last] if (point.0 - before.0).abs() < 0.5 && (last.0 - before.0).abs() < 0.5 => {
                kept.pop();
            }
            _ => {}
        }
        kept.push(point);
        kept
    })
}
