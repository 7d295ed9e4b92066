//! A task as it is written, with what every turn asks about it kept beside it.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::TaskId;
use crate::plan::Task;
use crate::time::Timestamp;

/// A task's definition.
///
/// A definition is large, and in a plan of many tasks each one is far away when its turn comes. Most say nothing about
/// most things, so what a turn would look up in vain is told by the few fields here. They follow from the task.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Defined {
    task: Arc<Task>,
    pub id: TaskId,
    pub deadline: Option<Timestamp>,
    pub optional: bool,
    rank: i32,
    /// It has a budget of its own for what can be spent.
    pub limits_spending: bool,
    /// It has preconditions.
    pub has_preconditions: bool,
    /// Its result is looked at: failure modes, success criteria or postconditions.
    pub has_checks: bool,
    /// It leads somewhere when it ends.
    pub has_routes: bool,
    /// Attempts at it may be late or silent.
    pub is_timed: bool,
    /// Someone is told when it takes too long.
    pub escalates: bool,
}

impl Defined {
    pub fn new(task: Task) -> Self {
        Self {
            id: task.id.clone(),
            deadline: task.deadline,
            optional: task.optional,
            rank: task.rank(),
            limits_spending: task.budget.limits_spending(),
            has_preconditions: !task.preconditions.is_empty(),
            has_checks: !(task.failure_modes.is_empty()
                && task.success_criteria.is_empty()
                && task.postconditions.is_empty()),
            has_routes: !task.next.is_empty() || task.failure_modes.iter().any(|mode| mode.recover.is_some()),
            is_timed: task.timeout.is_some() || task.heartbeat.is_some() || task.budget.time.is_some(),
            escalates: task.escalation.is_some(),
            task: Arc::new(task),
        }
    }

    pub fn rank(&self) -> i32 {
        self.rank
    }
}

impl Deref for Defined {
    type Target = Arc<Task>;
    fn deref(&self) -> &Arc<Task> {
        &self.task
    }
}

impl Serialize for Defined {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.task.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Defined {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Task::deserialize(deserializer).map(Self::new)
    }
}
