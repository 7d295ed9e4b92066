//! Puts the pieces of a stream together.

use std::collections::BTreeMap;

use genai::chat::StreamEnd;
use serde_json::Value;

use crate::answer::{Finish, Reply, ToolCall};
use crate::provider::{Delta, Listener};
use crate::target::Target;

use super::names::Names;
use super::tap::{Seen, Tap};
use super::thoughts::{Part, Thoughts};

/// How much may come for one answer. A model writes some hundred kilobytes at most; what sends more never means to end.
pub const BYTES_MAX: usize = 8 << 20;

/// Hears the pieces, passes them on and keeps them.
pub struct Reader<'a> {
    listener: &'a dyn Listener,
    names: &'a Names,
    text: String,
    reasoning: String,
    /// Parts words from the thoughts that some servers leave among them.
    thoughts: Thoughts,
    /// The calls so far, by id, in the order in which they began.
    calls: Vec<genai::chat::ToolCall>,
    /// How much of each call's arguments was passed on.
    heard: BTreeMap<String, usize>,
    /// How many bytes have come: words, thoughts and arguments.
    bytes: usize,
}

impl<'a> Reader<'a> {
    /// Begins an answer.
    pub fn new(listener: &'a dyn Listener, names: &'a Names) -> Self {
        Self {
            listener,
            names,
            text: String::new(),
            reasoning: String::new(),
            thoughts: Thoughts::default(),
            calls: Vec::new(),
            heard: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// More has come than any answer may have.
    pub fn is_too_long(&self) -> bool {
        self.bytes > BYTES_MAX
    }

    /// Words, or thoughts between tags before them.
    pub fn text(&mut self, piece: String) {
        self.bytes += piece.len();
        let parts = self.thoughts.read(piece);
        self.hear(parts);
    }

    fn hear(&mut self, parts: Vec<Part>) {
        for part in parts {
            match part {
                Part::Words(piece) => {
                    self.text += &piece;
                    self.listener.hear(Delta::Text(piece));
                }
                Part::Thoughts(piece) => {
                    self.reasoning += &piece;
                    self.listener.hear(Delta::Reasoning(piece));
                }
            }
        }
    }

    /// Thoughts.
    pub fn thought(&mut self, piece: String) {
        self.bytes += piece.len();
        self.reasoning += &piece;
        self.listener.hear(Delta::Reasoning(piece));
    }

    /// A call of a tool as far as it has come: genai repeats everything with every piece.
    pub fn call(&mut self, so_far: genai::chat::ToolCall) {
        let args = arguments(&so_far.fn_arguments);
        let heard = self.heard.entry(so_far.call_id.clone()).or_default();
        let piece = args.get(*heard..).unwrap_or_default().to_owned();
        *heard = args.len();
        self.bytes += piece.len();
        let name = self.names.inside(&so_far.fn_name).to_owned();
        match self.calls.iter_mut().find(|call| call.call_id == so_far.call_id) {
            Some(call) => *call = so_far,
            None => self.calls.push(so_far),
        }
        self.listener.hear(Delta::Call { name, args: piece });
    }

    /// The whole answer.
    pub fn reply(mut self, end: Option<StreamEnd>, tap: &Tap, target: &Target) -> Reply {
        let rest = self.thoughts.finish();
        self.hear(rest);
        let seen = tap.seen();
        let captured = end.and_then(StreamEnd::captured_into_tool_calls).unwrap_or_default();
        let calls = if captured.is_empty() { std::mem::take(&mut self.calls) } else { captured };
        let calls = self.tool_calls(calls);
        let finish = finish(&seen, !calls.is_empty());
        Reply {
            text: if self.text.is_empty() { seen.refusal } else { self.text },
            reasoning: self.reasoning,
            calls,
            tokens: seen.usage.tokens(),
            finish,
            id: seen.id,
            model: seen.model.unwrap_or_else(|| target.model.clone()),
        }
    }

    fn tool_calls(&self, calls: Vec<genai::chat::ToolCall>) -> Vec<ToolCall> {
        let mut whole: Vec<ToolCall> = Vec::new();
        for call in calls {
            // genai fills a gap in the numbers of calls with copies of the next one.
            if whole.iter().any(|other| other.id == call.call_id) {
                continue;
            }
            let args = match call.fn_arguments {
                // A tool without arguments is called with nothing at all by some models.
                Value::Null => Value::Object(serde_json::Map::new()),
                Value::String(text) if text.trim().is_empty() => Value::Object(serde_json::Map::new()),
                Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
                other => other,
            };
            whole.push(ToolCall { id: call.call_id, name: self.names.inside(&call.fn_name).to_owned(), args });
        }
        whole
    }
}

fn arguments(args: &Value) -> String {
    match args {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        whole => whole.to_string(),
    }
}

fn finish(seen: &Seen, calls: bool) -> Finish {
    let why = seen.why.as_deref().unwrap_or("stop");
    match why {
        "length"
        | "max_tokens"
        | "MAX_TOKENS"
        | "max_output_tokens"
        | "model_context_window_exceeded"
        | "model_length"
        | "incomplete" => Finish::Length,
        "content_filter" | "refusal" | "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "LANGUAGE" | "OTHER" => Finish::Refused,
        _ if !seen.refusal.is_empty() => Finish::Refused,
        _ if calls => Finish::Tools,
        "stop" | "STOP" | "end_turn" | "stop_sequence" | "completed" | "eos" => Finish::Done,
        // It says that it calls tools, and calls none.
        other => Finish::Other(other.to_owned()),
    }
}
