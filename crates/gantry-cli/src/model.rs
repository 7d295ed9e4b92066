//! `gantry model`: who answers for which role, whether they do, and what is missing.

pub mod options; // in reading order
pub mod set_up;
mod list;
pub mod test;
pub mod estimate;
pub mod stats;
pub mod doctor;

use std::process::ExitCode;

use gantry_llm::prompts::PromptFault;

use crate::exit::Fault;
use crate::session::RecordFile;
use options::ModelOptions;

/// See which models answer for which role, try them, and find out what is missing
#[derive(clap::Args)]
#[command(
    after_help = "Models are configured in gantry.toml, in the environment and with options; see docs/models.md.\n\nExamples:\n  gantry model list\n  gantry model list --profile quality --json\n  gantry model test\n  gantry model test planner\n  gantry model test ollama:llama3.2\n  gantry model estimate plan.yaml\n  gantry model stats 7\n  gantry model doctor"
)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    options: ModelOptions,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum What {
    /// Show the effective configuration: each role with its models, prices and keys, and who said so
    #[command(after_help = "Examples:\n  gantry model list\n  gantry model list --json")]
    List,
    /// Ask each model for one word, to see whether it answers
    #[command(
        after_help = "The exit code is 1 when a model does not answer. A model that costs money costs a tiny part of a cent.\n\nExamples:\n  gantry model test                     all models of the profile\n  gantry model test planner             the models of a role\n  gantry model test openai:gpt-4o-mini  any model of a provider"
    )]
    Test {
        /// A role, or a model [default: all models of the profile]
        #[arg(value_name = "ROLE|MODEL")]
        what: Option<String>,
    },
    /// Say what a plan would ask of models and what that would cost at most, before it runs
    #[command(
        after_help = "Nobody is asked. Inputs that other tasks make are not known yet, and are not counted.\n\nExamples:\n  gantry model estimate plan.yaml\n  gantry model estimate plan.yaml --profile quality --json"
    )]
    Estimate {
        /// The plan file; `-` is standard input
        #[arg(value_name = "FILE")]
        file: String,
    },
    /// Add up what was asked of models, from the calls on record: calls, failures, fallbacks, tokens, money and time
    #[command(after_help = "Examples:\n  gantry model stats\n  gantry model stats 7 --json")]
    Stats {
        /// The plan: id, number, the beginning of an id, or @last [default: all plans]
        #[arg(value_name = "PLAN")]
        plan: Option<String>,
        #[command(flatten)]
        record: RecordFile,
    },
    /// Say what is configured, what is missing, which servers answer on this machine, and how to fix it
    #[command(
        after_help = "The exit code is 1 when something fails.\n\nExamples:\n  gantry model doctor\n  gantry model doctor --json"
    )]
    Doctor,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    match &args.what {
        What::List => list::run(&args.options, args.json),
        What::Test { what } => test::run(&args.options, what.as_deref(), args.json),
        What::Estimate { file } => estimate::run(&args.options, file, args.json),
        What::Stats { plan, record } => stats::run(record, plan.as_deref(), args.json),
        What::Doctor => doctor::run(&args.options, args.json),
    }
}

/// The faults of prompts in lines.
fn told(faults: &[PromptFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
