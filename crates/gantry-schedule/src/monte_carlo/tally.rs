//! What finish and cost are like when one driver is low, and when it is high.

use super::LANES;
use super::source::Shares;

/// The share of futures that counts as low, and as high.
const EDGE: f32 = 0.1;

/// Sums over futures.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub low: Side,
    pub high: Side,
    count: f64,
    share: f64,
    share_squared: f64,
    late: f64,
    late_squared: f64,
    share_late: f64,
}

/// Sums over the futures at one end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Side {
    count: f64,
    late: f64,
    cost: f64,
}

impl Side {
    fn add(&mut self, late: f64, cost: f64) {
        self.count += 1.0;
        self.late += late;
        self.cost += cost;
    }

    fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.late += other.late;
        self.cost += other.cost;
    }

    /// Mean hours late and mean cost; none without futures.
    pub(super) fn means(&self) -> Option<(f64, f64)> {
        (self.count > 0.0).then(|| (self.late / self.count, self.cost / self.count))
    }
}

impl Tally {
    /// Of a driver that is drawn between 0 and 1.
    pub(super) fn of_shares(shares: &Shares, late: &[f64; LANES], costs: &[f64; LANES]) -> Self {
        let mut tally = Self::default();
        for lane in 0..LANES {
            tally.add(f64::from(shares[lane]), late[lane]);
            if shares[lane] < EDGE {
                tally.low.add(late[lane], costs[lane]);
            } else if shares[lane] > 1.0 - EDGE {
                tally.high.add(late[lane], costs[lane]);
            }
        }
        tally
    }

    /// Of a driver that happens or does not.
    pub(super) fn of_event(happens: u64, late: &[f64; LANES], costs: &[f64; LANES]) -> Self {
        let mut tally = Self::default();
        for lane in 0..LANES {
            let happened = happens >> lane & 1 == 1;
            tally.add(f64::from(u8::from(happened)), late[lane]);
            if happened { &mut tally.high } else { &mut tally.low }.add(late[lane], costs[lane]);
        }
        tally
    }

    fn add(&mut self, share: f64, late: f64) {
        self.count += 1.0;
        self.share += share;
        self.share_squared += share * share;
        self.late += late;
        self.late_squared += late * late;
        self.share_late += share * late;
    }

    /// Adds the sums of another block.
    pub(super) fn join(&mut self, other: &Self) {
        self.low.join(&other.low);
        self.high.join(&other.high);
        self.count += other.count;
        self.share += other.share;
        self.share_squared += other.share_squared;
        self.late += other.late;
        self.late_squared += other.late_squared;
        self.share_late += other.share_late;
    }

    /// The correlation of the driver with the finish.
    pub(super) fn correlation(&self) -> f64 {
        let together = self.count * self.share_late - self.share * self.late;
        let share = self.count * self.share_squared - self.share * self.share;
        let late = self.count * self.late_squared - self.late * self.late;
        if share <= 0.0 || late <= 1e-9 { 0.0 } else { (together / (share * late).sqrt()).clamp(-1.0, 1.0) }
    }
}
