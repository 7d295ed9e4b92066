//! `run`: a shell command, in its own session, confined, with a clean environment.
//!
//! **In.** The process runs in the working folder (or `cwd` below it) with standard input closed. It sees the
//! variables of [`environment`], and its inputs as `GANTRY_INPUT_<NAME>` (a text as it is, anything else as JSON)
//! and all of them as JSON in the file that `GANTRY_INPUTS` names.
//!
//! **Out.** The outputs `stdout` and `stderr` hold the end of each stream, `exit_code` and `signal` how it ended;
//! the artifacts of the same names hold everything up to a limit. When standard output is one JSON object or list,
//! the output `json` is that value. What the process writes to the file that `GANTRY_OUTPUTS` names becomes outputs
//! as well: one JSON object, or lines `name=value`.
//!
//! **Failures.** An exit code that is not zero, and a signal that means a mistake in the program (SIGSEGV, SIGABRT, …),
//! are wrong results (`logic`). A program that a signal of someone else ended (SIGKILL of a machine without memory,
//! SIGTERM, SIGHUP, SIGINT), that took too long and was stopped, whose guard was killed, or whose output could not be
//! kept, was in the middle of something and may have done it: that is `lost`. A shell reports the signal of a command
//! inside it as 128 and more, which counts the same. The core has its own clock for timeouts; the one
//! here comes a little later, for the day when the core is not listening.
//!
//! **Back.** With `undo: restore` the working folder is kept before the command and compared after it ([`before`]).

pub mod environment; // in reading order
mod before;
mod confinement;
mod outputs;
mod shelter;
mod streams;

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::plan::{Action, Run, Undo};
use gantry_core::policy::FailureClass;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::files::no_link;
use crate::policy::check_command;
use crate::ports::{Ports, Stream};
use crate::process::{
    Confinement, Exit, GuardProgram, Happening, Order, Running, SandboxStatus, StandardInput, StartError,
};
use crate::runner::{Description, Ended, Happened, Preview, Runner};
use crate::text::shortened;
use crate::work::{Place, Work};
use before::Before;
pub use confinement::gaps;
use outputs::Exchange;
pub(crate) use shelter::private_folder;
use streams::Collected;

/// The kind under which a program that runs is recorded.
pub const PROCESS: &str = "process";
/// What the answer has instead of an exit when there was no process at all.
pub const NOT_STARTED: &str = "not_started";

/// How much of the end of the error stream goes into the message of a failure.
const MESSAGE_CHARS_MAX: usize = 400;

/// The longest command line; the system refuses a longer argument.
const COMMAND_BYTES_MAX: usize = 100 << 10;

/// Runs shell commands.
#[derive(Clone, Debug)]
pub struct Shell {
    guard: GuardProgram,
}

impl Shell {
    /// Makes a shell whose commands run under this guard.
    pub fn new(guard: GuardProgram) -> Self {
        Self { guard }
    }

    /// What is to be run: the action itself, or the arguments of the capability `shell`.
    fn asked(work: &Work) -> Result<Run, Failure> {
        let asked = match &work.action {
            Action::Run(run) => run.clone(),
            _ => {
                let args = work.args();
                let text = |name: &str| args.get(name).and_then(Value::as_str).map(str::to_owned);
                Run { command: text("command").unwrap_or_default(), shell: text("shell"), cwd: text("cwd") }
            }
        };
        if asked.command.trim().is_empty() {
            return Err(Failure::new(FailureClass::Logic, "there is no command to run"));
        }
        if asked.command.contains('\0') {
            return Err(Failure::new(
                FailureClass::Logic,
                "the command contains a zero byte, which no program can be given",
            ));
        }
        if asked.command.len() > COMMAND_BYTES_MAX {
            let message = format!(
                "the command has {} bytes; at most {COMMAND_BYTES_MAX} can be given to a shell. Put it into a file",
                asked.command.len()
            );
            return Err(Failure::new(FailureClass::Logic, message));
        }
        Ok(asked)
    }

    /// Runs the command to its end.
    async fn run_to_end(
        &self,
        work: &Work,
        place: &Place,
        ports: &Ports,
        stop: &CancellationToken,
    ) -> Result<Finished, Failure> {
        let asked = Self::asked(work)?;
        let exchange = Exchange::open(work)?;
        let folder = folder(&place.root, asked.cwd.as_deref())?;
        let shell = asked.shell.as_deref().unwrap_or("sh");
        let order = Order {
            program: shell.to_owned(),
            args: vec!["-c".to_owned(), asked.command.clone()],
            environment: environment::environment(work, place, exchange.folder()),
            folder,
            confinement: confinement::confinement(place, exchange.folder())?,
            grace_ms: u64::try_from(place.limits.grace.as_millis()).unwrap_or(u64::MAX),
            input: StandardInput::Closed,
        };
        let request = json!({"command": asked.command, "shell": shell, "cwd": asked.cwd});
        let until = work.timeout.map(|timeout| Instant::now() + millis(timeout) + place.limits.grace);
        let call = ports.begin(PROCESS, request).await?;
        let mut running = match Running::start(&self.guard, order).await {
            Ok(running) => running,
            Err(error) => {
                ports.calls.answered(call, json!({NOT_STARTED: error.to_string()}));
                return Err(not_started(&error));
            }
        };
        let sandbox = running.sandbox().clone();
        let mut collected = Collected::new(work, place, ports);
        let mut stopping: Option<Stopping> = None;
        let ended = loop {
            tokio::select! {
                biased;
                () = stop.cancelled(), if stopping.is_none() => {
                    stopping = Some(Stopping::Asked);
                    running.stop_within(place.limits.cancel_grace).await;
                }
                () = deadline(until), if stopping.is_none() => {
                    stopping = Some(Stopping::TookTooLong);
                    running.stop().await;
                }
                happening = running.next() => match happening {
                    Happening::Output(stream, piece) => collected.add(stream, &piece).await.map_err(in_doubt)?,
                    Happening::Ended(exit) => break Some(exit),
                    Happening::Lost => break None,
                },
                () = collected.due() => collected.report().await.map_err(in_doubt)?,
            }
        };
        let streams = collected.finish().await.map_err(in_doubt)?;
        let answer = json!({"exit": ended, "sandbox": sandbox});
        ports.calls.answered(call, answer);
        let Some(exit) = ended else {
            let message = "the guard of the process was killed; what the process did is not known";
            return Err(Failure { evidence: streams.artifacts, ..Failure::new(FailureClass::Lost, message) });
        };
        Ok(Finished { exit, stopping, sandbox, streams, exchange })
    }
}

/// How much of each stream is kept with a failure: it stands in the record several times.
const FAILED_BYTES_MAX: usize = 4_096;

/// The end of a text, in whole letters.
fn ending_of(text: &str) -> &str {
    let cut = text.ceil_char_boundary(text.len().saturating_sub(FAILED_BYTES_MAX));
    &text[cut..]
}

/// Why a command is being ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopping {
    Asked,
    TookTooLong,
}

/// A command that has ended, one way or another.
struct Finished {
    exit: Exit,
    stopping: Option<Stopping>,
    sandbox: SandboxStatus,
    streams: streams::Streams,
    exchange: Exchange,
}

impl Finished {
    /// Turns the end of the process into the end of the attempt.
    fn judge(self, work: &Work) -> Result<Success, Failure> {
        let mut outputs = self.outputs();
        if let Some(failure) = self.failure(work) {
            // Failure modes and routes can ask how it went; the whole streams are among the artifacts.
            for value in
                outputs.values_mut().filter(|value| value.as_str().is_some_and(|text| text.len() > FAILED_BYTES_MAX))
            {
                *value = json!(ending_of(value.as_str().unwrap_or_default()));
            }
            outputs.remove("json");
            return Err(Failure { evidence: self.streams.artifacts, outputs, ..failure });
        }
        self.exchange.read_into(&mut outputs)?;
        Ok(Success { outputs, artifacts: self.streams.artifacts, ..Success::default() })
    }

    fn failure(&self, work: &Work) -> Option<Failure> {
        let exit = &self.exit;
        let fail = |class, message: String| Some(Failure::new(class, message));
        match self.stopping {
            Some(Stopping::Asked) => return fail(FailureClass::Cancelled, "it was stopped".to_owned()),
            Some(Stopping::TookTooLong) => {
                let timeout = work.timeout.unwrap_or_default();
                return fail(FailureClass::Lost, format!("it took longer than {timeout} and was stopped"));
            }
            None => {}
        }
        let signal = exit.signal.or_else(|| exit.code.map(|code| code - 128).filter(|signal| sent(*signal)));
        match (exit.code, signal) {
            (Some(0), _) => None,
            (_, Some(signal)) => {
                let class = if sent(signal) { FailureClass::Lost } else { FailureClass::Logic };
                let hint = if signal == 9 { "; the machine may be out of memory" } else { "" };
                fail(class, format!("it was ended by {}{hint}{}", signal_name(signal), self.last_words()))
            }
            (Some(code), None) => fail(FailureClass::Logic, format!("exit code {code}{}", self.last_words())),
            (None, None) => fail(FailureClass::Lost, "how it ended is not known".to_owned()),
        }
    }

    /// The last line that says something, errors first.
    fn last_words(&self) -> String {
        let (stdout, stderr) = (&self.streams.stdout, &self.streams.stderr);
        let last = |text: &str| text.lines().rev().find(|line| !line.trim().is_empty()).map(|l| l.trim().to_owned());
        last(stderr)
            .or_else(|| last(stdout))
            .map_or(String::new(), |line| format!(": {}", shortened(&line, MESSAGE_CHARS_MAX)))
    }

    fn outputs(&self) -> Outputs {
        let mut outputs = Outputs::new();
        outputs.insert(Stream::Stdout.name().to_owned(), json!(self.streams.stdout));
        outputs.insert(Stream::Stderr.name().to_owned(), json!(self.streams.stderr));
        outputs.insert("exit_code".to_owned(), json!(self.exit.code));
        if let Some(signal) = self.exit.signal {
            outputs.insert("signal".to_owned(), json!(signal));
        }
        if let Some(value) = &self.streams.json {
            outputs.insert("json".to_owned(), value.clone());
        }
        if self.exit.left_behind > 0 {
            outputs.insert("left_behind".to_owned(), json!(self.exit.left_behind));
        }
        if self.sandbox != SandboxStatus::Full {
            outputs.insert("sandbox".to_owned(), json!(self.sandbox));
        }
        outputs
    }
}

#[async_trait]
impl Runner for Shell {
    fn names(&self) -> &'static [&'static str] {
        &["run", "shell"]
    }

    fn description(&self, _name: &str) -> Option<Description> {
        let parameters = json!({
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command line for sh, in the working folder.", "examples": ["ls"]}},
            "required": ["command"],
            "additionalProperties": false,
        });
        let text = "Runs a shell command in the working folder and gives its output and exit code.";
        Some(Description { text: text.into(), parameters, foreign: false, repeatable: false })
    }

    fn parameters(&self, _name: &str) -> &'static [&'static str] {
        &["command", "shell", "cwd"]
    }

    fn guard(&self, work: &Work, place: &Place) -> Result<(), Failure> {
        let asked = Self::asked(work)?;
        folder(&place.root, asked.cwd.as_deref())?;
        environment::check(work, place)?;
        place.policies().try_for_each(|policy| check_command(&asked.command, &policy.commands))
    }

    async fn preview(&self, work: &Work, place: &Place) -> Result<Preview, Failure> {
        let asked = Self::asked(work)?;
        let folder = asked.cwd.as_deref().unwrap_or(".");
        let hosts = &place.policy.network.allow;
        let network =
            if place.has_network() { format!("network: {}", hosts.join(", ")) } else { "no network".to_owned() };
        let text = format!("would run in `{folder}`, {network}: {}", asked.command);
        Ok(Preview { text, diff: None })
    }

    async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        let before = match work.undo {
            Undo::Restore => match Before::keep(place, ports, stop).await {
                Ok(before) => Some(before),
                Err(failure) => return Ended::with(Err(failure)),
            },
            Undo::None | Undo::Never | Undo::Action(_) => None,
        };
        let end = self.run_to_end(work, place, ports, stop).await.and_then(|finished| finished.judge(work));
        if let Some(before) = before {
            before.compare(place, ports).await;
        }
        Ended::with(end)
    }

    async fn undo(&self, _work: &Work, place: &Place, ports: &Ports, record: &Value) -> Result<String, String> {
        before::take_back(record, place, ports).await
    }

    /// Exit code 0 means that it happened, 1 that it did not; anything else leaves it open.
    async fn happened(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Happened {
        match self.run_to_end(work, place, ports, stop).await {
            Ok(finished) if finished.stopping.is_none() => match finished.exit.code {
                Some(0) => {
                    let outputs = finished.judge(work).map(|success| success.outputs).unwrap_or_default();
                    Happened { happened: Some(true), outputs }
                }
                Some(1) => Happened { happened: Some(false), outputs: Outputs::new() },
                Some(_) | None => Happened::default(),
            },
            Ok(_) | Err(_) => Happened::default(),
        }
    }
}

/// What a process needs that is no shell command: a private folder for its temporary files, what it may touch, and the
/// folder to run in.
pub(crate) fn shelter_for(place: &Place) -> Result<(TempDir, Option<Confinement>, PathBuf), Failure> {
    let (private, _, folder) = bare_shelter(place)?;
    let confinement = confinement::confinement(place, private.path())?;
    Ok((private, confinement, folder))
}

/// The same for a process that may touch nothing of the working folder unless whoever starts it says so.
pub(crate) fn bare_shelter(place: &Place) -> Result<(TempDir, Option<Confinement>, PathBuf), Failure> {
    let make = || -> std::io::Result<TempDir> {
        let private = shelter::private_folder()?;
        std::fs::create_dir(private.path().join("tmp"))?;
        Ok(private)
    };
    let private = make()
        .map_err(|error| Failure::new(FailureClass::Transient, format!("no room for temporary files: {error}")))?;
    let confinement = confinement::surroundings(place, private.path());
    Ok((private, confinement, folder(&place.root, None)?))
}

/// The folder to run in, which must be inside the working folder.
fn folder(root: &Path, cwd: Option<&str>) -> Result<PathBuf, Failure> {
    no_link(root)?;
    let root = root.canonicalize().map_err(|error| {
        Failure::new(FailureClass::Logic, format!("the working folder `{}` cannot be used: {error}", root.display()))
    })?;
    let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty()) else { return Ok(root) };
    let folder = root.join(cwd).canonicalize().map_err(|error| {
        Failure::new(FailureClass::Logic, format!("the folder `{}` cannot be used: {error}", shortened(cwd, 80)))
    })?;
    if !folder.starts_with(&root) {
        let message = format!("the folder `{}` is outside the working folder", shortened(cwd, 80));
        return Err(Failure::new(FailureClass::Policy, message));
    }
    Ok(folder)
}

fn not_started(error: &StartError) -> Failure {
    match error {
        StartError::NotFound { program } => {
            let message = format!("{error}; install it, or say with `shell` which one to use instead of `{program}`");
            Failure::new(FailureClass::Logic, message)
        }
        StartError::Sandbox { .. } => Failure::new(FailureClass::Policy, error.to_string()),
        // E2BIG: what is too large now is too large the next time.
        StartError::System { why } if why.contains("os error 7)") => {
            Failure::new(FailureClass::Logic, format!("{error}; the command and its variables are too large together"))
        }
        StartError::System { .. } => Failure::new(FailureClass::Transient, error.to_string()),
        StartError::Unknown => Failure::new(FailureClass::Lost, error.to_string()),
    }
}

/// What it said could not be kept. By then the process ran, so that trying again may do it twice.
fn in_doubt(failure: Failure) -> Failure {
    Failure { class: FailureClass::Lost, ..failure }
}

/// Signals that are sent by someone, rather than earned by a mistake: HUP, INT, KILL, TERM.
fn sent(signal: i32) -> bool {
    matches!(signal, 1 | 2 | 9 | 15)
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        other => return format!("signal {other}"),
    };
    format!("signal {signal} ({name})")
}

fn millis(duration: gantry_core::time::Duration) -> std::time::Duration {
    std::time::Duration::from_millis(duration.as_ms())
}

async fn deadline(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}
