//! Choices that look free and are not: a hash of what was asked and of the place decides.

/// A number that belongs to one place of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draw(u64);

impl Draw {
    /// Draws for a place.
    pub fn of(asked: &[u8; 32], place: &str) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(asked);
        hasher.update(place.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        Self(u64::from_le_bytes(first))
    }

    /// Another number for the same place.
    #[must_use]
    pub fn again(self, salt: u64) -> Self {
        // One step of a linear generator; all that counts is that neighbours differ.
        let mixed = (self.0 ^ salt.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(6_364_136_223_846_793_005);
        Self(mixed ^ (mixed >> 33))
    }

    /// A number below `end`; zero when there is none.
    pub fn below(self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.0 % end).unwrap_or_default()
    }

    /// The number itself.
    pub fn bits(self) -> u64 {
        self.0
    }
}
