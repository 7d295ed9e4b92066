//! What is spent, and what may not be.

use std::sync::Arc;

use gantry_core::plan::Money;
use gantry_core::policy::{Budget, FailureClass, Usage};
use gantry_llm::gateway::{cost, estimate};
use gantry_llm::{Allowance, AskError, Asking, CallFault, Habits, Price, Reply, Target, Tokens};

use crate::kit::{question, weather};
use crate::world::{World, model, says};

/// Two dollars for a million tokens in, one for cached ones, ten for those out.
fn priced(name: &str) -> Target {
    let price = Price { input: Money(2_000_000), cached: Some(Money(1_000_000)), output: Money(10_000_000) };
    Target { price: Some(price), ..model(name) }
}

#[test]
fn tokens_cost_what_the_price_says_and_parts_of_a_millionth_count_as_a_whole() {
    let price = priced("x").price.unwrap();
    let tokens = Tokens { input: 1_000, cached: 400, output: 100, reasoning: 50 };
    assert_eq!(cost(tokens, Some(&price)), Money(600 * 2 + 400 + 100 * 10));
    assert_eq!(cost(Tokens { input: 0, cached: 9, output: 0, reasoning: 0 }, Some(&price)), Money(0), "none was read");
    let cheap = Price { input: Money(1), cached: None, output: Money(0) };
    assert_eq!(cost(Tokens { input: 1, ..Tokens::default() }, Some(&cheap)), Money(1));
    assert_eq!(cost(Tokens { input: u64::MAX, output: u64::MAX, ..Tokens::default() }, Some(&price)), Money::MAX);
    assert_eq!(cost(tokens, None), Money(0));
}

#[test]
fn an_estimate_counts_the_words_the_tools_the_schema_and_the_longest_answer() {
    let mut request = question(&"x".repeat(400));
    request.settings.tokens_max = Some(50);
    let plain = estimate(&request, &priced("x"));
    assert!((150..170).contains(&plain.tokens), "{plain:?}");
    assert_eq!(plain.model_calls, 1);
    assert!(plain.cost_usd.0 >= 100 * 2 + 50 * 10, "{plain:?}");
    request.shape = Some(weather());
    assert!(estimate(&request, &priced("x")).tokens > plain.tokens);
    assert_eq!(estimate(&request, &Target::offline()), Usage { model_calls: 1, ..Usage::default() });
}

#[tokio::test(start_paused = true)]
async fn every_call_is_paid_for_also_those_that_came_to_nothing() {
    let world = World::with(vec![priced("first"), priced("second")], true, Habits::default());
    let allowance = Allowance::unlimited();
    world.script([Err(CallFault::Server), says("no"), says("no"), says("no"), says(r#"{"sky":"rain","degrees":1}"#)]);
    let mut request = question("?");
    request.shape = Some(weather());
    let mut asking = world.asking(request);
    asking.allowance = &allowance;
    let answer = world.gateway.ask(asking).await.unwrap();
    // Four answers of ten tokens in and five out.
    assert_eq!((answer.calls_made, answer.tokens.input, answer.tokens.output), (5, 40, 20));
    assert_eq!(answer.cost_usd, Money(40 * 2 + 20 * 10));
    assert_eq!(allowance.spent(), answer.usage());
    assert!(!answer.tokens_guessed);
}

#[tokio::test]
async fn what_a_provider_does_not_report_is_guessed_and_said_to_be() {
    let world = World::new();
    let silent = says(&"word ".repeat(40)).map(|reply| Reply { tokens: None, ..reply });
    world.script([silent]);
    let answer = world.ask(question(&"x".repeat(400))).await.unwrap();
    assert!(answer.tokens_guessed);
    assert!((100..120).contains(&answer.tokens.input), "{:?}", answer.tokens);
    assert_eq!(answer.tokens.output, 50);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_before_anyone_is_called() {
    let world = World::with(vec![priced("first")], false, Habits::default());
    let none = Budget::default();
    for (budget, words) in [
        (Budget { model_calls: Some(0), ..none }, "no model call is left"),
        (Budget { tokens: Some(500), ..none }, "500 are left"),
        (Budget { cost_usd: Some(Money(100)), ..none }, "$0.000100 is left"),
    ] {
        let allowance = Allowance::of(budget);
        let mut asking = world.asking(question("?"));
        asking.allowance = &allowance;
        let error = world.gateway.ask(asking).await.unwrap_err();
        assert!(matches!(&error, AskError::Budget(said) if said.contains(words)), "{error:?}");
        assert_eq!(allowance.spent(), Usage::default());
    }
    assert!(world.called().is_empty(), "nor does the offline model step in");
    assert!(world.notes.all().is_empty());
}

#[tokio::test]
async fn two_at_once_cannot_both_spend_the_last_of_it() {
    let world = World::with(vec![model("first")], true, Habits::default());
    let allowance = Allowance::of(Budget { tokens: Some(1_500), ..Budget::default() });
    let ask = |text: &str| {
        let mut asking = world.asking(question(text));
        asking.allowance = &allowance;
        world.gateway.ask(asking)
    };
    // Somebody else has set aside most of it.
    let held = allowance.reserve(Usage { tokens: 1_000, ..Usage::default() }).unwrap();
    assert!(matches!(ask("one").await, Err(AskError::Budget(_))));
    drop(held);
    ask("two").await.unwrap();
    assert_eq!(allowance.spent().tokens, 15, "what was set aside beyond that is given back");
    for number in 0..20 {
        ask(&format!("more {number}")).await.unwrap();
    }
}

#[tokio::test]
async fn a_budget_is_also_for_the_second_call_of_one_question() {
    let world = World::with(vec![model("first")], true, Habits::default());
    let allowance = Allowance::of(Budget { model_calls: Some(1), ..Budget::default() });
    world.script([says("no"), says("no")]);
    let mut request = question("?");
    request.shape = Some(weather());
    let mut asking = world.asking(request);
    asking.allowance = &allowance;
    assert!(matches!(world.gateway.ask(asking).await, Err(AskError::Budget(_))));
    assert_eq!(world.called().len(), 1);
    assert_eq!(world.notes.all()[0].calls, 1, "what was spent is noted");
}

#[tokio::test]
async fn a_call_under_a_cap_is_told_how_long_its_answer_may_be() {
    let none = Budget::default();
    for (budget, told) in [
        (Budget { model_calls: Some(5), ..none }, None),
        (Budget { tokens: Some(20_000), ..none }, Some(8_000)),
        (Budget { tokens: Some(1_500), ..none }, Some(1_000)),
        (Budget { cost_usd: Some(Money(20_000)), ..none }, Some(1_000)),
    ] {
        let world = World::with(vec![priced("first")], true, Habits::default());
        // What is around it counts as well.
        let allowance = Allowance::unlimited().within(Arc::new(Allowance::of(budget)));
        let mut asking = world.asking(question("?"));
        asking.allowance = &allowance;
        world.gateway.ask(asking).await.unwrap();
        assert_eq!(world.requests()[0].settings.tokens_max, told, "{budget:?}");
        let again = world.ask(question("?")).await.unwrap();
        assert_eq!(again.calls_made, 0, "a budget makes it no other question");
    }
    let world = World::with(vec![priced("first")], true, Habits::default());
    let allowance = Allowance::of(Budget { tokens: Some(20_000), ..none });
    let mut request = question("?");
    request.settings.tokens_max = Some(50);
    world.gateway.ask(Asking { allowance: &allowance, ..world.asking(request) }).await.unwrap();
    assert_eq!(world.requests()[0].settings.tokens_max, Some(50), "what somebody said holds");
}

#[tokio::test]
async fn a_budget_in_dollars_passes_over_models_without_a_price() {
    let allowance = Allowance::of(Budget { cost_usd: Some(Money(1_000_000)), ..Budget::default() });
    let world = World::with(vec![model("first"), priced("second")], true, Habits::default());
    let answer = world.gateway.ask(Asking { allowance: &allowance, ..world.asking(question("?")) }).await.unwrap();
    assert_eq!(world.called(), ["second"]);
    assert!(answer.fallback.unwrap().contains("its price is not known"));
    let world = World::with(vec![model("first")], true, Habits::default());
    let error = world.gateway.ask(Asking { allowance: &allowance, ..world.asking(question("?")) }).await.unwrap_err();
    assert!(error.to_string().contains("set `price` of the model in gantry.toml"), "{error}");
    assert_eq!((error.class(), world.called().len()), (FailureClass::Policy, 0));
}
