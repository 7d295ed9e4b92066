//! The port: connections with limits, who asks, what is counted, and a stop that loses nothing.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use gantry_core::time::Timestamp;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::access::{Access, AccessError, Audit, AuditLine, Rate, Who, random_hex};
use crate::app::{App, Inner};
use crate::body::unknown;
use crate::foreman::Foreman;
use crate::house::House;
use crate::limits::Limits;
use crate::live::Live;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::runs::Runs;
use crate::telemetry::{Sending, Span, Telemetry, Traces};
use crate::tls::{Tls, TlsError};
use crate::work::{self, Works};
use crate::{api, pages};

/// What a server is made of.
pub struct Setup {
    /// What it is given.
    pub house: Arc<dyn House>,
    /// The file of the record; accounts and the audit log stand beside it.
    pub record: PathBuf,
    /// Who sits at this machine.
    pub operator: String,
    /// How much one client may ask.
    pub limits: Limits,
    /// The address and the scheme of a client are what a proxy in front says.
    pub behind_proxy: bool,
    /// What it proves itself with when it speaks TLS itself.
    pub tls: Option<Tls>,
    /// Where traces go.
    pub traces: Option<Traces>,
    /// Whether requests and what plans do are written to standard error, one JSON object a line.
    pub log: bool,
}

/// Why a server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum Binding {
    /// The accounts cannot be read.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The certificate or its key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The address is for other machines, and nobody could be told from anybody.
    #[error("{addr} can be reached from other machines, and there are no accounts")]
    Unguarded {
        /// The address.
        addr: SocketAddr,
    },
    /// Whoever the proxy lets through would be taken for someone at this machine.
    #[error("behind a proxy nobody could be told from anybody: there are no accounts")]
    UnguardedProxy,
    /// The system says no.
    #[error("{addr} cannot be listened on: {why}")]
    Refused {
        /// The address.
        addr: SocketAddr,
        /// Why.
        why: String,
    },
}

/// How serving ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Stopped {
    /// How many plans had to be stopped in the middle of something; the next process goes on with them.
    pub cut_short: usize,
}

/// A server that listens.
pub struct Server {
    app: App,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    sending: Option<Sending>,
    addr: SocketAddr,
}

impl Server {
    /// Listens on an address: of this machine alone, unless there are accounts.
    pub async fn bind(setup: Setup, addr: SocketAddr) -> Result<Self, Binding> {
        let Setup { house, record, operator, limits, behind_proxy, tls, traces, log } = setup;
        let tls = tls.as_ref().map(Tls::acceptor).transpose()?;
        let access = Access::beside(&record, &operator)?;
        if !access.is_guarded() {
            if behind_proxy {
                return Err(Binding::UnguardedProxy);
            }
            if !addr.ip().is_loopback() {
                return Err(Binding::Unguarded { addr });
            }
        }
        let refused = |error: std::io::Error| Binding::Refused { addr, why: error.to_string() };
        let listener = TcpListener::bind(addr).await.map_err(refused)?;
        let addr = listener.local_addr().map_err(refused)?;
        let (telemetry, sending) = Telemetry::new(traces, log);
        let live = Live::new(house.engine().clone(), limits.streams_max);
        let app = App::new(Inner {
            foreman: Foreman::new(Arc::clone(&house)),
            runs: Runs::beside(&record),
            works: Works::default(),
            house,
            access,
            audit: Audit::beside(&record),
            live,
            requests: Rate::new(f64::from(limits.requests_per_second), limits.requests_burst),
            sign_ins: Rate::new(f64::from(limits.sign_ins_per_minute) / 60.0, limits.sign_ins_per_minute),
            limits,
            metrics: Metrics::default(),
            telemetry,
            started: Instant::now(),
            behind_proxy,
            speaks_tls: tls.is_some(),
            stopping: CancellationToken::new(),
        });
        Ok(Self { app, listener, tls, sending, addr })
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("{}://{}", if self.tls.is_some() { "https" } else { "http" }, self.addr)
    }

    /// Tells whether there are accounts.
    pub fn is_guarded(&self) -> bool {
        self.app.access.is_guarded()
    }

    /// Takes up the plans that were left behind: how many, and which cannot go on and why.
    pub async fn take_up(&self) -> Result<(usize, Vec<String>), Problem> {
        let (taken, unable) = self.app.foreman.take_up_orphans().await?;
        self.app.runs.take_up(&self.app)?;
        let line = |(plan, problem): (gantry_core::id::PlanId, Problem)| {
            let hint = problem.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("`{plan}` cannot go on: {}{hint}", problem.detail)
        };
        Ok((taken, unable.into_iter().map(line).collect()))
    }

    /// Serves until it is told to stop; then lets requests and work finish, and leaves plans as they stand.
    pub async fn run(self, stop: CancellationToken) -> Stopped {
        let Self { app, listener, tls, sending, .. } = self;
        let sending = sending.map(|sending| tokio::spawn(sending.run()));
        let told = app
            .telemetry
            .is_on()
            .then(|| tokio::spawn(app.telemetry.clone().follow(app.engine().clone(), app.stopping.clone())));
        let pump = tokio::spawn(app.live.clone().pump(app.stopping.clone()));
        let looking = tokio::spawn(look_at_accounts(app.clone()));
        let service = router(app.clone());
        let (tracker, room) = (TaskTracker::new(), Arc::new(Semaphore::new(app.limits.connections_max)));
        loop {
            let come = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                come = listener.accept() => come,
            };
            let Ok((stream, from)) = come else {
                // Too many files are open, or the client is gone; neither lasts.
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                continue;
            };
            let Ok(permit) = Arc::clone(&room).try_acquire_owned() else { continue };
            let (service, app, tls) = (service.clone(), app.clone(), tls.clone());
            tracker.spawn(async move {
                accepted(stream, tls, from, service, &app).await;
                drop(permit);
            });
        }
        drop(listener);
        app.stopping.cancel();
        let cut_short = app.foreman.stop(app.limits.grace).await;
        tracker.close();
        // Whoever still talks after this long is not worth waiting for.
        let _ = tokio::time::timeout(std::time::Duration::from_secs(5), tracker.wait()).await;
        let _ = tokio::join!(pump, looking);
        if let Some(told) = told {
            let _ = told.await;
        }
        // The last ones who could hand in a span are gone: what waits is sent, and that is the end.
        drop((service, app));
        if let Some(sending) = sending {
            let _ = tokio::time::timeout(std::time::Duration::from_secs(5), sending).await;
        }
        Stopped { cut_short }
    }
}

/// How often it is looked whether another process has changed the accounts.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_secs(1);

/// Notices changes of the accounts without anybody asking: whoever lost theirs is not told more by streams that are open.
async fn look_at_accounts(app: App) {
    while tokio::time::timeout(LOOK_EVERY, app.stopping.cancelled()).await.is_err() {
        app.access.look();
    }
}

/// Talks with a client, in the clear or over TLS.
async fn accepted(stream: TcpStream, tls: Option<TlsAcceptor>, from: SocketAddr, service: Router, app: &App) {
    // Small messages are to arrive at once; a system that cannot do that is only slower.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else { return connection(stream, from, service, app).await };
    // Whoever cannot agree on TLS, or takes its time over it, is no client.
    if let Ok(Ok(stream)) = tokio::time::timeout(app.limits.header_within, tls.accept(stream)).await {
        connection(stream, from, service, app).await;
    }
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    from: SocketAddr,
    service: Router,
    app: &App,
) {
    let service = service.map_request(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(ConnectInfo(from));
        request.map(axum::body::Body::new)
    });
    let limits = &app.limits;
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_within)
        .max_headers(limits.headers_max)
        .max_buf_size(limits.header_bytes_max)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        // A client that breaks off or sends nonsense ends its connection and nothing else.
        _ = connection.as_mut() => {}
        () = app.stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Everything that is answered.
pub fn router(app: App) -> Router {
    Router::new()
        .merge(api::routes())
        .merge(pages::routes())
        // What it answers is what other routes answer, so the document says nothing about it; docs/server.md does.
        .route("/work/{id}", get(work::show))
        .fallback(nowhere)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(app.limits.body_bytes_max))
        .layer(middleware::from_fn_with_state(app.clone(), guarded))
        .with_state(app)
}

async fn nowhere(request: Request) -> Response {
    let problem = Problem::missing("server::no-route", "there is nothing here").hint("see what there is at /docs");
    if wants_page(request.headers()) { pages::Shown(Err(problem)).into_response() } else { problem.into_response() }
}

async fn wrong_method() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "server::no-method", "this cannot be done here")
        .hint("see what can at /docs")
}

/// What goes with every answer: no script or style in place, nothing from another host, in nobody's frame.
const ALWAYS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src \
         'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; frame-src 'self'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Around every request: who asks, whether they may ask here and this often, what is counted and written down.
async fn guarded(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let (began, at) = (Instant::now(), App::now());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let route = request.extensions().get::<MatchedPath>().map_or("", |route| route.as_str()).to_owned();
    let caller = Caller::of(&app, &request);
    let from = caller.from.clone();
    request.extensions_mut().insert(caller);
    let traceparent = request.headers().get("traceparent").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let request_id = request_id(request.headers());
    let changes = !matches!(method, Method::GET | Method::HEAD | Method::OPTIONS);
    let page = wants_page(request.headers());
    let (who, checked) = match admit(&app, &mut request, &from).await {
        Ok(who) => (who, Ok(())),
        Err((who, problem)) => (who, Err(problem)),
    };
    let mut response = match checked {
        Ok(()) => {
            let is_stream = route.ends_with("/events") || route.starts_with("/ws/");
            if is_stream {
                next.run(request).await
            } else if changes {
                work::carried_out(&app, who.as_ref(), request, next).await
            } else {
                let answer = tokio::time::timeout(app.limits.answer_within, next.run(request)).await;
                let answer = answer.unwrap_or_else(|_| {
                    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "server::too-slow", "this took too long")
                        .into_response()
                });
                pages::drawn(answer, who.as_ref())
            }
        }
        Err(problem) if problem.status == 401 && page && !changes => {
            Redirect::to(&format!("/sign-in?next={}", encoded(&path))).into_response()
        }
        Err(problem) if page => pages::problem_page(&problem, who.as_ref()),
        Err(problem) => problem.into_response(),
    };
    for (name, value) in ALWAYS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    let status = response.status().as_u16();
    app.metrics.count(method.as_str(), &route, status, began.elapsed());
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    if app.telemetry.is_on() {
        let asked = Asked {
            id: &request_id,
            traceparent: traceparent.as_deref(),
            at,
            method: &method,
            route: &route,
            path: &path,
        };
        asked.tell(&app, &from, who.as_ref(), status);
    }
    if changes {
        let (who, method) = (who.map(|who| who.name), method.to_string());
        let line = AuditLine { at: App::now(), who, from, method, path, status };
        // What cannot be written down is said where the operator looks; what was done is in the journal.
        if let Err(error) = app.audit.write(&line) {
            eprintln!("warning: the audit log cannot be written: {error}");
        }
    }
    response
}

/// A request that was answered.
struct Asked<'r> {
    id: &'r str,
    traceparent: Option<&'r str>,
    at: Timestamp,
    method: &'r Method,
    route: &'r str,
    path: &'r str,
}

impl Asked<'_> {
    /// Tells whoever follows what the server does.
    fn tell(&self, app: &App, from: &str, who: Option<&Who>, status: u16) {
        let (now, plan) = (App::now(), plan_in(self.route, self.path));
        let name = format!("{} {}", self.method, if self.route.is_empty() { "nowhere" } else { self.route });
        let span = Span::of_request(name, self.traceparent, self.at, now)
            .with("http.request.method", self.method.as_str())
            .with("http.route", self.route)
            .with("url.path", self.path)
            .with("http.response.status_code", status)
            .with("client.address", from)
            .with("gantry.request", self.id)
            .with("gantry.plan", plan);
        let line = json!({
            "request": self.id, "trace": span.trace(), "method": self.method.as_str(), "route": self.route,
            "path": self.path, "status": status, "ms": now.as_ms() - self.at.as_ms(), "who": who.map(|who| &who.name),
            "from": from, "plan": plan,
        });
        app.telemetry.log(now, "request", line);
        app.telemetry.send(span.failed((status >= 500).then(|| format!("status {status}"))));
    }
}

/// How a request is called, in answers, logs and traces.
const REQUEST_ID: &str = "x-request-id";

/// What the client calls its request, if that is a name; else one of ours.
fn request_id(headers: &HeaderMap) -> String {
    let said = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok());
    let is_name = |text: &&str| {
        (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    said.filter(is_name).map_or_else(|| random_hex(8), str::to_owned)
}

/// The plan that a path names, as it names it.
fn plan_in<'p>(route: &str, path: &'p str) -> Option<&'p str> {
    let at = route.split('/').position(|part| part == "{plan}")?;
    path.split('/').nth(at)
}

/// What may be asked by anyone.
fn is_open(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz" | "/health" | "/ping" | "/sign-in" | "/favicon.ico")
        || path.starts_with("/assets/")
        || path == "/api/v1/sessions"
}

async fn admit(app: &App, request: &mut Request, from: &str) -> Result<Option<Who>, (Option<Who>, Problem)> {
    let headers = request.headers();
    let too_often = || {
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "request::too-often", "you ask too often");
        problem.hint("wait a second, then go on")
    };
    // What is tried with tokens that nobody has proven counts for the address: guessing costs us more than asking.
    let is_unproven = token(headers).is_some_and(|token| !app.access.is_proven(token));
    if is_unproven && !app.requests.take(from, Instant::now()) {
        return Err((None, too_often()));
    }
    let who = known(app, headers).await.map_err(|problem| (None, problem))?;
    let refuse = |problem| (who.clone(), problem);
    if !app.access.is_guarded() && !app.behind_proxy {
        check_host(headers).map_err(refuse)?;
    }
    let key = who.as_ref().map_or(from, |who| who.name.as_str());
    if !app.requests.take(key, Instant::now()) {
        return Err(refuse(too_often()));
    }
    let is_socket = headers.contains_key(header::UPGRADE);
    if is_socket || !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
        check_origin(headers).map_err(refuse)?;
    }
    if who.is_none() && !is_open(request.uri().path()) {
        return Err((None, unknown()));
    }
    if let Some(who) = &who {
        request.extensions_mut().insert(who.clone());
    }
    Ok(who)
}

/// The token that a request comes with; what is no token is one that nobody knows.
fn token(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(header::AUTHORIZATION)?;
    Some(given.to_str().ok().and_then(|text| text.strip_prefix("Bearer ")).unwrap_or_default().trim())
}

/// Who asks: by a token, a session, or because they sit at this machine.
async fn known(app: &App, headers: &HeaderMap) -> Result<Option<Who>, Problem> {
    // Behind a proxy nobody sits at this machine, also when the last account was removed.
    if let Some(who) = app.access.of_machine().filter(|_| !app.behind_proxy) {
        return Ok(Some(who));
    }
    if let Some(token) = token(headers).map(str::to_owned) {
        let app = app.clone();
        let found = tokio::task::spawn_blocking(move || app.access.by_token(&token)).await.unwrap_or_default();
        return found.map(Some).ok_or_else(|| {
            Problem::new(StatusCode::UNAUTHORIZED, "access::token", "this token is not known")
                .hint("make one with `gantry access token NAME --role ROLE`")
        });
    }
    Ok(session(headers).and_then(|secret| app.access.by_session(&secret, App::now())))
}

/// What a client was let in with, for answers that go on: whether it still counts can be asked again.
pub struct Pass {
    who: Who,
    proofs: HeaderMap,
}

impl FromRequestParts<App> for Pass {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let who = Who::from_request_parts(parts, app).await?;
        let is_proof = |name: &HeaderName| *name == header::AUTHORIZATION || *name == header::COOKIE;
        let proofs = parts.headers.iter().filter(|(name, _)| is_proof(name));
        Ok(Self { who, proofs: proofs.map(|(name, value)| (name.clone(), value.clone())).collect() })
    }
}

impl Pass {
    /// Tells whether the client would be let in as the same one now.
    pub async fn still_lets_in(&self, app: &App) -> bool {
        matches!(known(app, &self.proofs).await, Ok(Some(now)) if now.name == self.who.name)
    }
}

/// The name of the cookie.
pub const COOKIE: &str = "gantry_session";

/// The secret of the session that a request comes with.
pub fn session(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value.to_owned())
}

/// Where a request comes from.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The address of the client.
    pub from: String,
    /// Nobody on the way can read along.
    pub secure: bool,
}

impl Caller {
    fn of(app: &App, request: &Request) -> Self {
        let said = |name: &str| request.headers().get(name).filter(|_| app.behind_proxy)?.to_str().ok();
        let secure = app.speaks_tls || said("x-forwarded-proto") == Some("https");
        // The last one is what the proxy itself saw; those before it are what its client says.
        if let Some(last) = said("x-forwarded-for").and_then(|all| all.rsplit(',').next()) {
            return Self { from: last.trim().chars().take(64).collect(), secure };
        }
        let info = request.extensions().get::<ConnectInfo<SocketAddr>>();
        Self { from: info.map_or_else(String::new, |ConnectInfo(from)| from.ip().to_string()), secure }
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

/// Without accounts, only this machine is answered, and only under its own name: a page elsewhere whose name was made to
/// point here is not.
fn check_host(headers: &HeaderMap) -> Result<(), Problem> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name =
        host.rsplit_once(':').filter(|(_, port)| port.chars().all(|c| c.is_ascii_digit())).map_or(host, |(n, _)| n);
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if is_loopback || name.eq_ignore_ascii_case("localhost") {
        return Ok(());
    }
    Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "access::host", "this server answers this machine alone")
        .hint("open it as http://localhost, or make accounts with `gantry access`"))
}

/// A browser says where a request comes from: only our own pages may change something or open a socket.
pub fn check_origin(headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let site_is_ours = text("sec-fetch-site").is_none_or(|site| matches!(site, "same-origin" | "none"));
    let origin_is_ours = text("origin").is_none_or(|origin| {
        let host = origin.split_once("://").map(|(_, host)| host);
        host.is_some() && host == text("host")
    });
    if site_is_ours && origin_is_ours {
        return Ok(());
    }
    Err(Problem::new(StatusCode::FORBIDDEN, "access::origin", "this request comes from another site")
        .hint("open the pages of this server themselves"))
}

/// Tells whether a person looks at the answer.
pub fn wants_page(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|accept| accept.contains("text/html"))
}

/// A text inside a query.
pub fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}"); // writing into a string cannot fail
        }
    }
    out
}
