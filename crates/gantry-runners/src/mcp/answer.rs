//! What a tool gives, as outputs and artifacts.
//!
//! The output `text` is all text that it gave, `json` what it gave as structured data. Pictures, sounds and files become
//! artifacts. What is too long is cut in the middle, and kept in full as the artifact `text` up to a limit.

use base64::Engine;
use gantry_core::effect::{ArtifactRef, Failure};
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::json;

use crate::policy::wrong;
use crate::ports::Ports;
use crate::secrets::Secrets;
use crate::text::{middle_cut, shortened};
use crate::work::Place;

/// The longest message that is read.
pub(super) const MESSAGE_BYTES_MAX: usize = 16 << 20;
/// How much text goes into the outputs.
const TEXT_CHARS_MAX: usize = 64 << 10;
/// How much structured data goes into the outputs.
const JSON_BYTES_MAX: usize = 256 << 10;
/// How many pictures, sounds and files are kept.
const FILES_MAX: usize = 20;
/// What stands in the place of something that a newer protocol may have.
const UNKNOWN: &str = "[something that is not known here]";
/// How much of what a tool says about its failure goes into the message.
const MESSAGE_CHARS_MAX: usize = 400;

/// What a tool gave.
pub(super) struct Given {
    pub(super) outputs: Outputs,
    artifacts: Vec<ArtifactRef>,
}

impl Given {
    pub(super) fn into_success(self) -> Success {
        Success { outputs: self.outputs, artifacts: self.artifacts, outcome: None, shortfall: None }
    }
}

/// Reads what a tool gave; an error is what it says itself about its failure.
pub(super) async fn read(
    result: CallToolResult,
    secrets: &Secrets,
    place: &Place,
    ports: &Ports,
) -> Result<Given, Failure> {
    let (mut texts, mut artifacts) = (Vec::new(), Vec::new());
    for block in result.content {
        match block {
            ContentBlock::Text(text) => texts.push(text.text),
            ContentBlock::Image(image) => {
                files(&mut artifacts, &mut texts, ("image", &image.data), place, ports).await?;
            }
            ContentBlock::Audio(audio) => {
                files(&mut artifacts, &mut texts, ("audio", &audio.data), place, ports).await?;
            }
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => texts.push(format!("{uri}:\n{text}")),
                ResourceContents::BlobResourceContents { blob, .. } => {
                    files(&mut artifacts, &mut texts, ("file", &blob), place, ports).await?;
                }
                _ => texts.push(UNKNOWN.to_owned()),
            },
            ContentBlock::ResourceLink(link) => texts.push(format!("[{}: {}]", link.name, link.uri)),
            _ => texts.push(UNKNOWN.to_owned()),
        }
    }
    let text = secrets.redact(&texts.join("\n"));
    if result.is_error == Some(true) {
        let said = if text.trim().is_empty() { "it failed and did not say why".to_owned() } else { text };
        return Err(wrong(shortened(said.trim(), MESSAGE_CHARS_MAX)));
    }
    let mut outputs = Outputs::new();
    if text.chars().nth(TEXT_CHARS_MAX).is_some() {
        artifacts.push(ports.keep_as("text", text.clone().into_bytes()).await?);
    }
    outputs.insert("text".to_owned(), json!(middle_cut(&text, TEXT_CHARS_MAX)));
    if let Some(value) = result.structured_content {
        let value = secrets.redact_value(&value);
        let length = value.to_string().len();
        if length <= JSON_BYTES_MAX {
            outputs.insert("json".to_owned(), value);
        } else {
            artifacts.push(ports.keep_as("json", value.to_string().into_bytes()).await?);
            outputs.insert("left_out".to_owned(), json!(format!("json: {length} bytes; see the artifact")));
        }
    }
    Ok(Given { outputs, artifacts })
}

/// Keeps one thing that is no text.
async fn files(
    artifacts: &mut Vec<ArtifactRef>,
    texts: &mut Vec<String>,
    (kind, base64): (&str, &str),
    place: &Place,
    ports: &Ports,
) -> Result<(), Failure> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(base64.as_bytes());
    let name = format!("{kind}-{}", artifacts.len() + 1);
    match bytes {
        Ok(bytes) if bytes.len() as u64 <= place.limits.file_bytes_max && artifacts.len() < FILES_MAX => {
            texts.push(format!("[{kind}: {} bytes, kept as `{name}`]", bytes.len()));
            artifacts.push(ports.keep_as(&name, bytes).await?);
        }
        Ok(bytes) => texts.push(format!("[{kind}: {} bytes, left out]", bytes.len())),
        Err(_) => texts.push(format!("[{kind}: unreadable, left out]")),
    }
    Ok(())
}
