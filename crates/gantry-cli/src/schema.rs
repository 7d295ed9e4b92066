//! `gantry schema`: the JSON Schema of plan files.

use std::process::ExitCode;

use crate::exit::{self, Fault};

/// Print the JSON Schema of plan files, for editors and other programs
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry schema > plan.schema.json")]
pub struct Args {}

pub fn run(_: &Args) -> Result<ExitCode, Fault> {
    exit::print(&format!("{:#}\n", gantry_format::schema()))?;
    Ok(ExitCode::from(exit::DONE))
}
