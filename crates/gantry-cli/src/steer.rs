//! `gantry pause`, `gantry cancel`, `gantry retry`: people steer a plan.

use std::process::ExitCode;

use gantry_core::event::Event;
use gantry_core::input::{Input, TakeBack};
use gantry_core::life::PlanState;
use gantry_engine::{Ending, Tell, Until};
use serde_json::{Map, json};

use crate::arguments::{ByAndWhy, ThePlan};
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::home::NewHome;
use crate::session::{self, Record};
use crate::surroundings::Surroundings;

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
/// here, as `gantry resume` would do it, and the command ends when it is done.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry cancel 7 --why \"not needed any more\"\n  gantry cancel 7 --undo")]
pub struct CancelArgs {
    #[command(flatten)]
    plan: ThePlan,
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
    session::block_on(async {
        let mut desk = Desk::open(&args.record, &args.plan).await?;
        if args.undo && !desk.store().claimed_by_other(desk.card.no).await? {
            // It will be taken back here: what that needs must be here before anything is said.
            desk = desk.able_to_act(&args.home, &args.around).await?;
        }
        let undo = if args.undo { TakeBack::Everything } else { TakeBack::Nothing };
        let from = desk.card.length;
        let told = desk.hear(Input::Cancel { by, why, undo }).await?;
        let done = format!("cancelled `{}`", desk.id());
        if args.undo && told == Tell::Recorded {
            return take_back(&desk.able_to_act(&args.home, &args.around).await?, from, &done).await;
        }
        desk.tell(told, &done, Map::new()).await?;
        Ok(ExitCode::from(exit::DONE))
    })
}

/// Nobody else is there to take back what was done, so it is done here.
async fn take_back(desk: &Desk, from: u64, done: &str) -> Result<ExitCode, Fault> {
    let ending = if desk.life().await?.state() == PlanState::Abandoned {
        Ending::Ended { state: PlanState::Abandoned, causes: Vec::new() }
    } else {
        desk.engine.drive(desk.id(), Until::Stuck, Vec::new()).await?.ended().await?
    };
    let mut undone = Vec::new();
    for entry in gantry_engine::entries(desk.store(), desk.id()).await?.into_iter().filter(|entry| entry.seq > from) {
        if let Event::TaskUndone { task, how, .. } = entry.event {
            undone.push((task, how));
        }
    }
    let list: Vec<_> = undone.iter().map(|(task, how)| json!({"task": task, "how": how})).collect();
    let more = Map::from_iter([("undone".to_owned(), json!(list))]);
    let mut lines = vec![done.to_owned()];
    lines.extend(undone.iter().map(|(task, how)| format!("  took back `{task}`: {how}")));
    desk.tell(Tell::Recorded, &lines.join("\n"), more).await?;
    Ok(ExitCode::from(match ending {
        Ending::Ended { .. } => exit::DONE,
        Ending::Waiting(_) | Ending::Parked | Ending::Stopped => exit::WAITING,
    }))
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
