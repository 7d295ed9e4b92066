//! `gantry run` and `gantry resume`: carries plans out.

mod how; // in reading order
mod dry;
mod sandbox;
mod follow;
mod live;
pub mod screen;
mod ending;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_engine::{Driving, Ending, Engine, EngineError, NewPlan, Options, Origin, Stop, SystemClock};
use gantry_store::Store;
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::exit::{self, Fault};
use crate::file;
use crate::session::{self, Record};
use crate::show::elapsed::now;
use crate::show::journal;
use crate::show::standing::Standing;
use crate::show::words::Tone;
use follow::Follow;
use how::How;
use screen::Screen;

/// How often a live view is drawn anew; lines are shown as they come.
const REFRESH: Duration = Duration::from_millis(100);

/// Carry out a plan file, durably
///
/// The plan is recorded first and every step after it, so that whatever interrupts it, `gantry resume` goes on where
/// it was. Ctrl-C lets what runs finish and pauses the plan; a second Ctrl-C stops at once.
///
/// What happens is said on standard error, the summary on standard output. With --json there is one object per line:
/// events, output, notices, and at last `{"ended": …}`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry run plan.yaml\n  gantry run plan.yaml --dry-run\n  gantry run plan.yaml --workspace ~/project --secret API_TOKEN\n  gantry run plan.yaml --key nightly-2026-03-01"
)]
pub struct Args {
    /// The plan file; `-` is standard input
    file: String,
    /// The folder that its tasks work in [default: the current folder]
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    workspace: String,
    /// Run the same request only once: again with the same key it goes on with the plan that it made first
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Show what each task would do; nothing is touched and nothing is recorded
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    record: Record,
}

/// Go on with plans from wherever they stand
///
/// Finished work is not done again. Secrets that a plan was given are taken from the environment again.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry resume @last\n  gantry resume 7\n  gantry resume 7 8 9 --parallel 4")]
pub struct ResumeArgs {
    /// The plans: id, number, the beginning of an id, or @last
    #[arg(required = true, value_name = "PLAN")]
    plans: Vec<String>,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let plan = file::load_sound_here(&args.file)?;
    let workspace = how::folder(Path::new(&args.workspace))?;
    let options = args.how.options(&[])?;
    if args.dry_run {
        return session::block_on(dry::run(plan, workspace, options, args.record.json));
    }
    let origin = Origin {
        workspace: workspace.to_string_lossy().into_owned(),
        file: file::name(&args.file).to_owned(),
        by: session::operator(),
        secrets: How::secret_names(&options.secrets),
        ..Origin::default()
    };
    session::block_on(async {
        let engine = args.record.engine(options.clone())?;
        let plan = engine.create(NewPlan { plan, origin, once: args.key.clone() }).await?;
        carry_out(&engine, &[plan], &args.how, &options, args.record.json).await
    })
}

pub fn resume(args: &ResumeArgs) -> Result<ExitCode, Fault> {
    session::block_on(async {
        // Which secrets are needed stands in the plans, so they are read first.
        let reader = args.record.engine(Options::default())?;
        let (mut plans, mut secrets) = (Vec::new(), Vec::new());
        for reference in &args.plans {
            let plan = session::find(&reader, reference).await?.id;
            if !plans.contains(&plan) {
                secrets.extend(reader.open(&plan).await?.origin.secrets);
                plans.push(plan);
            }
        }
        let options = args.how.options(&secrets)?;
        let (store, runners) = (Arc::clone(reader.store()), reader.runners().clone());
        let engine = Engine::new(store, Arc::new(SystemClock::new()), runners, options.clone());
        carry_out(&engine, &plans, &args.how, &options, args.record.json).await
    })
}

/// Drives the plans to wherever they can go, and tells.
async fn carry_out(
    engine: &Engine,
    plans: &[PlanId],
    how: &How,
    options: &Options,
    json: bool,
) -> Result<ExitCode, Fault> {
    let store = &**engine.store();
    let mut signals = Signals::listen()?;
    let mut happenings = engine.watch();
    let (mut follows, mut firsts, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for plan in plans {
        // Looked at before anything starts: a plan that is refused must not leave others half begun.
        if store.claimed_by_other(store.plan(plan.as_str()).await?.no).await? {
            return Err(EngineError::Driven { plan: plan.to_string() }.into());
        }
        let life = engine.open(plan).await?.life;
        if let Some(note) = sandbox::announce(options.sandbox.mode, &life).await?
            && !notes.contains(&note)
        {
            notes.push(note);
        }
        firsts.push(match life.state() {
            PlanState::Pending => vec![Input::Start],
            PlanState::Paused => vec![Input::Resume { by: session::operator() }],
            _ => Vec::new(),
        });
        follows.push(Follow::from(life, &journal::entries(store, plan, 0).await?));
    }
    let mut screen = Screen::new(json, follows);
    let (mut drivings, mut stops) = (JoinSet::new(), Vec::new());
    for (plan, first) in plans.iter().zip(firsts) {
        let driving = engine.drive(plan, how.until(), first).await?;
        let card = store.plan(plan.as_str()).await?;
        let title = crate::show::first_line(&card.card.title, 80);
        if !json {
            screen.say(Tone::Plain, &format!("{title} ({plan}, no {})", card.no))?;
        }
        stops.push(driving.stopper());
        drivings.spawn(ended(driving));
    }
    for note in notes {
        screen.say(Tone::Waits, &note)?;
    }
    let mut endings = Vec::new();
    let mut stop = [Stop::Park, Stop::Now].into_iter();
    let mut refresh = tokio::time::interval(REFRESH);
    refresh.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while !drivings.is_empty() {
        tokio::select! {
            biased;
            () = signals.next() => {
                let Some(how) = stop.next() else { continue };
                say_stop(&mut screen, how)?;
                for stop in &stops {
                    stop(how);
                }
            }
            _ = refresh.tick() => screen.refresh(),
            happening = happenings.recv() => match happening {
                Ok(happening) => screen.show(&happening)?,
                Err(RecvError::Lagged(_)) => catch_up(&mut screen, store, plans).await?,
                Err(RecvError::Closed) => {}
            },
            Some(ended) = drivings.join_next() => {
                endings.push(ended.map_err(|error| Fault::internal(format!("work broke off: {error}")))??);
            }
        }
    }
    show_rest(&mut screen, &mut happenings)?;
    catch_up(&mut screen, store, plans).await?;
    tell_endings(screen, store, endings).await
}

async fn ended(driving: Driving) -> Result<(PlanId, Ending), Fault> {
    let plan = driving.plan().clone();
    Ok((plan, driving.ended().await?))
}

fn say_stop(screen: &mut Screen, stop: Stop) -> Result<(), Fault> {
    match stop {
        Stop::Park => {
            let running = screen.running();
            let rest = if running.is_empty() {
                String::new()
            } else {
                format!(", waiting for {} to finish; Ctrl-C again stops at once", running.join(", "))
            };
            screen.say(Tone::Waits, &format!("pausing{rest}"))
        }
        Stop::Now => screen.say(Tone::Bad, "stopping at once"),
    }
}

fn show_rest(screen: &mut Screen, happenings: &mut Receiver<gantry_engine::Happening>) -> Result<(), Fault> {
    while let Ok(happening) = happenings.try_recv() {
        screen.show(&happening)?;
    }
    Ok(())
}

/// Shows what was missed: the journal has it.
async fn catch_up(screen: &mut Screen, store: &dyn Store, plans: &[PlanId]) -> Result<(), Fault> {
    for plan in plans {
        let missed = journal::entries(store, plan, screen.shown(plan)).await?;
        screen.events(plan, &missed)?;
    }
    Ok(())
}

/// Says how it ended; the exit code is that of the worst ending.
async fn tell_endings(screen: Screen, store: &dyn Store, endings: Vec<(PlanId, Ending)>) -> Result<ExitCode, Fault> {
    let (json, mut follows) = screen.close();
    let mut worst = exit::DONE;
    for (plan, ending) in endings {
        let code = ending::code(&ending);
        worst = if code == exit::FAILED || worst == exit::FAILED { exit::FAILED } else { worst.max(code) };
        let Some(Follow { life, timeline, .. }) = follows.remove(&plan) else { continue };
        let card = store.plan(plan.as_str()).await?;
        let standing = Standing { card, life, timeline, driven: false, now: now() };
        if json {
            let mut ended = crate::show::json::standing(&standing);
            ended["how"] = json!(ending::word(&ending));
            ended["exit_code"] = json!(code);
            screen::print_json(&json!({"ended": ended}))?;
        } else {
            anstream::eprintln!();
            exit::print(&ending::summary(&ending, &standing))?;
        }
    }
    Ok(ExitCode::from(worst))
}

/// Ctrl-C, and what asks a program to end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> Result<Self, Fault> {
        let listen =
            |kind| signal(kind).map_err(|error| Fault::internal(format!("signals cannot be listened to: {error}")));
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
