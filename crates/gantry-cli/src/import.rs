//! `gantry import`: takes in a plan with its whole life from a zip file.

use std::process::ExitCode;

use gantry_engine::{Clock, SystemClock};
use serde_json::json;

use crate::artifact;
use crate::bundle;
use crate::desk;
use crate::exit::{self, Fault};
use crate::file::count;
use crate::session::{self, Record};

/// Take in a plan with its whole life from a zip file that `gantry export zip` made
///
/// Everything is checked first. The plan keeps its id; where that is taken, it becomes a fork with a new one.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry import release.zip\n  gantry import release.zip && gantry replay @last")]
pub struct Args {
    /// The zip file
    file: String,
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
        let (turns, calls) = (std::mem::take(&mut bundle.turns), std::mem::take(&mut bundle.calls));
        let turn_count = turns.len();
        let entry_count: usize = turns.iter().map(|turn| turn.entries.len()).sum();
        let id = gantry_engine::import(store, turns, now).await?;
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
                "artifacts": artifacts, "forked_from": card.card.forked_from,
            });
            exit::print(&format!("{all:#}\n"))?;
            return Ok(ExitCode::from(exit::DONE));
        }
        anstream::eprintln!(
            "imported `{id}` with {}, {} and {}; it is {}",
            count(turn_count, "turn"),
            if entry_count == 1 { "1 entry".to_owned() } else { format!("{entry_count} entries") },
            count(artifacts, "artifact"),
            card.card.state,
        );
        if let Some(from) = &card.card.forked_from
            && opened.life.length() > entry_count as u64
        {
            anstream::eprintln!("the id `{}` is taken here, so it is a fork with a new one", from.plan);
        }
        let workspace = &opened.origin.workspace;
        if !workspace.is_empty() && !std::path::Path::new(workspace).is_dir() {
            anstream::eprintln!("warning: its tasks work in `{workspace}`, which does not exist here");
        }
        Ok(ExitCode::from(exit::DONE))
    })
}
