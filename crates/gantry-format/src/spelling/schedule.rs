//! The parts of a schedule, each with names of its own.

use super::{Level, respell_inside};
use crate::diagnostic::Findings;
use crate::node::{Node, Value};

/// Gives the fields of a schedule's calendars, resources and tasks their canonical names.
pub(super) fn respell_parts(name: &str, node: &mut Node, findings: &mut Findings) {
    match (name, &mut node.value) {
        ("calendars", Value::Seq(items)) => {
            items.iter_mut().for_each(|item| respell_inside(item, Level::Calendar, findings));
        }
        ("resources", Value::Seq(items)) => {
            items.iter_mut().for_each(|item| respell_inside(item, Level::Resource, findings));
        }
        ("tasks", Value::Map(entries)) => {
            entries.iter_mut().for_each(|(_, task)| respell_inside(task, Level::Scheduled, findings));
        }
        _ => {} // read as it is written
    }
}
