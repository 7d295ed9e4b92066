//! Trouble, sorted by what happens next, in words that hold no key.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

use genai::webc::StreamTimeout;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::error::{CallError, CallFault};
use crate::target::Target;

use super::tap::Tap;

/// How much of what a provider says about its trouble is kept.
const MESSAGE_MAX: usize = 400;

/// What replaces a key.
const HIDDEN: &str = "[secret]";

/// How a call came to nothing.
pub struct Missed {
    /// Why.
    pub error: CallError,
    /// The provider does not know the answer that was to be followed: the same may be asked without it.
    pub forgotten: bool,
}

impl From<CallError> for Missed {
    fn from(error: CallError) -> Self {
        Self { error, forgotten: false }
    }
}

/// Makes the errors of calls to one target.
pub struct Faults<'a> {
    target: &'a Target,
}

impl<'a> Faults<'a> {
    /// For calls to this target.
    pub fn of_target(target: &'a Target) -> Self {
        Self { target }
    }

    /// An error in words of our own, or of the provider.
    pub fn plain(&self, fault: CallFault, message: &str) -> CallError {
        CallError { fault, target: self.target.id(), message: self.scrubbed(message), retry_after: None }
    }

    /// How a call came to nothing that was to follow the answer of this id.
    pub fn missed(&self, error: &genai::Error, tap: &Tap, after: Option<&str>) -> Missed {
        let forgotten =
            after.is_some_and(|id| status(error).is_some_and(|(status, body)| is_forgotten(status, body, id)));
        Missed { error: self.of(error, tap), forgotten }
    }

    /// What an error of genai means; what the provider said itself in the stream counts first.
    pub fn of(&self, error: &genai::Error, tap: &Tap) -> CallError {
        let seen = tap.seen();
        if let Some(trouble) = seen.trouble {
            return self.plain(by_words(&trouble), &said(&trouble));
        }
        if !seen.refusal.is_empty() {
            return self.plain(CallFault::Answer, &seen.refusal);
        }
        match error {
            genai::Error::WebStream { error, .. } => self.of_cause(error.as_ref()),
            genai::Error::WebModelCall { webc_error: genai::webc::Error::Reqwest(error), .. } => self.of_http(error),
            genai::Error::HttpError { status, body, headers, .. } => self.of_status(*status, body, headers),
            genai::Error::StreamParse { serde_error, .. } => {
                self.plain(CallFault::Server, &format!("it sent a piece that makes no sense: {serde_error}"))
            }
            genai::Error::ChatResponse { body, .. } => self.plain(by_words(body), &said(body)),
            other => self.plain(CallFault::Request, &other.to_string()),
        }
    }

    fn of_cause(&self, cause: &(dyn std::error::Error + Send + Sync + 'static)) -> CallError {
        if let Some(genai::Error::HttpError { status, body, headers, .. }) = cause.downcast_ref::<genai::Error>() {
            self.of_status(*status, body, headers)
        } else if let Some(error) = cause.downcast_ref::<reqwest::Error>() {
            self.of_http(error)
        } else if cause.downcast_ref::<StreamTimeout>().is_some() {
            let silence = self.target.limits.silence.as_secs_f32();
            self.plain(CallFault::Timeout, &format!("it said nothing for {silence} s"))
        } else {
            // Such as bytes that are no text.
            self.plain(CallFault::Server, &cause.to_string())
        }
    }

    /// reqwest names the whole address in its messages; the cause at the bottom says more and shows less.
    fn of_http(&self, error: &reqwest::Error) -> CallError {
        let mut cause: &dyn std::error::Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        let bottom = if error.source().is_some() { cause.to_string() } else { "no more is known".to_owned() };
        if error.is_timeout() {
            self.plain(CallFault::Timeout, &format!("no connection in time: {bottom}"))
        } else if error.is_builder() {
            self.plain(CallFault::Request, &format!("the request cannot be made: {bottom}"))
        } else if error.is_connect() {
            self.plain(CallFault::Connection, &format!("nobody answers at {}: {bottom}", self.place()))
        } else {
            self.plain(CallFault::Connection, &format!("the line was cut: {bottom}"))
        }
    }

    fn of_status(&self, status: StatusCode, body: &str, headers: &HeaderMap) -> CallError {
        let parsed: Option<Value> = serde_json::from_str(body).ok();
        let words = parsed.as_ref().map_or_else(|| body.trim().to_owned(), said);
        let message = if words.is_empty() { status.to_string() } else { format!("{status}: {words}") };
        let mut error = self.plain(by_status(status, body), &message);
        error.retry_after = retry_after(headers, SystemTime::now());
        error
    }

    /// The host and the port, which is all of the address that may be shown.
    fn place(&self) -> String {
        let url = reqwest::Url::parse(&self.target.base_url).ok();
        let host = url.as_ref().and_then(|url| Some((url.host_str()?, url.port_or_known_default()?)));
        host.map_or_else(|| "its address".to_owned(), |(host, port)| format!("{host}:{port}"))
    }

    /// The message without the key, cut to a length that can be read.
    fn scrubbed(&self, message: &str) -> String {
        let key = self.target.key.as_ref().map(crate::target::Secret::reveal).filter(|key| !key.is_empty());
        let clean = key.map_or_else(|| message.to_owned(), |key| message.replace(key, HIDDEN));
        let mut short: String = clean.chars().take(MESSAGE_MAX).collect();
        if short.len() < clean.len() {
            short.push('…');
        }
        short
    }
}

/// The status and the body of an answer that is none, wherever genai has put them.
fn status(error: &genai::Error) -> Option<(StatusCode, &str)> {
    match error {
        genai::Error::HttpError { status, body, .. } => Some((*status, body)),
        genai::Error::WebStream { error, .. } => status(error.downcast_ref::<genai::Error>()?),
        _ => None,
    }
}

/// Tells whether a provider objects to the answer that was to be followed: it is gone, or never was kept. `OpenAI` names
/// the field or has a code with its name in it, and others name the id.
fn is_forgotten(status: StatusCode, body: &str, id: &str) -> bool {
    matches!(status.as_u16(), 400 | 404) && (body.contains("previous_response") || body.contains(id))
}

/// What a provider says about its trouble, out of the JSON around it.
fn said(body: &Value) -> String {
    let places = ["/error/message", "/message", "/error/error/message", "/0/error/message", "/error", "/detail"];
    let found = places.iter().find_map(|place| body.pointer(place)?.as_str());
    found.map_or_else(|| body.to_string(), str::to_owned)
}

fn by_status(status: StatusCode, body: &str) -> CallFault {
    let no_credit = || body.contains("insufficient_quota") || body.contains("credit balance");
    let no_model = || body.contains("model_not_found") || body.contains("not a valid model");
    match status.as_u16() {
        401..=403 => CallFault::Key,
        404 => CallFault::UnknownModel,
        408 => CallFault::Timeout,
        // OpenAI says 429, and Anthropic 400, when nothing is left of the money: no waiting helps.
        400 | 429 if no_credit() => CallFault::Key,
        400 | 422 if no_model() => CallFault::UnknownModel,
        409 | 425 | 500.. => CallFault::Server,
        429 => CallFault::RateLimited,
        _ => CallFault::Request,
    }
}

/// The kind of a trouble that came in the stream, after the status had said that all is well.
fn by_words(trouble: &Value) -> CallFault {
    let places = ["/type", "/code", "/status", "/error/type", "/error/code", "/error/status"];
    let kinds: Vec<String> = places
        .iter()
        .filter_map(|place| trouble.pointer(place))
        .map(|kind| kind.as_str().map_or_else(|| kind.to_string(), str::to_lowercase))
        .collect();
    let any = |words: &[&str]| kinds.iter().any(|kind| words.iter().any(|word| kind.contains(word)));
    if any(&["rate_limit", "resource_exhausted", "429"]) {
        CallFault::RateLimited
    } else if any(&["insufficient_quota", "billing", "authentication", "permission", "unauthenticated", "401", "403"]) {
        CallFault::Key
    } else if any(&["model_not_found", "not_found", "404"]) {
        CallFault::UnknownModel
    } else if any(&["invalid_request", "invalid_prompt", "invalid_argument", "400", "context_length"]) {
        CallFault::Request
    } else {
        CallFault::Server
    }
}

/// How long to leave the provider alone: in milliseconds, in seconds or until a date. A date is compared with the
/// provider's own clock where it tells the time.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = header("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let text = header("retry-after")?;
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|at| at.timestamp());
    let now = header("date").and_then(date).or_else(|| jiff::Timestamp::try_from(now).ok())?;
    let left = date(text)?.duration_since(now);
    Some(Duration::try_from(left).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn the_wish_to_be_left_alone_is_read_in_each_of_its_forms() {
        let now = SystemTime::UNIX_EPOCH;
        let read = |pairs: &[(&'static str, &'static str)]| retry_after(&headers(pairs), now);
        assert_eq!(read(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(read(&[("retry-after", "0.5")]), Some(Duration::from_millis(500)));
        assert_eq!(read(&[("retry-after-ms", "1500"), ("retry-after", "9")]), Some(Duration::from_millis(1500)));
        let date = ("retry-after", "Thu, 01 Jan 1970 00:01:00 GMT");
        assert_eq!(read(&[date]), Some(Duration::from_mins(1)));
        assert_eq!(read(&[date, ("date", "Thu, 01 Jan 1970 00:00:50 GMT")]), Some(Duration::from_secs(10)));
        assert_eq!(read(&[date, ("date", "Thu, 01 Jan 1970 00:09:00 GMT")]), Some(Duration::ZERO), "the past");
        assert_eq!(read(&[("retry-after", "soon")]), None);
        assert_eq!(read(&[("retry-after", "-3")]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn trouble_is_sorted_by_what_can_be_done_about_it() {
        let by = |status: u16, body: &str| by_status(StatusCode::from_u16(status).unwrap(), body);
        assert_eq!(by(429, "slow down"), CallFault::RateLimited);
        assert_eq!(by(429, r#"{"code":"insufficient_quota"}"#), CallFault::Key);
        assert_eq!(by(400, "too long"), CallFault::Request);
        assert_eq!(by(400, r#"{"code":"model_not_found"}"#), CallFault::UnknownModel);
        assert_eq!(by(404, ""), CallFault::UnknownModel);
        assert_eq!(by(403, ""), CallFault::Key);
        assert_eq!(by(529, "overloaded"), CallFault::Server);
        assert_eq!(by(302, ""), CallFault::Request);
    }
}
