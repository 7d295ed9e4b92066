//! Checkpoints of a plan's working folder, and the way back to one.
//!
//! Invariant: the way back from going back is on record before anything is touched.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use gantry_core::effect::ArtifactRef;
use gantry_core::id::PlanId;
use gantry_core::life::Life;
use gantry_core::plan::Action;
use gantry_runners::checkpoint::{self, Manifest};
use gantry_runners::{Chunk, Forgetful, Intents, Keep, KeepError, Ports, Watch};
use gantry_store::{ArtifactRow, Hash, Store, StoreError, all_artifacts};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::engine::Engine;
use crate::error::EngineError;

/// A checkpoint of a working folder that one can come back to.
#[derive(Clone, Debug)]
pub struct Point {
    /// What it is called; `after TASK` where nobody gave it a name.
    pub name: String,
    /// Where it is kept.
    pub row: ArtifactRow,
}

/// A folder that was brought back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Which one.
    pub folder: PathBuf,
    /// How many files and links were written.
    pub written: usize,
    /// How many were removed.
    pub removed: usize,
    /// The checkpoint of how it was before: the way back from going back.
    pub safety: String,
}

/// Why a folder was not brought back.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unrestored {
    /// The engine did not do what it was asked.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The files could not be brought back.
    #[error("the folder `{}` was not restored: {why}", folder.display())]
    Files {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        why: String,
        /// The checkpoint of how it was before, where something may have been touched.
        safety: Option<String>,
    },
}

/// The checkpoints of a plan's working folder, the oldest first.
pub async fn points(store: &dyn Store, life: &Life) -> Result<Vec<Point>, StoreError> {
    let rows = all_artifacts(store, life.id()).await?;
    let points = rows.into_iter().filter(|row| row.artifact.name == checkpoint::MANIFEST).filter_map(|row| {
        let name = match &life.definition(row.artifact.task.as_str())?.action {
            Some(Action::Checkpoint(checkpoint)) => checkpoint.name.clone(),
            _ => format!("after {}", row.artifact.task),
        };
        Some(Point { name, row })
    });
    Ok(points.collect())
}

/// The hash of the checkpoint that is meant by its name, its task, `TASK@VERSION` or itself; of several with one name the
/// newest.
pub fn point_meant(points: &[Point], to: &str) -> Option<String> {
    let fits = |point: &&Point| {
        let task = point.row.artifact.task.as_str();
        point.name == to || task == to || format!("{task}@{}", point.row.version) == to
    };
    let found = points.iter().rev().find(fits).map(|point| point.row.artifact.hash.to_string());
    found.or_else(|| to.parse::<Hash>().is_ok().then(|| to.to_owned()))
}

impl Engine {
    /// Brings the working folder of a plan back to the checkpoint with this hash, that people call `to`. While files are
    /// brought back nobody else may work on the plan.
    pub async fn restore(&self, plan: &PlanId, hash: &str, to: &str, by: &str) -> Result<Restored, Unrestored> {
        let mut held = self.hold(plan).await?;
        let place = self.place(held.opened());
        let shelf = Arc::new(Shelf { store: Arc::clone(self.store()), clock: Arc::clone(&self.shared.clock) });
        let ports = Ports {
            keep: Arc::clone(&shelf) as _,
            watch: Arc::clone(&shelf) as _,
            intents: shelf,
            calls: Arc::new(Forgetful),
            sessions: Default::default(),
        };
        let failed = |why: String| Unrestored::Files { folder: place.root.clone(), why, safety: None };
        let manifest = Manifest::fetch(hash, &ports).await.map_err(failed)?;
        let prepared =
            checkpoint::prepare(&manifest, &place, &ports, &CancellationToken::new()).await.map_err(failed)?;
        let safety = prepared.safety().hash.clone();
        // On record before anything is touched: whatever happens now, the way back is known.
        let text = format!("brings the working folder back to checkpoint `{to}`; as it was before: {safety}");
        held.note(by, &text).await?;
        match prepared.restore().await {
            Ok(done) => {
                let folder = place.root.clone();
                Ok(Restored { folder, written: done.written, removed: done.removed, safety })
            }
            Err(why) => {
                held.note(by, &format!("the working folder was not brought back to `{to}`: {why}")).await?;
                Err(Unrestored::Files { folder: place.root.clone(), why, safety: Some(safety) })
            }
        }
    }
}

/// What restoring needs of the store: nothing is watched, and nothing has to be taken back later.
struct Shelf {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

#[async_trait]
impl Keep for Shelf {
    async fn put(&self, bytes: Vec<u8>) -> Result<String, KeepError> {
        let kept = self.store.put_blob(bytes, self.clock.now()).await;
        kept.map(|hash| hash.to_string()).map_err(|error| KeepError::Store { why: error.to_string() })
    }

    async fn get(&self, hash: &str) -> Result<Vec<u8>, KeepError> {
        let unknown = || KeepError::Unknown { hash: hash.to_owned() };
        let parsed: Hash = hash.parse().map_err(|_| unknown())?;
        let found = self.store.get_blob(parsed).await.map_err(|error| KeepError::Store { why: error.to_string() })?;
        found.ok_or_else(unknown)
    }
}

impl Watch for Shelf {
    fn output(&self, _: Chunk) {}
    fn alive(&self, _: String, _: Vec<ArtifactRef>) {}
}

#[async_trait]
impl Intents for Shelf {
    async fn intend(&self, _: Value) -> Result<(), KeepError> {
        Ok(())
    }
    async fn intend_instead(&self, _: Value) -> Result<(), KeepError> {
        Ok(())
    }
}
