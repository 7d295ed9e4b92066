//! What a provider keeps is not told again.

use gantry_llm::{CallError, CallFault, Message, Protocol, Provider, Reply, Request, Target, ToolCall, Unheard, Wire};
use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::kit::{at, full_question, question, target, weather};

/// A model whose answers are kept.
fn keeper(server: &ModelServer) -> Target {
    Target { keep: true, ..target(server, Protocol::OpenaiResponses) }
}

async fn ask(wire: &Wire, target: &Target, request: &Request) -> Result<Reply, CallError> {
    wire.call(target, request, &Unheard, &CancellationToken::new()).await
}

/// The talk with the answer that came and what follows it.
fn then(request: &Request, reply: &Reply, next: impl IntoIterator<Item = Message>) -> Request {
    let mut request = request.clone();
    request.messages.push(Message::Assistant { text: reply.text.clone(), calls: reply.calls.clone() });
    request.messages.extend(next);
    request
}

/// The id that is followed, whether the answer is to be kept, and who says what, in one line each.
fn drawn(body: &Value) -> String {
    let said = at(body, "/input").as_array().unwrap().iter().map(|item| {
        let who = ["role", "type"].into_iter().find_map(|field| item[field].as_str()).unwrap_or_default();
        let what =
            ["content", "output", "arguments"].into_iter().map(|field| &item[field]).find(|what| !what.is_null());
        format!("\n  {who}: {}", what.unwrap_or(&Value::Null))
    });
    format!("after {}, store {}{}", body["previous_response_id"], body["store"], said.collect::<String>())
}

#[tokio::test]
async fn the_next_question_of_a_talk_carries_only_what_is_new_and_the_id_of_the_answer() {
    let server = ModelServer::start();
    server.then(Turn::calls([("files_read", json!({"path": "fair.txt"}))]).saying("I look.").id("resp_1"));
    server.then(Turn::json(&json!({"sky": "rain", "degrees": 7})).id("resp_2")).then(Turn::text("Bye.").id("resp_3"));
    let (wire, target) = (Wire::new().unwrap(), keeper(&server));
    let mut first = full_question();
    first.messages.truncate(2);
    let reply = ask(&wire, &target, &first).await.unwrap();
    let seen = Message::Tool { call: reply.calls[0].id.clone(), text: "In Leipzig.".into() };
    let second = then(&first, &reply, [seen]);
    let reply = ask(&wire, &target, &second).await.unwrap();
    ask(&wire, &target, &then(&second, &reply, [Message::user("Thank you.")])).await.unwrap();

    let bodies = server.bodies();
    insta::assert_snapshot!(bodies.iter().map(drawn).collect::<Vec<_>>().join("\n"), @r#"
    after null, store true
      system: "You are brief."
      user: "Where is the fair?"
    after "resp_1", store true
      function_call_output: "In Leipzig."
    after "resp_2", store true
      user: "Thank you."
    "#);
    for body in &bodies {
        assert_eq!(at(body, "/tools/0/name"), &json!("files_read"), "tools hold for one answer: {body}");
        assert_eq!(at(body, "/text/format/type"), &json!("json_schema"), "and so do formats: {body}");
    }
}

#[tokio::test]
async fn without_keep_nothing_is_stored_and_everything_is_told_every_time() {
    let server = ModelServer::start();
    server.always(Turn::text("Hello.").id("resp_1"));
    let (wire, target) = (Wire::new().unwrap(), target(&server, Protocol::OpenaiResponses));
    let first = question("Hello?");
    let reply = ask(&wire, &target, &first).await.unwrap();
    ask(&wire, &target, &then(&first, &reply, [Message::user("And now?")])).await.unwrap();
    insta::assert_snapshot!(drawn(&server.bodies()[1]), @r#"
    after null, store false
      user: "Hello?"
      assistant: [{"type":"output_text","text":"Hello."}]
      user: "And now?"
    "#);
}

#[tokio::test]
async fn what_differs_from_what_is_kept_is_told_anew() {
    let server = ModelServer::start();
    let (wire, target) = (Wire::new().unwrap(), keeper(&server));
    let call = || ("files_read", json!({"path": "a"}));
    server.then(Turn::calls([call(), call()]).id("resp_1"));
    let mut first = question("Read a.");
    first.tools = full_question().tools;
    let reply = ask(&wire, &target, &first).await.unwrap();
    let seen = |call: &ToolCall| Message::Tool { call: call.id.clone(), text: "it says a".into() };
    // The second call is not answered, so the answer with both of them cannot be followed.
    let mut one_call = reply.clone();
    one_call.calls.truncate(1);
    ask(&wire, &target, &then(&first, &one_call, [seen(&reply.calls[0])])).await.unwrap();
    let mut other_rules = first.clone();
    other_rules.messages.insert(0, Message::system("Be brief."));
    ask(&wire, &target, &then(&other_rules, &reply, reply.calls.iter().map(seen))).await.unwrap();
    let mut other_model = target.clone();
    other_model.model = "m-2".into();
    ask(&wire, &other_model, &then(&first, &reply, reply.calls.iter().map(seen))).await.unwrap();
    for body in &server.bodies()[1..] {
        assert_eq!((body.get("previous_response_id"), at(body, "/input/0/type")), (None, &Value::Null), "{body}");
        assert!(body.to_string().contains("Read a."), "{body}");
    }
    ask(&wire, &target, &then(&first, &reply, reply.calls.iter().map(seen))).await.unwrap();
    assert_eq!(server.bodies()[4]["previous_response_id"], json!("resp_1"), "the same words find it");
}

#[tokio::test]
async fn a_schema_that_is_told_in_words_is_neither_lost_nor_told_twice() {
    let server = ModelServer::start();
    server.always(Turn::text("rain").id("resp_1"));
    let (wire, mut target) = (Wire::new().unwrap(), keeper(&server));
    target.schemas = false;
    let mut first = question("How is it?");
    first.shape = Some(weather());
    let reply = ask(&wire, &target, &first).await.unwrap();
    let mut second = then(&first, &reply, [Message::user("Once more.")]);
    ask(&wire, &target, &second).await.unwrap();
    second.shape.as_mut().unwrap().schema = json!({"type": "object", "properties": {"wind": {"type": "string"}}});
    ask(&wire, &target, &second).await.unwrap();
    let bodies = server.bodies();
    let schemas = |body: &Value| body.to_string().matches("JSON Schema").count();
    assert_eq!(bodies.iter().map(schemas).collect::<Vec<_>>(), [1, 0, 1]);
    assert_eq!(bodies[1]["previous_response_id"], json!("resp_1"));
    let body = bodies[2].to_string();
    assert!(body.contains("wind") && !body.contains("degrees") && body.contains("How is it?"), "{body}");
    assert_eq!(bodies[2].get("previous_response_id"), None);
}

#[tokio::test]
async fn an_answer_that_the_provider_no_longer_knows_is_forgotten_and_everything_is_sent() {
    let code = json!({"error": {"message": "Previous response not found.", "code": "previous_response_not_found"}});
    let id = json!({"error": {"message": "Response with id 'resp_1' not found."}});
    let param = json!({"error": {"message": "Not for your organization.", "param": "previous_response_id"}});
    for (status, body) in [(400, code), (404, id), (400, param)] {
        let server = ModelServer::start();
        server.then(Turn::text("one").id("resp_1")).then(Turn::status(status).body(body.to_string()));
        server.then(Turn::text("two").id("resp_2")).then(Turn::text("three")).then(Turn::text("four"));
        let (wire, target) = (Wire::new().unwrap(), keeper(&server));
        let first = question("1?");
        let one = ask(&wire, &target, &first).await.unwrap();
        let second = then(&first, &one, [Message::user("2?")]);
        let two = ask(&wire, &target, &second).await.unwrap();
        assert_eq!(two.text, "two", "{body}");
        ask(&wire, &target, &then(&second, &two, [Message::user("3?")])).await.unwrap();
        ask(&wire, &target, &second).await.unwrap();
        let followed: Vec<Value> = server.bodies().iter().map(|body| body["previous_response_id"].clone()).collect();
        let said: Vec<usize> = server.bodies().iter().map(|body| body["input"].as_array().unwrap().len()).collect();
        assert_eq!(followed, [json!(null), json!("resp_1"), json!(null), json!("resp_2"), json!(null)], "{body}");
        assert_eq!(said, [1, 1, 3, 1, 3], "{body}");
        assert_eq!(server.bodies()[2]["store"], json!(true), "so that the next can follow it");
    }
}

#[tokio::test]
async fn other_trouble_stays_what_it_is_and_nothing_is_sent_twice() {
    let gone = || Turn::status(400).body(json!({"error": {"code": "previous_response_not_found"}}).to_string());
    for (turns, fault, requests) in [
        (vec![Turn::status(400)], CallFault::Request, 2),
        (vec![Turn::status(404)], CallFault::UnknownModel, 2),
        (vec![Turn::status(500).body("previous_response_not_found")], CallFault::Server, 2),
        (vec![gone(), Turn::status(429)], CallFault::RateLimited, 3),
        (vec![gone(), gone()], CallFault::Request, 3),
    ] {
        let server = ModelServer::start();
        server.then(Turn::text("one").id("resp_1"));
        for turn in turns {
            server.then(turn);
        }
        let (wire, target) = (Wire::new().unwrap(), keeper(&server));
        let first = question("1?");
        let reply = ask(&wire, &target, &first).await.unwrap();
        let error = ask(&wire, &target, &then(&first, &reply, [Message::user("2?")])).await.unwrap_err();
        assert_eq!((error.fault, server.counts().requests), (fault, requests), "{error}");
    }
}
