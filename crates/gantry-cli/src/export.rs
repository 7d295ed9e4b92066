//! `gantry export`: writes a plan in another form, or all of its life as a zip file.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use gantry_core::id::TaskId;
use gantry_core::life::TaskState;
use gantry_core::plan::Action;
use gantry_report::document::{self, Subject};
use gantry_schedule::{Options, schedule};
use serde_json::{Map, json};

use crate::artifact::{new_file, write_file};
use crate::bundle;
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::schedule::{of_plan, source};
use crate::session::{self, Record};
use crate::show::bytes;
use crate::show::elapsed::now;
use crate::talk::talk;
use crate::version::{self, Seen};

/// Write a plan for programs, as a plan file, as a flowchart, or with its whole life as a zip file
///
/// JSON is the machine-readable plan: every task with owner, estimate in hours, dates, cost and risks, the register, the
/// schedule, the cost and the health of the schedule, and under `source` the plan itself. YAML is the plan itself, to be
/// edited; both can be run. A flowchart keeps the shape only: tasks, their order and their routes. A zip file holds the
/// plan, its journal and its artifacts, with their hashes; `gantry import` takes it in elsewhere.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry export 7 --format json\n  gantry export 7@r1\n  gantry export plan.yaml --format mermaid > plan.mmd\n  gantry export 7 --format zip -o release.zip"
)]
pub struct Args {
    /// A plan file (`-` is standard input), or a plan, perhaps with @rN for its revision N
    #[arg(value_name = "FILE|PLAN", num_args = 1..=2, required = true)]
    what: Vec<String>,
    /// The form to write [default: as the output file is called, else yaml]
    #[arg(long, short, value_name = "FORM")]
    format: Option<Form>,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Write over a file that exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    record: Record,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The plan itself, as a plan file
    Yaml,
    /// Everything that is known and computed about it
    Json,
    /// A flowchart
    Mermaid,
    /// Plan, journal and artifacts
    Zip,
}

impl Args {
    /// What to write, and in which form: `PLAN --format FORM`, or `FORM PLAN`.
    fn asked(&self) -> Result<(Form, &str), Fault> {
        let named = |name: &str| Form::from_str(name, true).ok();
        let ending = self.output.as_deref().and_then(|path| Path::new(path).extension()?.to_str());
        let by_ending = match ending {
            Some("mmd") => Some(Form::Mermaid),
            Some(ending) => named(ending),
            None => None,
        };
        match (self.what.as_slice(), self.format) {
            ([what], format) => Ok((format.or(by_ending).unwrap_or(Form::Yaml), what)),
            ([form, what], None) if named(form).is_some() => Ok((named(form).unwrap_or(Form::Yaml), what)),
            _ => Err(Fault::bad_input(format!("`{}` is more than one plan", self.what.join(" ")))
                .hint("name one plan, and the form with `--format yaml|json|mermaid|zip`")),
        }
    }
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let (form, what) = args.asked()?;
    session::block_on(async {
        let body = match form {
            Form::Zip => return zip(args, what).await,
            Form::Yaml => gantry_format::to_yaml(&version::load(&args.record, what).await?),
            Form::Json => document(&args.record, what).await?,
            Form::Mermaid => gantry_format::mermaid::export(&version::load(&args.record, what).await?),
        };
        let body = body.into_bytes();
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

/// Everything that is known and computed about a plan.
async fn document(record: &Record, what: &str) -> Result<String, Fault> {
    let Seen { plan, life, past } = version::seen(record, what).await?;
    let (work, project, kept) = match &life {
        None => (plan.work(), of_plan::project(&plan.work(), None, now()), Map::new()),
        Some(life) => {
            let kept = json!({
                "plan_id": life.id(), "state": life.state().to_string(), "revision": life.revision(),
            });
            let mut kept = kept.as_object().cloned().unwrap_or_default();
            let proposed = life.proposed();
            if let Some(home) = plan.tasks.iter().find(|task| matches!(task.action, Some(Action::Adopt(_)))) {
                let is_open =
                    matches!(life.task_state(home.id.as_str()), Some(TaskState::Running | TaskState::Completed));
                kept.insert("accepted".to_owned(), json!(is_open && proposed == plan));
            }
            let work = proposed.work();
            let project = if past {
                of_plan::project(&work, None, now())
            } else {
                source::of_life(&record.open()?, life).await?
            };
            (work, project, kept)
        }
    };
    let scheduled = schedule(&project, &Options::usual(&project))
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>());
    let state_of = |id: &TaskId| Some(life.as_ref()?.task_state(id.as_str())?.to_string());
    let source = serde_json::from_str(&gantry_format::to_json(&plan)).unwrap_or_default();
    let scheduled = scheduled.as_ref().map(|schedule| (&project, schedule)).map_err(Vec::as_slice);
    let parts = life.as_ref().map(|life| gantry_view::report::parts_of(life)).unwrap_or_default();
    exit::json_text(&document::document(&Subject {
        kept,
        plan: &work,
        state_of: &state_of,
        scheduled,
        source,
        parts: &parts,
    }))
}

fn tell(args: &Args, path: &str, written: u64) -> Result<(), Fault> {
    if args.record.json {
        return exit::print_json(&json!({"file": path, "bytes": written}));
    }
    talk!("wrote {} to `{path}`", bytes(written));
    Ok(())
}

/// A zip file may be far larger than memory, so it is made in a file without a name first.
async fn zip(args: &Args, what: &str) -> Result<ExitCode, Fault> {
    if version::is_file(what) {
        return Err(Fault::bad_input(format!("`{what}` is a file, and a zip file holds the life of a plan"))
            .hint("name a plan by its id, its number, the beginning of its id, or @last"));
    }
    if args.output.is_none() && std::io::stdout().is_terminal() {
        return Err(Fault::bad_input("a zip file is not for a terminal").hint("name a file with `-o FILE`"));
    }
    let desk = Desk::open(&args.record, what).await?;
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
