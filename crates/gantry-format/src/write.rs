//! Plans into text: the canonical form, as YAML and as JSON.
//!
//! Canonical means: canonical names, tasks nested under their parents, an action as a field of its
//! task, and nothing written that is the default anyway. Tasks are written in tree order, which is
//! the order of every plan that was read.

mod emit;

use gantry_core::plan::{Action, Plan, Task, Undo};
use serde_json::{Map, Value};

/// Tasks deeper than this are written flat with `parent`, so that no plan needs more nesting than
/// files may have.
const NESTING_MAX: usize = 16;

/// Writes a plan as canonical YAML.
pub fn to_yaml(plan: &Plan) -> String {
    emit::yaml(&plan_value(plan))
}

/// Writes a plan as canonical JSON, indented.
pub fn to_json(plan: &Plan) -> String {
    let mut text = format!("{:#}", plan_value(plan));
    text.push('\n');
    text
}

/// Returns a plan in the form of a file.
pub(crate) fn plan_value(plan: &Plan) -> Value {
    let mut plan = plan.clone();
    plan.sort_tree();
    let tasks = std::mem::take(&mut plan.tasks);
    let mut fields = object(&plan);
    fields.insert("tasks".to_owned(), Value::Array(nested(&tasks)));
    Value::Object(fields)
}

/// Nests tasks under their parents. They stand in tree order, so a task's parent is open when the
/// task is met, unless it is too deep or its parent is missing.
fn nested(tasks: &[Task]) -> Vec<Value> {
    let mut roots = Vec::new();
    let mut open: Vec<(&Task, Map<String, Value>, Vec<Value>)> = Vec::new();
    for task in tasks {
        let depth = task.parent.as_ref().and_then(|parent| open.iter().position(|(other, ..)| other.id == *parent));
        let depth = depth.map_or(0, |position| position + 1).min(NESTING_MAX);
        close(&mut open, depth, &mut roots);
        let mut fields = task_fields(task);
        if depth > 0 && open.last().is_some_and(|(other, ..)| Some(&other.id) == task.parent.as_ref()) {
            fields.shift_remove("parent");
        } else {
            close(&mut open, 0, &mut roots);
        }
        open.push((task, fields, Vec::new()));
    }
    close(&mut open, 0, &mut roots);
    roots
}

/// Ends the innermost tasks until so many are still open.
fn close(open: &mut Vec<(&Task, Map<String, Value>, Vec<Value>)>, depth: usize, roots: &mut Vec<Value>) {
    while open.len() > depth
        && let Some((_, mut fields, children)) = open.pop()
    {
        if !children.is_empty() {
            fields.insert("tasks".to_owned(), Value::Array(children));
        }
        let siblings = open.last_mut().map_or(&mut *roots, |(_, _, siblings)| siblings);
        siblings.push(Value::Object(fields));
    }
}

/// Returns a task's fields with its action among them, where the model has `action`.
fn task_fields(task: &Task) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, value) in object(task) {
        let (name, value) = match (name.as_str(), &task.action, &task.verify, &task.undo) {
            ("action", Some(action), ..) => (action.key().to_owned(), action_value(action)),
            ("verify", _, Some(action), _) => (name, wrapped(action)),
            ("undo", .., Undo::Action(action)) => (name, wrapped(action)),
            ("alternates", ..) => (name, task.alternates.iter().map(wrapped).collect()),
            _ => (name, value),
        };
        fields.insert(name, value);
    }
    fields
}

/// Returns an action as a map with its name as the only key.
fn wrapped(action: &Action) -> Value {
    Value::Object(Map::from_iter([(action.key().to_owned(), action_value(action))]))
}

/// Returns the content of an action; tasks and plans inside it get the form of a file too.
fn action_value(action: &Action) -> Value {
    let mut wrapped = object(action);
    let mut content = wrapped.shift_remove(action.key()).unwrap_or_default();
    if let Value::Object(fields) = &mut content {
        match action {
            Action::Map(map) => {
                if let Some(each) = &map.each {
                    fields.insert("each".to_owned(), Value::Object(task_fields(each)));
                }
            }
            Action::Plan(inner) => {
                if let Some(plan) = &inner.plan {
                    fields.insert("plan".to_owned(), plan_value(plan));
                }
            }
            Action::Model(_)
            | Action::Run(_)
            | Action::Command(_)
            | Action::Tool(_)
            | Action::Agent(_)
            | Action::Decide(_)
            | Action::Gate(_)
            | Action::Ask(_)
            | Action::Manual(_)
            | Action::Compute(_)
            | Action::Checkpoint(_)
            | Action::Wait(_)
            | Action::UndoTo(_)
            | Action::Adopt(_) => {}
        }
    }
    content
}

fn object(value: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => unreachable!("the model's types are maps with text keys"),
    }
}
