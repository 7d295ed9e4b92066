//! What is written down, and what is found again.

use gantry_core::policy::Usage;
use gantry_llm::{Allowance, AskError, Call, CallFault, Counters, PromptUse};
use serde_json::Value;

use crate::kit::{Ears, question, weather};
use crate::world::{World, says};

#[tokio::test]
async fn what_is_recorded_is_not_asked_again_and_costs_nothing() {
    let world = World::new();
    world.script([says("first"), says("second")]);
    let allowance = Allowance::unlimited();
    assert_eq!(world.ask(question("?")).await.unwrap().calls_made, 1);
    let ears = Ears::default();
    let mut asking = world.asking(question("?"));
    (asking.allowance, asking.listener) = (&allowance, &ears);
    let answer = world.gateway.ask(asking).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.calls_made), ("first", 0));
    assert_eq!((answer.usage(), allowance.spent()), (Usage::default(), Usage::default()));
    assert_eq!(ears.heard(), ["text first"], "whoever listens hears it all the same");
    assert_eq!((world.called().len(), world.notes.all().len()), (1, 1));
}

#[tokio::test]
async fn a_changed_question_is_another_question() {
    let world = World::new();
    world.ask(question("?")).await.unwrap();
    let mut changes = vec![question("??"), question("?"), question("?"), question("?"), question("?")];
    changes[1].sample = 1;
    changes[2].shape = Some(weather());
    changes[3].settings.temperature = Some(0.1);
    changes[4].model = Some("second".into());
    world.script([says("ok"), says("ok"), says(r#"{"sky":"rain","degrees":1}"#)]);
    for change in changes {
        assert_ne!(world.ask(change.clone()).await.unwrap().calls_made, 0, "{change:?}");
    }
    let mut same = question("?");
    same.prompt = Some(PromptUse { name: "elsewhere".into(), ..PromptUse::default() });
    assert_eq!(world.ask(same).await.unwrap().calls_made, 0, "where the words come from changes nothing");
}

#[tokio::test]
async fn a_recorded_answer_that_breaks_the_rules_of_this_asker_is_asked_anew() {
    let world = World::new();
    world.script([says("short"), says("a longer answer")]);
    world.ask(question("?")).await.unwrap();
    let rules = |value: &Value| match value.as_str() {
        Some(text) if text.len() < 10 => vec!["it is too short".to_owned()],
        _ => Vec::new(),
    };
    let mut asking = world.asking(question("?"));
    asking.rules = &rules;
    assert_eq!(world.gateway.ask(asking).await.unwrap().text, "a longer answer");
}

#[tokio::test]
async fn an_answer_that_cannot_be_written_down_is_not_given_out() {
    let world = World::new();
    *world.notes.broken.lock().unwrap() = true;
    assert_eq!(world.ask(question("?")).await, Err(AskError::Record("the disk is full".into())));
}

#[tokio::test(start_paused = true)]
async fn a_note_tells_who_was_asked_who_answered_how_long_it_took_and_why() {
    let world = World::new();
    world.script((0..8).map(|_| Err(CallFault::Key)));
    let mut request = question("Plan the day.");
    request.prompt = Some(PromptUse { name: "daily".into(), version: "3".into(), locale: "en".into(), variant: None });
    let mut asking = world.asking(request);
    asking.context = [("task", "t1"), ("worker", "Ana")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    world.gateway.ask(asking).await.unwrap();
    insta::assert_json_snapshot!(world.notes.all());
}

#[tokio::test(start_paused = true)]
async fn counters_are_the_sum_of_the_notes() {
    let world = World::new();
    world.script([says("fine")]);
    world.ask(question("one")).await.unwrap();
    world.script([Err(CallFault::Key), says("from the second")]);
    world.ask(question("two")).await.unwrap();
    let mut notes: Vec<Call> = world.notes.all();
    let mut failed = notes[1].clone();
    failed.answer = None;
    notes.push(failed);
    let counters = Counters::of(&notes);
    assert_eq!((counters.requests, counters.calls, counters.failures, counters.fallbacks), (3, 5, 1, 1));
    assert_eq!(counters.tokens.all(), 45);
    assert_eq!(counters.duration.as_ms(), 3_000, "the clock of this test goes on by a second at every look");
    assert_eq!(Counters::of(&[]), Counters::default());
}

#[test]
fn a_note_survives_being_written_and_read() {
    let note = serde_json::json!({
        "key": "k", "method": "writer", "request": {"role": "writer", "messages": []}, "asked": "a:b", "calls": 0,
        "tokens": {"input": 0, "output": 0}, "cost_usd": 0, "started_at": "1970-01-01T00:00:00Z", "ended_at": "1970-01-01T00:00:00Z",
    });
    let call: Call = serde_json::from_value(note).unwrap();
    assert_eq!(call.error().as_deref(), Some("nobody answered"));
    let again: Call = serde_json::from_str(&serde_json::to_string(&call).unwrap()).unwrap();
    assert_eq!(again, call);
}
