//! `gantry pause`, `gantry cancel`, `gantry retry`: people steer a plan.

mod kill;

use std::process::ExitCode;

use gantry_core::input::{Input, TakeBack};
use gantry_core::life::PlanState;
use gantry_engine::Tell;
use serde_json::Map;

use crate::arguments::{ByAndWhy, ThePlan};
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::home::NewHome;
use crate::session::{self, Record};
use crate::surroundings::Surroundings;
use crate::undo;

/// Start nothing new in a plan; what runs is let finish
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry pause @last --why \"the build machine is needed\"\n  gantry resume @last")]
pub struct PauseArgs {
    #[command(flatten)]
    plan: ThePlan,
    #[command(flatten)]
    by: ByAndWhy,
    #[command(flatten)]
    record: Record,
}

/// Give up a plan: stop everything at once
///
/// With --undo, what was done is taken back, the last thing first. If no process works on the plan, that happens
/// here, as `gantry resume` would do it, and the command ends when it is done. To take back what was done and keep the
/// plan, see `gantry undo`.
///
/// The kill switch is `gantry cancel --all`: it gives up every plan that is under way, whichever process works on it,
/// and ends everything that they run within a second. What was done stays done; who did it and why is recorded.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry cancel 7 --why \"not needed any more\"\n  gantry cancel 7 --undo\n  gantry cancel --all --why \"stop everything\"       (the kill switch; asks on a terminal)\n  gantry cancel --all --yes                         (the same, without a question)"
)]
pub struct CancelArgs {
    /// The plan: its id, its number, the beginning of its id, or @last
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    plan: Option<String>,
    /// All plans that are under way: the kill switch
    #[arg(long, conflicts_with_all = ["undo", "workspace"])]
    all: bool,
    /// Do not ask
    #[arg(long, requires = "all")]
    yes: bool,
    /// Take back what was done
    #[arg(long)]
    undo: bool,
    #[command(flatten)]
    by: ByAndWhy,
    #[command(flatten)]
    home: NewHome,
    #[command(flatten)]
    around: Surroundings,
    #[command(flatten)]
    record: Record,
}

/// Do a task again that has ended, and whatever that changes behind it
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry retry @last deploy --why \"the server is back\"")]
pub struct RetryArgs {
    #[command(flatten)]
    plan: ThePlan,
    /// The task
    task: String,
    #[command(flatten)]
    by: ByAndWhy,
    #[command(flatten)]
    record: Record,
}

pub fn pause(args: &PauseArgs) -> Result<ExitCode, Fault> {
    let (by, why) = args.by.said()?;
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        let done = format!("paused `{}`", desk.id());
        desk.say(Input::Pause { by, why }, &done).await
    })
}

pub fn cancel(args: &CancelArgs) -> Result<ExitCode, Fault> {
    let (by, why) = args.by.said()?;
    let Some(plan) = &args.plan else { return kill::all(&args.record, by, why, args.yes) };
    session::block_on(async {
        let mut desk = Desk::open(&args.record, plan).await?;
        if args.undo && !desk.store().claimed_by_other(desk.card.no).await? {
            // It will be taken back here: what that needs must be here before anything is said.
            desk = desk.able_to_act(&args.home, &args.around).await?;
        }
        let undo = if args.undo { TakeBack::Everything } else { TakeBack::Nothing };
        if args.undo && desk.card.card.state == PlanState::Completed {
            return Err(over(&desk));
        }
        let told = desk.hear(Input::Cancel { by, why, undo }).await?;
        let done = format!("cancelled `{}`", desk.id());
        if args.undo && told == Tell::Recorded {
            return undo::take_back(&desk.able_to_act(&args.home, &args.around).await?, Vec::new(), &done).await;
        }
        desk.tell(told, &done, Map::new()).await?;
        Ok(ExitCode::from(exit::DONE))
    })
}

/// A completed plan cannot be given up any more, but it can be taken back.
fn over(desk: &Desk) -> Fault {
    Fault::refused(format!("plan `{}` is completed: there is nothing to give up", desk.id()))
        .hint(format!("take back what it did with `gantry undo {}`", desk.id()))
}

pub fn retry(args: &RetryArgs) -> Result<ExitCode, Fault> {
    let (by, why) = args.by.said()?;
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        let (_, task) = desk.task(&args.task).await?;
        let done = format!("`{task}` will be done again");
        desk.say(Input::Retry { task, by, why }, &done).await
    })
}
