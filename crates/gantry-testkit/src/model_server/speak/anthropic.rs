//! Anthropic's messages.

use serde_json::{Value, json};

use super::{Frame, Spoken, halves};

fn finish(spoken: &Spoken<'_>) -> &'static str {
    match spoken.finish() {
        _ if spoken.answer.refusal.is_some() => "refusal",
        "length" => "max_tokens",
        "tool_calls" => "tool_use",
        "content_filter" => "refusal",
        _ => "end_turn",
    }
}

fn input(args: &str) -> Value {
    serde_json::from_str(args).unwrap_or_else(|_| json!(args))
}

/// The blocks of the answer: each with its pieces.
fn blocks(spoken: &Spoken<'_>) -> Vec<(Value, Vec<Value>)> {
    let mut blocks = Vec::new();
    if !spoken.thoughts.is_empty() {
        let mut pieces: Vec<Value> =
            spoken.thoughts.iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece})).collect();
        pieces.push(json!({"type": "signature_delta", "signature": "c2lnbmF0dXJl"}));
        blocks.push((json!({"type": "thinking", "thinking": "", "signature": ""}), pieces));
    }
    let refusal = spoken.answer.refusal.iter().cloned();
    let text: Vec<Value> =
        spoken.text.iter().cloned().chain(refusal).map(|piece| json!({"type": "text_delta", "text": piece})).collect();
    if !text.is_empty() {
        blocks.push((json!({"type": "text", "text": ""}), text));
    }
    for (id, name, args) in spoken.calls() {
        let pieces = halves(args).into_iter().map(|half| json!({"type": "input_json_delta", "partial_json": half}));
        blocks.push((json!({"type": "tool_use", "id": id, "name": name, "input": {}}), pieces.collect()));
    }
    blocks
}

fn message(spoken: &Spoken<'_>, content: &[Value], stop_reason: Option<&str>) -> Value {
    json!({
        "id": spoken.id,
        "type": "message",
        "role": "assistant",
        "model": spoken.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
    })
}

/// The whole answer.
pub fn whole(spoken: &Spoken<'_>) -> Value {
    let mut content = Vec::new();
    if !spoken.answer.thoughts.is_empty() {
        content.push(json!({"type": "thinking", "thinking": spoken.answer.thoughts, "signature": "c2lnbmF0dXJl"}));
    }
    if !spoken.answer.text.is_empty() {
        content.push(json!({"type": "text", "text": spoken.answer.text}));
    }
    content.extend(
        spoken
            .calls()
            .map(|(id, name, args)| json!({"type": "tool_use", "id": id, "name": name, "input": input(args)})),
    );
    let mut message = message(spoken, &content, Some(finish(spoken)));
    if let Some((input, output)) = spoken.usage() {
        message["usage"] = json!({"input_tokens": input, "output_tokens": output});
    }
    message
}

/// The answer in frames.
pub fn frames(spoken: &Spoken<'_>) -> Vec<Frame> {
    let mut begun = message(spoken, &[], None);
    if let Some((input, _)) = spoken.usage() {
        // What is written so far; the last frame says what it came to.
        begun["usage"] = json!({"input_tokens": input, "output_tokens": 1});
    }
    let mut frames = vec![Frame::event("message_start", json!({"message": begun})), Frame::event("ping", json!({}))];
    for (number, (block, pieces)) in blocks(spoken).into_iter().enumerate() {
        frames.push(Frame::event("content_block_start", json!({"index": number, "content_block": block})));
        frames.extend(
            pieces
                .into_iter()
                .map(|piece| Frame::event("content_block_delta", json!({"index": number, "delta": piece}))),
        );
        frames.push(Frame::event("content_block_stop", json!({"index": number})));
    }
    let mut end = json!({"delta": {"stop_reason": finish(spoken), "stop_sequence": null}});
    if let Some((_, output)) = spoken.usage() {
        end["usage"] = json!({"output_tokens": output});
    }
    frames.push(Frame::event("message_delta", end));
    frames.push(Frame::event("message_stop", json!({})));
    frames
}
