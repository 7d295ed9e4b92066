//! Going back to a checkpoint.

use gantry_core::effect::{ArtifactRef, Failure};
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
    prepare(manifest, place, ports, stop).await?.restore().await
}

/// Everything that going back needs, fetched and kept. Nothing is touched yet.
pub struct Prepared {
    place: Place,
    manifest: Manifest,
    safety: ArtifactRef,
    /// What is written, by path.
    images: Vec<(String, Image)>,
    /// What is removed.
    gone: Vec<String>,
}

/// Keeps the working folder as it is, and fetches what a checkpoint needs.
pub async fn prepare(
    manifest: &Manifest,
    place: &Place,
    ports: &Ports,
    stop: &CancellationToken,
) -> Result<Prepared, String> {
    let ports = &redacting(ports, &place.secrets);
    let words = |failure: Failure| failure.message;
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
    let gone = now.files.keys().filter(|path| !stays(path, manifest)).cloned().collect();
    Ok(Prepared { place: place.clone(), manifest: manifest.clone(), safety, images, gone })
}

impl Prepared {
    /// The working folder as it was kept, to go back from going back.
    pub fn safety(&self) -> &ArtifactRef {
        &self.safety
    }

    /// Brings the working folder back.
    pub async fn restore(self) -> Result<Restored, String> {
        let Self { place, manifest, safety, images, gone } = self;
        let change = move || {
            let root = Root::of(&place).open()?;
            let (written, removed) = (images.len(), gone.len());
            for path in &gone {
                if let Some(spot) = root.spot(path)? {
                    spot.put(&Image::Absent, "restore")?;
                }
            }
            // A folder may stand where a file was: it is empty by now, unless something in it is ignored.
            remove_empty(&root, &place.root, &manifest)?;
            for (path, image) in &images {
                root.make_spot(path)?.put(image, "restore")?;
            }
            for folder in &manifest.empty_folders {
                root.make_spot(&format!("{folder}/."))?;
            }
            Ok((written, removed))
        };
        let (written, removed) = blocking(change).await.map_err(|failure: Failure| failure.message)?;
        Ok(Restored { written, removed, safety })
    }
}

fn stays(path: &str, manifest: &Manifest) -> bool {
    manifest.files.contains_key(path) || manifest.left_out.contains_key(path)
}

/// Removes folders that are empty now and were not there then, the innermost first: what is below a folder has a longer
/// name that begins alike, so it comes later in order.
fn remove_empty(root: &Root, path: &std::path::Path, manifest: &Manifest) -> Result<(), Failure> {
    for folder in list(path)?.folders.iter().rev().filter(|folder| !manifest.empty_folders.contains(*folder)) {
        root.remove_folder(folder)?;
    }
    Ok(())
}
