//! Common causes: which tasks and risks go well or badly together.

use std::collections::{BTreeMap, BTreeSet};

use crate::project::Project;

/// For each id of a task without parts, or of a risk, the common causes it depends on, by place, with their strengths.
/// A summary stands for everything in it.
pub(crate) fn shared_causes(project: &Project) -> BTreeMap<&str, Vec<(usize, f64)>> {
    let mut parts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for task in &project.tasks {
        if let Some(parent) = &task.parent {
            parts.entry(parent).or_default().push(&task.id);
        }
    }
    let mut shared: BTreeMap<&str, Vec<(usize, f64)>> = BTreeMap::new();
    for (at, correlation) in project.correlations.iter().enumerate() {
        let mut open: Vec<&str> = correlation.members.iter().map(String::as_str).collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match parts.get(id) {
                Some(parts) => open.extend(parts),
                None => shared.entry(id).or_default().push((at, correlation.strength)),
            }
        }
    }
    shared
}
