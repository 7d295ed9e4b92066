//! Gemini's `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use super::{Frame, Spoken};

fn finish(spoken: &Spoken<'_>) -> &'static str {
    match spoken.finish() {
        "length" => "MAX_TOKENS",
        "content_filter" => "SAFETY",
        _ => "STOP",
    }
}

fn response(spoken: &Spoken<'_>, parts: &[Value], finish: Option<&str>) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let mut response = json!({"candidates": [candidate], "modelVersion": spoken.model, "responseId": spoken.id});
    if let Some((input, output)) = spoken.usage() {
        let total = input.as_i64().unwrap_or(0).saturating_add(output.as_i64().unwrap_or(0));
        response["usageMetadata"] =
            json!({"promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": total});
    }
    response
}

fn blocked(spoken: &Spoken<'_>) -> Value {
    let feedback = json!({"blockReason": "PROHIBITED_CONTENT"});
    json!({"promptFeedback": feedback, "modelVersion": spoken.model, "responseId": spoken.id})
}

fn calls(spoken: &Spoken<'_>) -> Vec<Value> {
    let args = |args: &str| serde_json::from_str(args).unwrap_or_else(|_| json!(args));
    spoken
        .calls()
        .map(|(id, name, text)| json!({"functionCall": {"id": id, "name": name, "args": args(text)}}))
        .collect()
}

/// The whole answer.
pub fn whole(spoken: &Spoken<'_>) -> Value {
    if spoken.answer.refusal.is_some() {
        return blocked(spoken);
    }
    let mut parts = Vec::new();
    if !spoken.answer.thoughts.is_empty() {
        parts.push(json!({"text": spoken.answer.thoughts, "thought": true}));
    }
    if !spoken.answer.text.is_empty() {
        parts.push(json!({"text": spoken.answer.text}));
    }
    parts.extend(calls(spoken));
    response(spoken, &parts, Some(finish(spoken)))
}

/// The answer in frames.
pub fn frames(spoken: &Spoken<'_>) -> Vec<Frame> {
    if spoken.answer.refusal.is_some() {
        return vec![Frame::data(&blocked(spoken))];
    }
    let thoughts = spoken.thoughts.iter().map(|piece| json!({"text": piece, "thought": true}));
    let text = spoken.text.iter().map(|piece| json!({"text": piece}));
    let parts: Vec<Value> = thoughts.chain(text).chain(calls(spoken)).collect();
    let last = parts.len().saturating_sub(1);
    if parts.is_empty() {
        return vec![Frame::data(&response(spoken, &[], Some(finish(spoken))))];
    }
    parts
        .into_iter()
        .enumerate()
        .map(|(number, part)| Frame::data(&response(spoken, &[part], (number == last).then(|| finish(spoken)))))
        .collect()
}
