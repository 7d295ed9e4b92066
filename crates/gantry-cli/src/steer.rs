//! `gantry pause`, `gantry cancel`, `gantry retry`: people steer a plan.

use std::process::ExitCode;

use gantry_core::event::Event;
use gantry_core::id::TaskId;
use gantry_core::input::{Input, TakeBack};
use gantry_core::life::PlanState;
use gantry_engine::{Ending, Tell, Until};
use gantry_runners::checkpoint;
use serde_json::{Map, json};

use crate::arguments::{ByAndWhy, ThePlan};
use crate::artifact;
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
        if args.undo && desk.card.card.state == PlanState::Completed {
            return Err(over(&desk).await?);
        }
        let told = desk.hear(Input::Cancel { by, why, undo }).await?;
        let done = format!("cancelled `{}`", desk.id());
        if args.undo && told == Tell::Recorded {
            return take_back(&desk.able_to_act(&args.home, &args.around).await?, from, &done).await;
        }
        desk.tell(told, &done, Map::new()).await?;
        Ok(ExitCode::from(exit::DONE))
    })
}

/// What a completed plan did stays done; its working folder may still be brought back.
async fn over(desk: &Desk) -> Result<Fault, Fault> {
    let fault = Fault::refused(format!("plan `{}` is completed: what it did cannot be taken back any more", desk.id()));
    let kept = artifact::all(desk.store(), desk.id()).await?;
    let has_checkpoint = kept.iter().any(|row| row.artifact.name == checkpoint::MANIFEST);
    Ok(fault.hint(if has_checkpoint {
        format!("bring its working folder back to a checkpoint with `gantry restore {}`", desk.id())
    } else {
        "it made no checkpoint to go back to; undo it by hand, or with a new plan".to_owned()
    }))
}

/// Nobody else is there to take back what was done, so it is done here.
async fn take_back(desk: &Desk, from: u64, done: &str) -> Result<ExitCode, Fault> {
    let ending = if desk.life().await?.state() == PlanState::Abandoned {
        Ending::Ended { state: PlanState::Abandoned, causes: Vec::new() }
    } else {
        desk.engine.drive(desk.id(), Until::Stuck, Vec::new()).await?.ended().await?
    };
    let (mut undone, mut kept) = (Vec::new(), Vec::new());
    for entry in gantry_engine::entries_after(desk.store(), desk.id(), from).await? {
        match entry.event {
            Event::TaskUndone { task, how, .. } => undone.push((task, how)),
            Event::UndoPassedOver { task } => kept.push((task, "it stays as it is".to_owned())),
            _ => {} // not about taking back
        }
    }
    let list = |all: &[(TaskId, String)]| all.iter().map(|(task, how)| json!({"task": task, "how": how})).collect();
    let more = Map::from_iter([("undone".to_owned(), list(&undone)), ("kept".to_owned(), list(&kept))]);
    let mut lines = vec![done.to_owned()];
    lines.extend(undone.iter().map(|(task, how)| format!("  took back `{task}`: {how}")));
    lines.extend(kept.iter().map(|(task, why)| format!("  did not take back `{task}`: {why}")));
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
