//! Data that is too large, or not ours, to be kept with the code.

use std::path::{Path, PathBuf};

/// Returns the place of shared data, if this machine has it; with `GANTRY_TEST_ALL=1` it has to.
pub fn shared(path: &str) -> Option<PathBuf> {
    let place = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")).join(path);
    if place.exists() {
        return Some(place);
    }
    assert!(std::env::var_os("GANTRY_TEST_ALL").is_none_or(|all| all != "1"), "{} is absent", place.display());
    eprintln!("notice: {} is absent, nothing to compare with", place.display());
    None
}
