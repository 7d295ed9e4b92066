//! Whatever is asked, each provider gets a body of the shape that it documents: `tests/wire/shapes/`.
//!
//! The shapes have the fields that are sent, with their documented types and bounds, and nothing else: a field that a
//! provider does not know is refused by some of them and has no effect with others.

use gantry_llm::{Message, Protocol, Provider, Request, Shape, Target, Unheard, Wire};
use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::kit::{PROTOCOLS, call, full_question, question, target, weather};

fn documented(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenaiChat => include_str!("shapes/openai-chat.json"),
        Protocol::OpenaiResponses => include_str!("shapes/openai-responses.json"),
        Protocol::Anthropic => include_str!("shapes/anthropic.json"),
        Protocol::Gemini => include_str!("shapes/gemini.json"),
        Protocol::Offline => "{}",
    }
}

/// What in a body is not as the documentation has it.
fn faults(protocol: Protocol, body: &Value) -> Vec<String> {
    let shape: Value = serde_json::from_str(documented(protocol)).unwrap();
    let shape = jsonschema::validator_for(&shape).unwrap();
    shape.iter_errors(body).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Questions of every sort.
fn questions() -> Vec<(&'static str, Request)> {
    let mut efforts = Vec::new();
    for effort in ["minimal", "low", "medium", "high"] {
        let mut request = full_question();
        (request.settings.effort, request.settings.tokens_max) = (Some(effort.into()), None);
        efforts.push((effort, request));
    }
    let mut seeded = question("?");
    seeded.settings.seed = Some((1 << 52) - 1);
    let strict = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    let odd = Shape { name: "what is it? ".repeat(10), schema: strict };
    let mut talk = question("And then?");
    talk.messages.insert(0, Message::user("Once?"));
    talk.messages.insert(1, Message::assistant("Upon a time."));
    talk.messages.push(Message::system("Be brief."));
    let plain = Request { settings: Default::default(), ..full_question() };
    [
        ("everything", full_question()),
        ("nothing but words", question("?")),
        ("tools and a schema, no settings", plain),
        ("a large seed", seeded),
        ("an odd name", Request { shape: Some(odd), ..question("?") }),
        (
            "a list",
            Request { shape: Some(Shape { name: "l".into(), schema: json!({"type": "array"}) }), ..question("?") },
        ),
        ("a talk", talk),
        ("a schema with a bound", Request { shape: Some(weather()), ..question("?") }),
    ]
    .into_iter()
    .chain(efforts)
    .collect()
}

#[tokio::test]
async fn every_body_has_the_shape_that_its_provider_documents() {
    for protocol in PROTOCOLS {
        for (name, request) in questions() {
            for (schemas, tools) in [(true, true), (false, false)] {
                let server = ModelServer::start();
                let target = Target { schemas, tools, ..target(&server, protocol) };
                call(&target, &request).await.unwrap();
                let body = &server.bodies()[0];
                let faults = faults(protocol, body);
                assert!(faults.is_empty(), "{protocol:?}, {name}: {}\n{body:#}", faults.join("\n"));
            }
        }
    }
}

#[tokio::test]
async fn a_body_that_follows_an_answer_has_the_documented_shape_too() {
    let (server, wire) = (ModelServer::start(), Wire::new().unwrap());
    server.then(Turn::text("one").id("resp_1")).then(Turn::text("two"));
    let target = Target { keep: true, ..target(&server, Protocol::OpenaiResponses) };
    let mut request = question("1?");
    for next in ["one", "2?"] {
        let stop = CancellationToken::new();
        wire.call(&target, &request, &Unheard, &stop).await.unwrap();
        request.messages.push(Message::assistant(next));
        request.messages.push(Message::user("2?"));
    }
    let bodies = server.bodies();
    assert_eq!(bodies[1]["previous_response_id"], json!("resp_1"));
    for body in bodies {
        assert_eq!(faults(Protocol::OpenaiResponses, &body), Vec::<String>::new(), "{body:#}");
    }
}

#[test]
fn what_is_not_documented_is_noticed() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "?"}], "max_output_tokens": 3});
    assert!(faults(Protocol::OpenaiChat, &body)[0].contains("max_output_tokens"));
    let seed = json!({"contents": [{"parts": [{"text": "?"}]}], "generationConfig": {"seed": 1_u64 << 40}});
    assert!(faults(Protocol::Gemini, &seed)[0].starts_with("/generationConfig/seed"));
}
