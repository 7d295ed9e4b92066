//! Reads and writes Gantry plans: YAML, JSON, the text DSL and Mermaid.
//!
//! [`load`] turns a file's bytes into a [`Plan`] and a [`Report`]. Every finding names file, line
//! and column, and most come with a likely fix. All formats take one way:
//!
//! ```text
//! bytes ─ source ─ yaml │ json │ dsl ─ node ─ spelling ─ read ─ Plan ─ check ─ Report
//!                  mermaid ─ flow ─────────────────────────────┘
//! ```
//!
//! Invariant: no input makes reading panic, overflow the stack, or take more than time and memory
//! in proportion to its size, within the limits of [`node`].
//!
//! Invariant: what [`to_yaml`] and [`to_json`] write reads back as the same plan, without a
//! finding that the plan itself does not deserve.

mod check;
pub mod de;
pub mod diagnostic;
mod dsl;
mod flow;
pub mod json;
pub mod mermaid;
pub mod node;
mod number;
mod read;
mod schema;
mod source;
mod spelling;
pub mod suggest;
pub mod tree;
mod write;
pub mod yaml;

use gantry_core::plan::Plan;

pub use check::Around;
pub use diagnostic::{Diagnostic, Position, Report, Severity};
pub use schema::schema;
pub use source::Format;
pub use write::{to_json, to_yaml};

use diagnostic::Findings;
use tree::Parsed;

/// What came of a file.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The plan; none when the report has errors.
    pub plan: Option<Plan>,
    /// Everything that was found.
    pub report: Report,
}

/// Reads a plan from a file's name and bytes.
///
/// The name decides the format by its ending (`.yaml`, `.yml`, `.json`, `.gantry`, `.mmd`,
/// `.mermaid`); without a known ending, how the text begins does.
pub fn load(file_name: &str, bytes: &[u8]) -> Loaded {
    load_with(file_name, bytes, None)
}

/// The same, and warns of what the plan needs and the place where it is to run does not have.
pub fn load_around(file_name: &str, bytes: &[u8], around: &Around<'_>) -> Loaded {
    load_with(file_name, bytes, Some(around))
}

fn load_with(file_name: &str, bytes: &[u8], around: Option<&Around<'_>>) -> Loaded {
    let text = match source::decode(file_name, bytes) {
        Ok(text) => text,
        Err(report) => return Loaded { plan: None, report },
    };
    let (plan, findings) = read_text(Format::of(file_name, text), text, around);
    let mut report = Report::new(file_name, text);
    report.absorb(findings);
    report.sort();
    let plan = plan.filter(|_| !report.has_errors());
    Loaded { plan, report }
}

fn read_text(format: Format, text: &str, around: Option<&Around<'_>>) -> (Option<Plan>, Findings) {
    let Parsed { node, mut findings } = match format {
        Format::Yaml => yaml::parse(text),
        Format::Json => json::parse(text),
        Format::Dsl => dsl::parse(text),
        Format::Mermaid => return flow::read(text),
    };
    let Some(node) = node else {
        if !findings.has_errors() {
            findings.push(
                Diagnostic::error("file::empty", "the file is empty").hint("a plan has at least a `title` and `tasks`"),
            );
        }
        return (None, findings);
    };
    let Some(mut reading) = read::plan(node, &mut findings) else {
        return (None, findings);
    };
    check::check(&mut reading, around, &mut findings);
    (Some(reading.plan), findings)
}
