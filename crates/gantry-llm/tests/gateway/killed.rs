//! Whoever is killed on the way down pays for no reply twice that is on record.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures_util::FutureExt;
use gantry_llm::{
    Answer, AskError, Asking, CallError, CallFault, Counters, Finish, Gateway, Habits, Listener, Protocol, Provider,
    Reply, Request, Shape, Target,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::kit::{question, weather};
use crate::world::{Does, Notes, OneChain, Puppet, World, breaks_off, model, says};

/// Gives so many replies, and then leaves whoever asks waiting.
struct Mortal {
    puppet: Arc<Puppet>,
    replies_left: AtomicUsize,
}

#[async_trait]
impl Provider for Mortal {
    async fn call(
        &self,
        target: &Target,
        request: &Request,
        listener: &dyn Listener,
        stop: &CancellationToken,
    ) -> Result<Reply, CallError> {
        let left = self.replies_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if left.is_err() {
            return std::future::pending().await;
        }
        self.puppet.call(target, request, listener, stop).await
    }
}

/// One way down: what is asked, of how many models, and what they say.
struct Way {
    name: &'static str,
    request: Request,
    models: usize,
    script: Vec<Does>,
}

impl Way {
    /// A process that lives for so many replies; none when it was killed.
    fn process(&self, puppet: &Arc<Puppet>, notes: &Notes, replies: usize) -> Option<Result<Answer, AskError>> {
        let chain = ["first", "second"].map(model).into_iter().take(self.models).collect();
        let mortal = Mortal { puppet: puppet.clone(), replies_left: AtomicUsize::new(replies) };
        let gateway = Gateway::new(Arc::new(OneChain { chain, strict: true, ..OneChain::default() }));
        let gateway = gateway.with(Protocol::OpenaiChat, Arc::new(mortal));
        let asking = Asking { plan: "p", record: notes, ..Asking::new(self.request.clone()) };
        // Whoever asks often within one turn of the runtime is not made to wait.
        tokio::task::unconstrained(gateway.ask(asking)).now_or_never()
    }
}

fn shaped(schema: serde_json::Value) -> Request {
    Request { shape: Some(Shape { name: "answer".into(), schema }), ..question("List the parts.") }
}

fn refuses(text: &str) -> Does {
    says(text).map(|reply| Reply { finish: Finish::Refused, ..reply })
}

fn ways() -> Vec<Way> {
    let weather = || Request { shape: Some(weather()), ..question("How is the weather?") };
    let fine = || says(r#"{"sky": "rain", "degrees": 7}"#);
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let cuts = |text: &str| (0..4).map(|_| breaks_off(text)).collect::<Vec<_>>();
    vec![
        Way { name: "shown its faults", request: weather(), models: 1, script: vec![says("no"), says("nay"), fine()] },
        Way {
            name: "the next model",
            request: weather(),
            models: 2,
            script: vec![says("no"), says("no"), says("no"), says("nay"), fine()],
        },
        Way { name: "a refusal", request: weather(), models: 2, script: vec![refuses("I cannot."), fine()] },
        Way {
            name: "going on",
            request: question("Tell."),
            models: 1,
            script: vec![breaks_off("Once "), breaks_off("upon "), says("a time.")],
        },
        Way {
            name: "in parts",
            request: shaped(list),
            models: 1,
            script: [cuts("[1, "), vec![says("[1, 2]"), says("none"), says("[3]"), says("[]")]].concat(),
        },
        Way {
            name: "a shorter one",
            request: shaped(json!({"type": "string"})),
            models: 2,
            script: [cuts("\"and so on "), vec![says("7"), says("\"short\"")]].concat(),
        },
        Way {
            name: "a shorter one that is refused",
            request: shaped(json!({"type": "string"})),
            models: 2,
            script: [cuts("\"and so on "), vec![refuses("I cannot."), says("\"short\"")]].concat(),
        },
        Way { name: "nothing holds", request: weather(), models: 1, script: vec![says("no"), says("no"), says("nay")] },
    ]
}

#[tokio::test]
async fn whoever_is_killed_between_two_replies_asks_only_for_those_that_did_not_come() {
    for way in ways() {
        let calls = way.script.len();
        let whole = (Arc::new(Puppet::default()), Notes::default());
        whole.0.script(way.script.clone());
        let end = way.process(&whole.0, &whole.1, usize::MAX).expect(way.name);
        assert_eq!(whole.0.called(), calls, "{}: {end:?}", way.name);
        for replies in 0..calls {
            let (puppet, notes) = (Arc::new(Puppet::default()), Notes::default());
            puppet.script(way.script.clone());
            assert!(way.process(&puppet, &notes, replies).is_none(), "{}: killed after {replies}", way.name);
            let again = way.process(&puppet, &notes, usize::MAX).expect(way.name);
            assert_eq!(again, end, "{}: killed after {replies}", way.name);
            assert_eq!(puppet.called(), calls, "{}: killed after {replies}: a reply was paid for twice", way.name);
            assert_eq!(notes.used(), whole.1.used(), "{}: killed after {replies}: each call counts once", way.name);
        }
    }
}

#[tokio::test]
async fn every_reply_that_is_not_the_answer_is_on_record_word_for_word() {
    for way in ways() {
        let (puppet, notes) = (Arc::new(Puppet::default()), Notes::default());
        puppet.script(way.script.clone());
        let end = way.process(&puppet, &notes, usize::MAX).expect(way.name);
        let said: Vec<String> = way.script.iter().map(|does| does.as_ref().unwrap().text.clone()).collect();
        let mut kept: Vec<String> = notes.rungs.lock().unwrap().iter().map(|rung| rung.reply.text.clone()).collect();
        if kept.len() < said.len() {
            kept.extend(end.map(|_| said[said.len() - 1].clone())); // it stands in the note
        }
        assert_eq!(kept, said, "{}", way.name);
    }
}

#[tokio::test(start_paused = true)]
async fn replies_that_a_question_without_an_answer_has_noted_count_once_when_it_is_asked_again() {
    let mut once = [model("first"), model("second")];
    for target in &mut once {
        target.limits.retries_max = 0;
    }
    let world = World::with(once.to_vec(), true, Habits::default());
    world.script([says("no"), says("no"), says("no"), Err(CallFault::Server)]);
    let weather = || Request { shape: Some(weather()), ..question("How is the weather?") };
    assert!(!world.ask(weather()).await.unwrap_err().is_settled(), "the second model may be back");
    world.script([says("nay"), says(r#"{"sky": "rain", "degrees": 7}"#)]);
    assert!(world.ask(weather()).await.is_ok());
    assert_eq!(world.called(), ["first", "first", "first", "second", "second", "second"]);
    let counters = Counters::of(&world.notes.all());
    assert_eq!((counters.requests, counters.calls, counters.tokens.all()), (2, 6, 5 * 15));
    assert_eq!(world.notes.used().model_calls, 6);
}
