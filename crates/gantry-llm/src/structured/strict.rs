//! The strict form of a schema, for providers that write by a schema and know only a part of the language.
//!
//! They demand that every property is required and no other is allowed. A property that may be left out becomes one that
//! may be null, and [`Checker::read`](super::Checker::read) leaves such nulls out again.
//!
//! Invariant: every value that the strict form allows reads as one that fits the schema itself. A schema that has no such
//! form is refused, and goes out as it is.

use serde_json::{Map, Value, json};

/// Words of a schema that say nothing about values, and that strict providers refuse.
const REMARKS: [&str; 9] =
    ["default", "examples", "$schema", "$id", "$comment", "deprecated", "readOnly", "writeOnly", "contentMediaType"];

/// Words of a schema that strict providers do not know.
const UNKNOWN: [&str; 16] = [
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
    "contains",
    "prefixItems",
    "$dynamicRef",
];

/// How deep a schema may nest.
const DEPTH_MAX: usize = 64;

/// Makes a schema strict: every property required, optional ones nullable, no others; says why where that cannot be.
pub fn strict(schema: &Value) -> Result<Value, String> {
    let object = schema.get("type").is_some_and(|kind| kind == "object");
    if !object || schema.get("anyOf").is_some() || schema.get("oneOf").is_some() {
        return Err("at the top: only an object can be strict".to_owned());
    }
    form(schema, "", 0)
}

fn form(schema: &Value, path: &str, depth: usize) -> Result<Value, String> {
    let place = || if path.is_empty() { "at the top".to_owned() } else { format!("at `{path}`") };
    if depth > DEPTH_MAX {
        return Err(format!("{}: nested too deep", place()));
    }
    let Value::Object(words) = schema else {
        return Err(format!("{}: `{schema}` is no form that can be written by", place()));
    };
    if let Some(unknown) = UNKNOWN.iter().find(|word| words.contains_key(**word)) {
        return Err(format!("{}: strict providers do not know `{unknown}`", place()));
    }
    if words.contains_key("$ref") {
        return reference(words)
            .ok_or_else(|| format!("{}: `$ref` stands beside other words, or leads elsewhere", place()));
    }
    let mut strict = Map::new();
    for (word, value) in words {
        let inner = format!("{path}/{word}");
        match word.as_str() {
            word if REMARKS.contains(&word) || word.starts_with("x-") => {}
            "properties" | "required" | "additionalProperties" => {}
            "$defs" | "definitions" => drop(strict.insert(word.clone(), each(value, &inner, depth)?)),
            "items" => drop(strict.insert(word.clone(), form(value, &inner, depth + 1)?)),
            "anyOf" => drop(strict.insert(word.clone(), all(value, &inner, depth)?)),
            "oneOf" if apart(value) && !words.contains_key("anyOf") => {
                strict.insert("anyOf".to_owned(), all(value, &inner, depth)?);
            }
            "oneOf" => return Err(format!("{}: a value could fit two forms of `oneOf`", place())),
            _ => drop(strict.insert(word.clone(), value.clone())),
        }
    }
    if may_be_object(words) {
        properties(words, &mut strict, path, depth)?;
    }
    Ok(Value::Object(strict))
}

/// A reference may carry a description and nothing else; strict providers want it alone.
fn reference(words: &Map<String, Value>) -> Option<Value> {
    let target = words.get("$ref")?.as_str().filter(|target| target.starts_with('#'))?;
    let told = |word: &str| REMARKS.contains(&word) || matches!(word, "$ref" | "description" | "title");
    if !words.keys().all(|word| told(word)) {
        return None;
    }
    match words.get("description") {
        Some(description) => Some(json!({"anyOf": [{"$ref": target}], "description": description})),
        None => Some(json!({"$ref": target})),
    }
}

fn may_be_object(words: &Map<String, Value>) -> bool {
    match words.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => words.contains_key("properties") || words.contains_key("required"),
    }
}

fn properties(
    words: &Map<String, Value>,
    strict: &mut Map<String, Value>,
    path: &str,
    depth: usize,
) -> Result<(), String> {
    let place = if path.is_empty() { "at the top".to_owned() } else { format!("at `{path}`") };
    let Some(Value::Object(known)) = words.get("properties") else {
        return Err(format!("{place}: an object without named properties cannot be strict"));
    };
    if !matches!(words.get("additionalProperties"), None | Some(Value::Bool(_))) {
        return Err(format!("{place}: an object with keys of any name cannot be strict"));
    }
    let required: Vec<&str> =
        words.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(nameless) = required.iter().find(|name| !known.contains_key(**name)) {
        return Err(format!("{place}: `{nameless}` is required and not described"));
    }
    let mut formed = Map::new();
    for (name, schema) in known {
        let schema = form(schema, &format!("{path}/properties/{name}"), depth + 1)?;
        let schema = if required.contains(&name.as_str()) || may_be_null(&schema) {
            schema
        } else {
            json!({"anyOf": [schema, {"type": "null"}]})
        };
        formed.insert(name.clone(), schema);
    }
    strict.insert("required".to_owned(), formed.keys().cloned().collect());
    strict.insert("properties".to_owned(), Value::Object(formed));
    strict.insert("additionalProperties".to_owned(), Value::Bool(false));
    Ok(())
}

/// Tells whether null is allowed on the face of it.
fn may_be_null(schema: &Value) -> bool {
    let kind = schema.get("type");
    let by_kind =
        kind.is_some_and(|kind| kind == "null" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("null"))));
    let by_form = schema
        .get("anyOf")
        .and_then(Value::as_array)
        .is_some_and(|forms| forms.iter().any(|form| *form == json!({"type": "null"})));
    (by_kind && schema.get("enum").is_none() && schema.get("const").is_none()) || by_form
}

fn each(schemas: &Value, path: &str, depth: usize) -> Result<Value, String> {
    let mut formed = Map::new();
    for (name, schema) in schemas.as_object().into_iter().flatten() {
        formed.insert(name.clone(), form(schema, &format!("{path}/{name}"), depth + 1)?);
    }
    Ok(Value::Object(formed))
}

fn all(schemas: &Value, path: &str, depth: usize) -> Result<Value, String> {
    let schemas = schemas.as_array().map_or(&[][..], Vec::as_slice);
    schemas.iter().enumerate().map(|(at, schema)| form(schema, &format!("{path}/{at}"), depth + 1)).collect()
}

/// Tells whether no value fits two of these forms: other kinds, other words, or a property that tells them apart.
fn apart(forms: &Value) -> bool {
    let forms = forms.as_array().map_or(&[][..], Vec::as_slice);
    let pairs = forms.iter().enumerate().flat_map(|(at, one)| forms[at + 1..].iter().map(move |other| (one, other)));
    forms.len() <= 64 && pairs.into_iter().all(|(one, other)| differ(one, other) || told_apart(one, other))
}

fn differ(one: &Value, other: &Value) -> bool {
    if let (Some(ones), Some(others)) = (words_of(one), words_of(other)) {
        return ones.iter().all(|word| !others.contains(word));
    }
    match (one.get("type").and_then(Value::as_str), other.get("type").and_then(Value::as_str)) {
        (Some("integer" | "number"), Some("integer" | "number")) => false,
        (Some(one), Some(other)) => one != other,
        _ => false,
    }
}

/// The only values that a form allows, where it lists them.
fn words_of(form: &Value) -> Option<Vec<&Value>> {
    form.get("const")
        .map(|word| vec![word])
        .or_else(|| form.get("enum")?.as_array().map(|words| words.iter().collect()))
}

fn told_apart(one: &Value, other: &Value) -> bool {
    let required = |form: &Value, name: &str| {
        form.get("required")
            .and_then(Value::as_array)
            .is_some_and(|names| names.iter().any(|required| required == name))
    };
    let object = |form: &Value| form.get("type").is_some_and(|kind| kind == "object");
    let Some(properties) = one.get("properties").and_then(Value::as_object) else {
        return false;
    };
    object(one)
        && object(other)
        && properties.iter().any(|(name, schema)| {
            let twin = other.get("properties").and_then(|properties| properties.get(name));
            required(one, name)
                && required(other, name)
                && twin
                    .is_some_and(|twin| words_of(schema).is_some() && words_of(twin).is_some() && differ(schema, twin))
        })
}
