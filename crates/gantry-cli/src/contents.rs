//! Contents that a plan refers to by their hash alone: what checkpoints hold, and what ways back need.
//!
//! They are no artifacts, so the store knows of no one who needs them; whoever copies or cleans up has to ask here.

use std::collections::BTreeSet;

use gantry_core::event::Event;
use gantry_core::id::PlanId;
use gantry_runners::checkpoint;
use gantry_store::{EffectRow, Hash, PAGE_ITEMS_MAX, Store};
use serde_json::Value;

use crate::artifact;
use crate::exit::Fault;

/// Everything that a plan refers to by its hash alone, as far as it is there.
pub async fn referred(store: &dyn Store, id: &PlanId) -> Result<BTreeSet<Hash>, Fault> {
    let (mut found, mut manifests) = (BTreeSet::new(), BTreeSet::new());
    for call in calls(store, id).await? {
        hashes_in(&call.request, &mut found);
    }
    let checkpoints = artifact::all(store, id).await?.into_iter();
    manifests.extend(checkpoints.filter(|row| row.artifact.name == checkpoint::MANIFEST).map(|row| row.artifact.hash));
    // What a folder was before it was restored is known from a note alone.
    for entry in gantry_engine::entries(store, id).await? {
        if let Event::NoteAdded { text, .. } = &entry.event {
            manifests.extend(text.split_whitespace().filter_map(|word| word.parse::<Hash>().ok()));
        }
    }
    for hash in manifests {
        if let Some(body) = store.get_blob(hash).await? {
            found.insert(hash);
            if let Ok(manifest) = serde_json::from_slice(&body) {
                hashes_in(&manifest, &mut found);
            }
        }
    }
    Ok(found)
}

/// The calls to the outside of a plan.
pub async fn calls(store: &dyn Store, id: &PlanId) -> Result<Vec<EffectRow>, Fault> {
    let (mut rows, mut cursor) = (Vec::new(), 0);
    loop {
        let page = store.effects(id, None, cursor, PAGE_ITEMS_MAX).await?;
        rows.extend(page.items);
        match page.next {
            Some(next) => cursor = next,
            None => return Ok(rows),
        }
    }
}

/// The hashes that stand in a value.
fn hashes_in(value: &Value, found: &mut BTreeSet<Hash>) {
    match value {
        Value::String(text) => found.extend(text.parse::<Hash>()),
        Value::Array(items) => items.iter().for_each(|item| hashes_in(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| hashes_in(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
