//! Identical questions that are under way at once.

use std::sync::Arc;

use gantry_llm::{AskError, Asking, Gateway, Protocol, Wire};
use gantry_testkit::model_server::{Gate, ModelServer, Turn};

use crate::kit::{question, target};
use crate::world::{Notes, OneChain};

fn gateway(server: &ModelServer) -> Gateway {
    let mut target = target(server, Protocol::OpenaiChat);
    target.limits.retries_max = 0;
    let chains = OneChain { chain: vec![target], strict: true, ..OneChain::default() };
    Gateway::new(Arc::new(chains)).with_wire(Arc::new(Wire::new().unwrap()))
}

fn asking<'a>(plan: &'a str, text: &str, notes: &'a Notes) -> Asking<'a> {
    Asking { plan, record: notes, ..Asking::new(question(text)) }
}

#[tokio::test]
async fn identical_questions_of_one_plan_share_one_call_and_one_pays() {
    let (server, gate, notes) = (ModelServer::start(), Gate::closed(), Notes::default());
    server.always(Turn::text("shared").behind(&gate));
    let gateway = gateway(&server);
    let questions = (0..5).map(|_| gateway.ask(asking("p", "same", &notes)));
    let (answers, ()) = tokio::join!(futures_util::future::join_all(questions), async {
        server.until(|counts| counts.requests == 1).await;
        gate.open();
    });
    let made: Vec<u64> = answers.iter().map(|answer| answer.as_ref().unwrap().calls_made).collect();
    assert_eq!(made.iter().sum::<u64>(), 1, "{made:?}");
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap().text == "shared"));
    assert_eq!((server.counts().requests, notes.all().len()), (1, 1));
}

#[tokio::test]
async fn other_plans_and_other_questions_ask_for_themselves() {
    let (server, gate, notes) = (ModelServer::start(), Gate::closed(), Notes::default());
    server.always(Turn::text("own").behind(&gate));
    let gateway = gateway(&server);
    let (one, two, three, ()) = tokio::join!(
        gateway.ask(asking("p", "same", &notes)),
        gateway.ask(asking("q", "same", &notes)),
        gateway.ask(asking("p", "other", &notes)),
        async {
            server.until(|counts| counts.under_way == 3).await;
            gate.open();
        }
    );
    assert!([one, two, three].iter().all(|answer| answer.as_ref().unwrap().calls_made == 1));
}

#[tokio::test]
async fn a_failure_is_shared_and_a_stop_is_not() {
    let (server, gate, notes) = (ModelServer::start(), Gate::closed(), Notes::default());
    server.then(Turn::status(400).behind(&gate));
    let gateway = gateway(&server);
    let (one, two, ()) =
        tokio::join!(gateway.ask(asking("p", "same", &notes)), gateway.ask(asking("p", "same", &notes)), async {
            server.until(|counts| counts.requests == 1).await;
            gate.open();
        });
    assert!(matches!(one, Err(AskError::Calls { .. })) && one == two, "{one:?} {two:?}");
    assert_eq!(server.counts().requests, 1);

    let first = asking("p", "again", &notes);
    let stop = first.stop.clone();
    server.then(Turn::text("never").silent_after(1)).then(Turn::text("here"));
    let (one, two, ()) = tokio::join!(gateway.ask(first), gateway.ask(asking("p", "again", &notes)), async {
        server.until(|counts| counts.requests == 2).await;
        stop.cancel();
    });
    assert_eq!(one, Err(AskError::Cancelled));
    assert_eq!(two.unwrap().text, "here", "whoever waited behind asks for itself");
    server.until(|counts| counts.hung_up == 1).await;
}
