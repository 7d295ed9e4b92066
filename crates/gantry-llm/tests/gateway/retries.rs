//! Trouble that passes, and trouble that does not.

use std::time::Duration;

use gantry_core::effect::Failure;
use gantry_llm::{AskError, CallFault, Habits, Repair};

use crate::kit::{Ears, question};
use crate::world::{World, model, says};

#[tokio::test(start_paused = true)]
async fn trouble_that_may_pass_is_tried_again_and_other_trouble_is_not() {
    for (fault, calls) in [
        (CallFault::RateLimited, 4),
        (CallFault::Server, 4),
        (CallFault::Timeout, 4),
        (CallFault::Connection, 4),
        (CallFault::Key, 1),
        (CallFault::UnknownModel, 1),
        (CallFault::Request, 1),
        (CallFault::Answer, 1),
    ] {
        let world = World::new();
        world.script((0..calls).map(|_| Err(fault)));
        let answer = world.ask(question("?")).await.unwrap();
        assert_eq!(world.called().iter().filter(|name| *name == "first").count(), calls, "{fault:?}");
        assert_eq!(world.called().last().unwrap(), "second", "{fault:?}");
        assert_eq!(answer.calls_made, calls as u64 + 1);
        assert_eq!(answer.fallback.as_deref(), Some(format!("acme:first: {fault:?}").as_str()));
        assert_eq!(answer.repairs, [Repair::NextModel("acme:second".into())]);
        assert_eq!((answer.asked.as_str(), answer.model.as_str()), ("acme:first", "m-of-today"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_trouble_is_no_fallback_and_the_listener_hears_that_it_begins_again() {
    let world = World::new();
    world.script([Err(CallFault::Server), says("here")]);
    let ears = Ears::default();
    let mut asking = world.asking(question("?"));
    asking.listener = &ears;
    let answer = world.gateway.ask(asking).await.unwrap();
    assert_eq!((answer.fallback, answer.calls_made), (None, 2));
    assert_eq!(ears.heard(), ["again acme:first: Server", "text here"]);
    let note = &world.notes.all()[0];
    assert_eq!(note.failed.len(), 1, "what came to nothing is noted beside the answer");
}

#[tokio::test(start_paused = true)]
async fn waits_grow_stay_bounded_and_are_the_same_every_time() {
    let habits = Habits {
        backoff_min: Duration::from_secs(1),
        backoff_max: Duration::from_secs(4),
        failures_max: 100,
        ..Habits::default()
    };
    let mut patient = model("first");
    patient.limits.retries_max = 5;
    let mut runs = Vec::new();
    for _ in 0..2 {
        let world = World::with(vec![patient.clone()], true, habits);
        world.script((0..6).map(|_| Err(CallFault::Server)));
        assert!(matches!(world.ask(question("?")).await, Err(AskError::Calls { failed, .. }) if failed.len() == 6));
        let times = world.times();
        let waits: Vec<Duration> = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        for (wait, least) in waits.iter().zip([1, 2, 4, 4, 4]) {
            let least = Duration::from_secs(least);
            assert!(*wait >= least && *wait <= least * 2 + Duration::from_millis(2), "{waits:?}");
        }
        runs.push(waits);
    }
    assert_eq!(runs[0], runs[1]);
    let world = World::with(vec![patient], true, Habits { seed: 1, ..habits });
    world.script((0..6).map(|_| Err(CallFault::Server)));
    world.ask(question("?")).await.unwrap_err();
    assert_ne!(world.times()[1], runs[0][0], "another seed waits differently");
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_wants_to_be_left_alone_is_left_alone_for_that_long() {
    let world = World::new();
    *world.puppet.retry_after.lock().unwrap() = Some(Duration::from_secs(40));
    world.script([Err(CallFault::RateLimited), says("here")]);
    world.ask(question("?")).await.unwrap();
    assert!(world.times()[1] >= Duration::from_secs(40), "{:?}", world.times());
    assert_eq!(world.called(), ["first", "first"]);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_wants_to_be_left_alone_for_too_long_is_not_waited_for() {
    let world = World::new();
    *world.puppet.retry_after.lock().unwrap() = Some(Duration::from_hours(1));
    world.script([Err(CallFault::RateLimited)]);
    world.ask(question("?")).await.unwrap();
    assert_eq!(world.called(), ["first", "second"]);
    assert_eq!(world.times()[1], Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_again_and_again_rests_and_is_tried_once_afterwards() {
    let habits = Habits { failures_max: 3, rest: Duration::from_secs(30), ..Habits::default() };
    let mut impatient = model("first");
    impatient.limits.retries_max = 0;
    let world = World::with(vec![impatient, model("second")], true, habits);
    let first = || world.called().iter().filter(|name| *name == "first").count();

    for number in 0..3 {
        world.script([Err(CallFault::Server), says("ok")]);
        world.ask(question(&format!("{number}"))).await.unwrap();
    }
    assert_eq!(first(), 3);
    let answer = world.ask(question("resting")).await.unwrap();
    assert_eq!(first(), 3, "it is not asked while it rests");
    assert_eq!(answer.calls_made, 1);
    let cause = answer.fallback.unwrap();
    assert!(cause.contains("failed too often"), "{cause}");
    assert_eq!(world.notes.all().last().unwrap().failed[0].fault, CallFault::Resting, "that it was skipped is noted");

    tokio::time::advance(Duration::from_secs(31)).await;
    world.script([Err(CallFault::Server), says("ok")]);
    world.ask(question("tried")).await.unwrap();
    assert_eq!(first(), 4, "it is tried once");
    world.ask(question("resting again")).await.unwrap();
    assert_eq!(first(), 4, "and rests again after one failure");

    tokio::time::advance(Duration::from_secs(31)).await;
    world.script([says("well again")]);
    assert_eq!(world.ask(question("well?")).await.unwrap().text, "well again");
    for number in 0..2 {
        world.script([Err(CallFault::Server), says("ok")]);
        world.ask(question(&format!("later {number}"))).await.unwrap();
    }
    assert_eq!(world.ask(question("still there?")).await.unwrap().fallback, None, "its failures were forgotten");
}

#[tokio::test(start_paused = true)]
async fn trouble_of_the_asker_does_not_make_a_model_rest() {
    let habits = Habits { failures_max: 2, ..Habits::default() };
    let world = World::with(vec![model("first"), model("second")], true, habits);
    for number in 0..5 {
        world.script([Err(CallFault::Request), says("ok")]);
        world.ask(question(&format!("{number}"))).await.unwrap();
    }
    assert_eq!(world.ask(question("and now?")).await.unwrap().fallback, None);
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_the_wait_before_a_repetition() {
    let world = World::new();
    *world.puppet.retry_after.lock().unwrap() = Some(Duration::from_secs(50));
    world.script([Err(CallFault::RateLimited)]);
    let asking = world.asking(question("?"));
    let stop = asking.stop.clone();
    let (end, ()) = tokio::join!(world.gateway.ask(asking), async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        stop.cancel();
    });
    assert_eq!(end, Err(AskError::Cancelled));
    assert_eq!(world.called().len(), 1);
    assert_eq!(world.notes.all()[0].calls, 1, "the call that was made is noted");
}

#[tokio::test(start_paused = true)]
async fn what_is_stopped_before_it_begins_calls_nobody() {
    let world = World::new();
    let asking = world.asking(question("?"));
    asking.stop.cancel();
    assert_eq!(world.gateway.ask(asking).await, Err(AskError::Cancelled));
    assert!(world.called().is_empty() && world.notes.all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_passes_says_when_the_first_model_can_be_asked_again() {
    let two = || World::with(vec![model("first"), model("second")], true, Habits::default());
    let wait = async |world: &World| {
        let failure = Failure::from(world.ask(question("?")).await.unwrap_err());
        failure.retry_after.map(gantry_core::time::Duration::as_ms)
    };
    let limited = two();
    *limited.puppet.retry_after.lock().unwrap() = Some(Duration::from_mins(2));
    limited.script([Err(CallFault::RateLimited), Err(CallFault::RateLimited)]);
    assert_eq!(wait(&limited).await, Some(120_000));
    // One of them may be back at any time.
    let one = two();
    one.script((0..8).map(|_| Err(CallFault::Server)));
    assert_eq!(wait(&one).await, None);
    // A model that rests is there again when it has rested.
    let tired = World::with(vec![model("first")], true, Habits { failures_max: 1, ..Habits::default() });
    tired.script([Err(CallFault::Server)]);
    let rests = wait(&tired).await.unwrap();
    assert!((20_000..=30_000).contains(&rests), "{rests}");
}
