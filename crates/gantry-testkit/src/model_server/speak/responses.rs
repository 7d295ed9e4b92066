//! `OpenAI`'s Responses.

use serde_json::{Value, json};

use super::{Frame, Spoken, halves};

fn output(spoken: &Spoken<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if !spoken.answer.thoughts.is_empty() {
        let summary = json!([{"type": "summary_text", "text": spoken.answer.thoughts}]);
        items.push(json!({"id": "rs_1", "type": "reasoning", "summary": summary}));
    }
    let content = match &spoken.answer.refusal {
        Some(refusal) => Some(json!({"type": "refusal", "refusal": refusal})),
        None if spoken.answer.text.is_empty() && !spoken.answer.calls.is_empty() => None,
        None => Some(json!({"type": "output_text", "text": spoken.answer.text, "annotations": []})),
    };
    if let Some(content) = content {
        items.push(
            json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [content]}),
        );
    }
    items.extend(spoken.calls().map(|(id, name, args)| {
        json!({"id": format!("fc_{id}"), "type": "function_call", "call_id": id, "name": name, "arguments": args, "status": "completed"})
    }));
    items
}

fn response(spoken: &Spoken<'_>, status: &str) -> Value {
    let ended = status != "in_progress";
    let reason = match spoken.finish() {
        "length" => Some("max_output_tokens"),
        "content_filter" => Some("content_filter"),
        _ => None,
    };
    let mut response = json!({
        "id": spoken.id,
        "object": "response",
        "created_at": 0,
        "status": status,
        "model": spoken.model,
        "error": null,
        "incomplete_details": reason.filter(|_| ended).map(|reason| json!({"reason": reason})),
        "output": if ended { output(spoken) } else { Vec::new() },
    });
    if let Some((input, written)) = spoken.usage().filter(|_| ended) {
        let total = input.as_i64().unwrap_or(0).saturating_add(written.as_i64().unwrap_or(0));
        response["usage"] = json!({"input_tokens": input, "output_tokens": written, "total_tokens": total});
    }
    response
}

fn status(spoken: &Spoken<'_>) -> &'static str {
    if matches!(spoken.finish(), "length" | "content_filter") { "incomplete" } else { "completed" }
}

/// The whole answer.
pub fn whole(spoken: &Spoken<'_>) -> Value {
    response(spoken, status(spoken))
}

/// The answer in frames.
pub fn frames(spoken: &Spoken<'_>) -> Vec<Frame> {
    let mut frames = vec![
        Frame::event("response.created", json!({"response": response(spoken, "in_progress")})),
        Frame::event("response.in_progress", json!({"response": response(spoken, "in_progress")})),
    ];
    for (number, item) in output(spoken).into_iter().enumerate() {
        frames.push(Frame::event("response.output_item.added", json!({"output_index": number, "item": begun(&item)})));
        match item["type"].as_str() {
            Some("reasoning") => frames.extend(spoken.thoughts.iter().map(|piece| {
                let place = json!({"output_index": number, "summary_index": 0, "delta": piece});
                Frame::event("response.reasoning_summary_text.delta", place)
            })),
            Some("message") => match &spoken.answer.refusal {
                Some(words) => frames.push(Frame::event(
                    "response.refusal.delta",
                    json!({"output_index": number, "content_index": 0, "delta": words}),
                )),
                None => frames.extend(spoken.text.iter().map(|piece| {
                    let place = json!({"output_index": number, "content_index": 0, "delta": piece});
                    Frame::event("response.output_text.delta", place)
                })),
            },
            _ => frames.extend(halves(item["arguments"].as_str().unwrap_or_default()).into_iter().map(|half| {
                Frame::event("response.function_call_arguments.delta", json!({"output_index": number, "delta": half}))
            })),
        }
        frames.push(Frame::event("response.output_item.done", json!({"output_index": number, "item": item})));
    }
    let status = status(spoken);
    frames.push(Frame::event(&format!("response.{status}"), json!({"response": response(spoken, status)})));
    for (number, frame) in frames.iter_mut().enumerate() {
        let mut data: Value = serde_json::from_str(&frame.data).unwrap_or_default();
        data["sequence_number"] = json!(number);
        frame.data = data.to_string();
    }
    frames
}

/// An item at its beginning: nothing is in it yet.
fn begun(item: &Value) -> Value {
    let mut item = item.clone();
    for (part, empty) in [("content", json!([])), ("summary", json!([])), ("arguments", json!(""))] {
        if item.get(part).is_some() {
            item[part] = empty;
        }
    }
    item
}
