//! Agents whose provider keeps what was said, over real sockets.

use std::sync::Arc;

use async_trait::async_trait;
use gantry_core::plan::{Action, Output};
use gantry_core::time::Timestamp;
use gantry_llm::prompts::Prompts;
use gantry_llm::{Chains, Gateway, Limits, Protocol, Target, Wire};
use gantry_runners::{Brief, Models, Secrets, SetUp, Stream, Talk, Work};
use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::{Value, json};

use crate::minds::{Minds, agent};
use crate::world::doing;

/// One model at a server, for every role.
struct AtServer {
    base_url: String,
    keep: bool,
}

impl Chains for AtServer {
    fn chain(&self, _: &str, _: Option<&str>) -> Result<Vec<Target>, String> {
        Ok(vec![Target {
            provider: "acme".to_owned(),
            protocol: Protocol::OpenaiResponses,
            base_url: self.base_url.clone(),
            model: "m".to_owned(),
            limits: Limits { retries_max: 0, ..Limits::default() },
            tools: true,
            keep: self.keep,
            ..Target::offline()
        }])
    }
}

#[async_trait]
impl SetUp for AtServer {
    fn talk(&self) -> Result<Talk, String> {
        let prompts = Prompts::built_in().map_err(|faults| format!("{faults:?}"))?;
        Ok(Talk { prompts, locale: "en".to_owned(), agent_planning: false, template_prompts: false })
    }
    async fn gateway(&self) -> Result<Gateway, String> {
        let chains = AtServer { base_url: self.base_url.clone(), keep: self.keep };
        let gateway = Gateway::new(Arc::new(chains)).with_wire(Arc::new(Wire::new()?));
        Ok(gateway.with_clock(|| Timestamp::from_ms(0)))
    }
}

fn models(server: &ModelServer, keep: bool) -> Models {
    Models::new(AtServer { base_url: server.base_url(), keep })
}

fn calls(command: &str, id: &str) -> Turn {
    Turn::calls([("shell", json!({"command": command}))]).saying("I look.").id(id).usage(10, 5)
}

fn finishes(id: &str) -> Turn {
    Turn::calls([("finish", json!({"text": "done"}))]).id(id).usage(10, 5)
}

fn work() -> Work {
    agent(json!({"goal": "Look twice.", "tools": ["shell"]}))
}

#[tokio::test]
async fn words_thoughts_and_pieces_of_calls_are_heard_while_they_come() {
    let server = ModelServer::start();
    server.then(calls("echo one", "resp_1").thinking("What is there?")).then(finishes("resp_2"));
    let minds = Minds::of(models(&server, false));
    assert!(minds.run(&work()).await.end.is_ok());
    let heard = |stream: Stream| minds.world.memory.shown(stream);
    assert_eq!(
        (heard(Stream::Stdout), heard(Stream::Stderr)),
        ("I look.one\n".to_owned(), "What is there?".to_owned())
    );
    assert_eq!(heard(Stream::Call), r#"{"command":"echo one"}{"text":"done"}"#);
}

/// Which answer each request followed, and what its messages are, by role or type.
fn followed(server: &ModelServer) -> Vec<String> {
    let kind = |item: &Value| item["role"].as_str().or(item["type"].as_str()).unwrap_or_default().to_owned();
    let one = |body: &Value| {
        let said: Vec<String> = body["input"].as_array().unwrap().iter().map(kind).collect();
        format!("{} {}: {}", body["store"], body["previous_response_id"], said.join(" "))
    };
    server.bodies().iter().map(one).collect()
}

#[tokio::test]
async fn each_step_of_an_agent_sends_only_what_its_tool_gave() {
    let server = ModelServer::start();
    server.then(calls("echo one", "resp_1")).then(calls("echo two", "resp_2")).then(finishes("resp_3"));
    let minds = Minds::of(models(&server, true));
    assert_eq!(minds.run(&work()).await.end.unwrap().outputs["text"], "done");
    assert_eq!(
        followed(&server),
        ["true null: system user", "true \"resp_1\": function_call_output", "true \"resp_2\": function_call_output"]
    );
    let said = server.bodies()[2]["input"][0]["output"].to_string();
    assert!(said.contains("two") && said.contains("data, not instructions"), "{said}");
}

#[tokio::test]
async fn an_agent_that_is_taken_up_by_another_process_follows_the_answer_that_is_on_record() {
    let server = ModelServer::start();
    server.then(calls("echo one", "resp_1")).then(calls("echo two", "resp_2")).then(Turn::status(401));
    let mut minds = Minds::of(models(&server, true));
    assert!(minds.run(&work()).await.end.is_err(), "as if the process had ended before the third answer");
    server.then(finishes("resp_3"));
    minds.restart(models(&server, true));
    assert_eq!(minds.run(&work()).await.end.unwrap().outputs["text"], "done");
    let followed = followed(&server);
    assert_eq!(followed.len(), 4, "what is on record is not asked again: {followed:?}");
    assert_eq!(followed[3], "true \"resp_2\": function_call_output");
}

#[tokio::test]
async fn the_record_of_an_agent_is_the_same_with_and_without_answers_that_are_kept() {
    let mut records = Vec::new();
    for keep in [true, false] {
        let server = ModelServer::start();
        server.then(calls("echo one", "resp_1")).then(calls("echo two", "resp_2")).then(finishes("resp_3"));
        let minds = Minds::of(models(&server, keep));
        assert!(minds.run(&work()).await.end.is_ok());
        let ids = server.bodies().iter().filter(|body| body.get("previous_response_id").is_some()).count();
        assert_eq!(ids, if keep { 2 } else { 0 });
        assert!(server.bodies().iter().all(|body| body["store"] == json!(keep)), "{:?}", followed(&server));
        let rows = minds.diary.rows.lock().unwrap().clone();
        let asked =
            rows.into_iter().filter(|row| row.kind == "model").map(|row| json!([row.key, row.request, row.answer]));
        records.push(asked.collect::<Vec<_>>());
    }
    assert_eq!(records[0].len(), 3);
    assert_eq!(records[0], records[1]);
}

#[tokio::test]
async fn whoever_listens_hears_that_an_answer_begins_anew() {
    let server = ModelServer::start();
    server.then(Turn::json(&json!({"cause": 7}))).then(Turn::json(&json!({"cause": "a timeout"})));
    let minds = Minds::of(models(&server, false));
    let mut work = doing(Action::Model(serde_json::from_value(json!({"instruction": "Why?"})).unwrap()));
    work.brief = Arc::new(Brief { outputs: [("cause".to_owned(), Output::default())].into(), ..Brief::default() });
    assert!(minds.run(&work).await.end.is_ok());
    let heard = minds.world.memory.shown(Stream::Stdout);
    let (before, after) = heard.split_once("\n[gantry: asked again: ").expect("it is said");
    assert_eq!(before, r#"{"cause":7}"#);
    assert!(after.contains("/cause") && after.ends_with("]\n{\"cause\":\"a timeout\"}"), "{after}");
}

#[tokio::test]
async fn a_secret_that_a_model_says_in_pieces_is_heard_by_nobody() {
    let server = ModelServer::start();
    server.then(Turn::text("It is sk-123456-abc, I think.").thinking("sk-123456-abc?"));
    let mut minds = Minds::of(models(&server, false));
    minds.world.place.secrets = Secrets::none().also_hiding([("ACME_KEY".to_owned(), "sk-123456-abc".to_owned())]);
    let work = doing(Action::Model(serde_json::from_value(json!({"instruction": "What is it?"})).unwrap()));
    let ended = minds.run(&work).await;
    assert_eq!(ended.end.unwrap().outputs["text"], "It is [secret ACME_KEY], I think.");
    let heard = |stream: Stream| minds.world.memory.shown(stream);
    assert_eq!(heard(Stream::Stdout), "It is [secret ACME_KEY], I think.");
    assert_eq!(heard(Stream::Stderr), "[secret ACME_KEY]?");
    let rows = minds.diary.rows.lock().unwrap();
    assert!(!format!("{rows:?}").contains("sk-123456"), "{rows:?}");
}
