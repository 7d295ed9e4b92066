//! The dates above the rows, the grid behind them, and the lines of today and of the deadline.

use super::layout::Layout;
use crate::chart::{
    calendar::{Tick, Ticks},
    measure::Measure,
    moment::{Clock, Moment, period},
    pen::{Path, Px},
    text,
};
use maud::{Markup, html};

/// Draws what lies behind the bars.
pub(super) fn grid(layout: &Layout<'_>) -> Markup {
    let first = layout.headers.first().copied().unwrap_or(0.0);
    let top = first + layout.sizes.header + layout.sizes.flags;
    let ticks = ticks(layout);
    let upright = |ticks: &[Tick]| {
        ticks.iter().fold(Path::default(), |path, tick| {
            let x = layout.time.at(tick.at);
            path.start(x, top).line(x, layout.bottom)
        })
    };
    let level =
        layout.tops.iter().fold(Path::default(), |path, y| path.start(layout.names.left, *y).line(layout.plot.1, *y));
    let closed = closed(layout, top);
    html! {
        @if !closed.is_empty() { path.gc-shade d=(closed) {} }
        path.gc-grid d=(level) {}
        path.gc-grid d=(upright(&ticks.fine)) {}
        @if !ticks.coarse.is_empty() { path.gc-rule stroke-opacity=".6" d=(upright(&ticks.coarse[1..])) {} }
        (lines(layout))
    }
}

/// The times when nobody works, where they are wide enough to be seen.
fn closed(layout: &Layout<'_>, top: f64) -> Path {
    const SEEN_PX: f64 = 3.0;
    const SHOWN_MAX: usize = 2_000;
    let spans = layout.chart.closed.iter().map(|span| (layout.at(span.from), layout.at(span.until)));
    let seen = spans.filter(|(from, until)| until - from >= SEEN_PX).take(SHOWN_MAX);
    seen.fold(Path::default(), |path, (from, until)| {
        path.start(from, top).line(until, top).line(until, layout.bottom).line(from, layout.bottom).close()
    })
}

fn ticks(layout: &Layout<'_>) -> Ticks {
    layout.time.ticks(&Measure::Time(layout.chart.clock.clone()))
}

/// Draws the headers.
pub(super) fn draw(layout: &Layout<'_>) -> Markup {
    let ticks = ticks(layout);
    html! {
        @for (at, y) in layout.headers.iter().enumerate() { (header(layout, *y, at == 0, &ticks)) }
        path.gc-rule d=(Path::through(&[(layout.names.left, layout.bottom), (layout.plot.1, layout.bottom)])) {}
    }
}

fn header(layout: &Layout<'_>, y: f64, is_first: bool, ticks: &Ticks) -> Markup {
    let bottom = y + layout.sizes.header + if is_first { layout.sizes.flags } else { 0.0 };
    let (upper, lower) = (y + 15.0, y + 33.0);
    let left = layout.names.left;
    html! {
        @if !is_first {
            rect.gc-paper x=(Px(left)) y=(Px(y)) width=(Px(layout.plot.1 - left)) height=(Px(layout.sizes.header)) {}
            path.gc-rule d=(Path::through(&[(left, y), (layout.plot.1, y)])) {}
        }
        @if !layout.frame.is_narrow() {
            text.gc-soft.gc-small x=(Px(left)) y=(Px(lower)) { "Task" }
        }
        @if let Some((start, finish)) = layout.names.dates {
            text.gc-soft.gc-small.gc-end x=(Px(start)) y=(Px(lower)) { "Start" }
            text.gc-soft.gc-small.gc-end x=(Px(finish)) y=(Px(lower)) { "Finish" }
        }
        (coarse(layout, &ticks.coarse, upper))
        @if let Clock::Periods { unit } = &layout.chart.clock {
            text.gc-small.gc-bold x=(Px(layout.time.start_px + 3.0)) y=(Px(upper)) {
                (text::fit(&period(unit), 11.5, layout.plot.1 - layout.time.start_px - 6.0))
            }
        }
        @for (at, tick) in ticks.fine.iter().enumerate() {
            @let x = layout.time.at(tick.at);
            @let room = ticks.fine.get(at + 1).map_or(layout.plot.1, |next| layout.time.at(next.at)) - x;
            @let label = if text::width(&tick.label, 11.0) <= room { &tick.label } else { "" };
            @if !label.is_empty() { text.gc-small.gc-soft x=(Px(x + 3.0)) y=(Px(lower)) { (label) } }
        }
        path.gc-rule d=(Path::through(&[(left, bottom), (layout.plot.1, bottom)])) {}
    }
}

/// The names of the larger units, each in the room it has.
fn coarse(layout: &Layout<'_>, ticks: &[Tick], y: f64) -> Markup {
    html! {
        @for (at, tick) in ticks.iter().enumerate() {
            @let x = layout.time.at(tick.at);
            @let room = ticks.get(at + 1).map_or(layout.plot.1, |next| layout.time.at(next.at)) - x - 6.0;
            @let label = [&tick.label, &tick.short].into_iter().find(|label| text::width(label, 11.5) * 1.06 <= room);
            @if let Some(label) = label { text.gc-small.gc-bold x=(Px(x + 3.0)) y=(Px(y)) { (label) } }
        }
    }
}

/// A line across all rows, with its name above.
struct Flag {
    class: &'static str,
    x: f64,
    label: String,
    words: String,
}

fn lines(layout: &Layout<'_>) -> Markup {
    let chart = layout.chart;
    let flag = |class, name: &str, moment: Option<Moment>| {
        let moment = moment.filter(|moment| layout.time.holds(moment.value()))?;
        let label = format!("{name} {}", chart.clock.short(moment, layout.span));
        Some(Flag { class, x: layout.at(moment), label, words: format!("{name}: {}", chart.clock.full(moment)) })
    };
    let today_class = "gc-today";
    let due = chart.deadline.as_ref().map(|deadline| deadline.at);
    let flags: Vec<Flag> =
        [flag(today_class, "Today", chart.today), flag("gc-deadline", "Deadline", due)].into_iter().flatten().collect();
    let top = layout.headers.first().map_or(0.0, |y| y + layout.sizes.header);
    let middles = spread(&flags, layout.plot);
    html! {
        @for (flag, middle) in flags.iter().zip(middles) {
            g {
                title { (flag.words) }
                path class=(flag.class) d=(Path::through(&[(flag.x, top + layout.sizes.flags - 3.0), (flag.x, layout.bottom)])) {}
                text class={ "gc-small gc-bold gc-middle " (flag.class) "-text" } x=(Px(middle)) y=(Px(top + 12.0)) { (flag.label) }
            }
        }
    }
}

/// Returns where the middles of the labels go: above their lines, inside the drawing and not on each other.
fn spread(flags: &[Flag], plot: (f64, f64)) -> Vec<f64> {
    let half = |flag: &Flag| text::width(&flag.label, 11.0) * 0.54 + 4.0;
    let inside = |flag: &Flag| flag.x.clamp(plot.0 + half(flag), (plot.1 - half(flag)).max(plot.0 + half(flag)));
    let mut middles: Vec<f64> = flags.iter().map(inside).collect();
    if let [one, other] = flags {
        let (left, right) = if middles[0] <= middles[1] { (0, 1) } else { (1, 0) };
        let apart = half(one) + half(other);
        let overlap = (apart - (middles[right] - middles[left])).max(0.0);
        middles[left] = (middles[left] - overlap / 2.0).max(plot.0 + half(&flags[left]));
        middles[right] = (middles[left] + apart).max(middles[right]).min(plot.1 - half(&flags[right]));
        middles[left] = middles[left].min(middles[right] - apart);
    }
    middles
}
