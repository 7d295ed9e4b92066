//! From values to pixels, and round numbers for an axis.

use super::{
    calendar::{self, Tick, Ticks},
    measure::Measure,
    moment::Clock,
};

/// Maps values from one end of an axis to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub from: f64,
    pub until: f64,
    pub start_px: f64,
    pub end_px: f64,
}

impl Scale {
    /// Returns a scale over these values; where they are all one, it is widened a little to both sides.
    pub(super) fn over(from: f64, until: f64, start_px: f64, end_px: f64) -> Self {
        let (from, until) = (tame(from), tame(until));
        let (from, until) = if from <= until { (from, until) } else { (until, from) };
        let least = (from.abs().max(until.abs()) * 1e-9).max(1e-9);
        if until - from < least {
            let room = (from.abs() * 0.05).max(0.5);
            return Self { from: from - room, until: until + room, start_px, end_px };
        }
        Self { from, until, start_px, end_px }
    }

    /// Returns where a value lies; what is beyond an end lies at that end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let part = ((value - self.from) / (self.until - self.from)).clamp(0.0, 1.0);
        let part = if part.is_finite() { part } else { 0.0 };
        self.start_px + part * (self.end_px - self.start_px)
    }

    /// Says whether a value lies between the ends.
    pub(super) fn holds(&self, value: f64) -> bool {
        (self.from..=self.until).contains(&value)
    }

    /// Returns the marks of this axis.
    pub(super) fn ticks(&self, measure: &Measure) -> Ticks {
        match measure {
            Measure::Time(Clock::Dates) => calendar::ticks(self),
            Measure::Time(Clock::Periods { .. }) => self.numbers(measure, 1.0, 56.0),
            Measure::Money { .. } | Measure::Amount { .. } | Measure::Percent => self.numbers(measure, 0.0, 76.0),
        }
    }

    /// Returns marks at round numbers, at least so far apart.
    pub(super) fn numbers(&self, measure: &Measure, step_min: f64, room_px: f64) -> Ticks {
        let count = ((self.end_px - self.start_px).abs() / room_px).max(1.0);
        let step = nice_step(self.until - self.from, count).max(step_min);
        let first = (self.from / step - 1e-9).ceil();
        let values = (0..200).map(|i| (first + f64::from(i)) * step);
        let inside = values.take_while(|value| *value <= self.until + step * 1e-9);
        let tick =
            |value: f64| Tick { at: value, label: measure.short(value, step), short: measure.short(value, step) };
        Ticks { fine: inside.map(tick).collect(), coarse: Vec::new() }
    }
}

/// Returns the value, or the nearest one that can be drawn.
pub(super) fn tame(value: f64) -> f64 {
    const FAR: f64 = 1e18;
    if value.is_nan() { 0.0 } else { value.clamp(-FAR, FAR) }
}

/// Returns the least of 1, 2, 5, 10, 20 … that divides a range into at most so many parts.
fn nice_step(range: f64, count: f64) -> f64 {
    let rough = (range / count.max(1.0)).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|part| part * power).into_iter().find(|step| *step >= rough * 0.999_999);
    step.filter(|step| step.is_normal()).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_on_the_axis() {
        let scale = Scale::over(3.0, 3.0, 10.0, 110.0);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3.0, -1e300] {
            assert!((10.0..=110.0).contains(&scale.at(value)), "{value}");
        }
    }

    #[test]
    fn numbers_are_round() {
        let labels = |from, until| {
            let ticks = Scale::over(from, until, 0.0, 400.0).ticks(&Measure::amount(""));
            ticks.fine.iter().map(|tick| tick.label.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(0.0, 9.0), "0 2 4 6 8");
        assert_eq!(labels(-0.31, 0.62), "-0.2 0 0.2 0.4 0.6");
        assert_eq!(labels(0.0, 1_250_000.0), "0 500k 1M");
    }
}
