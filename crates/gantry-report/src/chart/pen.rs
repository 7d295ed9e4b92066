//! Numbers and paths as SVG writes them: finite, short and the same on every machine.

use maud::Render;
use std::fmt::Write;

/// A coordinate or a length in pixels, written with at most two decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Px(pub f64);

/// Further out than any chart draws; keeps every number writable.
const PX_MAX: f64 = 1e7;

impl Render for Px {
    fn render_to(&self, out: &mut String) {
        write_px(out, self.0);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "clamped to ten million before")]
fn write_px(out: &mut String, value: f64) {
    let value = if value.is_finite() { value.clamp(-PX_MAX, PX_MAX) } else { 0.0 };
    let hundredths = (value * 100.0).round() as i64;
    if hundredths < 0 {
        out.push('-');
    }
    let (whole, rest) = (hundredths.unsigned_abs() / 100, hundredths.unsigned_abs() % 100);
    // Writing into a string cannot fail.
    let _ = match rest {
        0 => write!(out, "{whole}"),
        _ if rest.is_multiple_of(10) => write!(out, "{whole}.{}", rest / 10),
        _ => write!(out, "{whole}.{rest:02}"),
    };
}

/// The way a line takes, in absolute coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Path(String);

impl Path {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lifts the pen and sets it down elsewhere.
    pub(super) fn start(mut self, x: f64, y: f64) -> Self {
        self.add('M', &[x, y]);
        self
    }

    pub(super) fn line(mut self, x: f64, y: f64) -> Self {
        self.add('L', &[x, y]);
        self
    }

    /// Bends around a corner towards a point.
    pub(super) fn bend(mut self, corner: (f64, f64), x: f64, y: f64) -> Self {
        self.add('Q', &[corner.0, corner.1, x, y]);
        self
    }

    /// Swings over to a point, level at both ends.
    pub(super) fn swing(mut self, from: (f64, f64), to: (f64, f64)) -> Self {
        let middle = f64::midpoint(from.0, to.0);
        self.add('C', &[middle, from.1, middle, to.1, to.0, to.1]);
        self
    }

    pub(super) fn close(mut self) -> Self {
        self.0.push('Z');
        self
    }

    /// A closed shape through these points.
    pub(super) fn shape(points: &[(f64, f64)]) -> Self {
        Self::through(points).close()
    }

    /// A line through these points.
    pub(super) fn through(points: &[(f64, f64)]) -> Self {
        let Some(((x, y), rest)) = points.split_first() else { return Self::default() };
        rest.iter().fold(Self::default().start(*x, *y), |path, (x, y)| path.line(*x, *y))
    }

    /// A line through these points whose corners are rounded off.
    pub(super) fn rounded(points: &[(f64, f64)], radius: f64) -> Self {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return Self::default() };
        let mut path = Self::default().start(first.0, first.1);
        for corner in points.windows(3) {
            let (before, at, after) = (corner[0], corner[1], corner[2]);
            let into = toward(at, before, radius);
            let out_of = toward(at, after, radius);
            path = path.line(into.0, into.1).bend(at, out_of.0, out_of.1);
        }
        path.line(last.0, last.1)
    }

    fn add(&mut self, command: char, numbers: &[f64]) {
        self.0.push(command);
        for (i, number) in numbers.iter().enumerate() {
            if i > 0 {
                self.0.push(' ');
            }
            write_px(&mut self.0, *number);
        }
    }
}

impl Render for Path {
    fn render_to(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

/// The point at most `distance` away from `from` on the way to `to`, at most halfway there.
fn toward(from: (f64, f64), to: (f64, f64), distance: f64) -> (f64, f64) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length <= 0.0 {
        return from;
    }
    let part = (distance / length).min(0.5);
    (from.0 + dx * part, from.1 + dy * part)
}

/// A diamond around a centre.
pub(super) fn diamond(x: f64, y: f64, reach: f64) -> Path {
    Path::shape(&[(x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y)])
}

/// The two directions an arrow of a chart can have at its end, and those of layered graphs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Heading {
    Right,
    Left,
    Down,
    Up,
}

/// The head of an arrow whose tip is at a point.
pub(super) fn arrow_head(x: f64, y: f64, heading: Heading, size: f64) -> Path {
    let half = size * 0.6;
    match heading {
        Heading::Right => Path::shape(&[(x, y), (x - size, y - half), (x - size, y + half)]),
        Heading::Left => Path::shape(&[(x, y), (x + size, y - half), (x + size, y + half)]),
        Heading::Down => Path::shape(&[(x, y), (x - half, y - size), (x + half, y - size)]),
        Heading::Up => Path::shape(&[(x, y), (x - half, y + size), (x + half, y + size)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_short_and_never_infinite() {
        let written = [0.0, -0.001, 1.0, 2.5, 2.504, -3.456, 1e300, f64::NAN, f64::NEG_INFINITY]
            .map(|value| Px(value).render().into_string())
            .join(" ");
        assert_eq!(written, "0 0 1 2.5 2.5 -3.46 10000000 0 0");
    }

    #[test]
    fn a_rounded_line_bends_at_each_corner() {
        let path = Path::rounded(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], 3.0);
        assert_eq!(path.0, "M0 0L7 0Q10 0 10 3L10 10");
    }
}
