//! What is answered when a request cannot be done: problem documents (RFC 9457) with a stable code and a hint.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gantry_core::life::Refusal;
use gantry_engine::EngineError;
use gantry_planner::intake::{Unfit, Why};
use gantry_store::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::house::Trouble;

/// The media type of problem documents.
pub const MEDIA: &str = "application/problem+json";

/// Why a request was not done. The code is a promise; the words are not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// Where the code is explained, as a path of this server.
    #[serde(rename = "type")]
    pub kind: String,
    /// The sort of problem, in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong.
    pub detail: String,
    /// The stable code.
    pub code: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Everything that is wrong with a plan file, with file, line and column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Value>,
}

impl Problem {
    /// A problem with this status and code.
    pub fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("/docs#{code}"),
            title: status.canonical_reason().unwrap_or("Problem").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            code: code.to_owned(),
            hint: None,
            errors: None,
        }
    }

    /// The request is wrong.
    pub fn wrong(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// What is said makes no sense to the plan or its file.
    pub fn unfit(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail)
    }

    /// There is no such thing.
    pub fn missing(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, detail)
    }

    /// It cannot be done as things stand.
    pub fn conflict(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
    }

    /// This program or its surroundings do not work.
    pub fn broken(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, code, detail)
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says everything that is wrong with a file.
    #[must_use]
    pub fn with_errors(mut self, errors: Value) -> Self {
        self.errors = Some(errors);
        self
    }

    pub fn maybe_hint(self, hint: Option<String>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// The status to answer with.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let mut response = (status, Json(self)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA));
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let (status, code) = match &error {
            StoreError::NotFound { .. } => (StatusCode::NOT_FOUND, "store::not-found"),
            StoreError::Ambiguous { .. } => (StatusCode::CONFLICT, "store::ambiguous"),
            StoreError::Conflict { .. } => (StatusCode::CONFLICT, "store::conflict"),
            StoreError::AlreadyDone { .. } => (StatusCode::CONFLICT, "store::already-done"),
            StoreError::KeyReused { .. } => (StatusCode::CONFLICT, "store::key-reused"),
            StoreError::Pinned { .. } => (StatusCode::CONFLICT, "store::pinned"),
            StoreError::Invalid { .. } => (StatusCode::BAD_REQUEST, "store::invalid"),
            StoreError::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "store::too-large"),
            StoreError::Busy { .. } => (StatusCode::SERVICE_UNAVAILABLE, "store::busy"),
            StoreError::Full { .. } => (StatusCode::INSUFFICIENT_STORAGE, "store::full"),
            StoreError::ReadOnly { .. } => (StatusCode::SERVICE_UNAVAILABLE, "store::read-only"),
            StoreError::Gone { .. } => (StatusCode::SERVICE_UNAVAILABLE, "store::gone"),
            StoreError::Corrupt { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "store::corrupt"),
            StoreError::Foreign { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "store::foreign"),
            StoreError::NewerSchema { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "store::newer-schema"),
            StoreError::Io { .. } => (StatusCode::SERVICE_UNAVAILABLE, "store::io"),
        };
        Self::new(status, code, error.to_string()).maybe_hint(error.hint())
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let hint = error.hint();
        match &error {
            EngineError::Store(store) => store.clone().into(),
            EngineError::Refused(refusal) => Self::from(refusal.clone()),
            EngineError::RefusedElsewhere { code, message } => Self::new(status_of(code), code, message.clone()),
            EngineError::Driven { .. } => Self::conflict("engine::driven", error.to_string())
                .hint("say it to the plan instead; it is heard there"),
            EngineError::Homeless { .. } => Self::conflict("engine::homeless", error.to_string()).maybe_hint(hint),
            EngineError::Silent { .. } => {
                Self::new(StatusCode::GATEWAY_TIMEOUT, "engine::silent", error.to_string()).maybe_hint(hint)
            }
            EngineError::Journal { .. } => Self::broken("engine::journal", error.to_string()).maybe_hint(hint),
            EngineError::Broken { .. } => Self::broken("engine::broken", error.to_string()).maybe_hint(hint),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let code = refusal.code();
        let mut problem = Self::new(status_of(code), code, refusal.to_string());
        if let Refusal::BadPlan { problems } = &refusal {
            let errors = problems.iter().map(|problem| serde_json::json!({"message": problem.message}));
            problem = problem.with_errors(errors.collect());
        }
        problem.maybe_hint(hint_for(code).map(str::to_owned))
    }
}

/// Which status a refusal of the core is.
fn status_of(code: &str) -> StatusCode {
    match code {
        "life::unknown-task" | "life::unknown-point" | "life::unknown-hypothesis" => StatusCode::NOT_FOUND,
        "life::not-allowed" | "life::not-in-role" => StatusCode::FORBIDDEN,
        "life::old-revision" => StatusCode::PRECONDITION_FAILED,
        "life::bad-plan" | "life::incomplete" | "life::unknown-answer" | "life::not-a-gate" | "life::does-not-fit" => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        _ => StatusCode::CONFLICT,
    }
}

fn hint_for(code: &str) -> Option<&'static str> {
    Some(match code {
        "life::not-allowed" => "see who may decide in the gate's `approvers` and `role`",
        "life::incomplete" => "judge every check and hand in everything that is asked for",
        "life::not-in-role" => "decide in a role that is yours; who has which stands in the plan's `stakeholders`",
        "life::old-revision" => "read the plan again, then repeat the request",
        "life::not-waiting" | "life::wrong-state" | "life::not-finished" => "look where the plan stands, then decide",
        "life::task-runs" => "wait for it, or pause the plan first",
        _ => return None,
    })
}

impl From<Unfit> for Problem {
    fn from(unfit: Unfit) -> Self {
        let problem = match unfit.why {
            Why::Refused => Self::new(StatusCode::FORBIDDEN, "plan::refused", unfit.message),
            Why::Wrong => Self::unfit("plan::unusable-request", unfit.message),
            Why::Broken => Self::broken("plan::broken-template", unfit.message),
        };
        problem.maybe_hint(unfit.hint)
    }
}

impl From<Trouble> for Problem {
    fn from(trouble: Trouble) -> Self {
        Self::conflict("house::trouble", trouble.message).maybe_hint(trouble.hint)
    }
}
