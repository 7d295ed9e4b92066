//! What clients send and get: bodies with limits, and JSON with even times.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gantry_view::times::with_even_times;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::access::Who;
use crate::app::App;
use crate::problem::Problem;

/// The bytes of a body: no more, and no slower, than is allowed.
pub struct Raw {
    /// The bytes.
    pub bytes: Bytes,
    /// What they are said to be.
    pub media: String,
}

impl FromRequest<App> for Raw {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let media = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media = media.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let bytes = read(request.into_body(), app).await?;
        Ok(Self { bytes, media })
    }
}

/// Reads a body: no more, and no slower, than is allowed.
pub async fn read(body: Body, app: &App) -> Result<Bytes, Problem> {
    let max = app.limits.body_bytes_max;
    let reading = tokio::time::timeout(app.limits.body_within, axum::body::to_bytes(body, max));
    match reading.await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_too_long(&error) => Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "request::too-large",
            format!("the body has more than {max} bytes"),
        )
        .hint("send less at once")),
        Ok(Err(error)) => Err(Problem::wrong("request::broken-body", format!("the body broke off: {error}"))),
        Err(_) => Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "request::too-slow",
            format!("the body did not arrive within {} s", app.limits.body_within.as_secs()),
        )),
    }
}

fn is_too_long(error: &axum::Error) -> bool {
    error.to_string().contains("length limit")
}

/// A body of JSON; an empty one stands for nothing said.
pub struct Said<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for Said<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let Raw { bytes, media } = Raw::from_request(request, app).await?;
        // Some clients call everything a form that nobody said is something else.
        let is_form = media == "application/x-www-form-urlencoded" && bytes.starts_with(b"{");
        let is_json = media.is_empty() || media == "application/json" || media.ends_with("+json") || is_form;
        if !bytes.is_empty() && !is_json {
            return Err(not_json(&media));
        }
        Ok(Self(from_json(&bytes)?))
    }
}

/// The body is in a form that is not understood here.
pub fn not_json(media: &str) -> Problem {
    Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "request::media",
        format!("`{}` is not understood here", gantry_view::named(media)),
    )
    .hint("send `Content-Type: application/json`")
}

/// Reads JSON; nothing at all is an empty object.
pub fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let bytes = if bytes.iter().all(u8::is_ascii_whitespace) { b"{}" } else { bytes };
    serde_json::from_slice(bytes).map_err(|error| {
        let code = if error.is_data() { "request::wrong-fields" } else { "request::not-json" };
        Problem::wrong(code, format!("the body cannot be read: {error}")).hint("see what is expected at /docs")
    })
}

/// The query of a request, with problems in words.
pub struct Asked<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<App> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Query(asked) = Query::from_request_parts(parts, app).await.map_err(|error| {
            Problem::wrong("request::wrong-query", format!("the query cannot be read: {}", error.body_text()))
                .hint("see what is expected at /docs")
        })?;
        Ok(Self(asked))
    }
}

/// The names in a path, with problems in words.
pub struct Named<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Path(named) = Path::from_request_parts(parts, app)
            .await
            .map_err(|error| Problem::wrong("request::wrong-path", error.body_text()))?;
        Ok(Self(named))
    }
}

impl FromRequestParts<App> for Who {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        parts.extensions.get::<Who>().cloned().ok_or_else(unknown)
    }
}

/// Nobody knows who asks.
pub fn unknown() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "access::unknown", "nobody knows who you are")
        .hint("send `Authorization: Bearer TOKEN`, or sign in at /sign-in")
}

/// A value for programs.
pub struct Told<T>(pub T);

impl<T: Serialize> IntoResponse for Told<T> {
    fn into_response(self) -> Response {
        match serde_json::to_value(self.0) {
            Ok(value) => axum::Json(with_even_times(value)).into_response(),
            Err(error) => Problem::broken("server::no-json", error.to_string()).into_response(),
        }
    }
}

/// Tells whether a precondition of the client holds: `If-Match` with one of these tags, or none at all.
pub fn check_match(headers: &HeaderMap, tags: &[String]) -> Result<(), Problem> {
    let Some(wanted) = headers.get(header::IF_MATCH) else { return Ok(()) };
    let wanted = wanted.to_str().unwrap_or_default();
    let holds = wanted.split(',').map(str::trim).any(|one| one == "*" || tags.iter().any(|tag| tag == one));
    if holds {
        return Ok(());
    }
    let now = tags.first().map_or("another", String::as_str);
    Err(changed(&format!(": it is {now} now"), "read it again, then repeat the request with its new ETag"))
}

/// It is not what the client has looked at any more.
pub fn changed(how: &str, hint: &str) -> Problem {
    let detail = format!("it has changed since you looked{how}");
    Problem::new(StatusCode::PRECONDITION_FAILED, "request::changed", detail).hint(hint)
}
