//! `gantry db`, `gantry forget`, `gantry pin`, `gantry unpin`, `gantry search`: looks after the record.

use std::process::ExitCode;

use gantry_core::plan::Retention;
use gantry_core::time::Duration;
use gantry_engine::{Clock, EngineError, SystemClock};
use gantry_store::{ArtifactRow, PAGE_ITEMS_MAX, Store};
use gantry_store_sqlite::SqliteStore;
use serde_json::json;

use crate::arguments::ThePlan;
use crate::artifact;
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::file::count;
use crate::session::{self, Record};
use crate::show::table::columns;
use crate::show::{bytes, first_line, named};
use crate::talk::talk;

/// Look after the file that keeps all plans
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry db info\n  gantry db backup /backup/gantry.db    (while plans run)")]
pub struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    record: Record,
}

#[derive(clap::Subcommand)]
enum What {
    /// Say what is in the record
    #[command(after_help = "Examples:\n  gantry db info\n  gantry db info --json")]
    Info,
    /// Copy the record to a new file as it is at one moment, while others go on writing
    #[command(after_help = "Examples:\n  gantry db backup /backup/gantry.db    (while plans run)")]
    Backup {
        /// The file to make
        file: String,
    },
    /// Remove what nothing refers to any more and what is past its retention, and give back room
    ///
    /// The contents of artifacts are dropped as their tasks declare (`retention: task`, or a duration after the plan has
    /// ended), unless the plan is pinned or the content is needed to take something back. That they existed stays on
    /// record, so that `gantry audit` and `gantry replay` say what they said before.
    #[command(
        after_help = "Examples:\n  gantry db vacuum\n  gantry db vacuum --forget-ended 90d\n  gantry db vacuum --json"
    )]
    Vacuum {
        /// Also forget plans that ended longer ago than this, such as `90d`; never one that is pinned, is a part of one that is
        /// or has not ended, or made something that is to be kept for ever
        #[arg(long, value_name = "DURATION", value_parser = Duration::parse)]
        forget_ended: Option<Duration>,
    },
    /// Bring the record to the newest schema
    #[command(after_help = "Examples:\n  gantry db migrate")]
    Migrate,
    /// Check the file as a whole; reads everything
    #[command(after_help = "Examples:\n  gantry db check")]
    Check,
}

/// Remove a plan with everything that belongs to it
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry forget 7\n  gantry export 7 -o kept.zip && gantry forget 7")]
pub struct ForgetArgs {
    #[command(flatten)]
    plan: ThePlan,
    /// Also when it has not ended, or made something that is to be kept for ever
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    record: Record,
}

/// Keep a plan from being forgotten
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry pin @last\n  gantry unpin @last")]
pub struct PinArgs {
    #[command(flatten)]
    plan: ThePlan,
    #[command(flatten)]
    record: Record,
}

/// Find plans, tasks and artifacts by words
///
/// Looks into titles, objectives and descriptions, and into the first 8 KiB of every artifact that is text, such as
/// what a command wrote.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry search payment retry\n  gantry search 'connection refused'    (also in what tasks wrote)"
)]
pub struct SearchArgs {
    /// The words; each must begin a word of what is found
    #[arg(required = true)]
    words: Vec<String>,
    /// How many at most
    #[arg(long, default_value_t = 20)]
    limit: u32,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        match &args.what {
            What::Info => info(&args.record).await,
            What::Backup { file } => backup(&args.record, file).await,
            What::Vacuum { forget_ended } => vacuum(&args.record, *forget_ended).await,
            What::Migrate => migrate(&args.record),
            What::Check => check(&args.record).await,
        }
    })
}

/// Opens a record that must exist: looking after nothing makes no file.
fn existing(record: &Record) -> Result<SqliteStore, Fault> {
    let path = record.path()?;
    if !path.exists() {
        return Err(Fault::bad_input(format!("there is no record at `{}`", path.display()))
            .hint("name it with `--db FILE` or GANTRY_DB; the first `gantry run` makes one"));
    }
    record.open()
}

async fn info(record: &Record) -> Result<ExitCode, Fault> {
    let info = existing(record)?.info().await?;
    if record.json {
        exit::print_json(&json!(info))?;
    } else {
        let rows = [
            ("file", info.path.display().to_string()),
            ("size", format!("{}, and {} in its log", bytes(info.bytes), bytes(info.log_bytes))),
            ("schema", info.schema.to_string()),
            ("plans", info.plans.to_string()),
            ("turns", info.turns.to_string()),
            ("blobs", format!("{} with {}", info.blobs, bytes(info.blob_bytes))),
        ];
        exit::print(&columns(&rows.map(|(label, text)| vec![label.to_owned(), text])))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

async fn backup(record: &Record, file: &str) -> Result<ExitCode, Fault> {
    if std::path::Path::new(file).exists() {
        return Err(Fault::bad_input(format!("`{file}` exists already")).hint("name a file that does not exist"));
    }
    existing(record)?.backup(file).await?;
    // A copy that cannot be opened is none.
    let info = SqliteStore::open_read_only(file)?.info().await?;
    if record.json {
        exit::print_json(&json!({"file": file, "bytes": info.bytes, "plans": info.plans}))?;
    } else {
        let plans = count(usize::try_from(info.plans).unwrap_or(usize::MAX), "plan");
        talk!("copied the record to `{file}`: {plans}, {}", bytes(info.bytes));
    }
    Ok(ExitCode::from(exit::DONE))
}

async fn vacuum(record: &Record, forget_ended: Option<Duration>) -> Result<ExitCode, Fault> {
    let store = existing(record)?;
    let now = SystemClock::new().now();
    let forgotten = match forget_ended {
        Some(age) => gantry_engine::forget_ended(&store, age, now).await?,
        None => Vec::new(),
    };
    let dropped = gantry_engine::drop_expired(&store, now).await?;
    let vacuumed = store.vacuum(now).await?;
    if record.json {
        let past = json!({"blobs": dropped.blobs, "bytes": dropped.bytes});
        let all = json!({
            "blobs": vacuumed.blobs, "bytes": vacuumed.bytes, "dropped": past, "forgotten": forgotten,
        });
        exit::print_json(&all)?;
    } else {
        let number = |blobs: u64, noun: &str| count(usize::try_from(blobs).unwrap_or(usize::MAX), noun);
        for plan in &forgotten {
            talk!("forgot `{plan}`");
        }
        if dropped.blobs > 0 {
            let contents = number(dropped.blobs, "content");
            talk!("dropped {contents} of artifacts past their retention, with {}", bytes(dropped.bytes));
        }
        talk!("removed {} with {}", number(vacuumed.blobs, "blob"), bytes(vacuumed.bytes));
    }
    Ok(ExitCode::from(exit::DONE))
}

fn migrate(record: &Record) -> Result<ExitCode, Fault> {
    let path = record.path()?;
    if !path.exists() {
        existing(record)?;
    }
    let (before, after) = SqliteStore::migrate(&path)?;
    if record.json {
        exit::print_json(&json!({"before": before, "after": after}))?;
    } else if before == after {
        talk!("the record has the newest schema, {after}");
    } else {
        talk!("brought the record from schema {before} to {after}");
    }
    Ok(ExitCode::from(exit::DONE))
}

async fn check(record: &Record) -> Result<ExitCode, Fault> {
    let problems = existing(record)?.check().await?;
    if record.json {
        exit::print_json(&json!({"sound": problems.is_empty(), "problems": problems}))?;
    } else {
        for problem in &problems {
            exit::print(&format!("{problem}\n"))?;
        }
    }
    if !problems.is_empty() {
        return Err(Fault::internal("the file is damaged")
            .hint("restore a backup; see which plans are sound with `gantry audit`"));
    }
    if !record.json {
        talk!("the file is sound; check a plan's journal with `gantry audit`");
    }
    Ok(ExitCode::from(exit::DONE))
}

pub fn forget(args: &ForgetArgs) -> Result<ExitCode, Fault> {
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        let ended = desk.card.card.state.is_over();
        if !ended && !args.force {
            return Err(Fault::refused(format!("plan `{}` is {} and has not ended", desk.id(), desk.card.card.state))
                .hint("cancel it first, or say `--force`"));
        }
        if !args.force {
            let life = desk.life().await?;
            let kept = artifact::all(desk.store(), desk.id()).await?;
            let forever = |row: &&ArtifactRow| gantry_engine::retention_of(&life, row) == Retention::Forever;
            if let Some(row) = kept.iter().find(forever) {
                return Err(Fault::refused(format!("`{}` is to be kept for ever", row.reference()))
                    .hint("get it first with `gantry artifact get`, then say `--force`"));
            }
        }
        let Some(claim) = desk.store().claim(desk.card.no).await? else {
            return Err(EngineError::Driven { plan: desk.id().to_string() }.into());
        };
        desk.store().forget(desk.id()).await?;
        drop(claim);
        if args.record.json {
            exit::print_json(&json!({"forgotten": desk.id()}))?;
        } else {
            talk!("forgot `{}`", desk.id());
        }
        Ok(ExitCode::from(exit::DONE))
    })
}

/// Whether a plan is kept from being forgotten.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pinned {
    /// It is.
    Yes,
    /// It is not.
    No,
}

pub fn pin(args: &PinArgs, pinned: Pinned) -> Result<ExitCode, Fault> {
    let pinned = pinned == Pinned::Yes;
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        desk.store().pin(desk.id(), pinned).await?;
        if args.record.json {
            exit::print_json(&json!({"plan": desk.id(), "pinned": pinned}))?;
        } else {
            talk!("`{}` is {}", desk.id(), if pinned { "pinned" } else { "not pinned any more" });
        }
        Ok(ExitCode::from(exit::DONE))
    })
}

pub fn search(args: &SearchArgs) -> Result<ExitCode, Fault> {
    let query = args.words.join(" ");
    if gantry_store::query_words(&query).is_empty() {
        return Err(Fault::bad_input(format!("`{query}` has no word to search for")));
    }
    session::block_on(async {
        let hits = existing(&args.record)?.search(&query, args.limit.clamp(1, PAGE_ITEMS_MAX)).await?;
        if args.record.json {
            exit::print_json(&json!(hits))?;
        } else if hits.is_empty() {
            talk!("nothing was found");
        } else {
            let row = |hit: &gantry_store::Hit| {
                let task = hit.task.iter().map(|task| format!("/{task}"));
                let name = Some(&hit.name).filter(|name| !name.is_empty()).map(|name| format!("/{}", named(name)));
                let place = std::iter::once(hit.plan.to_string()).chain(task).chain(name).collect::<String>();
                let one_line = hit.snippet.split_whitespace().collect::<Vec<_>>().join(" ");
                vec![place, first_line(&one_line, 60)]
            };
            exit::print(&columns(&hits.iter().map(row).collect::<Vec<_>>()))?;
        }
        Ok(ExitCode::from(exit::DONE))
    })
}
