//! Reads plan files for the commands.

use std::io::{IsTerminal, Read};
use std::path::Path;

use gantry_core::plan::Plan;
use gantry_format::Loaded;
use serde_json::{Value, json};

use crate::exit::{self, Fault};
use crate::talk::talk;

/// The most that is read of one file: a little more than the format accepts, so that the format
/// itself says that it is too much.
const BYTES_MAX: u64 = 65 * 1024 * 1024;

/// Reads a file, `-` for standard input, and says everything that was found in it.
pub fn load(path: &str) -> Result<Loaded, Fault> {
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
        return Ok(gantry_format::load(STDIN, &bytes));
    }
    std::fs::File::open(Path::new(path))
        .and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes))
        .map_err(fault)?;
    Ok(gantry_format::load(path, &bytes))
}

/// The name of a file in messages.
pub fn name(path: &str) -> &str {
    if path == "-" { STDIN } else { path }
}

/// What standard input is called in messages.
const STDIN: &str = "<stdin>";

/// The same; for programs the errors are printed as JSON as well.
pub fn load_sound_as(path: &str, json: bool) -> Result<Plan, Fault> {
    if !json {
        return load_sound(path);
    }
    let loaded = load(path);
    if !matches!(&loaded, Ok(Loaded { plan: Some(_), .. })) {
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
        Fault::bad_input(format!("`{}` has {}", name(path), count(errors, "error")))
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

/// `1 error`, `2 errors`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
