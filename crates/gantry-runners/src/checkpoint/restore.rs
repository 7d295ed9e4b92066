//! Going back to a checkpoint.

use gantry_core::effect::ArtifactRef;
use tokio_util::sync::CancellationToken;

use super::capture::list;
use super::{Manifest, capture};
use crate::files::{Image, Root, blocking};
use crate::ports::Ports;
use crate::redacting::redacting;
use crate::work::Place;

/// What going back did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// How many files and links were written.
    pub written: usize,
    /// How many were removed.
    pub removed: usize,
    /// The working folder as it was just before, to go back from going back.
    pub safety: ArtifactRef,
}

/// Brings the working folder back to a checkpoint. What is ignored, and what was left out then, stays as it is.
///
/// Everything is fetched before anything is touched: a damaged checkpoint changes nothing.
pub async fn restore(
    manifest: &Manifest,
    place: &Place,
    ports: &Ports,
    stop: &CancellationToken,
) -> Result<Restored, String> {
    let ports = &redacting(ports, &place.secrets);
    let words = |failure: gantry_core::effect::Failure| failure.message;
    let now = capture(place, ports, stop).await.map_err(words)?;
    // What a checkpoint cannot hold, it cannot bring back either.
    let unsafe_loss = now.left_out.keys().find(|path| manifest.files.contains_key(*path));
    if let Some(path) = unsafe_loss {
        return Err(format!("`{path}` cannot be kept as it is now ({}), so it is not replaced", now.left_out[path]));
    }
    let safety = now.keep(ports).await.map_err(words)?;
    let own = place.own_paths();
    let mut images = Vec::new();
    for (path, kept) in manifest.files.iter().filter(|(path, _)| !own.contains(*path)) {
        if now.files.get(path) != Some(kept) {
            images.push((path.clone(), kept.fetch(path, &place.secrets, ports).await?));
        }
    }
    let gone: Vec<String> = now.files.keys().filter(|path| !stays(path, manifest)).cloned().collect();
    let (folders, kept_folders) = (now.empty_folders.clone(), manifest.clone());
    let root = Root::of(place);
    let path = place.root.clone();
    let change = move || {
        let root = root.open()?;
        let (written, removed) = (images.len(), gone.len());
        for path in &gone {
            if let Some(spot) = root.spot(path)? {
                spot.put(&Image::Absent, "restore")?;
            }
        }
        for folder in &folders {
            root.remove_folder(folder)?;
        }
        // A folder may stand where a file was: it is empty by now, unless something in it is ignored.
        remove_empty(&root, &path, &kept_folders)?;
        for (path, image) in &images {
            root.make_spot(path)?.put(image, "restore")?;
        }
        for folder in &kept_folders.empty_folders {
            root.make_spot(&format!("{folder}/."))?;
        }
        Ok((written, removed))
    };
    let (written, removed) = blocking(change).await.map_err(words)?;
    Ok(Restored { written, removed, safety })
}

fn stays(path: &str, manifest: &Manifest) -> bool {
    manifest.files.contains_key(path) || manifest.left_out.contains_key(path)
}

/// Removes folders that are empty now and were not there then, the innermost first.
fn remove_empty(root: &Root, path: &std::path::Path, manifest: &Manifest) -> Result<(), gantry_core::effect::Failure> {
    loop {
        let empty = list(path)?.empty_folders;
        let wanted = |folder: &String| manifest.empty_folders.contains(folder);
        let mut removed = false;
        for folder in empty.iter().filter(|folder| !wanted(folder)) {
            let before = root.image(folder)?;
            root.remove_folder(folder)?;
            removed |= root.image(folder)? != before;
        }
        if !removed {
            return Ok(());
        }
    }
}
