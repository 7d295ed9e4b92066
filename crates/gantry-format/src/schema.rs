//! The JSON Schema of plan files, generated from the model's types.
//!
//! The schema describes the canonical form. Some things differ between the model and a file, and are changed here:
//! an action is a field of its task, tasks stand inside their parent, an undo is an action by its name, and what each
//! item of a map becomes needs no id.

use gantry_core::plan::{Action, Plan};
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Returns the JSON Schema (2020-12) of plan files.
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Plan>().to_value();
    let actions = actions(&schema);
    if let Some(task) = schema.pointer_mut("/$defs/Task") {
        hoist_actions(task, actions);
        task["properties"]["tasks"] = json!({
            "description": "The tasks inside this one.",
            "type": "array",
            "items": {"$ref": "#/$defs/Task", "required": ["id"]},
        });
        // Only a task in a list needs its id: what each item of a map becomes gets one.
        if let Some(fields) = task.as_object_mut() {
            fields.shift_remove("required");
        }
    }
    if let Some(items) = schema.pointer_mut("/properties/tasks/items") {
        items["required"] = json!(["id"]);
    }
    if let Some(ways) = schema.pointer_mut("/$defs/Undo/oneOf").and_then(Value::as_array_mut) {
        ways.push(json!({"$ref": "#/$defs/Action", "description": "The same in short: `undo: {run: …}`."}));
    }
    schema["title"] = json!("Gantry plan");
    schema
}

/// Returns the schema of each action by its key.
fn actions(schema: &Value) -> Vec<(String, Value)> {
    let variants = schema.pointer("/$defs/Action/oneOf").and_then(Value::as_array);
    let mut actions = Vec::new();
    for variant in variants.into_iter().flatten() {
        let properties = variant.get("properties").and_then(Value::as_object);
        for (key, content) in properties.into_iter().flatten() {
            let mut content = content.clone();
            if let (Some(description), Some(fields)) = (variant.get("description"), content.as_object_mut()) {
                fields.entry("description").or_insert_with(|| description.clone());
            }
            actions.push((key.clone(), content));
        }
    }
    debug_assert_eq!(actions.len(), Action::KEYS.len(), "every action has a schema");
    actions
}

/// Replaces the model's field `action` by one field for each action, of which a task has one.
fn hoist_actions(task: &mut Value, actions: Vec<(String, Value)>) {
    let Some(properties) = task.get_mut("properties").and_then(Value::as_object_mut) else { return };
    properties.shift_remove("action");
    let keys: Vec<String> = actions.iter().map(|(key, _)| key.clone()).collect();
    properties.extend(actions);
    let one_of_each = keys.iter().map(|key| json!({"required": [key]}));
    let none = json!({"not": {"anyOf": one_of_each.clone().collect::<Vec<_>>()}});
    task["oneOf"] = one_of_each.chain([none]).collect();
}
