//! Values that processes may use and nobody may see.

/// The secrets of a place.
#[derive(Clone, Default)]
pub struct Secrets {}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    /// No secrets.
    pub fn none() -> Self {
        Self::default()
    }
}
