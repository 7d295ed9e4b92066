//! Contents that a plan refers to by their hash alone: what checkpoints hold, and what ways back need.
//!
//! They are no artifacts; whoever copies a plan has to ask here.

use std::collections::BTreeSet;

use gantry_core::event::Event;
use gantry_core::id::PlanId;
use gantry_runners::checkpoint;
use gantry_store::kept::{hashes_in, listed_in};
use gantry_store::{EffectRow, Hash, Store, all_effects};

use crate::artifact;
use crate::exit::Fault;

/// Everything that a plan refers to by its hash alone, as far as it is there.
pub async fn referred(store: &dyn Store, id: &PlanId) -> Result<BTreeSet<Hash>, Fault> {
    let (mut found, mut manifests) = (BTreeSet::new(), BTreeSet::new());
    for call in calls(store, id).await? {
        manifests.extend(hashes_in(call.request.to_string().as_bytes()));
        let answer = call.answer.map(|answer| answer.to_string()).unwrap_or_default();
        manifests.extend(hashes_in(answer.as_bytes()));
    }
    let checkpoints = artifact::all(store, id).await?.into_iter();
    manifests.extend(checkpoints.filter(|row| row.artifact.name == checkpoint::MANIFEST).map(|row| row.artifact.hash));
    // What a folder was before it was restored is known from a note alone.
    for entry in gantry_engine::entries(store, id).await? {
        if let Event::NoteAdded { text, .. } = &entry.event {
            manifests.extend(hashes_in(text.as_bytes()));
        }
    }
    for hash in manifests {
        if let Some(body) = store.get_blob(hash).await? {
            found.insert(hash);
            found.extend(listed_in(&body));
        }
    }
    Ok(found)
}

/// The calls to the outside of a plan.
pub async fn calls(store: &dyn Store, id: &PlanId) -> Result<Vec<EffectRow>, Fault> {
    Ok(all_effects(store, id, None).await?)
}
