//! Taking a checkpoint.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use tokio_util::sync::CancellationToken;

use super::Manifest;
use super::environment::environment;
use crate::files::{Image, Kept, Root, blocking};
use crate::ports::Ports;
use crate::work::Place;

/// More files than this are no working folder that a plan could be about.
const FILES_MAX: usize = 200_000;

/// Keeps the working folder as it is now.
pub async fn capture(place: &Place, ports: &Ports, stop: &CancellationToken) -> Result<Manifest, Failure> {
    let environment = environment(place).await;
    Ok(Manifest { environment, ..capture_files(place, ports, stop, &Manifest::default()).await? })
}

/// Keeps the files of the working folder; what another manifest has is kept already.
pub(crate) async fn capture_files(
    place: &Place,
    ports: &Ports,
    stop: &CancellationToken,
    known: &Manifest,
) -> Result<Manifest, Failure> {
    let mut manifest = Manifest::default();
    let path = place.root.clone();
    let Listing { paths, mut empty_folders, mut left_out } = blocking(move || list(&path)).await?;
    let own = place.own_paths();
    let mut total: u64 = 0;
    for path in paths.into_iter().filter(|path| !own.contains(path)) {
        if stop.is_cancelled() {
            return Err(Failure::new(FailureClass::Cancelled, "it was stopped"));
        }
        let (root, wanted) = (Root::of(place), path.clone());
        let image = match blocking(move || root.open()?.image(&wanted)).await {
            Ok(image) => image,
            Err(failure) => {
                left_out.insert(path, failure.message);
                continue;
            }
        };
        match &image {
            Image::File { bytes, .. } => {
                let size = bytes.len() as u64;
                if total + size > place.limits.checkpoint_bytes_max {
                    left_out.insert(path, format!("{size} bytes more are too many for one checkpoint"));
                    continue;
                }
                total += size;
            }
            Image::Link { .. } => {}
            Image::Absent => continue, // gone meanwhile
            Image::Folder | Image::Other => {
                left_out.insert(path, "it is no plain file".to_owned());
                continue;
            }
        }
        let kept = match known.files.get(&path).filter(|known| known.is_exactly(&image)) {
            Some(known) => known.clone(),
            None => Kept::keep(&image, &place.secrets, ports).await?,
        };
        manifest.files.insert(path, kept);
    }
    empty_folders.retain(|folder| !manifest.files.keys().chain(left_out.keys()).any(|path| below(path, folder)));
    (manifest.empty_folders, manifest.left_out) = (empty_folders, left_out);
    Ok(manifest)
}

fn below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// What is in a folder and not ignored.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) paths: BTreeSet<String>,
    pub(super) empty_folders: BTreeSet<String>,
    pub(super) left_out: BTreeMap<String, String>,
}

/// Lists a folder, without what is ignored. Links are not followed.
pub(super) fn list(root: &Path) -> Result<Listing, Failure> {
    let mut listing = Listing::default();
    let walk = ignore::WalkBuilder::new(root)
        .hidden(false)
        .follow_links(false)
        .parents(false) // what is above the working folder has no say in it
        .git_global(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                listing.left_out.insert(format!("({})", listing.left_out.len()), error.to_string());
                continue;
            }
        };
        let Ok(path) = entry.path().strip_prefix(root) else { continue };
        if path.as_os_str().is_empty() {
            continue;
        }
        let Some(path) = path.to_str().filter(|path| !path.chars().any(char::is_control)) else {
            listing
                .left_out
                .insert(path.to_string_lossy().escape_debug().to_string(), "its name is no plain text".to_owned());
            continue;
        };
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            listing.empty_folders.insert(path.to_owned());
        } else {
            listing.paths.insert(path.to_owned());
        }
        if listing.paths.len() > FILES_MAX {
            let message =
                format!("the working folder has more than {FILES_MAX} files; ignore what is made (`.gitignore`)");
            return Err(Failure::new(FailureClass::Logic, message));
        }
    }
    // A folder with a folder in it is not empty.
    let folders = listing.empty_folders.clone();
    listing.empty_folders.retain(|folder| !folders.iter().any(|other| below(other, folder)));
    Ok(listing)
}
