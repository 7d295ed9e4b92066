//! What providers are sent.

use gantry_llm::{Message, Protocol, Shape};
use gantry_testkit::model_server::ModelServer;
use serde_json::{Value, json};

use crate::kit::{KEY, PROTOCOLS, at, call, full_question, question, target, weather};

/// The path, the headers that matter and the body of the one request that came.
fn sent(server: &ModelServer) -> Value {
    let heard = server.heard();
    assert_eq!(heard.len(), 1);
    let matters = ["authorization", "x-api-key", "x-goog-api-key", "anthropic-version", "content-type"];
    let headers: Vec<String> = heard[0]
        .headers
        .iter()
        .filter(|(name, _)| matters.contains(&name.as_str()))
        .map(|(name, value)| format!("{name}: {}", value.replace(KEY, "KEY")))
        .collect();
    json!({"path": heard[0].path, "headers": headers, "body": heard[0].body})
}

async fn body_of(protocol: Protocol) -> Value {
    let server = ModelServer::start();
    call(&target(&server, protocol), &full_question()).await.unwrap();
    sent(&server)
}

#[tokio::test]
async fn responses_get_what_their_documentation_names() {
    insta::assert_json_snapshot!(body_of(Protocol::OpenaiResponses).await);
}

#[tokio::test]
async fn chat_completions_get_what_their_documentation_names() {
    insta::assert_json_snapshot!(body_of(Protocol::OpenaiChat).await);
}

#[tokio::test]
async fn anthropic_gets_what_its_documentation_names() {
    insta::assert_json_snapshot!(body_of(Protocol::Anthropic).await);
}

#[tokio::test]
async fn gemini_gets_what_its_documentation_names() {
    insta::assert_json_snapshot!(body_of(Protocol::Gemini).await);
}

/// The schema in a body, wherever the protocol has it.
fn schema_in(body: &Value) -> &Value {
    let places = [
        "/response_format/json_schema/schema",
        "/text/format/schema",
        "/output_config/format/schema",
        "/generationConfig/responseJsonSchema",
    ];
    places.iter().find_map(|place| body.pointer(place)).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn an_optional_property_stays_optional_for_every_provider() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        let mut request = question("?");
        request.shape = Some(weather());
        call(&target(&server, protocol), &request).await.unwrap();
        let body = &server.bodies()[0];
        assert_eq!(at(schema_in(body), "/required"), &json!(["sky", "degrees"]), "{protocol:?}: {body}");
        assert_eq!(at(schema_in(body), "/properties/note"), &json!({"type": "string"}), "{protocol:?}");
    }
}

#[tokio::test]
async fn a_schema_is_strict_where_it_needs_no_change_for_that() {
    let closed = json!({
        "type": "object",
        "properties": {"sky": {"type": "string"}},
        "required": ["sky"],
        "additionalProperties": false,
    });
    for (protocol, place) in
        [(Protocol::OpenaiChat, "/response_format/json_schema"), (Protocol::OpenaiResponses, "/text/format")]
    {
        let server = ModelServer::start();
        let mut request = question("?");
        request.shape = Some(Shape { name: "the sky".into(), schema: closed.clone() });
        call(&target(&server, protocol), &request).await.unwrap();
        let format = at(&server.bodies()[0], place).clone();
        assert_eq!(format["strict"], json!(true));
        assert_eq!(format["name"], json!("the_sky"));
        assert_eq!(format["schema"], closed);
    }
}

#[tokio::test]
async fn a_model_that_knows_no_schemas_is_told_in_words_behind_the_standing_text() {
    let server = ModelServer::start();
    let mut target = target(&server, Protocol::OpenaiChat);
    target.schemas = false;
    let mut request = question("?");
    request.messages.insert(0, Message::system("You are brief."));
    request.shape = Some(weather());
    call(&target, &request).await.unwrap();
    let body = &server.bodies()[0];
    assert_eq!(body.get("response_format"), None);
    assert_eq!(at(body, "/messages/0/content"), &json!("You are brief."));
    let words = at(body, "/messages/1/content").as_str().unwrap();
    assert!(words.contains("JSON Schema") && words.contains("\"degrees\""), "{words}");
    assert_eq!(at(body, "/messages/2/content"), &json!("?"));
}

#[tokio::test]
async fn a_seed_is_passed_on_where_there_is_a_place_for_it_and_is_as_large_as_the_provider_takes() {
    let seed = 0x000f_edcb_a987_6543_u64; // as large as those that tasks have
    for (protocol, place, sent) in [
        (Protocol::OpenaiChat, "/seed", json!(seed)),
        (Protocol::Gemini, "/generationConfig/seed", json!(0x2987_6543)),
        (Protocol::OpenaiResponses, "/seed", Value::Null),
        (Protocol::Anthropic, "/seed", Value::Null),
    ] {
        let server = ModelServer::start();
        let mut request = question("?");
        request.settings.seed = Some(seed);
        call(&target(&server, protocol), &request).await.unwrap();
        assert_eq!(at(&server.bodies()[0], place), &sent, "{protocol:?}");
    }
}

#[tokio::test]
async fn a_model_that_has_no_tools_is_offered_none() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        let mut target = target(&server, protocol);
        target.tools = false;
        let mut request = question("?");
        request.tools = full_question().tools;
        call(&target, &request).await.unwrap();
        assert_eq!(server.bodies()[0].get("tools"), None, "{protocol:?}");
    }
}

#[tokio::test]
async fn the_name_of_a_model_is_sent_as_it_is_and_means_nothing_else() {
    for protocol in PROTOCOLS {
        for model in ["thinker-high", "house::thinker", "deep-none"] {
            let server = ModelServer::start();
            let mut target = target(&server, protocol);
            target.model = model.into();
            call(&target, &question("?")).await.unwrap();
            let heard = &server.heard()[0];
            match protocol {
                Protocol::Gemini => assert!(heard.path.contains(&format!("/models/{model}:stream")), "{}", heard.path),
                _ => assert_eq!(heard.body["model"], json!(model)),
            }
            let text = heard.body.to_string();
            assert!(!text.contains("effort") && !text.contains("thinking"), "{protocol:?} {model}: {text}");
        }
    }
}

#[tokio::test]
async fn a_server_without_a_key_gets_no_header_with_one() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        let mut target = target(&server, protocol);
        target.key = None;
        call(&target, &question("?")).await.unwrap();
        let headers = &server.heard()[0].headers;
        for name in ["authorization", "x-api-key", "x-goog-api-key"] {
            assert_eq!(headers.get(name), None, "{protocol:?}");
        }
    }
}

#[tokio::test]
async fn anthropic_is_told_up_to_where_the_next_request_will_be_the_same() {
    let mark = json!({"type": "ephemeral"});
    let server = ModelServer::start();
    let (target, mut request) = (target(&server, Protocol::Anthropic), question("Go."));
    request.messages.insert(0, Message::system("You are exact."));
    call(&target, &request).await.unwrap();
    request.tools = full_question().tools;
    call(&target, &request).await.unwrap();
    let bodies = server.bodies();
    for body in &bodies {
        assert_eq!(at(body, "/system/0/cache_control"), &mark, "{body}");
    }
    assert_eq!(at(&bodies[0], "/messages/0/content/0/cache_control"), &Value::Null, "what is asked once is not kept");
    assert_eq!(
        at(&bodies[1], "/messages/0/content/0/cache_control"),
        &mark,
        "a talk with tools goes on: {}",
        bodies[1]
    );
}
