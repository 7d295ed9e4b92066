//! Servers on this machine: found, and offered.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use gantry_llm::config::{Config, LocalServer};

use crate::kit::{World, chain};

fn server(provider: &str, models: &[&str]) -> LocalServer {
    LocalServer {
        provider: provider.to_owned(),
        base_url: "http://127.0.0.1:11434/v1/".to_owned(),
        models: models.iter().map(|&model| model.to_owned()).collect(),
    }
}

#[test]
fn a_server_on_this_machine_stands_in_where_no_key_is_set() {
    let found = || vec![server("ollama", &["nomic-embed-text", "llama3.2:3b"])];
    let config = World::new().config().with_local(found());
    assert_eq!(
        chain(&config, "writer"),
        "ollama:llama3.2:3b > offline:gantry-offline (found at 127.0.0.1:11434, like default)"
    );
    let with_key = World::new().variable("OPENAI_API_KEY", "k").config().with_local(found());
    assert_eq!(with_key.chain("writer", None).unwrap()[0].provider, "openai");
    let chosen = World::new().variable("GANTRY_MODEL_WRITER", "gpt-4o").config().with_local(found());
    assert!(chosen.explain("writer", None).unwrap().is_offline(), "what somebody chose is not replaced");
    let unwanted = World::new().project("local_servers = false\n").config().with_local(found());
    assert!(unwanted.explain("writer", None).unwrap().is_offline());
    let strict = World::new().variable("GANTRY_STRICT", "1").config().with_local(found());
    assert_eq!(chain(&strict, "writer"), "ollama:llama3.2:3b (found at 127.0.0.1:11434, like default)");
}

#[test]
fn a_server_without_a_model_that_talks_stands_in_for_nobody() {
    let config = World::new().config().with_local(vec![server("ollama", &["all-minilm-l6-v2"])]);
    assert!(config.explain("writer", None).unwrap().is_offline());
}

/// A real server on this machine, as a provider of the configuration.
async fn listening(answer: &'static str, status: u16) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let status = axum::http::StatusCode::from_u16(status).unwrap();
    let router = Router::new().route("/v1/models", get(move || async move { (status, answer) }));
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/v1/")
}

/// Only these servers are asked: the usual ports of this machine may have others.
fn only(servers: &[(&str, String)]) -> Arc<Config> {
    let nowhere = "http://127.0.0.1:1/v1/".to_owned();
    let usual = ["ollama", "llama.cpp", "lm-studio", "vllm"].map(|name| (name, nowhere.clone()));
    let others = usual.iter().filter(|(name, _)| servers.iter().all(|(own, _)| own != name));
    let sections = others.chain(servers).map(|(name, base_url)| {
        format!("[providers.\"{name}\"]\nprotocol = \"openai-chat\"\nbase_url = \"{base_url}\"\n")
    });
    let text: String = sections.collect();
    Arc::new(World::new().user(&text).config())
}

#[tokio::test]
async fn servers_that_answer_are_found_with_their_models_and_others_are_not() {
    let list = r#"{"object": "list", "data": [{"id": "llama3.2:3b", "object": "model"}, {"id": "bad\u001bname"}]}"#;
    let config = only(&[
        ("ollama", listening(list, 200).await),
        ("lab", listening("<html>not a list</html>", 200).await),
        ("vllm", listening(list, 404).await),
    ]);
    let found = config.find_local().await;
    let drawn: Vec<String> = found.iter().map(|server| format!("{} {:?}", server.provider, server.models)).collect();
    assert_eq!(drawn, [r#"ollama ["llama3.2:3b"]"#]);
}

#[tokio::test]
async fn nobody_is_asked_when_local_servers_are_unwanted() {
    let world =
        World::new().project("local_servers = false\n[providers.ollama]\nbase_url = \"http://127.0.0.1:1/v1/\"\n");
    assert!(world.config().find_local().await.is_empty());
}
