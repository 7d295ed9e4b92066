//! Clients that watch a plan. Some look at everything that comes; the others only take it, as cheaply as they can.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use gantry_engine::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::client::Line;
use super::figures::Live;
use super::{Serving, paced};
use crate::exit::Fault;

/// One of so many clients looks at what comes.
const LOOKS: usize = 50;
/// How long a measured plan may take.
const PATIENCE: Duration = Duration::from_mins(3);

/// What a client saw that looks at everything.
#[derive(Default)]
struct Seen {
    latencies_ms: Vec<f64>,
    events: u64,
    /// Entries that came twice or never.
    wrong: u64,
}

/// Everyone who watches a plan.
struct Watchers {
    looking: Vec<JoinHandle<Result<Seen, Fault>>>,
    taking: Vec<JoinHandle<()>>,
}

impl Watchers {
    async fn begin(server: &Serving, plan: &str, clients: usize) -> Result<Self, Fault> {
        let mut all = Self { looking: Vec::new(), taking: Vec::new() };
        for at in 0..clients {
            let (stream, rest) = Line::open(&server.addr).await?.watch(plan).await?;
            if at % LOOKS == 0 {
                all.looking.push(tokio::spawn(look(stream, rest)));
            } else {
                all.taking.push(tokio::spawn(take(stream)));
            }
        }
        Ok(all)
    }

    /// What those saw that looked, when the plan has ended.
    async fn end(self) -> Result<Vec<Seen>, Fault> {
        let ended = tokio::time::timeout(PATIENCE, join_all(self.looking)).await;
        self.taking.iter().for_each(JoinHandle::abort);
        let ended = ended.map_err(|_| Fault::internal("the watched plan did not end"))?;
        ended.into_iter().map(|seen| seen.map_err(|error| Fault::internal(error.to_string()))?).collect()
    }
}

/// Takes what comes, and looks at nothing.
async fn take(mut stream: TcpStream) {
    let mut buffer = vec![0; 64 << 10];
    while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
}

/// Looks at everything that comes until the plan has ended.
async fn look(mut stream: TcpStream, mut buffer: Vec<u8>) -> Result<Seen, Fault> {
    // The first entry is the plan itself.
    let (clock, mut seen, mut last) = (SystemClock::new(), Seen::default(), 1);
    loop {
        while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = buffer.drain(..=end).collect();
            let Some(data) = line.strip_prefix(b"data: ") else { continue };
            let Ok(value) = serde_json::from_slice::<Value>(data) else { continue };
            let (Some(seq), Some(at)) = (value["seq"].as_u64(), value["at"].as_str()) else { continue };
            seen.wrong += u64::from(seq != last + 1);
            last = seq;
            seen.events += 1;
            if let Ok(at) = at.parse::<jiff::Timestamp>() {
                #[expect(clippy::cast_precision_loss, reason = "milliseconds of a measurement")]
                seen.latencies_ms.push((clock.now().as_ms() - at.as_millisecond()) as f64);
            }
            if value["event"] == "plan_completed" {
                return Ok(seen);
            }
        }
        match stream.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => return Err(Fault::internal("a stream ended before its plan")),
            Ok(_) => {}
        }
    }
}

async fn created(line: &mut Line, plan: &str) -> Result<String, Fault> {
    let made = line.post("/api/v1/plans", &json!({"file": plan, "start": false})).await?;
    Ok(made["plan"].as_str().unwrap_or_default().to_owned())
}

/// Starts a plan and waits for its end; returns how long it was at work, in seconds, as its record says.
async fn to_its_end(line: &mut Line, plan: &str) -> Result<f64, Fault> {
    let path = format!("/api/v1/plans/{plan}");
    line.post(&format!("{path}/start"), &json!({})).await?;
    let begin = Instant::now();
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let found = line.get(&path).await?;
        if found["state"] == "completed" {
            return Ok(found["elapsed_ms"].as_f64().unwrap_or(f64::NAN) / 1e3);
        }
        if begin.elapsed() > PATIENCE {
            return Err(Fault::internal(format!("the measured plan is {}", found["state"])));
        }
    }
}

/// Carries out a plan that so many watch; returns how many seconds it took.
pub async fn carried_out(server: &Serving, plan: &str, clients: usize) -> Result<f64, Fault> {
    let mut line = Line::open(&server.addr).await?;
    let id = created(&mut line, plan).await?;
    let watchers = Watchers::begin(server, &id, clients).await?;
    let seconds = to_its_end(&mut line, &id).await?;
    watchers.end().await?;
    Ok(seconds)
}

/// Watches a plan with about a thousand events a second.
pub async fn live(server: &Serving, clients: usize) -> Result<Live, Fault> {
    let mut line = Line::open(&server.addr).await?;
    let id = created(&mut line, &paced()).await?;
    let before_mb = server.memory_mb();
    let begin = Instant::now();
    let watchers = Watchers::begin(server, &id, clients).await?;
    let (connected_ms, idle_mb) = (begin.elapsed().as_secs_f64() * 1e3, server.memory_mb());
    let seconds = to_its_end(&mut line, &id).await?;
    let busy_mb = server.memory_mb();
    let seen = watchers.end().await?;
    let mut latencies: Vec<f64> = seen.iter().flat_map(|one| one.latencies_ms.iter().copied()).collect();
    latencies.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "figures")]
    let at = |share: f64| latencies.get(((latencies.len() as f64 - 1.0) * share) as usize).copied().unwrap_or(f64::NAN);
    let events = seen.first().map_or(0, |one| one.events);
    #[expect(clippy::cast_precision_loss, reason = "figures")]
    Ok(Live {
        connected_ms,
        kb_idle: (idle_mb - before_mb) * 1_024.0 / clients as f64,
        kb_busy: (busy_mb - before_mb) * 1_024.0 / clients as f64,
        events_per_s: events as f64 / seconds,
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        wrong: seen.iter().map(|one| one.wrong).sum(),
    })
}
