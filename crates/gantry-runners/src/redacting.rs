//! Ports that let no secret through, whatever a runner does.

use std::sync::Arc;

use async_trait::async_trait;
use gantry_core::effect::ArtifactRef;
use gantry_core::input::Success;
use gantry_core::policy::Usage;
use serde_json::Value;

use crate::ports::{CallNo, Calls, Chunk, Intents, Keep, KeepError, Noted, Ports, Recalled, Watch};
use crate::runner::{Ended, Happened, Preview};
use crate::secrets::Secrets;

/// Wraps ports so that secrets are replaced in everything that goes out.
///
/// Runners still do their part where a piece alone is not enough: streams ([`Secrets::redactor`]) and what must come
/// back byte for byte ([`Secrets::seal`]).
pub(crate) fn redacting(ports: &Ports, secrets: &Secrets) -> Ports {
    if secrets.is_none() {
        return ports.clone();
    }
    let wrapped = Arc::new(Redacting { ports: ports.clone(), secrets: secrets.clone() });
    Ports {
        keep: Arc::<Redacting>::clone(&wrapped),
        watch: Arc::<Redacting>::clone(&wrapped),
        intents: Arc::<Redacting>::clone(&wrapped),
        calls: wrapped,
        sessions: ports.sessions.clone(),
    }
}

struct Redacting {
    ports: Ports,
    secrets: Secrets,
}

#[async_trait]
impl Keep for Redacting {
    async fn put(&self, bytes: Vec<u8>) -> Result<String, KeepError> {
        self.ports.keep.put(self.secrets.redact_bytes(&bytes).into_owned()).await
    }
    async fn get(&self, hash: &str) -> Result<Vec<u8>, KeepError> {
        self.ports.keep.get(hash).await
    }
}

impl Watch for Redacting {
    fn output(&self, chunk: Chunk) {
        self.ports.watch.output(Chunk { text: self.secrets.redact(&chunk.text), ..chunk });
    }
    fn alive(&self, note: String, artifacts: Vec<ArtifactRef>) {
        self.ports.watch.alive(self.secrets.redact(&note), artifacts);
    }
}

#[async_trait]
impl Intents for Redacting {
    async fn intend(&self, undo: Value) -> Result<(), KeepError> {
        self.ports.intents.intend(self.secrets.redact_record(&undo)).await
    }
    async fn intend_instead(&self, undo: Value) -> Result<(), KeepError> {
        self.ports.intents.intend_instead(self.secrets.redact_record(&undo)).await
    }
}

#[async_trait]
impl Calls for Redacting {
    async fn recall(&self, kind: &str, key: &str) -> Result<Option<Recalled>, KeepError> {
        self.ports.calls.recall(kind, key).await
    }
    async fn begin(&self, kind: &str, key: &str, request: Value) -> Result<CallNo, KeepError> {
        self.ports.calls.begin(kind, key, self.secrets.redact_value(&request)).await
    }
    fn answered(&self, call: CallNo, answer: Value) {
        self.ports.calls.answered(call, self.secrets.redact_value(&answer));
    }
    async fn end(&self, call: CallNo, answer: Value, usage: Usage) -> Result<(), KeepError> {
        self.ports.calls.end(call, self.secrets.redact_value(&answer), usage).await
    }
    async fn hand_in(&self, call: CallNo, answer: Value, usage: Usage) -> Result<(), KeepError> {
        self.ports.calls.hand_in(call, self.secrets.redact_value(&answer), usage).await
    }
    async fn is_fresh(&self) -> Result<bool, KeepError> {
        self.ports.calls.is_fresh().await
    }
    async fn note(&self, call: Noted) -> Result<(), KeepError> {
        let (request, answer) = (self.secrets.redact_value(&call.request), self.secrets.redact_value(&call.answer));
        self.ports.calls.note(Noted { request, answer, ..call }).await
    }
    async fn used(&self) -> Result<Usage, KeepError> {
        self.ports.calls.used().await
    }
}

impl Secrets {
    pub(crate) fn redact_ended(&self, ended: Ended) -> Ended {
        let end = match ended.end {
            Ok(Success { outputs, artifacts, outcome, shortfall }) => Ok(Success {
                outputs: self.redact_outputs(&outputs),
                artifacts,
                outcome: outcome.map(|outcome| self.redact(&outcome)),
                shortfall: shortfall.map(|shortfall| self.redact(&shortfall)),
            }),
            Err(failure) => Err(self.redact_failure(failure)),
        };
        Ended { end, usage: ended.usage, undo: ended.undo.map(|undo| self.redact_record(&undo)) }
    }

    pub(crate) fn redact_preview(&self, preview: Preview) -> Preview {
        Preview { text: self.redact(&preview.text), diff: preview.diff.map(|diff| self.redact(&diff)) }
    }

    pub(crate) fn redact_happened(&self, happened: Happened) -> Happened {
        Happened { outputs: self.redact_outputs(&happened.outputs), ..happened }
    }
}
