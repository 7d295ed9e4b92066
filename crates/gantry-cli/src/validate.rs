//! `gantry validate`: says everything that is wrong with plan files.

use std::process::ExitCode;

use gantry_format::Loaded;
use serde_json::{Value, json};

use crate::exit::{self, Fault};
use crate::file::{self, count};

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
    let (mut read, mut unread) = (Vec::new(), Vec::new());
    for path in &args.files {
        match file::load(path) {
            Ok(loaded) => read.push((path, loaded)),
            Err(fault) => unread.push((path, fault)),
        }
    }
    let errors = unread.len() + read.iter().map(|(_, loaded)| loaded.report.errors().count()).sum::<usize>();
    let warnings: usize = read.iter().map(|(_, loaded)| loaded.report.warnings().count()).sum();
    let ok = errors == 0 && !(args.strict && warnings > 0);
    if args.json {
        print_json(ok, &read, &unread)?;
    } else {
        for (path, loaded) in &read {
            file::tell(loaded);
            print_line(path, loaded, args.strict)?;
        }
        for (_, fault) in unread {
            fault.tell();
        }
        if !ok {
            let files = count(args.files.len(), "file");
            anstream::eprintln!("{} and {} in {files}", count(errors, "error"), count(warnings, "warning"));
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

fn print_json(ok: bool, read: &[(&String, Loaded)], unread: &[(&String, Fault)]) -> Result<(), Fault> {
    let reports: Vec<Value> = read.iter().map(|(_, loaded)| loaded.report.to_json()).collect();
    let all = |name: &str| -> Vec<Value> {
        reports.iter().flat_map(|report| report[name].as_array().cloned().unwrap_or_default()).collect()
    };
    let mut errors = all("errors");
    errors.extend(unread.iter().map(|(path, fault)| {
        json!({"code": "file::unreadable", "message": fault.message(), "file": path, "line": null, "column": null, "hint": fault.advice()})
    }));
    let report = json!({"ok": ok, "errors": errors, "warnings": all("warnings"), "notes": all("notes")});
    exit::print(&format!("{report:#}\n"))
}
