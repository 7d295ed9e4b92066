//! The whole way, over real sockets.

use std::sync::Arc;
use std::time::Duration;

use gantry_llm::{Allowance, AskError, Asking, CallFault, Gateway, Habits, Protocol, Target, Wire};
use gantry_testkit::model_server::{Gate, ModelServer, Turn};
use serde_json::json;

use crate::kit::{Ears, KEY, PROTOCOLS, question, scan, target, weather};
use crate::world::{Notes, Offline, OneChain};

/// A gateway that waits as good as not at all before it tries again.
fn gateway(chain: Vec<Target>, strict: bool) -> Gateway {
    let habits = Habits { backoff_min: Duration::from_millis(1), ..Habits::default() };
    Gateway::new(Arc::new(OneChain { chain, strict, ..OneChain::default() }))
        .with_wire(Arc::new(Wire::new().unwrap()))
        .with(Protocol::Offline, Arc::new(Offline))
        .with_habits(habits)
}

#[tokio::test]
async fn every_provider_answers_after_every_trouble_that_passes() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        let value = json!({"sky": "rain", "degrees": 7});
        server.then(Turn::status(429).header("retry-after", "0")).then(Turn::status(503));
        server.then(Turn::json(&value).cut_after(0)).then(Turn::json(&json!({"sky": "rain"}))).then(Turn::json(&value));
        let gateway = gateway(vec![target(&server, protocol)], true);
        let notes = Notes::default();
        let mut request = question("How is the weather?");
        request.shape = Some(weather());
        let answer = gateway.ask(Asking { record: &notes, ..Asking::new(request) }).await.unwrap();
        assert_eq!(answer.value, Some(value));
        assert_eq!((answer.calls_made, answer.fallback), (5, None), "{protocol:?}");
        let faults: Vec<CallFault> = notes.all()[0].failed.iter().map(|error| error.fault).collect();
        assert_eq!(faults, [CallFault::RateLimited, CallFault::Server, CallFault::Connection, CallFault::Answer]);
        assert_eq!(server.counts().requests, 5);
    }
}

#[tokio::test]
async fn what_does_not_pass_is_given_up_at_once_and_what_does_after_its_last_try() {
    for (turn, requests) in [(Turn::status(401), 1), (Turn::status(404), 1), (Turn::status(500), 4)] {
        let server = ModelServer::start();
        server.always(turn);
        let gateway = gateway(vec![target(&server, Protocol::OpenaiChat)], true);
        let error = gateway.ask(Asking::new(question("?"))).await.unwrap_err();
        assert!(matches!(error, AskError::Calls { .. }), "{error:?}");
        assert_eq!(server.counts().requests, requests);
    }
}

#[tokio::test]
async fn the_next_provider_of_the_chain_may_speak_another_protocol() {
    let (broken, well) = (ModelServer::start(), ModelServer::start());
    broken.always(Turn::status(500));
    well.always(Turn::text("here").model("m-9"));
    let mut other = target(&well, Protocol::Anthropic);
    other.provider = "other".into();
    let gateway = gateway(vec![target(&broken, Protocol::OpenaiResponses), other], true);
    let answer = gateway.ask(Asking::new(question("?"))).await.unwrap();
    assert_eq!((answer.asked.as_str(), answer.model.as_str()), ("acme:m-1", "m-9"));
    assert!(answer.fallback.unwrap().contains("500"));
    assert_eq!((broken.counts().requests, well.counts().requests), (4, 1));
}

#[tokio::test]
async fn no_more_are_under_way_at_once_than_the_provider_allows() {
    let (server, gate) = (ModelServer::start(), Gate::closed());
    server.always(Turn::text("ok").behind(&gate));
    let mut target = target(&server, Protocol::OpenaiChat);
    target.limits.concurrent_max = 3;
    let gateway = gateway(vec![target], true);
    let questions = (0..12).map(|number| gateway.ask(Asking::new(question(&format!("{number}")))));
    let (answers, ()) = tokio::join!(futures_util::future::join_all(questions), async {
        for done in 0..12 {
            server.until(|counts| counts.requests >= (done + 3).min(12)).await;
            gate.let_in(1);
        }
    });
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!((server.counts().requests, server.counts().at_once_max), (12, 3));
}

#[tokio::test]
async fn stopping_a_question_stops_its_call() {
    let server = ModelServer::start();
    server.always(Turn::text("one two three").silent_after(2));
    let gateway = gateway(vec![target(&server, Protocol::Anthropic)], false);
    let notes = Notes::default();
    let asking = Asking { record: &notes, ..Asking::new(question("?")) };
    let stop = asking.stop.clone();
    let (end, ()) = tokio::join!(gateway.ask(asking), async {
        server.until(|counts| counts.under_way == 1).await;
        stop.cancel();
    });
    assert_eq!(end, Err(AskError::Cancelled));
    server.until(|counts| counts.hung_up == 1).await;
    let note = &notes.all()[0];
    assert_eq!((note.calls, note.failed[0].fault), (1, CallFault::Cancelled), "that it was begun is noted");
    assert!(note.answer.is_none(), "and nobody stepped in");
}

#[tokio::test]
async fn no_answer_error_note_or_word_to_a_listener_holds_the_key() {
    let echo = format!("the key {KEY} is wrong; Authorization: Bearer {KEY}");
    for protocol in PROTOCOLS {
        for (turn, strict) in [
            (Turn::status(401).body(json!({"error": {"message": echo}}).to_string()), true),
            (Turn::status(500).body(&echo), true),
            (Turn::status(500).body(&echo), false),
            (Turn::text("a b c d").garbled(), true),
            (Turn::text("a b c d").cut_after(1), false),
        ] {
            let server = ModelServer::start();
            server.always(turn);
            let gateway = gateway(vec![target(&server, protocol)], strict);
            let (notes, ears) = (Notes::default(), Ears::default());
            let asking = Asking { record: &notes, listener: &ears, ..Asking::new(question("?")) };
            match gateway.ask(asking).await {
                Ok(answer) => scan(&answer),
                Err(error) => {
                    let shown = format!("{error:?} {error}");
                    assert!(!shown.contains(KEY), "{shown}");
                }
            }
            assert_eq!(notes.all().len(), 1);
            scan(&notes.all());
            scan(&ears.heard());
        }
    }
}

#[tokio::test]
async fn what_was_heard_of_an_answer_that_broke_off_is_counted() {
    let server = ModelServer::start();
    server.then(Turn::text("Once upon a time there was a king.").cut_after(6)).then(Turn::text("No.").usage(10, 5));
    let gateway = gateway(vec![target(&server, Protocol::OpenaiChat)], true);
    let (ears, notes, allowance) = (Ears::default(), Notes::default(), Allowance::unlimited());
    let asking = Asking { listener: &ears, record: &notes, allowance: &allowance, ..Asking::new(question("Tell.")) };
    let answer = gateway.ask(asking).await.unwrap();
    let heard: usize =
        ears.heard().iter().take_while(|line| !line.starts_with("again")).map(|line| line.len() - 5).sum();
    assert!(heard > 0, "{:?}", ears.heard());
    assert_eq!(answer.tokens.output, 5 + heard.div_ceil(4) as u64, "{:?}", ears.heard());
    assert!(answer.tokens.input > 10 && answer.tokens_guessed, "{:?}", answer.tokens);
    assert_eq!((allowance.spent(), notes.used()), (answer.usage(), answer.usage()));
}
