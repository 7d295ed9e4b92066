//! Measurements that need processes of their own: being killed, starting, sitting idle.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_engine::{Clock as _, NewPlan, Origin, SystemClock, Until};
use gantry_store::Store as _;
use gantry_store_sqlite::SqliteStore;

use super::nothing::Nothing;
use super::{machine, plans};
use crate::exit::{self, Fault};
use crate::session;

/// How long the chain is that is killed, and after how many tasks.
const CHAIN: usize = 1_000;
const KILLED_AFTER: usize = 400;
/// How long to wait for a process of our own before giving up.
const PATIENCE: Duration = Duration::from_mins(1);

/// What came of killing a chain.
pub struct Resumed {
    /// From the new process's start to its first task.
    pub ms: f64,
    /// How many tasks were finished when it was killed.
    pub finished: usize,
    /// How many of those ran again.
    pub repeats: usize,
}

/// What came of starting processes.
pub struct Started {
    /// From the start of `gantry run` to its first task.
    pub ms: f64,
    /// The memory of one that waits for someone.
    pub idle_mb: f64,
}

/// The process that is measured.
pub fn be(what: &str, db: &Path, ledger: &PathBuf) -> Result<ExitCode, Fault> {
    if what == "serve" {
        session::block_on(super::models::serve())?;
        return Ok(ExitCode::from(exit::DONE));
    }
    let nothing = Nothing::with_ledger(ledger)
        .map_err(|error| Fault::internal(format!("`{}` cannot be written: {error}", ledger.display())))?;
    session::block_on(async {
        let engine = super::engine(db, nothing)?;
        match what {
            "chain" => {
                let plan = plans::chain(CHAIN);
                let id = engine.create(NewPlan { plan, origin: Origin::default(), once: None }).await?;
                engine.drive(&id, Until::Ended, vec![Input::Start]).await?.ended().await?;
            }
            _ => {
                for (_, id) in engine.orphans().await? {
                    engine.drive(&id, Until::Ended, Vec::new()).await?.ended().await?;
                }
            }
        }
        Ok(ExitCode::from(exit::DONE))
    })
}

/// This program once more.
pub fn this_program(args: &[&str]) -> Result<Command, Fault> {
    let program = std::env::current_exe();
    let program = program.map_err(|error| Fault::internal(format!("this program cannot find itself: {error}")))?;
    let mut command = Command::new(program);
    command.args(args);
    Ok(command)
}

fn spawn(what: &str, folder: &Path) -> Result<Child, Fault> {
    let failed = |error: std::io::Error| Fault::internal(format!("a process cannot be started: {error}"));
    let mut command = this_program(&["bench", "--child", what])?;
    command.arg(folder.join("gantry.db")).arg(folder.join("ledger"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)
}

fn finish(child: Child) -> Result<String, Fault> {
    let output = child.wait_with_output().map_err(|error| Fault::internal(format!("a process was lost: {error}")))?;
    if !output.status.success() {
        return Err(Fault::internal(format!("a measured process ended with {}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The lines of the ledger: which task, when.
fn ledger(folder: &Path) -> Vec<(String, f64)> {
    let text = std::fs::read_to_string(folder.join("ledger")).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(task, at)| Some((task.to_owned(), at.parse().ok()?)))
        .collect()
}

/// Kills a chain in the middle, starts it again, and counts what ran twice.
pub fn kill_and_resume(folder: &Path) -> Result<Resumed, Fault> {
    let mut child = spawn("chain", folder)?;
    let begin = Instant::now();
    while ledger(folder).len() < KILLED_AFTER {
        if begin.elapsed() > PATIENCE {
            return Err(Fault::internal("the chain that was to be killed did not get far enough"));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child
        .kill()
        .and_then(|()| child.wait())
        .map_err(|error| Fault::internal(format!("it cannot be killed: {error}")))?;
    let before = ledger(folder);
    let finished = finished_tasks(folder)?;
    let started = machine::shared_ms();
    finish(spawn("resume", folder)?)?;
    let after = ledger(folder);
    let again = &after[before.len()..];
    let repeats = again.iter().filter(|(task, _)| finished.contains(task)).count();
    let first = again.first().map_or(started, |(_, at)| *at);
    Ok(Resumed { ms: first - started, finished: finished.len(), repeats })
}

/// The tasks that the record says are finished.
fn finished_tasks(folder: &Path) -> Result<BTreeSet<String>, Fault> {
    session::block_on(async {
        let engine = super::engine(&folder.join("gantry.db"), Nothing::default())?;
        let plan = engine.store().plan("@last").await?.id;
        let life = engine.open(&plan).await?.life;
        let done = |id: &gantry_core::id::TaskId| {
            life.task_state(id.as_str()) == Some(gantry_core::life::TaskState::Completed)
        };
        Ok(life.task_ids().into_iter().filter(done).map(|id| id.to_string()).collect())
    })
}

/// A plan whose one task does nothing, and one that waits for someone.
const ONE: &str = "title: One\ntasks: [{id: a, run: 'true'}]\n";
const WAITS: &str = "title: Waits\ntasks: [{id: a, gate: {approvals: 1}}]\n";

/// How long `gantry run` takes from its start to its first task, and the memory of one that waits for someone.
pub fn start_and_idle(folder: &Path) -> Result<Started, Fault> {
    let db = folder.join("gantry.db");
    finish(gantry_run(folder, ONE, &[])?)?; // the record exists, as it does for everyone but the first time
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..5 {
        let started = SystemClock::new().now();
        finish(gantry_run(folder, ONE, &[])?)?;
        let first = session::block_on(async {
            let store = SqliteStore::open(&db)?;
            let plan = store.plan("@last").await?.id;
            let calls = store.effects(&plan, None, 0, 1).await?.items;
            calls.into_iter().next().ok_or_else(|| Fault::internal("the measured task left no record"))
        })?;
        #[expect(clippy::cast_precision_loss, reason = "a few milliseconds")]
        times.push((first.started_at - started).as_ms() as f64);
    }
    let mut child = gantry_run(folder, WAITS, &["--wait"])?;
    let idle_mb = waits(&db).map(|()| machine::resident_mb_of(child.id()).unwrap_or(f64::NAN));
    child
        .kill()
        .and_then(|()| child.wait())
        .map_err(|error| Fault::internal(format!("it cannot be ended: {error}")))?;
    Ok(Started { ms: super::median(times), idle_mb: idle_mb? })
}

/// Starts `gantry run` on a plan.
fn gantry_run(folder: &Path, plan: &str, more: &[&str]) -> Result<Child, Fault> {
    let failed = |error: std::io::Error| Fault::internal(format!("a process cannot be started: {error}"));
    let file = folder.join("plan.yaml");
    std::fs::write(&file, plan).map_err(failed)?;
    let mut command = this_program(&["run"])?;
    command.arg(&file).args(more).arg("--db").arg(folder.join("gantry.db")).arg("--workspace").arg(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)
}

/// Waits until the newest plan waits for someone.
fn waits(db: &Path) -> Result<(), Fault> {
    session::block_on(async {
        let store = SqliteStore::open(db)?;
        let begin = Instant::now();
        loop {
            let card = store.plan("@last").await?.card;
            if card.state == PlanState::Blocked {
                return Ok(());
            }
            if begin.elapsed() > PATIENCE {
                return Err(Fault::internal("the plan that was to wait did not come to it"));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
}
