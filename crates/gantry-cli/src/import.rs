//! `gantry import`: takes in a plan with its whole life from a zip file.

use std::process::ExitCode;
use std::sync::Arc;

use gantry_engine::{Cause, Clock, Engine, Opened, Replayed, SystemClock, WhatIf};
use gantry_store::{PlanCard, Turn};
use serde_json::{Value, json};

use crate::artifact;
use crate::bundle::{self, Bundle};
use crate::desk;
use crate::exit::{self, Fault};
use crate::file::{count, entries};
use crate::session::{self, Record};
use crate::surroundings::as_options;
use crate::talk::talk;

/// Take in a plan with its whole life from a zip file that `gantry export --format zip` made
///
/// Everything is checked first, and its life is decided again. The plan is there as a whole or not at all. It keeps its
/// id; where that is taken, it becomes a fork with a new one.
///
/// Whoever made the file chose what its journal says, so the folder and the secrets in it count for nothing here: go on
/// with `gantry resume PLAN --workspace DIR`, and name each secret that you trust it with: `--secret NAME`.
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
        let engine = desk::engine(&args.record)?;
        let taken = take_in(&engine, bundle::open(&args.file)?, &args.file, args.force).await?;
        if args.record.json {
            exit::print_json(&taken.to_json())?;
            return Ok(ExitCode::from(exit::DONE));
        }
        let (id, card) = (&taken.card.id, &taken.card.card);
        talk!(
            "imported `{id}` with {}, {} and {}; it is {}",
            count(taken.turns, "turn"),
            entries(taken.entries as u64),
            count(taken.artifacts, "artifact"),
            card.state,
        );
        if let Some(from) = &card.forked_from
            && taken.opened.life.length() > taken.entries as u64
        {
            talk!("the id `{}` is taken here, so it is a fork with a new one", from.plan);
        }
        warn(id.as_str(), &taken.replayed);
        if let Some(options) = &taken.elsewhere {
            talk!("it was begun with `{options}`, which counted elsewhere; give it to `gantry resume` again");
        }
        tell_next(&taken.opened);
        Ok(ExitCode::from(exit::DONE))
    })
}

/// A plan that was taken in.
pub struct Taken {
    card: PlanCard,
    opened: Opened,
    replayed: Replayed,
    turns: usize,
    entries: usize,
    artifacts: usize,
    /// What its processes were given where it comes from, as options.
    elsewhere: Option<String>,
}

impl Taken {
    /// It for programs.
    pub fn to_json(&self) -> Value {
        let card = &self.card;
        json!({
            "plan": card.id, "no": card.no, "state": card.card.state, "turns": self.turns, "entries": self.entries,
            "artifacts": self.artifacts, "forked_from": card.card.forked_from,
            "replays": self.replayed.difference.is_none(), "given": self.replayed.given,
            "secrets": self.opened.secrets_elsewhere,
        })
    }
}

/// Takes in a life that was read from a file of this name; one that was decided otherwise only by force.
pub async fn take_in(engine: &Engine, mut bundle: Bundle, file: &str, force: bool) -> Result<Taken, Fault> {
    let replayed = replay(&mut bundle, file)?;
    if let Some(difference) = replayed.difference.as_ref().filter(|_| !force) {
        let seq = difference.seq;
        return Err(Fault::bad_input(format!(
            "`{file}` cannot be imported: this program decides otherwise at entry {seq}"
        ))
        .hint("it was changed, or made by another version; take it in nevertheless with `--force`"));
    }
    let (store, now) = (&**engine.store(), SystemClock::new().now());
    for content in bundle.contents() {
        store.put_blob(content?, now).await?;
    }
    let (turns, calls) = (std::mem::take(&mut bundle.turns), std::mem::take(&mut bundle.calls));
    let elsewhere = given_elsewhere(&turns);
    let (turn_count, entries) = (turns.len(), turns.iter().map(|turn| turn.entries.len()).sum());
    let id = gantry_engine::import(store, turns, calls, now).await?;
    Ok(Taken {
        card: store.plan(id.as_str()).await?,
        opened: engine.open(&id).await?,
        replayed,
        turns: turn_count,
        entries,
        artifacts: artifact::all(store, &id).await?.len(),
        elsewhere,
    })
}

/// The options that stand for what its processes were given where it comes from. They count for nothing here.
fn given_elsewhere(turns: &[Turn]) -> Option<String> {
    match Cause::from_json(&turns.first()?.inputs) {
        Ok(Cause::Created(origin)) => as_options(&origin.given),
        _ => None,
    }
}

fn warn(id: &str, replayed: &Replayed) {
    if let Some(difference) = &replayed.difference {
        let seq = difference.seq;
        talk!("warning: this program decides otherwise at entry {seq}; see `gantry replay {id}`");
    }
    if replayed.given > 0 {
        let turns = count(usize::try_from(replayed.given).unwrap_or(usize::MAX), "turn");
        talk!("warning: {turns} of it cannot be decided again, so nothing shows whether it was so");
    }
}

/// It works nowhere yet, and has no secrets: how to go on with it.
fn tell_next(opened: &Opened) {
    if opened.life.state().is_over() {
        return;
    }
    if let Some(hint) = opened.check_home().err().and_then(|error| error.hint()) {
        talk!("{hint}");
    }
}

/// Decides the life again. One that nobody could have lived may break that; it is not kept.
fn replay(bundle: &mut Bundle, file: &str) -> Result<Replayed, Fault> {
    let (plan, turns) = (bundle.plan.clone(), Arc::new(std::mem::take(&mut bundle.turns)));
    let shared = Arc::clone(&turns);
    let replayed = bundle::quietly(move || gantry_engine::replay_turns(&plan, &shared, &WhatIf::default()));
    bundle.turns = Arc::unwrap_or_clone(turns);
    match replayed {
        Some(replayed) => Ok(replayed?),
        None => Err(Fault::bad_input(format!("`{file}` cannot be imported: its journal contradicts itself"))),
    }
}
