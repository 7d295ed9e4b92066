//! What happens, told to others while it happens: traces to a collector (OTLP over HTTP, as JSON) and lines for a log.
//!
//! A plan is one trace: its attempts are spans below it, and calls to models spans below those, in the words of the
//! conventions for generative models. Spans are made from the record when something has ended, and their ids from what
//! they are about, so a process that takes over goes on with the same trace. No prompt and no answer is sent.
//!
//! Whoever does not keep up loses spans, never a plan: spans wait in a queue with a limit, and what has no room is counted.

mod export; // in reading order
mod follow;
mod span;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::sync::mpsc;

pub use export::Traces;
pub use span::{Kind, Span};

/// How many spans may wait to be sent.
const WAITING_MAX: usize = 4_096;

/// What is told, and to whom.
#[derive(Clone, Default)]
pub struct Telemetry {
    spans: Option<mpsc::Sender<Span>>,
    log: bool,
}

/// What sends the spans; it is driven by the server.
pub struct Sending {
    spans: mpsc::Receiver<Span>,
    to: Traces,
}

impl Telemetry {
    /// Tells what was asked for.
    pub fn new(traces: Option<Traces>, log: bool) -> (Self, Option<Sending>) {
        let Some(to) = traces else { return (Self { spans: None, log }, None) };
        let (sender, spans) = mpsc::channel(WAITING_MAX);
        (Self { spans: Some(sender), log }, Some(Sending { spans, to }))
    }

    /// Tells whether anyone listens.
    pub fn is_on(&self) -> bool {
        self.log || self.spans.is_some()
    }

    /// Hands in a span.
    pub fn send(&self, span: Span) {
        if let Some(spans) = &self.spans {
            // One that has no room is lost: whoever collects is slower than what happens.
            let _ = spans.try_send(span);
        }
    }

    /// Writes a line for programs, one JSON object, where the operator's log is.
    pub fn log(&self, at: gantry_core::time::Timestamp, what: &str, more: Value) {
        if !self.log {
            return;
        }
        let mut line: BTreeMap<String, Value> = BTreeMap::new();
        if let Value::Object(more) = more {
            line.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
        }
        let mut text = json!({"at": at, "what": what});
        if let Some(object) = text.as_object_mut() {
            object.extend(line);
        }
        eprintln!("{}", gantry_view::times::with_even_times(text));
    }
}
