//! A distribution as a table of its quantiles.

use std::sync::LazyLock;

use super::normal::normal_at;
use crate::project::{Shape, ThreePoint};

/// How many equal shares the table has.
const CELLS: usize = 512;

/// How finely the density of a beta distribution is summed up.
const SLICES: usize = 1_024;

/// The ninetieth percentile of the standard normal distribution.
const Z90: f64 = 1.281_551_565_544_6;

/// For the middle of each slice between 0 and 1, the logarithms of the distances to both ends.
#[expect(clippy::cast_precision_loss, reason = "slices are few")]
static LOGARITHMS: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| {
    let middles = (0..SLICES).map(|slice| (slice as f64 + 0.5) / SLICES as f64);
    middles.map(|x| (x.ln(), (1.0 - x).ln())).collect()
});

/// Values at equal shares from 0 to 1.
#[derive(Clone, Debug)]
pub(crate) struct Quantiles(Vec<f32>);

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
// Shares and cells are small numbers, and six digits are more than an estimate has.
impl Quantiles {
    /// The distribution of a three-point estimate, never below zero.
    pub(crate) fn of(estimate: &ThreePoint<f64>) -> Self {
        let ThreePoint { low, likely, high, shape } = *estimate;
        if low >= high {
            return Self(vec![likely as f32; CELLS + 1]);
        }
        match shape {
            Shape::Pert => Self::pert(low, likely, high),
            Shape::Triangular => Self::from(|share| triangular(share, low, likely, high)),
            Shape::Lognormal => Self::from(|share| lognormal(share, low, likely, high)),
        }
    }

    /// The distribution of what was seen: every case equally likely, and what lies between neighbours too.
    pub(crate) fn seen(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        Self::from(|share| {
            let at = share * last as f64;
            let below = (at as usize).min(last);
            let next = sorted.get(below + 1).unwrap_or(&sorted[below]);
            sorted[below] + (next - sorted[below]) * (at - below as f64)
        })
    }

    fn from(value: impl Fn(f64) -> f64) -> Self {
        // The ends of an endless tail are cut a quarter of a cell before the end.
        let share = |cell: usize| (cell as f64).clamp(0.25, CELLS as f64 - 0.25) / CELLS as f64;
        let exact = |cell: usize| cell as f64 / CELLS as f64;
        let bounded = value(0.0).is_finite() && value(1.0).is_finite();
        Self((0..=CELLS).map(|cell| value(if bounded { exact(cell) } else { share(cell) }).max(0.0) as f32).collect())
    }

    fn pert(low: f64, likely: f64, high: f64) -> Self {
        let (alpha, beta) = (4.0 * (likely - low) / (high - low), 4.0 * (high - likely) / (high - low));
        let mut sums = Vec::with_capacity(SLICES + 1);
        let mut sum = 0.0;
        sums.push(0.0);
        for (below, above) in LOGARITHMS.iter() {
            sum += (alpha * below + beta * above).exp();
            sums.push(sum);
        }
        let mut slice = 0;
        let mut table = Vec::with_capacity(CELLS + 1);
        for cell in 0..=CELLS {
            let wanted = sum * cell as f64 / CELLS as f64;
            while slice + 1 < SLICES && sums[slice + 1] < wanted {
                slice += 1;
            }
            let part = ((wanted - sums[slice]) / (sums[slice + 1] - sums[slice])).clamp(0.0, 1.0);
            table.push((low + (high - low) * (slice as f64 + part) / SLICES as f64) as f32);
        }
        table[0] = low as f32;
        table[CELLS] = high as f32;
        Self(table)
    }

    /// The value below which this share lies.
    #[inline]
    pub(crate) fn at(&self, share: f32) -> f32 {
        let at = share * CELLS as f32;
        let cell = (at as usize).min(CELLS - 1);
        let (below, above) = (self.0[cell], self.0[cell + 1]);
        below + (above - below) * (at - cell as f32)
    }

    /// The mean value.
    pub(crate) fn mean(&self) -> f64 {
        let cells = self.0.windows(2).map(|pair| f64::from(pair[0]).midpoint(f64::from(pair[1])));
        cells.sum::<f64>() / CELLS as f64
    }
}

fn triangular(share: f64, low: f64, likely: f64, high: f64) -> f64 {
    let whole = high - low;
    if share < (likely - low) / whole {
        low + (share * whole * (likely - low)).sqrt()
    } else {
        high - ((1.0 - share) * whole * (high - likely)).sqrt()
    }
}

/// The curve through the tenth, fiftieth and ninetieth percentile that is lognormal when stretched and shifted: each
/// step of one normal percentile multiplies the distance by the same ratio.
fn lognormal(share: f64, low: f64, likely: f64, high: f64) -> f64 {
    const STEEPEST: f64 = 50.0;
    let z = if share <= 0.0 {
        f64::NEG_INFINITY
    } else if share >= 1.0 {
        f64::INFINITY
    } else {
        normal_at(share)
    } / Z90;
    let ratio = ((high - likely) / (likely - low)).clamp(1.0 / STEEPEST, STEEPEST);
    let upper = (high - likely).max((likely - low) / STEEPEST);
    if (ratio - 1.0).abs() < 1e-9 {
        return likely + upper * z;
    }
    likely + upper * (ratio.powf(z) - 1.0) / (ratio - 1.0)
}
