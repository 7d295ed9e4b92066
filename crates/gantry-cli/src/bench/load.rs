//! How long it takes to find out where a plan stands, by the length of its life.

use std::path::Path;
use std::time::Instant;

use futures_util::future::try_join_all;
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_engine::{Engine, NewPlan, Origin, Stop, Until};
use gantry_store_sqlite::SqliteStore;

use super::nothing::Nothing;
use super::plans;
use crate::exit::Fault;
use crate::session;
use crate::show::standing::Standing;

/// How many things are said to a plan at once while its life is made.
const SAID_AT_ONCE: usize = 1_000;

/// How long it took.
pub struct LoadTime {
    /// How many entries the journal has, at least.
    pub entries: usize,
    /// As `gantry status` reads it, in a process that knows nothing of the plan yet.
    pub ms: f64,
}

/// Makes a life of this length, and reads where it stands a few times.
pub fn of(folder: &Path, entries: usize, rounds: u8) -> Result<LoadTime, Fault> {
    let db = folder.join("gantry.db");
    let plan = session::block_on(async { live(&super::engine(&db, Nothing::default())?, entries).await })?;
    let times = super::in_rounds(rounds, |_| {
        session::block_on(async {
            let store = SqliteStore::open(&db)?;
            let begin = Instant::now();
            Standing::read(&store, plan.as_str()).await?;
            Ok(begin.elapsed().as_secs_f64() * 1e3)
        })
    })?;
    Ok(LoadTime { entries, ms: super::median(times) })
}

/// Drives a plan that waits for someone, and says something to it until its life is long enough.
async fn live(engine: &Engine, entries: usize) -> Result<PlanId, Fault> {
    let id = engine.create(NewPlan { plan: plans::waiting(), origin: Origin::default(), once: None }).await?;
    let driving = engine.drive(&id, Until::Ended, vec![Input::Start]).await?;
    while engine.store().plan(id.as_str()).await?.length < entries as u64 {
        let note = |_| engine.tell(&id, Input::Note { task: None, by: "bench".to_owned(), text: "so far".to_owned() });
        try_join_all((0..SAID_AT_ONCE.min(entries)).map(note)).await?;
    }
    driving.stopper()(Stop::Leave);
    driving.ended().await?;
    Ok(id)
}
