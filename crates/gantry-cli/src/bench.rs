//! `gantry bench`: how fast this machine carries out plans, beside what it could do at best.

mod child; // in reading order
mod bulk;
mod load;
mod figures;
mod machine;
mod models;
mod nothing;
mod plans;
mod serve;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_core::plan::Plan;
use gantry_engine::{Ending, Engine, NewPlan, Options, Origin, SystemClock, Until};
use gantry_runners::Runners;
use gantry_store_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::exit::{self, Fault};
use crate::session;
use crate::talk::talk;
use figures::{Bytes, Figures, Rate};
use nothing::Nothing;

/// Measure how fast plans are carried out here, beside what this machine can do at best
///
/// Everything is durable as always. `chain` is 1,000 tasks one after the other; `fan` one, then 1,000 at once, then
/// one; `many` 200 plans of 61 tasks; each as tasks per second and as a ratio to plain SQLite commits per second with
/// the same durability, as any program gets them that opens a new file; beside it stands what SQLite reaches when its
/// log is made long before. Disks change their mind from one second to the next, so the yardstick is held to the machine
/// before and after every round, and the median of the rounds is told. `pipeline` is a plan of 61 tasks of 50 ms each
/// as a ratio to its longest path, the median of the rounds. `resume` kills a chain in the middle and starts it again.
/// `start` is `gantry run` itself, up to the first command; `bytes` is what a task adds to the record, and what is written
/// for that, the log and its taking over included. `load` is how long it takes to find out where a plan stands whose
/// journal has 1,000, 10,000 and 100,000 entries.
///
/// `gantry bench models` measures what asking models takes, `gantry bench serve` what watching plans takes, `gantry bench bulk` how
/// many plans a second a list of topics becomes.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  gantry bench\n  gantry bench --json --dir /mnt/fast\n  gantry bench --only fan --only many\n  gantry bench models\n  gantry bench serve\n  gantry bench bulk"
)]
pub struct Args {
    #[command(subcommand)]
    part: Option<Part>,
    /// The folder to measure in; its disk is what is measured [default: the system's temporary folder]
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Measure only this; may be given several times
    #[arg(long, value_name = "WHAT")]
    only: Vec<What>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// How often a rate is measured
    #[arg(long, hide = true, default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    rounds: u8,
    /// What a measured process of its own does; for this command itself
    #[arg(long, hide = true, value_names = ["WHAT", "DB", "LEDGER"], num_args = 3)]
    child: Vec<String>,
}

/// What has a command of its own.
#[derive(clap::Subcommand)]
enum Part {
    Bulk(bulk::Args),
    Models(models::Args),
    Serve(serve::Args),
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum What {
    Chain,
    Fan,
    Many,
    Pipeline,
    Resume,
    Start,
    Bytes,
    Load,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    match &args.part {
        Some(Part::Bulk(args)) => return bulk::run(args),
        Some(Part::Models(args)) => return models::run(args),
        Some(Part::Serve(args)) => return serve::run(args),
        None => {}
    }
    if let [what, db, ledger] = args.child.as_slice() {
        return child::be(what, Path::new(db), &PathBuf::from(ledger));
    }
    let folder = folder_in(args.dir.as_deref())?;
    let figures = measure(folder.path(), &args.only, args.rounds)?;
    if args.json {
        exit::print_json(&figures.to_json())?;
    } else {
        exit::print(&figures.to_text())?;
    }
    Ok(ExitCode::from(exit::DONE))
}

/// A folder for what is measured, gone afterwards.
fn folder_in(dir: Option<&Path>) -> Result<TempDir, Fault> {
    let dir = dir.map_or_else(std::env::temp_dir, Path::to_owned);
    let folder = tempfile::Builder::new().prefix("gantry-bench-").tempdir_in(&dir);
    folder.map_err(|error| Fault::bad_input(format!("`{}` cannot be used: {error}", dir.display())))
}

fn measure(folder: &Path, only: &[What], rounds: u8) -> Result<Figures, Fault> {
    let wanted = |what: What, text: &str| {
        let wanted = only.is_empty() || only.contains(&what);
        if wanted {
            talk!("measuring {text} …");
        }
        wanted
    };
    let mut yardstick = Yardstick::new(sub(folder, "yardstick")?, rounds);
    let mut figures = Figures::default();
    if wanted(What::Chain, "a chain of 1,000 tasks") {
        figures.chain = Some(yardstick.rate(&sub(folder, "chain")?, &[plans::chain(1_000)])?);
    }
    if wanted(What::Fan, "a fan of 1,000 tasks") {
        figures.fan = Some(yardstick.rate(&sub(folder, "fan")?, &[plans::fan(1_000)])?);
    }
    if wanted(What::Many, "200 plans of 61 tasks") {
        figures.many = Some(yardstick.rate(&sub(folder, "many")?, &vec![plans::pipeline(0); 200])?);
    }
    if wanted(What::Pipeline, "a pipeline of 61 tasks of 50 ms") {
        let folder = sub(folder, "pipeline")?;
        let times = in_rounds(rounds, |round| seconds(&sub(&folder, &round)?, vec![plans::pipeline(50)]))?;
        figures.pipeline_ms = Some(median(times) * 1e3);
    }
    if wanted(What::Resume, "a killed chain") {
        figures.resume = Some(child::kill_and_resume(&sub(folder, "resume")?)?);
    }
    if wanted(What::Start, "the start of a process") {
        figures.start = Some(child::start_and_idle(&sub(folder, "start")?)?);
    }
    if wanted(What::Bytes, "bytes per task") {
        for tasks in [100, 1_000, 10_000] {
            figures.bytes_per_task.push(bytes_per_task_of(&sub(folder, &format!("bytes-{tasks}"))?, tasks)?);
        }
    }
    if wanted(What::Load, "the loading of long lives") {
        for entries in [1_000, 10_000, 100_000] {
            figures.load.push(load::of(&sub(folder, &format!("load-{entries}"))?, entries, rounds)?);
        }
    }
    figures.commits = yardstick.commits()?;
    figures.commits_in_room = machine::commits_in_room_per_second(&sub(folder, "room")?)?;
    figures.syncs = machine::syncs_per_second(&sub(folder, "syncs")?)?;
    Ok(figures)
}

/// What the machine can do at best, as often as it was asked.
struct Yardstick {
    folder: PathBuf,
    rounds: u8,
    held: Vec<f64>,
}

impl Yardstick {
    fn new(folder: PathBuf, rounds: u8) -> Self {
        Self { folder, rounds, held: Vec::new() }
    }

    fn hold(&mut self) -> Result<f64, Fault> {
        let commits = machine::commits_per_second(&sub(&self.folder, &self.held.len().to_string())?)?;
        self.held.push(commits);
        Ok(commits)
    }

    /// Tasks per second of plans carried out side by side, in a few rounds between two looks at the machine.
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    fn rate(&mut self, folder: &Path, plans: &[Plan]) -> Result<Rate, Fault> {
        let tasks: usize = plans.iter().map(|plan| plan.tasks.len()).sum();
        let (mut rates, mut ratios) = (Vec::new(), Vec::new());
        let mut before = self.hold()?;
        for round in 0..self.rounds {
            let rate = tasks as f64 / seconds(&sub(folder, &round.to_string())?, plans.to_vec())?;
            let after = self.hold()?;
            rates.push(rate);
            ratios.push(rate * 2.0 / (before + after));
            before = after;
        }
        Ok(Rate { per_s: median(rates), ratio: median(ratios) })
    }

    /// The median of all looks.
    fn commits(mut self) -> Result<f64, Fault> {
        if self.held.is_empty() {
            self.hold()?;
        }
        Ok(median(self.held))
    }
}

/// What several rounds of the same measurement say; each has a name of its own.
fn in_rounds(rounds: u8, mut measure: impl FnMut(String) -> Result<f64, Fault>) -> Result<Vec<f64>, Fault> {
    (0..rounds).map(|round| measure(round.to_string())).collect()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

fn sub(folder: &Path, name: &str) -> Result<PathBuf, Fault> {
    let sub = folder.join(name);
    std::fs::create_dir(&sub).map_err(|error| Fault::internal(format!("`{}`: {error}", sub.display())))?;
    Ok(sub)
}

fn engine(db: &Path, nothing: Nothing) -> Result<Engine, Fault> {
    engine_with(db, Runners::none().with(Arc::new(nothing)))
}

fn engine_with(db: &Path, runners: Runners) -> Result<Engine, Fault> {
    let store = Arc::new(SqliteStore::open(db)?);
    let options = Options { operator: "bench".to_owned(), attempts_max: 100_000, ..Options::default() };
    Ok(Engine::new(store, Arc::new(SystemClock::new()), runners, options))
}

/// Carries out plans side by side in a record of their own; returns how long it took.
fn seconds(folder: &Path, plans: Vec<Plan>) -> Result<f64, Fault> {
    session::block_on(async { carry_out(&engine(&folder.join("gantry.db"), Nothing::default())?, plans).await })
}

/// Carries out plans side by side, created beforehand; returns how many seconds it took.
async fn carry_out(engine: &Engine, plans: Vec<Plan>) -> Result<f64, Fault> {
    let mut ids = Vec::new();
    for plan in plans {
        ids.push(engine.create(NewPlan { plan, origin: Origin::default(), once: None }).await?);
    }
    let begin = Instant::now();
    let mut driving = Vec::new();
    for id in &ids {
        driving.push(engine.drive(id, Until::Ended, vec![Input::Start]).await?);
    }
    for plan in driving {
        match plan.ended().await? {
            Ending::Ended { state: PlanState::Completed, .. } => {}
            other => return Err(Fault::internal(format!("a measured plan did not complete: {other:?}"))),
        }
    }
    Ok(begin.elapsed().as_secs_f64())
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn bytes_per_task_of(folder: &Path, tasks: usize) -> Result<Bytes, Fault> {
    let written = || machine::written_bytes().map_or(f64::NAN, |bytes| bytes as f64);
    let before = written();
    // Wide rather than long: it is the bytes that are asked for, and a chain of this length takes its time.
    seconds(folder, vec![plans::fan(tasks - 2)])?;
    let db = folder.join("gantry.db");
    let size = std::fs::metadata(&db).map_err(|error| Fault::internal(format!("`{}`: {error}", db.display())))?.len();
    let each = |bytes: f64| bytes / tasks as f64;
    Ok(Bytes { tasks, kept: each(size as f64), written: each(written() - before) })
}
