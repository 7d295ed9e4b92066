//! One request, to whoever answers it in the end, and what it means when nobody does.

use std::error::Error;
use std::io;
use std::time::{Duration, SystemTime};

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::policy::FailureClass;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode, Url};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::address::{Lists, Private, Resolver, allowed};
use super::asked::Asked;
use crate::policy::{forbidden, wrong};
use crate::text::{shortened, visible};
use crate::work::Place;

/// How long a connection may take to come about.
const CONNECT_MAX: Duration = Duration::from_secs(20);
/// How long a server may be silent while it answers. The whole of it is bounded by the task's `timeout`.
const SILENCE_MAX: Duration = Duration::from_mins(2);
/// A chain of redirects that is longer leads nowhere.
const REDIRECTS_MAX: usize = 10;
/// How much of the body of a refusal is kept with the failure, and how much of it is in its message.
const FAILED_BYTES_MAX: usize = 4_096;
const MESSAGE_CHARS_MAX: usize = 200;
/// How long a server may ask to wait.
const WAIT_MAX: Duration = Duration::from_hours(24);

/// Tells servers that two requests are the same one.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Whether an answer that was made smaller for the way is made whole again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unpack {
    Yes,
    /// Every byte counts: the file is to be as the server has it.
    No,
}

/// Makes a client that goes nowhere by itself: each name it looks up is checked, it follows no redirect, asks no proxy
/// (which would look names up out of sight) and repeats nothing.
pub(super) fn client(place: &Place, unpack: Unpack) -> Result<Client, Failure> {
    gantry_llm::wire::install_tls();
    let builder = Client::builder()
        .user_agent(concat!("gantry/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_MAX)
        .read_timeout(SILENCE_MAX)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .referer(false)
        .pool_max_idle_per_host(0)
        .dns_resolver(std::sync::Arc::new(Resolver(Lists::of(place))));
    let builder = if unpack == Unpack::No { builder.no_gzip() } else { builder };
    builder
        .build()
        .map_err(|error| Failure::new(FailureClass::Transient, format!("no HTTP client can be made: {error}")))
}

/// A request that did not come to an answer.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub(super) failure: Failure,
    /// It never left this machine, or never reached the server.
    pub(super) sent: bool,
}

impl From<Failure> for Unanswered {
    fn from(failure: Failure) -> Self {
        Self { failure, sent: false }
    }
}

/// Sends a request and follows where it leads. Once a server has said where to see what came of the request, it was
/// carried out, whatever happens on the way there.
pub(super) async fn send(
    client: &Client,
    asked: &Asked,
    key: &str,
    also: &HeaderMap,
    place: &Place,
    stop: &CancellationToken,
) -> Result<Response, Unanswered> {
    let mut carried_out = false;
    let followed = follow(client, asked, key, also, place, stop, &mut carried_out).await;
    followed.map_err(|Unanswered { failure, sent }| Unanswered {
        failure: if carried_out { in_doubt(failure, asked) } else { failure },
        sent: sent || carried_out,
    })
}

/// A failure on the way to what came of a request: nobody sends that request again unasked.
fn in_doubt(failure: Failure, asked: &Asked) -> Failure {
    if asked.repeatable() || failure.class == FailureClass::Cancelled {
        return failure;
    }
    let host = asked.url.host_str().unwrap_or_default();
    let message =
        format!("`{host}` has taken the {}, but what came of it is not known: {}", asked.method, failure.message);
    Failure { class: FailureClass::Lost, message, retry_after: None, ..failure }
}

/// Asks the policy again at each turn.
async fn follow(
    client: &Client,
    asked: &Asked,
    key: &str,
    also: &HeaderMap,
    place: &Place,
    stop: &CancellationToken,
    carried_out: &mut bool,
) -> Result<Response, Unanswered> {
    let (mut method, mut url, mut body) = (asked.method.clone(), asked.url.clone(), asked.body.clone());
    for _ in 0..=REDIRECTS_MAX {
        allowed(&url, place)?;
        let mut headers = asked.sent_headers(&url, place)?;
        if body.is_none() {
            headers.remove(CONTENT_TYPE);
        }
        if !matches!(method, Method::GET | Method::HEAD | Method::OPTIONS) && !headers.contains_key(IDEMPOTENCY_KEY) {
            headers.extend(HeaderValue::from_str(key).ok().map(|key| (IDEMPOTENCY_KEY, key)));
        }
        headers.extend(also.clone());
        let mut request = client.request(method.clone(), url.clone()).headers(headers);
        if let Some(body) = &body {
            request = request.body(body.clone());
        }
        let response = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(Unanswered { failure: cancelled(), sent: true }),
            answered = request.send() => answered.map_err(|error| trouble(&error, asked, &url))?,
        };
        let status = response.status();
        let shows = status == StatusCode::SEE_OTHER || (matches!(status.as_u16(), 301 | 302) && method == Method::POST);
        *carried_out |= shows && asked.mutates();
        let Some(next) = next(&response)? else { return Ok(response) };
        if url.scheme() == "https" && next.scheme() == "http" {
            return Err(wrong(format!("`{url}` leads on to `{next}`, which is not encrypted any more")).into());
        }
        if shows {
            (method, body) = (if method == Method::HEAD { method } else { Method::GET }, None);
        }
        url = next;
    }
    Err(wrong(format!("`{}` leads on and on: more than {REDIRECTS_MAX} times", asked.url)).into())
}

/// Where an answer leads on to.
fn next(response: &Response) -> Result<Option<Url>, Failure> {
    let to = response.headers().get(LOCATION).filter(|_| matches!(response.status().as_u16(), 301..=303 | 307 | 308));
    let Some(to) = to else { return Ok(None) };
    let to = visible(to.as_bytes());
    let url = response.url().join(&to);
    url.map(Some)
        .map_err(|error| wrong(format!("`{}` leads on to `{to}`, which is no address: {error}", response.url())))
}

/// Reads an answer up to a limit.
pub(super) async fn read(
    mut response: Response,
    bytes_max: u64,
    asked: &Asked,
    stop: &CancellationToken,
) -> Result<Vec<u8>, Failure> {
    let url = response.url().clone();
    let mut bytes = Vec::new();
    loop {
        let piece = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(cancelled()),
            piece = response.chunk() => piece.map_err(|error| cut_off(&error, asked, &url))?,
        };
        let Some(piece) = piece else { return Ok(bytes) };
        if (bytes.len() + piece.len()) as u64 > bytes_max {
            let message = format!("`{url}` answers with more than {bytes_max} bytes; fetch it with `http.download`");
            return Err(wrong(message));
        }
        bytes.extend_from_slice(&piece);
    }
}

pub(super) fn cancelled() -> Failure {
    Failure::new(FailureClass::Cancelled, "it was stopped")
}

/// Sorts what came between a request and its answer.
fn trouble(error: &reqwest::Error, asked: &Asked, url: &Url) -> Unanswered {
    let host = url.host_str().unwrap_or_default();
    let said = root_cause(error);
    if let Some(private) = chain(error).find_map(|error| error.downcast_ref::<Private>()) {
        return forbidden(private.to_string()).into();
    }
    if error.is_builder() {
        return wrong(format!("the request to `{host}` cannot be made: {said}")).into();
    }
    if error.is_connect() {
        let class = if said.contains("certificate") { FailureClass::Logic } else { FailureClass::Transient };
        return Failure::new(class, format!("`{host}` cannot be reached: {said}")).into();
    }
    let class = if asked.repeatable() { FailureClass::Transient } else { FailureClass::Lost };
    let doubt = if asked.repeatable() { "" } else { "; it may have done what was asked" };
    let why = if error.is_timeout() { "it was silent for too long".to_owned() } else { said };
    let failure = Failure::new(class, format!("the answer of `{host}` was lost: {why}{doubt}"));
    Unanswered { failure, sent: true }
}

/// An answer that broke off.
pub(super) fn cut_off(error: &reqwest::Error, asked: &Asked, url: &Url) -> Failure {
    let unreadable =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput);
    if chain(error).filter_map(|error| error.downcast_ref::<io::Error>()).any(unreadable) {
        return wrong(format!("the answer of `{url}` cannot be unpacked: {}", root_cause(error)));
    }
    let class = if asked.repeatable() { FailureClass::Transient } else { FailureClass::Lost };
    let host = url.host_str().unwrap_or_default();
    Failure::new(class, format!("the answer of `{host}` broke off: {}", root_cause(error)))
}

fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |error| (*error).source())
}

fn root_cause(error: &reqwest::Error) -> String {
    let last = chain(error).last().map(ToString::to_string).unwrap_or_default();
    shortened(&last, MESSAGE_CHARS_MAX)
}

/// What a status means that was not expected: worth another try, wrong, or in doubt. `url` is where the answer comes from.
pub(super) fn unexpected(status: StatusCode, url: &Url, headers: &HeaderMap, body: &[u8], asked: &Asked) -> Failure {
    let class = match status.as_u16() {
        // A server that broke may have done it before; so may one behind a gateway, which lost the answer.
        500 | 502 | 504 if !asked.repeatable() => FailureClass::Lost,
        // Only who shows what came of it is in trouble.
        408 | 425 | 429 | 500..=599 if !asked.repeatable() && *url != asked.url => FailureClass::Lost,
        408 | 425 | 429 | 500..=599 => FailureClass::Transient,
        _ => FailureClass::Logic,
    };
    let body = &body[..body.len().min(FAILED_BYTES_MAX)];
    let text = visible(body);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = if line.is_empty() { String::new() } else { format!(": {}", shortened(&line, MESSAGE_CHARS_MAX)) };
    let host = asked.url.host_str().unwrap_or_default();
    let message = format!("`{host}` answers {status}, and not {}{says}", asked.expected());
    let outputs = Outputs::from([
        ("status".to_owned(), json!(status.as_u16())),
        ("headers".to_owned(), shown(headers)),
        ("body".to_owned(), json!(text)),
    ]);
    let wait = gantry_llm::wire::retry_after(headers, SystemTime::now()).map(|wait| {
        let wait = wait.min(WAIT_MAX).as_millis();
        gantry_core::time::Duration::from_ms(u64::try_from(wait).unwrap_or(u64::MAX))
    });
    let retry_after = wait.filter(|_| class == FailureClass::Transient);
    Failure { outputs, retry_after, ..Failure::new(class, message) }
}

/// The headers of an answer, without the cookies, which are secrets of a kind.
pub(super) fn shown(headers: &HeaderMap) -> Value {
    let mut shown = serde_json::Map::new();
    for name in headers.keys().filter(|name| *name != "set-cookie") {
        let values: Vec<String> = headers.get_all(name).iter().map(|value| visible(value.as_bytes())).collect();
        shown.insert(name.to_string(), json!(values.join(", ")));
    }
    Value::Object(shown)
}
