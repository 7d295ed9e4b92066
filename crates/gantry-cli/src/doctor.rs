//! `gantry doctor`: does this machine have what plans need?

mod servers;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gantry_runners::GuardProgram;
use gantry_runners::process::{Confinement, Happening, Order, Running, SandboxStatus, StandardInput};
use gantry_store_sqlite::SqliteStore;
use serde::Serialize;
use serde_json::json;

use crate::exit::{self, Fault};
use crate::model;
use crate::session::{self, Record, RecordFile};
use crate::show::table::columns;
use crate::show::{bytes, can_move_cursor};

/// Check that this machine has what plans need, and say how to fix what it lacks
#[derive(clap::Args)]
#[command(
    after_help = "The exit code is 1 when something fails.\n\nExamples:\n  gantry doctor\n  gantry doctor --json\n  gantry doctor --ask build    start the MCP server `build` of this project, too"
)]
pub struct Args {
    /// Start this MCP server, too, although the gantry.toml of a project names its program; may be repeated
    #[arg(long, value_name = "SERVER")]
    ask: Vec<String>,
    #[command(flatten)]
    record: Record,
}

/// Less room than this is too little to go on; less than ten times this is worth a word.
const ROOM_BYTES_MIN: u64 = 100 << 20;

/// How good it is.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// It is as it should be.
    Ok,
    /// It works, and could be better.
    Warn,
    /// It does not work.
    Fail,
    /// It is not set up, and need not be.
    Unused,
}

/// What was found about one thing.
#[derive(Serialize)]
pub struct Finding {
    what: &'static str,
    grade: Grade,
    found: String,
    fix: Option<String>,
}

impl Finding {
    /// It is as it should be.
    pub fn ok(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, grade: Grade::Ok, found: found.into(), fix: None }
    }
    /// It works, and could be better.
    pub fn warn(what: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what, grade: Grade::Warn, found: found.into(), fix: Some(fix.into()) }
    }
    /// It does not work.
    pub fn fail(what: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what, grade: Grade::Fail, found: found.into(), fix: Some(fix.into()) }
    }
    /// It is not set up, and need not be.
    pub fn unused(what: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what, grade: Grade::Unused, found: found.into(), fix: Some(fix.into()) }
    }
    /// Says what else can be done.
    pub fn with_fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let findings = session::block_on(async {
        let mut findings = of_machine(&args.record).await?;
        findings.insert(findings.len() - 1, terminal());
        findings.extend(servers::findings(&args.ask).await?);
        Ok(findings)
    })?;
    tell(&findings, args.record.json)
}

/// What this machine has of what plans need.
pub async fn of_machine(record: &RecordFile) -> Result<Vec<Finding>, Fault> {
    let path = record.path()?;
    let named = record.named().is_some();
    Ok(vec![
        sandbox().await,
        folder(&path, named),
        room(&path),
        database(&path, named).await,
        program("shell", "sh", Grade::Fail, "install a POSIX shell: tasks with `run` need it"),
        program("git", "git", Grade::Warn, "install git: `git.*` and checkpoints need it"),
        model::doctor::summary().await,
    ])
}

/// Tells what was found; the exit code says whether something fails.
pub fn tell(findings: &[Finding], json: bool) -> Result<ExitCode, Fault> {
    let failed = findings.iter().any(|finding| finding.grade == Grade::Fail);
    if json {
        exit::print_json(&json!({"ok": !failed, "findings": findings}))?;
    } else {
        let mut rows = Vec::new();
        for finding in findings {
            let grade = match finding.grade {
                Grade::Ok => "ok",
                Grade::Warn => "warn",
                Grade::Fail => "fail",
                Grade::Unused => "-",
            };
            let mut found = finding.found.lines();
            rows.push(vec![grade.to_owned(), finding.what.to_owned(), found.next().unwrap_or_default().to_owned()]);
            let way = if matches!(finding.grade, Grade::Ok | Grade::Unused) { "how" } else { "fix" };
            let fix = finding.fix.iter().map(|fix| format!("{way}: {fix}"));
            rows.extend(found.map(str::to_owned).chain(fix).map(|line| vec![String::new(), String::new(), line]));
        }
        exit::print(&columns(&rows))?;
    }
    Ok(ExitCode::from(if failed { exit::INTERNAL } else { exit::DONE }))
}

/// Starts a command under confinement and asks what was reached.
async fn sandbox() -> Finding {
    let what = "sandbox";
    let broken = |why: String| Finding::fail(what, why, "tasks with `run` cannot start; report this");
    let guard = match GuardProgram::this_program() {
        Ok(guard) => guard,
        Err(error) => return broken(format!("this program cannot find itself: {error}")),
    };
    let everything = vec![PathBuf::from("/")];
    let order = Order {
        program: "true".to_owned(),
        args: Vec::new(),
        environment: BTreeMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap_or_default())]),
        folder: PathBuf::from("/"),
        confinement: Some(Confinement { read: everything, ..Confinement::default() }),
        grace_ms: 1_000,
        input: StandardInput::Closed,
    };
    let mut running = match Running::start(&guard, order).await {
        Ok(running) => running,
        Err(error) => return broken(error.to_string()),
    };
    let reached = running.sandbox().clone();
    while let Happening::Output(..) = running.next().await {}
    match reached {
        SandboxStatus::Full => Finding::ok(what, "processes are fully confined"),
        status @ SandboxStatus::Partial { .. } => {
            Finding::warn(what, status.to_string(), "a newer kernel confines more; plans run nevertheless")
        }
        status @ SandboxStatus::None { .. } => Finding::warn(
            what,
            status.to_string(),
            "use a Linux kernel with Landlock; until then run only plans you trust",
        ),
    }
}

/// The nearest folder above a file that exists.
fn folder_of(path: &Path) -> PathBuf {
    let above = path.ancestors().skip(1).find(|folder| folder.is_dir());
    above.map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// The folder of a file exists; that of a bare name is this one.
fn folder_exists(path: &Path) -> bool {
    path.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder.is_dir())
}

/// Where the record is going to be; only the folder that nobody named is made.
fn folder(path: &Path, named: bool) -> Finding {
    let folder = folder_of(path);
    if named && !folder_exists(path) {
        let found = format!("`{}` does not exist", path.parent().unwrap_or(path).display());
        return Finding::fail("folder", found, "make it, or name another place with `--db`");
    }
    match tempfile::tempfile_in(&folder).and_then(|file| file.sync_all()) {
        Ok(()) => Finding::ok("folder", format!("`{}` can be written", folder.display())),
        Err(error) => Finding::fail(
            "folder",
            format!("`{}` cannot be written: {error}", folder.display()),
            "change its permissions, or name another place with `--db`",
        ),
    }
}

fn room(path: &Path) -> Finding {
    let folder = folder_of(path);
    let free = match rustix::fs::statvfs(&folder) {
        Ok(status) => status.f_bavail.saturating_mul(status.f_frsize),
        Err(error) => return Finding::warn("room", format!("cannot be told: {error}"), "look at the disk yourself"),
    };
    let found = format!("{} free in `{}`", bytes(free), folder.display());
    if free < ROOM_BYTES_MIN {
        Finding::fail("room", found, "free some room: plans stop when there is none")
    } else if free < 10 * ROOM_BYTES_MIN {
        Finding::warn("room", found, "free some room soon")
    } else {
        Finding::ok("room", found)
    }
}

async fn database(path: &Path, named: bool) -> Finding {
    let what = "record";
    if !path.exists() {
        let made = if named && !folder_exists(path) { "" } else { "; the first plan makes it" };
        return Finding::ok(what, format!("`{}` does not exist yet{made}", path.display()));
    }
    let looked = async {
        let store = SqliteStore::open_read_only(path)?;
        Ok::<_, gantry_store::StoreError>((store.info().await?, store.check().await?))
    };
    match looked.await {
        Ok((info, problems)) if problems.is_empty() => Finding::ok(
            what,
            format!(
                "`{}` is sound: schema {}, plans: {}, {}",
                path.display(),
                info.schema,
                info.plans,
                bytes(info.bytes)
            ),
        ),
        Ok((_, problems)) => Finding::fail(
            what,
            format!("`{}` is damaged: {}", path.display(), problems[0]),
            "restore a backup; see which plans are sound with `gantry audit`",
        ),
        Err(error) => Finding::fail(
            what,
            format!("`{}` cannot be opened: {error}", path.display()),
            error.hint().unwrap_or_else(|| "name another file with `--db`".to_owned()),
        ),
    }
}

fn program(what: &'static str, name: &str, lacking: Grade, fix: &str) -> Finding {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    match found {
        Some(file) => Finding::ok(what, file.display().to_string()),
        None => Finding { what, grade: lacking, found: format!("`{name}` is not in PATH"), fix: Some(fix.to_owned()) },
    }
}

fn terminal() -> Finding {
    if !std::io::stdout().is_terminal() {
        return Finding::ok("terminal", "none: output is plain text");
    }
    let term = std::env::var("TERM").unwrap_or_default();
    if !can_move_cursor() {
        return Finding::warn("terminal", "it cannot move its cursor", "set TERM; until then output is plain lines");
    }
    Finding::ok("terminal", term)
}
