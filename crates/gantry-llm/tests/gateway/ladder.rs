//! From what models say to an answer that holds.

use std::sync::Arc;

use gantry_core::policy::FailureClass;
use gantry_llm::config::LeftOut;
use gantry_llm::{
    AskError, Asking, CallFault, Counters, Finish, Gateway, Message, PromptUse, Protocol, Repair, Reply, Request,
    Target, ToolCall,
};
use serde_json::{Value, json};

use crate::kit::{Ears, question, weather};
use crate::world::{Does, Notes, Offline, OneChain, Puppet, World, breaks_off, model, says};

fn weather_question() -> Request {
    Request { shape: Some(weather()), ..question("How is the weather?") }
}

const FINE: &str = r#"{"sky": "rain", "degrees": 7}"#;

#[tokio::test]
async fn an_answer_that_fits_is_taken_at_once() {
    let world = World::new();
    world.script([says(FINE)]);
    let answer = world.ask(weather_question()).await.unwrap();
    assert_eq!(answer.value, Some(json!({"sky": "rain", "degrees": 7})));
    assert_eq!((answer.calls_made, answer.repairs.len(), answer.fallback), (1, 0, None));
}

#[tokio::test]
async fn a_model_is_shown_exactly_what_is_wrong_with_its_last_answer() {
    let world = World::new();
    world.script([says(r#"{"sky": "green"}"#), says(r#"{"sky": "rain"}"#), says(FINE)]);
    let ears = Ears::default();
    let mut asking = world.asking(weather_question());
    asking.listener = &ears;
    let answer = world.gateway.ask(asking).await.unwrap();
    assert_eq!(answer.calls_made, 3);
    let [_, second, third] = &world.requests()[..] else { panic!("three requests") };
    let said: Vec<&str> = second.messages.iter().map(Message::text).collect();
    assert_eq!(said[..2], ["How is the weather?", r#"{"sky": "green"}"#]);
    assert!(said[2].contains("\"green\"") && said[2].contains("degrees"), "{}", said[2]);
    assert_eq!(third.messages.len(), 3, "only the last answer and its faults are shown");
    assert_eq!(third.messages[1].text(), r#"{"sky": "rain"}"#);
    assert_eq!(third.shape, weather_question().shape, "the schema stays");
    let [Repair::FedBack(first), Repair::FedBack(second)] = &answer.repairs[..] else { panic!("{:?}", answer.repairs) };
    assert_eq!((first.len(), second.len()), (2, 1));
    assert_eq!(ears.heard().iter().filter(|line| line.starts_with("again")).count(), 2);
}

#[tokio::test]
async fn a_model_that_never_learns_is_given_up_and_the_next_one_asked() {
    let world = World::new();
    world.script([says("no"), says("no"), says("no"), says(FINE)]);
    let answer = world.ask(weather_question()).await.unwrap();
    assert_eq!(world.called(), ["first", "first", "first", "second"]);
    assert!(answer.fallback.unwrap().contains("no JSON"));
    assert_eq!(answer.repairs.last(), Some(&Repair::NextModel("acme:second".into())));
    assert_eq!(world.notes.all()[0].failed.len(), 3, "each answer that did not hold is noted");
}

#[tokio::test]
async fn when_no_model_ever_fits_the_failure_says_what_was_wrong() {
    let world = World::with(vec![model("first")], true, Default::default());
    world.script([says("no"), says("no"), says(r#"{"sky": "rain"}"#)]);
    let error = world.ask(weather_question()).await.unwrap_err();
    let AskError::Invalid { model, faults, .. } = &error else { panic!("{error:?}") };
    assert_eq!(model, "acme:first");
    assert!(faults[0].contains("degrees"), "{faults:?}");
    let note = &world.notes.all()[0];
    assert_eq!(
        (note.answer.is_none(), note.calls, note.tokens.all()),
        (true, 3, 45),
        "it was paid for, so it is noted"
    );
    assert!(note.error().unwrap().contains("degrees"));
}

#[tokio::test]
async fn rules_beyond_the_schema_are_faults_like_others() {
    let world = World::new();
    world.script([says(r#"{"sky": "rain", "degrees": 99}"#), says(FINE)]);
    let rules = |value: &Value| match value["degrees"].as_i64() {
        Some(degrees) if degrees > 50 => vec!["/degrees: no place on earth is so hot".to_owned()],
        _ => Vec::new(),
    };
    let mut asking = world.asking(weather_question());
    asking.rules = &rules;
    let answer = world.gateway.ask(asking).await.unwrap();
    assert_eq!(answer.repairs, [Repair::FedBack(vec!["/degrees: no place on earth is so hot".into()])]);
}

#[tokio::test]
async fn an_answer_that_breaks_off_goes_on_where_it_stopped() {
    let world = World::new();
    world.script([breaks_off(r#"{"sky": "ra"#), breaks_off(r#"in", "deg"#), says(r#"rees": 7}"#)]);
    let answer = world.ask(weather_question()).await.unwrap();
    assert_eq!(answer.value, Some(json!({"sky": "rain", "degrees": 7})));
    assert_eq!(answer.text, FINE);
    assert_eq!(answer.repairs, [Repair::Continued, Repair::Continued]);
    let last = &world.requests()[2];
    assert_eq!(last.messages[1].text(), r#"{"sky": "rain", "deg"#, "it sees what it has said so far");
    assert!(last.messages[2].text().contains("Go on"));
}

#[tokio::test]
async fn a_model_that_begins_anew_instead_of_going_on_is_understood() {
    let world = World::new();
    world.script([breaks_off(r#"{"sky": "ra"#), says(FINE)]);
    let answer = world.ask(weather_question()).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.calls_made), (FINE, 2));
}

#[tokio::test]
async fn an_answer_that_never_ends_is_given_up() {
    let world = World::with(vec![model("first")], true, Default::default());
    world.script((0..40).map(|_| breaks_off("{\"sky\": \"rain\", ")));
    let error = world.ask(weather_question()).await.unwrap_err();
    assert!(matches!(error, AskError::Invalid { .. }), "{error:?}");
    assert!(world.called().len() <= 12, "{} calls", world.called().len());
}

#[tokio::test]
async fn free_text_must_not_be_empty_and_must_keep_the_rules() {
    let world = World::new();
    world.script([says(" \n"), says("English"), says("한국어")]);
    let rules = |value: &Value| match value.as_str() {
        Some(text) if text.is_ascii() && !text.trim().is_empty() => vec!["it is not Korean".to_owned()],
        _ => Vec::new(),
    };
    let mut asking = world.asking(question("?"));
    asking.rules = &rules;
    let answer = world.gateway.ask(asking).await.unwrap();
    assert_eq!(answer.text, "한국어");
    let fed = |fault: &str| Repair::FedBack(vec![fault.into()]);
    assert_eq!(answer.repairs, [fed("the answer is empty"), fed("it is not Korean")]);
    assert_eq!(world.requests()[1].messages.len(), 2, "an answer without words is not repeated to the model");
}

#[tokio::test]
async fn a_refusal_is_not_argued_with_and_the_next_model_is_asked() {
    let world = World::new();
    let refusal: Does = says("I cannot help with that.").map(|reply| Reply { finish: Finish::Refused, ..reply });
    world.script([refusal, says(FINE)]);
    let answer = world.ask(weather_question()).await.unwrap();
    assert_eq!(world.called(), ["first", "second"]);
    assert!(answer.fallback.unwrap().contains("I cannot help"));
}

fn calls(args: Value) -> Reply {
    let call = ToolCall { id: "c".into(), name: "files.read".into(), args };
    Reply { calls: vec![call], finish: Finish::Tools, model: "m".into(), ..Reply::default() }
}

#[tokio::test]
async fn calls_of_tools_are_an_answer_and_broken_ones_are_shown_to_the_model() {
    let world = World::new();
    world.script([Ok(calls(json!("{\"path\": "))), Ok(calls(json!({"path": "a"})))]);
    let answer = world.ask(weather_question()).await.unwrap();
    assert_eq!(
        (answer.calls[0].args.clone(), answer.value, answer.finish),
        (json!({"path": "a"}), None, Finish::Tools)
    );
    assert!(world.requests()[1].messages.last().unwrap().text().contains("files.read"));
}

#[tokio::test(start_paused = true)]
async fn when_all_models_fail_the_offline_model_answers_unless_that_is_forbidden() {
    let fails = || (0..8).map(|_| Err(CallFault::Connection));
    let world = World::new();
    world.script(fails());
    let answer = world.ask(weather_question()).await.unwrap();
    assert_eq!(answer.model, "gantry-offline-writer");
    assert_eq!(answer.fallback.as_deref(), Some("acme:second: Connection"));
    assert_eq!(answer.value, Some(json!({"sky": "clear", "degrees": 20})));
    assert_eq!(answer.tokens.all(), 0);

    let strict = World::with(vec![model("first"), Target::offline()], true, Default::default());
    strict.script(fails());
    let error = strict.ask(weather_question()).await.unwrap_err();
    assert!(matches!(error, AskError::Calls { ref failed, .. } if failed.len() == 4), "{error:?}");
    assert_eq!(strict.notes.all().len(), 1, "the failure is noted");
}

#[tokio::test]
async fn the_offline_model_as_first_choice_is_no_fallback() {
    for strict in [true, false] {
        let world = World::with(vec![Target::offline()], strict, Default::default());
        let answer = world.ask(question("?")).await.unwrap();
        assert_eq!((answer.fallback, answer.calls_made), (None, 1));
    }
}

#[tokio::test]
async fn whoever_answers_in_the_place_of_a_model_that_cannot_be_asked_says_so() {
    let missing = Some(LeftOut { model: "acme:named".into(), why: "key missing: ACME_KEY is not set".into() });
    let chain = OneChain { chain: vec![Target::offline()], missing, ..OneChain::default() };
    let gateway = Gateway::new(Arc::new(chain)).with(Protocol::Offline, Arc::new(Offline));
    let notes = Notes::default();
    let answer = gateway.ask(Asking { record: &notes, ..Asking::new(question("?")) }).await.unwrap();
    assert_eq!(answer.asked, "acme:named");
    assert_eq!(answer.fallback.as_deref(), Some("acme:named: key missing: ACME_KEY is not set"));
    assert_eq!(answer.repairs, [Repair::NextModel(Target::offline().id())]);
    let notes = notes.all();
    assert_eq!((notes[0].asked.as_str(), notes[0].fallback()), ("acme:named", answer.fallback.as_deref()));
    assert_eq!(Counters::of(&notes).fallbacks, 1);
}

#[tokio::test]
async fn a_model_that_is_named_and_that_its_provider_does_not_know_is_an_error() {
    let world = World::new();
    world.script([Err(CallFault::UnknownModel)]);
    let named = Request { model: Some("first".into()), ..question("?") };
    let error = world.ask(named).await.unwrap_err();
    assert!(matches!(&error, AskError::Configuration(said) if said.contains("gantry model list")), "{error:?}");
    world.script([Err(CallFault::UnknownModel), says("here")]);
    let answer = world.ask(question("?")).await.unwrap();
    assert!(answer.fallback.is_some(), "a chain goes on, and says why");
}

#[tokio::test(start_paused = true)]
async fn a_failure_names_what_was_asked_and_each_trouble_says_what_to_do() {
    let mut said = Vec::new();
    for fault in [
        CallFault::RateLimited,
        CallFault::Server,
        CallFault::Timeout,
        CallFault::Connection,
        CallFault::Key,
        CallFault::UnknownModel,
        CallFault::Request,
    ] {
        let mut once = model("first");
        once.limits.retries_max = 0;
        let world = World::with(vec![once], true, Default::default());
        world.script([Err(fault)]);
        said.push(world.ask(question("?")).await.unwrap_err().to_string());
    }
    insta::assert_snapshot!(said.join("\n"), @"
    no model answered `writer`: acme:first: RateLimited; let fewer be asked at once: `concurrent` and `requests_per_minute` of the provider in gantry.toml
    no model answered `writer`: acme:first: Server; try again later, or name another model behind it
    no model answered `writer`: acme:first: Timeout; give it longer: `timeout` and `silence` of the provider in gantry.toml
    no model answered `writer`: acme:first: Connection; see whether it can be reached with `gantry model doctor`
    no model answered `writer`: acme:first: Key; see which key is missing or wrong with `gantry model doctor`
    no model answered `writer`: acme:first: UnknownModel; see which models there are with `gantry model list`
    no model answered `writer`: acme:first: Request; see what was asked with `gantry task show PLAN TASK --calls`, and whether the model can do that
    ");
}

#[tokio::test]
async fn answers_that_never_held_are_what_failed_although_the_offline_model_behind_them_cannot_judge() {
    let puppet = Arc::new(Puppet::default());
    puppet.script([says("no"), says("no"), says(r#"{"sky": "rain"}"#)]);
    let chain = vec![model("first"), Target::offline()];
    let gateway = Gateway::new(Arc::new(OneChain { chain, ..OneChain::default() }))
        .with(Protocol::OpenaiChat, puppet)
        .with(Protocol::Offline, Arc::new(gantry_llm::offline::Offline::new()));
    let prompt = PromptUse { name: "judge".into(), version: "1".into(), locale: "en".into(), variant: None };
    let error = gateway.ask(Asking::new(Request { prompt: Some(prompt), ..weather_question() })).await.unwrap_err();
    assert_eq!(error.class(), FailureClass::Policy, "a person has to look");
    let said = error.to_string();
    assert!(
        said.starts_with("acme:first gave no answer to `judge` that holds: ") && said.contains("degrees"),
        "{said}"
    );
    assert!(said.contains("; the offline model does not judge; see which others can be asked"), "{said}");
    assert!(error.is_settled(), "the same question would get the same answers out of the record");
}

#[tokio::test(start_paused = true)]
async fn the_same_trouble_several_times_in_a_row_is_said_once() {
    let world = World::with(vec![model("first")], true, Default::default());
    world.script([Err(CallFault::Server), Err(CallFault::Server), Err(CallFault::Server), Err(CallFault::Timeout)]);
    let said = world.ask(question("?")).await.unwrap_err().to_string();
    assert!(said.contains(": acme:first: Server (3 times); acme:first: Timeout; "), "{said}");
}

#[tokio::test]
async fn what_a_model_cannot_do_is_not_asked_of_it() {
    let mut toolless = model("first");
    toolless.tools = false;
    let world = World::with(vec![toolless, model("second")], true, Default::default());
    let mut request = question("?");
    request.tools = crate::kit::full_question().tools;
    assert!(world.ask(request).await.unwrap().fallback.unwrap().contains("cannot call tools"));
    assert_eq!(world.called(), ["second"]);
    let small = Target { context: Some(1_000), ..model("first") };
    let world = World::with(vec![small, model("second")], true, Default::default());
    let why = world.ask(question(&"word ".repeat(1_000))).await.unwrap().fallback.unwrap();
    assert!(why.contains("too long for it: about 12") && why.contains("it takes 1000 in all"), "{why}");
    assert_eq!(world.called(), ["second"]);
    world.ask(question("short")).await.unwrap();
    assert_eq!(world.called(), ["second", "first"]);
}

#[tokio::test]
async fn nobody_to_ask_and_a_schema_that_is_none_are_matters_of_configuration() {
    let world = World::new();
    let mut request = question("?");
    request.role = "nobody".into();
    assert_eq!(world.ask(request).await, Err(AskError::Configuration("no model is set for `nobody`".into())));
    let mut request = weather_question();
    request.shape.as_mut().unwrap().schema = json!({"type": "no such type"});
    assert!(matches!(world.ask(request).await, Err(AskError::Configuration(_))));
    let world = World::with(Vec::new(), true, Default::default());
    assert!(matches!(world.ask(question("?")).await, Err(AskError::Configuration(_))));
    assert!(world.called().is_empty());
}
