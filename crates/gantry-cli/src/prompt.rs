//! `gantry prompt`: which prompts there are, what they say, and how they fare.

mod list; // in reading order
pub mod show;
pub mod stats;

use std::process::ExitCode;

use gantry_llm::config::Config;
use gantry_llm::prompts::Prompts;

use crate::exit::Fault;
use crate::model::options::ModelOptions;
use crate::session::Record;

/// See which prompts there are, what they say, and how they fare
#[derive(clap::Args)]
#[command(
    after_help = "Prompts are files; one of the same name in the folder `prompts` of a project takes the place of a built-in one.\nSee docs/models.md.\n\nExamples:\n  gantry prompt list\n  gantry prompt show task\n  gantry prompt show task --locale ko\n  gantry prompt stats\n  gantry prompt stats judge --json"
)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    record: Record,
}

#[derive(clap::Subcommand)]
enum What {
    /// List all prompts with their versions, languages and variants
    #[command(after_help = "Examples:\n  gantry prompt list\n  gantry prompt list --json")]
    List,
    /// Show what a prompt takes, and what it says with its examples filled in
    #[command(after_help = "Examples:\n  gantry prompt show task\n  gantry prompt show task --locale ko --json")]
    Show {
        /// The prompt
        name: String,
        /// The language [default: the one that is configured]
        #[arg(long, value_name = "LANGUAGE")]
        locale: Option<String>,
        /// One of its variants
        #[arg(long, value_name = "NAME")]
        variant: Option<String>,
    },
    /// Count how often prompts were used, what that took, and which variant is best
    ///
    /// Everything is derived from the calls on record. A use succeeds when an answer came that holds, and not from the
    /// offline model in the place of another. The score of a variant is 0.7 of success, 0.2 of few tokens and 0.1 of
    /// speed, the latter two compared with the best.
    #[command(after_help = "Examples:\n  gantry prompt stats\n  gantry prompt stats task --json")]
    Stats {
        /// Only this prompt
        name: Option<String>,
    },
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    match &args.what {
        What::List => list::run(args.record.json),
        What::Show { name, locale, variant } => {
            show::run(name, locale.as_deref(), variant.as_deref(), args.record.json)
        }
        What::Stats { name } => stats::run(&args.record, name.as_deref()),
    }
}

/// The prompts as they are configured.
pub fn configured() -> Result<(Config, Prompts), Fault> {
    let config = ModelOptions::default().load()?;
    let prompts = crate::template::prompts(&config)?;
    Ok((config, prompts))
}
