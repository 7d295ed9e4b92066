//! What changed between two versions of a plan, field by field, and how to make the one from the other.
//!
//! A diff is complete: applying it to the first version gives the second, exactly and in order.

mod shown;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Plan, Task, is_default};
use crate::id::TaskId;

/// The difference between two versions of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Diff {
    /// Fields of the plan itself that changed.
    #[serde(skip_serializing_if = "is_default")]
    pub plan: Vec<FieldChange>,
    /// Tasks that are gone, in the order of the first version.
    #[serde(skip_serializing_if = "is_default")]
    pub removed: Vec<TaskId>,
    /// Tasks that are new, in the order of the second version.
    #[serde(skip_serializing_if = "is_default")]
    pub added: Vec<Placed>,
    /// Tasks that stand elsewhere now.
    #[serde(skip_serializing_if = "is_default")]
    pub moved: Vec<Moved>,
    /// Tasks with changed fields.
    #[serde(skip_serializing_if = "is_default")]
    pub changed: Vec<TaskChange>,
}

/// A new task and the sibling that it stands after; none means first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// The sibling before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<TaskId>,
    /// The task.
    pub task: Task,
}

/// A task that got another parent or another place among its siblings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// The task.
    pub id: TaskId,
    /// The sibling before it; none means first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<TaskId>,
}

/// The changed fields of one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskChange {
    /// The task.
    pub id: TaskId,
    /// What changed.
    pub fields: Vec<FieldChange>,
}

/// One changed field; none means that it is not set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldChange {
    /// Its name.
    pub field: String,
    /// What it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl FieldChange {
    /// The change in the words of a plan file, where the action of a task is a field by its own name.
    pub fn as_written(&self) -> Vec<Self> {
        match self.field.as_str() {
            "action" => by_action(self.before.as_ref(), self.after.as_ref()),
            "undo" => {
                let written =
                    |value: &Option<Value>| value.as_ref().map(|value| value.get("action").unwrap_or(value).clone());
                vec![Self { field: self.field.clone(), before: written(&self.before), after: written(&self.after) }]
            }
            "schedule" => {
                let mut changes = Vec::new();
                leaves("schedule", self.before.as_ref(), self.after.as_ref(), &mut changes);
                changes
            }
            _ => vec![self.clone()],
        }
    }
}

/// The innermost fields that differ. Lists of things with ids are compared by their ids.
fn leaves(field: &str, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<FieldChange>) {
    if before == after {
        return;
    }
    let nothing = Map::new();
    let parts = |value: Option<&Value>| match value {
        None => Some(nothing.clone()),
        Some(Value::Object(fields)) => Some(fields.clone()),
        Some(Value::Array(items)) => by_id(items),
        Some(_) => None,
    };
    // What is new or gone as a whole is shown as a whole, unless it is the schedule itself.
    let inside = before.is_some() && after.is_some() || field == "schedule";
    if let (true, Some(old), Some(new)) = (inside, parts(before), parts(after))
        && let names = old.keys().chain(new.keys()).collect::<BTreeSet<_>>()
        && names.iter().any(|name| old.get(*name) != new.get(*name))
    {
        for name in names {
            leaves(&format!("{field}.{name}"), old.get(name), new.get(name), changes);
        }
        return;
    }
    changes.push(FieldChange { field: field.to_owned(), before: before.cloned(), after: after.cloned() });
}

/// Things by their ids; none where some has no id, or the id of another.
fn by_id(items: &[Value]) -> Option<Map<String, Value>> {
    let mut all = Map::new();
    for item in items {
        let id = item.get("id")?.as_str()?;
        if all.insert(id.to_owned(), item.clone()).is_some() {
            return None;
        }
    }
    Some(all)
}

/// One change where the action stays of its kind, two where it becomes another.
fn by_action(before: Option<&Value>, after: Option<&Value>) -> Vec<FieldChange> {
    let only = |value: Option<&Value>| {
        let (name, content) = value?.as_object()?.iter().next()?;
        Some((name.clone(), content.clone()))
    };
    match (only(before), only(after)) {
        (Some((field, before)), Some((name, after))) if field == name => {
            vec![FieldChange { field, before: Some(before), after: Some(after) }]
        }
        (before, after) => {
            let went = before.map(|(field, before)| FieldChange { field, before: Some(before), after: None });
            let came = after.map(|(field, after)| FieldChange { field, before: None, after: Some(after) });
            went.into_iter().chain(came).collect()
        }
    }
}

/// A dependency that came or went: the first waits for the second.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Edge {
    /// Who waits.
    pub task: TaskId,
    /// For whom.
    pub on: TaskId,
}

/// Says what changed from `a` to `b`.
pub fn diff(a: &Plan, b: &Plan) -> Diff {
    let old: BTreeMap<&TaskId, &Task> = a.tasks.iter().map(|task| (&task.id, task)).collect();
    let new: BTreeMap<&TaskId, &Task> = b.tasks.iter().map(|task| (&task.id, task)).collect();
    let before = previous_siblings(b);
    let stay = unmoved(a, b, &old);
    let mut diff = Diff {
        plan: changes(header(a), header(b)),
        removed: a.tasks.iter().filter(|task| !new.contains_key(&task.id)).map(|task| task.id.clone()).collect(),
        ..Diff::default()
    };
    for task in &b.tasks {
        let after = before.get(&task.id).copied().flatten().cloned();
        let Some(was) = old.get(&task.id) else {
            diff.added.push(Placed { after, task: task.clone() });
            continue;
        };
        if !stay.contains(&task.id) {
            diff.moved.push(Moved { id: task.id.clone(), after });
        }
        let fields = changes(fields(was), fields(task));
        if !fields.is_empty() {
            diff.changed.push(TaskChange { id: task.id.clone(), fields });
        }
    }
    diff
}

impl Diff {
    /// Tells whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The dependencies that came and went, read off the rest of the diff.
    pub fn edges(&self, before: &Plan) -> (Vec<Edge>, Vec<Edge>) {
        let (mut came, mut went) = (Vec::new(), Vec::new());
        let edge = |task: &TaskId, on: &TaskId| Edge { task: task.clone(), on: on.clone() };
        for placed in &self.added {
            came.extend(placed.task.depends_on.iter().map(|on| edge(&placed.task.id, on)));
        }
        for id in &self.removed {
            went.extend(before.task(id.as_str()).into_iter().flat_map(|task| &task.depends_on).map(|on| edge(id, on)));
        }
        for change in &self.changed {
            for field in change.fields.iter().filter(|field| field.field == "depends_on") {
                let (old, new) = (ids(field.before.as_ref()), ids(field.after.as_ref()));
                came.extend(new.difference(&old).map(|on| edge(&change.id, on)));
                went.extend(old.difference(&new).map(|on| edge(&change.id, on)));
            }
        }
        (came, went)
    }

    /// Makes the second version from the first.
    pub fn apply_to(&self, plan: &Plan) -> Result<Plan, Mismatch> {
        let mut header_fields = header(plan);
        set(&mut header_fields, &self.plan);
        let mut result: Plan = read(Value::Object(header_fields))?;
        let mut tasks: BTreeMap<TaskId, Task> = plan.tasks.iter().map(|task| (task.id.clone(), task.clone())).collect();
        let mut order: BTreeMap<Option<TaskId>, Vec<TaskId>> = BTreeMap::new();
        for task in &plan.tasks {
            order.entry(task.parent.clone()).or_default().push(task.id.clone());
        }
        let take_out = |order: &mut BTreeMap<Option<TaskId>, Vec<TaskId>>, task: &Task| {
            if let Some(siblings) = order.get_mut(&task.parent) {
                siblings.retain(|id| *id != task.id);
            }
        };
        for id in &self.removed {
            let task = tasks.remove(id).ok_or_else(|| Mismatch::missing(id))?;
            take_out(&mut order, &task);
        }
        for moved in &self.moved {
            let task = tasks.get(&moved.id).ok_or_else(|| Mismatch::missing(&moved.id))?;
            take_out(&mut order, task);
        }
        for change in &self.changed {
            let task = tasks.get_mut(&change.id).ok_or_else(|| Mismatch::missing(&change.id))?;
            *task = patched(task, change)?;
        }
        // Additions and moves in the order of the second version, so that each finds its sibling.
        let mut placing: Vec<(TaskId, Option<TaskId>)> =
            self.moved.iter().map(|moved| (moved.id.clone(), moved.after.clone())).collect();
        for placed in &self.added {
            if tasks.insert(placed.task.id.clone(), placed.task.clone()).is_some() {
                return Err(Mismatch(format!("task `{}` is there already", placed.task.id)));
            }
            placing.push((placed.task.id.clone(), placed.after.clone()));
        }
        while !placing.is_empty() {
            let waiting = placing.len();
            let mut rest = Vec::new();
            for (id, after) in placing {
                let siblings = order.entry(tasks.get(&id).and_then(|task| task.parent.clone())).or_default();
                let at = match &after {
                    None => Some(0),
                    Some(after) => siblings.iter().position(|sibling| sibling == after).map(|at| at + 1),
                };
                match at {
                    Some(at) => siblings.insert(at, id),
                    None => rest.push((id, after)),
                }
            }
            if rest.len() == waiting {
                return Err(Mismatch(format!("task `{}` has no sibling to stand after", rest[0].0)));
            }
            placing = rest;
        }
        let mut stack: Vec<TaskId> = order.get(&None).into_iter().flatten().rev().cloned().collect();
        while let Some(id) = stack.pop() {
            stack.extend(order.get(&Some(id.clone())).into_iter().flatten().rev().cloned());
            result.tasks.extend(tasks.remove(&id));
        }
        match tasks.into_keys().next() {
            Some(lost) => Err(Mismatch(format!("task `{lost}` has lost its parent"))),
            None => Ok(result),
        }
    }
}

/// The task after the change.
pub(crate) fn patched(task: &Task, change: &TaskChange) -> Result<Task, Mismatch> {
    let mut map = fields(task);
    set(&mut map, &change.fields);
    read(Value::Object(map))
}

/// What changed in one task, if anything.
pub(crate) fn task_change(old: &Task, new: &Task) -> Option<TaskChange> {
    let fields = changes(fields(old), fields(new));
    (!fields.is_empty()).then(|| TaskChange { id: new.id.clone(), fields })
}

/// Plan fields after the change; the tasks of the result are empty.
pub(crate) fn patched_header(plan: &Plan, changes: &[FieldChange]) -> Result<Plan, Mismatch> {
    let mut map = header(plan);
    set(&mut map, changes);
    read(Value::Object(map))
}

/// Why a diff does not fit the plan that it is applied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch(pub String);

impl Mismatch {
    fn missing(id: &TaskId) -> Self {
        Self(format!("there is no task `{id}`"))
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the change does not fit this plan: {}", self.0)
    }
}

impl std::error::Error for Mismatch {}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, Mismatch> {
    serde_json::from_value(value).map_err(|error| Mismatch(error.to_string()))
}

fn set(map: &mut Map<String, Value>, changes: &[FieldChange]) {
    for change in changes {
        match &change.after {
            Some(value) => map.insert(change.field.clone(), value.clone()),
            None => map.remove(&change.field),
        };
    }
}

fn changes(old: Map<String, Value>, new: Map<String, Value>) -> Vec<FieldChange> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    names
        .into_iter()
        .filter(|name| old.get(*name) != new.get(*name))
        .map(|name| FieldChange { field: name.clone(), before: old.get(name).cloned(), after: new.get(name).cloned() })
        .collect()
}

fn fields(task: &Task) -> Map<String, Value> {
    match serde_json::to_value(task) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(), // a task always serialises to an object
    }
}

fn header(plan: &Plan) -> Map<String, Value> {
    match serde_json::to_value(plan.clone_header()) {
        Ok(Value::Object(mut map)) => {
            map.remove("tasks");
            map
        }
        _ => Map::new(), // a plan always serialises to an object
    }
}

fn ids(value: Option<&Value>) -> BTreeSet<TaskId> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).filter_map(|id| TaskId::new(id).ok()).collect()
}

/// For each task, the sibling before it.
fn previous_siblings(plan: &Plan) -> BTreeMap<&TaskId, Option<&TaskId>> {
    let mut last: BTreeMap<Option<&TaskId>, &TaskId> = BTreeMap::new();
    plan.tasks.iter().map(|task| (&task.id, last.insert(task.parent.as_ref(), &task.id))).collect()
}

/// The tasks of both versions that keep their parent and their order: among siblings, the longest
/// run that is in the same order before and after.
fn unmoved<'a>(a: &'a Plan, b: &'a Plan, old: &BTreeMap<&TaskId, &Task>) -> BTreeSet<&'a TaskId> {
    let place: BTreeMap<&TaskId, usize> = a.tasks.iter().enumerate().map(|(i, task)| (&task.id, i)).collect();
    let mut families: BTreeMap<Option<&TaskId>, Vec<&TaskId>> = BTreeMap::new();
    for task in &b.tasks {
        if old.get(&task.id).is_some_and(|was| was.parent == task.parent) {
            families.entry(task.parent.as_ref()).or_default().push(&task.id);
        }
    }
    families.into_values().flat_map(|family| longest_rising(&family, &place)).collect()
}

/// The longest subsequence whose places rise.
fn longest_rising<'a>(family: &[&'a TaskId], place: &BTreeMap<&TaskId, usize>) -> Vec<&'a TaskId> {
    let places: Vec<usize> = family.iter().map(|id| place.get(id).copied().unwrap_or(0)).collect();
    let mut tails: Vec<usize> = Vec::new(); // index of the smallest end of a run of each length
    let mut link: Vec<Option<usize>> = vec![None; places.len()];
    for (i, value) in places.iter().enumerate() {
        let length = tails.partition_point(|tail| places[*tail] < *value);
        link[i] = length.checked_sub(1).map(|shorter| tails[shorter]);
        if length == tails.len() {
            tails.push(i);
        } else {
            tails[length] = i;
        }
    }
    let mut run = Vec::new();
    let mut at = tails.last().copied();
    while let Some(i) = at {
        run.push(family[i]);
        at = link[i];
    }
    run
}

impl fmt::Display for Diff {
    /// One line for each change, `+` added, `-` removed, `>` moved, `~` changed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in self.plan.iter().flat_map(FieldChange::as_written) {
            writeln!(f, "~ plan: {change}")?;
        }
        for id in &self.removed {
            writeln!(f, "- {id}")?;
        }
        for placed in &self.added {
            write!(f, "+ {}", placed.task.id)?;
            if let Some(parent) = &placed.task.parent {
                write!(f, "  in {parent}")?;
            }
            if !placed.task.depends_on.is_empty() {
                let needs: Vec<&str> = placed.task.depends_on.iter().map(TaskId::as_str).collect();
                write!(f, "  after {}", needs.join(", "))?;
            }
            writeln!(f)?;
        }
        for moved in &self.moved {
            match &moved.after {
                Some(after) => writeln!(f, "> {}  now after {after}", moved.id)?,
                None => writeln!(f, "> {}  now first", moved.id)?,
            }
        }
        for change in &self.changed {
            for field in change.fields.iter().flat_map(FieldChange::as_written) {
                writeln!(f, "~ {}: {field}", change.id)?;
            }
        }
        Ok(())
    }
}
