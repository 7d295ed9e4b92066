//! Reads plan files for the commands.

use std::io::{ErrorKind, IsTerminal, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;

use gantry_core::plan::Plan;
use gantry_engine::{Clock, SystemClock};
use gantry_format::{Around, Loaded};
use gantry_runners::{GuardProgram, Models, Runners};
use rustix::io::Errno;
use serde_json::{Value, json};

use crate::exit::{self, Fault};
use crate::model::options::ModelOptions;
use crate::model::set_up::{Configured, servers};
use crate::session::with_planning;
use crate::show::named;
use crate::talk::talk;

pub use gantry_view::count;

/// The most that is read of one file: a little more than the format accepts, so that the format
/// itself says that it is too much.
const BYTES_MAX: u64 = 65 * 1024 * 1024;

/// What to do about a plan file that is none.
const HINT: &str = "name a plan file, or `-` for standard input";

/// Reads a file, `-` for standard input, and says everything that was found in it.
pub fn load(path: &str) -> Result<Loaded, Fault> {
    load_by(path, gantry_format::load)
}

/// The same for a plan that is to run here and now: what it needs and is not there is found, too.
pub fn load_here(path: &str) -> Result<Loaded, Fault> {
    load_by(path, read_here)
}

fn load_by(path: &str, read: fn(&str, &[u8]) -> Loaded) -> Result<Loaded, Fault> {
    Ok(read(name(path), &bytes(path, HINT)?))
}

/// What is in a file, `-` for standard input, as far as anything that this program reads goes.
pub fn bytes(path: &str, hint: &str) -> Result<Vec<u8>, Fault> {
    let fault = |error: std::io::Error| unreadable(path, &why(&error, "file")).hint(hint);
    let mut bytes = Vec::new();
    if path == "-" {
        std::io::stdin().lock().take(BYTES_MAX).read_to_end(&mut bytes).map_err(fault)?;
        return Ok(bytes);
    }
    check_kind(path, hint)?;
    std::fs::File::open(Path::new(path))
        .and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes))
        .map_err(fault)?;
    Ok(bytes)
}

/// The same for whoever cannot use a part of it.
pub fn all_bytes(path: &str, hint: &str) -> Result<Vec<u8>, Fault> {
    let bytes = bytes(path, hint)?;
    if bytes.len() as u64 >= BYTES_MAX {
        return Err(unreadable(path, "it is larger than 64 MB").hint("split it into several"));
    }
    Ok(bytes)
}

pub fn read_here(name: &str, bytes: &[u8]) -> Loaded {
    let models = Arc::new(Models::new(Configured(ModelOptions::default())));
    let runners = with_planning(Runners::standard(GuardProgram::at("gantry")), &models).with_models(models);
    // A configuration that cannot be read is told by whoever needs it.
    let servers = servers(&ModelOptions::default()).unwrap_or_default();
    let of_servers: Vec<String> = servers.keys().map(|server| format!("mcp.{server}.*")).collect();
    let mut capabilities: Vec<&str> = runners.names().collect();
    capabilities.extend(of_servers.iter().map(String::as_str));
    gantry_format::load_around(name, bytes, &Around { capabilities: &capabilities, now: SystemClock::new().now() })
}

/// A file that cannot be read.
pub fn unreadable(path: &str, what: &str) -> Fault {
    Fault::bad_input(format!("`{}` cannot be read: {what}", named(path)))
}

/// Says no to what would never end or never begin. A pipe that the shell opened (`gantry run <(make-plan)`) is fine.
pub fn check_kind(path: &str, hint: &str) -> Result<(), Fault> {
    if path.is_empty() {
        return Err(Fault::bad_input("the name of a file is empty").hint(hint));
    }
    let opened_before = ["/dev/fd/", "/proc/self/fd/", "/dev/stdin"].iter().any(|place| path.starts_with(place));
    let meta = std::fs::metadata(path).map_err(|error| unreadable(path, &why(&error, "file")).hint(hint))?;
    match odd_kind(&meta).or(meta.is_dir().then_some("a folder")) {
        Some(what) if !opened_before => Err(unreadable(path, &format!("it is {what}, not a file")).hint(hint)),
        _ => Ok(()),
    }
}

/// Why the system cannot use a file or folder, in words.
pub fn why(error: &std::io::Error, noun: &str) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("there is no such {noun}"),
        ErrorKind::IsADirectory => "it is a folder, not a file".to_owned(),
        ErrorKind::NotADirectory => "something before its last name is no folder".to_owned(),
        ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        ErrorKind::InvalidFilename => "its name is too long".to_owned(),
        _ if Errno::from_io_error(error) == Some(Errno::LOOP) => "its links lead in a circle".to_owned(),
        _ => error.to_string(),
    }
}

/// What something is that is neither a file nor a folder.
pub fn odd_kind(meta: &std::fs::Metadata) -> Option<&'static str> {
    let kind = meta.file_type();
    if kind.is_fifo() {
        Some("a pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else if kind.is_char_device() || kind.is_block_device() {
        Some("a device")
    } else {
        None
    }
}

/// The name of a file in messages.
pub fn name(path: &str) -> &str {
    if path == "-" { STDIN } else { path }
}

/// What standard input is called in messages.
const STDIN: &str = "<stdin>";

/// Reads a plan that is to run here and now and must be sound; for programs the errors are printed as JSON as well.
pub fn load_sound_here(path: &str, json: bool) -> Result<Plan, Fault> {
    sound_here(path, load_here(path), json)
}

/// The same of bytes that were read from there.
pub fn read_sound_here(path: &str, bytes: &[u8], json: bool) -> Result<Plan, Fault> {
    sound_here(path, Ok(read_here(name(path), bytes)), json)
}

fn sound_here(path: &str, loaded: Result<Loaded, Fault>, json: bool) -> Result<Plan, Fault> {
    if json && !matches!(&loaded, Ok(Loaded { plan: Some(_), .. })) {
        let mut found = findings(name(path), &loaded);
        found["ok"] = json!(false);
        exit::print(&format!("{found}\n"))?;
    }
    sound(path, loaded?)
}

/// What was found in a file, for programs.
pub fn findings(name: &str, file: &Result<Loaded, Fault>) -> Value {
    match file {
        Ok(loaded) => loaded.report.to_json(),
        Err(fault) => json!({"errors": [{
            "code": "file::unreadable", "message": fault.message(), "file": name,
            "line": null, "column": null, "hint": fault.advice(),
        }]}),
    }
}

/// Reads a plan that must be sound: findings are told, errors end the command.
pub fn load_sound(path: &str) -> Result<Plan, Fault> {
    sound(path, load(path)?)
}

fn sound(path: &str, loaded: Loaded) -> Result<Plan, Fault> {
    tell(&loaded);
    loaded.plan.ok_or_else(|| {
        let errors = loaded.report.errors().count();
        Fault::bad_input(format!("`{}` has {}", named(name(path)), count(errors, "error")))
    })
}

/// Tells what was found, like a compiler.
pub fn tell(loaded: &Loaded) {
    if !loaded.report.diagnostics.is_empty() {
        let colour = std::io::stderr().is_terminal();
        talk!("{}", loaded.report.render(colour));
    }
}

/// `1 entry`, `2 entries`.
pub fn entries(number: u64) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}
