//! How a plan is looked at by whoever looks through many: where a plan was made and waits to be accepted, that plan, and not
//! the steps that made it.

use std::collections::BTreeMap;

use gantry_core::id::TaskId;
use gantry_core::life::{Life, PlanState};
use gantry_core::plan::Plan;
use gantry_store::PlanCard;
use gantry_view::tree;
use serde_json::{Map, Value, json};

/// How far a plan is, and its tree.
pub fn looked_at(card: &PlanCard, life: &Life) -> (Value, Value) {
    let mut summary = tree::summary(card);
    let proposed = life.proposed();
    let seen = if proposed == life.plan() {
        tree::tree(card, life)
    } else {
        let tree = drawn(card, life, &proposed.work());
        let count = tree["nodes"].as_object().map_or(0, Map::len);
        (summary["total_tasks"], summary["pending"]) = (json!(count), json!(count));
        tree
    };
    if life.state() == PlanState::Abandoned {
        summary["abandoned"] = json!(true);
    }
    (summary, seen)
}

/// The tree of work that nobody has begun.
fn drawn(card: &PlanCard, life: &Life, work: &Plan) -> Value {
    let numbers: BTreeMap<&TaskId, usize> = work.tasks.iter().map(|task| &task.id).zip(1..).collect();
    let no = |id: &TaskId| numbers.get(id).copied();
    let mut adjacency: BTreeMap<String, Vec<usize>> = BTreeMap::from([(tree::ROOTS.to_owned(), Vec::new())]);
    let mut nodes = Map::new();
    for task in &work.tasks {
        let (Some(own), parent) = (no(&task.id), task.parent.as_ref().and_then(no)) else { continue };
        let above = parent.map_or_else(|| tree::ROOTS.to_owned(), |parent| parent.to_string());
        adjacency.entry(above).or_default().push(own);
        adjacency.entry(own.to_string()).or_default();
        let dependencies: Vec<usize> = task.depends_on.iter().filter_map(no).collect();
        let instruction = task.description.as_deref().or(task.purpose.as_deref()).unwrap_or_default();
        let node = json!({
            "id": own, "key": task.id, "plan_id": card.no, "name": task.name(), "status": "pending",
            "instruction": instruction, "parent_id": parent, "dependencies": dependencies, "metadata": task.metadata,
        });
        nodes.insert(own.to_string(), node);
    }
    let header = life.header();
    json!({
        "id": card.no, "plan": life.id(), "title": header.title, "description": header.objective,
        "metadata": header.metadata, "nodes": nodes, "adjacency": adjacency,
    })
}
