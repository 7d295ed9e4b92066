//! `gantry fork`: another life of a plan from any point of its journal.

use std::process::ExitCode;

use gantry_engine::Origin;
use serde_json::json;

use crate::arguments::{By, ThePlan};
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::home::NewHome;
use crate::run::{self, How};
use crate::session::{self, Record};
use crate::talk::talk;

/// Begin another life of a plan from any point of its journal; the plan itself stays as it is
///
/// What was done up to that point stays done in the fork, with its results and artifacts. The working folder is not
/// touched: bring it back to a checkpoint with `gantry restore` if the fork needs it.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry fork 7 --at 42\n  gantry fork 7 --at 42 --resume")]
pub struct Args {
    #[command(flatten)]
    plan: ThePlan,
    /// After which entry of the journal [default: the last]
    #[arg(long, value_name = "N")]
    at: Option<u64>,
    /// Go on with it at once, as `gantry resume` does
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let by = args.by.name()?;
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        let length = desk.card.length;
        let at = args.at.unwrap_or(length);
        if at == 0 || at > length {
            return Err(Fault::bad_input(format!("plan `{}` has no entry {at}", desk.id()))
                .hint(format!("its journal has entries 1 to {length}; see them with `gantry log {}`", desk.id())));
        }
        let origin = Origin { by, ..desk.engine.open(desk.id()).await?.origin };
        let id = desk.engine.fork(desk.id(), at, origin).await?;
        let card = desk.store().plan(id.as_str()).await?;
        if args.record.json && !args.resume {
            let all = json!({"plan": id, "no": card.no, "state": card.card.state, "from": desk.id(), "at": at, "not_started": true});
            exit::print_json(&all)?;
        } else {
            talk!("`{id}` (number {}) continues `{}` after entry {at}; it has not started yet", card.no, desk.id());
            if !args.resume {
                talk!("go on with `gantry resume {id}`");
            }
        }
        if args.resume {
            return run::go_on(&args.record, &[id.to_string()], &NewHome::default(), &How::default()).await;
        }
        Ok(ExitCode::from(exit::DONE))
    })
}
