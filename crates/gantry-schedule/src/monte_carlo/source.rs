//! Streams of random numbers, one for each source of chance.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::LANES;
use crate::chance::{normal_at, normal_below};

/// One share between 0 and 1 for each future of a block.
pub(super) type Shares = [f32; LANES];

/// A source of chance, and the common causes it depends on.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    stream: u64,
    /// Common causes by place, each with its weight.
    causes: Vec<(usize, f64)>,
    /// How much is its own.
    own: f64,
}

impl Source {
    /// A source of its own. The name decides the stream, so it must be unique.
    pub(super) fn new(name: &str) -> Self {
        Self { stream: stream(name), causes: Vec::new(), own: 1.0 }
    }

    /// A source that shares causes; each has a place and a correlation.
    pub(super) fn sharing(name: &str, causes: &[(usize, f64)]) -> Self {
        let shared: f64 = causes.iter().map(|(_, strength)| strength).sum();
        let causes = causes.iter().map(|(cause, strength)| (*cause, strength.sqrt())).collect();
        Self { stream: stream(name), causes, own: (1.0 - shared).max(0.0).sqrt() }
    }

    /// The shares of one block of futures; `causes` are the normal values of the common causes.
    #[expect(clippy::cast_possible_truncation, reason = "a share needs six digits")]
    pub(super) fn shares(&self, dice: &ChaCha8Rng, block: usize, causes: &[[f64; LANES]]) -> Shares {
        let mut shares = uniform(dice, self.stream, block);
        if !self.causes.is_empty() {
            for (lane, share) in shares.iter_mut().enumerate() {
                let common: f64 = self.causes.iter().map(|(cause, weight)| weight * causes[*cause][lane]).sum();
                *share = normal_below(self.own * normal_at(f64::from(*share)) + common) as f32;
            }
        }
        shares
    }

    /// The normal values of one block, for a common cause.
    pub(super) fn normals(&self, dice: &ChaCha8Rng, block: usize) -> [f64; LANES] {
        uniform(dice, self.stream, block).map(|share| normal_at(f64::from(share)))
    }
}

/// The dice of a seed.
pub(super) fn dice(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

#[expect(clippy::cast_precision_loss, reason = "24 bits fit")]
fn uniform(dice: &ChaCha8Rng, stream: u64, block: usize) -> Shares {
    let mut dice = dice.clone();
    dice.set_stream(stream);
    dice.set_word_pos((block * LANES) as u128);
    std::array::from_fn(|_| ((dice.next_u32() >> 8) as f32 + 0.5) / (1 << 24) as f32)
}

/// A number for a name: FNV-1a, which is the same everywhere and for ever.
fn stream(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_that_share_a_cause_move_together() {
        let dice = dice(7);
        let cause = Source::new("cause");
        let (a, b) = (Source::sharing("a", &[(0, 0.8)]), Source::sharing("b", &[(0, 0.8)]));
        let (mut together, mut count) = (0.0, 0.0);
        for block in 0..200 {
            let causes = [cause.normals(&dice, block)];
            let (a, b) = (a.shares(&dice, block, &causes), b.shares(&dice, block, &causes));
            for (a, b) in a.iter().zip(&b) {
                together += normal_at(f64::from(*a)) * normal_at(f64::from(*b));
                count += 1.0;
            }
        }
        assert!((together / count - 0.8_f64).abs() < 0.03, "{}", together / count);
    }

    #[test]
    fn blocks_of_one_stream_go_on_where_the_last_ended() {
        let dice = dice(7);
        let mut whole = dice.clone();
        whole.set_stream(stream("x"));
        let first = uniform(&dice, stream("x"), 0);
        let second = uniform(&dice, stream("x"), 1);
        #[expect(clippy::cast_precision_loss, reason = "24 bits fit")]
        let next = |dice: &mut ChaCha8Rng| ((dice.next_u32() >> 8) as f32 + 0.5) / (1 << 24) as f32;
        let expected: Vec<f32> = (0..2 * LANES).map(|_| next(&mut whole)).collect();
        assert_eq!([first, second].concat(), expected);
    }
}
