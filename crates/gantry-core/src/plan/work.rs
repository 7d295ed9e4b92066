//! The work of a plan that first makes it: what it has adopted, without the way there.

use std::collections::BTreeSet;

use super::{Action, Plan, Task};
use crate::id::TaskId;

impl Plan {
    /// What there is to do: everything below the tasks that adopt a plan, where there is something below one, and else
    /// the plan as it is.
    #[must_use]
    pub fn work(&self) -> Self {
        let adopts = |task: &&Task| matches!(task.action, Some(Action::Adopt(_)));
        let homes: BTreeSet<&TaskId> = self.tasks.iter().filter(adopts).map(|task| &task.id).collect();
        let mut inside: BTreeSet<&TaskId> = BTreeSet::new();
        for task in &self.tasks {
            // Tasks stand in tree order, so whatever contains one was seen before it.
            if task.parent.as_ref().is_some_and(|parent| homes.contains(parent) || inside.contains(parent)) {
                inside.insert(&task.id);
            }
        }
        if inside.is_empty() {
            return self.clone();
        }
        let own = |task: &Task| {
            let mut task = task.clone();
            task.parent = task.parent.filter(|parent| inside.contains(parent));
            task.depends_on.retain(|before| inside.contains(before));
            task
        };
        let tasks = self.tasks.iter().filter(|task| inside.contains(&task.id)).map(own).collect();
        Self { tasks, ..self.clone() }
    }
}
