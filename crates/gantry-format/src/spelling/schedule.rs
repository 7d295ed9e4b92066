//! The parts of a schedule, each with names of its own.

use super::{Level, respell_inside};
use crate::diagnostic::Findings;
use crate::node::{Node, Value};

/// Gives the fields of a schedule's calendars, resources and tasks their canonical names.
pub(super) fn respell_parts(name: &str, node: &mut Node, findings: &mut Findings) {
    let (parts, level): (Vec<&mut Node>, Level) = match (name, &mut node.value) {
        ("calendars", Value::Seq(items)) => (items.iter_mut().collect(), Level::Calendar),
        ("resources", Value::Seq(items)) => (items.iter_mut().collect(), Level::Resource),
        ("tasks", Value::Map(entries)) => (entries.iter_mut().map(|(_, task)| task).collect(), Level::Scheduled),
        _ => return, // read as it is written
    };
    for part in parts {
        respell_inside(part, level, findings);
    }
}
