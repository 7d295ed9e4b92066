//! What a task asked of models and others, from the calls on record.

use std::fmt::Write as _;

use gantry_llm::{Call, Message};
use gantry_store::EffectRow;
use serde_json::{Value, json};

use crate::file::count;
use crate::show::elapsed::clock;
use crate::show::{first_line, plain};

/// How much of what other calls than those of models asked and got is shown.
const VALUE_CHARS_MAX: usize = 200;

/// A question to a model with what came of it, when the row is one.
fn call_of(row: &EffectRow) -> Option<Call> {
    let answer = row.answer.clone().filter(|_| row.kind == gantry_runners::MODEL)?;
    serde_json::from_value(answer).ok()
}

/// A call, for programs.
pub fn to_json(row: &EffectRow) -> Value {
    json!({
        "kind": row.kind, "attempt": row.attempt, "ordinal": row.ordinal, "started_at": row.started_at,
        "ended_at": row.ended_at, "request": row.request, "answer": row.answer, "usage": row.usage,
    })
}

/// A call, for people.
pub fn drawn(row: &EffectRow) -> String {
    match call_of(row) {
        Some(call) => question(row, &call),
        None => other(row),
    }
}

fn question(row: &EffectRow, call: &Call) -> String {
    let calls = usize::try_from(call.calls).unwrap_or(usize::MAX);
    let tokens = usize::try_from(call.tokens.all()).unwrap_or(usize::MAX);
    let guessed = if call.answer.as_ref().is_some_and(|answer| answer.tokens_guessed) { " (a guess)" } else { "" };
    let mut text = format!(
        "{} {} {}, attempt {}: {}, {}{guessed}, ${}, {}\n",
        clock(call.started_at),
        call.method,
        plain(&call.asked),
        row.attempt,
        count(calls, "call"),
        count(tokens, "token"),
        call.cost_usd,
        call.duration(),
    );
    for message in &call.request.messages {
        text += &said(by(message), message.text());
        if let Message::Assistant { calls, .. } = message {
            text.extend(calls.iter().map(|call| said("calls", &format!("{} {}", call.name, call.args))));
        }
    }
    text.extend(call.failed.iter().map(|failed| said("failed", &failed.to_string())));
    match &call.answer {
        Some(answer) => {
            text += &said(&answer.model, &answer.text);
            text.extend(answer.calls.iter().map(|call| said("calls", &format!("{} {}", call.name, call.args))));
            text.extend(answer.fallback.as_ref().map(|why| said("fallback", why)));
        }
        None => text += &said("no answer", ""),
    }
    text
}

fn by(message: &Message) -> &'static str {
    match message {
        Message::System { .. } => "system",
        Message::User { .. } => "user",
        Message::Assistant { .. } => "assistant",
        Message::Tool { .. } => "tool",
    }
}

/// A text with who said it, its lines set in.
fn said(by: &str, text: &str) -> String {
    let mut lines = text.lines();
    let mut said = format!("  {}: {}", plain(by), plain(lines.next().unwrap_or_default())).trim_end().to_owned() + "\n";
    for line in lines {
        let _ = writeln!(said, "    {}", plain(line));
    }
    said
}

fn other(row: &EffectRow) -> String {
    let short = |value: &Value| first_line(&value.to_string(), VALUE_CHARS_MAX);
    let answer = row
        .answer
        .as_ref()
        .map_or_else(|| "  no answer is on record\n".to_owned(), |answer| said("answer", &short(answer)));
    format!(
        "{} {}, attempt {}\n{}{answer}",
        clock(row.started_at),
        row.kind,
        row.attempt,
        said("asked", &short(&row.request))
    )
}
