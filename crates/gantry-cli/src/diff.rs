//! `gantry diff`: says what changed between two versions of a plan.

use std::process::ExitCode;

use gantry_view::compare::Compared;

use crate::exit::{self, Fault};
use crate::session::{self, Record};
use crate::show::elapsed::now;
use crate::show::text_of;
use crate::talk::talk;
use crate::version;

/// Show what changed between two plan files or plans: dates, cost, risks and scope, then task by task and field by field
///
/// Of a plan that plans itself first, what there is to do is compared, accepted or not.
#[derive(clap::Args)]
#[command(
    after_help = "Lines start with + for a new task, - for one that is gone, > for one that moved, ~ for a changed field.\n\nExamples:\n  gantry diff before.yaml after.yaml\n  gantry diff 7@r1 7\n  gantry diff @last changed.yaml"
)]
pub struct Args {
    /// The version before: a file, or a plan, perhaps with @rN for its revision N
    before: String,
    /// The version after
    after: String,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    if args.before == "-" && args.after == "-" {
        return Err(Fault::bad_input("standard input can be only one of the two files"));
    }
    let (before, after) = session::block_on(async {
        Ok((version::seen(&args.record, &args.before).await?, version::seen(&args.record, &args.after).await?))
    })?;
    let compared = Compared::of(&before.proposed(), &after.proposed(), now());
    if args.record.json {
        exit::print_json(&compared.to_json())?;
    } else if compared.diff.is_empty() {
        talk!("nothing changed");
    } else {
        exit::print(&text_of(compared.figure_lines()))?;
        exit::print(&text_of(compared.lines()))?;
    }
    Ok(ExitCode::from(exit::DONE))
}
