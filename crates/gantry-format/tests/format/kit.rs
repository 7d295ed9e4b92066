//! Small verbs that the tests are written with.

use gantry_core::plan::Plan;
use gantry_format::{Loaded, load};

#[path = "../shared.rs"]
mod shared;
pub use shared::shared;

/// Reads a YAML text and returns what a person would see.
pub fn seen(yaml: &str) -> String {
    load("plan.yaml", yaml.as_bytes()).report.render(false)
}

/// Reads a file, which must have no findings at all.
pub fn sound(file_name: &str, text: &str) -> Plan {
    let Loaded { plan, report } = load(file_name, text.as_bytes());
    assert!(report.diagnostics.is_empty(), "{}", report.render(false));
    plan.expect("a plan without findings is there")
}

/// The text of an example in the repository.
pub fn example(name: &str) -> String {
    let path = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the example is there")
}
