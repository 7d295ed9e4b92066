//! `gantry export`: writes a plan in another form, or all of its life as a zip file.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::json;

use crate::artifact::{new_file, write_file};
use crate::bundle;
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::session::{self, Record};
use crate::show::bytes;
use crate::talk::talk;
use crate::version;

/// Write a plan as canonical YAML or JSON, as a Mermaid flowchart, or with its whole life as a zip file
///
/// YAML and JSON keep everything of the plan. A flowchart keeps the shape only: tasks, their order and their routes. A
/// zip file holds the plan, its journal and its artifacts, with their hashes; `gantry import` takes it in elsewhere.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry export mermaid plan.yaml > plan.mmd\n  gantry export yaml 7@r1\n  gantry export zip 7 -o release.zip"
)]
pub struct Args {
    /// The form to write
    form: Form,
    /// A plan file (`-` is standard input), or a plan, perhaps with @rN for its revision N
    #[arg(value_name = "FILE|PLAN")]
    what: String,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Write over a file that exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    record: Record,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    Yaml,
    Json,
    Mermaid,
    Zip,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        let body = match args.form {
            Form::Zip => return zip(args).await,
            Form::Yaml => gantry_format::to_yaml(&version::load(&args.record, &args.what).await?).into_bytes(),
            Form::Json => gantry_format::to_json(&version::load(&args.record, &args.what).await?).into_bytes(),
            Form::Mermaid => {
                gantry_format::mermaid::export(&version::load(&args.record, &args.what).await?).into_bytes()
            }
        };
        match args.output.as_deref() {
            None | Some("-") => exit::print_bytes(&body)?,
            Some(path) => {
                write_file(path, &body, args.force)?;
                tell(args, path, body.len() as u64)?;
            }
        }
        Ok(ExitCode::from(exit::DONE))
    })
}

fn tell(args: &Args, path: &str, written: u64) -> Result<(), Fault> {
    if args.record.json {
        return exit::print_json(&json!({"file": path, "bytes": written}));
    }
    talk!("wrote {} to `{path}`", bytes(written));
    Ok(())
}

/// A zip file may be far larger than memory, so it is made in a file without a name first.
async fn zip(args: &Args) -> Result<ExitCode, Fault> {
    if version::is_file(&args.what) {
        return Err(Fault::bad_input(format!("`{}` is a file, and a zip file holds the life of a plan", args.what))
            .hint("name a plan by its id, its number, the beginning of its id, or @last"));
    }
    if args.output.is_none() && std::io::stdout().is_terminal() {
        return Err(Fault::bad_input("a zip file is not for a terminal").hint("name a file with `-o FILE`"));
    }
    let desk = Desk::open(&args.record, &args.what).await?;
    let output = args.output.as_deref().filter(|path| *path != "-");
    let folder = output.and_then(|path| Path::new(path).parent()).filter(|folder| folder.is_dir());
    let made = folder.map_or_else(tempfile::tempfile, tempfile::tempfile_in);
    let mut file = made.map_err(|error| Fault::internal(format!("there is no room for the zip file: {error}")))?;
    bundle::pack(desk.store(), desk.id(), &mut file).await?;
    match output {
        None => exit::print_all(&mut file)?,
        Some(path) => {
            let written = std::io::copy(&mut file, &mut new_file(path, args.force)?)
                .map_err(|error| Fault::bad_input(format!("`{path}` cannot be written: {error}")))?;
            tell(args, path, written)?;
        }
    }
    Ok(ExitCode::from(exit::DONE))
}
