//! The one binary: the only place that wires everything.

mod access;
mod arguments;
mod artifact;
mod ask;
mod audit;
mod bench;
mod bulk;
mod bundle;
mod chat;
mod completions;
mod contents;
mod db;
mod decompose;
mod desk;
mod diff;
mod doctor;
mod edit;
mod exit;
mod export;
mod file;
mod fork;
mod gate;
mod home;
mod import;
mod list;
mod log;
mod model;
mod new;
mod plan;
mod prompt;
mod replan;
mod replay;
mod report;
mod restore;
mod revise;
mod run;
mod schedule;
mod schema;
mod score;
mod serve;
mod session;
mod show;
mod status;
mod steer;
mod surroundings;
mod talk;
mod task;
mod template;
mod undo;
mod validate;
mod version;
mod watch;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

/// Plans are many small things that come and go together, which this allocator is made for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    Plan(plan::Args),
    Validate(validate::Args),
    Run(run::Args),
    Resume(run::ResumeArgs),
    Status(status::Args),
    List(list::Args),
    Watch(watch::Args),
    Log(log::Args),
    New(new::Args),
    Schedule(schedule::Args),
    Report(report::Args),
    Export(export::Args),
    Diff(diff::Args),
    Pause(steer::PauseArgs),
    Cancel(steer::CancelArgs),
    Undo(undo::Args),
    Retry(steer::RetryArgs),
    Gate(gate::Args),
    Ask(ask::Args),
    Task(task::Args),
    Artifact(artifact::Args),
    Edit(edit::Args),
    Revise(revise::Args),
    Decompose(decompose::Args),
    Chat(chat::Args),
    Bulk(Box<bulk::Args>),
    Score(score::Args),
    Replan(replan::Args),
    Fork(fork::Args),
    Replay(replay::Args),
    Audit(audit::Args),
    Restore(restore::Args),
    Import(import::Args),
    Search(db::SearchArgs),
    Pin(db::PinArgs),
    /// Let a pinned plan be forgotten
    Unpin(db::PinArgs),
    Forget(db::ForgetArgs),
    Db(db::Args),
    Model(model::Args),
    Prompt(prompt::Args),
    Template(template::Args),
    Serve(serve::Args),
    Access(access::Args),
    Doctor(doctor::Args),
    Completions(completions::Args),
    Man(completions::ManArgs),
    Schema(schema::Args),
    Bench(bench::Args),
}

fn main() -> ExitCode {
    // The guard of a task's process is this program, too; it must be told before anything else happens.
    if std::env::args_os().nth(1).is_some_and(|arg| arg == gantry_runners::process::GUARD_ARGUMENT) {
        gantry_runners::guard_main();
    }
    show::spare_dumb_terminals();
    let cli = match Cli::try_parse() {
        Err(error) if error.kind() == ErrorKind::InvalidUtf8 => return not_text().tell(),
        Err(error) if error.use_stderr() && exit::wants_json() => return misused(&error).tell(),
        parsed => parsed.unwrap_or_else(|error| error.exit()),
    };
    let outcome = match cli.command {
        Command::Validate(args) => validate::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Bulk(args) => bulk::run(&args),
        Command::Score(args) => score::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Resume(args) => run::resume(&args),
        Command::Status(args) => status::run(&args),
        Command::List(args) => list::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Log(args) => log::run(&args),
        Command::New(args) => new::run(&args),
        Command::Schedule(args) => schedule::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Pause(args) => steer::pause(&args),
        Command::Cancel(args) => steer::cancel(&args),
        Command::Undo(args) => undo::run(&args),
        Command::Retry(args) => steer::retry(&args),
        Command::Gate(args) => gate::run(&args),
        Command::Ask(args) => ask::run(&args),
        Command::Task(args) => task::run(&args),
        Command::Artifact(args) => artifact::run(&args),
        Command::Edit(args) => edit::run(&args),
        Command::Revise(args) => revise::run(&args),
        Command::Decompose(args) => decompose::run(&args),
        Command::Chat(args) => chat::run(&args),
        Command::Replan(args) => replan::run(&args),
        Command::Fork(args) => fork::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Restore(args) => restore::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Search(args) => db::search(&args),
        Command::Pin(args) => db::pin(&args, db::Pinned::Yes),
        Command::Unpin(args) => db::pin(&args, db::Pinned::No),
        Command::Forget(args) => db::forget(&args),
        Command::Db(args) => db::run(&args),
        Command::Model(args) => model::run(&args),
        Command::Prompt(args) => prompt::run(&args),
        Command::Template(args) => template::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Access(args) => access::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions(args) => completions::run(&args, Cli::command()),
        Command::Man(args) => completions::man(&args, Cli::command()),
        Command::Schema(args) => schema::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    outcome.unwrap_or_else(exit::Fault::tell)
}

/// Arguments that cannot be read, as a fault: what is wrong, and the rest as what to do.
fn misused(error: &clap::Error) -> exit::Fault {
    let told = error.to_string();
    let told = told.strip_prefix("error: ").unwrap_or(&told).trim_end();
    let (message, rest) = told.split_once("\n\n").unwrap_or((told, "For more information, try '--help'."));
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    exit::Fault::bad_input(one_line(message)).hint(one_line(rest))
}

/// Names of files may be anything, but what is recorded is text.
fn not_text() -> exit::Fault {
    let odd = std::env::args_os().find(|arg| arg.to_str().is_none()).unwrap_or_default();
    exit::Fault::bad_input(format!("the argument `{}` is not UTF-8", show::named(&odd.to_string_lossy())))
        .hint("rename the file, or make a link to it with another name")
}
