//! `gantry status`: where a plan stands, on one screen.

use std::process::ExitCode;

use crate::arguments::PlanOrLast;
use crate::exit::{self, Fault};
use crate::session::{self, Record};
use crate::show::standing::Standing;
use crate::show::{json, page, table};

/// Show where a plan stands, what it waits for, and what to type next
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry status\n  gantry status 7\n  gantry status 7 --json | jq '.tasks'\n\nA plan that is running while nobody works on it was interrupted; `gantry resume` goes on with it."
)]
pub struct Args {
    #[command(flatten)]
    plan: PlanOrLast,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        let store = args.record.open()?;
        let standing = Standing::read(&store, &args.plan).await?;
        exit::print(&if args.record.json {
            format!("{:#}\n", json::standing(&standing))
        } else {
            page::draw(&standing, table::width())
        })?;
        Ok(ExitCode::from(exit::DONE))
    })
}
