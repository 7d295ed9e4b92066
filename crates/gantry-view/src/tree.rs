//! The tasks of a plan as a tree with numbers, for programs that know plans by `nodes` and `adjacency`: the tree, how far
//! it is, what came of it, and a part of it. The keys are a promise; the states are the five that those programs know.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gantry_core::id::TaskId;
use gantry_core::life::{Life, TaskState};
use gantry_core::plan::Task;
use gantry_store::PlanCard;
use serde_json::{Map, Value, json};

/// The key under which the roots stand.
pub const ROOTS: &str = "null";
/// Where the context of a task stands in its metadata.
const CONTEXT: &str = "context";
/// How many levels of a part are shown at most.
pub const LEVELS_MAX: u32 = 6;

/// The whole tree.
pub fn tree(card: &PlanCard, life: &Life) -> Value {
    let places = Places::of(life);
    let nodes: Map<String, Value> =
        places.all.iter().map(|place| (place.no.to_string(), node(card, life, place))).collect();
    let header = life.header();
    json!({
        "id": card.no, "plan": life.id(), "title": header.title, "description": header.objective,
        "metadata": header.metadata, "nodes": nodes, "adjacency": places.adjacency(),
    })
}

/// How far it is: every task counts, those with parts too.
pub fn summary(card: &PlanCard) -> Value {
    let mut counts: BTreeMap<&str, u32> =
        ["completed", "failed", "skipped", "running", "pending"].map(|word| (word, 0)).into();
    for (state, count) in &card.card.tasks {
        *counts.entry(word(*state)).or_default() += count;
    }
    let mut told = json!({"plan_id": card.no, "plan": card.id, "total_tasks": card.card.tasks.values().sum::<u32>()});
    for (word, count) in counts {
        told[word] = json!(count);
    }
    told
}

/// What came of each task; `only_with_output` leaves out those that gave nothing.
pub fn results(card: &PlanCard, life: &Life, only_with_output: bool) -> Value {
    let places = Places::of(life);
    let result = |place: &Place<'_>| {
        let outputs = life.outputs(place.task.id.as_str()).filter(|outputs| !outputs.is_empty());
        if outputs.is_none() && only_with_output {
            return None;
        }
        let content = outputs.and_then(|outputs| outputs.get("text").or_else(|| outputs.get("stdout"))).cloned();
        Some(json!({
            "task_id": place.no, "key": place.task.id, "name": place.task.name(), "status": place.status(life),
            "content": content.or_else(|| outputs.map(|outputs| json!(outputs))), "notes": [],
            "metadata": metadata(place.task), "raw": outputs,
        }))
    };
    let items: Vec<Value> = places.all.iter().filter_map(result).collect();
    json!({"plan_id": card.no, "plan": life.id(), "state": life.state(), "total": items.len(), "items": items})
}

/// A task with what is below it, so many levels down, also as an outline; none without such a task.
pub fn part(card: &PlanCard, life: &Life, of: &str, levels: u32) -> Option<Value> {
    let places = Places::of(life);
    let top = places.all.iter().find(|place| place.task.id.as_str() == of)?;
    let inside = format!("{}/", top.path);
    let lowest = top.depth.saturating_add(levels.clamp(1, LEVELS_MAX));
    // The separator matters: `/1` is no part of `/10`.
    let belongs = |place: &&Place<'_>| place.no == top.no || (place.path.starts_with(&inside) && place.depth <= lowest);
    let shown: Vec<&Place<'_>> = places.all.iter().filter(belongs).collect();
    let mut outline = String::new();
    for place in &shown {
        let indent = "  ".repeat((place.depth - top.depth) as usize);
        let _ = writeln!(outline, "{indent}- [{}] {} ({})", place.no, place.task.name(), place.status(life));
    }
    let nodes: Vec<Value> = shown.iter().map(|place| node(card, life, place)).collect();
    Some(json!({
        "plan_id": card.no, "plan": life.id(), "root_node": top.no, "max_depth": lowest - top.depth,
        "outline": outline, "nodes": nodes,
    }))
}

/// All tasks as an outline.
pub fn outline(life: &Life) -> String {
    let mut text = String::new();
    for place in &Places::of(life).all {
        let indent = "  ".repeat(place.depth as usize);
        let _ = writeln!(text, "{indent}- [{}] {} ({})", place.no, place.task.name(), place.status(life));
    }
    text
}

/// A state in the words of the tree.
fn word(state: TaskState) -> &'static str {
    match state {
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Running => "running",
        TaskState::Skipped | TaskState::Abandoned => "skipped",
        TaskState::Pending | TaskState::Ready | TaskState::Waiting | TaskState::Blocked => "pending",
    }
}

/// Where a task stands in the tree.
struct Place<'a> {
    task: &'a Task,
    no: u32,
    parent: Option<u32>,
    position: u32,
    depth: u32,
    path: String,
}

impl Place<'_> {
    fn status(&self, life: &Life) -> &'static str {
        word(life.task_state(self.task.id.as_str()).unwrap_or(TaskState::Pending))
    }
}

/// All tasks with their places, in the order of the tree.
struct Places<'a> {
    all: Vec<Place<'a>>,
}

impl<'a> Places<'a> {
    fn of(life: &'a Life) -> Self {
        let mut known: BTreeMap<TaskId, (u32, u32, String)> = BTreeMap::new();
        let mut taken: BTreeMap<Option<u32>, u32> = BTreeMap::new();
        let mut all = Vec::new();
        for id in life.task_ids() {
            let (Some(task), Some(no)) = (life.definition(id.as_str()), life.number(id.as_str())) else { continue };
            let no = no.0;
            let above = task.parent.as_ref().and_then(|parent| known.get(parent));
            let (parent, depth, path) = match above {
                Some((parent, depth, path)) => (Some(*parent), depth + 1, format!("{path}/{no}")),
                None => (None, 0, format!("/{no}")),
            };
            let next = taken.entry(parent).or_default();
            let position = *next;
            *next += 1;
            known.insert(id, (no, depth, path.clone()));
            all.push(Place { task, no, parent, position, depth, path });
        }
        Self { all }
    }

    fn adjacency(&self) -> Value {
        let mut below: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::from([(None, Vec::new())]);
        for place in &self.all {
            below.entry(place.parent).or_default().push(place.no);
        }
        let named = |parent: Option<u32>| parent.map_or_else(|| ROOTS.to_owned(), |no| no.to_string());
        Value::Object(below.into_iter().map(|(parent, children)| (named(parent), json!(children))).collect())
    }
}

fn node(card: &PlanCard, life: &Life, place: &Place<'_>) -> Value {
    let task = place.task;
    let depends: Vec<u32> =
        task.depends_on.iter().filter_map(|id| life.number(id.as_str())).map(|number| number.0).collect();
    let context = task.metadata.get(CONTEXT).cloned().unwrap_or_default();
    let or = |name: &str, otherwise: Value| context.get(name).cloned().unwrap_or(otherwise);
    let outputs = life.outputs(task.id.as_str()).filter(|outputs| !outputs.is_empty());
    json!({
        "id": place.no, "key": task.id, "plan_id": card.no, "name": task.name(), "status": place.status(life),
        "instruction": task.description.as_deref().or(task.purpose.as_deref()).unwrap_or_default(),
        "parent_id": place.parent, "position": place.position, "depth": place.depth, "path": place.path,
        "metadata": metadata(task), "dependencies": depends,
        "context_combined": or("combined", Value::Null), "context_sections": or("sections", json!([])),
        "context_meta": or("meta", json!({})), "context_updated_at": or("updated_at", Value::Null),
        "execution_result": outputs,
    })
}

/// What is kept about a task, its context left out.
fn metadata(task: &Task) -> Value {
    let kept = task.metadata.iter().filter(|(name, _)| *name != CONTEXT);
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}
