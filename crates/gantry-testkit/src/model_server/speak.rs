//! The same answer in the words of each protocol.

mod anthropic; // in reading order
mod chat;
mod gemini;
mod responses;

use std::fmt;

use serde_json::{Value, json};

use super::Heard;
use super::turn::{Answer, Pieces, UsageReport};

/// A protocol, as a request speaks it.
#[derive(Clone, Debug)]
pub struct Dialect {
    protocol: Protocol,
    /// The model that was asked.
    model: String,
    /// Whether the answer is streamed.
    pub streams: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Chat,
    Responses,
    Anthropic,
    Gemini,
    Models,
}

impl Dialect {
    /// Finds out by the path.
    pub fn of(heard: &Heard) -> Option<Self> {
        let path = heard.path.split('?').next().unwrap_or_default();
        let model = heard.body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
        let streams = heard.body.get("stream").and_then(Value::as_bool).unwrap_or(false);
        let plain = |protocol| Some(Self { protocol, model: model.clone(), streams });
        if path.ends_with("/chat/completions") {
            return plain(Protocol::Chat);
        } else if path.ends_with("/responses") {
            return plain(Protocol::Responses);
        } else if path.ends_with("/messages") {
            return plain(Protocol::Anthropic);
        } else if path.ends_with("/models") {
            return Some(Self { protocol: Protocol::Models, model, streams: false });
        }
        let (_, named) = path.rsplit_once("/models/")?;
        let (model, verb) = named.rsplit_once(':')?;
        let streams = match verb {
            "generateContent" => false,
            "streamGenerateContent" => true,
            _ => return None,
        };
        Some(Self { protocol: Protocol::Gemini, model: model.to_owned(), streams })
    }

    /// The answer in one piece.
    pub fn whole(&self, answer: &Answer) -> Value {
        let spoken = self.spoken(answer, Pieces::Whole);
        match self.protocol {
            Protocol::Chat => chat::whole(&spoken),
            Protocol::Responses => responses::whole(&spoken),
            Protocol::Anthropic => anthropic::whole(&spoken),
            Protocol::Gemini => gemini::whole(&spoken),
            Protocol::Models => json!({"object": "list", "data": [{"id": spoken.answer.text, "object": "model"}]}),
        }
    }

    /// The answer in frames.
    pub fn frames(&self, answer: &Answer, pieces: Pieces) -> Vec<Frame> {
        let spoken = self.spoken(answer, pieces);
        match self.protocol {
            Protocol::Chat => chat::frames(&spoken),
            Protocol::Responses => responses::frames(&spoken),
            Protocol::Anthropic => anthropic::frames(&spoken),
            Protocol::Gemini => gemini::frames(&spoken),
            Protocol::Models => Vec::new(),
        }
    }

    fn spoken<'a>(&'a self, answer: &'a Answer, pieces: Pieces) -> Spoken<'a> {
        Spoken {
            answer,
            model: answer.model.as_deref().unwrap_or(&self.model),
            id: answer.id.as_deref().unwrap_or("answer-1"),
            text: cut(&answer.text, pieces),
            thoughts: cut(&answer.thoughts, pieces),
        }
    }
}

/// An answer that is ready to be put into frames.
struct Spoken<'a> {
    answer: &'a Answer,
    model: &'a str,
    id: &'a str,
    text: Vec<String>,
    thoughts: Vec<String>,
}

impl Spoken<'_> {
    /// Tokens in and out, where they are reported.
    fn usage(&self) -> Option<(Value, Value)> {
        match self.answer.usage {
            UsageReport::Usual => Some((json!(10), json!(self.text.len().max(1)))),
            UsageReport::Of(input, output) => Some((json!(input), json!(output))),
            UsageReport::None => None,
            UsageReport::Nonsense => Some((json!("many"), json!("more"))),
        }
    }

    /// Why it stopped, in the words of chat completions.
    fn finish(&self) -> &'static str {
        let usual = if self.answer.calls.is_empty() { "stop" } else { "tool_calls" };
        self.answer.finish.unwrap_or(usual)
    }

    /// The tools that are called: id, name, arguments.
    fn calls(&self) -> impl Iterator<Item = (String, &str, &str)> {
        self.answer
            .calls
            .iter()
            .enumerate()
            .map(|(number, (name, args))| (format!("call_{}", number + 1), name.as_str(), args.as_str()))
    }
}

/// Cuts a text behind its blanks.
fn cut(text: &str, pieces: Pieces) -> Vec<String> {
    match pieces {
        _ if text.is_empty() => Vec::new(),
        Pieces::Whole => vec![text.to_owned()],
        Pieces::Words => text.split_inclusive(' ').map(str::to_owned).collect(),
    }
}

/// Cuts arguments of tools into two halves, so that somebody has to put them together.
fn halves(args: &str) -> Vec<&str> {
    let middle = (0..=args.len() / 2).rev().find(|place| args.is_char_boundary(*place)).unwrap_or(0);
    let (first, second) = args.split_at(middle);
    [first, second].into_iter().filter(|half| !half.is_empty()).collect()
}

/// One event of a stream.
#[derive(Clone, Debug)]
pub struct Frame {
    event: Option<String>,
    data: String,
}

impl Frame {
    fn data(data: &Value) -> Self {
        Self { event: None, data: data.to_string() }
    }

    /// An event that has its name beside its data too.
    fn event(name: &str, data: Value) -> Self {
        let mut data = data;
        data["type"] = json!(name);
        Self { event: Some(name.to_owned()), data: data.to_string() }
    }

    fn done() -> Self {
        Self { event: None, data: "[DONE]".into() }
    }

    /// One that is no JSON.
    pub fn garbled() -> Self {
        Self { event: None, data: "{\"half\": ".into() }
    }

    /// One that says that something went wrong, as each protocol would read it.
    pub fn trouble() -> Self {
        let error = json!({"message": "The server is overloaded", "type": "overloaded_error", "code": "server_error"});
        Self { event: Some("error".into()), data: json!({"type": "error", "error": error}).to_string() }
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(event) = &self.event {
            writeln!(f, "event: {event}")?;
        }
        write!(f, "data: {}\n\n", self.data)
    }
}
