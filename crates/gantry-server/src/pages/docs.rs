//! The API, to be read: drawn from the same document that programs read.

use axum::http::{HeaderMap, header};
use axum::response::Html;
use maud::{Markup, html};
use serde_json::Value;

use super::layout::Page;
use super::parts::text;
use crate::access::Who;
use crate::api::described;
use crate::listen::Caller;

/// Method, path and what the document says about it.
type Row = (String, String, Value);

/// The page.
pub async fn docs(who: Who, caller: Caller, headers: HeaderMap) -> Html<String> {
    let document = described().document();
    let mut groups: Vec<(String, Vec<Row>)> = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in
            item.as_object().into_iter().flatten().filter(|(_, one)| one["responses"].is_object())
        {
            let group = operation["tags"][0].as_str().unwrap_or_default().to_owned();
            let row = (method.to_uppercase(), path.clone(), operation.clone());
            match groups.iter_mut().find(|(known, _)| *known == group) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((group, vec![row])),
            }
        }
    }
    // What people come for stands first, and what has another name last.
    let place = |name: &str| {
        ["plans", "tasks", "steering", "gates", "asks", "live"]
            .iter()
            .position(|one| *one == name)
            .unwrap_or(if name == "other names" { 99 } else { 50 })
    };
    groups.sort_by_key(|(name, _)| place(name));
    let schemas = &document["components"]["schemas"];
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1:8080");
    let here = format!("{}://{host}", if caller.secure { "https" } else { "http" });
    let body = html! {
        h1 { "The API" }
        p { (with_code(text(&document["info"], "description"))) }
        p { a href="/api/v1/openapi.json" { "OpenAPI document" } ", for programs. Besides: " code { "/ws/plans/{plan}/progress" } " (WebSocket), " code { "/healthz" } ", " code { "/readyz" } ", " code { "/metrics" } "." }
        pre { "curl -s " (here) "/api/v1/plans\ncurl -s -X POST " (here) "/api/v1/plans -H 'content-type: application/yaml' --data-binary @plan.yaml\ncurl -N '" (here) "/api/v1/plans/@last/events?after=0'" }
        @for (group, rows) in &groups {
            h2 { (group) }
            @for (method, path, operation) in rows {
                details.card id=(text(operation, "operationId")) {
                    summary { code { (method) " " (path) } " " (with_code(text(operation, "summary"))) }
                    p { (with_code(text(operation, "description"))) }
                    @for one in operation["parameters"].as_array().into_iter().flatten() {
                        p.small { code { (text(one, "name")) } " (" (text(one, "in")) ") " (with_code(text(one, "description"))) }
                    }
                    @if let Some(name) = schema_name(&operation["requestBody"]) { h3 { "Body" } (fields(schemas, name)) }
                    @for (status, response) in operation["responses"].as_object().into_iter().flatten() {
                        h3 { (status) " " span.soft { (with_code(text(response, "description"))) } }
                        @if let Some(name) = schema_name(response) { (fields(schemas, name)) }
                    }
                }
            }
        }
    };
    Page::new("The API").draw(Some(&who), body)
}

/// A text in which what stands between backticks is code.
fn with_code(text: &str) -> Markup {
    html! { @for (at, part) in text.split('`').enumerate() { @if at % 2 == 1 { code { (part) } } @else { (part) } } }
}

fn schema_name(value: &Value) -> Option<&str> {
    let content = value["content"].as_object()?.values().next()?;
    content["schema"]["$ref"].as_str()?.rsplit('/').next()
}

fn fields(schemas: &Value, name: &str) -> Markup {
    let schema = &schemas[name];
    let mut all: Vec<(String, String)> = Vec::new();
    let parts = schema["allOf"].as_array().cloned().unwrap_or_else(|| vec![schema.clone()]);
    for part in parts {
        let part = match part["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
            Some(name) => schemas[name].clone(),
            None => part,
        };
        for (field, about) in part["properties"].as_object().into_iter().flatten() {
            all.push((field.clone(), text(about, "description").to_owned()));
        }
    }
    html! { div.small { b { (name) } @for (field, about) in all { div { code { (field) } " " span.soft { (with_code(&about)) } } } } }
}
