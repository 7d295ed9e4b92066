//! Whether a plan can spend anything, read off its actions: one that only runs commands and asks people pays nobody.

use super::{Action, Plan, Task, Undo};
use crate::policy::{Dimension, Judge, ProseBy};

impl Plan {
    /// Tells whether carrying out this plan may use some of this.
    pub(crate) fn may_spend(&self, dimension: Dimension) -> bool {
        let models = self.policy.judge == Judge::Model || self.policy.prose != ProseBy::Person;
        (models && dimension.is_spent_by_models()) || self.tasks.iter().any(|task| task_may_spend(task, dimension))
    }
}

fn task_may_spend(task: &Task, dimension: Dimension) -> bool {
    let undo = match &task.undo {
        Undo::Action(action) => Some(&**action),
        Undo::None | Undo::Restore | Undo::Never => None,
    };
    let all = task.action.iter().chain(&task.alternates).chain(task.verify.as_deref()).chain(undo);
    all.into_iter().any(|action| action_may_spend(action, dimension))
}

fn action_may_spend(action: &Action, dimension: Dimension) -> bool {
    match action {
        Action::Model(_) | Action::Agent(_) => dimension.is_spent_by_models(),
        // Prose for a person costs nothing; for a model the policy says so.
        Action::Command(command) => command.calls().is_some() && dimension == Dimension::CostUsd,
        Action::Tool(_) => dimension == Dimension::CostUsd,
        Action::Map(map) => map.each.as_ref().is_some_and(|task| task_may_spend(task, dimension)),
        Action::Adopt(_) => true, // whatever it becomes
        Action::Plan(nested) => nested.plan.as_ref().is_none_or(|plan| plan.may_spend(dimension)),
        Action::Run(_)
        | Action::Decide(_) // a model decides only where the policy has models judge
        | Action::Gate(_)
        | Action::Ask(_)
        | Action::Manual(_)
        | Action::Compute(_)
        | Action::Checkpoint(_)
        | Action::Wait(_)
        | Action::UndoTo(_) => false,
    }
}

impl Dimension {
    /// Tells whether asking a model uses some of this.
    pub(crate) fn is_spent_by_models(self) -> bool {
        match self {
            Self::CostUsd | Self::ModelCalls | Self::Tokens => true,
            Self::Time | Self::Nodes => false,
        }
    }
}
