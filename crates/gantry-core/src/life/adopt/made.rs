//! What a task has made, read as a plan.

use serde_json::Value;

use crate::plan::{Action, Plan};

/// Reads a plan as it is exported: tasks may contain tasks, and an action may stand beside the other fields.
pub(super) fn made_plan(value: Value) -> Result<Plan, String> {
    let Value::Object(mut fields) = value else { return Err("it is no object with `tasks`".to_owned()) };
    let Some(Value::Array(listed)) = fields.remove("tasks") else { return Err("it has no list `tasks`".to_owned()) };
    let mut tasks = Vec::new();
    for task in listed {
        unfold(task, None, &mut tasks)?;
    }
    if tasks.is_empty() {
        return Err("it has no tasks".to_owned());
    }
    fields.insert("tasks".to_owned(), Value::Array(tasks));
    fields.entry("title").or_insert_with(|| Value::String("adopted".to_owned()));
    serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
}

/// Puts a task and the tasks inside it behind each other, in the form that the model has.
fn unfold(task: Value, parent: Option<&Value>, all: &mut Vec<Value>) -> Result<(), String> {
    let Value::Object(mut fields) = task else { return Err("one of its tasks is no object".to_owned()) };
    if let Some(parent) = parent {
        fields.entry("parent").or_insert_with(|| parent.clone());
    }
    if !fields.contains_key("action")
        && let Some(key) = Action::KEYS.into_iter().find(|key| fields.contains_key(*key))
        && let Some(content) = fields.remove(key)
    {
        fields.insert("action".to_owned(), Value::Object([(key.to_owned(), content)].into_iter().collect()));
    }
    let inside = fields.remove("tasks");
    let id = fields.get("id").cloned().ok_or("one of its tasks has no `id`")?;
    all.push(Value::Object(fields));
    match inside {
        None => {}
        Some(Value::Array(inside)) => {
            for task in inside {
                unfold(task, Some(&id), all)?;
            }
        }
        Some(_) => return Err(format!("`tasks` of {id} is no list")),
    }
    Ok(())
}
