//! Checkpoints of the working folder: what the one before kept, and those that the policy wants after each task.

use std::sync::{Mutex, PoisonError};

use gantry_core::effect::{ArtifactRef, Failure};
use gantry_core::id::PlanId;
use gantry_core::input::Success;
use gantry_runners::checkpoint::{MANIFEST, capture};
use gantry_runners::{Place, Ports};
use gantry_store::{Store, StoreError, all_artifacts};
use tokio_util::sync::CancellationToken;

/// The newest checkpoint that is known of a plan. Written when an attempt ends, read by the next that makes one; held
/// for a look, never while waiting.
#[derive(Default)]
pub(crate) struct LastCheckpoint(Mutex<Option<String>>);

impl LastCheckpoint {
    /// What the next checkpoint is compared with: none before the first, or when what the last one kept is gone.
    pub(crate) async fn hash(&self, store: &dyn Store, plan: &PlanId, ports: &Ports) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let hash = match known {
            Some(hash) => Some(hash),
            // Without it everything counts as changed, which is no reason to fail.
            None => newest(store, plan).await.unwrap_or_default(),
        }?;
        ports.keep.get(&hash).await.is_ok().then_some(hash)
    }

    /// Remembers a checkpoint among what an attempt made.
    pub(crate) fn note(&self, end: &Result<Success, Failure>) {
        let made = |artifact: &&ArtifactRef| artifact.name == MANIFEST;
        if let Some(artifact) = end.as_ref().ok().and_then(|success| success.artifacts.iter().find(made)) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(artifact.hash.clone());
        }
    }
}

async fn newest(store: &dyn Store, plan: &PlanId) -> Result<Option<String>, StoreError> {
    let rows = all_artifacts(store, plan).await?;
    let last = rows.iter().rev().find(|row| row.artifact.name == MANIFEST);
    Ok(last.map(|row| row.artifact.hash.to_string()))
}

/// Keeps the working folder as a task left it. The task is done even where that cannot be kept, which is said then.
pub(crate) async fn keep_after(
    end: Result<Success, Failure>,
    place: &Place,
    ports: &Ports,
    stop: &CancellationToken,
) -> Result<Success, Failure> {
    let mut success = end?;
    let kept = match capture(place, ports, stop).await {
        Ok(manifest) => manifest.keep(ports).await,
        Err(failure) => Err(failure),
    };
    match kept {
        Ok(artifact) => success.artifacts.push(artifact),
        Err(failure) => {
            let lacks = format!("the working folder could not be kept after it: {}", failure.message);
            success.shortfall = Some(success.shortfall.map_or(lacks.clone(), |other| format!("{other}; {lacks}")));
        }
    }
    Ok(success)
}
