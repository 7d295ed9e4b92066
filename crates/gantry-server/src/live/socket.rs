//! The WebSocket with a plan's progress, in the message types that clients of other planners know.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message as Frame, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::Response;
use gantry_core::id::PlanId;
use gantry_core::life::PlanState;
use gantry_core::plan::{Action, Task};
use serde_json::{Value, json};

use super::channel::Message;
use super::pump;
use super::sse::{Next, Reading, Resume, begin};
use crate::access::random_hex;
use crate::api::seeds;
use crate::app::App;
use crate::body::{Asked, Named};
use crate::listen::Pass;
use crate::problem::Problem;

/// The largest message that a client may send, and how many in a row without one of ours in between.
const FRAME_BYTES_MAX: usize = 16 << 10;
const FRAMES_MAX: u32 = 1_000;

/// `/ws/plans/{plan}/progress`: log lines, output and reasoning of models, percentages, status.
pub async fn progress(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(resume): Asked<Resume>,
    pass: Pass,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let plan = app.id(&plan).await?;
    let upgrade = upgrade.map_err(|error| {
        Problem::new(StatusCode::UPGRADE_REQUIRED, "live::no-websocket", error.body_text())
            .hint("open it as a WebSocket, or read /api/v1/plans/{plan}/events")
    })?;
    let reader = app.live.read(Some(&plan)).await?;
    let cursor = begin(&reader, resume.after.as_deref())?;
    let reading = Reading::new(app, Some(plan.clone()), reader, cursor, pass);
    let upgrade = upgrade.max_message_size(FRAME_BYTES_MAX).max_frame_size(FRAME_BYTES_MAX);
    Ok(upgrade.on_upgrade(move |socket| talk(socket, reading, plan)))
}

/// Which tasks of a plan ask models.
struct Askers {
    app: App,
    plan: PlanId,
    /// How much was told of what models say: its number within this connection.
    sequence: u64,
    known: BTreeMap<String, bool>,
}

impl Askers {
    async fn has(&mut self, task: &str) -> bool {
        if !self.known.contains_key(task)
            && let Ok(opened) = self.app.engine().open(&self.plan).await
        {
            let asks =
                |task: &Task| matches!(task.action, Some(Action::Model(_) | Action::Agent(_) | Action::Decide(_)));
            let tasks = opened.life.plan().tasks;
            self.known.extend(tasks.iter().map(|task| (task.id.to_string(), asks(task))));
        }
        self.known.get(task).copied().unwrap_or_default()
    }
}

async fn talk(mut socket: WebSocket, mut reading: Reading, plan: PlanId) {
    let mut askers = Askers { app: reading.app.clone(), plan: plan.clone(), sequence: 0, known: BTreeMap::new() };
    let hello = json!({"type": "connection", "status": "connected", "plan_id": plan, "client_id": random_hex(8)});
    let mut first = vec![hello];
    let mut was_over = false;
    if let Ok(card) = reading.app.plan(plan.as_str()).await {
        was_over = card.card.state.is_over();
        first.push(status(card.card.state, pump::percent(&card), &card.card.title));
    }
    for value in &first {
        if send(&mut socket, value).await.is_err() {
            return;
        }
    }
    let mut heard = 0;
    loop {
        // Of a plan that was over before, no message will say so.
        if was_over && reading.is_all_told().await {
            let _ = send(&mut socket, &json!({"type": "stream_end", "plan_id": plan})).await;
            break;
        }
        tokio::select! {
            next = reading.next() => {
                heard = 0;
                let sent = match next {
                    Next::Messages(messages) => send_all(&mut socket, &mut askers, &messages).await,
                    Next::Silence => send(&mut socket, &json!({"type": "heartbeat"})).await.map(|()| false),
                    Next::Over => break,
                };
                match sent {
                    Ok(false) => {}
                    Ok(true) => {
                        let _ = send(&mut socket, &json!({"type": "stream_end", "plan_id": plan})).await;
                        break;
                    }
                    Err(_) => return,
                }
            }
            frame = socket.recv() => match frame {
                Some(Ok(Frame::Close(_)) | Err(_)) | None => return,
                // `heartbeat_response` and `command` need no answer; whoever floods is let go.
                Some(Ok(_)) => {
                    heard += 1;
                    if heard > FRAMES_MAX {
                        break;
                    }
                }
            }
        }
    }
    let _ = socket.send(Frame::Close(None)).await;
}

async fn send(socket: &mut WebSocket, value: &Value) -> Result<(), axum::Error> {
    socket.send(Frame::Text(value.to_string().into())).await
}

/// Sends messages; true when the plan has ended.
async fn send_all(socket: &mut WebSocket, askers: &mut Askers, messages: &[Message]) -> Result<bool, axum::Error> {
    let mut over = false;
    for message in messages {
        let Ok(data) = serde_json::from_slice::<Value>(&message.data) else { continue };
        let task = data["task"].as_str().or(data["about"].as_str()).unwrap_or_default();
        let asks_model = !task.is_empty() && askers.has(task).await;
        let mut values = translated(&askers.plan, message.kind, &data, asks_model);
        for value in values.iter_mut().filter(|value| value["type"] == "llm_stream") {
            askers.sequence += 1;
            value["sequence"] = json!(askers.sequence);
        }
        // Whoever comes back with the number of a message has all that was said of it.
        if let Some(last) = values.last_mut() {
            last["sequence_id"] = json!(message.number());
        }
        if message.kind == "progress" {
            over = matches!(data["state"].as_str(), Some("completed" | "failed" | "abandoned"));
        }
        for value in &values {
            send(socket, value).await?;
        }
    }
    Ok(over)
}

fn status(state: PlanState, percent: u32, message: &str) -> Value {
    json!({"type": "status", "status": seeds::status(state), "progress_percentage": percent, "message": message})
}

/// A message in the words of the outside.
fn translated(plan: &PlanId, kind: &str, data: &Value, asks_model: bool) -> Vec<Value> {
    let stream = |task: &Value, attempt: &Value, event: &str, said: Value| {
        let interaction = format!("{}-{attempt}", task.as_str().unwrap_or_default());
        json!({
            "type": "llm_stream", "plan_id": plan, "stage": task, "interaction_id": interaction, "event": event,
            "data": said,
        })
    };
    match kind {
        "journal" => {
            let entry = &data["entry"];
            let of_model = |event: &str, said: Value| stream(&entry["task"], &entry["attempt"], event, said);
            let mut values = match entry["event"].as_str() {
                Some("attempt_started") if asks_model => vec![of_model("start", json!({}))],
                Some("attempt_succeeded") if asks_model => {
                    vec![
                        of_model("final", json!({"outputs": entry["outputs"]})),
                        of_model("end", json!({"status": "completed"})),
                    ]
                }
                Some("attempt_failed") if asks_model => {
                    vec![of_model("end", json!({"status": "failed", "error": entry["failure"]["message"]}))]
                }
                _ => Vec::new(),
            };
            values.push(json!({"type": "log", "message": data["said"], "timestamp": data["at"], "entry": data}));
            values
        }
        "output" if asks_model => {
            let event = if data["stream"] == "stderr" { "reasoning_delta" } else { "text_delta" };
            vec![stream(
                &data["task"],
                &data["attempt"],
                event,
                json!({"delta": data["text"], "stream": data["stream"]}),
            )]
        }
        "output" => {
            vec![json!({"type": "log", "message": data["text"], "stage": data["task"], "stream": data["stream"]})]
        }
        "progress" => {
            let percent = data["percent"].as_u64().and_then(|percent| u32::try_from(percent).ok()).unwrap_or(0);
            vec![status(
                serde_json::from_value(data["state"].clone()).unwrap_or(PlanState::Running),
                percent,
                data["title"].as_str().unwrap_or_default(),
            )]
        }
        _ => vec![json!({"type": "log", "message": data["text"], "notice": data})],
    }
}
