//! Who waits for whom and which routes lead where, read off a plan.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::id::TaskId;
use gantry_core::plan::{Action, Input, Plan, Reference, Task};

/// The edges of one revision.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// What each task waits for, without what a route replaces.
    pub waits: BTreeMap<TaskId, BTreeSet<TaskId>>,
    /// Who waits for each task.
    pub dependents: BTreeMap<TaskId, BTreeSet<TaskId>>,
    /// From where forward routes lead to each task.
    pub routed_from: BTreeMap<TaskId, BTreeSet<TaskId>>,
    /// Where forward routes of each task lead.
    pub routed_to: BTreeMap<TaskId, BTreeSet<TaskId>>,
    /// The parts of each composite.
    pub children: BTreeMap<TaskId, Vec<TaskId>>,
}

impl Graph {
    /// Reads the edges of a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut graph = Self::default();
        let known: BTreeSet<&TaskId> = plan.tasks.iter().map(|task| &task.id).collect();
        for task in &plan.tasks {
            for to in forward_targets(task).filter(|to| known.contains(to) && *to != task.id) {
                graph.routed_to.entry(task.id.clone()).or_default().insert(to.clone());
                graph.routed_from.entry(to).or_default().insert(task.id.clone());
            }
            if let Some(parent) = &task.parent {
                graph.children.entry(parent.clone()).or_default().push(task.id.clone());
            }
        }
        for task in &plan.tasks {
            let routed = graph.routed_from.get(&task.id).cloned().unwrap_or_default();
            let reads = read_by(task).into_iter().filter_map(|reference| maker_of(reference, plan));
            let waits: BTreeSet<TaskId> = task
                .depends_on
                .iter()
                .cloned()
                .chain(reads)
                .filter(|id| known.contains(id) && *id != task.id && !routed.contains(id))
                .collect();
            for other in &waits {
                graph.dependents.entry(other.clone()).or_default().insert(task.id.clone());
            }
            graph.waits.insert(task.id.clone(), waits);
        }
        graph
    }

    /// Everything that comes after a task: what waits for it, and where its routes lead.
    pub fn behind(&self, id: &TaskId) -> impl Iterator<Item = TaskId> {
        self.dependents.get(id).into_iter().chain(self.routed_to.get(id)).flatten().cloned()
    }

    /// Everything in a composite, at any depth.
    pub fn inside(&self, id: &TaskId) -> Vec<TaskId> {
        let mut all = Vec::new();
        let mut stack: Vec<TaskId> = self.children.get(id).cloned().unwrap_or_default();
        while let Some(id) = stack.pop() {
            stack.extend(self.children.get(&id).into_iter().flatten().cloned());
            all.push(id);
        }
        all
    }
}

/// Where routes forward lead, and failure modes that name a task.
fn forward_targets(task: &Task) -> impl Iterator<Item = TaskId> {
    let routes = task.next.iter().filter(|route| route.max.is_none()).map(|route| route.to.clone());
    let modes = task.failure_modes.iter().filter_map(|mode| TaskId::new(mode.recover.as_deref()?).ok());
    routes.chain(modes)
}

fn read_by(task: &Task) -> Vec<&Reference> {
    let mut inputs: Vec<&Input> = task.inputs.values().collect();
    match &task.action {
        Some(Action::Tool(tool)) => inputs.extend(tool.args.values()),
        Some(Action::Plan(nested)) => inputs.extend(nested.with.values()),
        Some(Action::Map(map)) => inputs.push(&map.over),
        Some(Action::Adopt(adopt)) => inputs.push(&adopt.0),
        _ => {}
    }
    let own = inputs.into_iter().filter_map(|input| match input {
        Input::From(reference) => Some(reference),
        Input::Value(_) => None,
    });
    // A map waits for what its parts will read.
    let parts = match &task.action {
        Some(Action::Map(map)) => map.each.as_deref().map(read_by).unwrap_or_default(),
        _ => Vec::new(),
    };
    own.chain(parts).collect()
}

fn maker_of(reference: &Reference, plan: &Plan) -> Option<TaskId> {
    match reference {
        Reference::Task { task, .. } => Some(task.clone()),
        Reference::Artifact { name } => {
            let listed = plan.artifacts.iter().find(|artifact| artifact.name == *name).map(|found| found.from.clone());
            let made = |task: &&Task| task.artifacts.iter().any(|artifact| artifact.name == *name);
            listed.or_else(|| plan.tasks.iter().find(made).map(|task| task.id.clone()))
        }
        Reference::Memory { .. } => None,
    }
}
