//! `gantry bench serve`: what watching plans takes, and how many questions a server answers.
//!
//! The server is a process of its own, so that its memory and its speed are told and not those of its clients; both share
//! the machine.

mod client; // in reading order
mod figures;
mod watch;

use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};
use std::time::{Duration, Instant};

use gantry_engine::{NewPlan, Origin};
use gantry_format::Loaded;

use super::child::this_program;
use super::nothing::Nothing;
use super::{machine, median, sub};
use crate::exit::{self, Fault};
use crate::session;
use crate::talk::talk;
use client::Line;
use figures::{Answers, Figures, Speed};

/// How many rows of waits a paced plan has, how many waits each has, and how long each is: about 1,000 events a second.
const ROWS: usize = 16;
const WAITS: usize = 150;
const WAIT_MS: u64 = 26;
/// How long a chain is that goes as fast as it can.
const CHAIN: usize = 200;
/// How often speed is measured, without and with watchers in turn.
const ROUNDS: usize = 3;
/// How many lines ask at once, and for how long.
const LINES: usize = 8;
const ASK_FOR: Duration = Duration::from_secs(3);

/// Measure what watching plans takes, and how many questions a server answers
///
/// A server on this machine, a process of its own, is watched by 1,000 clients at once (server-sent events). `live` is a
/// plan with about 1,000 events a second: how long they take from the decision to a client, and the memory of a client.
/// `speed` is how fast plans go with so many watchers, beside nobody: that paced plan, and a chain of 200 commands that goes
/// as fast as it can, each the median of three rounds in turn. `answers` is how many requests for the list of
/// plans, and for one plan, are answered in a second with 10,000 plans on record.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry bench serve\n  gantry bench serve --json\n  gantry bench serve --only answers --dir /mnt/fast"
)]
pub struct Args {
    /// The folder for the records that are made; its disk is part of what is measured [default: the system's temporary
    /// folder]
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Measure only this; may be given several times
    #[arg(long, value_name = "WHAT")]
    only: Vec<What>,
    /// How many clients watch
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    clients: usize,
    /// How many plans are on record when the server is asked about them
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    plans: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum What {
    Live,
    Speed,
    Answers,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    machine::many_files();
    let folder = super::folder_in(args.dir.as_deref())?;
    let figures = session::block_on_cores(measure(folder.path(), args))?;
    exit::print(&if args.json { exit::json_text(&figures.to_json())? } else { figures.to_text() })?;
    Ok(ExitCode::from(exit::DONE))
}

async fn measure(folder: &Path, args: &Args) -> Result<Figures, Fault> {
    let wanted = |what: What| args.only.is_empty() || args.only.contains(&what);
    let mut figures = Figures { clients: args.clients, plans: args.plans, ..Figures::default() };
    if wanted(What::Live) || wanted(What::Speed) {
        let server = Serving::start(&sub(folder, "live")?)?;
        if wanted(What::Live) {
            talk!("measuring {} clients that watch a plan …", args.clients);
            figures.live = Some(watch::live(&server, args.clients).await?);
        }
        if wanted(What::Speed) {
            talk!("measuring the speed of plans, watched and not …");
            figures.paced = Some(speed(&server, &paced(), args.clients).await?);
            figures.chain = Some(speed(&server, &chain(), args.clients).await?);
        }
    }
    if wanted(What::Answers) {
        talk!("measuring answers with {} plans on record …", args.plans);
        figures.answers = Some(answers(&sub(folder, "answers")?, args.plans).await?);
    }
    Ok(figures)
}

/// Rows of waits, side by side.
fn paced() -> String {
    let task = |row: usize, at: usize| {
        let after = at.checked_sub(1).map(|before| format!(", depends_on: [w{row}-{before}]")).unwrap_or_default();
        format!("  - {{id: w{row}-{at}, wait: {WAIT_MS}ms{after}}}\n")
    };
    let tasks: String = (0..ROWS).flat_map(|row| (0..WAITS).map(move |at| task(row, at))).collect();
    format!("title: Paced\ntasks:\n{tasks}")
}

/// One command after the other.
fn chain() -> String {
    let task = |at: usize| {
        let after = at.checked_sub(1).map(|before| format!(", depends_on: [t{before}]")).unwrap_or_default();
        format!("  - {{id: t{at}, run: 'true'{after}}}\n")
    };
    format!("title: Chain\ntasks:\n{}", (0..CHAIN).map(task).collect::<String>())
}

/// How long a plan takes without watchers, and with them, in turn.
async fn speed(server: &Serving, plan: &str, clients: usize) -> Result<Speed, Fault> {
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.push(watch::carried_out(server, plan, 0).await?);
        watched.push(watch::carried_out(server, plan, clients).await?);
    }
    Ok(Speed { alone_s: median(alone), watched_s: median(watched) })
}

/// A server in a process of its own.
pub struct Serving {
    child: Child,
    addr: String,
}

impl Serving {
    fn start(folder: &Path) -> Result<Self, Fault> {
        let failed = |error: std::io::Error| Fault::internal(format!("the server cannot be started: {error}"));
        // One client asks for a thousand here.
        let mut command = this_program(&["serve", "--json", "--addr", "127.0.0.1:0", "--rate", "1000000000"])?;
        command.arg("--db").arg(folder.join("gantry.db")).arg("--workspace").arg(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        let mut line = String::new();
        if let Some(said) = child.stdout.take() {
            std::io::BufRead::read_line(&mut std::io::BufReader::new(said), &mut line).map_err(failed)?;
        }
        let said: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
        let addr = said["url"].as_str().and_then(|url| url.strip_prefix("http://")).map(str::to_owned);
        addr.map(|addr| Self { child, addr })
            .ok_or_else(|| Fault::internal(format!("the server did not say where it is: {line}")))
    }

    fn memory_mb(&self) -> f64 {
        machine::resident_mb_of(self.child.id()).unwrap_or(f64::NAN)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It is a process of ours, and what it has done is not needed any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How many requests are answered in a second with many plans on record.
async fn answers(folder: &Path, plans: usize) -> Result<Answers, Fault> {
    let ids = record(&folder.join("gantry.db"), plans).await?;
    let server = Serving::start(folder)?;
    let list = rate(&server, |_| "/api/v1/plans?limit=50".to_owned()).await?;
    let detail = rate(&server, |at| format!("/api/v1/plans/{}", ids[at * 7_919 % ids.len()])).await?;
    Ok(Answers { list_per_s: list, detail_per_s: detail })
}

/// Puts plans on record, as someone would who imports them.
async fn record(db: &Path, plans: usize) -> Result<Vec<String>, Fault> {
    let engine = super::engine(db, Nothing::default())?;
    let text = "title: One of many\ntasks:\n  - {id: a, run: echo}\n  - {id: b, depends_on: [a], gate: {checks: [fine]}}\n  - {id: c, depends_on: [b], run: echo}\n";
    let Loaded { plan: Some(plan), .. } = crate::file::read_here("plan.yaml", text.as_bytes()) else {
        return Err(Fault::internal("the measured plan is not sound"));
    };
    let mut ids = Vec::new();
    // Side by side, so that many become durable at once.
    for begin in (0..plans).step_by(100) {
        let some = (begin..plans.min(begin + 100)).map(|at| {
            let plan = gantry_core::plan::Plan { title: format!("One of many, {at}"), ..plan.clone() };
            engine.create(NewPlan { plan, origin: Origin::default(), once: None })
        });
        for made in futures_util::future::join_all(some).await {
            ids.push(made?.to_string());
        }
    }
    Ok(ids)
}

/// Asks over several lines at once; returns how many answers came in a second.
async fn rate(server: &Serving, path: impl Fn(usize) -> String + Sync) -> Result<f64, Fault> {
    let until = Instant::now() + ASK_FOR;
    let asking = (0..LINES).map(|line| {
        let path = &path;
        async move {
            let (mut to, mut count) = (Line::open(&server.addr).await?, 0_usize);
            while Instant::now() < until {
                to.get(&path(count * LINES + line)).await?;
                count += 1;
            }
            Ok::<usize, Fault>(count)
        }
    });
    let mut all = 0;
    for count in futures_util::future::join_all(asking).await {
        all += count?;
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let rate = all as f64 / ASK_FOR.as_secs_f64();
    Ok(rate)
}
