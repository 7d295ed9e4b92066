//! How fast and how many at once. Time is stopped; it goes on only when everybody waits.

use std::time::Duration;

use gantry_llm::{AskError, Habits, Target};
use tokio::time::Instant;

use crate::kit::question;
use crate::world::{World, model};

fn world(change: impl FnOnce(&mut Target)) -> World {
    let mut target = model("first");
    change(&mut target);
    World::with(vec![target], true, Habits::default())
}

async fn ask_all(world: &World, count: usize) {
    let questions = (0..count).map(|number| world.ask(question(&format!("question {number}"))));
    for answer in futures_util::future::join_all(questions).await {
        answer.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_number_in_a_minute_wait_and_none_fails() {
    let world = world(|target| target.limits.requests_per_minute = Some(2));
    ask_all(&world, 6).await;
    let seconds: Vec<u64> = world.times().iter().map(Duration::as_secs).collect();
    assert_eq!(seconds, [0, 0, 30, 60, 90, 120]);
}

#[tokio::test(start_paused = true)]
async fn tokens_beyond_the_number_in_a_minute_wait_and_a_giant_waits_no_longer_than_a_minute() {
    let world = world(|target| target.limits.tokens_per_minute = Some(3_000));
    // Each is thought to take a little more than a thousand tokens.
    ask_all(&world, 4).await;
    let times = world.times();
    assert_eq!(times[1], Duration::ZERO);
    assert!(times[2] > Duration::ZERO && times[3] > times[2], "{times:?}");
    let began = Instant::now();
    world.ask(question(&"giant ".repeat(10_000))).await.unwrap();
    assert!(began.elapsed() <= Duration::from_secs(61 + 60), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn models_of_one_provider_share_its_limits_and_providers_do_not() {
    let limited = |name: &str, provider: &str| {
        let mut target = model(name);
        target.provider = provider.into();
        target.limits.requests_per_minute = Some(1);
        target
    };
    let chain = vec![limited("a", "acme"), limited("b", "acme"), limited("c", "other")];
    let world = World::with(chain, true, Habits::default());
    for name in ["a", "b", "c"] {
        let mut request = question("?");
        request.model = Some(name.into());
        world.ask(request).await.unwrap();
    }
    let seconds: Vec<u64> = world.times().iter().map(Duration::as_secs).collect();
    assert_eq!(seconds, [0, 60, 60]);
}

#[tokio::test(start_paused = true)]
async fn whoever_is_stopped_while_waiting_for_a_place_calls_nobody() {
    let world = world(|target| target.limits.requests_per_minute = Some(1));
    world.ask(question("one")).await.unwrap();
    let asking = world.asking(question("two"));
    let stop = asking.stop.clone();
    let (end, ()) = tokio::join!(world.gateway.ask(asking), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.cancel();
    });
    assert_eq!(end, Err(AskError::Cancelled));
    assert_eq!(world.called().len(), 1);
    world.ask(question("three")).await.unwrap();
}
