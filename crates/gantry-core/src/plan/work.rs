//! The work of a plan that first makes it: what it has adopted and whatever else there is to do, without the way there.

use std::collections::{BTreeMap, BTreeSet};

use super::{Action, Plan, Task};
use crate::id::TaskId;

impl Plan {
    /// What there is to do: where a task has adopted a plan, everything but what led to that; else the plan as it is.
    #[must_use]
    pub fn work(&self) -> Self {
        let mut children: BTreeMap<&TaskId, Vec<&TaskId>> = BTreeMap::new();
        for task in &self.tasks {
            if let Some(parent) = &task.parent {
                children.entry(parent).or_default().push(&task.id);
            }
        }
        let adopted = |task: &&Task| matches!(task.action, Some(Action::Adopt(_))) && children.contains_key(&task.id);
        let homes: Vec<&Task> = self.tasks.iter().filter(adopted).collect();
        if homes.is_empty() {
            return self.clone();
        }
        let by_id: BTreeMap<&TaskId, &Task> = self.tasks.iter().map(|task| (&task.id, task)).collect();
        let mut gone: BTreeSet<&TaskId> = BTreeSet::new();
        let mut open: Vec<&TaskId> = homes.iter().flat_map(|home| &home.depends_on).collect();
        while let Some(id) = open.pop() {
            if gone.insert(id) {
                open.extend(by_id.get(id).into_iter().flat_map(|task| &task.depends_on));
                open.extend(children.get(id).into_iter().flatten());
            }
        }
        // A task that only adopts is left out, too, unless something else waits for it.
        let awaited: BTreeSet<&TaskId> =
            self.tasks.iter().filter(|task| !gone.contains(&task.id)).flat_map(|task| &task.depends_on).collect();
        gone.extend(homes.iter().map(|home| &home.id).filter(|home| !awaited.contains(home)));
        let own = |task: &Task| {
            let mut task = task.clone();
            task.parent = task.parent.filter(|parent| !gone.contains(parent));
            task.depends_on.retain(|before| !gone.contains(before));
            task
        };
        let tasks = self.tasks.iter().filter(|task| !gone.contains(&task.id)).map(own).collect();
        Self { tasks, ..self.clone() }
    }
}
