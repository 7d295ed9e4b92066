//! Cash flow: what is paid and received month by month, and how it adds up.

use super::{
    frame::{self, Frame},
    legend::{self, Legend},
    measure::Measure,
    moment::{Clock, Moment},
    pen::{Path, Px},
    plot::{AXIS_PX, Labels, Marker, Markers, Plot},
    scale::{Scale, tame},
    text,
};
use maud::{Markup, html};

/// Money over time.
#[derive(Clone, Debug, PartialEq)]
pub struct CashFlow {
    /// How moments are read.
    pub clock: Clock,
    /// The currency's sign or code.
    pub currency: String,
    /// The months (or other stretches of time), in order.
    pub spans: Vec<CashSpan>,
    /// What may be paid in all.
    pub budget: Option<f64>,
    /// The moment up to which things are known.
    pub today: Option<Moment>,
}

/// What is paid and received in a month.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CashSpan {
    /// When the month begins.
    pub from: Moment,
    /// When the next one begins.
    pub until: Moment,
    /// What is paid; not negative.
    pub paid: f64,
    /// What is received; not negative.
    pub received: f64,
}

/// The narrowest bar that can be told from its neighbours.
const BAR_MIN_PX: f64 = 7.0;

impl CashFlow {
    /// Draws the chart.
    pub fn svg(&self, frame: &Frame) -> String {
        if self.spans.is_empty() {
            return frame::empty(frame, "No payments.", "Cash flow without payments.");
        }
        let money = Measure::money(&self.currency);
        let has_income = self.spans.iter().any(|span| tame(span.received) > 0.0);
        let legend = Legend::default()
            .add(!self.spans.is_empty(), "Paid", legend::swatch("gc-bar"))
            .add(has_income, "Received", legend::patterned("gc-gain", frame.fill("hatch")))
            .add(!self.spans.is_empty(), if has_income { "Balance" } else { "Paid so far" }, legend::stroke("gc-curve"))
            .add(self.budget.is_some(), "Budget", legend::stroke("gc-deadline"));
        let top = frame::top(frame, &self.message(), &legend);
        let sums = self.sums(has_income);
        let budget = self.budget.map(tame).filter(|budget| !has_income && *budget > 0.0);
        let half = Plot::height_in(frame) * 0.62;
        let sum_scale = |bottom, top| range(sums.iter().map(|(_, sum)| *sum).chain(budget), bottom, top);
        let (right, measure) = (frame.width() - frame.margin(), Measure::Time(self.clock.clone()));
        let groups = self.groups(right - frame.margin() - 60.0);
        let bar_scale = |bottom, top| range(groups.iter().flat_map(|group| heights(group, has_income)), bottom, top);
        let room_left = |scale: Scale| Plot::room_left(&scale, &money, 0.0);
        let left = frame.margin() + room_left(sum_scale(half, 0.0)).max(room_left(bar_scale(half, 0.0)));
        let x = self.scale(left, right);
        let markers: Vec<Marker> = self.today.into_iter().map(|today| self.today_marker(today)).collect();
        let markers = Markers::place(&markers, &x, right);
        let plot = |top: f64| Plot { left, top, right, bottom: top + half };
        let above = plot(top.height + markers.height() + 8.0);
        let below = plot(above.bottom + 22.0);
        let (y, bar_y) = (sum_scale(above.bottom, above.top), bar_scale(below.bottom, below.top));
        let drawn = html! {
            (top.drawn)
            (above.axis_left(&y, &money, 0.0))
            (below.axis_left(&bar_y, &money, 0.0))
            (markers.draw(&Plot { bottom: below.bottom, ..above }))
            (self.running(&sums, &x, &y, &money))
            @if let Some(budget) = budget {
                g {
                    title { "Budget: " (money.full(budget, 0.0)) }
                    path.gc-deadline d=(Path::through(&[(left, y.at(budget)), (right, y.at(budget))])) {}
                }
            }
            @for group in &groups { (self.bars(frame, group, has_income, &x, &bar_y)) }
            path.gc-rule d=(Path::through(&[(left, bar_y.at(0.0)), (right, bar_y.at(0.0))])) {}
            (below.axis_below(&x, &measure, Labels::BetweenMarks))
        };
        frame::svg(frame, (frame.width(), below.bottom + AXIS_PX + 8.0), &self.words(), drawn)
    }

    fn scale(&self, left: f64, right: f64) -> Scale {
        let from = self.spans.iter().map(|span| span.from).min().unwrap_or_default().value();
        let until = self.spans.iter().map(|span| span.until.max(span.from)).max().unwrap_or_default().value();
        let missing = (Measure::Time(self.clock.clone()).least() - (until - from)).max(0.0);
        Scale::over(from, until + missing, left, right)
    }

    /// The sum at the end of each span.
    fn sums(&self, has_income: bool) -> Vec<(Moment, f64)> {
        let mut sum = 0.0;
        let first = self.spans.first().map(|span| (span.from, 0.0));
        let rest = self.spans.iter().map(|span| {
            sum += if has_income { tame(span.received) - tame(span.paid) } else { tame(span.paid) };
            (span.until.max(span.from), sum)
        });
        first.into_iter().chain(rest).collect()
    }

    /// Puts months together into quarters, years or decades where their bars would be too narrow.
    fn groups(&self, width: f64) -> Vec<CashSpan> {
        const LENGTHS: [i64; 10] = [1, 3, 12, 60, 120, 240, 600, 1_200, 6_000, 120_000];
        let month = |span: &CashSpan, at: usize| match self.clock {
            Clock::Dates => i64::from(span.from.date().year()) * 12 + i64::from(span.from.date().month()) - 1,
            Clock::Periods { .. } => i64::try_from(at).unwrap_or(i64::MAX),
        };
        let grouped = |length: i64| {
            let mut groups: Vec<(i64, CashSpan)> = Vec::new();
            for (at, span) in self.spans.iter().enumerate() {
                let key = if length == 1 {
                    i64::try_from(at).unwrap_or(i64::MAX)
                } else {
                    month(span, at).div_euclid(length)
                };
                match groups.last_mut() {
                    Some((last, group)) if *last == key => {
                        group.until = group.until.max(span.until);
                        group.paid += tame(span.paid);
                        group.received += tame(span.received);
                    }
                    _ => groups.push((key, *span)),
                }
            }
            groups.into_iter().map(|(_, group)| group).collect::<Vec<CashSpan>>()
        };
        let is_readable = |groups: &Vec<CashSpan>| {
            let count = f64::from(u32::try_from(groups.len()).unwrap_or(u32::MAX));
            width / count.max(1.0) >= BAR_MIN_PX
        };
        LENGTHS.into_iter().map(grouped).find(is_readable).unwrap_or_else(|| grouped(i64::MAX))
    }

    fn bars(&self, frame: &Frame, group: &CashSpan, has_income: bool, x: &Scale, y: &Scale) -> Markup {
        let (from, until) = (x.at(group.from.value()), x.at(group.until.max(group.from).value()));
        let gap = ((until - from) * 0.14).min(6.0);
        let (from, width) = (from + gap, (until - from - 2.0 * gap).max(1.0).min(x.end_px - from - gap));
        let zero = y.at(0.0);
        let [paid, received] = heights(group, has_income).map(|height| y.at(height));
        let money = Measure::money(&self.currency);
        let box_of = |end: f64| (zero.min(end), (zero - end).abs());
        let label = money.brief(group.paid, 0.0);
        let is_labelled = !has_income
            && group.paid > 0.0
            && text::width(&label, 10.0) + 4.0 <= width + 2.0 * gap
            && paid - 12.0 > y.end_px - 10.0;
        html! {
            g {
                title {
                    (self.clock.full(group.from)) " to " (self.clock.full(group.until)) "\nPaid " (money.full(tame(group.paid), 0.0))
                    @if has_income { "\nReceived " (money.full(tame(group.received), 0.0)) }
                }
                @let (top, height) = box_of(paid);
                @if height > 0.0 { rect.gc-bar x=(Px(from)) y=(Px(top)) width=(Px(width)) height=(Px(height)) {} }
                @let (top, height) = box_of(received);
                @if has_income && height > 0.0 {
                    rect.gc-gain x=(Px(from)) y=(Px(top)) width=(Px(width)) height=(Px(height)) {}
                    rect fill=(frame.fill("hatch")) x=(Px(from)) y=(Px(top)) width=(Px(width)) height=(Px(height)) {}
                }
                @if is_labelled { text.gc-soft.gc-tiny.gc-middle x=(Px(from + width / 2.0)) y=(Px(paid - 4.0)) { (label) } }
            }
        }
    }

    /// The line of the running sum.
    fn running(&self, sums: &[(Moment, f64)], x: &Scale, y: &Scale, money: &Measure) -> Markup {
        let points: Vec<(f64, f64)> = sums.iter().map(|(at, sum)| (x.at(at.value()), y.at(*sum))).collect();
        let (Some(first), Some(last), Some(end)) = (points.first(), points.last(), sums.last()) else {
            return html! {};
        };
        let zero = y.at(0.0);
        let area = Path::shape(&[&[(first.0, zero)][..], &points, &[(last.0, zero)]].concat());
        html! {
            g {
                title { (money.full(end.1, 0.0)) " at " (self.clock.full(end.0)) }
                path.gc-area d=(area) {}
                path.gc-curve d=(Path::through(&points)) {}
                circle.gc-dot cx=(Px(last.0)) cy=(Px(last.1)) r="3.5" {}
            }
        }
    }

    fn today_marker(&self, today: Moment) -> Marker {
        let said = Measure::Time(self.clock.clone()).brief(today.value(), f64::INFINITY);
        Marker {
            value: today.value(),
            label: format!("Today {said}"),
            words: format!("Today: {}", self.clock.full(today)),
            class: "gc-today",
        }
    }

    /// Returns a span in words: the name of a month where it is one.
    fn when(&self, span: &CashSpan) -> String {
        let (from, until) = (span.from.date(), span.until.date());
        let is_month = from.day() == 1 && until.day() == 1 && (from.month() % 12) + 1 == until.month();
        match self.clock {
            Clock::Dates if is_month => from.strftime("in %B %Y").to_string(),
            Clock::Dates | Clock::Periods { .. } => {
                format!("from {} to {}", self.clock.full(span.from), self.clock.full(span.until))
            }
        }
    }

    fn totals(&self) -> (f64, f64) {
        self.spans
            .iter()
            .fold((0.0, 0.0), |(paid, received), span| (paid + tame(span.paid), received + tame(span.received)))
    }

    fn message(&self) -> String {
        let money = Measure::money(&self.currency);
        let (paid, received) = self.totals();
        let Some(peak) = self.spans.iter().max_by(|a, b| a.paid.total_cmp(&b.paid)) else {
            return String::new();
        };
        let income =
            if received > 0.0 { format!(" and {} received", money.full(received, 0.0)) } else { String::new() };
        let budget = match self.budget {
            Some(budget) if paid > budget => {
                format!(" That is {} over the budget of {}.", money.full(paid - budget, 0.0), money.full(budget, 0.0))
            }
            Some(budget) => {
                format!(
                    " The budget is {}, of which {} stays.",
                    money.full(budget, 0.0),
                    money.full(budget - paid, 0.0)
                )
            }
            None => String::new(),
        };
        format!(
            "{} paid{income} in all; most is paid {}, {}.{budget}",
            money.full(paid, 0.0),
            self.when(peak),
            money.full(peak.paid, 0.0)
        )
    }

    fn words(&self) -> String {
        let (Some(first), Some(last)) = (self.spans.first(), self.spans.last()) else {
            return String::new();
        };
        let (from, until) = (self.clock.full(first.from), self.clock.full(last.until));
        format!("Cash flow in {} from {from} to {until}. {}", text::count(self.spans.len(), "step"), self.message())
    }
}

/// The ends of the two bars of a group: what is paid goes down where something is received too.
fn heights(group: &CashSpan, has_income: bool) -> [f64; 2] {
    if has_income { [-tame(group.paid), tame(group.received)] } else { [tame(group.paid), 0.0] }
}

/// A scale over values and zero, with a little air.
fn range(values: impl Iterator<Item = f64>, bottom: f64, top: f64) -> Scale {
    let (low, high) = values.map(tame).fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let high = if low == 0.0 && high == 0.0 { 1.0 } else { high };
    let air = (high - low) * 0.08;
    Scale::over(if low < 0.0 { low - air } else { 0.0 }, if high > 0.0 { high + air } else { 0.0 }, bottom, top)
}
