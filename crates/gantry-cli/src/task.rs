//! `gantry task`: sees one task with everything known about it, and does what a person can do for it.

mod calls;
mod edit;
mod judge;
mod resolve;
mod show;

use std::path::Path;
use std::process::ExitCode;

use gantry_core::effect::ArtifactRef;
use gantry_core::input::{Input, Success};
use gantry_engine::{Clock, SystemClock};
use gantry_store::BLOB_BYTES_MAX;
use serde_json::{Map, Value};

use crate::arguments::{By, ThePlan};
use crate::desk::{self, Desk};
use crate::exit::{self, Fault};
use crate::file::{odd_kind, why};
use crate::session::{self, Record};
use crate::show::named;
use crate::talk::talk;

/// See one task with everything known about it, and do what a person can do for it
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry task show 7 build\n  gantry task done 7 call-the-bank --output reference=A17 --evidence letter.pdf\n  gantry task resolve 7 deploy retry --guidance \"use the other host\"\n  gantry task resolve 7 --all retry\n  gantry task judge 7 report --holds 1 --fails 2=\"no sources\""
)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    record: Record,
}

#[derive(clap::Subcommand)]
enum What {
    /// Show a task: its definition, state, attempts, inputs, outputs, artifacts and history
    #[command(after_help = "Examples:\n  gantry task show 7 build\n  gantry task show 7 write --calls")]
    Show {
        #[command(flatten)]
        plan: ThePlan,
        /// The task
        task: String,
        /// Show its calls of models and others as well: what was asked, of whom, what came, and what it took
        #[arg(long)]
        calls: bool,
    },
    /// Add a task to a plan, as a new revision
    #[command(
        after_help = "Examples:\n  gantry task add 7 \"Ask the neighbours\" --after get-the-permit\n  gantry task add 7 \"Measure\" --last-in prepare --depends-on survey --description \"Width and height of every door\""
    )]
    Add(edit::AddArgs),
    /// Describe a task otherwise, as a new revision
    #[command(
        after_help = "Examples:\n  gantry task change 7 measure --name \"Measure twice\"\n  gantry task change 7 measure --depends-on survey --depends-on permit"
    )]
    Change(edit::ChangeArgs),
    /// Move a task, with everything below it, as a new revision
    #[command(
        after_help = "Examples:\n  gantry task move 7 measure --before cut\n  gantry task move 7 measure --first-in prepare\n  gantry task move 7 measure --top"
    )]
    Move(edit::MoveArgs),
    /// Delete a task, with everything below it, as a new revision
    ///
    /// What others wait for is not deleted, unless they are to wait no longer (`--detach`).
    #[command(
        after_help = "Examples:\n  gantry task delete 7 measure\n  gantry task delete 7 measure --detach --why \"they measured already\""
    )]
    Delete(edit::DeleteArgs),
    /// Take back what a revision changed, as a new revision; taking that back does it again
    #[command(
        after_help = "Examples:\n  gantry task undo-edit 7\n  gantry task undo-edit 7 --revision 3\n  gantry task undo-edit 7 --back-to 2"
    )]
    UndoEdit(edit::UndoArgs),
    /// Keep a plan's tree as it is now in mind, with a note, or list the snapshots
    ///
    /// `gantry diff PLAN` shows what changed since, and `gantry task undo-edit PLAN --back-to N` goes back.
    #[command(after_help = "Examples:\n  gantry task snapshot 7 \"as the board saw it\"\n  gantry task snapshot 7")]
    Snapshot(edit::SnapshotArgs),
    /// Say that a task for people is done, and hand in what came of it
    #[command(
        after_help = "Examples:\n  gantry task done 7 call-them\n  gantry task done 7 measure --output metres=12.5 --evidence photo.jpg"
    )]
    Done {
        #[command(flatten)]
        plan: ThePlan,
        /// The task
        task: String,
        /// An output; the value is JSON, or else text
        #[arg(long = "output", value_name = "NAME=VALUE", value_parser = desk::pair)]
        outputs: Vec<(String, Value)>,
        /// A file to keep as proof, under its own name or another
        #[arg(long, value_name = "[NAME=]FILE")]
        evidence: Vec<String>,
        #[command(flatten)]
        by: By,
    },
    /// Say that a task for people could not be done
    #[command(after_help = "Examples:\n  gantry task fail 7 call-them --why \"nobody answers\"")]
    Fail {
        #[command(flatten)]
        plan: ThePlan,
        /// The task
        task: String,
        /// Why not
        #[arg(long, alias = "rationale")]
        why: String,
        #[command(flatten)]
        by: By,
    },
    /// Write something down about a plan or one of its tasks
    #[command(
        after_help = "Examples:\n  gantry task note 7 \"the supplier was told\"\n  gantry task note 7 build \"needs the new compiler\""
    )]
    Note {
        /// The plan, perhaps a task, and the text
        #[arg(num_args = 2..=3, required = true, value_names = ["PLAN", "[TASK] TEXT"])]
        words: Vec<String>,
        #[command(flatten)]
        by: By,
    },
    /// Say what to do about tasks that ask for help: `retry`, `complete`, `skip` or `fail`
    #[command(after_help = "Examples:\n  gantry task resolve 7 deploy retry\n  gantry task resolve 7 --all skip")]
    Resolve(resolve::Args),
    /// Judge checks in words, of a task or of the plan's definition of done
    #[command(
        after_help = "Examples:\n  gantry task judge 7 write\n  gantry task judge 7 write --holds \"the text is short\""
    )]
    Judge(judge::Judge),
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        match &args.what {
            What::Show { plan, task, calls } => show::show(&args.record, plan, task, *calls).await,
            What::Done { plan, task, outputs, evidence, by } => {
                let by = by.name()?;
                let desk = Desk::open(&args.record, plan).await?;
                let (_, task) = desk.task(task).await?;
                let mut artifacts = Vec::new();
                for evidence in evidence {
                    artifacts.push(keep(&desk, evidence).await?);
                }
                let success = Success { outputs: outputs.iter().cloned().collect(), artifacts, ..Success::default() };
                let done = format!("{by} did `{task}`");
                desk.say(Input::Report { task, by, end: Ok(success) }, &done).await
            }
            What::Fail { plan, task, why, by } => {
                let by = by.name()?;
                let desk = Desk::open(&args.record, plan).await?;
                let (_, task) = desk.task(task).await?;
                let done = format!("{by} could not do `{task}`");
                desk.say(Input::Report { task, by, end: Err(why.clone()) }, &done).await
            }
            What::Add(wanted) => Box::pin(edit::add(&args.record, wanted)).await,
            What::Change(wanted) => Box::pin(edit::change(&args.record, wanted)).await,
            What::Move(wanted) => Box::pin(edit::shift(&args.record, wanted)).await,
            What::Delete(wanted) => Box::pin(edit::delete(&args.record, wanted)).await,
            What::UndoEdit(wanted) => Box::pin(edit::undo(&args.record, wanted)).await,
            What::Snapshot(wanted) => Box::pin(edit::snapshot(&args.record, wanted)).await,
            What::Note { words, by } => note(&args.record, words, by).await,
            What::Resolve(wanted) => resolve::resolve(&args.record, wanted).await,
            What::Judge(wanted) => judge::judge(&args.record, wanted).await,
        }
    })
}

async fn note(record: &Record, words: &[String], by: &By) -> Result<ExitCode, Fault> {
    let by = by.name()?;
    let (plan, task, text) = match words {
        [plan, text] => (plan, None, text),
        [plan, task, text] => (plan, Some(task), text),
        _ => return Err(Fault::bad_input("a note needs a plan and a text")),
    };
    let desk = Desk::open(record, plan).await?;
    let task = match task {
        Some(task) => Some(desk.task(task).await?.1),
        None => None,
    };
    let about = task.as_ref().map_or_else(|| format!("`{}`", desk.id()), |task| format!("`{task}`"));
    let told = desk.hear(Input::Note { task, by, text: text.clone() }).await?;
    if record.json {
        desk.tell(told, "", Map::new()).await?;
    } else {
        talk!("noted about {about}");
    }
    Ok(ExitCode::from(exit::DONE))
}

/// How long the name of a proof may be.
const NAME_CHARS_MAX: usize = 255;

/// Keeps a file as proof.
async fn keep(desk: &Desk, evidence: &str) -> Result<ArtifactRef, Fault> {
    let (name, path) = match evidence.split_once('=') {
        Some((name, path)) if !name.is_empty() && !Path::new(evidence).exists() => (name.to_owned(), path),
        _ => {
            let name = Path::new(evidence).file_name().map(|name| name.to_string_lossy().into_owned());
            (name.unwrap_or_else(|| evidence.to_owned()), evidence)
        }
    };
    let unreadable = |why: String| {
        Fault::bad_input(format!("the evidence `{}` cannot be read: {why}", named(path)))
            .hint("name a file: `--evidence FILE` or `--evidence NAME=FILE`")
    };
    let meta = std::fs::metadata(path).map_err(|error| unreadable(why(&error, "file")))?;
    let odd = if meta.is_dir() { Some("a folder") } else { odd_kind(&meta) };
    if let Some(what) = odd {
        return Err(unreadable(format!("it is {what}, not a file")));
    }
    if name.chars().count() > NAME_CHARS_MAX || name.contains(char::is_control) {
        return Err(unreadable(format!("`{}` is too long or too strange for its name", named(&name))));
    }
    let size = meta.len();
    if size > BLOB_BYTES_MAX {
        return Err(unreadable(format!("it has {size} bytes, and at most {BLOB_BYTES_MAX} are kept")));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let size = bytes.len() as u64;
    let hash = desk.store().put_blob(bytes, SystemClock::new().now()).await?;
    Ok(ArtifactRef { name, hash: hash.to_string(), bytes: size })
}
