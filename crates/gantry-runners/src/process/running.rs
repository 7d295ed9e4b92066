//! A command that runs under a guard, seen from this process.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::order::{Exit, FromGuard, Order, Refused, StandardInput, ToGuard, take_line};
use super::{GuardProgram, SandboxStatus, orphans};
use crate::ports::Stream;

/// How much is read at once.
const PIECE_BYTES: usize = 32 << 10;

/// How long to go on reading after everything that could write has ended. Only something that got hold of the
/// pipe and is no child of the command can still keep it open.
const DRAIN_WITHIN: Duration = Duration::from_secs(2);

/// A command that runs. Dropping it ends the command and everything that it started.
pub struct Running {
    guard: Child,
    socket: UnixStream,
    heard: Vec<u8>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    out_piece: Vec<u8>,
    err_piece: Vec<u8>,
    guard_pid: Option<i32>,
    pid: i32,
    sandbox: SandboxStatus,
    ended: Option<(Option<Exit>, tokio::time::Instant)>,
}

/// What happens to a command.
#[derive(Debug)]
pub enum Happening {
    /// It wrote something.
    Output(Stream, Vec<u8>),
    /// It ended, and nothing that it started is left.
    Ended(Exit),
    /// The guard died; what the command did is not known.
    Lost,
}

/// Why a command did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The program does not exist.
    #[error("the program `{program}` was not found")]
    NotFound {
        /// Its name.
        program: String,
    },
    /// It could not be confined as it must be.
    #[error("it cannot be confined: {why}")]
    Sandbox {
        /// Why not.
        why: String,
    },
    /// Nobody can say whether it started: the guard was gone before it had said so.
    #[error("it is not known whether it started: its guard died")]
    Unknown,
    /// The system said no.
    #[error("it could not be started: {why}")]
    System {
        /// What it said.
        why: String,
    },
}

impl Running {
    /// Starts a command under a guard and returns once it runs.
    pub async fn start(guard: &GuardProgram, order: Order) -> Result<Self, StartError> {
        Self::start_with(guard, Order { input: StandardInput::Closed, ..order }, Stdio::piped()).await
    }

    /// Starts a command that is talked with: what is written to the line is its standard input, and what it writes to
    /// its standard output is read from there. The line is closed when the command and its guard are gone.
    pub async fn start_talking(guard: &GuardProgram, order: Order) -> Result<(Self, UnixStream), StartError> {
        let system = |error: io::Error| StartError::System { why: error.to_string() };
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(system)?;
        ours.set_nonblocking(true).map_err(system)?;
        let line = UnixStream::from_std(ours).map_err(system)?;
        let order = Order { input: StandardInput::Talk, ..order };
        Ok((Self::start_with(guard, order, Stdio::from(OwnedFd::from(theirs))).await?, line))
    }

    async fn start_with(guard: &GuardProgram, order: Order, stdout: Stdio) -> Result<Self, StartError> {
        let program = order.program.clone();
        let system = |error: io::Error| StartError::System { why: error.to_string() };
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(system)?;
        ours.set_nonblocking(true).map_err(system)?;
        let mut command = Command::new(&guard.program);
        command.args(&guard.args).env_clear();
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(stdout).stderr(Stdio::piped());
        let mut child = orphans::start_guard(|| command.spawn())
            .map_err(|error| StartError::System { why: format!("the guard `{}`: {error}", guard.program.display()) })?;
        drop(command); // closes our copy of their end
        let child_pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        let mut running = Self {
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            guard: child,
            socket: UnixStream::from_std(ours).map_err(system)?,
            heard: Vec::new(),
            out_piece: vec![0; PIECE_BYTES],
            err_piece: vec![0; PIECE_BYTES],
            guard_pid: child_pid,
            pid: 0,
            sandbox: SandboxStatus::None { why: "it has not started".to_owned() },
            ended: None,
        };
        running.say(&ToGuard::Run(Box::new(order))).await.map_err(system)?;
        match hear(&mut running.socket, &mut running.heard).await.map_err(system)? {
            Some(FromGuard::Started { pid, sandbox }) => {
                (running.pid, running.sandbox) = (pid, sandbox);
                Ok(running)
            }
            Some(FromGuard::Refused(Refused::NotFound)) => Err(StartError::NotFound { program }),
            Some(FromGuard::Refused(Refused::Sandbox(why))) => Err(StartError::Sandbox { why }),
            Some(FromGuard::Refused(Refused::System(why))) => Err(StartError::System { why }),
            Some(FromGuard::Ended(_)) | None => Err(StartError::Unknown),
        }
    }

    /// The process of the command.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// How it is confined.
    pub fn sandbox(&self) -> &SandboxStatus {
        &self.sandbox
    }

    /// Asks the command to end, and ends it and all that it started after the grace of its order.
    pub async fn stop(&mut self) {
        let _ = self.say(&ToGuard::Stop).await; // a guard that is gone has stopped everything
    }

    /// The same, with less time in between.
    pub async fn stop_within(&mut self, grace: std::time::Duration) {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        let _ = self.say(&ToGuard::StopWithin(grace_ms)).await; // a guard that is gone has stopped everything
    }

    /// Waits for the next thing that happens. May be dropped and called again.
    pub async fn next(&mut self) -> Happening {
        loop {
            let drained = self.stdout.is_none() && self.stderr.is_none();
            if let Some((exit, until)) = &self.ended
                && (drained || tokio::time::Instant::now() >= *until)
            {
                let _ = self.guard.try_wait(); // off the process table; else the runtime takes it later
                return exit.clone().map_or(Happening::Lost, Happening::Ended);
            }
            let until = self.ended.as_ref().map(|(_, until)| *until);
            tokio::select! {
                read = read(&mut self.stdout, &mut self.out_piece) => match read {
                    Some(piece) => return Happening::Output(Stream::Stdout, piece),
                    None => self.stdout = None,
                },
                read = read(&mut self.stderr, &mut self.err_piece) => match read {
                    Some(piece) => return Happening::Output(Stream::Stderr, piece),
                    None => self.stderr = None,
                },
                said = hear(&mut self.socket, &mut self.heard), if until.is_none() => {
                    let exit = match said {
                        Ok(Some(FromGuard::Ended(exit))) => Some(exit),
                        Ok(Some(_)) => continue,
                        Ok(None) | Err(_) => {
                            self.end_what_is_left().await;
                            None
                        }
                    };
                    self.ended = Some((exit, tokio::time::Instant::now() + DRAIN_WITHIN));
                }
                () = sleep_until(until) => {}
            }
        }
    }

    /// The guard is gone: the command and everything that it started are ended from here.
    async fn end_what_is_left(&mut self) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process_group(pid, Signal::KILL); // nobody left is fine
        }
        // Its children are this process's own once it is off the process table.
        let _ = tokio::time::timeout(DRAIN_WITHIN, self.guard.wait()).await;
        let _ = tokio::task::spawn_blocking(orphans::end_orphans).await;
    }

    async fn say(&mut self, what: &ToGuard) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        self.socket.write_all(&line).await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        orphans::forget_guard(self.guard_pid);
    }
}

/// Reads a piece; none at the end. Waits for ever when the pipe is closed already.
async fn read<R: tokio::io::AsyncRead + Unpin>(pipe: &mut Option<R>, piece: &mut [u8]) -> Option<Vec<u8>> {
    match pipe {
        Some(pipe) => match pipe.read(piece).await {
            Ok(0) | Err(_) => None,
            Ok(read) => Some(piece[..read].to_vec()),
        },
        None => std::future::pending().await,
    }
}

async fn hear(socket: &mut UnixStream, heard: &mut Vec<u8>) -> io::Result<Option<FromGuard>> {
    loop {
        if let Some(line) = take_line(heard) {
            return Ok(Some(serde_json::from_slice(&line)?));
        }
        if socket.read_buf(heard).await? == 0 {
            return Ok(None);
        }
    }
}

async fn sleep_until(until: Option<tokio::time::Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}
