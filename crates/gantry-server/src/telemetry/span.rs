//! One thing that took time.

use gantry_core::time::Timestamp;
use serde_json::{Value, json};

use crate::access::random_hex;

/// What sort of thing it is, as collectors count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something inside.
    Internal = 1,
    /// An answer to someone.
    Server = 2,
    /// A question to someone.
    Client = 3,
}

/// One thing that took time.
#[derive(Clone, Debug)]
pub struct Span {
    trace: String,
    id: String,
    parent: Option<String>,
    name: String,
    kind: Kind,
    from: Timestamp,
    until: Timestamp,
    attributes: Vec<(&'static str, Value)>,
    failed: Option<String>,
}

/// An id made from what it is about: the same for everyone who speaks of it.
fn id_of(parts: &[&str], bytes: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.finalize().to_hex()[..bytes * 2].to_owned()
}

/// The id that a caller gives a trace and the span around its request (`traceparent`).
fn given(header: &str) -> Option<(String, String)> {
    let parts: Vec<&str> = header.split('-').collect();
    let [version, trace, parent, _] = parts.as_slice() else { return None };
    let is_hex = |text: &str, length: usize| {
        text.len() == length
            && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
            && text.bytes().any(|byte| byte != b'0')
    };
    (version.len() == 2 && is_hex(trace, 32) && is_hex(parent, 16)).then(|| ((*trace).to_owned(), (*parent).to_owned()))
}

impl Span {
    /// A request, in the trace of whoever made it.
    pub fn of_request(name: String, traceparent: Option<&str>, from: Timestamp, until: Timestamp) -> Self {
        let (trace, parent) = match traceparent.and_then(given) {
            Some((trace, parent)) => (trace, Some(parent)),
            None => (random_hex(16), None),
        };
        Self { parent, ..Self::new(trace, random_hex(8), name, Kind::Server, from, until) }
    }

    /// A plan, from its beginning to its end.
    pub fn of_plan(plan: &str, title: &str, from: Timestamp, until: Timestamp) -> Self {
        let name = format!("plan {title}");
        Self::new(id_of(&["plan", plan], 16), id_of(&["plan", plan], 8), name, Kind::Internal, from, until)
    }

    /// Something inside a plan, named by its parts, below what has one part less.
    pub fn inside(plan: &str, path: &[&str], name: String, kind: Kind, from: Timestamp, until: Timestamp) -> Self {
        let own: Vec<&str> = ["plan", plan].into_iter().chain(path.iter().copied()).collect();
        let parent = id_of(&own[..if path.len() > 2 { own.len() - 1 } else { 2 }], 8);
        let span = Self::new(id_of(&["plan", plan], 16), id_of(&own, 8), name, kind, from, until);
        Self { parent: Some(parent), ..span }
    }

    fn new(trace: String, id: String, name: String, kind: Kind, from: Timestamp, until: Timestamp) -> Self {
        Self { trace, id, parent: None, name, kind, from, until, attributes: Vec::new(), failed: None }
    }

    /// The trace that it belongs to.
    pub fn trace(&self) -> &str {
        &self.trace
    }

    /// Something about it; nothing is left out.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.attributes.push((name, value));
        }
        self
    }

    /// Why it came to nothing.
    #[must_use]
    pub fn failed(self, why: Option<String>) -> Self {
        Self { failed: why, ..self }
    }

    /// It as collectors read it.
    pub fn to_json(&self) -> Value {
        let nanos = |at: Timestamp| (i128::from(at.as_ms()) * 1_000_000).to_string();
        let attributes: Vec<Value> =
            self.attributes.iter().map(|(key, value)| json!({"key": key, "value": any(value)})).collect();
        json!({
            "traceId": self.trace, "spanId": self.id, "parentSpanId": self.parent.as_deref().unwrap_or_default(),
            "name": self.name, "kind": self.kind as u8,
            "startTimeUnixNano": nanos(self.from), "endTimeUnixNano": nanos(self.until.max(self.from)),
            "attributes": attributes,
            "status": match &self.failed { Some(why) => json!({"code": 2, "message": why}), None => json!({}) },
        })
    }
}

/// A value as the protocol writes it; whole numbers are texts there.
pub fn any(value: &Value) -> Value {
    match value {
        Value::Bool(value) => json!({"boolValue": value}),
        Value::Number(number) if number.is_i64() || number.is_u64() => json!({"intValue": number.to_string()}),
        Value::Number(number) => json!({"doubleValue": number}),
        Value::Array(items) => json!({"arrayValue": {"values": items.iter().map(any).collect::<Vec<_>>()}}),
        Value::String(text) => json!({"stringValue": text}),
        other => json!({"stringValue": other.to_string()}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_goes_on_with_the_trace_of_its_caller_when_there_is_one() {
        let at = Timestamp::from_ms(1_000);
        let span = |header: &str| Span::of_request("GET /".to_owned(), Some(header), at, at).to_json();
        let told = span("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        assert_eq!(told["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(told["parentSpanId"], "00f067aa0ba902b7");
        for odd in ["", "00-1-2-01", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "x-y-z-w"] {
            assert_eq!(span(odd)["parentSpanId"], "", "{odd}");
        }
    }

    #[test]
    fn a_call_stands_below_its_attempt_and_that_below_its_plan() {
        let at = Timestamp::from_ms(1_000);
        let plan = Span::of_plan("p", "P", at, at).to_json();
        let attempt = Span::inside("p", &["a", "1"], "a".to_owned(), Kind::Internal, at, at).to_json();
        let call = Span::inside("p", &["a", "1", "2"], "chat m".to_owned(), Kind::Client, at, at).to_json();
        assert_eq!((&attempt["parentSpanId"], &call["parentSpanId"]), (&plan["spanId"], &attempt["spanId"]));
        assert_eq!((&plan["traceId"], &plan["traceId"]), (&attempt["traceId"], &call["traceId"]));
        assert_eq!(call["startTimeUnixNano"], "1000000000");
    }
}
