//! How each provider is told what an answer has to look like.
//!
//! What providers promise is a help and no proof: the answer is always checked against the schema as it was written. So a
//! schema may be sent with less in it, but never with more: genai's strict mode makes every optional property
//! required, and models then invent values for them. That is why it is not used.

use serde_json::{Map, Value, json};

use crate::request::{Request, Shape};
use crate::target::{Protocol, Target};

/// The longest name of a schema that `OpenAI` takes.
const NAME_MAX: usize = 64;

/// What a provider gets of a shape.
#[derive(Debug, PartialEq)]
pub enum Told {
    /// There is no shape.
    Nothing,
    /// It is told in words, for the provider has no other way.
    InWords(String),
    /// It is told by this value, which goes where the protocol has it.
    ByFormat(Value),
}

/// How this target is told about the shape of this request.
pub fn told(target: &Target, request: &Request) -> Told {
    let Some(shape) = &request.shape else { return Told::Nothing };
    let format = match target.protocol {
        _ if !target.schemas => None,
        Protocol::OpenaiChat => Some(json!({"type": "json_schema", "json_schema": openai(shape)})),
        Protocol::OpenaiResponses => {
            let mut format = json!({"type": "json_schema"});
            if let (Some(format), Value::Object(spec)) = (format.as_object_mut(), openai(shape)) {
                format.extend(spec);
            }
            Some(format)
        }
        Protocol::Anthropic => anthropic(&shape.schema),
        Protocol::Gemini => Some(without_dialect(&shape.schema)),
        Protocol::Offline => None,
    };
    format.map_or_else(|| Told::InWords(words(shape)), Told::ByFormat)
}

fn words(shape: &Shape) -> String {
    format!(
        "Answer with one JSON value that fits this JSON Schema, and with nothing else: no explanation, no code fence.\n{}",
        without_dialect(&shape.schema)
    )
}

fn without_dialect(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(map) = schema.as_object_mut() {
        map.shift_remove("$schema");
    }
    schema
}

/// Strict where the schema is what strict mode demands but for the length of texts, which is then checked here alone;
/// elsewhere the schema is sent as it is, as a request.
fn openai(shape: &Shape) -> Value {
    let name: String = shape
        .name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
        .take(NAME_MAX)
        .collect();
    let whole = without_dialect(&shape.schema);
    let lean = without_lengths(&whole);
    let strict = lean.get("type") == Some(&json!("object")) && is_strict(&lean);
    let schema = if strict { lean } else { whole };
    json!({"name": if name.is_empty() { "answer" } else { &name }, "strict": strict, "schema": schema})
}

/// A schema that does not say how long its texts are.
fn without_lengths(schema: &Value) -> Value {
    let Some(map) = schema.as_object() else { return schema.clone() };
    let texts = map.get("type") == Some(&json!("string"));
    let kept = map.iter().filter(|(word, _)| !(texts && matches!(word.as_str(), "minLength" | "maxLength")));
    let lean = kept.map(|(word, value)| {
        let inside = match value {
            // Names of properties are no words of the schema.
            Value::Object(fields) if matches!(word.as_str(), "properties" | "$defs") => {
                Value::Object(fields.iter().map(|(name, field)| (name.clone(), without_lengths(field))).collect())
            }
            Value::Object(_) => without_lengths(value),
            Value::Array(items) if word == "anyOf" => Value::Array(items.iter().map(without_lengths).collect()),
            other => other.clone(),
        };
        (word.clone(), inside)
    });
    Value::Object(lean.collect())
}

/// The words of JSON Schema that strict mode knows.
const STRICT_WORDS: [&str; 21] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "$ref",
    "$defs",
    "title",
    "description",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];

/// Tells whether strict mode takes a schema without any change to it.
fn is_strict(schema: &Value) -> bool {
    let Some(map) = schema.as_object() else { return false };
    if !map.keys().all(|word| STRICT_WORDS.contains(&word.as_str())) {
        return false;
    }
    let objects = map.get("type") == Some(&json!("object")) || map.contains_key("properties");
    if objects {
        let required = map.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let all_required = properties(map).all(|(name, _)| required.iter().any(|one| one == name));
        if !all_required || map.get("additionalProperties") != Some(&json!(false)) {
            return false;
        }
    }
    parts(map).all(is_strict)
}

/// The words that Anthropic refuses; what they demand is checked here alone.
const ANTHROPIC_REFUSES: [&str; 16] = [
    "$schema",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "minItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "pattern",
    "default",
    "examples",
];

/// The schema as Anthropic takes it: weaker where it refuses words, closed where nothing is said about other
/// properties. None where it allows what Anthropic cannot express, such as maps with any keys.
fn anthropic(schema: &Value) -> Option<Value> {
    let map = schema.as_object()?;
    let mut out = Map::new();
    for (word, value) in map {
        let value = match word.as_str() {
            word if ANTHROPIC_REFUSES.contains(&word) => continue,
            "properties" | "$defs" | "definitions" => {
                let parts = value.as_object()?.iter().map(|(name, part)| Some((name.clone(), anthropic(part)?)));
                Value::Object(parts.collect::<Option<_>>()?)
            }
            "items" => anthropic(value)?,
            "anyOf" | "allOf" => Value::Array(value.as_array()?.iter().map(anthropic).collect::<Option<_>>()?),
            "additionalProperties" if value == &json!(false) => continue,
            "type" | "required" | "enum" | "const" | "$ref" | "title" | "description" | "format" => value.clone(),
            _ => return None,
        };
        out.insert(word.clone(), value);
    }
    if map.get("type") == Some(&json!("object")) {
        // An object of which nothing is said may hold anything: that cannot be closed.
        properties(map).next()?;
        out.insert("additionalProperties".into(), json!(false));
    }
    Some(Value::Object(out))
}

fn properties(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    map.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// The schemas inside a schema, as far as strict mode has them.
fn parts(map: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let named = ["properties", "$defs"].into_iter().filter_map(|word| map.get(word)?.as_object()).flat_map(Map::values);
    let listed = map.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    named.chain(listed).chain(map.get("items"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_mode_is_for_schemas_that_need_no_change() {
        let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
        assert!(is_strict(&closed));
        let optional =
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
        assert!(!is_strict(&optional), "an optional property would become required");
        let open = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        assert!(!is_strict(&open));
        let nested = json!({"type": "object", "properties": {"a": {"type": "array", "items": optional}}, "required": ["a"], "additionalProperties": false});
        assert!(!is_strict(&nested));
        let odd = json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 3}}, "required": ["a"], "additionalProperties": false});
        assert!(!is_strict(&odd), "a word that strict mode does not know");
    }

    #[test]
    fn a_schema_loses_for_anthropic_what_it_refuses_and_is_told_in_words_when_it_cannot_be_said() {
        let schema = json!({"$schema": "x", "type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]});
        let sent = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
        assert_eq!(anthropic(&schema), Some(sent));
        assert_eq!(anthropic(&json!({"type": "object", "additionalProperties": {"type": "integer"}})), None);
        assert_eq!(anthropic(&json!({"type": "object"})), None);
    }
}
