//! What can go wrong on the wire.

use std::time::Duration;

use gantry_llm::{CallFault, Finish, Protocol, Provider, Secret, Unheard, Wire};
use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::kit::{Ears, KEY, PROTOCOLS, call, question, scan, target};

#[tokio::test]
async fn stopping_closes_the_line() {
    for protocol in PROTOCOLS {
        for frames in [0, 4] {
            let server = ModelServer::start();
            server.then(Turn::text("one two three four five").silent_after(frames));
            let (wire, target, stop) = (Wire::new().unwrap(), target(&server, protocol), CancellationToken::new());
            let question = question("?");
            let asked = wire.call(&target, &question, &Unheard, &stop);
            let (end, ()) = tokio::join!(asked, async {
                server.until(|counts| counts.under_way == 1).await;
                stop.cancel();
            });
            assert_eq!(end.unwrap_err().fault, CallFault::Cancelled);
            server.until(|counts| counts.hung_up == 1).await;
        }
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_the_line() {
    let server = ModelServer::start();
    server.then(Turn::text("one two").silent_after(2));
    let (wire, target, question) = (Wire::new().unwrap(), target(&server, Protocol::OpenaiChat), question("?"));
    let never = CancellationToken::new();
    tokio::select! {
        end = wire.call(&target, &question, &Unheard, &never) => panic!("{end:?}"),
        _ = server.until(|counts| counts.under_way == 1) => {}
    }
    server.until(|counts| counts.hung_up == 1).await;
}

#[tokio::test]
async fn a_stream_without_its_end_is_a_cut_line_and_no_answer() {
    for protocol in PROTOCOLS {
        for frames in [0, 1, 3] {
            let server = ModelServer::start();
            let turn = Turn::text("one two three four five six");
            server.then(turn.clone().cut_after(frames)).then(turn.stop_after(frames));
            for _ in 0..2 {
                let error = call(&target(&server, protocol), &question("?")).await.unwrap_err();
                assert_eq!(error.fault, CallFault::Connection, "{protocol:?} after {frames}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_cut_off_before_it_fills_the_memory() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        let words = vec!["x".repeat(1 << 20); 20].join(" ");
        server.then(Turn::text(words).silent_after(16));
        let error = call(&target(&server, protocol), &question("?")).await.unwrap_err();
        assert_eq!(error.fault, CallFault::Answer, "{protocol:?}: {error}");
        assert!(error.to_string().contains("more than 8 MB"), "{protocol:?}: {error}");
        server.until(|counts| counts.hung_up == 1).await;
    }
}

#[tokio::test]
async fn what_is_cut_behind_the_end_of_an_answer_takes_nothing_from_it() {
    let server = ModelServer::start();
    // The beginning, two words, the end of the answer; the report of what was used and the last mark are missing.
    server.then(Turn::text("one two").cut_after(4));
    let reply = call(&target(&server, Protocol::OpenaiChat), &question("?")).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish, reply.tokens), ("one two", Finish::Done, None));
}

#[tokio::test]
async fn a_piece_that_is_no_json_breaks_the_answer_instead_of_missing_from_it() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        server.then(Turn::text("one two three four five").garbled());
        let error = call(&target(&server, protocol), &question("?")).await.unwrap_err();
        assert_eq!(error.fault, CallFault::Server, "{protocol:?}: {error}");
    }
}

#[tokio::test]
async fn trouble_that_is_told_in_the_stream_is_trouble() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        server.then(Turn::text("one two three four five").broken());
        let error = call(&target(&server, protocol), &question("?")).await.unwrap_err();
        assert_eq!(error.fault, CallFault::Server, "{protocol:?}: {error}");
        assert!(error.message.contains("overloaded"), "{error}");
    }
}

#[tokio::test]
async fn a_status_says_what_sort_of_trouble_it_is() {
    for protocol in PROTOCOLS {
        for (status, fault) in [
            (400, CallFault::Request),
            (401, CallFault::Key),
            (403, CallFault::Key),
            (404, CallFault::UnknownModel),
            (408, CallFault::Timeout),
            (422, CallFault::Request),
            (429, CallFault::RateLimited),
            (500, CallFault::Server),
            (503, CallFault::Server),
            (529, CallFault::Server),
        ] {
            let server = ModelServer::start();
            server.then(Turn::status(status));
            let error = call(&target(&server, protocol), &question("?")).await.unwrap_err();
            assert_eq!((error.fault, error.retry_after), (fault, None), "{protocol:?} {status}: {error}");
            assert!(error.message.contains(&status.to_string()), "{error}");
            assert_eq!(error.target, "acme:m-1");
        }
    }
}

#[tokio::test]
async fn how_long_a_provider_wants_to_be_left_alone_is_heard() {
    let server = ModelServer::start();
    server.then(Turn::status(429).header("retry-after", "7"));
    let dated = Turn::status(503).header("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT");
    server.then(dated.header("date", "Wed, 21 Oct 2026 07:28:00 GMT"));
    for seconds in [7, 30] {
        let error = call(&target(&server, Protocol::OpenaiChat), &question("?")).await.unwrap_err();
        assert_eq!(error.retry_after, Some(Duration::from_secs(seconds)), "{error}");
    }
}

#[tokio::test]
async fn the_words_of_the_provider_are_kept_short_and_without_the_json_around_them() {
    let server = ModelServer::start();
    server.then(Turn::status(400).body(json!({"error": {"message": "too many words"}}).to_string()));
    server.then(Turn::status(502).body("<html>".to_owned() + &"x".repeat(100_000)));
    let target = target(&server, Protocol::OpenaiChat);
    let error = call(&target, &question("?")).await.unwrap_err();
    assert_eq!(error.to_string(), "acme:m-1: 400 Bad Request: too many words");
    let error = call(&target, &question("?")).await.unwrap_err();
    assert!(error.message.len() < 500, "{}", error.message.len());
}

#[tokio::test]
async fn silence_in_the_middle_and_an_answer_that_takes_too_long_are_both_too_late() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        server.then(Turn::text("one two three").silent_after(2)).then(Turn::text("one two three").silent_after(2));
        let mut target = target(&server, protocol);
        target.limits.silence = Duration::from_millis(40);
        let error = call(&target, &question("?")).await.unwrap_err();
        assert_eq!(error.fault, CallFault::Timeout, "{protocol:?}: {error}");
        assert!(error.message.contains("said nothing"), "{error}");
        server.until(|counts| counts.hung_up == 1).await;

        (target.limits.silence, target.limits.timeout) = (Duration::from_mins(1), Duration::from_millis(40));
        let error = call(&target, &question("?")).await.unwrap_err();
        assert_eq!(error.fault, CallFault::Timeout, "{protocol:?}: {error}");
        assert!(error.message.contains("no whole answer"), "{error}");
    }
}

#[tokio::test]
async fn nobody_at_the_address_and_no_address_at_all_are_told_apart() {
    let server = ModelServer::start();
    let mut target = target(&server, Protocol::OpenaiChat);
    drop(server);
    let error = call(&target, &question("?")).await.unwrap_err();
    assert_eq!(error.fault, CallFault::Connection, "{error}");
    assert!(error.message.starts_with("nobody answers at 127.0.0.1:"), "{error}");
    target.base_url = "localhost".into();
    assert_eq!(call(&target, &question("?")).await.unwrap_err().fault, CallFault::Request);
}

#[tokio::test]
async fn a_key_that_no_key_can_be_is_named_without_being_shown() {
    let server = ModelServer::start();
    let mut target = target(&server, Protocol::OpenaiChat);
    target.key = Some(Secret::new(format!("{KEY}\n")));
    let error = call(&target, &question("?")).await.unwrap_err();
    assert_eq!(error.fault, CallFault::Key);
    scan(&error);
    assert!(server.heard().is_empty(), "nothing was sent");
}

#[tokio::test]
async fn the_key_is_in_the_one_header_and_in_nothing_that_comes_back() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start();
        let echo = json!({"error": {"message": format!("Incorrect key {KEY} (Bearer {KEY})")}}).to_string();
        server.then(Turn::status(401).body(&echo)).then(Turn::status(500).body(format!("<p>{KEY}</p>")));
        server.then(Turn::status(429).body(&echo)).then(Turn::text("a b c").garbled());
        server.then(Turn::text("a b c").cut_after(2)).then(Turn::text("fine"));
        let ears = Ears::default();
        let target = target(&server, protocol);
        let wire = Wire::new().unwrap();
        for _ in 0..6 {
            match wire.call(&target, &question("?"), &ears, &CancellationToken::new()).await {
                Ok(reply) => scan(&reply),
                Err(error) => {
                    scan(&error);
                    assert!(!error.to_string().contains(KEY));
                }
            }
        }
        scan(&ears.heard());
        assert!(!format!("{target:?}").contains(KEY));
        for heard in server.heard() {
            assert!(!heard.body.to_string().contains(KEY) && !heard.path.contains(KEY), "{protocol:?}");
            let headers: Vec<_> = heard.headers.iter().filter(|(_, value)| value.contains(KEY)).collect();
            assert_eq!(headers.len(), 1, "{protocol:?}: {headers:?}");
        }
    }
}
