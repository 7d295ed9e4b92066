//! The histogram of a Monte Carlo run: how often which outcome came up, and where the percentiles lie.

use super::{
    frame::{self, Frame},
    legend::{self, Legend},
    measure::Measure,
    pen::Px,
    plot::{AXIS_PX, Labels, Marker, Markers, Plot},
    scale::{Scale, tame},
    text,
};
use maud::{Markup, html};

/// How often which outcome came up.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// What the outcomes are.
    pub measure: Measure,
    /// The outcomes, counted in stretches; see [`Bin::of`].
    pub bins: Vec<Bin>,
    /// The percentiles, as the schedule computed them.
    pub percentiles: Vec<Percentile>,
    /// The deadline, or the budget.
    pub limit: Option<f64>,
    /// How probable it is to stay within the limit, from 0 to 1.
    pub within_limit: Option<f64>,
}

/// How many outcomes lie in a stretch of values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// The least value.
    pub from: f64,
    /// The value at which the next stretch begins.
    pub until: f64,
    /// How many outcomes lie between.
    pub count: u64,
}

/// The value below which so many of 100 outcomes lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Percentile {
    /// How many of 100, such as 80.
    pub percent: f64,
    /// The value.
    pub value: f64,
}

impl Percentile {
    /// Returns what it is called, such as "P80".
    pub(super) fn name(&self) -> String {
        format!("P{}", (self.percent * 10.0).round() / 10.0)
    }
}

impl Bin {
    /// The most stretches that are counted.
    const COUNT_MAX: usize = 200;

    /// Counts outcomes in stretches of equal length; what is not a number is not counted.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "at most 200"
    )]
    pub fn of(outcomes: &[f64], count: usize) -> Vec<Self> {
        let count = count.clamp(1, Self::COUNT_MAX);
        let outcomes = || outcomes.iter().copied().filter(|value| value.is_finite());
        let (low, high) =
            outcomes().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return Vec::new();
        }
        let length = (high - low) / count as f64;
        if length <= 0.0 {
            return vec![Self { from: low, until: high, count: outcomes().count() as u64 }];
        }
        let edge = |at: usize| low + length * at as f64;
        let mut bins: Vec<Self> = (0..count).map(|at| Self { from: edge(at), until: edge(at + 1), count: 0 }).collect();
        for value in outcomes() {
            bins[(((value - low) / length) as usize).min(count - 1)].count += 1;
        }
        bins
    }
}

/// The most stretches that are drawn; more would be thinner than a pixel.
const BINS_MAX: usize = 1_000;

impl Histogram {
    /// Draws the chart.
    pub fn svg(&self, frame: &Frame) -> String {
        if self.bins.iter().all(|bin| bin.count == 0) {
            return frame::empty(frame, "No outcomes.", "Histogram without outcomes.");
        }
        let late = self.beyond().filter(|limit| self.bins.iter().any(|bin| bin.count > 0 && bin.until > *limit));
        let name = self.measure.limit_name();
        let legend = Legend::default().add(!self.bins.is_empty(), "Share of outcomes", legend::swatch("gc-bar")).add(
            late.is_some(),
            &format!("Beyond the {}", name.to_lowercase()),
            legend::patterned("gc-critical", frame.fill("hatch")),
        );
        let top = frame::top(frame, &self.message(), &legend);
        let draws = self.bins.iter().fold(0_u64, |sum, bin| sum.saturating_add(bin.count)).max(1);
        let share = |bin: &Bin| ratio(bin.count, draws) * 100.0;
        let highest = self.bins.iter().map(share).fold(0.0, f64::max).max(0.1);
        let room = Plot::room_left(&Scale::over(0.0, highest * 1.05, 200.0, 0.0), &Measure::Percent, 0.0);
        let (left, right) = (frame.margin() + room, frame.width() - frame.margin());
        let x = self.scale(left, right);
        let markers = self.markers();
        let markers = Markers::place(&markers, &x, right);
        let plot_top = top.height + markers.height() + 4.0;
        let plot = Plot { left, top: plot_top, right, bottom: plot_top + Plot::height_in(frame) };
        let y = Scale::over(0.0, highest * 1.05, plot.bottom, plot.top);
        let drawn = html! {
            (top.drawn)
            (plot.axis_left(&y, &Measure::Percent, 0.0))
            @for bin in self.bins.iter().filter(|bin| bin.count > 0).take(BINS_MAX) { (self.bar(frame, bin, share(bin), &x, &y)) }
            (plot.axis_below(&x, &self.measure, Labels::AtMarks))
            (markers.draw(&plot))
        };
        frame::svg(frame, (frame.width(), plot.bottom + AXIS_PX + 8.0), &self.words(), drawn)
    }

    /// Returns the axis of outcomes: all of them, and the limit unless it is so far away that they would shrink.
    fn scale(&self, left: f64, right: f64) -> Scale {
        let low = self.bins.iter().map(|bin| tame(bin.from)).reduce(f64::min).or(self.limit).unwrap_or(0.0);
        let high = self.bins.iter().map(|bin| tame(bin.until)).reduce(f64::max).or(self.limit).unwrap_or(0.0);
        let reach = (high - low).max(0.0);
        let limit = self.limit.filter(|limit| (low - reach..=high + reach).contains(limit));
        let (low, high) = (limit.map_or(low, |limit| low.min(limit)), limit.map_or(high, |limit| high.max(limit)));
        let edge = ((high - low) * 0.02).max(if high > low { 0.0 } else { self.measure.least() / 2.0 });
        Scale::over(low - edge, high + edge, left, right)
    }

    /// How far the outcomes reach.
    fn range(&self) -> f64 {
        let scale = self.scale(0.0, 1.0);
        scale.until - scale.from
    }

    fn markers(&self) -> Vec<Marker> {
        let range = self.range();
        let percentile = |percentile: &Percentile| Marker {
            value: percentile.value,
            label: format!("{} {}", percentile.name(), self.measure.brief(percentile.value, range)),
            words: format!("{}: {}", percentile.name(), self.measure.full(percentile.value, range)),
            class: "gc-marker",
        };
        let limit = self.limit.map(|limit| Marker {
            value: limit,
            label: format!("{} {}", self.measure.limit_name(), self.measure.brief(limit, range)),
            words: format!("{}: {}", self.measure.limit_name(), self.measure.full(limit, range)),
            class: "gc-deadline",
        });
        marked(&self.percentiles).map(percentile).chain(limit).collect()
    }

    /// The limit beyond which there are outcomes; none where all stay within it, however near they come.
    fn beyond(&self) -> Option<f64> {
        self.limit.filter(|_| self.within_limit.is_none_or(|within| within < 1.0))
    }

    /// A bar, in two parts where the limit runs through it.
    fn bar(&self, frame: &Frame, bin: &Bin, share: f64, x: &Scale, y: &Scale) -> Markup {
        let (from, until) = (x.at(bin.from.min(bin.until)), x.at(bin.until.max(bin.from)));
        let gap = if until - from > 4.0 { 0.75 } else { 0.0 };
        let (from, until) = (from + gap, (until - gap).max(from + gap + 1.0).min(x.end_px.max(from + gap)));
        let split = match self.beyond() {
            Some(limit) if limit < bin.until => x.at(limit).clamp(from, until),
            Some(_) | None => until,
        };
        let (top, height) = (y.at(share), y.start_px - y.at(share));
        html! {
            g {
                title { (self.measure.full(bin.from, self.range())) " to " (self.measure.full(bin.until, self.range())) ": " (format!("{share:.1} %")) }
                @if split > from { rect.gc-bar x=(Px(from)) y=(Px(top)) width=(Px(split - from)) height=(Px(height)) {} }
                @if split < until {
                    rect.gc-critical x=(Px(split)) y=(Px(top)) width=(Px(until - split)) height=(Px(height)) {}
                    rect fill=(frame.fill("hatch")) x=(Px(split)) y=(Px(top)) width=(Px(until - split)) height=(Px(height)) {}
                }
            }
        }
    }

    fn message(&self) -> String {
        message(&self.measure, self.range(), &self.percentiles, self.limit, self.within_limit)
    }

    fn words(&self) -> String {
        let draws = self.bins.iter().fold(0_u64, |sum, bin| sum.saturating_add(bin.count));
        let Some((low, high)) =
            self.bins.iter().filter(|bin| bin.count > 0).fold(None, |range: Option<(f64, f64)>, bin| {
                Some(range.map_or((bin.from, bin.until), |(low, high)| (low.min(bin.from), high.max(bin.until))))
            })
        else {
            return String::new();
        };
        let percentiles: Vec<String> = marked(&self.percentiles)
            .map(|at| format!("{} {}", at.name(), self.measure.full(at.value, self.range())))
            .collect();
        let likely = self.bins.iter().max_by_key(|bin| bin.count).map_or(0.0, |bin| f64::midpoint(bin.from, bin.until));
        let said = |value: f64| self.measure.full(value, self.range());
        text::sentences([
            Some(format!("Histogram of {} outcomes between {} and {},", text::thousands(draws), said(low), said(high))),
            Some(format!("most often around {}.", said(likely))),
            Some(self.message()),
            (!percentiles.is_empty()).then(|| format!("Percentiles: {}.", text::list(&percentiles, 12))),
        ])
    }
}

/// The percentiles that are numbers.
pub(super) fn marked(percentiles: &[Percentile]) -> impl Iterator<Item = &Percentile> {
    percentiles.iter().filter(|at| at.value.is_finite() && (0.0..=100.0).contains(&at.percent))
}

/// What matters most about a range of outcomes: a safe value, and how probable it is to stay within the limit.
pub(super) fn message(
    measure: &Measure,
    range: f64,
    percentiles: &[Percentile],
    limit: Option<f64>,
    within: Option<f64>,
) -> String {
    let safe = marked(percentiles).find(|at| (at.percent - 80.0).abs() < 1e-9).or(marked(percentiles).last());
    let safe = safe.map(|at| measure.at_most(at.percent, &measure.full(at.value, range)));
    let chance = limit.map(|limit| {
        let (name, limit) = (measure.limit_name().to_lowercase(), measure.full(limit, range));
        match within.filter(|within| within.is_finite()) {
            Some(within) => format!("{:.0} % chance to meet the {name} of {limit}.", within.clamp(0.0, 1.0) * 100.0),
            None => format!("The {name} is {limit}."),
        }
    });
    text::sentences([safe, chance])
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no more digits")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}
