//! What of a template is in a plan.

use std::collections::BTreeSet;

use gantry_core::id::TaskId;
use gantry_core::plan::{Action, Input, Plan, Reference, Task};
use serde::Deserialize;
use serde_json::Value;

use super::Detail;
use crate::kind::Size;

/// What is chosen.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// How much is worked out.
    pub detail: Detail,
    /// How big the project is.
    pub size: Size,
    /// The sections; none means all.
    pub sections: Option<&'a [String]>,
}

/// The section of the result that a task works on; none when every result needs it.
pub(super) fn section(task: &Task) -> Option<&str> {
    task.metadata.get("section").and_then(Value::as_str)
}

fn said<'a, T: Deserialize<'a>>(task: &'a Task, name: &str) -> Option<T> {
    task.metadata.get(name).and_then(|value| T::deserialize(value).ok())
}

fn is_in(task: &Task, chosen: &Chosen<'_>) -> bool {
    let detailed = said::<Detail>(task, "detail").is_none_or(|least| least <= chosen.detail);
    let big = said::<Size>(task, "from").is_none_or(|least| least <= chosen.size);
    let wanted = |section: &str| chosen.sections.is_none_or(|sections| sections.iter().any(|wanted| wanted == section));
    // Who names sections wants them whatever the level of detail.
    let named = chosen.sections.is_some() && section(task).is_some();
    big && (detailed || named) && section(task).is_none_or(wanted)
}

/// Leaves out what is not chosen, and every mention of it.
pub(super) fn leave_out(plan: &mut Plan, chosen: &Chosen<'_>) {
    let gone: BTreeSet<TaskId> =
        plan.tasks.iter().filter(|task| !is_in(task, chosen)).map(|task| task.id.clone()).collect();
    plan.tasks
        .retain(|task| !gone.contains(&task.id) && task.parent.as_ref().is_none_or(|parent| !gone.contains(parent)));
    for task in &mut plan.tasks {
        forget(task, &gone);
        for name in ["detail", "from", "section"] {
            task.metadata.remove(name);
        }
    }
}

fn forget(task: &mut Task, gone: &BTreeSet<TaskId>) {
    let stays = |input: &Input| !matches!(input, Input::From(Reference::Task { task, .. }) if gone.contains(task));
    task.depends_on.retain(|before| !gone.contains(before));
    task.inputs.retain(|_, input| stays(input));
    match &mut task.action {
        Some(Action::Tool(tool)) => tool.args.retain(|_, input| stays(input)),
        Some(Action::Map(map)) => {
            if let Some(each) = &mut map.each {
                forget(each, gone);
            }
        }
        _ => {}
    }
}
