//! Chat completions.

use serde_json::{Value, json};

use super::{Frame, Spoken, halves};

fn usage(spoken: &Spoken<'_>) -> Option<Value> {
    spoken.usage().map(|(input, output)| {
        let total = input.as_i64().unwrap_or(0).saturating_add(output.as_i64().unwrap_or(0));
        json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": total})
    })
}

/// The whole answer.
pub fn whole(spoken: &Spoken<'_>) -> Value {
    let calls: Vec<Value> = spoken
        .calls()
        .map(|(id, name, args)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": args}}))
        .collect();
    let mut message = json!({"role": "assistant", "content": spoken.answer.text, "refusal": spoken.answer.refusal});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json!({
        "id": spoken.id,
        "object": "chat.completion",
        "created": 0,
        "model": spoken.model,
        "choices": [{"index": 0, "message": message, "finish_reason": spoken.finish()}],
        "usage": usage(spoken),
    })
}

/// The answer in frames.
pub fn frames(spoken: &Spoken<'_>) -> Vec<Frame> {
    let chunk = |delta: Value, finish: Option<&str>| {
        Frame::data(&json!({
            "id": spoken.id,
            "object": "chat.completion.chunk",
            "created": 0,
            "model": spoken.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }))
    };
    let mut frames = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
    frames.extend(spoken.thoughts.iter().map(|piece| chunk(json!({"reasoning_content": piece}), None)));
    frames.extend(spoken.text.iter().map(|piece| chunk(json!({"content": piece}), None)));
    frames.extend(spoken.answer.refusal.iter().map(|words| chunk(json!({"refusal": words}), None)));
    for (number, (id, name, args)) in spoken.calls().enumerate() {
        let begun = json!({"index": number, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
        frames.push(chunk(json!({"tool_calls": [begun]}), None));
        for half in halves(args) {
            let more = json!({"index": number, "function": {"arguments": half}});
            frames.push(chunk(json!({"tool_calls": [more]}), None));
        }
    }
    frames.push(chunk(json!({}), Some(spoken.finish())));
    if let Some(usage) = usage(spoken) {
        let object = "chat.completion.chunk";
        frames.push(Frame::data(
            &json!({"id": spoken.id, "object": object, "created": 0, "model": spoken.model, "choices": [], "usage": usage}),
        ));
    }
    frames.push(Frame::done());
    frames
}
