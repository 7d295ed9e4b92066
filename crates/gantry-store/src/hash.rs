//! BLAKE3 hashes: 32 bytes, written as 64 hexadecimal digits.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A BLAKE3 hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// Hashes some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
    /// Hashes several parts so that no two lists of parts give the same bytes.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(*hasher.finalize().as_bytes())
    }
    /// Links a hash to the one before it.
    #[must_use]
    pub fn after(self, before: Self) -> Self {
        let mut both = [0; 64];
        both[..32].copy_from_slice(&before.0);
        both[32..].copy_from_slice(&self.0);
        Self::of(&both)
    }
    /// Makes a hash from its stored bytes, unless they are not 32.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Hashes bytes that come piece by piece, as [`Hash::of`] hashes all of them.
#[derive(Clone, Default)]
pub struct Hashing(blake3::Hasher);

impl Hashing {
    /// Adds a piece.
    pub fn add(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }
    /// Returns the hash of all pieces so far.
    pub fn hash(&self) -> Hash {
        Hash(*self.0.finalize().as_bytes())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(blake3::Hash::from_bytes(self.0).to_hex().as_str())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let hash = blake3::Hash::from_hex(text).map_err(|_| format!("`{text}` is not a hash of 64 hexadecimal digits"));
        hash.map(|hash| Self(*hash.as_bytes()))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
