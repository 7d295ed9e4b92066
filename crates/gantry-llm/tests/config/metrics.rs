//! How prompts fare, derived from recorded calls.

use gantry_core::time::Timestamp;
use gantry_llm::prompts::PromptMetrics;
use gantry_llm::{Answer, Call, PromptUse, Request, Tokens};

/// One use of the prompt `judge`.
struct Use {
    variant: Option<&'static str>,
    tokens: u64,
    ms: i64,
    holds: bool,
}

fn call(one: &Use) -> Call {
    let prompt = PromptUse {
        name: "judge".to_owned(),
        version: "1".to_owned(),
        locale: "en".to_owned(),
        variant: one.variant.map(str::to_owned),
    };
    let answer = Answer { model: "gpt-4o".to_owned(), ..Answer::default() };
    Call {
        key: "k".to_owned(),
        request: Request { prompt: Some(prompt), ..Request::default() },
        method: String::new(),
        asked: String::new(),
        answer: one.holds.then_some(answer),
        failed: Vec::new(),
        calls: 1,
        tokens: Tokens { input: one.tokens, ..Tokens::default() },
        cost_usd: gantry_core::plan::Money::default(),
        context: std::collections::BTreeMap::new(),
        started_at: Timestamp::from_ms(1_000),
        ended_at: Timestamp::from_ms(1_000 + one.ms),
    }
}

#[test]
fn variants_are_scored_by_success_tokens_and_speed() {
    let uses = [
        Use { variant: None, tokens: 100, ms: 200, holds: true },
        Use { variant: None, tokens: 300, ms: 200, holds: true },
        Use { variant: Some("brief"), tokens: 100, ms: 100, holds: true },
        Use { variant: Some("brief"), tokens: 100, ms: 100, holds: true },
        Use { variant: Some("wild"), tokens: 100, ms: 100, holds: true },
        Use { variant: Some("wild"), tokens: 300, ms: 300, holds: false },
        Use { variant: Some("mute"), tokens: 0, ms: 1, holds: false },
    ];
    let calls: Vec<Call> = uses.iter().map(call).collect();
    let metrics = PromptMetrics::of(&calls);
    let scores = metrics.scores("judge", "en");
    let drawn: Vec<String> = scores.iter().map(|score| format!("{} {:.3}", score.variant, score.score)).collect();
    // brief: 0.7 + 0.2 + 0.1; base and wild: 0.2 × 100/200 + 0.1 × 100/200 and 0.7 or the half of it. What came to nothing
    // counts, and one that never succeeds is no measure for the others.
    assert_eq!(drawn, ["brief 1.000", "base 0.850", "wild 0.500", "mute 0.300"]);
    assert_eq!(metrics.best("judge", "en").unwrap().variant, "brief");
    assert!(metrics.best("judge", "ko").is_none());
    let brief = scores[0].metrics;
    assert_eq!((brief.uses, brief.successes, brief.tokens, brief.duration_ms), (2, 2, 200, 200));
}

#[test]
fn an_answer_of_the_offline_model_in_the_place_of_another_is_no_success_of_the_prompt() {
    let mut stood_in = call(&Use { variant: None, tokens: 0, ms: 1, holds: true });
    if let Some(answer) = &mut stood_in.answer {
        answer.model = "gantry-offline-judge".to_owned();
        answer.fallback = Some("openai:gpt-4o: 500".to_owned());
    }
    let mut next_model = call(&Use { variant: None, tokens: 5, ms: 1, holds: true });
    if let Some(answer) = &mut next_model.answer {
        answer.fallback = Some("openai:gpt-4o: 500".to_owned());
    }
    let metrics = PromptMetrics::of([&stood_in, &next_model]);
    let base = metrics.best("judge", "en").unwrap().metrics;
    assert_eq!((base.uses, base.successes), (2, 1));
}

#[test]
fn calls_without_a_prompt_do_not_count_and_everything_else_can_be_exported() {
    let mut without = call(&Use { variant: None, tokens: 1, ms: 1, holds: true });
    without.request.prompt = None;
    assert_eq!(PromptMetrics::of([&without]), PromptMetrics::default());
    let metrics = PromptMetrics::of([&call(&Use { variant: Some("brief"), tokens: 7, ms: 9, holds: true })]);
    insta::assert_snapshot!(metrics.to_json(), @r#"{"prompts":{"judge":{"en":[{"variant":"brief","score":1.0,"metrics":{"uses":1,"successes":1,"tokens":7,"duration_ms":9}}]}}}"#);
}
