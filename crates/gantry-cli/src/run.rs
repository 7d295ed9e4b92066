//! `gantry run` and `gantry resume`: carries plans out.

mod how; // in reading order
pub mod dry;
pub mod sandbox;
mod offline;
mod follow;
mod live;
pub mod screen;
mod prepare;
pub mod recover;
mod ending;

pub use dry::first_attempt;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_engine::{Driving, Ending, Engine, Given, NewPlan, Options, Origin, Stop};
use gantry_runners::work::SandboxMode;
use gantry_store::Store;
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::exit::{self, Fault};
use crate::file;
use crate::home::NewHome;
use crate::session::{self, Record};
use crate::show::elapsed::now;
use crate::show::standing::{Standing, lives_inside};
use crate::show::words::Tone;
use crate::surroundings;
use crate::talk::talk;
use follow::Follow;
pub use how::How;
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
/// Finished work is not done again. What processes were given when the plan was begun (--env, --no-sandbox,
/// --require-sandbox, --allow-read, --allow-write) holds again, and so does what was said about models (--profile,
/// --strict, --model) unless it is said anew; secrets are taken from the environment again.
///
/// A plan that `gantry import` took in has no folder and no secrets here: say the first time where it works and which
/// variables of your environment you trust it with, with --workspace and --secret. That is recorded.
///
/// With --all, every plan is recovered that was under way when its process went away, all side by side. Plans that are
/// paused stay paused, and those that another process works on are left to it. One that cannot go on is said and keeps
/// nobody else; the exit code is that of the worst.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry resume @last\n  gantry resume --all                     (after the machine has started again)\n  gantry resume 7\n  gantry resume 7 8 9 --parallel 4 --limit shell=2\n  gantry resume 7 --workspace ~/project --secret API_TOKEN    (after `gantry import`)"
)]
pub struct ResumeArgs {
    /// The plans: id, number, the beginning of an id, or @last
    #[arg(required_unless_present = "all", conflicts_with = "all", value_name = "PLAN")]
    plans: Vec<String>,
    /// All plans that were under way when their process went away
    #[arg(long, conflicts_with = "workspace")]
    all: bool,
    #[command(flatten)]
    home: NewHome,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    if args.key.as_ref().is_some_and(|key| key.trim().is_empty()) {
        return Err(Fault::bad_input("`--key` needs a text that names the request")
            .hint("leave it out to make a new plan each time"));
    }
    let plan = file::load_sound_here(&args.file, args.record.json)?;
    let workspace = surroundings::workspace(Path::new(&args.workspace))?;
    let options = args.how.options(&[])?;
    let given_id = plan.id.clone();
    if args.dry_run {
        return session::block_on(dry::run(plan, workspace.into(), options, args.how.models.clone(), args.record.json));
    }
    let origin = Origin {
        workspace,
        file: file::name(&args.file).to_owned(),
        by: session::operator(),
        secrets: surroundings::secret_names(&options.secrets),
        given: Given { models: args.how.models.words(), ..args.how.around.given(&options)? },
        ..Origin::default()
    };
    session::block_on(async {
        // Whoever asks for full confinement is refused before there is a plan.
        if options.sandbox.mode == SandboxMode::Required {
            sandbox::announce(&sandbox::place(&origin.workspace, &plan, &options), &plan).await?;
        }
        let engine = args.record.engine_asking(options.clone(), args.how.models.clone())?;
        let plan = engine.create(NewPlan { plan, origin, once: args.key.clone() }).await?;
        let said = given_id
            .filter(|given| *given != plan && args.key.is_none())
            .map(|given| format!("there is a plan `{given}` already: this one is `{plan}`"));
        let carried = Carried { engine, plan };
        let begun = Started { begun: Begun::Now, said: said.into_iter().collect(), unable: Vec::new() };
        carry_out(&[carried], &args.how, begun, args.record.json).await
    })
}

pub fn resume(args: &ResumeArgs) -> Result<ExitCode, Fault> {
    if args.all {
        return session::block_on(recover::all(&args.record, &args.how));
    }
    session::block_on(go_on(&args.record, &args.plans, &args.home, &args.how))
}

/// Goes on with plans from wherever they stand.
pub async fn go_on(record: &Record, references: &[String], home: &NewHome, how: &How) -> Result<ExitCode, Fault> {
    // Which secrets are needed stands in the plans, so they are read first.
    let reader = record.engine_asking(Options::default(), how.models.clone())?;
    let (mut plans, mut secrets, mut given) = (Vec::new(), Vec::new(), Vec::new());
    for reference in references {
        let plan = session::find(&reader, reference).await?.id;
        if !plans.contains(&plan) {
            secrets.push(home.settle(&reader, &plan, &how.around).await?);
            given.push(reader.open(&plan).await?.origin.given);
            plans.push(plan);
        }
    }
    if secrets.iter().any(|names| *names != secrets[0]) {
        return Err(Fault::bad_input("these plans were given different secrets, and would see those of each other")
            .hint("go on with each of them on its own"));
    }
    let options = how.options(&secrets.concat())?;
    given.iter().try_for_each(|given| surroundings::check_given(given, &options))?;
    if given.iter().any(|other| other.models != given[0].models) {
        return Err(Fault::bad_input("these plans were begun with different options for models")
            .hint("go on with each of them on its own"));
    }
    let models = given.first().map(|given| how.models.over(&given.models)).unwrap_or_default();
    let engine = reader.having(session::runners(models)?).working(options);
    let carried: Vec<Carried> = plans.into_iter().map(|plan| Carried { engine: engine.clone(), plan }).collect();
    carry_out(&carried, how, Begun::Before.into(), record.json).await
}

/// When a plan was begun.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    Now,
    Before,
    /// Its process went away. What is wrong with one such plan must not keep the others.
    LeftBehind,
}

/// One plan that is carried out, and the engine that does it. All engines share what happens.
struct Carried {
    engine: Engine,
    plan: PlanId,
}

/// How carrying out begins: with something to say, and with plans that cannot go on.
struct Started {
    begun: Begun,
    said: Vec<String>,
    unable: Vec<(PlanId, Fault)>,
}

impl From<Begun> for Started {
    fn from(begun: Begun) -> Self {
        Self { begun, said: Vec::new(), unable: Vec::new() }
    }
}

/// Drives the plans to wherever they can go, and tells.
async fn carry_out(all: &[Carried], how: &How, started: Started, json: bool) -> Result<ExitCode, Fault> {
    let Some(engine) = all.first().map(|carried| &carried.engine) else {
        return recover::tell_unable(&started.unable, json);
    };
    let store = &**engine.store();
    let began = Instant::now();
    let driven = drive_all(all, store, how, started, json).await?;
    let code = tell_endings(driven.screen, store, driven.endings, began.elapsed(), driven.worst).await?;
    driven.unshown.map_or(Ok(code), Err)
}

/// Drives one new plan to wherever it can go, and shows what happens as `gantry run` does.
pub async fn drive_new(engine: Engine, plan: PlanId, how: &How) -> Result<(), Fault> {
    let all = [Carried { engine: engine.clone(), plan }];
    let driven = drive_all(&all, &**engine.store(), how, Begun::Now.into(), false).await?;
    driven.screen.close();
    driven.unshown.map_or(Ok(()), Err)
}

/// Plans that were driven to wherever they could go.
struct Driven {
    screen: Screen,
    endings: Vec<(PlanId, Ending)>,
    worst: u8,
    unshown: Option<Fault>,
}

/// Drives the plans to wherever they can go, and shows what happens.
async fn drive_all(
    all: &[Carried],
    store: &dyn Store,
    how: &How,
    started: Started,
    json: bool,
) -> Result<Driven, Fault> {
    let Started { begun, said, mut unable } = started;
    let Some(engine) = all.first().map(|carried| &carried.engine) else {
        return Err(Fault::internal("there is no plan to carry out"));
    };
    let mut signals = Signals::listen()?;
    let mut happenings = engine.watch();
    let Ready { plans, follows, mut unshown, notes } = make_ready(all, how, begun, &mut unable, json).await?;
    let mut screen = Screen::new(json, follows);
    let (mut drivings, mut stops) = (JoinSet::new(), Vec::new());
    for (Carried { engine, plan }, first) in plans {
        let driving = match engine.drive(plan, how.until(), first).await {
            Ok(driving) => driving,
            Err(error) if begun == Begun::LeftBehind => {
                unable.push((plan.clone(), error.into()));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let card = store.plan(plan.as_str()).await?;
        let title = crate::show::first_line(&card.card.title, 80);
        if !json {
            unshown = unshown.or(screen.say(Tone::Plain, &format!("{title} ({plan}, no {})", card.no)).err());
        }
        stops.push(driving.stopper());
        drivings.spawn(ended(driving));
    }
    unshown = unshown.or(say_first(&mut screen, said.into_iter().chain(notes), &unable).err());
    let mut endings = Vec::new();
    let mut stop = [Stop::Park, Stop::Now].into_iter();
    let mut refresh = tokio::time::interval(REFRESH);
    refresh.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let plans: Vec<PlanId> = all.iter().map(|carried| carried.plan.clone()).collect();
    while !drivings.is_empty() {
        tokio::select! {
            biased;
            () = signals.next() => {
                let Some(how) = stop.next() else { continue };
                unshown = unshown.or(say_stop(&mut screen, how).err());
                for stop in &stops {
                    stop(how);
                }
            }
            _ = refresh.tick() => screen.refresh(),
            happening = happenings.recv() => match happening {
                Ok(happening) => unshown = unshown.or(screen.show(&happening).err()),
                Err(RecvError::Lagged(_)) => unshown = unshown.or(catch_up(&mut screen, store, &plans).await.err()),
                Err(RecvError::Closed) => {}
            },
            Some(ended) = drivings.join_next() => {
                match ended.map_err(|error| Fault::internal(format!("work broke off: {error}")))? {
                    (plan, Ok(ending)) => endings.push((plan, ending)),
                    (plan, Err(fault)) if begun == Begun::LeftBehind => {
                        unshown = unshown.or(screen.unable(&plan, &fault).err());
                        unable.push((plan, fault));
                    }
                    (_, Err(fault)) => return Err(fault),
                }
            }
        }
    }
    unshown = unshown.or(show_rest(&mut screen, &mut happenings).err());
    unshown = unshown.or(catch_up(&mut screen, store, &plans).await.err());
    let worst = unable.iter().map(|(_, fault)| fault.code()).fold(exit::DONE, exit::worse);
    Ok(Driven { screen, endings, worst, unshown })
}

/// The plans that may be driven, each with what it is told first, and what is shown of them.
struct Ready<'c> {
    plans: Vec<(&'c Carried, Vec<Input>)>,
    follows: Vec<Follow>,
    notes: Vec<String>,
    /// What cannot be shown stops nothing: it is in the record, and that it could not be shown is said at the end.
    unshown: Option<Fault>,
}

/// Looks at all plans before anything starts: one that is refused must not leave others half begun.
async fn make_ready<'c>(
    all: &'c [Carried],
    how: &How,
    begun: Begun,
    unable: &mut Vec<(PlanId, Fault)>,
    json: bool,
) -> Result<Ready<'c>, Fault> {
    let mut ready = Ready { plans: Vec::new(), follows: Vec::new(), notes: Vec::new(), unshown: None };
    for carried in all {
        match prepare::prepare(carried, how, begun).await {
            Ok(prepared) => {
                // A plan that has not begun is told from its first entry.
                for entry in prepared.entries.iter().filter(|_| json) {
                    let shown = screen::print_json(&screen::line_of(&carried.plan, entry));
                    ready.unshown = ready.unshown.or(shown.err());
                }
                ready.follows.push(Follow::from(prepared.life, prepared.timeline));
                ready.notes.extend(prepared.notes);
                ready.plans.push((carried, prepared.first));
            }
            Err(fault) if begun == Begun::LeftBehind => unable.push((carried.plan.clone(), fault)),
            Err(fault) => return Err(fault),
        }
    }
    Ok(ready)
}

/// Says what has to be known at the start, each thing once, and which plans cannot go on.
fn say_first(
    screen: &mut Screen,
    notes: impl Iterator<Item = String>,
    unable: &[(PlanId, Fault)],
) -> Result<(), Fault> {
    let mut told: Vec<String> = Vec::new();
    for note in notes {
        if !told.contains(&note) {
            screen.say(Tone::Waits, &note)?;
            told.push(note);
        }
    }
    unable.iter().try_for_each(|(plan, fault)| screen.unable(plan, fault))
}

async fn ended(driving: Driving) -> (PlanId, Result<Ending, Fault>) {
    let plan = driving.plan().clone();
    (plan, driving.ended().await.map_err(Fault::from))
}

fn say_stop(screen: &mut Screen, stop: Stop) -> Result<(), Fault> {
    match stop {
        Stop::Park | Stop::Leave => {
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
        let missed = gantry_engine::entries_after(store, plan, screen.shown(plan)).await?;
        screen.events(plan, &missed)?;
    }
    Ok(())
}

/// Says how it ended; the exit code is that of the worst ending.
async fn tell_endings(
    screen: Screen,
    store: &dyn Store,
    endings: Vec<(PlanId, Ending)>,
    took: Duration,
    mut worst: u8,
) -> Result<ExitCode, Fault> {
    let (json, mut follows) = screen.close();
    for (plan, ending) in endings {
        let code = ending::code(&ending);
        worst = exit::worse(worst, code);
        let Some(Follow { life, timeline, .. }) = follows.remove(&plan) else { continue };
        let card = store.plan(plan.as_str()).await?;
        let inside = lives_inside(store, &life).await?;
        let standing = Standing { card, life, inside, timeline, driven: false, now: now(), forecast: None };
        let standing = standing.foreseen();
        if json {
            let mut ended = crate::show::json::standing(&standing);
            ended["how"] = json!(ending::word(&ending));
            ended["exit_code"] = json!(code);
            screen::print_json(&json!({"ended": ended}))?;
        } else {
            talk!("");
            exit::print(&ending::summary(&ending, &standing, took, crate::show::table::width()))?;
        }
    }
    Ok(ExitCode::from(worst))
}

/// Ctrl-C, what asks a program to end, and the terminal going away.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> Result<Self, Fault> {
        let listen =
            |kind| signal(kind).map_err(|error| Fault::internal(format!("signals cannot be listened to: {error}")));
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
