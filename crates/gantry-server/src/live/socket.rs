//! The WebSocket with a plan's progress, in the message types that clients of other planners know.

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message as Frame, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::Response;
use gantry_core::id::PlanId;
use serde_json::{Value, json};

use super::channel::Message;
use super::cursor::Cursor;
use super::pump;
use super::sse::{Next, Reading, Resume, unreadable};
use crate::access::random_hex;
use crate::app::App;
use crate::body::{Asked, Named};
use crate::problem::Problem;

/// The largest message that a client may send, and how many in a row without one of ours in between.
const FRAME_BYTES_MAX: usize = 16 << 10;
const FRAMES_MAX: u32 = 1_000;

/// `/ws/plans/{plan}/progress`: log lines, output and reasoning of models, percentages, status.
pub async fn progress(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(resume): Asked<Resume>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let plan = app.id(&plan).await?;
    let upgrade = upgrade.map_err(|error| {
        Problem::new(StatusCode::UPGRADE_REQUIRED, "live::no-websocket", error.body_text())
            .hint("open it as a WebSocket, or read /api/v1/plans/{plan}/events")
    })?;
    let reader = app.live.read(Some(&plan)).await?;
    let cursor = match &resume.after {
        Some(text) => Cursor::parse(text, app.live.epoch()).ok_or_else(|| unreadable(text))?,
        None => reader.channel.last(),
    };
    let reading = Reading { app, plan: Some(plan.clone()), reader, cursor, told: None };
    let upgrade = upgrade.max_message_size(FRAME_BYTES_MAX).max_frame_size(FRAME_BYTES_MAX);
    Ok(upgrade.on_upgrade(move |socket| talk(socket, reading, plan)))
}

async fn talk(mut socket: WebSocket, mut reading: Reading, plan: PlanId) {
    let hello = json!({"type": "connection", "status": "connected", "plan_id": plan, "client_id": random_hex(8)});
    let mut first = vec![hello];
    if let Ok(card) = reading.app.plan(plan.as_str()).await {
        first.push(status(&card.card.state.to_string(), pump::percent(&card), &card.card.title));
    }
    for value in &first {
        if send(&mut socket, value).await.is_err() {
            return;
        }
    }
    let mut heard = 0;
    loop {
        tokio::select! {
            next = reading.next() => {
                heard = 0;
                let sent = match next {
                    Next::Messages(messages) => send_all(&mut socket, &reading, &plan, &messages).await,
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
async fn send_all(
    socket: &mut WebSocket,
    reading: &Reading,
    plan: &PlanId,
    messages: &[Message],
) -> Result<bool, axum::Error> {
    let mut over = false;
    for message in messages {
        let Ok(data) = serde_json::from_slice::<Value>(&message.data) else { continue };
        let mut value = translated(plan, message.kind, &data);
        value["sequence_id"] = json!(reading.id(message));
        over =
            message.kind == "progress" && matches!(data["state"].as_str(), Some("completed" | "failed" | "abandoned"));
        send(socket, &value).await?;
    }
    Ok(over)
}

fn status(state: &str, percent: u32, message: &str) -> Value {
    json!({"type": "status", "status": state, "progress_percentage": percent, "message": message})
}

/// A message in the words of the outside.
fn translated(plan: &PlanId, kind: &str, data: &Value) -> Value {
    match kind {
        "journal" => json!({"type": "log", "message": data["said"], "timestamp": data["at"], "entry": data}),
        "output" => {
            let event = if data["stream"] == "stderr" { "reasoning_delta" } else { "text_delta" };
            json!({
                "type": "llm_stream", "plan_id": plan, "stage": data["task"],
                "interaction_id": format!("{}-{}", data["task"].as_str().unwrap_or_default(), data["attempt"]),
                "event": event, "data": {"delta": data["text"], "stream": data["stream"]},
            })
        }
        "progress" => {
            let percent = data["percent"].as_u64().and_then(|percent| u32::try_from(percent).ok()).unwrap_or(0);
            status(data["state"].as_str().unwrap_or("running"), percent, data["title"].as_str().unwrap_or_default())
        }
        _ => json!({"type": "log", "message": data["text"], "notice": data}),
    }
}
