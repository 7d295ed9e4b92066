//! The one binary: the only place that wires everything.

mod bench;
mod diff;
mod exit;
mod export;
mod file;
mod list;
mod log;
mod new;
mod run;
mod schema;
mod session;
mod show;
mod status;
mod validate;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Turns an objective into a plan that can be trusted, and carries it out.
///
/// Plan files are YAML, JSON, the text form (.gantry) or Mermaid flowcharts (.mmd). Data goes to
/// standard output, talk to standard error.
///
/// Exit codes: 0 done, 1 a fault of this program or its surroundings, 2 bad input, 3 the plan failed,
/// 4 it waits for a person, 5 it refused the request.
#[derive(Parser)]
#[command(name = "gantry", version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Validate(validate::Args),
    Run(run::Args),
    Resume(run::ResumeArgs),
    Status(status::Args),
    List(list::Args),
    Watch(watch::Args),
    Log(log::Args),
    New(new::Args),
    Export(export::Args),
    Diff(diff::Args),
    Schema(schema::Args),
    Bench(bench::Args),
}

fn main() -> ExitCode {
    // The guard of a task's process is this program, too; it must be told before anything else happens.
    if std::env::args_os().nth(1).is_some_and(|arg| arg == gantry_runners::process::GUARD_ARGUMENT) {
        gantry_runners::guard_main();
    }
    let outcome = match Cli::parse().command {
        Command::Validate(args) => validate::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Resume(args) => run::resume(&args),
        Command::Status(args) => status::run(&args),
        Command::List(args) => list::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Log(args) => log::run(&args),
        Command::New(args) => new::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    outcome.unwrap_or_else(exit::Fault::tell)
}
