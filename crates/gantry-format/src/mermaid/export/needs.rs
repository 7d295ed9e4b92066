//! Which tasks a task waits for: what it says, and what it reads.

use gantry_core::id::TaskId;
use gantry_core::plan::{Action, Input, Plan, Reference, Task};

/// Returns the tasks that this one waits for, in the order they are written; one may come twice.
pub(super) fn needs<'plan>(plan: &'plan Plan, task: &'plan Task) -> Vec<&'plan TaskId> {
    let mut needs: Vec<&TaskId> = task.depends_on.iter().collect();
    let read = inputs(task).into_iter().filter_map(|input| match input {
        Input::From(Reference::Task { task, .. }) => Some(task),
        Input::From(Reference::Artifact { name }) => maker(plan, name),
        Input::From(Reference::Memory { .. }) | Input::Value(_) => None,
    });
    needs.extend(read.filter(|need| **need != task.id));
    needs
}

fn inputs(task: &Task) -> Vec<&Input> {
    let mut inputs: Vec<&Input> = task.inputs.values().collect();
    match &task.action {
        Some(Action::Tool(tool)) => inputs.extend(tool.args.values()),
        Some(Action::Plan(nested)) => inputs.extend(nested.with.values()),
        Some(Action::Map(map)) => inputs.push(&map.over),
        _ => {}
    }
    inputs
}

/// Returns the task that makes an artifact: as the plan says, else the first that declares it.
fn maker<'plan>(plan: &'plan Plan, name: &str) -> Option<&'plan TaskId> {
    let listed = plan.artifacts.iter().rev().find(|artifact| artifact.name == name);
    listed.map(|artifact| &artifact.from).or_else(|| {
        let declares = |task: &&Task| task.artifacts.iter().any(|artifact| artifact.name == name);
        plan.tasks.iter().find(declares).map(|task| &task.id)
    })
}
