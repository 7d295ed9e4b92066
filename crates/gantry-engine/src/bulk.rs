//! How large things are that go into the journal, and what becomes of those that are too large for it.
//!
//! A journal holds what others work on; what is large is an artifact. Without a limit, a few attempts that end at
//! once would make a turn that no store takes.

use gantry_core::effect::{ArtifactRef, Failure};
use gantry_core::event::Outputs;
use gantry_core::input::{Input, Success};
use gantry_core::policy::FailureClass;
use gantry_runners::Ports;
use serde_json::Value;

/// How much the outputs of one attempt may have together.
pub(crate) const OUTPUTS_BYTES_MAX: usize = 1 << 20;
/// How much of a text stays when the outputs have more.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// About how much an input adds to a turn.
pub(crate) fn weight(input: &Input) -> usize {
    match input {
        Input::Ended { end: Ok(success), .. } => weight_of(&success.outputs),
        Input::Verified { outputs, .. } => weight_of(outputs),
        Input::Observed { facts } => facts.values().map(bytes).sum(),
        _ => 0,
    }
}

fn weight_of(outputs: &Outputs) -> usize {
    outputs.iter().map(|(name, value)| name.len() + bytes(value)).sum()
}

/// About how many bytes a value has as JSON.
fn bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| bytes(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + 4 + bytes(value)).sum::<usize>() + 2,
    }
}

/// Keeps long texts as artifacts and hands on their beginnings, when the outputs are too large as they are.
pub(crate) async fn bounded(end: Result<Success, Failure>, ports: &Ports) -> Result<Success, Failure> {
    let success = end?;
    if weight_of(&success.outputs) <= OUTPUTS_BYTES_MAX {
        return Ok(success);
    }
    Box::pin(cut_down(success, ports)).await
}

async fn cut_down(mut success: Success, ports: &Ports) -> Result<Success, Failure> {
    let mut long = Vec::new();
    for (name, value) in &mut success.outputs {
        cut(name, value, &mut long);
    }
    let left = weight_of(&success.outputs);
    if left > OUTPUTS_BYTES_MAX {
        let message = format!(
            "its outputs have {left} bytes; at most {OUTPUTS_BYTES_MAX} are handed on. Keep what is large in files"
        );
        return Err(Failure { evidence: success.artifacts, ..Failure::new(FailureClass::Logic, message) });
    }
    for (name, text) in long {
        // It is done: without a place for its result, nobody knows what that was.
        let in_doubt = |error| Failure { class: FailureClass::Lost, ..Failure::from(error) };
        let kept: ArtifactRef = ports.keep_as(&name, text.into_bytes()).await.map_err(in_doubt)?;
        success.artifacts.push(kept);
    }
    Ok(success)
}

/// Cuts every long text in a value; the whole texts are put into `long`, under the name that leads to them.
fn cut(name: &str, value: &mut Value, long: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) if text.len() > TEXT_BYTES_MAX => {
            let end = text.floor_char_boundary(TEXT_BYTES_MAX);
            let note = format!(
                "{}\n[gantry: {} bytes are left out here; all of it is the artifact `{name}`]\n",
                &text[..end],
                text.len() - end
            );
            long.push((name.to_owned(), std::mem::replace(text, note)));
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                cut(&format!("{name}.{index}"), item, long);
            }
        }
        Value::Object(fields) => {
            for (field, value) in fields {
                cut(&format!("{name}.{field}"), value, long);
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
