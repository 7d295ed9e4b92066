//! What genai leaves out of a stream, read from the frames as they come.

use std::sync::Mutex;

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde_json::Value;

use crate::target::Protocol;

use super::used::Used;

/// How much of a frame that is no JSON is shown.
const SHOWN_MAX: usize = 80;

/// Sits at the stream of one answer.
pub struct Tap {
    protocol: Protocol,
    seen: Mutex<Seen>,
}

/// What the frames have said so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The model that answers.
    pub model: Option<String>,
    /// What the provider calls the answer.
    pub id: Option<String>,
    /// Why the model would not answer, in its words.
    pub refusal: String,
    /// Why it stopped, in the words of the provider.
    pub why: Option<String>,
    /// The provider said that this was all.
    pub done: bool,
    /// What went wrong, in the words of the provider.
    pub trouble: Option<Value>,
    /// What was used.
    pub usage: Used,
    garbled: Option<String>,
}

impl Tap {
    /// Listens to a protocol.
    pub fn new(protocol: Protocol) -> Self {
        Self { protocol, seen: Mutex::default() }
    }

    /// What was seen so far.
    pub fn seen(&self) -> Seen {
        self.seen.lock().map(|seen| seen.clone()).unwrap_or_default()
    }

    /// Tells whether the provider has marked the end of the answer.
    pub fn ended(&self) -> bool {
        self.seen.lock().is_ok_and(|seen| seen.ended())
    }

    /// The beginning of a frame that is no JSON, if there was one. genai passes over such frames at Responses, and
    /// the answer would lack a piece.
    pub fn garbled(&self) -> Option<String> {
        self.seen.lock().ok()?.garbled.clone()
    }
}

impl ChatFrameSink for Tap {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let Ok(mut seen) = self.seen.lock() else { return };
        if frame.data.trim() == "[DONE]" {
            seen.done = true;
            return;
        }
        let Some(data) = frame.json() else {
            seen.garbled.get_or_insert_with(|| frame.data.chars().take(SHOWN_MAX).collect());
            return;
        };
        seen.usage.hear(self.protocol, &data);
        match self.protocol {
            Protocol::OpenaiChat => seen.chat(&data),
            Protocol::OpenaiResponses => seen.responses(&data),
            Protocol::Anthropic => seen.anthropic(&data),
            Protocol::Gemini => seen.gemini(&data),
            Protocol::Offline => {}
        }
    }
}

impl Seen {
    /// Some say that an answer ended, and mean that it broke.
    fn ended(&self) -> bool {
        self.trouble.is_none() && (self.done || self.why.is_some())
    }

    fn chat(&mut self, data: &Value) {
        keep(&mut self.model, data.get("model"));
        keep(&mut self.id, data.get("id"));
        if let Some(refusal) = data.pointer("/choices/0/delta/refusal").and_then(Value::as_str) {
            self.refusal += refusal;
        }
        keep(&mut self.why, data.pointer("/choices/0/finish_reason"));
        self.trouble(data.get("error"));
    }

    fn responses(&mut self, data: &Value) {
        keep(&mut self.model, data.pointer("/response/model"));
        keep(&mut self.id, data.pointer("/response/id"));
        match data.get("type").and_then(Value::as_str).unwrap_or_default() {
            "response.refusal.delta" => {
                self.refusal += data.get("delta").and_then(Value::as_str).unwrap_or_default();
            }
            "response.completed" => self.why = Some("completed".into()),
            "response.incomplete" => {
                let reason = data.pointer("/response/incomplete_details/reason").and_then(Value::as_str);
                self.why = Some(reason.unwrap_or("incomplete").to_owned());
            }
            "response.failed" => self.trouble(data.pointer("/response/error")),
            "error" => self.trouble(Some(data.get("error").unwrap_or(data))),
            _ => {}
        }
    }

    fn anthropic(&mut self, data: &Value) {
        keep(&mut self.model, data.pointer("/message/model"));
        keep(&mut self.id, data.pointer("/message/id"));
        keep(&mut self.why, data.pointer("/delta/stop_reason"));
        self.done |= data.get("type").and_then(Value::as_str) == Some("message_stop");
        self.trouble(data.get("error"));
    }

    fn gemini(&mut self, data: &Value) {
        keep(&mut self.model, data.get("modelVersion"));
        keep(&mut self.id, data.get("responseId"));
        keep(&mut self.why, data.pointer("/candidates/0/finishReason"));
        if let Some(reason) = data.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            self.refusal = format!("the question was blocked: {reason}");
            self.why = Some(reason.to_owned());
        }
        self.trouble(data.get("error"));
    }

    fn trouble(&mut self, error: Option<&Value>) {
        if let Some(error) = error.filter(|error| !error.is_null()) {
            self.trouble = Some(error.clone());
        }
    }
}

fn keep(place: &mut Option<String>, value: Option<&Value>) {
    if let Some(text) = value.and_then(Value::as_str).filter(|text| !text.is_empty()) {
        *place = Some(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_end_that_comes_with_trouble_is_no_end() {
        let mut seen = Seen::default();
        seen.chat(&json!({"choices": [{"delta": {"content": "half"}, "finish_reason": null}]}));
        assert!(!seen.ended());
        let end = json!({"choices": [{"delta": {}, "finish_reason": "error"}]});
        let mut broken = end.clone();
        broken["error"] = json!({"message": "the provider behind this one broke", "code": 502});
        let mut well = seen.clone();
        well.chat(&end);
        assert!(well.ended());
        seen.chat(&broken);
        assert!(!seen.ended());
    }
}
