//! Processes that cannot outlive their attempt.
//!
//! A command runs three processes deep. This process starts the **guard** (this binary again, with a hidden
//! argument), which starts the **entrance**, which confines itself and becomes the command:
//!
//! ```text
//! gantry ──socket── guard (own session, adopts every orphan below it)
//!                     └── entrance: own session, dies with the guard, sandbox ── exec ──> sh -c …
//! ```
//!
//! The guard ends everything below it when it is told to, when the command ends and leaves something behind, and
//! when the socket closes, which happens however this process ends, `kill -9` included. Because it adopts
//! orphans, a process that leaves its group or session is found too. Should someone kill the guard itself, the command
//! dies with it, and this process adopts and ends what the command had started. What is left: when this process and the
//! guard are killed at the same moment, the command dies, and what it had put into a session of its own does not.

mod confine; // in reading order
mod enter;
mod guard;
mod order;
mod orphans;
mod running;

pub use confine::{Confinement, SandboxStatus};
pub use order::{Exit, Order, StandardInput};
pub use running::{Happening, Running, StartError};

use std::ffi::OsString;
use std::path::PathBuf;

/// The argument that makes a program the guard; the command line must hand it to [`guard_main`] before all else.
pub const GUARD_ARGUMENT: &str = "__guard";

/// The argument after it that makes a guard the entrance of a command.
const ENTER_ARGUMENT: &str = "enter";

/// The program that becomes the guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardProgram {
    program: PathBuf,
    args: Vec<OsString>,
}

impl GuardProgram {
    /// This very program. On Linux it is found even after the file was replaced by an update.
    pub fn this_program() -> std::io::Result<Self> {
        let program =
            if cfg!(target_os = "linux") { PathBuf::from("/proc/self/exe") } else { std::env::current_exe()? };
        Ok(Self::at(program))
    }

    /// A program whose `main` calls [`guard_main`] when its first argument is [`GUARD_ARGUMENT`].
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), args: vec![GUARD_ARGUMENT.into()] }
    }
}

/// Is the guard, or the entrance of a command; never returns.
///
/// Must run before the program starts any thread: what confines a thread confines no other.
pub fn guard_main() -> ! {
    let enter = std::env::args_os().any(|arg| arg == ENTER_ARGUMENT);
    let code = if enter { enter::enter() } else { guard::guard() };
    std::process::exit(code)
}
