//! `gantry undo`: takes back what a plan did, all of it or down to a checkpoint.

use std::process::ExitCode;

use gantry_core::event::Event;
use gantry_core::id::TaskId;
use gantry_core::input::Input;
use gantry_core::life::{Life, PlanState, Room, STAYS};
use gantry_engine::{EngineError, Tell, Until};
use serde_json::{Map, json};

use crate::arguments::{ByAndWhy, ThePlan};
use crate::desk::{self, Desk};
use crate::exit::{self, Fault};
use crate::home::NewHome;
use crate::session::{self, Record};
use crate::show::elapsed::now;
use crate::surroundings::Surroundings;
use crate::talk::talk;

/// Take back what a plan did, the last thing first, all of it or down to a checkpoint
///
/// Each task is taken back as it says (`undo`): by its own action, or by restoring the files that it changed. What a task
/// without `undo` did stays as it is, and it is told. Then the plan is paused, and `gantry resume` does again what was taken back. This also works for a plan that has completed
/// or failed. If no process works on the plan, it happens here, and the command ends when it is done.
///
/// `gantry restore` is another thing: it brings the files of the working folder back, and the plan stays where it is.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry undo 7\n  gantry undo 7 --to before-migration --why \"the new tables are wrong\"\n  gantry undo 7 --to build                (what was done after task `build`)"
)]
pub struct Args {
    #[command(flatten)]
    plan: ThePlan,
    /// Down to where: a checkpoint, or a finished task, which stays done [default: the beginning]
    #[arg(long, value_name = "CHECKPOINT|TASK", default_value = "", hide_default_value = true)]
    to: String,
    #[command(flatten)]
    by: ByAndWhy,
    #[command(flatten)]
    home: NewHome,
    #[command(flatten)]
    around: Surroundings,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let (by, why) = args.by.said()?;
    let input = Input::Undo { to: args.to.clone(), by, why };
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        let since = if args.to.is_empty() { String::new() } else { format!(" since `{}`", args.to) };
        if is_nothing(desk.life().await?, &input) {
            return tell_nothing(&desk, &since, args.record.json);
        }
        if desk.store().claimed_by_other(desk.card.no).await? {
            let told = desk.hear(input).await?;
            desk.tell(told, &format!("`{}` takes back what was done{since}", desk.id()), Map::new()).await?;
            return Ok(ExitCode::from(exit::DONE));
        }
        let desk = desk.able_to_act(&args.home, &args.around).await?;
        check(desk.life().await?, &input, &desk)?;
        take_back(&desk, vec![input], &format!("took back what `{}` did{since}", desk.id())).await
    })
}

/// Tells whether everything is taken back already: then there is nothing to record either.
fn is_nothing(life: Life, input: &Input) -> bool {
    let mut draft = life.draft(now(), Room::NONE);
    if draft.take(&Input::Recover).and_then(|()| draft.take(input)).is_err() {
        return false; // it is refused, and why is said then
    }
    let events = draft.close().events;
    events.iter().any(|entry| matches!(&entry.event, Event::UndoBegun { tasks, .. } if tasks.is_empty()))
}

fn tell_nothing(desk: &Desk, since: &str, json: bool) -> Result<ExitCode, Fault> {
    if json {
        let card = &desk.card;
        let all = json!({"plan": card.id, "no": card.no, "state": card.card.state, "undone": [], "kept": []});
        exit::print_json(&all)?;
    } else {
        talk!("there is nothing to take back: `{}` did nothing{since} that still counts", desk.id());
    }
    Ok(ExitCode::from(exit::DONE))
}

/// Refuses what would be refused, before anything starts: what a process that is gone left running counts as lost.
fn check(life: Life, input: &Input, desk: &Desk) -> Result<(), Fault> {
    let mut draft = life.draft(now(), Room::NONE);
    let taken = draft.take(&Input::Recover).and_then(|()| draft.take(input));
    taken.map_err(|refusal| desk::refusal(EngineError::Refused(refusal), desk.id()))
}

/// Nobody else is there to take back what was done, so it is done here, after these inputs.
pub async fn take_back(desk: &Desk, first: Vec<Input>, done: &str) -> Result<ExitCode, Fault> {
    let from = desk.card.length;
    if desk.life().await?.state() != PlanState::Abandoned {
        desk.engine.drive(desk.id(), Until::Stuck, first).await?.ended().await?;
    }
    let (mut undone, mut kept) = (Vec::new(), Vec::new());
    for entry in gantry_engine::entries_after(desk.store(), desk.id(), from).await? {
        match entry.event {
            Event::TaskUndone { task, how, .. } if how == STAYS => kept.push((task, how)),
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
    let goes_on = desk.life().await?.taking_back().is_some();
    Ok(ExitCode::from(if goes_on { exit::WAITING } else { exit::DONE }))
}
