//! Reads plan files for the commands.

use std::io::{IsTerminal, Read};
use std::path::Path;

use gantry_core::plan::Plan;
use gantry_engine::{Clock, SystemClock};
use gantry_format::{Around, Loaded};
use gantry_runners::{GuardProgram, Runners};

use crate::exit::Fault;

/// The most that is read of one file: a little more than the format accepts, so that the format
/// itself says that it is too much.
const BYTES_MAX: u64 = 65 * 1024 * 1024;

/// Reads a file, `-` for standard input, and says everything that was found in it.
pub fn load(path: &str) -> Result<Loaded, Fault> {
    load_by(path, gantry_format::load)
}

/// The same for a plan that is to run here and now: what it needs and is not there is found, too.
pub fn load_here(path: &str) -> Result<Loaded, Fault> {
    load_by(path, read_here)
}

fn load_by(path: &str, read: fn(&str, &[u8]) -> Loaded) -> Result<Loaded, Fault> {
    let fault = |error: std::io::Error| {
        let what = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            std::io::ErrorKind::IsADirectory => "it is a folder, not a file".to_owned(),
            std::io::ErrorKind::PermissionDenied => "it may not be read".to_owned(),
            _ => error.to_string(),
        };
        Fault::bad_input(format!("`{path}` cannot be read: {what}")).hint("name a plan file, or `-` for standard input")
    };
    let mut bytes = Vec::new();
    if path == "-" {
        std::io::stdin().lock().take(BYTES_MAX).read_to_end(&mut bytes).map_err(fault)?;
        return Ok(read(STDIN, &bytes));
    }
    std::fs::File::open(Path::new(path))
        .and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes))
        .map_err(fault)?;
    Ok(read(path, &bytes))
}

fn read_here(name: &str, bytes: &[u8]) -> Loaded {
    let runners = Runners::standard(GuardProgram::at("gantry"));
    let capabilities: Vec<&str> = runners.names().collect();
    gantry_format::load_around(name, bytes, &Around { capabilities: &capabilities, now: SystemClock::new().now() })
}

/// The name of a file in messages.
pub fn name(path: &str) -> &str {
    if path == "-" { STDIN } else { path }
}

/// What standard input is called in messages.
const STDIN: &str = "<stdin>";

/// Reads a plan that must be sound: findings are told, errors end the command.
pub fn load_sound(path: &str) -> Result<Plan, Fault> {
    sound(path, load(path)?)
}

/// The same for a plan that is to run here and now.
pub fn load_sound_here(path: &str) -> Result<Plan, Fault> {
    sound(path, load_here(path)?)
}

fn sound(path: &str, loaded: Loaded) -> Result<Plan, Fault> {
    tell(&loaded);
    loaded.plan.ok_or_else(|| {
        let errors = loaded.report.errors().count();
        Fault::bad_input(format!("`{}` has {}", name(path), count(errors, "error")))
    })
}

/// Tells what was found, like a compiler.
pub fn tell(loaded: &Loaded) {
    if !loaded.report.diagnostics.is_empty() {
        let colour = std::io::stderr().is_terminal();
        anstream::eprintln!("{}", loaded.report.render(colour));
    }
}

/// `1 error`, `2 errors`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
