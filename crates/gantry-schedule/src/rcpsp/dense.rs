//! A plane with a word for every period: the fastest for short times.

use super::plane::Plane;
use super::supply::Steps;

/// What is free in every period up to the horizon.
#[derive(Clone, Debug)]
pub(super) struct Dense {
    guards: u64,
    free: Vec<u64>,
    empty: Vec<u64>,
    /// Nothing is placed from this period on.
    touched: usize,
}

impl Plane for Dense {
    fn new(steps: &Steps, horizon: i32) -> Self {
        let length = period(horizon);
        let mut empty = vec![0; length];
        for &(from, word) in &steps.free {
            let from = period(from).min(length);
            empty[from..].fill(word);
        }
        Self { guards: steps.guards, free: empty.clone(), empty, touched: 0 }
    }

    fn clear(&mut self) {
        self.free[..self.touched].copy_from_slice(&self.empty[..self.touched]);
        self.touched = 0;
    }

    #[inline]
    fn earliest(&self, from: i32, duration: i32, demand: u64) -> Option<i32> {
        let (mut start, duration) = (period(from), period(duration));
        // Everything in `start..clear` is known to fit. Looking from the end of the stretch, the last period that does
        // not fit rules out the most starts.
        let mut clear = start;
        loop {
            let end = start + duration;
            let stretch = self.free.get(clear..end)?;
            match stretch.iter().rposition(|&free| free.wrapping_sub(demand) & self.guards != self.guards) {
                None => return i32::try_from(start).ok(),
                Some(blocked) => {
                    start = clear + blocked + 1;
                    clear = end;
                }
            }
        }
    }

    #[inline]
    fn take(&mut self, from: i32, duration: i32, demand: u64) {
        let (from, end) = (period(from), period(from + duration));
        for free in &mut self.free[from..end] {
            *free -= demand;
        }
        self.touched = self.touched.max(end);
    }

    fn give(&mut self, from: i32, duration: i32, demand: u64) {
        for free in &mut self.free[period(from)..period(from + duration)] {
            *free += demand;
        }
    }
}

/// A time as a place in the list; times of placed tasks are never negative.
#[inline]
fn period(time: i32) -> usize {
    usize::try_from(time).unwrap_or(0)
}
