//! What can go wrong with a server, as failures.

use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;

use crate::policy::wrong;
use crate::process::StartError;
use crate::secrets::Secrets;
use crate::text::shortened;

/// How much of what a server says goes into a message.
const MESSAGE_CHARS_MAX: usize = 400;

/// Says what is wrong with one server.
pub(super) struct Trouble<'a> {
    pub(super) server: &'a str,
    pub(super) secrets: &'a Secrets,
    /// The last thing that it wrote to its error stream.
    pub(super) last_words: String,
}

impl Trouble<'_> {
    fn failure(&self, class: FailureClass, what: &str) -> Failure {
        let last = self.last_words.trim();
        let last = if last.is_empty() { String::new() } else { format!(": {last}") };
        let message = format!("the MCP server `{}` {what}{last}", self.server);
        Failure::new(class, shortened(&self.secrets.redact(&message), MESSAGE_CHARS_MAX))
    }

    /// Its program did not start; nothing was done.
    pub(super) fn not_started(&self, error: &StartError) -> Failure {
        let class = match error {
            StartError::NotFound { .. } => {
                let message = format!("the MCP server `{}` cannot be started: {error}", self.server);
                return Failure::missing_capability(message);
            }
            StartError::Sandbox { .. } => FailureClass::Policy,
            StartError::System { .. } | StartError::Unknown => FailureClass::Transient,
        };
        self.failure(class, &format!("cannot be started: {error}"))
    }

    /// It could not be spoken to; nothing was done.
    pub(super) fn not_met(&self, error: &ClientInitializeError) -> Failure {
        let said = match error {
            ClientInitializeError::TransportError { error, .. } => said(&*error.error),
            error => said(error),
        };
        if error.is_authorization_required() || said.contains("HTTP 401") || said.contains("HTTP 403") {
            return self.failure(FailureClass::Policy, "does not let us in; set the key that `key_env` names");
        }
        // Whether it was gone before or after we had spoken is chance.
        let is_gone = match error {
            ClientInitializeError::ConnectionClosed(_) => true,
            ClientInitializeError::TransportError { error, .. } => error.error.is::<std::io::Error>(),
            _ => false,
        };
        match error {
            _ if is_gone => self.failure(FailureClass::Transient, "ended before it had said anything"),
            ClientInitializeError::TransportError { .. } => {
                self.failure(FailureClass::Transient, &format!("cannot be reached: {said}"))
            }
            _ => self.failure(FailureClass::Logic, &format!("does not speak MCP as expected: {said}")),
        }
    }

    /// It did not say anything in time; nothing was done.
    pub(super) fn silent(&self, timeout: std::time::Duration) -> Failure {
        self.failure(FailureClass::Transient, &format!("did not answer within {} s", timeout.as_secs_f32()))
    }

    /// It could not say what it can do; nothing was done.
    pub(super) fn not_listed(&self, error: &ServiceError) -> Failure {
        let class = match error {
            ServiceError::McpError(_) | ServiceError::UnexpectedResponse => FailureClass::Logic,
            _ => FailureClass::Transient,
        };
        let said = match error {
            ServiceError::TransportSend(error) => said(&*error.error),
            error => said(error),
        };
        self.failure(class, &format!("did not say which tools it has: {said}"))
    }

    /// A call did not come to an end that is known. `safe` means that it may be made again.
    pub(super) fn not_answered(&self, tool: &str, error: &ServiceError, safe: bool) -> Failure {
        match error {
            // It understood the call and refused it.
            ServiceError::McpError(error) => {
                let said = self.secrets.redact(&error.message);
                wrong(shortened(&format!("`{tool}` of the MCP server `{}`: {said}", self.server), MESSAGE_CHARS_MAX))
            }
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
                self.in_doubt(&format!("went away while `{tool}` was under way"), safe)
            }
            error => self.in_doubt(&format!("gave no answer to `{tool}` that can be read: {}", said(error)), safe),
        }
    }

    /// A call was not answered in time.
    pub(super) fn too_slow(&self, tool: &str, timeout: std::time::Duration, safe: bool) -> Failure {
        self.in_doubt(&format!("did not answer `{tool}` within {} s", timeout.as_secs_f32()), safe)
    }

    fn in_doubt(&self, what: &str, safe: bool) -> Failure {
        if safe {
            return self.failure(FailureClass::Transient, what);
        }
        self.failure(FailureClass::Lost, &format!("{what}; it may have happened"))
    }
}

/// The error with everything below it, on one line.
fn said(error: &dyn std::error::Error) -> String {
    let mut all = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_said = cause.to_string();
        if !all.contains(&cause_said) {
            all = format!("{all}: {cause_said}");
        }
        next = cause.source();
    }
    all.split_whitespace().collect::<Vec<_>>().join(" ")
}
