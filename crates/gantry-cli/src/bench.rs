//! `gantry bench`: how fast this machine carries out plans, beside what it could do at best.

mod child; // in reading order
mod machine;
mod nothing;
mod plans;

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
use serde_json::json;

use crate::exit::{self, Fault};
use crate::session;
use nothing::Nothing;

/// Measure how fast plans are carried out here, beside what this machine can do at best
///
/// Everything is durable as always. `chain` is 1,000 tasks one after the other; `fan` one, then 1,000 at once, then
/// one; `many` 200 plans of 61 tasks; each as tasks per second and as a ratio to plain SQLite commits per second with
/// the same durability, measured in the same run. `pipeline` is a plan of 61 tasks of 50 ms each as a ratio to its
/// longest path. `resume` kills a chain in the middle and starts it again.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry bench\n  gantry bench --json --dir /mnt/fast")]
pub struct Args {
    /// The folder to measure in; its disk is what is measured [default: the system's temporary folder]
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// What a measured process of its own does; for this command itself
    #[arg(long, hide = true, value_names = ["WHAT", "DB", "LEDGER"], num_args = 3)]
    child: Vec<String>,
}

/// What was measured.
struct Figures {
    commits: f64,
    syncs: f64,
    chain: f64,
    fan: f64,
    many: f64,
    pipeline_ms: f64,
    pipeline_bound_ms: f64,
    resume: child::Resumed,
    start_ms: f64,
    idle_mb: f64,
    bytes_per_task: [(usize, f64); 3],
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    if let [what, db, ledger] = args.child.as_slice() {
        return child::be(what, Path::new(db), &PathBuf::from(ledger));
    }
    let dir = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::Builder::new().prefix("gantry-bench-").tempdir_in(&dir);
    let folder = folder.map_err(|error| Fault::bad_input(format!("`{}` cannot be used: {error}", dir.display())))?;
    let figures = measure(folder.path())?;
    if args.json {
        exit::print(&format!("{:#}\n", figures.to_json()))?;
    } else {
        exit::print(&figures.to_text())?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn measure(folder: &Path) -> Result<Figures, Fault> {
    let say = |what: &str| exit::talk!("measuring {what} …");
    // The yardstick before and after: a machine with other work to do changes its mind.
    say("the machine");
    let before = machine::commits_per_second(&sub(folder, "before")?)?;
    let syncs = machine::syncs_per_second(&sub(folder, "syncs")?)?;
    say("a chain of 1,000 tasks");
    let chain = tasks_per_second(&sub(folder, "chain")?, vec![plans::chain(1_000)])?;
    say("a fan of 1,000 tasks");
    let fan = tasks_per_second(&sub(folder, "fan")?, vec![plans::fan(1_000)])?;
    say("200 plans of 61 tasks");
    let many = tasks_per_second(&sub(folder, "many")?, vec![plans::pipeline(0); 200])?;
    say("a pipeline of 61 tasks of 50 ms");
    let pipeline_ms = seconds(&sub(folder, "pipeline")?, vec![plans::pipeline(50)])? * 1e3;
    say("a killed chain");
    let resume = child::kill_and_resume(&sub(folder, "resume")?)?;
    say("the start of a process");
    let (start_ms, idle_mb) = child::start_and_idle(&sub(folder, "start")?)?;
    say("bytes per task");
    let mut bytes_per_task = [(100, 0.0), (1_000, 0.0), (10_000, 0.0)];
    for (tasks, bytes) in &mut bytes_per_task {
        *bytes = bytes_per_task_of(&sub(folder, &format!("bytes-{tasks}"))?, *tasks)?;
    }
    let after = machine::commits_per_second(&sub(folder, "after")?)?;
    #[expect(clippy::cast_precision_loss, reason = "a few dozen tasks")]
    let pipeline_bound_ms = plans::pipeline_depth() as f64 * 50.0;
    Ok(Figures {
        commits: before.max(after),
        syncs,
        chain,
        fan,
        many,
        pipeline_ms,
        pipeline_bound_ms,
        resume,
        start_ms,
        idle_mb,
        bytes_per_task,
    })
}

fn sub(folder: &Path, name: &str) -> Result<PathBuf, Fault> {
    let sub = folder.join(name);
    std::fs::create_dir(&sub).map_err(|error| Fault::internal(format!("`{}`: {error}", sub.display())))?;
    Ok(sub)
}

fn engine(db: &Path, nothing: Nothing) -> Result<Engine, Fault> {
    let store = Arc::new(SqliteStore::open(db)?);
    let runners = Runners::none().with(Arc::new(nothing));
    let options = Options { operator: "bench".to_owned(), attempts_max: 100_000, ..Options::default() };
    Ok(Engine::new(store, Arc::new(SystemClock::new()), runners, options))
}

/// Carries out plans side by side, created beforehand; returns how long it took.
fn seconds(folder: &Path, plans: Vec<Plan>) -> Result<f64, Fault> {
    session::block_on(async {
        let engine = engine(&folder.join("gantry.db"), Nothing::default())?;
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
    })
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn tasks_per_second(folder: &Path, plans: Vec<Plan>) -> Result<f64, Fault> {
    let tasks: usize = plans.iter().map(|plan| plan.tasks.len()).sum();
    Ok(tasks as f64 / seconds(folder, plans)?)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn bytes_per_task_of(folder: &Path, tasks: usize) -> Result<f64, Fault> {
    // Wide rather than long: it is the bytes that are asked for, and a chain of this length takes its time.
    seconds(folder, vec![plans::fan(tasks - 2)])?;
    let db = folder.join("gantry.db");
    let size = std::fs::metadata(&db).map_err(|error| Fault::internal(format!("`{}`: {error}", db.display())))?.len();
    Ok(size as f64 / tasks as f64)
}

impl Figures {
    fn to_json(&self) -> serde_json::Value {
        let rounded = |figure: f64| (figure * 100.0).round() / 100.0;
        let bytes: serde_json::Map<_, _> =
            self.bytes_per_task.iter().map(|(tasks, bytes)| (tasks.to_string(), json!(bytes.round()))).collect();
        json!({
            "raw_commits_per_s": rounded(self.commits),
            "raw_syncs_per_s": rounded(self.syncs),
            "chain_tasks_per_s": rounded(self.chain),
            "chain_ratio": rounded(self.chain / self.commits),
            "fan_tasks_per_s": rounded(self.fan),
            "fan_ratio": rounded(self.fan / self.commits),
            "many_tasks_per_s": rounded(self.many),
            "many_ratio": rounded(self.many / self.commits),
            "pipeline_ms": rounded(self.pipeline_ms),
            "pipeline_bound_ms": self.pipeline_bound_ms,
            "pipeline_ratio": (self.pipeline_ms / self.pipeline_bound_ms * 1e3).round() / 1e3,
            "resume_ms": rounded(self.resume.ms),
            "resume_finished": self.resume.finished,
            "resume_repeats": self.resume.repeats,
            "start_ms": rounded(self.start_ms),
            "idle_mb": rounded(self.idle_mb),
            "bytes_per_task": self.bytes_per_task[1].1.round(),
            "bytes_per_task_by_size": bytes,
        })
    }

    fn to_text(&self) -> String {
        let row = |name: &str, figure: String, ratio: String| format!("{name:<38} {figure:>16} {ratio:>22}\n");
        let rate = |rate: f64| format!("{rate:.0} /s");
        let of_raw = |rate: f64| format!("{:.2} x raw commits", rate / self.commits);
        let mut text = row("plain SQLite commits", rate(self.commits), "1.00 x raw commits".to_owned());
        text += &row("plain file syncs", rate(self.syncs), of_raw(self.syncs));
        text += &row("chain, 1,000 tasks", rate(self.chain), of_raw(self.chain));
        text += &row("fan, 1 + 1,000 + 1 tasks", rate(self.fan), of_raw(self.fan));
        text += &row("many, 200 plans of 61 tasks", rate(self.many), of_raw(self.many));
        let bound = format!("{:.3} x longest path", self.pipeline_ms / self.pipeline_bound_ms);
        text += &row("pipeline, 61 tasks of 50 ms", format!("{:.0} ms", self.pipeline_ms), bound);
        let repeats = format!("{} of {} repeated", self.resume.repeats, self.resume.finished);
        text += &row("killed chain goes on after", format!("{:.1} ms", self.resume.ms), repeats);
        text += &row("start to first task", format!("{:.1} ms", self.start_ms), String::new());
        text += &row("idle memory", format!("{:.1} MB", self.idle_mb), String::new());
        for (tasks, bytes) in self.bytes_per_task {
            text += &row(&format!("record per task, {tasks} tasks"), format!("{bytes:.0} bytes"), String::new());
        }
        text
    }
}
