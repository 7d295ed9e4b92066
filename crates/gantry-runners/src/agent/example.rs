//! Examples of arguments, made from their schema.

use serde_json::{Map, Value, json};

/// An example deeper than this has nothing in it.
const DEPTH_MAX: u32 = 4;

/// An example with everything that arguments must have, and in words what else they may have.
pub(super) fn of_args(parameters: &Value) -> (Value, String) {
    let required = |name: &str| parameters["required"].as_array().is_some_and(|names| names.iter().any(|n| n == name));
    let (mut example, mut more) = (Map::new(), Vec::new());
    for (name, schema) in parameters["properties"].as_object().into_iter().flatten() {
        if required(name) {
            example.insert(name.clone(), of(schema, name, 0));
        } else {
            more.push(match schema["type"].as_str() {
                Some(kind) => format!("{name} ({kind})"),
                None => name.clone(),
            });
        }
    }
    (Value::Object(example), more.join(", "))
}

/// A plain value that fits a schema, as far as its type tells.
fn of(schema: &Value, name: &str, depth: u32) -> Value {
    let given = [&schema["examples"][0], &schema["default"], &schema["const"], &schema["enum"][0]];
    if let Some(given) = given.into_iter().find(|value| !value.is_null()) {
        return given.clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or_default();
    match kind {
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        "boolean" => json!(true),
        "null" => Value::Null,
        "array" if depth < DEPTH_MAX => json!([of(&schema["items"], name, depth + 1)]),
        "array" => json!([]),
        "object" if depth < DEPTH_MAX => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            Value::Object(fields.map(|(name, field)| (name.clone(), of(field, name, depth + 1))).collect())
        }
        "object" => json!({}),
        _ => json!(format!("<{}>", schema["description"].as_str().unwrap_or(name).trim_end_matches('.'))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_has_what_is_required_and_words_name_the_rest() {
        let parameters = json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "examples": ["ls"]},
                "path": {"type": "string", "description": "A path."},
                "lines": {"type": "integer", "minimum": 2},
                "mode": {"enum": ["fast", "slow"]},
                "names": {"type": "array", "items": {"type": "string"}},
                "where": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
                "from_line": {"type": "integer"},
                "anything": {},
            },
            "required": ["command", "path", "lines", "mode", "names", "where"],
        });
        let (example, more) = of_args(&parameters);
        let wanted = json!({
            "command": "ls", "path": "<A path>", "lines": 2, "mode": "fast", "names": ["<names>"],
            "where": {"deep": true},
        });
        assert_eq!((example, more.as_str()), (wanted, "from_line (integer), anything"));
        assert_eq!(of_args(&json!({"type": "object"})), (json!({}), String::new()));
    }
}
