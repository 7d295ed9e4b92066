//! `gantry export`: writes a plan file in another form.

use std::process::ExitCode;

use clap::ValueEnum;

use crate::exit::{self, Fault};
use crate::file;

/// Write a plan file as canonical YAML or JSON, or as a Mermaid flowchart
///
/// YAML and JSON keep everything. A flowchart keeps the shape only: tasks, their order and their routes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry export mermaid plan.yaml > plan.mmd\n  gantry export yaml flowchart.mmd > plan.yaml"
)]
pub struct Args {
    /// The form to write
    form: Form,
    /// The plan file; `-` is standard input
    file: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    Yaml,
    Json,
    Mermaid,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let plan = file::load_sound(&args.file)?;
    exit::print(&match args.form {
        Form::Yaml => gantry_format::to_yaml(&plan),
        Form::Json => gantry_format::to_json(&plan),
        Form::Mermaid => gantry_format::mermaid::export(&plan),
    })?;
    Ok(ExitCode::from(exit::DONE))
}
