//! `gantry audit`: is the record what was written, and who decided what, when and why.

use std::process::ExitCode;

use gantry_core::event::Entry;
use gantry_store::{ChainReport, PAGE_ITEMS_MAX, Store};
use serde_json::json;

use crate::arguments::ThePlan;
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::file::{count, entries};
use crate::session::{self, Record};
use crate::show::elapsed::clock;
use crate::show::table::columns;
use crate::show::words::said;
use crate::talk::talk;
use gantry_view::changes::is_decision;

/// Check that a plan's record is what was written, and show who decided what, when and why
///
/// Every hash is computed again: of the journal, its snapshot, its artifacts and its calls to the outside. The journal is
/// folded and compared with the snapshot and the list of artifacts. The exit code is 1 when something is not as it was
/// written. Keep the head hash elsewhere to prove later that nothing was changed or cut off.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry audit @last\n  gantry audit 7 --head 3f2a…    (compare with the hash that you kept)"
)]
pub struct Args {
    #[command(flatten)]
    plan: ThePlan,
    /// The head hash, or its beginning, that was kept elsewhere
    #[arg(long, value_name = "HASH")]
    head: Option<String>,
    #[command(flatten)]
    record: Record,
}

/// The shortest beginning of a hash that says something.
const HASH_CHARS_MIN: usize = 8;

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    if let Some(head) = &args.head
        && (head.len() < HASH_CHARS_MIN || !head.chars().all(|c| c.is_ascii_hexdigit()))
    {
        return Err(Fault::bad_input(format!("`{head}` is not a hash, nor the first {HASH_CHARS_MIN} digits of one")));
    }
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        let report = gantry_engine::verify(desk.store(), desk.id()).await?;
        let decisions = decisions(desk.store(), &report).await?;
        let other = args.head.as_ref().filter(|head| !report.head.to_string().starts_with(&head.to_lowercase()));
        let sound = report.is_sound() && other.is_none();
        if args.record.json {
            let all = json!({
                "plan": report.plan, "sound": sound, "length": report.length, "turns": report.turns,
                "head": report.head, "first_broken": report.first_broken(), "problems": report.problems,
                "decisions": decisions,
            });
            exit::print_json(&all)?;
        } else {
            let rows: Vec<Vec<String>> = decisions
                .iter()
                .map(|entry| vec![entry.seq.to_string(), clock(entry.at), said(&entry.event).line()])
                .collect();
            exit::print(&columns(&rows))?;
            let turns = count(usize::try_from(report.turns).unwrap_or(usize::MAX), "turn");
            exit::print(&format!("{}: {} in {turns}, head {}\n", report.plan, entries(report.length), report.head))?;
            for problem in &report.problems {
                let place = problem.seq.map(|seq| format!("entry {seq}: ")).unwrap_or_default();
                talk!("broken: {place}{}", problem.what);
            }
        }
        if !report.is_sound() {
            let from = match report.first_broken() {
                Some(seq) => format!("from entry {seq} on"),
                None => format!("{} beside its journal", count(report.problems.len(), "thing")),
            };
            return Err(Fault::internal(format!("the record of `{}` is not what was written: {from}", report.plan))
                .hint(format!("{}; restore a backup of the record", trusted(&report))));
        }
        if let Some(head) = other {
            return Err(Fault::internal(format!("the journal of `{}` does not end with {head}", report.plan))
                .hint("it has grown since the hash was kept, or it was replaced as a whole"));
        }
        if !args.record.json {
            talk!("sound: everything is as it was written");
        }
        Ok(ExitCode::from(exit::DONE))
    })
}

/// What still can be relied on.
fn trusted(report: &ChainReport) -> String {
    match (report.first_broken(), report.length) {
        (Some(_), 0) => "nothing of its journal can be trusted".to_owned(),
        (Some(_), length) => format!("entries 1 to {length} can be trusted, and nothing after them"),
        (None, length) => format!("all {length} entries of its journal can be trusted, but not what is named above"),
    }
}

/// What people decided, and what limits did, as far as the journal is sound.
async fn decisions(store: &dyn Store, report: &ChainReport) -> Result<Vec<Entry>, Fault> {
    let (mut found, mut after) = (Vec::new(), 0);
    while after < report.length {
        let limit = if report.is_sound() { PAGE_ITEMS_MAX } else { 1 };
        let page = store.turns(&report.plan, after, limit).await?;
        let entries = page.items.into_iter().flat_map(|turn| turn.entries);
        found.extend(entries.filter(|entry| entry.seq <= report.length && is_decision(&entry.event)));
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    Ok(found)
}
