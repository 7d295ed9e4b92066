//! A provider of models for tests: a real HTTP server on this machine that answers as it was told.
//!
//! It speaks chat completions, Responses, Anthropic's messages and Gemini, streamed and whole, each at its usual path.
//! It lives on a thread of its own, so a test may stop its own clock, or have no runtime at all.
//!
//! ```
//! use gantry_testkit::model_server::{ModelServer, Turn};
//! let server = ModelServer::start();
//! server.then(Turn::status(429).header("retry-after", "2")).then(Turn::text("Good day."));
//! // … let somebody ask at `server.base_url()` …
//! assert!(server.heard().is_empty());
//! ```

mod turn; // in reading order
mod speak;
mod serve;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::Value;
use tokio::sync::{oneshot, watch};

pub use turn::{Gate, Turn};

/// The server. It ends when it is dropped.
pub struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A request that came.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// Its path, with its query.
    pub path: String,
    /// Its headers, by their names in small letters.
    pub headers: BTreeMap<String, String>,
    /// Its body; null where it was no JSON.
    pub body: Value,
}

/// How a turn is found when none was told.
type Otherwise = Arc<dyn Fn(&Heard) -> Turn + Send + Sync>;

struct Shared {
    script: Mutex<Script>,
    counts: watch::Sender<Counts>,
}

struct Script {
    turns: VecDeque<Turn>,
    otherwise: Otherwise,
    heard: Vec<Heard>,
}

/// What has happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that came.
    pub requests: usize,
    /// Requests that are being answered.
    pub under_way: usize,
    /// The most that were being answered at once.
    pub at_once_max: usize,
    /// Callers who closed the line before the answer was over.
    pub hung_up: usize,
}

impl ModelServer {
    /// Starts one at a free port. Until it is told otherwise it answers `ok`.
    pub fn start() -> Self {
        let script = Script { turns: VecDeque::new(), otherwise: Arc::new(|_| Turn::text("ok")), heard: Vec::new() };
        let shared = Arc::new(Shared { script: Mutex::new(script), counts: watch::Sender::new(Counts::default()) });
        let (stop, stopped) = oneshot::channel();
        let (port, thread) = serve::start(shared.clone(), stopped);
        Self { port, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// Its address, as a provider's: with a version and a slash at the end.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1/", self.port)
    }

    /// Answers the next request that has no answer yet like this.
    pub fn then(&self, turn: Turn) -> &Self {
        self.shared.script().turns.push_back(turn);
        self
    }

    /// Answers every further request like this, once nothing else is left to say.
    pub fn always(&self, turn: Turn) -> &Self {
        self.otherwise(move |_| turn.clone())
    }

    /// Answers every further request by looking at it, once nothing else is left to say.
    pub fn otherwise(&self, turn: impl Fn(&Heard) -> Turn + Send + Sync + 'static) -> &Self {
        self.shared.script().otherwise = Arc::new(turn);
        self
    }

    /// Everything that was asked so far.
    pub fn heard(&self) -> Vec<Heard> {
        self.shared.script().heard.clone()
    }

    /// The bodies of everything that was asked so far.
    pub fn bodies(&self) -> Vec<Value> {
        self.heard().into_iter().map(|heard| heard.body).collect()
    }

    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        *self.shared.counts.borrow()
    }

    /// Waits until this is true of what has happened.
    pub async fn until(&self, holds: impl FnMut(&Counts) -> bool) -> Counts {
        let mut holds = holds;
        let mut counts = self.shared.counts.subscribe();
        let found = counts.wait_for(|counts| holds(counts)).await.map(|counts| *counts);
        found.expect("the server keeps counting while it lives")
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was seen as a broken answer here already.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a request and finds its answer.
    fn hear(&self, heard: Heard) -> Turn {
        let mut script = self.script();
        script.heard.push(heard.clone());
        let next = script.turns.pop_front();
        let otherwise = script.otherwise.clone();
        drop(script);
        next.unwrap_or_else(|| otherwise(&heard))
    }
}
