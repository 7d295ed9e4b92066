//! What is said about a faulty answer is exact, short, and something a model can act on.

use gantry_llm::structured::{Checker, Reading, feedback};
use gantry_llm::{Finish, Shape};
use serde_json::{Value, json};

use crate::corpus;

fn checker(schema: Value) -> Checker {
    Checker::new(&Shape { name: "answer".to_owned(), schema }).unwrap()
}

fn faults(schema: Value, value: &Value) -> String {
    checker(schema).faults(value).join("\n")
}

#[test]
fn each_fault_says_where_it_is_and_what_was_expected_and_found() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 3, "maxLength": 5},
            "count": {"type": "integer", "exclusiveMinimum": 0, "multipleOf": 5},
            "share": {"type": "number", "exclusiveMaximum": 1},
            "tags": {"type": "array", "maxItems": 2, "uniqueItems": true},
            "mail": {"type": "string", "format": "email"},
            "kind": {"const": "task"},
            "any": {"type": ["string", "integer"]},
            "deep": {"type": "object", "properties": {"er": {"type": "array", "items": {"type": "boolean"}}}},
        },
        "required": ["id"],
        "additionalProperties": false,
    });
    let value = json!({
        "name": "ab", "count": -3, "share": 1, "tags": ["a", "a", "b"], "mail": "x", "kind": "gate", "any": true,
        "deep": {"er": [true, "no"]}, "extra": 1,
    });
    insta::assert_snapshot!(faults(schema, &value), @r#"
    At `/name`: expected at least 3 characters, found 2: the text "ab".
    At `/count`: expected more than 0, found -3.
    At `/count`: expected a multiple of 5, found -3.
    At `/share`: expected less than 1, found 1.
    At `/tags`: expected at most 2 items, found an array of 3.
    At `/tags`: two items are the same, and each may be there once; found an array of 3.
    At `/mail`: expected a text in the format `email`, found the text "x".
    At `/kind`: expected "task", found the text "gate".
    At `/any`: expected a whole number or a text, found true.
    At `/deep/er/1`: expected true or false, found the text "no".
    At the top: `extra` is not allowed here; leave out what the schema does not name.
    At the top: the property "id" is missing.
    "#);
}

#[test]
fn of_several_forms_the_nearest_is_explained() {
    let schema = json!({"anyOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
        {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"type": "integer"}}, "required": ["kind", "y"]},
        {"type": "string"},
    ]});
    insta::assert_snapshot!(faults(schema, &json!({"kind": "b", "y": "1"})), @r#"At the top: fits none of the 3 allowed forms; of form 2: At `/y`: expected a whole number, found the text "1"; write the number without quotes."#);
}

#[test]
fn a_hundred_faults_are_told_in_a_dozen() {
    let value: Value = (0..1_000).map(|at| json!({"wrong": at})).collect();
    let told = checker(json!({"type": "array", "items": {"type": "string"}})).faults(&value);
    assert_eq!(told.len(), 13);
    assert!(told[12].contains("more faults"), "{}", told[12]);
}

#[test]
fn a_long_value_is_shown_shortened_and_on_one_line() {
    let told = faults(json!({"type": "integer"}), &json!("line\n\u{7}".repeat(10_000)));
    assert!(told.chars().count() < 200 && !told.contains('\n') && !told.contains('\u{7}'), "{told}");
}

#[test]
fn rules_are_asked_only_about_a_value_that_fits_and_their_faults_count() {
    let checker = checker(json!({"type": "object", "properties": {"after": {"type": "string"}}}));
    let rules = |value: &Value| {
        let after = value["after"].as_str().expect("the schema has spoken first");
        if after == "rent" { Vec::new() } else { vec![format!("At `/after`: there is no task `{after}`.")] }
    };
    let read = |text: &str| checker.read(text, &Finish::Done, &rules);
    assert!(matches!(read(r#"{"after": "rent"}"#), Reading::Holds { .. }));
    assert_eq!(
        read(r#"{"after": "oven"}"#),
        Reading::Faulty { faults: vec!["At `/after`: there is no task `oven`.".to_owned()] }
    );
    assert!(matches!(read(r#"{"after": 3}"#), Reading::Faulty { .. }));
}

#[test]
fn feedback_lists_the_faults_and_says_what_to_do() {
    let faults = ["At `/days`: expected a whole number, found the text \"3\".".to_owned()];
    insta::assert_snapshot!(feedback(&faults), @r#"
    Your answer cannot be used:
    - At `/days`: expected a whole number, found the text "3".
    Give the whole answer again: one JSON value that fits the schema, with nothing before or after it.
    "#);
}

#[test]
fn feedback_is_short_however_much_is_wrong() {
    let faults: Vec<String> = (0..10_000).map(|at| format!("{at}: {}", "가".repeat(1_000))).collect();
    let told = feedback(&faults);
    assert!(told.chars().count() <= 4_000, "{}", told.chars().count());
    assert!(told.contains("more\n"));
}

#[test]
fn the_faults_of_the_corpus_are_sentences() {
    let checkers = corpus::checkers();
    for case in corpus::cases() {
        if let Reading::Faulty { faults } = checkers[&case.schema].read(&case.text, &case.finish(), &|_| Vec::new()) {
            for fault in faults {
                let first = fault.chars().next().unwrap();
                assert!(first.is_uppercase() && fault.ends_with(['.', ':']), "{}: {fault}", case.name);
            }
        }
    }
}

#[test]
fn a_schema_that_is_none_is_refused_with_its_place() {
    let error =
        Checker::new(&Shape { name: "odd".to_owned(), schema: json!({"properties": {"a": {"type": "strin"}}}) });
    insta::assert_snapshot!(error.unwrap_err(), @r#"the schema `odd` is not valid. At `/properties/a/type`: "strin" is not valid under any of the schemas listed in the 'anyOf' keyword"#);
}

#[test]
fn a_schema_that_leads_elsewhere_is_refused_and_nothing_is_fetched() {
    let shape = Shape { name: "far".to_owned(), schema: json!({"$ref": "http://127.0.0.1:9/schema.json"}) };
    assert!(Checker::new(&shape).is_err());
}

#[test]
fn a_schema_that_only_leads_to_itself_does_not_hang() {
    if let Ok(checker) = Checker::new(&Shape { name: "loop".to_owned(), schema: json!({"$ref": "#"}) }) {
        let _ = checker.read("{}", &Finish::Done, &|_| Vec::new());
    }
}

#[test]
fn a_checker_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Checker>();
}
