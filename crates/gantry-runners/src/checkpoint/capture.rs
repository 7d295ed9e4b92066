//! Taking a checkpoint.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use tokio_util::sync::CancellationToken;

use super::Manifest;
use super::environment::environment;
use crate::files::{Image, Kept, Root, blocking, no_link};
use crate::ports::Ports;
use crate::work::Place;

/// More files and folders than this are no working folder that a plan could be about.
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
    no_link(&path)?;
    let Listing { paths, folders, mut left_out } = blocking(move || list(&path)).await?;
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
    manifest.left_out = left_out;
    let find_empty = move || {
        manifest.empty_folders = empty(&folders, manifest.files.keys().chain(manifest.left_out.keys()));
        Ok(manifest)
    };
    blocking(find_empty).await
}

/// The folders with nothing in them: neither another folder nor any of these paths.
fn empty<'p>(folders: &'p BTreeSet<String>, paths: impl Iterator<Item = &'p String>) -> BTreeSet<String> {
    let filled: BTreeSet<&str> = paths.chain(folders).filter_map(|path| Some(path.rsplit_once('/')?.0)).collect();
    folders.iter().filter(|folder| !filled.contains(folder.as_str())).cloned().collect()
}

/// What is in a folder and not ignored.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) paths: BTreeSet<String>,
    pub(super) folders: BTreeSet<String>,
    pub(super) left_out: BTreeMap<String, String>,
}

/// Lists a folder, without what is ignored. Links are not followed.
pub(super) fn list(root: &Path) -> Result<Listing, Failure> {
    list_up_to(root, FILES_MAX)
}

fn list_up_to(root: &Path, files_max: usize) -> Result<Listing, Failure> {
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
            listing.folders.insert(path.to_owned());
        } else {
            listing.paths.insert(path.to_owned());
        }
        if listing.paths.len() + listing.folders.len() > files_max {
            let message = format!(
                "the working folder has more than {files_max} files and folders; ignore what is made (`.gitignore`)"
            );
            return Err(Failure::new(FailureClass::Logic, message));
        }
    }
    Ok(listing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_empty_when_neither_a_folder_nor_a_file_is_in_it() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
        let folders = names(&["a", "a/b", "a-b", "c", "c/d", "c/d/e", "f"]);
        let files = names(&["c/d/e/file", "f/left-out", "top"]);
        assert_eq!(empty(&folders, files.iter()), names(&["a/b", "a-b"]));
    }

    #[test]
    fn many_folders_take_no_longer_than_as_many_files() {
        // Every folder compared with every other would be ten thousand million comparisons.
        let folders: BTreeSet<String> = (0..100_000).map(|no| format!("{:02}/{no}", no % 100)).collect();
        let files: Vec<String> = folders.iter().step_by(2).map(|folder| format!("{folder}/file")).collect();
        assert_eq!(empty(&folders, files.iter()).len(), 50_000);
    }

    #[test]
    fn folders_count_like_files() {
        let root = tempfile::tempdir().unwrap();
        for name in ["a", "a/b", "c"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        std::fs::write(root.path().join("file"), "").unwrap();
        assert!(list_up_to(root.path(), 4).is_ok());
        assert!(list_up_to(root.path(), 3).unwrap_err().message.contains("more than 3 files and folders"));
    }
}
