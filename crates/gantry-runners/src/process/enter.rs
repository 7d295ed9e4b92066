//! The entrance of a command: confines itself, then becomes the command.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::confine;
use super::order::{FromEntrance, Refused, StandardInput, ToEntrance, hear, say};

/// The exit code of an entrance that did not become a command; nobody sees it, because the refusal was said.
const NOT_ENTERED: i32 = 126;

/// Becomes the command that the guard names on the socket at standard input. Returns only when it cannot.
pub(super) fn enter() -> i32 {
    // A copy that closes when the command starts: its end tells the guard that all went well.
    let Ok(socket) = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else { return NOT_ENTERED };
    let refused = become_command(&socket);
    let _ = say(&socket, &FromEntrance::Refused(refused)); // a guard that is gone needs no answer
    NOT_ENTERED
}

fn become_command(socket: &UnixStream) -> Refused {
    let system = |what: &str, why: &dyn std::fmt::Display| Refused::System(format!("{what}: {why}"));
    let order = match hear::<ToEntrance>(socket, &mut Vec::new()) {
        Ok(Some(ToEntrance { guard, order })) => {
            if let Err(error) = die_with(guard) {
                return system("the guard is gone", &error);
            }
            order
        }
        Ok(None) => return Refused::System("the guard is gone".to_owned()),
        Err(error) => return system("the order cannot be read", &error),
    };
    if let Err(error) = rustix::process::setsid() {
        return system("no session of its own", &error);
    }
    let no_core_dumps = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, no_core_dumps); // secrets may be in them
    if let Err(error) = std::env::set_current_dir(&order.folder) {
        return system(&format!("the folder `{}` cannot be entered", order.folder.display()), &error);
    }
    if let Some(confinement) = &order.confinement {
        match confine::confine(confinement) {
            Ok(status) => {
                if say(socket, &FromEntrance::Sandbox(status)).is_err() {
                    return Refused::System("the guard is gone".to_owned());
                }
            }
            Err(why) => return Refused::Sandbox(why),
        }
    }
    let input = match order.input {
        StandardInput::Closed => Stdio::null(),
        // A line goes both ways: what the other side says at our standard output is read at the standard input.
        StandardInput::Talk => match io::stdout().as_fd().try_clone_to_owned() {
            Ok(line) => Stdio::from(line),
            Err(error) => return system("there is no line to talk on", &error),
        },
    };
    let mut command = Command::new(&order.program);
    let error = command.args(&order.args).env_clear().envs(&order.environment).stdin(input).exec();
    match error.kind() {
        io::ErrorKind::NotFound => Refused::NotFound,
        _ => Refused::System(error.to_string()),
    }
}

/// Asks the kernel to end this process when the guard ends, and makes sure that it has not yet.
fn die_with(guard: i32) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    match rustix::process::getppid() {
        Some(parent) if parent.as_raw_nonzero().get() == guard => Ok(()),
        _ => Err(io::Error::other("another process took its place")),
    }
}
