use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::{Value, json};

use crate::server::{Server, WITHIN};

/// A collector of traces: takes what is posted to it, and hands on each span.
struct Collector {
    url: String,
    spans: Receiver<Value>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, spans) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                // One client keeps its connection for all that it sends.
                while let Some((path, body)) = posted(&mut reader) {
                    assert_eq!(path, "/v1/traces");
                    let body: Value = serde_json::from_slice(&body).unwrap();
                    let service = body.pointer("/resourceSpans/0/resource/attributes/0/value/stringValue");
                    assert_eq!(service, Some(&json!("gantry under test")));
                    for span in body.pointer("/resourceSpans/0/scopeSpans/0/spans").unwrap().as_array().unwrap() {
                        let _ = sender.send(span.clone());
                    }
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
                    reader.get_mut().write_all(answer).unwrap();
                }
            }
        });
        Self { url, spans }
    }

    /// Waits for a span whose name begins like this.
    fn span(&self, name: &str) -> Value {
        loop {
            let span = self.spans.recv_timeout(WITHIN).unwrap_or_else(|_| panic!("there is no span `{name}`"));
            if span["name"].as_str().unwrap().starts_with(name) {
                return span;
            }
        }
    }
}

fn posted(reader: &mut BufReader<std::net::TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, body))
}

fn attribute(span: &Value, key: &str) -> Value {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|one| one["key"] == key).unwrap_or_else(|| panic!("no {key} in {span}"));
    found["value"].as_object().unwrap().values().next().unwrap().clone()
}

#[test]
fn a_plan_is_one_trace_with_its_attempts_and_its_calls_to_models() {
    let (collector, models) = (Collector::start(), ModelServer::start());
    models.always(Turn::json(&json!({"cause": "a timeout"})).usage(100, 20));
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()),
        ("OTEL_SERVICE_NAME", "gantry under test"),
        ("HERE_KEY", "sk-do-not-show-me"),
    ];
    let address = models.base_url();
    let config = format!(
        "[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{address}\"\nkey_env = \"HERE_KEY\"\ntools = false\nretries = 0\n\n[profiles.balanced]\ndefault = \"here:m\"\n"
    );
    let server =
        Server::start_in(&[], &variables, |folder| std::fs::write(folder.join("gantry.toml"), config).unwrap());
    let plan =
        server.create("title: Read a log\ntasks:\n  - {id: explain, model: {instruction: Say what is wrong.}, outputs: {cause: {type: text}}}\n");
    server.until(&plan, "completed");
    let task = collector.span("task explain");
    let call = collector.span("chat m");
    let whole = collector.span("plan Read a log");
    assert_eq!((&task["traceId"], &call["traceId"]), (&whole["traceId"], &whole["traceId"]), "one trace");
    assert_eq!((&task["parentSpanId"], &call["parentSpanId"]), (&whole["spanId"], &task["spanId"]));
    for (key, value) in [
        ("gen_ai.operation.name", json!("chat")),
        ("gen_ai.provider.name", json!("here")),
        ("gen_ai.request.model", json!("m")),
        ("gen_ai.usage.input_tokens", json!("100")),
        ("gen_ai.usage.output_tokens", json!("20")),
        ("gantry.plan", json!(plan)),
    ] {
        assert_eq!(attribute(&call, key), value, "{key}");
    }
    assert!(!call.to_string().contains("timeout"), "no words of a model leave the house: {call}");
}

#[test]
fn a_request_is_a_span_in_the_trace_of_its_caller_and_a_line_in_the_log() {
    let collector = Collector::start();
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()), ("OTEL_SERVICE_NAME", "gantry under test")];
    let mut server = Server::start_in(&["--log=json"], &variables, |_| {});
    let plan = server.create("title: Short\ntasks: [{id: a, compute: {n: '1'}}]\n");
    server.until(&plan, "completed");
    let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
    let traceparent = format!("00-{trace}-{parent}-01");
    let headers = [("Traceparent", traceparent.as_str()), ("X-Request-Id", "mine-1")];
    let answer = server.send("GET", &format!("/api/v1/plans/{plan}/gates"), &headers, "");
    assert_eq!(answer.header("x-request-id"), Some("mine-1"));
    let own = server.send("GET", "/healthz", &[("X-Request-Id", "not a name")], "");
    assert!(own.header("x-request-id").is_some_and(|id| id.len() == 16), "{:?}", own.headers);
    let span = collector.span("GET /api/v1/plans/{plan}/gates");
    assert_eq!((&span["traceId"], &span["parentSpanId"], &span["kind"]), (&json!(trace), &json!(parent), &json!(2)));
    assert_eq!(attribute(&span, "http.response.status_code"), "200");
    assert!(server.stop());
    let log = std::fs::read_to_string(server.folder().join("log")).unwrap();
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let line = lines.iter().find(|line| line["request"] == "mine-1").unwrap_or_else(|| panic!("{log}"));
    assert_eq!((&line["what"], &line["plan"], &line["trace"]), (&json!("request"), &json!(plan), &json!(trace)));
    assert_eq!((&line["status"], &line["who"]), (&json!(200), &json!("olga")));
    let done = lines.iter().find(|line| line["what"] == "plan" && line["said"] == "a: done");
    assert_eq!(done.unwrap_or_else(|| panic!("{log}"))["plan"], json!(plan));
}
