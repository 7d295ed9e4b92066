//! The tornado: what moves the outcome most, and in which direction.

use super::{
    frame::{self, Frame},
    legend::{self, Legend},
    measure::Measure,
    pen::{Path, Px},
    plot::{AXIS_PX, Labels, Plot},
    scale::{Scale, tame},
    text,
};
use maud::{Markup, html};

/// What moves an outcome, the strongest above.
#[derive(Clone, Debug, PartialEq)]
pub struct Tornado {
    /// What the outcome is.
    pub measure: Measure,
    /// The outcome when nothing is moved.
    pub base: f64,
    /// What moves it, in any order.
    pub drivers: Vec<Driver>,
}

/// Something that moves an outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Driver {
    /// What it is called.
    pub name: String,
    /// The outcome when this is at its low end.
    pub low: f64,
    /// The outcome when this is at its high end.
    pub high: f64,
    /// What low and high are, such as `P10 and P90`; said in the tooltip.
    pub note: String,
}

impl Driver {
    fn swing(&self) -> f64 {
        (tame(self.high) - tame(self.low)).abs()
    }
}

/// The most drivers that are drawn.
const DRIVERS_MAX: usize = 20;

const ROW_PX: f64 = 26.0;

impl Tornado {
    /// Draws the chart.
    pub fn svg(&self, frame: &Frame) -> String {
        if self.drivers.is_empty() {
            return frame::empty(frame, "Nothing moves the outcome.", "Tornado chart without drivers.");
        }
        let drivers = self.strongest();
        let legend = Legend::default()
            .add(!drivers.is_empty(), "At its low end", legend::patterned("gc-bar", frame.fill("hatch")))
            .add(!drivers.is_empty(), "At its high end", legend::swatch("gc-critical"));
        let top = frame::top(frame, &self.message(), &legend);
        let shown = &drivers[..drivers.len().min(DRIVERS_MAX)];
        let name_line = if frame.is_narrow() { 18.0 } else { 0.0 };
        let names = shown.iter().map(|driver| text::width(&text::clean(&driver.name), 12.0)).fold(80.0, f64::max);
        let left = frame.margin() + if frame.is_narrow() { 0.0 } else { names.min(frame.width() * 0.3) + 14.0 };
        let right = frame.width() - frame.margin();
        // Beside the bars, so that what they say at their ends stays inside.
        let label_room = shown.iter().map(|driver| self.label_room(driver)).fold(20.0, f64::max);
        let x = self.scale(shown, left + label_room, (right - label_room).max(left + label_room + 40.0).min(right));
        let row_px = ROW_PX + name_line;
        let first = top.height + 20.0;
        let count = f64::from(u32::try_from(shown.len()).unwrap_or(0)).max(1.0);
        let plot = Plot { left, top: first, right, bottom: first + count * row_px + 4.0 };
        let base = x.at(self.base);
        let base_label = format!("Base {}", self.measure.brief(self.base, self.range()));
        let base_half = text::width(&base_label, 11.0) * 0.54;
        let drawn = html! {
            (top.drawn)
            (grid(&plot, &x, &self.measure))
            @for (at, driver) in shown.iter().enumerate() {
                @let y = first + row_px * f64::from(u32::try_from(at).unwrap_or(0)) + name_line;
                (self.row(frame, driver, &x, y))
                @if frame.is_narrow() {
                    text x=(Px(frame.margin())) y=(Px(y - 3.0)) { (text::fit(&text::clean_or(&driver.name, "unnamed"), 12.0, right - frame.margin())) }
                } @else {
                    text.gc-end x=(Px(left - 10.0)) y=(Px(y + 17.0)) { (text::fit(&text::clean_or(&driver.name, "unnamed"), 12.0, left - 10.0 - frame.margin())) }
                }
            }
            path.gc-marker d=(Path::through(&[(base, plot.top - 4.0), (base, plot.bottom)])) {}
            text.gc-small.gc-bold.gc-middle x=(Px(base.clamp(left + base_half, right - base_half))) y=(Px(plot.top - 8.0)) { (base_label) }
            (plot.axis_below(&x, &self.measure, Labels::AtMarks))
        };
        frame::svg(frame, (frame.width(), plot.bottom + AXIS_PX + 8.0), &self.words(), drawn)
    }

    /// The drivers by how far they move the outcome; equals keep their order.
    fn strongest(&self) -> Vec<&Driver> {
        let mut drivers: Vec<&Driver> = self.drivers.iter().collect();
        drivers.sort_by(|a, b| b.swing().total_cmp(&a.swing()));
        drivers
    }

    fn scale(&self, shown: &[&Driver], left: f64, right: f64) -> Scale {
        let ends = || shown.iter().flat_map(|driver| [tame(driver.low), tame(driver.high)]).chain([tame(self.base)]);
        let (low, high) = (ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max));
        let edge = if high > low { 0.0 } else { self.measure.least() / 2.0 };
        Scale::over(low - edge, high + edge, left, right)
    }

    /// How far the outcomes reach.
    fn range(&self) -> f64 {
        let scale = self.scale(&self.drivers.iter().collect::<Vec<_>>(), 0.0, 1.0);
        scale.until - scale.from
    }

    fn label_room(&self, driver: &Driver) -> f64 {
        let label = |to| text::width(&self.measure.difference(self.base, to), 11.0) + 10.0;
        label(driver.low).max(label(driver.high))
    }

    fn row(&self, frame: &Frame, driver: &Driver, x: &Scale, y: f64) -> Markup {
        let base = x.at(self.base);
        let (top, height) = (y + 4.0, ROW_PX - 8.0);
        let bar = |to: f64| (base.min(x.at(to)), (base - x.at(to)).abs());
        let (low, high) = (bar(driver.low), bar(driver.high));
        html! {
            g {
                title { (self.tooltip(driver)) }
                @if high.1 > 0.0 { rect.gc-critical x=(Px(high.0)) y=(Px(top)) width=(Px(high.1)) height=(Px(height)) {} }
                @if low.1 > 0.0 {
                    rect.gc-bar x=(Px(low.0)) y=(Px(top)) width=(Px(low.1)) height=(Px(height)) {}
                    rect fill=(frame.fill("hatch")) x=(Px(low.0)) y=(Px(top)) width=(Px(low.1)) height=(Px(height)) {}
                }
                (self.ends(frame, driver, x, y + 17.0))
            }
        }
    }

    /// What the two ends say, on the outer side of each; one label where both lie on the same side.
    fn ends(&self, frame: &Frame, driver: &Driver, x: &Scale, y: f64) -> Markup {
        let (low, high) = (tame(driver.low), tame(driver.high));
        let (least, most) = (low.min(high), low.max(high));
        let (left, right) = (x.at(least) - 5.0, x.at(most) + 5.0);
        let said = |to: f64, room: f64| text::fit(&self.measure.difference(self.base, to), 11.0, room);
        html! {
            @if least < self.base {
                text.gc-soft.gc-small.gc-end x=(Px(left)) y=(Px(y)) { (said(least, left - frame.margin())) }
            }
            @if most > self.base {
                text.gc-soft.gc-small x=(Px(right)) y=(Px(y)) { (said(most, frame.width() - frame.margin() - right)) }
            }
        }
    }

    fn tooltip(&self, driver: &Driver) -> String {
        let mut lines = vec![
            text::clean_or(&driver.name, "unnamed"),
            format!(
                "Low end: {} ({})",
                self.measure.full(driver.low, self.range()),
                self.measure.difference(self.base, driver.low)
            ),
            format!(
                "High end: {} ({})",
                self.measure.full(driver.high, self.range()),
                self.measure.difference(self.base, driver.high)
            ),
        ];
        let note = text::clean(&driver.note);
        if !note.is_empty() {
            lines.push(note);
        }
        lines.join("\n")
    }

    fn message(&self) -> String {
        let drivers = self.strongest();
        let Some(first) = drivers.first() else { return String::new() };
        let hidden = drivers.len().saturating_sub(DRIVERS_MAX);
        let rest =
            if hidden > 0 { format!(" {} not shown.", text::count(hidden, "weaker driver")) } else { String::new() };
        format!(
            "{} moves the outcome most: from {} to {}.{rest}",
            text::clean_or(&first.name, "unnamed"),
            self.measure.full(first.low.min(first.high), self.range()),
            self.measure.full(first.low.max(first.high), self.range()),
        )
    }

    fn words(&self) -> String {
        let drivers: Vec<String> = self
            .strongest()
            .into_iter()
            .map(|driver| {
                let name = text::clean_or(&driver.name, "unnamed");
                format!(
                    "{name} {} to {}",
                    self.measure.difference(self.base, driver.low),
                    self.measure.difference(self.base, driver.high)
                )
            })
            .collect();
        let base = self.measure.full(self.base, self.range());
        format!(
            "Tornado chart around {base}. {} Drivers, strongest first: {}.",
            self.message(),
            text::list(&drivers, 10)
        )
    }
}

/// Upright lines at the marks of the axis.
fn grid(plot: &Plot, x: &Scale, measure: &Measure) -> Markup {
    let lines = x
        .ticks(measure)
        .fine
        .iter()
        .fold(Path::default(), |path, tick| path.start(x.at(tick.at), plot.top).line(x.at(tick.at), plot.bottom));
    html! { @if !lines.is_empty() { path.gc-grid d=(lines) {} } }
}
