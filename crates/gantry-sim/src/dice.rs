//! Chance from a seed: the same seed always throws the same dice.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A source of chance.
#[derive(Clone, Debug)]
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// Makes dice for a seed and a purpose, so that two purposes do not disturb each other.
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(purpose);
        Self(rng)
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `limit`; zero when the limit is zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { self.any() % limit }
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// A small number from `low` to `high`, both included.
    pub fn small(&mut self, low: u32, high: u32) -> u32 {
        u32::try_from(self.between(u64::from(low), u64::from(high))).unwrap_or(high)
    }

    /// An index below `length`.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// True in so many cases of a hundred.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// True in so many cases of a thousand.
    pub fn permille(&mut self, permille: u32) -> bool {
        self.below(1_000) < u64::from(permille)
    }

    /// One of these, if there is one.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.index(from.len()))
    }

    /// One of these texts; empty when there is none.
    pub fn word<'a>(&mut self, from: &[&'a str]) -> &'a str {
        self.pick(from).copied().unwrap_or("")
    }
}
