//! What tests about models share.

use std::sync::Mutex;
use std::time::Duration;

use gantry_llm::{
    CallError, Delta, Limits, Listener, Message, Protocol, Provider, Reply, Request, Secret, Shape, Target, ToolCall,
    ToolSpec, Unheard, Wire,
};
use gantry_testkit::model_server::ModelServer;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A key that must be seen nowhere.
pub const KEY: &str = "sk-live-5f3c9a7be2d14086";

/// Everything that is spoken over the network.
pub const PROTOCOLS: [Protocol; 4] =
    [Protocol::OpenaiResponses, Protocol::OpenaiChat, Protocol::Anthropic, Protocol::Gemini];

/// A model at a server.
pub fn target(server: &ModelServer, protocol: Protocol) -> Target {
    Target {
        provider: "acme".into(),
        protocol,
        base_url: server.base_url(),
        key: Some(Secret::new(KEY)),
        model: "m-1".into(),
        price: None,
        limits: Limits { timeout: Duration::from_mins(1), ..Limits::default() },
        context: None,
        schemas: true,
        tools: true,
        keep: false,
    }
}

/// A short question.
pub fn question(text: &str) -> Request {
    Request { role: "writer".into(), messages: vec![Message::user(text)], ..Request::default() }
}

/// A question with everything in it that a question can have.
pub fn full_question() -> Request {
    let mut request = question("How is the weather there?");
    request.messages = vec![
        Message::system("You are brief."),
        Message::user("Where is the fair?"),
        Message::Assistant {
            text: "I look it up.".into(),
            calls: vec![
                ToolCall { id: "c1".into(), name: "files.read".into(), args: json!({"path": "fair.txt"}) },
                ToolCall { id: "c2".into(), name: "files.read".into(), args: json!({"path": "map.txt"}) },
            ],
        },
        Message::Tool { call: "c1".into(), text: "In Leipzig.".into() },
        Message::Tool { call: "c2".into(), text: "A map.".into() },
        Message::user("How is the weather there?"),
    ];
    request.tools = vec![ToolSpec {
        name: "files.read".into(),
        description: "Reads a file.".into(),
        parameters: json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
            "required": ["path"],
        }),
    }];
    request.shape = Some(weather());
    request.settings.temperature = Some(0.5);
    request.settings.top_p = Some(0.25);
    request.settings.tokens_max = Some(300);
    request.settings.stop = vec!["END".into()];
    request.settings.effort = Some("low".into());
    request.settings.seed = Some(7);
    request
}

/// A shape with an optional property and a bound.
pub fn weather() -> Shape {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "sky": {"type": "string", "enum": ["clear", "rain"]},
            "degrees": {"type": "integer", "minimum": -60},
            "note": {"type": "string"},
        },
        "required": ["sky", "degrees"],
    });
    Shape { name: "weather".into(), schema }
}

/// Asks once, over the network.
pub async fn call(target: &Target, request: &Request) -> Result<Reply, CallError> {
    let wire = Wire::new().unwrap();
    wire.call(target, request, &Unheard, &CancellationToken::new()).await
}

/// Remembers what was heard.
#[derive(Default)]
pub struct Ears(Mutex<Vec<String>>);

impl Ears {
    /// Everything so far, one line each.
    pub fn heard(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Listener for Ears {
    fn hear(&self, delta: Delta) {
        let line = match delta {
            Delta::Text(text) => format!("text {text}"),
            Delta::Reasoning(text) => format!("thought {text}"),
            Delta::Call { name, args } => format!("call {name} {args}"),
        };
        self.0.lock().unwrap().push(line);
    }
    fn again(&self, why: &str) {
        self.0.lock().unwrap().push(format!("again {why}"));
    }
}

/// Fails when the key stands in what a person or a record could see of this.
pub fn scan(what: &(impl std::fmt::Debug + serde::Serialize)) {
    let shown = format!("{what:?} {what:#?} {}", serde_json::to_string(what).unwrap());
    assert!(!shown.contains(KEY), "the key is shown: {shown}");
}

/// One value out of a body.
pub fn at<'a>(body: &'a Value, place: &str) -> &'a Value {
    body.pointer(place).unwrap_or(&Value::Null)
}
