//! `gantry import`: takes in a plan with its whole life from a zip file.

use std::process::ExitCode;
use std::sync::Arc;

use gantry_core::id::PlanId;
use gantry_engine::{Cause, Clock, Engine, Given, Origin, Replayed, SystemClock, WhatIf};
use gantry_store::Turn;
use serde_json::json;

use crate::artifact;
use crate::bundle;
use crate::desk;
use crate::exit::{self, Fault};
use crate::file::{count, entries};
use crate::run::as_options;
use crate::session::{self, Record};
use crate::talk::talk;

/// Take in a plan with its whole life from a zip file that `gantry export zip` made
///
/// Everything is checked first, and its whole life is decided again. The plan keeps its id; where that is taken, it
/// becomes a fork with a new one.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry import release.zip\n  gantry import release.zip && gantry replay @last")]
pub struct Args {
    /// The zip file
    file: String,
    /// Also when this program would have decided otherwise than the journal says
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        let mut bundle = bundle::open(&args.file)?;
        let engine = desk::engine(&args.record)?;
        let (store, now) = (&**engine.store(), SystemClock::new().now());
        for content in bundle.contents() {
            store.put_blob(content?, now).await?;
        }
        let (mut turns, calls) = (std::mem::take(&mut bundle.turns), std::mem::take(&mut bundle.calls));
        let turn_count = turns.len();
        let entry_count: usize = turns.iter().map(|turn| turn.entries.len()).sum();
        let elsewhere = take_rights(&mut turns);
        let id = gantry_engine::import(store, turns, now).await?;
        let replayed = replay(&engine, &id, &args.file).await?;
        if let Some(difference) = replayed.difference.as_ref().filter(|_| !args.force) {
            store.forget(&id).await?;
            let seq = difference.seq;
            return Err(Fault::bad_input(format!(
                "`{}` cannot be imported: this program decides otherwise at entry {seq}",
                args.file
            ))
            .hint("it was changed, or made by another version; take it in nevertheless with `--force`"));
        }
        let calls: Vec<_> =
            calls.into_iter().map(|call| gantry_store::EffectRow { plan: id.clone(), ..call }).collect();
        if !calls.is_empty() {
            store.record_effects(calls).await?;
        }
        let card = store.plan(id.as_str()).await?;
        let artifacts = artifact::all(store, &id).await?.len();
        let opened = engine.open(&id).await?;
        if args.record.json {
            let all = json!({
                "plan": id, "no": card.no, "state": card.card.state, "turns": turn_count, "entries": entry_count,
                "artifacts": artifacts, "forked_from": card.card.forked_from, "replays": replayed.difference.is_none(),
            });
            exit::print(&format!("{all:#}\n"))?;
            return Ok(ExitCode::from(exit::DONE));
        }
        talk!(
            "imported `{id}` with {}, {} and {}; it is {}",
            count(turn_count, "turn"),
            entries(entry_count as u64),
            count(artifacts, "artifact"),
            card.card.state,
        );
        if let Some(from) = &card.card.forked_from
            && opened.life.length() > entry_count as u64
        {
            talk!("the id `{}` is taken here, so it is a fork with a new one", from.plan);
        }
        if let Some(difference) = &replayed.difference {
            let seq = difference.seq;
            talk!("warning: this program decides otherwise at entry {seq}; see `gantry replay {id}`");
        }
        if let Some(options) = elsewhere {
            talk!("it was begun with `{options}`, which counted elsewhere; give it to `gantry resume` again");
        }
        let workspace = &opened.origin.workspace;
        if !workspace.is_empty() && !std::path::Path::new(workspace).is_dir() {
            talk!("warning: its tasks work in `{workspace}`, which does not exist here");
        }
        Ok(ExitCode::from(exit::DONE))
    })
}

/// Takes away what its processes were given where it comes from: whoever goes on with it here decides about that here.
/// Returns the options that stood for it.
fn take_rights(turns: &mut [Turn]) -> Option<String> {
    let first = turns.first_mut()?;
    let Ok(Cause::Created(origin)) = Cause::from_json(&first.inputs) else { return None };
    let options = as_options(&origin.given)?;
    first.inputs = Cause::Created(Origin { given: Given::default(), ..origin }).to_json();
    Some(options)
}

/// Decides the life again. One that nobody could have lived may break that; it is not kept.
async fn replay(engine: &Engine, id: &PlanId, file: &str) -> Result<Replayed, Fault> {
    let (store, plan) = (Arc::clone(engine.store()), id.clone());
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let replayed = tokio::spawn(async move { gantry_engine::replay(&*store, &plan, WhatIf::default()).await }).await;
    std::panic::set_hook(loud);
    match replayed {
        Ok(replayed) => Ok(replayed?),
        Err(_) => {
            engine.store().forget(id).await?;
            Err(Fault::bad_input(format!("`{file}` cannot be imported: its journal contradicts itself")))
        }
    }
}
