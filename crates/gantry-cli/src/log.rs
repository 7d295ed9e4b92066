//! `gantry log`: the journal of a plan in plain words.

mod digest;

use std::process::ExitCode;

use gantry_core::event::Entry;
use gantry_core::life::Life;
use gantry_core::suggest::nearest;
use gantry_store::{PAGE_ITEMS_MAX, Store};

use crate::arguments::PlanOrLast;
use crate::exit::{self, Fault};
use crate::run::screen::{line_of, print_json};
use crate::session::{self, Record};
use crate::show::elapsed::clock;
use crate::show::style::{self, paint};
use crate::show::words::said;

/// How often to look for more, where the record does not tell.
const POLL: std::time::Duration = std::time::Duration::from_millis(500);

/// Show what happened to a plan, in plain words
///
/// One line per entry: its number, its time (UTC), what happened. With --digest a summary: what was finished and what
/// failed, who decided what and why, what is waited for.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry log @last\n  gantry log 7 --task deploy\n  gantry log 7 --follow\n  gantry log 7 --digest\n  gantry log 7 --after 120 --limit 20 --json"
)]
pub struct Args {
    #[command(flatten)]
    plan: PlanOrLast,
    /// Only entries after this one
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    after: u64,
    /// How many entries at most
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Only what is about this task
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Stay, and show what happens as it happens
    #[arg(long, short)]
    follow: bool,
    /// Tell the whole story in short
    #[arg(long, conflicts_with_all = ["follow", "limit", "task", "after"])]
    digest: bool,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        let store = args.record.open()?;
        let plan = session::card(&store, &args.plan).await?.id;
        if args.digest {
            let standing = session::standing(&store, plan.as_str()).await?;
            let entries = gantry_engine::entries(&store, &plan).await?;
            let digest = digest::Digest::of(&standing, &entries);
            if args.record.json {
                exit::print_json(&digest.to_json())?;
            } else {
                exit::print(&digest.to_string())?;
            }
            return Ok(ExitCode::from(exit::DONE));
        }
        if let Some(task) = &args.task {
            check_task(&gantry_engine::open(&store, &plan).await?.life, task)?;
        }
        let (mut after, mut left) = (args.after, args.limit.unwrap_or(usize::MAX));
        loop {
            let mark = store.mark();
            // Asked before reading: what is written between the two would be missed otherwise.
            let over = !args.follow || is_over(&store, &plan).await?;
            let mut more = true;
            while more && left > 0 {
                let page = store.turns(&plan, after, page_for(left)).await?;
                more = page.next.is_some();
                let entries = page.items.into_iter().flat_map(|turn| turn.entries).filter(|entry| entry.seq > after);
                let entries: Vec<Entry> = entries.collect();
                after = entries.last().map_or(after, |entry| entry.seq);
                let wanted = entries.iter().filter(|entry| is_about(entry, args.task.as_deref()));
                let mut text = String::new();
                for entry in wanted.take(left) {
                    left -= 1;
                    if args.record.json {
                        print_json(&line_of(&plan, entry))?;
                    } else {
                        text += &line(entry);
                    }
                }
                exit::print(&text)?;
            }
            if over || left == 0 {
                return Ok(ExitCode::from(exit::DONE));
            }
            // What this process reads was written by others; a poll catches what the record does not tell.
            let _ = tokio::time::timeout(POLL, store.changed(mark)).await;
        }
    })
}

/// How many turns to read at once for this many entries: each turn has one or more.
fn page_for(entries: usize) -> u32 {
    u32::try_from(entries).unwrap_or(u32::MAX).min(PAGE_ITEMS_MAX)
}

/// The plan has ended, so nothing more will come.
async fn is_over(store: &dyn Store, plan: &gantry_core::id::PlanId) -> Result<bool, Fault> {
    let card = store.plan(plan.as_str()).await?;
    Ok(card.card.state.is_over() && !store.claimed_by_other(card.no).await?)
}

fn check_task(life: &Life, task: &str) -> Result<(), Fault> {
    let ids = life.task_ids();
    if ids.iter().any(|id| id.as_str() == task) {
        return Ok(());
    }
    let fault = Fault::bad_input(format!("plan `{}` has no task `{task}`", life.id()));
    Err(match nearest(task, ids.iter().map(gantry_core::id::TaskId::as_str)) {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None => fault.hint(format!("see its tasks with `gantry status {}`", life.id())),
    })
}

fn is_about(entry: &Entry, task: Option<&str>) -> bool {
    task.is_none_or(|wanted| entry.event.task().is_some_and(|task| task.as_str() == wanted))
}

fn line(entry: &Entry) -> String {
    let said = said(&entry.event);
    let (number, time) = (paint(style::FAINT, format!("{:>5}", entry.seq)), paint(style::FAINT, clock(entry.at)));
    format!("{number}  {time}  {}\n", paint(style::of_tone(said.tone), said.line()))
}
