//! `gantry validate`: says everything that is wrong with plan files.

use std::process::ExitCode;

use gantry_format::Loaded;
use serde_json::json;

use crate::exit::{self, Fault};
use crate::file::{self, count};
use crate::talk::talk;

/// Check plan files and say everything that is wrong, with file, line and column
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry validate plan.yaml\n  gantry validate examples/* --json\n  cat plan.yaml | gantry validate -"
)]
pub struct Args {
    /// Plan files; `-` is standard input
    #[arg(required = true)]
    files: Vec<String>,
    /// Print `{ok, errors: [{code, message, file, line, column, hint}], warnings: […], notes: […]}`
    #[arg(long)]
    json: bool,
    /// Let warnings count as errors
    #[arg(long)]
    strict: bool,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let files: Vec<(&str, Result<Loaded, Fault>)> =
        args.files.iter().map(|path| (file::name(path), file::load_here(path))).collect();
    let found = |count: fn(&Loaded) -> usize| -> usize {
        files.iter().filter_map(|(_, file)| file.as_ref().ok()).map(count).sum()
    };
    let unread = files.iter().filter(|(_, file)| file.is_err()).count();
    let errors = unread + found(|loaded| loaded.report.errors().count());
    let warnings = found(|loaded| loaded.report.warnings().count());
    let ok = errors == 0 && !(args.strict && warnings > 0);
    if args.json {
        print_json(ok, &files)?;
    } else {
        for (name, file) in files {
            match file {
                Ok(loaded) => {
                    file::tell(&loaded);
                    print_line(name, &loaded, args.strict)?;
                }
                Err(fault) => drop(fault.tell()),
            }
        }
        if !ok {
            let files = count(args.files.len(), "file");
            talk!("{} and {} in {files}", count(errors, "error"), count(warnings, "warning"));
        }
    }
    Ok(ExitCode::from(if ok { exit::DONE } else { exit::BAD_INPUT }))
}

/// One line for a file that can be used.
fn print_line(path: &str, loaded: &Loaded, strict: bool) -> Result<(), Fault> {
    let Some(plan) = &loaded.plan else { return Ok(()) };
    let tasks = count(plan.tasks.len(), "task");
    match loaded.report.warnings().count() {
        0 => exit::print(&format!("{path}: ok, {tasks}\n")),
        warnings if strict => exit::print(&format!("{path}: {tasks}, {}\n", count(warnings, "warning"))),
        warnings => exit::print(&format!("{path}: ok, {tasks}, {}\n", count(warnings, "warning"))),
    }
}

fn print_json(ok: bool, files: &[(&str, Result<Loaded, Fault>)]) -> Result<(), Fault> {
    let mut all = json!({"ok": ok, "errors": [], "warnings": [], "notes": []});
    for (name, file) in files {
        let report = file::findings(name, file);
        for list in ["errors", "warnings", "notes"] {
            let found = report[list].as_array().cloned().unwrap_or_default();
            all[list].as_array_mut().into_iter().for_each(|all| all.extend(found.clone()));
        }
    }
    exit::print_json(&all)
}
