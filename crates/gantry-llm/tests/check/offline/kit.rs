//! Requests to the offline model, and what it answers.

use gantry_llm::offline::Offline;
use gantry_llm::structured::Checker;
use gantry_llm::{Request, Shape};
use serde_json::{Value, json};

/// A request in English.
pub fn bakery() -> Request {
    let inputs = [
        ("objective", json!("Open a small bakery in Busan for students. It has to pay for itself.")),
        ("budget", json!("$12,000")),
        ("deadline", json!("2027-09-01")),
        ("kickoff", json!("2027-03-01")),
        ("staff", json!(3)),
    ];
    Request { inputs: inputs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(), ..Request::default() }
}

/// A request in Korean.
pub fn korean() -> Request {
    let inputs =
        [("objective", json!("부산에서 작은 빵집 열기")), ("budget", json!("3,000만 원")), ("기간", json!("6개월"))];
    Request { inputs: inputs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(), ..Request::default() }
}

/// The same request with a schema.
pub fn shaped(request: &Request, schema: &Value) -> Request {
    Request { shape: Some(Shape { name: "answer".to_owned(), schema: schema.clone() }), ..request.clone() }
}

/// The value that is answered; it fits the schema.
pub fn value_of(request: &Request, schema: &Value) -> Value {
    try_value_of(request, schema).unwrap_or_else(|error| panic!("{schema}\n{error}"))
}

/// The value that is answered, or the refusal.
pub fn try_value_of(request: &Request, schema: &Value) -> Result<Value, String> {
    let reply = Offline::new().answer(&shaped(request, schema)).map_err(|error| {
        assert_eq!(error.fault, gantry_llm::CallFault::Answer);
        error.message
    })?;
    let value: Value = serde_json::from_str(&reply.text).unwrap();
    let checker = Checker::new(&Shape { name: "answer".to_owned(), schema: schema.clone() }).unwrap();
    assert!(checker.fits(&value), "{schema}\n{value}\n{:?}", checker.faults(&value));
    Ok(value)
}

/// Looks at every text of a value.
pub fn texts(value: &Value, look: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, look)),
        Value::Object(object) => object.values().for_each(|value| texts(value, look)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
