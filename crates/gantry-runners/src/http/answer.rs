//! An answer, as outputs.

use gantry_core::effect::{ArtifactRef, Failure};
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};

use super::send::shown;
use crate::ports::Ports;

/// How much of a body is handed on as an output; all of a longer one is the artifact `body`.
const BODY_BYTES_MAX: usize = 512 << 10;

/// What came back.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// What goes into the record.
    pub(super) fn recorded(&self) -> Value {
        let hash = blake3::hash(&self.body).to_hex();
        json!({"status": self.status, "url": self.url.as_str(), "bytes": self.body.len(), "hash": hash.as_str()})
    }

    fn is_json(&self) -> bool {
        let kind = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json" || kind.ends_with("+json")
    }

    pub(super) async fn into_success(self, ports: &Ports) -> Result<Success, Failure> {
        let mut outputs = Outputs::new();
        outputs.insert("status".to_owned(), json!(self.status));
        outputs.insert("url".to_owned(), json!(self.url.as_str()));
        outputs.insert("headers".to_owned(), shown(&self.headers));
        outputs.insert("bytes".to_owned(), json!(self.body.len()));
        let mut artifacts: Vec<ArtifactRef> = Vec::new();
        match std::str::from_utf8(&self.body) {
            Ok(text) if text.len() <= BODY_BYTES_MAX && !text.contains('\0') => {
                if self.is_json()
                    && let Ok(value) = serde_json::from_str::<Value>(text)
                {
                    outputs.insert("json".to_owned(), value);
                }
                outputs.insert("body".to_owned(), json!(text));
            }
            Ok(text) if !text.contains('\0') => {
                let beginning = &text[..text.floor_char_boundary(BODY_BYTES_MAX)];
                outputs.insert("body".to_owned(), json!(beginning));
                outputs.insert("truncated".to_owned(), json!(true));
                artifacts.push(ports.keep_as("body", self.body).await?);
            }
            // No text: only the artifact has it.
            Ok(_) | Err(_) => artifacts.push(ports.keep_as("body", self.body).await?),
        }
        Ok(Success { outputs, artifacts, ..Success::default() })
    }
}
