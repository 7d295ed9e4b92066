//! A strict form of a schema asks for no more and no less than providers can do, and what comes of it fits the schema.

use gantry_llm::structured::{Checker, Reading, strict};
use gantry_llm::{Finish, Shape};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn read(schema: Value, value: &Value) -> Reading {
    let checker = Checker::new(&Shape { name: "answer".to_owned(), schema }).unwrap();
    checker.read(&value.to_string(), &Finish::Done, &|_| Vec::new())
}

#[test]
fn what_may_be_left_out_may_be_null_and_every_property_is_required() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "owner": {"type": "string", "default": "nobody"},
            "due": {"type": ["string", "null"]},
            "part": {"$ref": "#/$defs/part", "description": "What it is a part of."},
        },
        "required": ["title"],
        "$defs": {"part": {"type": "object", "properties": {"of": {"type": "integer"}}}},
    });
    insta::assert_json_snapshot!(strict(&schema).unwrap(), @r##"
    {
      "type": "object",
      "$defs": {
        "part": {
          "type": "object",
          "required": [
            "of"
          ],
          "properties": {
            "of": {
              "anyOf": [
                {
                  "type": "integer"
                },
                {
                  "type": "null"
                }
              ]
            }
          },
          "additionalProperties": false
        }
      },
      "required": [
        "title",
        "owner",
        "due",
        "part"
      ],
      "properties": {
        "title": {
          "type": "string"
        },
        "owner": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ]
        },
        "due": {
          "type": [
            "string",
            "null"
          ]
        },
        "part": {
          "anyOf": [
            {
              "anyOf": [
                {
                  "$ref": "#/$defs/part"
                }
              ],
              "description": "What it is a part of."
            },
            {
              "type": "null"
            }
          ]
        }
      },
      "additionalProperties": false
    }
    "##);
}

#[test]
fn a_form_that_can_be_told_apart_becomes_one_of_any() {
    let schema = json!({"type": "object", "required": ["say"], "properties": {"say": {"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
        {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
        {"type": "string"},
    ]}}});
    assert!(strict(&schema).unwrap()["properties"]["say"]["anyOf"].is_array());
}

#[test]
fn a_schema_that_cannot_be_strict_is_refused_with_the_place() {
    let of = |property: Value| json!({"type": "object", "properties": {"a": property}});
    let refused = [
        json!({"type": "array", "items": {"type": "string"}}),
        of(json!({"type": "object", "additionalProperties": {"type": "string"}})),
        of(json!({"type": "object"})),
        of(json!({"allOf": [{"type": "string"}]})),
        of(json!({"oneOf": [{"type": "number"}, {"type": "integer"}]})),
        of(json!({"$ref": "other.json"})),
        of(json!(true)),
        json!({"type": "object", "properties": {}, "required": ["ghost"]}),
    ];
    let told: Vec<String> = refused.iter().map(|schema| strict(schema).unwrap_err()).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    at the top: only an object can be strict
    at `/properties/a`: an object without named properties cannot be strict
    at `/properties/a`: an object without named properties cannot be strict
    at `/properties/a`: strict providers do not know `allOf`
    at `/properties/a`: a value could fit two forms of `oneOf`
    at `/properties/a`: `$ref` stands beside other words, or leads elsewhere
    at `/properties/a`: `true` is no form that can be written by
    at the top: `ghost` is required and not described
    ");
}

#[test]
fn nulls_within_one_of_several_forms_are_left_out_again() {
    let form = |kind: &str| json!({"type": "object", "properties": {"kind": {"const": kind}, "note": {"type": "string"}}, "required": ["kind"]});
    let schema =
        json!({"type": "object", "required": ["say"], "properties": {"say": {"anyOf": [form("a"), form("b")]}}});
    let Reading::Holds { value, .. } = read(schema, &json!({"say": {"kind": "b", "note": null}})) else { panic!() };
    assert_eq!(value, json!({"say": {"kind": "b"}}));
}

#[test]
fn a_null_that_the_schema_allows_stays() {
    let schema =
        json!({"type": "object", "properties": {"due": {"type": ["string", "null"]}, "note": {"type": "string"}}});
    let Reading::Holds { value, .. } = read(schema, &json!({"due": null, "note": null})) else { panic!() };
    assert_eq!(value, json!({"due": null}));
}

/// A schema that can be strict.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "enum": ["low", "medium", "high"]})),
        Just(json!({"type": "integer", "minimum": 0, "maximum": 9})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": ["number", "null"]})),
        Just(json!({"const": "task"})),
    ];
    let inner = leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            2 => object(inner.clone()),
            1 => inner.clone().prop_map(|items| json!({"type": "array", "items": items, "maxItems": 3})),
            1 => inner.prop_map(|form| json!({"anyOf": [form, {"type": "null"}]})),
        ]
    });
    object(inner)
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-d]", (inner, any::<bool>()), 0..4).prop_map(|properties| {
        let required: Vec<&String> =
            properties.iter().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
        let schemas: Map<String, Value> =
            properties.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
        json!({"type": "object", "properties": schemas, "required": required})
    })
}

/// Some value that a strict schema allows, chosen by draws.
fn allowed(schema: &Value, draws: &mut impl Iterator<Item = u8>) -> Value {
    let draw = draws.next().unwrap();
    if let Some(forms) = schema["anyOf"].as_array() {
        return allowed(&forms[usize::from(draw) % forms.len()], draws);
    }
    if let Some(words) = schema["enum"].as_array() {
        return words[usize::from(draw) % words.len()].clone();
    }
    if let Some(word) = schema.get("const") {
        return word.clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => &kinds[usize::from(draw) % kinds.len()],
        kind => kind,
    };
    match kind.as_str().unwrap() {
        "object" => {
            let properties = schema["properties"].as_object().unwrap();
            Value::Object(properties.iter().map(|(name, schema)| (name.clone(), allowed(schema, draws))).collect())
        }
        "array" => (0..draw % 4).map(|_| allowed(&schema["items"], draws)).collect(),
        "string" => json!(format!("text {draw}")),
        "integer" => json!(draw % 10),
        "number" => json!(f64::from(draw) / 4.0),
        "boolean" => json!(draw.is_multiple_of(2)),
        _ => Value::Null,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_strict_schema_allows_reads_as_a_value_that_fits_the_schema(
        schema in schema(),
        draws in prop::collection::vec(any::<u8>(), 1..50),
    ) {
        let strict = strict(&schema).unwrap();
        let value = allowed(&strict, &mut draws.iter().copied().cycle());
        prop_assert!(jsonschema::is_valid(&strict, &value), "{value} is no value of {strict}");
        match read(schema.clone(), &value) {
            Reading::Holds { value: read, .. } => prop_assert!(jsonschema::is_valid(&schema, &read)),
            other => prop_assert!(false, "{schema}\n{value}\n{other:?}"),
        }
    }
}
