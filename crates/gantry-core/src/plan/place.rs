//! Changes of the tree by place: a task comes to, moves within or leaves a plan, with everything below it.
//!
//! The places are those that people point at: before or after a task, first or last inside one, or a position counted from
//! 0. Whether the plan that comes of it holds together is for [`Plan::check`] to say.

use std::collections::BTreeSet;
use std::fmt;

use super::{Plan, Task};
use crate::id::TaskId;

/// A place in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Behind everything that is inside a task, or at the top.
    Last {
        /// Inside which task; none means at the top.
        parent: Option<TaskId>,
    },
    /// So many siblings stand before it.
    At {
        /// Inside which task; none means at the top.
        parent: Option<TaskId>,
        /// How many.
        position: usize,
    },
    /// Right before a task.
    Before(TaskId),
    /// Right after a task.
    After(TaskId),
    /// First inside a task.
    FirstChild(TaskId),
    /// Last inside a task.
    LastChild(TaskId),
}

/// Why a task cannot be put, or taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// The plan has no such task.
    Unknown(TaskId),
    /// The plan has a task of this name already.
    Taken(TaskId),
    /// A task cannot stand beside or inside itself.
    InsideItself(TaskId),
    /// There are not so many siblings.
    TooFar {
        /// The position that was asked for.
        position: usize,
        /// How many siblings there are.
        siblings: usize,
    },
    /// Tasks that stay wait for some that would go.
    Awaited(Vec<(TaskId, TaskId)>),
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(id) => write!(f, "there is no task `{id}`"),
            Self::Taken(id) => write!(f, "there is a task `{id}` already"),
            Self::InsideItself(id) => write!(f, "`{id}` cannot stand beside or inside itself or a part of it"),
            Self::TooFar { position, siblings } => {
                write!(f, "there is no position {position}: the positions are 0 to {siblings}")
            }
            Self::Awaited(pairs) => {
                let pairs: Vec<String> =
                    pairs.iter().map(|(who, whom)| format!("`{who}` waits for `{whom}`")).collect();
                f.write_str(&pairs.join("; "))
            }
        }
    }
}

impl std::error::Error for Misplaced {}

impl Plan {
    /// Puts a new task at a place.
    pub fn put(&mut self, task: Task, place: &Place) -> Result<(), Misplaced> {
        if self.task(task.id.as_str()).is_some() {
            return Err(Misplaced::Taken(task.id));
        }
        let (parent, index) = self.spot(place)?;
        self.tasks.insert(index, Task { parent, ..task });
        self.sort_tree();
        Ok(())
    }

    /// Moves a task, with everything below it, to another place.
    pub fn shift(&mut self, id: &TaskId, place: &Place) -> Result<(), Misplaced> {
        let at = self.tasks.iter().position(|task| task.id == *id).ok_or_else(|| Misplaced::Unknown(id.clone()))?;
        let below = self.below(id);
        let anchor = match place {
            Place::Before(anchor) | Place::After(anchor) | Place::FirstChild(anchor) | Place::LastChild(anchor) => {
                Some(anchor)
            }
            Place::Last { parent } | Place::At { parent, .. } => parent.as_ref(),
        };
        if anchor.is_some_and(|anchor| below.contains(anchor)) {
            return Err(Misplaced::InsideItself(id.clone()));
        }
        // Positions count without the task that moves; the plan stays as it was when there is no such place.
        let mut without = Self { tasks: self.tasks.clone(), ..Self::default() };
        let task = without.tasks.remove(at);
        let (parent, index) = without.spot(place)?;
        without.tasks.insert(index, Task { parent, ..task });
        self.tasks = without.tasks;
        self.sort_tree();
        Ok(())
    }

    /// Takes a task away with everything below it, and says what went, the task first. What others say about when it is
    /// done goes with it.
    pub fn take_out(&mut self, id: &TaskId) -> Result<Vec<TaskId>, Misplaced> {
        if self.task(id.as_str()).is_none() {
            return Err(Misplaced::Unknown(id.clone()));
        }
        let below = self.below(id);
        let stays = |task: &&Task| !below.contains(&task.id);
        let waits = |task: &Task| -> Vec<(TaskId, TaskId)> {
            let gone = task.depends_on.iter().filter(|other| below.contains(*other));
            gone.map(|other| (task.id.clone(), other.clone())).collect()
        };
        let awaited: Vec<(TaskId, TaskId)> = self.tasks.iter().filter(stays).flat_map(waits).collect();
        if !awaited.is_empty() {
            return Err(Misplaced::Awaited(awaited));
        }
        let gone: Vec<TaskId> =
            self.tasks.iter().filter(|task| below.contains(&task.id)).map(|task| task.id.clone()).collect();
        self.tasks.retain(|task| !below.contains(&task.id));
        self.schedule.tasks.retain(|task, _| !below.contains(task));
        Ok(gone)
    }

    /// A task and everything below it.
    pub fn below(&self, id: &TaskId) -> BTreeSet<TaskId> {
        let mut all = BTreeSet::from([id.clone()]);
        // In tree order one look is enough; other orders take one for each level.
        loop {
            let before = all.len();
            for task in &self.tasks {
                if task.parent.as_ref().is_some_and(|parent| all.contains(parent)) {
                    all.insert(task.id.clone());
                }
            }
            if all.len() == before {
                return all;
            }
        }
    }

    /// The parent at a place, and where in the list of tasks it is.
    fn spot(&self, place: &Place) -> Result<(Option<TaskId>, usize), Misplaced> {
        let known = |id: &TaskId| {
            let index = self.tasks.iter().position(|task| task.id == *id);
            index.ok_or_else(|| Misplaced::Unknown(id.clone()))
        };
        let end = self.tasks.len();
        Ok(match place {
            Place::Last { parent: None } => (None, end),
            Place::Last { parent: Some(parent) } | Place::LastChild(parent) => {
                known(parent)?;
                (Some(parent.clone()), end)
            }
            Place::FirstChild(parent) => {
                known(parent)?;
                let first = self.tasks.iter().position(|task| task.parent.as_ref() == Some(parent));
                (Some(parent.clone()), first.unwrap_or(end))
            }
            Place::Before(other) => {
                let index = known(other)?;
                (self.tasks[index].parent.clone(), index)
            }
            Place::After(other) => {
                let index = known(other)?;
                (self.tasks[index].parent.clone(), index + 1)
            }
            Place::At { parent, position } => {
                parent.as_ref().map(known).transpose()?;
                let among = |(_, task): &(usize, &Task)| task.parent == *parent;
                let siblings: Vec<usize> = self.tasks.iter().enumerate().filter(among).map(|(at, _)| at).collect();
                if *position > siblings.len() {
                    return Err(Misplaced::TooFar { position: *position, siblings: siblings.len() });
                }
                (parent.clone(), siblings.get(*position).copied().unwrap_or(end))
            }
        })
    }
}
