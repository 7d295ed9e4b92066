//! The HTTP side.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use axum::routing::any;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::speak::{Dialect, Frame};
use super::turn::{Ends, Says, Turn};
use super::{Heard, Shared};

/// The largest request that is read.
const BODY_MAX: usize = 64 << 20;

/// Starts the thread; returns once it listens.
pub fn start(shared: Arc<Shared>, stopped: oneshot::Receiver<()>) -> (u16, JoinHandle<()>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free on this machine");
    listener.set_nonblocking(true).expect("a socket can be used by the runtime");
    let port = listener.local_addr().expect("a listener has an address").port();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime can be made").block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("the socket is not blocking");
            let app = axum::Router::new().fallback(any(answer)).with_state(shared);
            tokio::select! {
                _ = stopped => {}
                end = axum::serve(listener, app).into_future() => end.expect("the server runs until it is stopped"),
            }
        });
    });
    (port, thread)
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    let path = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = request.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let bytes = to_bytes(request.into_body(), BODY_MAX).await.unwrap_or_default();
    let heard = Heard { path, headers, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) };
    let Some(dialect) = Dialect::of(&heard) else {
        return whole(StatusCode::NOT_FOUND, &json!({"error": {"message": "no such path"}}).to_string());
    };
    let line = Line::open(shared.clone());
    let turn = shared.hear(heard);
    tokio::time::sleep(turn.latency).await;
    if let Some(gate) = &turn.gate {
        gate.pass().await;
    }
    let mut response = match &turn.says {
        Says::Status(status, body) => {
            line.over();
            whole(StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body)
        }
        Says::Answer(said) if !dialect.streams => {
            line.over();
            whole(StatusCode::OK, &dialect.whole(said).to_string())
        }
        Says::Answer(said) => streamed(dialect.frames(said, turn.pieces), &turn, line),
    };
    for (name, value) in &turn.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn whole(status: StatusCode, body: &str) -> Response<Body> {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Body::from(body.to_owned())).expect("the parts are fixed")
}

/// What happens next in a stream.
enum Next {
    Send(Frame),
    Cut,
    Hang,
}

fn streamed(frames: Vec<Frame>, turn: &Turn, line: Line) -> Response<Body> {
    let middle = frames.len() / 2;
    let mut steps: Vec<Next> = frames.into_iter().map(Next::Send).collect();
    match turn.ends {
        Ends::Properly => {}
        Ends::CutAfter(count) => {
            steps.truncate(count);
            steps.push(Next::Cut);
        }
        Ends::StopAfter(count) => steps.truncate(count),
        Ends::SilentAfter(count) => {
            steps.truncate(count);
            steps.push(Next::Hang);
        }
        Ends::Garbled => steps.insert(middle, Next::Send(Frame::garbled())),
        Ends::Trouble => {
            steps.truncate(middle);
            steps.push(Next::Send(Frame::trouble()));
        }
    }
    let drip = turn.drip;
    let state = (steps.into_iter(), Some(line));
    let stream = futures_util::stream::unfold(state, move |(mut steps, line)| async move {
        let line = line?;
        let Some(step) = steps.next() else {
            line.over();
            return None;
        };
        tokio::time::sleep(drip).await;
        match step {
            Next::Send(frame) => Some((Ok(frame.to_string()), (steps, Some(line)))),
            Next::Cut => {
                line.over();
                Some((Err(io::Error::other("the line is cut")), (steps, None)))
            }
            Next::Hang => {
                let _line = line;
                std::future::pending::<Infallible>().await;
                None
            }
        }
    });
    let response = Response::builder().header("content-type", "text/event-stream");
    response.body(Body::from_stream(stream.boxed())).expect("the parts are fixed")
}

/// One request from its beginning to its end. Dropped before its end, the caller has hung up.
struct Line {
    shared: Arc<Shared>,
    over: bool,
}

impl Line {
    fn open(shared: Arc<Shared>) -> Self {
        shared.counts.send_modify(|counts| {
            counts.requests += 1;
            counts.under_way += 1;
            counts.at_once_max = counts.at_once_max.max(counts.under_way);
        });
        Self { shared, over: false }
    }

    fn over(mut self) {
        self.over = true;
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.shared.counts.send_modify(|counts| {
            counts.under_way -= 1;
            counts.hung_up += usize::from(!self.over);
        });
    }
}
