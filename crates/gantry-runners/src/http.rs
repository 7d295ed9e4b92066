//! `http.get`, `http.request`, `http.download`: over the network, to the hosts that the policy lists.
//!
//! | Capability | Arguments |
//! | --- | --- |
//! | `http.get` | `url`; `headers`, `expect` |
//! | `http.request` | `url`; `method` (`POST`), `json` or `body`, `headers`, `expect` |
//! | `http.download` | `url`, `path`; `sha256`, `headers` |
//!
//! `${NAME}` in a header stands for a secret or a variable of the operator; neither is ever seen. `expect` has the statuses
//! that are a success. The address is checked against `policy.network.allow`, and so are every redirect and what each name
//! leads to ([`address`]). A request that changes something carries an `Idempotency-Key`, which is
//! the same for the same request of the same work.
//!
//! **Failures.** No connection, and an answer with 408, 425, 429 or 5xx: `transient`, with the wait that `Retry-After` asks
//! for. Any other answer that is not expected: `logic`. Where the answer to a POST or PATCH is lost, by the line or by a
//! gateway (502, 504), where the server broke (500), or where what came of it cannot be seen (a redirect that ends
//! nowhere), it may have been carried out: `lost`.
//!
//! **Back.** A download keeps what was there before it ([`download`]). What a request changed at a server only the server
//! can take back.

mod address; // in reading order
mod asked;
mod send;
mod answer;
mod download;

use std::fmt::Write as _;

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::policy::FailureClass;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use answer::Answer;
use asked::Asked;
use send::Unpack;

use crate::ports::Ports;
use crate::runner::{Description, Ended, Happened, Preview, Runner};
use crate::text::{middle_cut, visible};
use crate::work::{Place, Work};

/// The kind under which requests are recorded that may change something.
pub const REQUEST: &str = "http";
/// The kind of those that only fetch.
const FETCH: &str = "http-fetch";
/// What the answer in the record has when a request never reached its server.
pub const NOT_SENT: &str = "not_sent";

/// How much of the body of a request is shown before it is sent.
const SHOWN_CHARS_MAX: usize = 4_000;

/// Speaks to servers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Http;

impl Http {
    async fn ask(work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Result<Success, Failure> {
        let asked = Asked::of(work, place)?;
        let client = send::client(place, Unpack::Yes)?;
        let kind = if asked.mutates() { REQUEST } else { FETCH };
        let call = ports.begin(kind, asked.recorded()).await?;
        let sending = async {
            let response = send::send(&client, &asked, &asked.key(work), &HeaderMap::new(), place, stop).await?;
            let (status, url, headers) = (response.status(), response.url().clone(), response.headers().clone());
            let read = send::read(response, place.limits.file_bytes_max, &asked, stop).await;
            match read {
                Ok(body) if asked.expects(status) => Ok(Answer { status: status.as_u16(), url, headers, body }),
                Ok(body) => Err(send::unexpected(status, &url, &headers, &body, &asked)),
                Err(failure) if asked.expects(status) => Err(failure),
                Err(_) => Err(send::unexpected(status, &url, &headers, &[], &asked)),
            }
            .map_err(|failure| send::Unanswered { failure, sent: true })
        };
        match ports.beating(work.heartbeat, sending).await {
            Ok(answer) => {
                ports.calls.answered(call, answer.recorded());
                let mutates = asked.mutates();
                // By then it is done: whoever cannot keep what came of it must not do it again unasked.
                answer.into_success(ports).await.map_err(|failure| {
                    let class = if mutates { FailureClass::Lost } else { failure.class };
                    Failure { class, ..failure }
                })
            }
            Err(send::Unanswered { failure, sent }) => {
                let name = if sent { "failed" } else { NOT_SENT };
                ports.calls.answered(call, json!({name: failure.message}));
                Err(failure)
            }
        }
    }
}

#[async_trait]
impl Runner for Http {
    fn names(&self) -> &'static [&'static str] {
        &["http.get", "http.request", "http.download"]
    }

    fn description(&self, name: &str) -> Option<Description> {
        let text = |meaning: &str| json!({"type": "string", "description": meaning});
        let url =
            json!({"type": "string", "description": "A whole address.", "examples": ["https://example.org/data.json"]});
        let headers = json!({
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Headers by name; ${NAME} stands for a secret of that name.",
        });
        let (text, properties, required) = match name {
            "http.get" => (
                "Fetches an address and gives its status and text, and its value when that is JSON.",
                json!({"url": url, "headers": headers}),
                json!(["url"]),
            ),
            "http.request" => (
                "Sends a request that may change something at a server, and gives the answer.",
                json!({
                    "url": url,
                    "method": {"type": "string", "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]},
                    "json": {"type": "object", "description": "The body, as JSON."},
                    "body": text("The body, as text."),
                    "headers": headers,
                }),
                json!(["url", "method"]),
            ),
            "http.download" => (
                "Fetches an address into a file of the working folder.",
                json!({
                    "url": url,
                    "path": text("A path below the working folder."),
                    "sha256": text("The checksum that the file must have."),
                    "headers": headers,
                }),
                json!(["url", "path"]),
            ),
            _ => return None,
        };
        let parameters =
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        Some(Description { text: text.into(), parameters, foreign: false, repeatable: name != "http.request" })
    }

    fn parameters(&self, name: &str) -> &'static [&'static str] {
        match name {
            "http.get" => &["url"],
            "http.request" => &["method", "url", "json"],
            _ => &["url", "path"],
        }
    }

    fn guard(&self, work: &Work, place: &Place) -> Result<(), Failure> {
        Asked::of(work, place).map(drop)
    }

    async fn preview(&self, work: &Work, place: &Place) -> Result<Preview, Failure> {
        let asked = Asked::of(work, place)?;
        let mut text = match &asked.file {
            Some(file) => format!("would download {} to `{}`", asked.url, file.path),
            None => format!("would send {} {}", asked.method, asked.url),
        };
        for header in &asked.headers {
            let _ = write!(text, "\n  {}: {}", header.name, header.shown()); // writing to a text cannot fail
        }
        if let Some(body) = &asked.body {
            text += "\n\n";
            text += &middle_cut(&visible(body), SHOWN_CHARS_MAX);
        }
        Ok(Preview { text, diff: None })
    }

    async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        if stop.is_cancelled() {
            return Ended::with(Err(send::cancelled()));
        }
        let mut undo = None;
        let end = match Asked::of(work, place) {
            Err(failure) => Err(failure),
            // Larger than the others, and rare.
            Ok(asked) if asked.file.is_some() => {
                Box::pin(download::download(asked, work, place, ports, stop, &mut undo)).await
            }
            Ok(_) => Box::pin(Self::ask(work, place, ports, stop)).await,
        };
        Ended { end, usage: Default::default(), undo }
    }

    async fn undo(&self, _work: &Work, place: &Place, ports: &Ports, record: &Value) -> Result<String, String> {
        download::take_back(record, place, ports).await
    }

    /// An answer that is expected means that it happened, 404 and 410 that it did not; anything else leaves it open.
    async fn happened(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Happened {
        let fetches = Asked::of(work, place).is_ok_and(|asked| !asked.mutates() && asked.file.is_none());
        if !fetches {
            return Happened::default();
        }
        match Box::pin(Self::ask(work, place, ports, stop)).await {
            Ok(success) => Happened { happened: Some(true), outputs: success.outputs },
            Err(failure) => {
                let gone =
                    failure.outputs.get("status").is_some_and(|status| matches!(status.as_u64(), Some(404 | 410)));
                Happened { happened: gone.then_some(false), outputs: Outputs::new() }
            }
        }
    }
}
