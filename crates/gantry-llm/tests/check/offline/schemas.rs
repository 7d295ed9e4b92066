//! Every schema has a value that fits it, or a refusal that says where and why.

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::kit::{bakery, korean, texts, try_value_of, value_of};

fn schemas(file: &str) -> Map<String, Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/schemas").join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_realistic_schema_is_answered() {
    let schemas = schemas("realistic.json");
    assert!(schemas.len() >= 30);
    for request in [bakery(), korean()] {
        for (name, schema) in &schemas {
            try_value_of(&request, schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

#[test]
fn every_nasty_schema_is_answered() {
    let schemas = schemas("nasty.json");
    assert!(schemas.len() >= 40);
    let refused: Vec<String> = schemas
        .iter()
        .filter_map(|(name, schema)| try_value_of(&bakery(), schema).err().map(|error| format!("{name}: {error}")))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn an_impossible_schema_is_refused_with_the_place_and_the_reason() {
    let refusals: Vec<String> = schemas("impossible.json")
        .iter()
        .map(|(name, schema)| match try_value_of(&bakery(), schema) {
            Ok(value) => panic!("{name}: {value}"),
            Err(refusal) => format!("{name}: {refusal}"),
        })
        .collect();
    insta::assert_snapshot!(refusals.join("\n"), @r"
    never: no value for the schema `answer` (at the top): nothing is allowed here
    bounds that cross: no value for the schema `answer` (at the top): no whole number is within the bounds
    no number between: no value for the schema `answer` (at the top): no whole number is within the bounds
    two types: no value for the schema `answer` (at the top): two demands of the schema exclude each other
    two constants: no value for the schema `answer` (at the top): two demands of the schema exclude each other
    an endless chain: no value for the schema `answer` (/next/next/next/next/next/next/next/next/next/next/next/next/next/next/next/next): the schema demands more values, or deeper ones, than are made
    three different truths: no value for the schema `answer` (/2): there are not enough different items
    a forbidden property that is required: no value for the schema `answer` (/a): nothing is allowed here
    a text that looks ahead: no value for the schema `answer` (/code): the pattern `^(?=.*\d)(?=.*[A-Z])(?=.*[#%]).{12}$` is beyond what can be written by
    a million items: no value for the schema `answer` (at the top): the list is longer than is made
    an endless text: no value for the schema `answer` (at the top): a text of at least 10000000 characters is longer than is written
    a reference to nowhere that is needed: no value for the schema `answer` (/a): this is just what the schema forbids: 6
    ");
}

#[test]
fn no_text_of_an_answer_is_filler() {
    for schema in schemas("realistic.json").values() {
        texts(&value_of(&bakery(), schema), &mut |text| {
            let lower = text.to_lowercase();
            assert!(
                !["lorem", "ipsum", "foo", "todo", "tbd", "string"].iter().any(|filler| lower.contains(filler)),
                "{text}"
            );
        });
    }
}

#[test]
fn the_schema_of_plans_is_answered() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schema/plan.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let value = value_of(&bakery(), &schema);
    assert!(value.to_string().len() < 200_000);
}

/// A schema that some value fits.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0_u64..30, 0_u64..30)
            .prop_map(|(least, more)| json!({"type": "string", "minLength": least, "maxLength": least + more})),
        (-100_i64..100, 0_i64..100)
            .prop_map(|(least, more)| json!({"type": "integer", "minimum": least, "maximum": least + more})),
        (-10.0_f64..10.0, 0.1_f64..10.0)
            .prop_map(|(least, more)| json!({"type": "number", "exclusiveMinimum": least, "maximum": least + more})),
        (1_i64..20).prop_map(|step| json!({"type": "integer", "multipleOf": step})),
        prop::collection::btree_set("[a-z]{1,6}", 1..5).prop_map(|words| json!({"enum": words})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "null"})),
        Just(json!({})),
        Just(json!({"$ref": "#/$defs/tree"})),
        prop::sample::select(vec!["date", "date-time", "time", "email", "uri", "uuid", "duration", "hostname"])
            .prop_map(|format| json!({"type": "string", "format": format})),
        prop::sample::select(vec!["^[a-z]+$", "^\\d{3}-\\d{4}$", "^(a|b)c*$", "[A-Z]", "^.{3,9}$"])
            .prop_map(|pattern| json!({"type": "string", "pattern": pattern})),
    ];
    let inner = leaf.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            (inner.clone(), 0_u64..3, 0_u64..4).prop_map(|(items, least, more)| json!({"type": "array", "items": items, "minItems": least, "maxItems": least + more})),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|ways| json!({"anyOf": ways})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|first| json!({"type": "array", "prefixItems": first, "items": false})),
            inner.clone().prop_map(|schema| json!({"allOf": [schema, {"description": "Something."}]})),
            inner.clone().prop_map(|values| json!({"type": "object", "additionalProperties": values, "minProperties": 1})),
            (prop::collection::btree_map("[a-z_]{1,8}", (inner, any::<bool>()), 0..5), any::<bool>()).prop_map(|(properties, closed)| {
                let required: Vec<&String> = properties.iter().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
                let known: Map<String, Value> = properties.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
                json!({"type": "object", "properties": known, "required": required, "additionalProperties": !closed})
            }),
        ]
    });
    inner.prop_map(|schema| {
        let tree = json!({"type": "object", "properties": {"name": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "required": ["name"]});
        json!({"$defs": {"tree": tree}, "allOf": [schema]})
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_schema_that_can_be_met_is_met(schema in schema()) {
        let met = try_value_of(&bakery(), &schema);
        prop_assert!(met.is_ok(), "{schema}\n{met:?}");
    }

    #[test]
    fn two_demands_together_are_met_or_refused(one in schema(), other in schema(), word in prop::sample::select(vec!["allOf", "oneOf"])) {
        let (defs, one, other) = (one["$defs"].clone(), one["allOf"][0].clone(), other["allOf"][0].clone());
        // A value that comes back has been checked by the kit; a refusal is as good as that.
        let _ = try_value_of(&bakery(), &json!({"$defs": defs, word: [one, other]}));
    }
}
