//! Answers that are too long for one go, over real sockets.

use std::sync::Arc;

use gantry_llm::{Answer, AskError, Asking, Finish, Gateway, Protocol, Repair, Request, Shape, Wire};
use gantry_testkit::model_server::{Heard, ModelServer, Turn};
use serde_json::{Value, json};

use crate::kit::{question, target};
use crate::world::{Notes, OneChain};

fn gateway(server: &ModelServer) -> Gateway {
    let chain = vec![target(server, Protocol::OpenaiChat)];
    Gateway::new(Arc::new(OneChain { chain, strict: true, ..OneChain::default() }))
        .with_wire(Arc::new(Wire::new().unwrap()))
}

async fn ask(server: &ModelServer, notes: &Notes, request: Request) -> Result<Answer, AskError> {
    gateway(server).ask(Asking { record: notes, ..Asking::new(request) }).await
}

fn shaped(schema: Value) -> Request {
    Request { shape: Some(Shape { name: "answer".into(), schema }), ..question("List the parts.") }
}

fn list() -> Value {
    json!({
        "type": "object",
        "properties": {"parts": {"type": "array", "items": {"type": "integer"}, "minItems": 9}},
        "required": ["parts"],
        "additionalProperties": false,
    })
}

/// What was said last.
fn last(heard: &Heard) -> String {
    let messages = heard.body["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

/// How much was said in all.
fn count(heard: &Heard) -> usize {
    heard.body["messages"].as_array().unwrap().len()
}

fn steps(answer: &Answer) -> Vec<&Repair> {
    answer.repairs.iter().filter(|repair| matches!(repair, Repair::Continued | Repair::Split(_))).collect()
}

#[tokio::test]
async fn free_text_that_was_cut_goes_on_where_it_stopped() {
    let server = ModelServer::start();
    server.then(Turn::text("Once upon ").cut_off()).then(Turn::text("a time.").usage(10, 5));
    let answer = ask(&server, &Notes::default(), question("Tell.")).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.finish, answer.calls_made), ("Once upon a time.", Finish::Done, 2));
    assert_eq!(answer.repairs, [Repair::Continued]);
    let second = &server.heard()[1];
    assert_eq!(second.body["messages"][1]["content"], "Once upon ", "it sees what it has said so far");
    assert!(last(second).contains("Go on exactly where it stops"));
}

#[tokio::test]
async fn free_text_that_never_ends_is_an_answer_that_says_so() {
    let server = ModelServer::start();
    server.always(Turn::text("and so on ").cut_off());
    let notes = Notes::default();
    let answer = ask(&server, &notes, question("Tell.")).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.finish), ("and so on ".repeat(4).as_str(), Finish::Length));
    assert_eq!((answer.repairs, server.counts().requests), (vec![Repair::Continued; 3], 4));
    assert_eq!(notes.used().model_calls, 4);
}

#[tokio::test]
async fn free_text_that_cannot_go_on_is_what_there_is() {
    let server = ModelServer::start();
    server.then(Turn::text("Once upon ").cut_off()).then(Turn::status(400));
    let answer = ask(&server, &Notes::default(), question("Tell.")).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.finish), ("Once upon ", Finish::Length));
}

/// Gives 12 numbers, but never more than `at_once` in one go.
fn numbers(heard: &Heard, at_once: usize) -> Turn {
    let said = last(heard);
    let number =
        |before: &str, after: &str| -> Option<usize> { said.split_once(before)?.1.split_once(after)?.0.parse().ok() };
    let first = if said.contains("the first items") { Some(0) } else { number("that follow the ", " there are") };
    let Some(first) = first else { return Turn::text("{\"parts\": [1, 2, 3, ").cut_off() };
    let wanted = number("at most ", if first == 0 { "." } else { ";" }).unwrap();
    if wanted > at_once {
        return Turn::text("{\"parts\": [1, 2, ").cut_off();
    }
    let given: Vec<usize> = (first + 1..=12).take(wanted).collect();
    Turn::json(&json!({"parts": given}))
}

#[tokio::test]
async fn a_list_that_is_too_long_is_asked_for_some_items_at_a_time() {
    for (at_once, parts) in [(8, 3), (5, 4)] {
        let server = ModelServer::start();
        server.otherwise(move |heard| numbers(heard, at_once));
        let notes = Notes::default();
        let answer = ask(&server, &notes, shaped(list())).await.unwrap();
        assert_eq!(answer.value, Some(json!({"parts": (1..=12).collect::<Vec<_>>()})));
        assert_eq!(steps(&answer).last(), Some(&&Repair::Split(parts)), "{:?}", answer.repairs);
        assert_eq!(answer.calls_made, server.counts().requests as u64);
        assert_eq!(notes.used().model_calls, answer.calls_made, "each call counts once");
        let second = server.heard().into_iter().find(|heard| last(heard).contains("that follow")).unwrap();
        assert!(last(&second).contains("This is there already, and is not given again: {\"parts\":[1,2"));
        let shape = &second.body["response_format"]["json_schema"]["schema"]["properties"]["parts"];
        assert!(shape["minItems"].is_null(), "a part may be shorter than the whole: {shape}");
    }
}

#[tokio::test]
async fn items_that_repeat_are_kept_and_what_is_left_out_is_recorded() {
    let server = ModelServer::start();
    server.otherwise(|heard| match last(heard) {
        said if said.contains("the first items") => Turn::json(&json!({"parts": [1, 2, 1, 3]})),
        // It begins with the last that is there, and goes on with one that was there before.
        said if said.contains("that follow the 4 there are") => Turn::json(&json!({"parts": [3, 1, 4, 5, 6, 7]})),
        said if said.contains("that follow the 9 there are") => Turn::json(&json!({"parts": []})),
        _ => Turn::text("{\"parts\": [1, 2, ").cut_off(),
    });
    let answer = ask(&server, &Notes::default(), shaped(list())).await.unwrap();
    assert_eq!(answer.value, Some(json!({"parts": [1, 2, 1, 3, 1, 4, 5, 6, 7]})));
    assert!(answer.repairs.contains(&Repair::Overlap(1)), "{:?}", answer.repairs);
}

#[tokio::test]
async fn an_object_that_is_too_long_is_asked_for_some_fields_at_a_time() {
    let server = ModelServer::start();
    server.otherwise(|heard| match last(heard) {
        said if said.contains("only the fields `a`.") => Turn::json(&json!({"a": "one"})),
        // One half is still too long.
        said if said.contains("only the fields `b`, `c`.") => Turn::text("{\"b\": \"tw").cut_off(),
        said if said.contains("only the fields `b`.") => Turn::json(&json!({"b": "two"})),
        said if said.contains("only the fields `c`.") && said.contains(r#"{"a":"one","b":"two"}"#) => {
            Turn::json(&json!({"c": "three"}))
        }
        _ => Turn::text("{\"a\": \"on").cut_off(),
    });
    let text = json!({"type": "string"});
    let schema = json!({
        "type": "object", "properties": {"a": text, "b": text, "c": text}, "required": ["a", "b", "c"],
    });
    let answer = ask(&server, &Notes::default(), shaped(schema)).await.unwrap();
    assert_eq!(answer.value, Some(json!({"a": "one", "b": "two", "c": "three"})));
    assert_eq!(steps(&answer).last(), Some(&&Repair::Split(3)));
}

#[tokio::test]
async fn what_parts_make_together_must_fit_the_whole_schema_and_the_rules() {
    let server = ModelServer::start();
    server.otherwise(|heard| match last(heard) {
        said if said.contains("the first items") => Turn::json(&json!({"parts": [1, 2]})),
        said if said.contains("that follow") => Turn::json(&json!({"parts": []})),
        _ => Turn::text("{\"parts\": [1, ").cut_off(),
    });
    let error = ask(&server, &Notes::default(), shaped(list())).await.unwrap_err();
    let AskError::Invalid { faults, .. } = &error else { panic!("{error:?}") };
    assert!(faults[0].contains("/parts"), "{faults:?}");
    let short = json!({"type": "array", "items": {"type": "integer"}});
    let server = ModelServer::start();
    server.otherwise(|heard| match last(heard) {
        said if said.contains("the first items") => Turn::text("[1, 2]"),
        said if said.contains("that follow") => Turn::text("[]"),
        _ => Turn::text("[1, ").cut_off(),
    });
    let rules = |value: &Value| match value.as_array().map_or(0, Vec::len) {
        2 => vec!["two are too few".to_owned()],
        _ => Vec::new(),
    };
    let error = gateway(&server).ask(Asking { rules: &rules, ..Asking::new(shaped(short)) }).await.unwrap_err();
    assert!(matches!(&error, AskError::Invalid { faults, .. } if faults[0] == "two are too few"), "{error:?}");
}

#[tokio::test]
async fn what_cannot_be_parted_is_asked_for_shorter_once_and_then_given_up() {
    let schema = json!({"type": "string"});
    let server = ModelServer::start();
    server.otherwise(|heard| match last(heard) {
        said if said.contains("give a shorter one") => Turn::text("\"short\""),
        _ => Turn::text("\"and so on ").cut_off(),
    });
    let answer = ask(&server, &Notes::default(), shaped(schema.clone())).await.unwrap();
    assert_eq!((answer.value, server.counts().requests), (Some(json!("short")), 5));
    let server = ModelServer::start();
    server.always(Turn::text("\"and so on ").cut_off());
    let error = ask(&server, &Notes::default(), shaped(schema)).await.unwrap_err();
    assert!(matches!(&error, AskError::Invalid { faults, .. } if faults[0].contains("too long")), "{error:?}");
    assert_eq!(server.counts().requests, 5);
}

#[tokio::test]
async fn whoever_asks_again_pays_only_for_what_no_answer_is_on_record_to() {
    let (server, notes) = (ModelServer::start(), Notes::default());
    server.otherwise(|heard| match count(heard) {
        1 => Turn::text("{\"parts\": [1, 2, 3, 4, 5, ").cut_off(),
        _ => Turn::status(401),
    });
    // The second call never gets an answer, as if the process had been killed in the middle of it.
    ask(&server, &notes, shaped(list())).await.unwrap_err();
    assert_eq!((server.counts().requests, notes.begun.lock().unwrap().len()), (1 + 1 + 1, 1));
    let before = server.counts().requests;
    server.otherwise(|heard| match count(heard) {
        1 => Turn::status(500),
        _ => Turn::text("6, 7, 8, 9]}"),
    });
    let answer = ask(&server, &notes, shaped(list())).await.unwrap();
    assert_eq!(answer.value, Some(json!({"parts": (1..=9).collect::<Vec<_>>()})));
    assert_eq!(server.counts().requests, before + 1, "what was answered is not asked again");
    assert_eq!(answer.calls_made, 2, "and counts as a call of this answer all the same");
    assert_eq!(ask(&server, &notes, shaped(list())).await.unwrap().calls_made, 0);
}

#[tokio::test]
async fn an_answer_of_a_later_model_is_found_again_whatever_becomes_of_the_earlier_ones() {
    let (broken, well, notes) = (ModelServer::start(), ModelServer::start(), Notes::default());
    broken.always(Turn::status(401));
    well.then(Turn::text("here")).then(Turn::status(500));
    let (first, mut second) = (target(&broken, Protocol::OpenaiChat), target(&well, Protocol::OpenaiChat));
    second.provider = "other".into();
    let ask = async |chain: Vec<gantry_llm::Target>| {
        let gateway = Gateway::new(Arc::new(OneChain { chain, strict: true, ..OneChain::default() }))
            .with_wire(Arc::new(Wire::new().unwrap()));
        gateway.ask(Asking { record: &notes, ..Asking::new(question("?")) }).await.unwrap()
    };
    assert_eq!(ask(vec![first.clone(), second.clone()]).await.text, "here");
    // The first one is left out, as when its key is gone; or another one stands before it.
    assert_eq!(ask(vec![second.clone()]).await.text, "here");
    let mut newcomer = first.clone();
    newcomer.model = "m-2".into();
    let answer = ask(vec![newcomer, first, second]).await;
    assert_eq!((answer.text.as_str(), answer.asked.as_str()), ("here", "acme:m-2"));
    assert_eq!(well.counts().requests, 1, "it was paid for once");
    assert_eq!(notes.used().tokens, 11, "ten in and one out, once");
}
