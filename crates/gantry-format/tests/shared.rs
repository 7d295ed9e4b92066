//! Data that is too large, or not ours, to be kept with the code.

use std::path::{Path, PathBuf};

/// Returns the place of shared data, if this machine has it: whoever has only the repository tests without it.
pub fn shared(path: &str) -> Option<PathBuf> {
    let place = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")).join(path);
    if place.exists() {
        return Some(place);
    }
    eprintln!("notice: {} is absent, nothing to compare with", place.display());
    None
}
