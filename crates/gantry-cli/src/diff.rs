//! `gantry diff`: says what changed between two plan files.

use std::process::ExitCode;

use serde_json::json;

use crate::exit::{self, Fault};
use crate::file;

/// Show what changed between two plan files, task by task and field by field
#[derive(clap::Args)]
#[command(
    after_help = "Lines start with + for a new task, - for one that is gone, > for one that moved, ~ for a changed field."
)]
pub struct Args {
    /// The version before
    before: String,
    /// The version after
    after: String,
    /// Print the structured diff, with the dependencies that came and went
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    if args.before == "-" && args.after == "-" {
        return Err(Fault::bad_input("standard input can be only one of the two files"));
    }
    let before = file::load_sound(&args.before)?;
    let after = file::load_sound(&args.after)?;
    let diff = gantry_core::plan::diff(&before, &after);
    if args.json {
        let (came, went) = diff.edges(&before);
        exit::print(&format!("{:#}\n", json!({"diff": diff, "edges": {"added": came, "removed": went}})))?;
    } else if diff.is_empty() {
        anstream::eprintln!("nothing changed");
    } else {
        exit::print(&diff.to_string())?;
    }
    Ok(ExitCode::from(exit::DONE))
}
