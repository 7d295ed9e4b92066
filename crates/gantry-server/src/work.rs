//! Requests that change something are carried out to their end, whoever waits for it.
//!
//! One that takes long (a model is asked several times, say) is answered with 202 and the place where its answer will be,
//! and nothing is given up half way or paid for twice. One that comes with a key is carried out once: whoever sends the
//! key again gets the answer of the first. What is kept here is kept while the server runs; a plan that is created with a
//! key knows it for ever, and so do runs of many plans and talks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use serde_json::json;
use tokio::sync::watch;

use crate::access::{Role, Who, random_hex};
use crate::api::once;
use crate::app::App;
use crate::body::{Named, Told, read};
use crate::listen::wants_page;
use crate::pages::{drawn, work_page};
use crate::problem::Problem;

/// How many answers are kept; the oldest are forgotten first.
const WORKS_MAX: usize = 256;
/// The longest answer that is kept.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// How long whoever asks for an answer that is not there yet waits before asking again, in seconds.
const ASK_AGAIN_SECONDS: &str = "2";
/// What keeps keys by itself, for ever.
const KEEPS_KEYS: [&str; 5] = ["/api/v1/plans", "/plans", "/api/plans", "/api/v1/bulk", "/chat/message"];

/// What is being carried out, and what came of it.
#[derive(Default)]
pub struct Works(Mutex<VecDeque<Work>>);

/// A request that is carried out.
#[derive(Clone)]
struct Work {
    id: String,
    /// Who may see what came of it.
    of: Option<String>,
    mark: Option<Mark>,
    answer: watch::Receiver<Option<Arc<Answer>>>,
}

/// A request that is carried out once: whose, which, and what it said.
#[derive(Clone, PartialEq, Eq)]
struct Mark {
    key: (Option<String>, String, String),
    said: blake3::Hash,
}

/// An answer that is kept.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

/// Whether a request is carried out, or was before.
enum Opened {
    New(Work, watch::Sender<Option<Arc<Answer>>>),
    Known(Work),
}

impl Works {
    fn all(&self) -> std::sync::MutexGuard<'_, VecDeque<Work>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, of: Option<String>, mark: Option<Mark>) -> Result<Opened, Problem> {
        let mut all = self.all();
        let known = mark
            .as_ref()
            .and_then(|mark| all.iter().find(|work| work.mark.as_ref().is_some_and(|known| known.key == mark.key)));
        if let Some(known) = known {
            if known.mark != mark {
                return Err(Problem::conflict("request::key-reused", "this key came with another request before")
                    .hint("take a new key for another request"));
            }
            return Ok(Opened::Known(known.clone()));
        }
        let (sender, answer) = watch::channel(None);
        let work = Work { id: random_hex(8), of, mark, answer };
        all.push_back(work.clone());
        if all.len() > WORKS_MAX {
            all.pop_front();
        }
        Ok(Opened::New(work, sender))
    }

    /// What was refused or went wrong may be tried again with its key.
    fn forget_key(&self, id: &str) {
        if let Some(work) = self.all().iter_mut().find(|work| work.id == id) {
            work.mark = None;
        }
    }

    fn find(&self, id: &str, who: &Who) -> Option<Work> {
        let may_see = |work: &&Work| who.role == Role::Admin || work.of.as_deref() == Some(&*who.name);
        self.all().iter().find(|work| work.id == id).filter(may_see).cloned()
    }
}

impl Answer {
    async fn of(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        match axum::body::to_bytes(body, ANSWER_BYTES_MAX).await {
            Ok(body) => Self { status: parts.status, headers: parts.headers, body },
            Err(_) => {
                let body = json!({"detail": "it was done; its answer was too long to be kept"}).to_string().into();
                Self { status: parts.status, headers: HeaderMap::new(), body }
            }
        }
    }

    fn response(&self) -> Response {
        let mut response = Response::new(Body::from(self.body.clone()));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers.clone();
        response
    }
}

fn broken(error: &tokio::task::JoinError) -> Response {
    Problem::broken("server::broke-off", format!("the request broke off: {error}")).into_response()
}

/// Carries out a request that changes something.
pub async fn carried_out(app: &App, who: Option<&Who>, request: Request, next: Next) -> Response {
    let page = wants_page(request.headers());
    Box::pin(begun(app, who, request, next, page)).await.unwrap_or_else(Problem::into_response)
}

async fn begun(app: &App, who: Option<&Who>, request: Request, next: Next, page: bool) -> Result<Response, Problem> {
    let of = who.map(|who| who.name.clone());
    let (request, mark) = arrived(app, of.clone(), request).await?;
    let opened = match mark {
        Some(mark) => Some(app.works.open(of.clone(), Some(mark))?),
        None => None,
    };
    if let Some(Opened::Known(work)) = opened {
        return Ok(waited(app, work, page).await);
    }
    let seen_by = who.cloned();
    let mut running = tokio::spawn(async move { drawn(next.run(request).await, seen_by.as_ref()) });
    let opened = match opened {
        Some(opened) => opened,
        // Nobody will ask for the answer of most requests again: it goes to the client as it comes.
        None => match tokio::time::timeout(app.limits.wait_within, &mut running).await {
            Ok(done) => return Ok(done.unwrap_or_else(|error| broken(&error))),
            Err(_) => app.works.open(of, None)?,
        },
    };
    let Opened::New(work, sender) = opened else {
        return Err(Problem::broken("server::broke-off", "a request without a key is known"));
    };
    let (has_key, id, works) = (work.mark.is_some(), work.id.clone(), app.clone());
    tokio::spawn(async move {
        let answer = Answer::of(running.await.unwrap_or_else(|error| broken(&error))).await;
        if answer.status.is_client_error() || answer.status.is_server_error() {
            works.works.forget_key(&id);
        }
        sender.send_replace(Some(Arc::new(answer)));
    });
    Ok(if has_key { waited(app, work, page).await } else { later(&work, page) })
}

/// The request as a whole, with what tells it from others where it is to be carried out once. Its body is here before the
/// time counts that it takes: a client that is still sending cannot be told where to look.
async fn arrived(app: &App, of: Option<String>, request: Request) -> Result<(Request, Option<Mark>), Problem> {
    let key = once(request.headers())?.filter(|_| !KEEPS_KEYS.contains(&request.uri().path()));
    let (parts, body) = request.into_parts();
    let bytes = read(body, app).await?;
    let mark = key.map(|key| {
        let asked = format!("{} {}", parts.method, parts.uri);
        Mark { key: (of, asked, key), said: blake3::hash(&bytes) }
    });
    Ok((Request::from_parts(parts, Body::from(bytes)), mark))
}

/// The answer, if it comes soon; else where it will be.
async fn waited(app: &App, mut work: Work, page: bool) -> Response {
    let soon = tokio::time::timeout(app.limits.wait_within, work.answer.wait_for(Option::is_some)).await;
    let answer = soon.ok().and_then(Result::ok).and_then(|answer| answer.clone());
    answer.map_or_else(|| later(&work, page), |answer| answer.response())
}

/// Where the answer will be.
fn later(work: &Work, page: bool) -> Response {
    let url = format!("/work/{}", work.id);
    if page {
        return Redirect::to(&url).into_response();
    }
    let told = Told(json!({"state": "running", "url": url}));
    let headers = [(header::LOCATION, url), (header::RETRY_AFTER, ASK_AGAIN_SECONDS.to_owned())];
    (StatusCode::ACCEPTED, headers, told).into_response()
}

/// What came of a request that took long: its answer, as soon as it is there.
pub async fn show(State(app): State<App>, who: Who, Named(id): Named<String>, headers: HeaderMap) -> Response {
    let Some(work) = app.works.find(&id, &who) else {
        return Problem::missing("server::no-work", "there is no such request, or its answer is not kept any more")
            .hint("look at the plan that it was about; repeat the request if it was not done")
            .into_response();
    };
    let answer = work.answer.borrow().clone();
    match answer {
        Some(answer) => answer.response(),
        None if wants_page(&headers) => {
            let mut response = work_page(&who);
            response.headers_mut().insert(header::REFRESH, HeaderValue::from_static(ASK_AGAIN_SECONDS));
            response
        }
        None => later(&work, false),
    }
}
