//! What this process and the guard say to each other: one JSON value per line.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::confine::{Confinement, SandboxStatus};

/// Longer than any order: environments and command lines have limits of their own far below.
const LINE_BYTES_MAX: usize = 16 << 20;

/// A command to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The program, looked up in the `PATH` of `environment`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// All of its environment.
    pub environment: BTreeMap<String, String>,
    /// The folder that it runs in.
    pub folder: PathBuf,
    /// What it may touch; none means that it is not confined.
    pub confinement: Option<Confinement>,
    /// How long it has to end after it was asked to, in milliseconds.
    pub grace_ms: u64,
    /// What stands at its standard input.
    pub input: StandardInput,
}

/// What stands at the standard input of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandardInput {
    /// Nothing: it is closed.
    #[default]
    Closed,
    /// Whoever reads its standard output: both are one line, and what is said there is read here.
    Talk,
}

/// What this process says to the guard. Closing the socket says: end everything.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToGuard {
    /// Run this. Said once, first.
    Run(Box<Order>),
    /// Ask the command to end, then end it after the grace of its order.
    Stop,
    /// The same, with this many milliseconds in between.
    StopWithin(u64),
}

/// What the guard says to this process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromGuard {
    /// The command runs.
    Started {
        /// Its process, which leads its process group.
        pid: i32,
        /// How it is confined.
        sandbox: SandboxStatus,
    },
    /// It could not be started.
    Refused(Refused),
    /// It ended, and nothing that it started is left.
    Ended(Exit),
}

/// Why a command could not be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Refused {
    /// There is no such program.
    NotFound,
    /// The system said no.
    System(String),
    /// It could not be confined as it must be.
    Sandbox(String),
}

/// What the entrance says to the guard before it becomes the command; silence means that it did.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromEntrance {
    /// How it is confined now.
    Sandbox(SandboxStatus),
    /// It cannot become the command.
    Refused(Refused),
}

/// What the guard says to the entrance.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ToEntrance {
    /// The guard's process, to notice that it died in between.
    pub guard: i32,
    /// What to become.
    pub order: Order,
}

/// How a command ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Its exit code, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was ended because someone asked.
    pub stopped: bool,
    /// How many processes it left behind, which were then ended.
    pub left_behind: u32,
    /// Processes that could not be ended: they hang in the kernel.
    pub stuck: Vec<i32>,
}

/// Writes one line.
pub(super) fn say(mut socket: &UnixStream, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    socket.write_all(&line)
}

/// Reads one line; none at the end. What was read beyond it stays in the buffer for the next call.
pub(super) fn hear<T: DeserializeOwned>(mut socket: &UnixStream, buffer: &mut Vec<u8>) -> io::Result<Option<T>> {
    loop {
        if let Some(line) = take_line(buffer) {
            return Ok(Some(serde_json::from_slice(&line)?));
        }
        let mut piece = [0; 4096];
        match socket.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(read) => buffer.extend_from_slice(&piece[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if buffer.len() > LINE_BYTES_MAX {
            return Err(io::Error::other("a line is too long"));
        }
    }
}

/// Takes the first whole line out of a buffer.
pub(super) fn take_line(buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = buffer.iter().position(|byte| *byte == b'\n')?;
    let rest = buffer.split_off(end + 1);
    let mut line = std::mem::replace(buffer, rest);
    line.pop();
    Some(line)
}
