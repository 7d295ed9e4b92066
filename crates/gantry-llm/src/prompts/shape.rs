//! Schemas that depend on inputs: an answer may have to be one of the given names.
//!
//! Anywhere in a schema, `{"$input": "outcomes"}` stands for the list that is given as the input `outcomes`,
//! `{"$input": "tools", "$field": "name", "$also": ["finish"]}` for one field of its items and some more, and
//! `{"$count": "checks"}` for the number of its items.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The inputs that a schema depends on.
pub(super) fn inputs_of(schema: &Value) -> Vec<&str> {
    match schema {
        Value::Object(fields) => match named(fields) {
            Some(name) => vec![name],
            None => fields.values().flat_map(inputs_of).collect(),
        },
        Value::Array(items) => items.iter().flat_map(inputs_of).collect(),
        _ => Vec::new(),
    }
}

fn named(fields: &Map<String, Value>) -> Option<&str> {
    fields.get("$input").or_else(|| fields.get("$count")).and_then(Value::as_str)
}

/// The schema with inputs filled in.
pub(super) fn filled(schema: &Value, inputs: &BTreeMap<String, Value>) -> Result<Value, String> {
    match schema {
        Value::Object(fields) => match named(fields) {
            Some(name) => fill(fields, name, inputs.get(name)),
            None => {
                let fields = fields.iter().map(|(name, field)| Ok((name.clone(), filled(field, inputs)?)));
                Ok(Value::Object(fields.collect::<Result<_, String>>()?))
            }
        },
        Value::Array(items) => {
            Ok(Value::Array(items.iter().map(|item| filled(item, inputs)).collect::<Result<_, _>>()?))
        }
        other => Ok(other.clone()),
    }
}

fn fill(fields: &Map<String, Value>, name: &str, input: Option<&Value>) -> Result<Value, String> {
    let Some(items) = input.and_then(Value::as_array) else {
        return Err(format!("the schema needs the input `{name}`, which must be a list"));
    };
    if items.is_empty() && !fields.contains_key("$also") {
        return Err(format!("the schema needs the input `{name}`, and the list is empty"));
    }
    if fields.contains_key("$count") {
        return Ok(json!(items.len()));
    }
    let field = fields.get("$field").and_then(Value::as_str);
    let mut values: Vec<Value> = Vec::new();
    for item in items {
        let value = match field {
            None => Some(item),
            Some(field) => item.get(field),
        };
        let value =
            value.ok_or_else(|| format!("an item of the input `{name}` has no `{}`", field.unwrap_or_default()))?;
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    for more in fields.get("$also").and_then(Value::as_array).into_iter().flatten() {
        if !values.contains(more) {
            values.push(more.clone());
        }
    }
    Ok(Value::Array(values))
}
