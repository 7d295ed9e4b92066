//! `gantry schema`: the JSON Schemas of what Gantry reads and writes.

use std::process::ExitCode;

use clap::ValueEnum;

use crate::exit::{self, Fault};

/// Print the JSON Schema of plan files, for editors and other programs
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry schema > plan.schema.json\n  gantry schema export > export.schema.json")]
pub struct Args {
    /// Of what
    #[arg(value_enum, default_value_t = What::Plan)]
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Plan files
    Plan,
    /// The plan for programs that `export --format json` and `report --format json` write
    Export,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    match args.what {
        What::Plan => exit::print(&format!("{:#}\n", gantry_format::schema()))?,
        What::Export => exit::print(gantry_report::document::SCHEMA)?,
    }
    Ok(ExitCode::from(exit::DONE))
}
