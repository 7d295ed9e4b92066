//! Chance: what a three-point estimate means as a distribution.
//!
//! Drawing must be cheap, so each distribution is kept as a table of its quantiles: a draw is one random number and one
//! interpolation. The tables are built once per estimate.

mod normal; // in reading order
mod quantiles;

pub(crate) use normal::{normal_at, normal_below};
pub(crate) use quantiles::Quantiles;

use crate::project::{Shape, ThreePoint};
use crate::schedule::Basis;

/// The mean of an estimate.
pub fn mean(estimate: &ThreePoint<f64>) -> f64 {
    let ThreePoint { low, likely, high, shape } = *estimate;
    match shape {
        Shape::Pert => (low + 4.0 * likely + high) / 6.0,
        Shape::Triangular => (low + likely + high) / 3.0,
        Shape::Lognormal => Quantiles::of(estimate).mean(),
    }
}

/// The seconds that a schedule takes for an estimate, in whole minutes from an hour on.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "lengths are below 2^36 seconds")]
pub(crate) fn planned(seconds: &ThreePoint<i64>, basis: Basis, factor: f64) -> i64 {
    if seconds.is_fixed() && (factor - 1.0).abs() < f64::EPSILON {
        return seconds.likely;
    }
    let value = match basis {
        Basis::Likely => seconds.likely as f64,
        Basis::Expected => mean(&seconds.map(|value| *value as f64)),
    };
    let value = (value * factor).max(0.0);
    if value >= 3_600.0 { (value / 60.0).round() as i64 * 60 } else { value.round() as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_pert_is_low_plus_four_likely_plus_high_over_six() {
        let estimate = ThreePoint::pert(2.0, 5.0, 14.0);
        assert!((mean(&estimate) - 6.0).abs() < 1e-12);
        assert!((Quantiles::of(&estimate).mean() - 6.0).abs() < 0.01);
    }

    #[test]
    fn the_mean_of_a_triangle_is_the_mean_of_its_corners() {
        let estimate = ThreePoint::pert(3.0, 4.0, 11.0).shaped(Shape::Triangular);
        assert!((mean(&estimate) - 6.0).abs() < 1e-12);
        assert!((Quantiles::of(&estimate).mean() - 6.0).abs() < 0.01);
    }

    #[test]
    fn the_ends_of_a_lognormal_are_its_tenth_and_ninetieth_percentile() {
        let table = Quantiles::of(&ThreePoint::pert(5.0, 8.0, 20.0).shaped(Shape::Lognormal));
        for (share, value) in [(0.1, 5.0), (0.5, 8.0), (0.9, 20.0)] {
            assert!((f64::from(table.at(share)) - value).abs() < 0.05, "{share}: {}", table.at(share));
        }
    }

    #[test]
    fn a_plan_takes_the_expected_or_the_likely_value() {
        let day = 8 * 3_600;
        let estimate = ThreePoint::pert(2 * day, 5 * day, 14 * day);
        assert_eq!(planned(&estimate, Basis::Expected, 1.0), 6 * day);
        assert_eq!(planned(&estimate, Basis::Likely, 1.0), 5 * day);
        assert_eq!(planned(&ThreePoint::fixed(7), Basis::Expected, 1.0), 7);
        assert_eq!(planned(&ThreePoint::fixed(2 * day), Basis::Expected, 1.5), 3 * day);
    }
}
