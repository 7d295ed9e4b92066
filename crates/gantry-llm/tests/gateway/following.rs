//! What a provider keeps is followed: round after round, model after model, process after process.

use std::sync::Arc;
use std::time::Duration;

use gantry_core::time::Timestamp;
use gantry_llm::{Answer, Asking, Call, Gateway, Habits, Message, Protocol, Request, Rung, Target, Wire};
use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::{Value, json};

use crate::kit::{question, target, weather};
use crate::world::{Notes, OneChain};

/// A model whose answers are kept.
fn keeper(server: &ModelServer, name: &str) -> Target {
    Target { keep: true, model: name.into(), ..target(server, Protocol::OpenaiResponses) }
}

/// A new process: nothing is known but the record.
fn gateway(chain: Vec<Target>) -> Gateway {
    Gateway::new(Arc::new(OneChain { chain, strict: true, ..OneChain::default() }))
        .with_wire(Arc::new(Wire::new().unwrap()))
        .with_habits(Habits { backoff_min: Duration::from_millis(1), ..Habits::default() })
        .with_clock(|| Timestamp::from_ms(0))
}

async fn ask(gateway: &Gateway, notes: &Notes, request: &Request) -> Answer {
    gateway.ask(Asking { record: notes, ..Asking::new(request.clone()) }).await.unwrap()
}

fn then(request: &Request, answer: &Answer, next: &str) -> Request {
    let mut request = request.clone();
    request.messages.push(Message::Assistant { text: answer.text.clone(), calls: answer.calls.clone() });
    request.messages.push(Message::user(next));
    request
}

/// Which answer each request followed, and how much it said.
fn followed(server: &ModelServer) -> Vec<(Value, usize)> {
    let one = |body: &Value| (body["previous_response_id"].clone(), body["input"].as_array().unwrap().len());
    server.bodies().iter().map(one).collect()
}

fn forecast() -> Request {
    Request { shape: Some(weather()), ..question("How is the weather?") }
}

#[tokio::test]
async fn an_answer_that_is_on_record_is_followed_by_the_next_process() {
    let server = ModelServer::start();
    server.then(Turn::text("one").id("resp_1")).then(Turn::text("two").id("resp_2")).then(Turn::text("three"));
    let (notes, chain) = (Notes::default(), vec![keeper(&server, "a")]);
    let first = question("1?");
    let before = gateway(chain.clone());
    let one = ask(&before, &notes, &first).await;
    let second = then(&first, &one, "2?");
    let two = ask(&before, &notes, &second).await;
    let third = then(&second, &two, "3?");

    let after = gateway(chain);
    assert_eq!(ask(&after, &notes, &first).await.calls_made, 0);
    assert_eq!(ask(&after, &notes, &second).await.calls_made, 0);
    assert_eq!(ask(&after, &notes, &third).await.text, "three");
    assert_eq!(followed(&server), [(json!(null), 1), (json!("resp_1"), 1), (json!("resp_2"), 1)]);
}

#[tokio::test]
async fn a_model_that_is_shown_its_faults_is_not_told_the_rest_again_also_by_the_next_process() {
    let good = json!({"sky": "rain", "degrees": 7});
    let server = ModelServer::start();
    server.then(Turn::text("no idea").id("resp_1")).then(Turn::status(401)).then(Turn::json(&good).id("resp_2"));
    server.always(Turn::json(&good).id("resp_3"));
    let (notes, chain) = (Notes::default(), vec![keeper(&server, "a")]);
    let asking = || Asking { record: &notes, ..Asking::new(forecast()) };
    assert!(gateway(chain.clone()).ask(asking()).await.is_err(), "it ends after the first round");
    let after = gateway(chain.clone());
    let answer = ask(&after, &notes, &forecast()).await;
    assert_eq!(answer.value, Some(good));
    assert_eq!(followed(&server), [(json!(null), 1), (json!("resp_1"), 1), (json!("resp_1"), 1)]);

    // The answer follows a round that is no part of the talk, so whoever goes on with the talk tells it anew.
    let next = then(&forecast(), &answer, "And tomorrow?");
    ask(&after, &notes, &next).await;
    assert_eq!(followed(&server)[3], (json!(null), 3));
    let later = gateway(chain);
    ask(&later, &notes, &forecast()).await;
    ask(&later, &notes, &Request { sample: 1, ..next }).await;
    assert_eq!(followed(&server)[4], (json!(null), 3), "and so does the next process");
}

#[tokio::test]
async fn another_model_is_told_everything_and_its_answers_are_its_own() {
    let server = ModelServer::start();
    server.then(Turn::status(401)).then(Turn::text("from b").id("resp_b"));
    server.then(Turn::text("from a").id("resp_a")).then(Turn::text("from a").id("resp_a"));
    server.always(Turn::text("from b"));
    let (notes, chain) = (Notes::default(), vec![keeper(&server, "a"), keeper(&server, "b")]);
    let first = question("1?");
    let before = gateway(chain.clone());
    let answer = ask(&before, &notes, &first).await;
    assert!(answer.fallback.is_some());
    let second = then(&first, &answer, "2?");
    ask(&before, &notes, &second).await;
    let after = gateway(chain);
    assert_eq!(ask(&after, &notes, &first).await.calls_made, 0);
    ask(&after, &notes, &Request { sample: 1, ..second.clone() }).await;
    ask(&after, &notes, &Request { model: Some("b".into()), ..second }).await;
    let asked: Vec<Value> = server.bodies().iter().map(|body| body["model"].clone()).collect();
    assert_eq!(asked, ["a", "b", "a", "a", "b"]);
    let nothing = json!(null);
    assert_eq!(followed(&server)[..2], [(nothing.clone(), 1), (nothing.clone(), 1)], "everything goes to the next one");
    assert_eq!(followed(&server)[2..4], [(nothing.clone(), 3), (nothing, 3)], "what b said is not kept for a");
    assert_eq!(followed(&server)[4], (json!("resp_b"), 1), "and b is not told what it has said");
}

#[tokio::test]
async fn the_record_does_not_tell_whether_an_answer_was_followed() {
    let recorded = async |keep: bool| -> (Vec<Call>, Vec<Rung>, usize) {
        let server = ModelServer::start();
        server.then(Turn::text("no idea").id("resp_1").usage(10, 5));
        server.then(Turn::json(&json!({"sky": "rain", "degrees": 7})).id("resp_2").usage(10, 5));
        server.then(Turn::json(&json!({"sky": "rain", "degrees": 8})).id("resp_3").usage(10, 5));
        let notes = Notes::default();
        let gateway = gateway(vec![Target { keep, ..keeper(&server, "a") }]);
        let answer = ask(&gateway, &notes, &forecast()).await;
        ask(&gateway, &notes, &then(&forecast(), &answer, "And tomorrow?")).await;
        let rungs = notes.rungs.lock().unwrap().clone();
        let ids = followed(&server).iter().filter(|(id, _)| !id.is_null()).count();
        (notes.all(), rungs, ids)
    };
    let (kept, told) = (recorded(true).await, recorded(false).await);
    assert_eq!((kept.2, told.2), (1, 0), "one followed, the other told everything");
    assert_eq!((kept.0, kept.1), (told.0, told.1));
}
