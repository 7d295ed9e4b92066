//! What is made of what providers say.

use gantry_llm::{Finish, Protocol, Provider, Tokens, Wire};
use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::kit::{Ears, PROTOCOLS, call, full_question, question, target};

#[tokio::test]
async fn pieces_are_heard_in_the_order_in_which_they_come() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        let turn = Turn::calls([("files_read", json!({"path": "fair.txt"}))]).saying("I look it up.");
        server.then(turn.thinking("Where is it?"));
        let ears = Ears::default();
        let wire = Wire::new().unwrap();
        let target = target(&server, protocol);
        let reply = wire.call(&target, &full_question(), &ears, &CancellationToken::new()).await.unwrap();

        let heard = ears.heard();
        let said = |kind: &str| -> Vec<String> {
            heard.iter().filter_map(|line| line.strip_prefix(kind)).map(str::to_owned).collect()
        };
        assert_eq!(said("thought "), ["Where ", "is ", "it?"], "{protocol:?}");
        assert_eq!(said("text "), ["I ", "look ", "it ", "up."], "{protocol:?}");
        assert_eq!(said("call files.read ").concat(), r#"{"path":"fair.txt"}"#, "{protocol:?}");
        let first = |kind: &str| heard.iter().position(|line| line.starts_with(kind)).unwrap();
        assert!(first("thought") < first("text") && first("text") < first("call"), "{protocol:?}: {heard:?}");

        assert_eq!(reply.text, "I look it up.");
        assert_eq!(reply.reasoning, "Where is it?");
        assert_eq!(reply.finish, Finish::Tools);
        assert_eq!(reply.calls.len(), 1, "{protocol:?}");
        assert_eq!(reply.calls[0].name, "files.read", "the name that providers do not allow comes back");
        assert_eq!(reply.calls[0].args, json!({"path": "fair.txt"}));
        assert_eq!(reply.calls[0].id, "call_1");
    }
}

#[tokio::test]
async fn several_calls_stay_apart_and_arguments_that_are_no_json_stay_words() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        server.then(Turn::calls([("files_read", json!({"path": "a"})), ("files_read", json!({"path": "b"}))]));
        server.then(Turn::raw_calls([("files_read", "{\"path\": ".to_owned())]));
        let target = target(&server, protocol);
        let reply = call(&target, &full_question()).await.unwrap();
        let args: Vec<_> = reply.calls.iter().map(|call| call.args.clone()).collect();
        assert_eq!(args, [json!({"path": "a"}), json!({"path": "b"})], "{protocol:?}");
        assert_ne!(reply.calls[0].id, reply.calls[1].id);
        let reply = call(&target, &full_question()).await.unwrap();
        assert_eq!(reply.calls[0].args, json!("{\"path\": "), "{protocol:?}");
    }
}

#[tokio::test]
async fn every_way_to_stop_is_told_apart() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        let target = target(&server, protocol);
        server.then(Turn::text("all")).then(Turn::text("half").cut_off()).then(Turn::text("no").filtered());
        server.then(Turn::refusal("I cannot help with that."));
        let mut finishes = Vec::new();
        for _ in 0..4 {
            finishes.push(call(&target, &question("?")).await.unwrap());
        }
        let kinds: Vec<_> = finishes.iter().map(|reply| reply.finish.clone()).collect();
        assert_eq!(kinds, [Finish::Done, Finish::Length, Finish::Refused, Finish::Refused], "{protocol:?}");
        assert!(!finishes[3].text.is_empty(), "{protocol:?}: a refusal has words");
    }
}

#[tokio::test]
async fn the_model_that_really_answered_is_named() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        server.then(Turn::text("x").model("m-1-of-today").id("answer-7"));
        let reply = call(&target(&server, protocol), &question("?")).await.unwrap();
        assert_eq!(reply.model, "m-1-of-today", "{protocol:?}");
        assert_eq!(reply.id.as_deref(), Some("answer-7"), "{protocol:?}");
    }
}

#[tokio::test]
async fn what_was_used_is_told_or_it_is_not_but_never_made_up() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        let target = target(&server, protocol);
        let told = |input, output| Some(Tokens { input, output, ..Tokens::default() });
        for (turn, tokens) in [
            (Turn::text("a b").usage(120, 34), told(120, 34)),
            (Turn::text("a b").usage(0, 0), told(0, 0)),
            (Turn::text("a b").no_usage(), None),
            (Turn::text("a b").usage(-5, -7), None),
        ] {
            server.then(turn.clone());
            let reply = call(&target, &question("?")).await.unwrap();
            assert_eq!(reply.text, "a b");
            assert_eq!(reply.tokens, tokens, "{protocol:?} {turn:?}");
        }
        server.then(Turn::text("a b").nonsense_usage());
        let reply = call(&target, &question("?")).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.finish), ("a b", Finish::Done), "{protocol:?}: the answer is whole");
        assert_eq!(reply.tokens, None, "{protocol:?}");
    }
}

#[tokio::test]
async fn letters_of_every_language_come_through_however_the_pieces_fall() {
    let words = "가나다 «größer» 🚲 ".repeat(200);
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        server.then(Turn::text(&words)).then(Turn::text(&words).in_one_piece());
        for _ in 0..2 {
            assert_eq!(call(&target(&server, protocol), &question(&words)).await.unwrap().text, words, "{protocol:?}");
        }
        assert!(server.bodies()[0].to_string().contains("größer"));
    }
}

#[tokio::test]
async fn an_answer_that_drips_is_read_to_its_end() {
    let server = ModelServer::start();
    server.then(Turn::text("one two three four").dripping(std::time::Duration::from_millis(5)));
    let reply = call(&target(&server, Protocol::OpenaiChat), &question("?")).await.unwrap();
    assert_eq!(reply.text, "one two three four");
}

#[tokio::test]
async fn thoughts_between_tags_are_thoughts_and_no_part_of_the_answer() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        server.then(Turn::text("<think>\nThey want 2 + 2.\n</think>\n\nIt is 4."));
        let (ears, wire) = (Ears::default(), Wire::new().unwrap());
        let target = target(&server, protocol);
        let reply = wire.call(&target, &question("?"), &ears, &CancellationToken::new()).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.reasoning.trim()), ("It is 4.", "They want 2 + 2."), "{protocol:?}");
        let said: Vec<String> = ears.heard().into_iter().filter(|line| line.starts_with("text")).collect();
        assert_eq!(said.concat(), "text It text is text 4.", "{protocol:?}");
    }
}
