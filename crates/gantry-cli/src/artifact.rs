//! `gantry artifact`: what tasks made and is kept, by name and version.

use std::io::Write;
use std::process::ExitCode;

use gantry_core::id::{PlanId, TaskId};
use gantry_core::time::Timestamp;
use gantry_engine::Engine;
use gantry_store::{ArtifactRow, Store, all_artifacts};
use serde_json::{Value, json};

use crate::arguments::ThePlan;
use crate::desk::{self, Desk};
use crate::exit::{self, Fault};
use crate::file::why;
use crate::session::{self, Record};
use crate::show::elapsed::clock;
use crate::show::parts::{Shown, folded};
use crate::show::table::columns;
use crate::show::{bytes, named, plain};
use crate::talk::talk;

/// See what tasks made and is kept, and get it
#[derive(clap::Args)]
#[command(
    after_help = "An artifact is called PLAN/TASK/NAME, or PLAN/TASK/NAME@VERSION, or PLAN TASK NAME.\n\nExamples:\n  gantry artifact list 7\n  gantry artifact show 7/build/stdout\n  gantry artifact get 7/build/report.pdf@2 -o report.pdf\n  gantry artifact get 7 build stdout -o - | less"
)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    record: Record,
}

#[derive(clap::Subcommand)]
enum What {
    /// List the artifacts of a plan, all versions
    #[command(after_help = "Examples:\n  gantry artifact list 7")]
    List {
        #[command(flatten)]
        plan: ThePlan,
    },
    /// Show where an artifact comes from, and the beginning of it if it is text
    #[command(
        after_help = "Examples:\n  gantry artifact show 7/build/stdout\n  gantry artifact show 7 build stdout@2 --json"
    )]
    Show {
        /// The artifact: PLAN/TASK/NAME[@VERSION] or PLAN TASK NAME[@VERSION]
        #[arg(num_args = 1..=3, required = true, value_name = "REF")]
        reference: Vec<String>,
    },
    /// Write an artifact to a file, byte for byte
    #[command(
        after_help = "Examples:\n  gantry artifact get 7/build/report.pdf@2 -o report.pdf\n  gantry artifact get 7 build stdout -o - | less"
    )]
    Get {
        /// The artifact: PLAN/TASK/NAME[@VERSION] or PLAN TASK NAME[@VERSION]
        #[arg(num_args = 1..=3, required = true, value_name = "REF")]
        reference: Vec<String>,
        /// The file; `-` is standard output
        #[arg(short, long, value_name = "FILE")]
        output: String,
        /// Write over a file that exists
        #[arg(long)]
        force: bool,
    },
}

/// How many bytes of a text are shown.
const SHOWN_BYTES_MAX: usize = 4_096;

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        match &args.what {
            What::List { plan } => list(&args.record, plan).await,
            What::Show { reference } => show(&args.record, reference).await,
            What::Get { reference, output, force } => get(&args.record, reference, output, *force).await,
        }
    })
}

/// All artifacts of a plan.
pub async fn all(store: &dyn Store, plan: &PlanId) -> Result<Vec<ArtifactRow>, Fault> {
    Ok(all_artifacts(store, plan).await?)
}

async fn list(record: &Record, plan: &str) -> Result<ExitCode, Fault> {
    let desk = Desk::open(record, plan).await?;
    let rows = all(desk.store(), desk.id()).await?;
    if record.json {
        let all: Vec<Value> = folded(&rows).iter().map(Shown::to_json).collect();
        exit::print_json(&json!(all))?;
    } else if rows.is_empty() {
        talk!("`{}` has no artifacts", desk.id());
    } else {
        let mut lines = vec![["TASK", "NAME", "SIZE", "MADE", "BY"].map(str::to_owned).to_vec()];
        lines.extend(folded(&rows).into_iter().map(|shown| {
            let artifact = &shown.row.artifact;
            vec![artifact.task.to_string(), shown.name(), shown.size(), clock(artifact.at), artifact.made_by.clone()]
        }));
        exit::print(&columns(&lines))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn made(row: &ArtifactRow) -> String {
    let (at, by) = (clock(row.artifact.at), &row.artifact.made_by);
    if row.artifact.attempt.0 == 0 { format!("{at} by {by}") } else { format!("{at} by {by} {}", row.artifact.attempt) }
}

/// Finds the artifact that is meant.
async fn find(record: &Record, reference: &[String]) -> Result<(Engine, ArtifactRow), Fault> {
    let malformed = || {
        Fault::bad_input(format!("`{}` is not the name of an artifact", reference.join(" ")))
            .hint("write PLAN/TASK/NAME, perhaps with @VERSION, or PLAN TASK NAME")
    };
    let (plan, task, name) = match reference {
        [whole] => {
            let mut parts = whole.splitn(3, '/');
            match (parts.next(), parts.next(), parts.next()) {
                (Some(plan), Some(task), Some(name)) => (plan.to_owned(), task.to_owned(), name.to_owned()),
                _ => return Err(malformed()),
            }
        }
        [plan, task, name] => (plan.clone(), task.clone(), name.clone()),
        _ => return Err(malformed()),
    };
    if plan.is_empty() || task.is_empty() || name.is_empty() {
        return Err(malformed());
    }
    let (name, version) = match name.rsplit_once('@').map(|(name, version)| (name, version.parse::<u32>())) {
        Some((bare, Ok(version))) => (bare.to_owned(), Some(version)),
        _ => (name, None),
    };
    let engine = desk::engine(record)?;
    let plan = session::find(&engine, &plan).await?.id;
    let id = TaskId::new(&task).map_err(|error| Fault::bad_input(error.to_string()))?;
    match engine.store().artifact(&plan, &id, &name, version).await? {
        Some(row) => Ok((engine, row)),
        None => {
            let version = version.map(|version| format!(" in version {version}")).unwrap_or_default();
            Err(Fault::bad_input(format!("task `{task}` of plan `{plan}` has no artifact `{name}`{version}"))
                .hint(format!("see what there is with `gantry artifact list {plan}`")))
        }
    }
}

/// The content of the newest version of what a task has made.
pub async fn latest(store: &dyn Store, plan: &PlanId, task: &TaskId, name: &str) -> Result<Vec<u8>, Fault> {
    let row = store.artifact(plan, task, name, None).await?;
    let row = row.ok_or_else(|| Fault::internal(format!("task `{task}` of plan `{plan}` has no artifact `{name}`")))?;
    content(store, &row).await
}

/// The content of an artifact; an error says why there is none.
pub async fn content(store: &dyn Store, row: &ArtifactRow) -> Result<Vec<u8>, Fault> {
    if let Some(body) = store.get_blob(row.artifact.hash).await? {
        return Ok(body);
    }
    if let Some(at) = store.dropped_at(row.artifact.hash).await? {
        return Err(Fault::refused(format!("the content of `{}` was dropped at {}", row.reference(), clock(at))).hint(
            "its task declares how long it is kept (`retention`); pin a plan with `gantry pin` to keep everything",
        ));
    }
    Err(Fault::internal(format!("the content of `{}` is gone from the record", row.reference()))
        .hint("see what else is missing with `gantry audit`"))
}

/// Shows what is known of an artifact whose content was dropped.
fn show_dropped(record: &Record, row: &ArtifactRow, at: Timestamp) -> Result<ExitCode, Fault> {
    if record.json {
        let mut all = json!(row);
        all["text"] = Value::Null;
        all["dropped_at"] = json!(at);
        exit::print_json(&all)?;
    } else {
        let dropped = format!("at {}, past its retention", clock(at));
        let mut rows = facts(row);
        rows.push(vec!["dropped".to_owned(), dropped]);
        exit::print(&columns(&rows))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn facts(row: &ArtifactRow) -> Vec<Vec<String>> {
    let rows = [
        ("artifact", row.reference()),
        ("size", bytes(row.artifact.bytes)),
        ("made", made(row)),
        ("hash", row.artifact.hash.to_string()),
    ];
    rows.map(|(label, text)| vec![label.to_owned(), text]).to_vec()
}

async fn show(record: &Record, reference: &[String]) -> Result<ExitCode, Fault> {
    let (engine, row) = find(record, reference).await?;
    if let Some(at) = engine.store().dropped_at(row.artifact.hash).await? {
        return show_dropped(record, &row, at);
    }
    let body = content(&**engine.store(), &row).await?;
    let text = std::str::from_utf8(&body).ok().filter(|text| !text.contains('\0'));
    if record.json {
        let mut all = json!(row);
        all["text"] = json!(text);
        exit::print_json(&all)?;
        return Ok(ExitCode::from(exit::DONE));
    }
    exit::print(&columns(&facts(&row)))?;
    match text {
        Some(text) if !text.is_empty() => {
            let end = (0..=text.len().min(SHOWN_BYTES_MAX)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let cut = if end < text.len() { "\n…\n" } else { "" };
            let shown: Vec<String> = text[..end].split('\n').map(plain).collect();
            exit::print(&format!("\n{}{cut}", shown.join("\n")))?;
        }
        Some(_) => {}
        None => talk!("it is not text; get it with `gantry artifact get {} -o FILE`", row.reference()),
    }
    Ok(ExitCode::from(exit::DONE))
}

async fn get(record: &Record, reference: &[String], output: &str, force: bool) -> Result<ExitCode, Fault> {
    let (engine, row) = find(record, reference).await?;
    let body = content(&**engine.store(), &row).await?;
    if output == "-" {
        exit::print_bytes(&body)?;
        return Ok(ExitCode::from(exit::DONE));
    }
    write_file(output, &body, force)?;
    if record.json {
        exit::print_json(&json!({"artifact": row, "file": output}))?;
    } else {
        talk!("wrote {} to `{output}`", bytes(row.artifact.bytes));
    }
    Ok(ExitCode::from(exit::DONE))
}

/// Writes a file; one that exists stays unless `force` says otherwise.
pub fn write_file(path: &str, body: &[u8], force: bool) -> Result<(), Fault> {
    let written = new_file(path, force)?.write_all(body);
    written.map_err(|error| Fault::bad_input(format!("`{path}` cannot be written: {error}")))
}

/// Opens a file to write, not over one that exists unless it is asked for.
pub fn new_file(path: &str, force: bool) -> Result<std::fs::File, Fault> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    options.open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Fault::bad_input(format!("`{}` exists already", named(path)))
            .hint("name another file, or write over it with `--force`"),
        _ => Fault::bad_input(format!("`{}` cannot be written: {}", named(path), why(&error, "folder")))
            .hint("name a file in a folder that exists"),
    })
}
