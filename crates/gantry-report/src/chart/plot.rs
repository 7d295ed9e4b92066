//! What charts of values share: a rectangle with axes, and upright lines with names.

use super::{
    calendar::Tick,
    frame::Frame,
    measure::Measure,
    pen::{Path, Px},
    scale::Scale,
    text,
};
use maud::{Markup, html};

/// The room below a drawing for the marks of its axis.
pub(super) const AXIS_PX: f64 = 40.0;

/// The room above a drawing for one line of names of upright lines.
const LANE_PX: f64 = 16.0;

const LABEL_PX: f64 = 11.0;

/// The least distance between two lines of equal height.
const LEVELS_PX: f64 = 38.0;

/// Where the labels of an axis stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Labels {
    /// Below their marks, for values.
    AtMarks,
    /// Between their mark and the next, for bars that fill that room.
    BetweenMarks,
}

/// The rectangle in which values are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plot {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Plot {
    /// Returns the height of a drawing that looks right in a frame.
    pub(super) fn height_in(frame: &Frame) -> f64 {
        (frame.width() * 0.3).clamp(170.0, 320.0)
    }

    /// Draws the marks of an axis below, with the larger units under the fine ones.
    pub(super) fn axis_below(&self, scale: &Scale, measure: &Measure, labels: Labels) -> Markup {
        let ticks = scale.ticks(measure);
        let marks = ticks.fine.iter().fold(Path::default(), |path, tick| {
            let x = scale.at(tick.at);
            path.start(x, self.bottom).line(x, self.bottom + 4.0)
        });
        let name = match measure {
            Measure::Time(super::Clock::Periods { unit }) | Measure::Amount { unit } => text::clean(unit),
            Measure::Time(super::Clock::Dates) | Measure::Money { .. } | Measure::Percent => String::new(),
        };
        html! {
            path.gc-rule d=(marks.start(self.left, self.bottom).line(self.right, self.bottom)) {}
            @for (x, label) in apart(&ticks.fine, scale, self, labels) {
                text.gc-soft.gc-small.gc-middle x=(Px(x)) y=(Px(self.bottom + 17.0)) { (label) }
            }
            @for (at, tick) in ticks.coarse.iter().enumerate() {
                @let x = scale.at(tick.at);
                @let room = ticks.coarse.get(at + 1).map_or(self.right, |next| scale.at(next.at)) - x - 6.0;
                @let label = [&tick.label, &tick.short].into_iter().find(|label| text::width(label, LABEL_PX) <= room);
                @if let Some(label) = label {
                    text.gc-soft.gc-small x=(Px(x)) y=(Px(self.bottom + 32.0)) { (label) }
                }
            }
            @if !name.is_empty() {
                text.gc-soft.gc-small.gc-end x=(Px(self.right)) y=(Px(self.bottom + 32.0)) { (text::fit(&name, LABEL_PX, self.right - self.left)) }
            }
        }
    }

    /// Draws the lines of equal height with their values at the left.
    pub(super) fn axis_left(&self, scale: &Scale, measure: &Measure, step_min: f64) -> Markup {
        let ticks = scale.numbers(measure, step_min, LEVELS_PX).fine;
        let lines = ticks.iter().fold(Path::default(), |path, tick| {
            let y = scale.at(tick.at);
            path.start(self.left, y).line(self.right, y)
        });
        html! {
            path.gc-grid d=(lines) {}
            @for tick in &ticks {
                text.gc-soft.gc-small.gc-end x=(Px(self.left - 7.0)) y=(Px(scale.at(tick.at) + 4.0)) { (tick.label) }
            }
        }
    }

    /// Returns the room that the values at the left need.
    pub(super) fn room_left(scale: &Scale, measure: &Measure, step_min: f64) -> f64 {
        let ticks = scale.numbers(measure, step_min, LEVELS_PX).fine;
        ticks.iter().map(|tick| text::width(&tick.label, LABEL_PX)).fold(16.0, f64::max) + 8.0
    }
}

/// Returns the labels that stay clear of each other and of the sides, with their middles.
fn apart<'a>(ticks: &'a [Tick], scale: &Scale, plot: &Plot, labels: Labels) -> Vec<(f64, &'a str)> {
    let mut free_from = f64::NEG_INFINITY;
    let mut kept = Vec::new();
    for (at, tick) in ticks.iter().enumerate() {
        let next = ticks.get(at + 1).map_or(plot.right, |next| scale.at(next.at));
        let x = match labels {
            Labels::AtMarks => scale.at(tick.at),
            Labels::BetweenMarks => f64::midpoint(scale.at(tick.at), next),
        };
        let half = text::width(&tick.label, LABEL_PX) / 2.0;
        let fits = x - half >= free_from && x + half <= plot.right + 10.0 && x - half >= plot.left - 30.0;
        if fits {
            kept.push((x, tick.label.as_str()));
            free_from = x + half + 4.0;
        }
    }
    kept
}

/// An upright line at a value, with a name above the drawing.
#[derive(Clone, Debug)]
pub(super) struct Marker {
    pub value: f64,
    pub label: String,
    pub words: String,
    /// The class of the line; the label has the same with `-text`.
    pub class: &'static str,
}

/// Where the name of a marker goes.
struct Placed<'a> {
    marker: &'a Marker,
    x: f64,
    left: f64,
    width: f64,
    lane: usize,
}

/// Markers that were given places.
pub(super) struct Markers<'a>(Vec<Placed<'a>>);

impl<'a> Markers<'a> {
    /// Gives each marker inside the scale a place for its name.
    ///
    /// A name begins at its line and runs to the right. From the right to the left, each goes one lane above all lines
    /// that it would cross, so that no line runs through a name.
    pub(super) fn place(markers: &'a [Marker], scale: &Scale, right: f64) -> Self {
        let mut sorted: Vec<&Marker> = markers.iter().filter(|marker| scale.holds(marker.value)).collect();
        sorted.sort_by(|a, b| b.value.total_cmp(&a.value));
        let mut placed: Vec<Placed<'a>> = Vec::new();
        for marker in sorted {
            let (x, width) = (scale.at(marker.value), text::width(&marker.label, LABEL_PX) * 1.06 + 8.0);
            let left = (x - 2.0).min(right - width);
            let below = placed.iter().filter(|other| other.left < left + width && left < other.left + other.width);
            let lane = below.map(|other| other.lane + 1).max().unwrap_or(0);
            placed.push(Placed { marker, x, left, width, lane });
        }
        Self(placed)
    }

    /// Returns the room that the names need above the drawing.
    pub(super) fn height(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a handful")]
        let lanes = self.0.iter().map(|placed| placed.lane + 1).max().unwrap_or(0) as f64;
        lanes * LANE_PX + if lanes > 0.0 { 4.0 } else { 0.0 }
    }

    /// Draws lines and names.
    pub(super) fn draw(&self, plot: &Plot) -> Markup {
        html! {
            @for Placed { marker, x, left, lane, .. } in &self.0 {
                @let y = plot.top - 4.0 - f64::from(u32::try_from(*lane).unwrap_or(0)) * LANE_PX;
                g {
                    title { (marker.words) }
                    path class=(marker.class) d=(Path::through(&[(*x, y - LANE_PX + 4.0), (*x, plot.bottom)])) {}
                    text class={ "gc-small gc-bold gc-halo " (marker.class) "-text" } x=(Px(left + 6.0)) y=(Px(y - 1.0)) { (marker.label) }
                }
            }
        }
    }
}
