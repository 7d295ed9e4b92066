//! What is still free in one plane while a schedule is being made.

use super::supply::Steps;

/// What is free, period by period. There are two of them: one for short times and one for long ones.
pub(super) trait Plane {
    /// A plane with nothing placed. `horizon` is a period by which every schedule has ended.
    fn new(steps: &Steps, horizon: i32) -> Self;

    /// Takes everything out again.
    fn clear(&mut self);

    /// The first period not before `from` where `demand` fits for so long; none when it never does.
    fn earliest(&self, from: i32, duration: i32, demand: u64) -> Option<i32>;

    /// Places a demand that fits.
    fn take(&mut self, from: i32, duration: i32, demand: u64);

    /// Takes a demand that was placed there away again.
    fn give(&mut self, from: i32, duration: i32, demand: u64);
}
