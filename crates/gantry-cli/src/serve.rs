//! `gantry serve`: everything over HTTP, on one port.

mod house;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use gantry_server::{Binding, Limits, Server, Setup, Stopped, Tls, Traces};
use gantry_store::PlanNo;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::exit::{self, Fault};
use crate::run::How;
use crate::session::{self, Record};
use crate::surroundings;
use crate::talk::talk;
use house::Wired;

/// Serve the web pages, the API and live streams, and work on plans
///
/// Everything is on one port: pages at `/`, the API at `/api/v1`, its description at `/docs`. Plans that were under way when
/// their process went away are taken up at the start; plans that are created or answered here are worked on here. Ctrl-C, or
/// SIGTERM, lets what runs finish for a while and leaves every plan as it stands; the next `gantry serve` goes on. One
/// record is served once: a second `gantry serve` is refused, and other commands work beside it.
///
/// Without accounts only this machine is answered, and whoever sits at it may do everything. Make accounts with
/// `gantry access`; then other machines can be let in, too, with `--tls-cert` and `--tls-key`, or
/// behind a proxy that speaks TLS.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry serve\n  gantry serve --addr 127.0.0.1:9000 --workspace ~/project\n  gantry access user ana --role admin && gantry serve --addr 0.0.0.0:8080 --behind-proxy\n  gantry serve --addr 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem\n  curl -s http://127.0.0.1:8080/api/v1/plans"
)]
pub struct Args {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080", env = "GANTRY_ADDR")]
    addr: SocketAddr,
    /// The folder that tasks of new plans work in [default: the current folder]
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    workspace: std::path::PathBuf,
    /// Speak TLS: the certificate in PEM, followed by those that vouch for it
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<std::path::PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<std::path::PathBuf>,
    /// Believe the `X-Forwarded-For` and `X-Forwarded-Proto` of a proxy in front
    #[arg(long)]
    behind_proxy: bool,
    /// Write requests and what plans do to standard error, one JSON object a line, with their ids
    #[arg(long, env = "GANTRY_LOG", value_name = "FORM", value_parser = ["json"])]
    log: Option<String>,
    /// How long what runs may take to finish when the server is asked to stop, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    grace: u64,
    /// How long a request that changes something waits for its answer before it is told where that will be, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().wait_within.as_secs(), value_parser = clap::value_parser!(u64).range(1..=3_600))]
    answer_within: u64,
    /// The largest body of a request, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().body_bytes_max)]
    body_max: usize,
    /// How many requests one client may make in a second
    #[arg(long, value_name = "N", default_value_t = Limits::default().requests_per_second, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let workspace = surroundings::workspace(&args.workspace)?;
    session::block_on_cores(async {
        let house = Arc::new(Wired::new(&args.record, args.how.clone(), workspace)?);
        // A second one would drive the same plans, tell half of what happens, and let the same people in twice.
        let Some(_only_one) = house.store().claim(PlanNo::WHOLE_RECORD).await? else {
            let path = args.record.path()?;
            return Err(Fault::refused(format!("another `gantry serve` works on the record `{}`", path.display()))
                .hint("use that one, stop it first, or name another record with `--db FILE` or GANTRY_DB"));
        };
        let limits = Limits {
            grace: Duration::from_secs(args.grace),
            body_bytes_max: args.body_max,
            wait_within: Duration::from_secs(args.answer_within),
            requests_per_second: args.rate,
            requests_burst: args.rate.saturating_mul(2),
            ..Limits::default()
        };
        let setup = Setup {
            house,
            record: args.record.path()?,
            operator: session::operator(),
            limits,
            behind_proxy: args.behind_proxy,
            tls: args.tls_cert.clone().zip(args.tls_key.clone()).map(|(certificates, key)| Tls { certificates, key }),
            traces: Traces::from_variables(|name| std::env::var(name).ok()),
            log: args.log.is_some(),
        };
        let server = Server::bind(setup, args.addr).await.map_err(unable)?;
        let stop = CancellationToken::new();
        let mut signals = Vec::new();
        for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
            signals.push(signal(kind).map_err(|error| Fault::internal(format!("no signals: {error}")))?);
        }
        let (taken, unable) = server.take_up().await.map_err(|problem| Fault::internal(problem.detail))?;
        tell(args, &server, taken, &unable)?;
        let told = stop.clone();
        let mut serving = tokio::spawn(server.run(stop));
        let [mut interrupt, mut terminate] =
            <[_; 2]>::try_from(signals).map_err(|_| Fault::internal("signals cannot be listened to"))?;
        let ended = tokio::select! {
            ended = &mut serving => ended,
            _ = interrupt.recv() => { said(args); told.cancel(); again(&mut serving, &mut interrupt).await }
            _ = terminate.recv() => { said(args); told.cancel(); again(&mut serving, &mut interrupt).await }
        };
        let Stopped { cut_short } = ended.map_err(|error| Fault::internal(format!("serving broke off: {error}")))?;
        if cut_short > 0 && !args.record.json {
            let plans = crate::file::count(cut_short, "plan");
            talk!(
                "{plans} had to be stopped in the middle of something; `gantry serve` goes on with what is safe to repeat"
            );
        }
        Ok(ExitCode::from(exit::DONE))
    })
}

/// Waits for the end; a second Ctrl-C does not.
async fn again(
    serving: &mut tokio::task::JoinHandle<Stopped>,
    interrupt: &mut tokio::signal::unix::Signal,
) -> Result<Stopped, tokio::task::JoinError> {
    tokio::select! {
        ended = &mut *serving => ended,
        _ = interrupt.recv() => Ok(Stopped { cut_short: 0 }),
    }
}

fn said(args: &Args) {
    if !args.record.json {
        talk!("stopping: what runs is let finish for up to {} s; Ctrl-C again stops at once", args.grace);
    }
}

fn tell(args: &Args, server: &Server, taken: usize, unable: &[String]) -> Result<(), Fault> {
    let url = server.url();
    if args.record.json {
        return exit::print(&format!("{}\n", json!({"url": url, "taken_up": taken, "unable": unable})));
    }
    talk!("Gantry is at {url} (the API at {url}/docs); Ctrl-C stops it");
    if !server.is_guarded() {
        talk!("without accounts, only this machine is answered; see `gantry access --help`");
    }
    if taken > 0 {
        talk!("going on with {}", crate::file::count(taken, "plan"));
    }
    for line in unable {
        talk!("{line}");
    }
    Ok(())
}

fn unable(binding: Binding) -> Fault {
    let message = binding.to_string();
    match binding {
        Binding::Access(_) => Fault::internal(message),
        Binding::Tls(_) => Fault::bad_input(message)
            .hint("both are files in PEM: `-----BEGIN CERTIFICATE-----`, `-----BEGIN PRIVATE KEY-----`"),
        Binding::Unguarded { .. } => Fault::refused(message)
            .hint("make an account with `gantry access user NAME --role admin`, or listen on 127.0.0.1"),
        Binding::UnguardedProxy => Fault::refused(message)
            .hint("make an account with `gantry access user NAME --role admin`, or leave out `--behind-proxy`"),
        Binding::Refused { .. } => Fault::internal(message)
            .hint("is another program there? choose a port with `--addr 127.0.0.1:PORT`; port 0 takes a free one"),
    }
}
