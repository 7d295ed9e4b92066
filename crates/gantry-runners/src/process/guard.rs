//! The guard: starts one command, and ends everything below it when the time has come.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::order::{Exit, FromEntrance, FromGuard, Order, Refused, ToEntrance, ToGuard, hear, say, take_line};
use super::{ENTER_ARGUMENT, GUARD_ARGUMENT, SandboxStatus};

/// How often adopted processes that ended are taken off the process table while the command runs.
const REAP_EVERY: Duration = Duration::from_secs(1);

/// How long to look again for processes to end; the next look comes at once when one ended.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How long a process may resist being killed. Only one that hangs in the kernel can.
pub(super) const KILL_WITHIN: Duration = Duration::from_secs(10);

/// Guards the command that is named on the socket at standard input. Returns the exit code of the guard.
pub(super) fn guard() -> i32 {
    match guarded() {
        Ok(()) => 0,
        Err(_) => 1, // the other side sees the socket close, and nobody else listens
    }
}

fn guarded() -> io::Result<()> {
    // A session of its own: what is typed at the terminal of this program does not reach it.
    let _ = rustix::process::setsid(); // refused only when it leads a group already
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut heard = Vec::new();
    let Some(ToGuard::Run(order)) = hear::<ToGuard>(&socket, &mut heard)? else { return Ok(()) };
    let grace = Duration::from_millis(order.grace_ms);
    let (child, sandbox) = match start(*order) {
        Ok(started) => started,
        Err(refused) => return say(&socket, &FromGuard::Refused(refused)),
    };
    // From here on a failure to talk is no reason to leave anything behind.
    let _ = say(&socket, &FromGuard::Started { pid: child.as_raw_nonzero().get(), sandbox });
    let exit = watch(&socket, &mut heard, child, grace);
    say(&socket, &FromGuard::Ended(exit))
}

/// Starts the entrance and waits until it has become the command.
fn start(order: Order) -> Result<(Pid, SandboxStatus), Refused> {
    let system = |error: io::Error| Refused::System(error.to_string());
    let (ours, theirs) = UnixStream::pair().map_err(system)?;
    let program =
        if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { std::env::current_exe().map_err(system)? };
    let mut command = Command::new(program);
    command.args([GUARD_ARGUMENT, ENTER_ARGUMENT]).env_clear().stdin(Stdio::from(OwnedFd::from(theirs)));
    let child = command.spawn().map_err(system)?;
    drop(command); // closes our copy of their end
    let child = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(Refused::System("no process".into()))?;
    let confined = order.confinement.is_some();
    let guard = rustix::process::getpid().as_raw_nonzero().get();
    say(&ours, &ToEntrance { guard, order }).map_err(system)?;
    let mut status = (!confined).then(|| SandboxStatus::None { why: "it is switched off".to_owned() });
    let mut heard = Vec::new();
    while let Some(said) = hear(&ours, &mut heard).map_err(system)? {
        match said {
            FromEntrance::Sandbox(reached) => status = Some(reached),
            FromEntrance::Refused(refused) => return Err(refused),
        }
    }
    status.map(|status| (child, status)).ok_or(Refused::System("it died before it started".to_owned()))
}

/// Waits until the command ends or is to be ended, then ends everything that is left.
fn watch(socket: &UnixStream, heard: &mut Vec<u8>, child: Pid, mut grace: Duration) -> Exit {
    let mut family = Family { child, exit: None };
    let alarm = rustix::process::pidfd_open(child, rustix::process::PidfdFlags::empty()).ok();
    let mut exit = Exit::default();
    while !family.reap() {
        if wait(socket, alarm.as_ref(), REAP_EVERY)
            && let Some(within) = told_to_stop(socket, heard, grace)
        {
            grace = within;
            exit.stopped = true;
            break;
        }
    }
    if !exit.stopped {
        exit.left_behind = u32::try_from(family.members().len()).unwrap_or(u32::MAX);
    }
    exit.stuck = family.end(grace);
    if let Some(status) = family.exit {
        exit.code = status.exit_status();
        exit.signal = status.terminating_signal();
    }
    exit
}

/// Waits for word, for the end of the command, or for a while; true when there is word.
fn wait(socket: &UnixStream, alarm: Option<&OwnedFd>, longest: Duration) -> bool {
    let mut waiting = vec![PollFd::new(socket, PollFlags::IN)];
    waiting.extend(alarm.map(|alarm| PollFd::new(alarm, PollFlags::IN)));
    // Without an alarm for the command its end is noticed by looking.
    let longest = if alarm.is_some() { longest } else { LOOK_AGAIN };
    let timeout = Timespec { tv_sec: longest.as_secs().cast_signed(), tv_nsec: longest.subsec_nanos().into() };
    let _ = poll(&mut waiting, Some(&timeout)); // an interruption is just an early look
    !waiting[0].revents().is_empty()
}

/// Reads what was said: a word to stop, or the silence of a closed socket, which means the same. Returns how long the
/// command has to end.
fn told_to_stop(mut socket: &UnixStream, heard: &mut Vec<u8>, grace: Duration) -> Option<Duration> {
    let mut piece = [0; 256];
    match io::Read::read(&mut socket, &mut piece) {
        Ok(0) => Some(grace),
        Ok(read) => {
            heard.extend_from_slice(&piece[..read]);
            match serde_json::from_slice(&take_line(heard)?) {
                Ok(ToGuard::Run(_)) => None,
                Ok(ToGuard::StopWithin(grace_ms)) => Some(Duration::from_millis(grace_ms)),
                Ok(ToGuard::Stop) | Err(_) => Some(grace),
            }
        }
        Err(error) => (error.kind() != io::ErrorKind::Interrupted).then_some(grace),
    }
}

/// The command and everything that it started.
struct Family {
    child: Pid,
    exit: Option<WaitStatus>,
}

impl Family {
    /// Takes those that ended off the process table; true when the command itself has ended.
    fn reap(&mut self) -> bool {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == self.child {
                self.exit = Some(status);
            }
        }
        self.exit.is_some()
    }

    /// All processes below the guard. Orphans are adopted by it, so none can hide.
    fn members(&self) -> Vec<Pid> {
        let below = ProcessTable::read().map(|table| table.below(rustix::process::getpid()));
        match (below, self.exit) {
            (Some(below), _) => below,
            (None, None) => vec![self.child],
            (None, Some(_)) => Vec::new(),
        }
    }

    /// Asks all to end, waits, then ends them; returns those that would not.
    fn end(&mut self, grace: Duration) -> Vec<i32> {
        for (signal, patience) in [(Signal::TERM, grace), (Signal::KILL, KILL_WITHIN)] {
            let until = Instant::now() + patience;
            let mut asked = Vec::new();
            loop {
                self.reap();
                let members = self.members();
                if members.is_empty() {
                    return Vec::new();
                }
                // Asked once, killed as often as it takes: new ones may have been started meanwhile.
                for member in members {
                    if signal == Signal::TERM && asked.contains(&member) {
                        continue;
                    }
                    let _ = rustix::process::kill_process(member, signal); // it may just have ended
                    if signal == Signal::TERM {
                        // One that was stopped hears only after it goes on.
                        let _ = rustix::process::kill_process(member, Signal::CONT);
                        asked.push(member);
                    }
                }
                if Instant::now() >= until {
                    break;
                }
                std::thread::sleep(LOOK_AGAIN);
            }
        }
        self.members().into_iter().map(|pid| pid.as_raw_nonzero().get()).collect()
    }
}

/// All processes of the machine that have not ended.
pub(super) struct ProcessTable(Vec<Process>);

struct Process {
    pid: Pid,
    parent: Option<Pid>,
    /// None when whoever leads it is not to be seen from here, as for what was started from outside a container.
    session: Option<Pid>,
}

impl ProcessTable {
    /// Reads it; none when the system does not tell.
    pub(super) fn read() -> Option<Self> {
        let entries = std::fs::read_dir("/proc").ok()?.flatten();
        let processes = entries.filter_map(|entry| {
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            Process::read(pid, &std::fs::read(entry.path().join("stat")).ok()?)
        });
        Some(Self(processes.collect()))
    }

    /// The children of one.
    pub(super) fn children(&self, of: Pid) -> Vec<Pid> {
        let child = |process: &&Process| process.parent == Some(of) && process.pid != of;
        self.0.iter().filter(child).map(|process| process.pid).collect()
    }

    /// Everything below one.
    pub(super) fn below(&self, root: Pid) -> Vec<Pid> {
        let mut below = self.children(root);
        let mut seen = 0;
        while seen < below.len() {
            below.extend(self.children(below[seen]));
            seen += 1;
        }
        below
    }

    /// The session of one.
    pub(super) fn session(&self, of: Pid) -> Option<Pid> {
        self.0.iter().find(|process| process.pid == of)?.session
    }
}

impl Process {
    /// Reads `pid (name) state parent group session …`, where the name may hold anything, brackets and line ends
    /// included. None for one that has ended: it has no children any more.
    fn read(pid: Pid, stat: &[u8]) -> Option<Self> {
        let after = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = String::from_utf8_lossy(&stat[after + 1..]);
        let mut fields = rest.split_ascii_whitespace();
        if matches!(fields.next()?, "Z" | "X") {
            return None;
        }
        let parent = Pid::from_raw(fields.next()?.parse().ok()?);
        let session = Pid::from_raw(fields.nth(1)?.parse().ok()?);
        Some(Self { pid, parent, session })
    }
}
