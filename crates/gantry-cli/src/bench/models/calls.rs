//! Calls through the gateway, without any plan.

use std::time::Instant;

use gantry_llm::{Asking, Gateway};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::super::machine;
use super::line::{Line, question};
use super::server;
use crate::exit::Fault;
use crate::session;

/// How many calls are made one after the other, and how many before it counts.
const CALLS: usize = 2_000;
const WARM_UP: usize = 100;
/// How many are made at once, and how often.
pub const TOGETHER: usize = 1_000;
const ROUNDS: usize = 5;

/// How long calls took, in microseconds.
pub struct Spread {
    pub p50: f64,
    pub p99: f64,
}

impl Spread {
    fn of(mut micros: Vec<f64>) -> Self {
        micros.sort_by(f64::total_cmp);
        let at = |percent: usize| micros.get(micros.len() * percent / 100).copied().unwrap_or(f64::NAN);
        Self { p50: at(50), p99: at(99) }
    }
}

/// What came of calls one after the other.
pub struct OneByOne {
    /// The calls.
    pub call: Spread,
    /// The same bytes over a bare socket.
    pub bare: Spread,
}

/// What came of calls at once.
pub struct Together {
    /// Calls per second.
    pub per_s: f64,
    /// The memory that this process took more than before, at most.
    pub mb: f64,
}

/// Asks one question after the other.
pub fn one_by_one(line: &Line) -> Result<OneByOne, Fault> {
    session::block_on(async {
        let gateway = line.gateway("at-once", 1)?;
        let mut micros = Vec::new();
        for number in 0..WARM_UP + CALLS {
            let begin = Instant::now();
            ask(&gateway, number).await?;
            micros.push(begin.elapsed().as_secs_f64() * 1e6);
        }
        Ok(OneByOne { call: Spread::of(micros.split_off(WARM_UP)), bare: bare(line).await? })
    })
}

async fn ask(gateway: &Gateway, number: usize) -> Result<(), Fault> {
    let answer = gateway.ask(Asking::new(question(number))).await;
    answer.map(drop).map_err(|error| Fault::internal(format!("a measured call failed: {error}")))
}

/// The same bytes there and back, with nobody who reads them.
async fn bare(line: &Line) -> Result<Spread, Fault> {
    let failed = |error: std::io::Error| Fault::internal(format!("a bare call failed: {error}"));
    let mut stream = TcpStream::connect(("127.0.0.1", line.port())).await.map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    let mut answer = server::answer();
    let mut micros = Vec::new();
    for number in 0..WARM_UP + CALLS {
        let body = serde_json::to_string(&question(number).messages).unwrap_or_default();
        let head = "POST /at-once/v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n";
        let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        let begin = Instant::now();
        stream.write_all(request.as_bytes()).await.map_err(failed)?;
        stream.read_exact(&mut answer).await.map_err(failed)?;
        micros.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    Ok(Spread::of(micros.split_off(WARM_UP)))
}

/// Asks many questions at once, a few times.
pub fn together(line: &Line) -> Result<Together, Fault> {
    session::block_on(async {
        let gateway = std::sync::Arc::new(line.gateway(&format!("together-{TOGETHER}"), u32::MAX)?);
        let before = machine::resident_mb().unwrap_or(f64::NAN);
        let mut rates = Vec::new();
        for round in 0..ROUNDS {
            let begin = Instant::now();
            let mut asking = JoinSet::new();
            for number in 0..TOGETHER {
                let gateway = std::sync::Arc::clone(&gateway);
                asking.spawn(async move { ask(&gateway, round * TOGETHER + number).await });
            }
            while let Some(ended) = asking.join_next().await {
                ended.map_err(|error| Fault::internal(format!("a measured call broke off: {error}")))??;
            }
            #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
            rates.push(TOGETHER as f64 / begin.elapsed().as_secs_f64());
        }
        let mb = machine::resident_most_mb().unwrap_or(f64::NAN) - before;
        Ok(Together { per_s: super::super::median(rates), mb })
    })
}
