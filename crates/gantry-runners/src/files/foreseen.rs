//! What files would be after everything that was previewed so far, so that previews build on each other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Change, Image};

/// What files would be; nothing outside of a walk of previews.
#[derive(Clone, Debug, Default)]
pub struct Foreseen(Option<Arc<Mutex<BTreeMap<String, Image>>>>);

impl Foreseen {
    /// Begins a walk: each preview sees what those before it would have done.
    pub fn begin() -> Self {
        Self(Some(Arc::default()))
    }

    fn images(&self) -> Option<MutexGuard<'_, BTreeMap<String, Image>>> {
        // Each entry is whole after every statement, so a panic elsewhere leaves nothing half done.
        self.0.as_ref().map(|images| images.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What would be at a path, if a preview said something about it.
    pub(crate) fn image(&self, path: &str) -> Option<Image> {
        let images = self.images()?;
        let below = format!("{path}/");
        let is_folder = || {
            let inside = images.range(below.clone()..).take_while(|(name, _)| name.starts_with(&below));
            inside.into_iter().any(|(_, image)| *image != Image::Absent)
        };
        images.get(path).cloned().or_else(|| is_folder().then_some(Image::Folder))
    }

    /// Whether previews before this one would have changed files.
    pub(crate) fn has_changes(&self) -> bool {
        self.images().is_some_and(|images| !images.is_empty())
    }

    /// Takes note of what a preview said.
    pub(crate) fn note(&self, changes: &[Change]) {
        if let Some(mut images) = self.images() {
            images.extend(changes.iter().map(|change| (change.path.clone(), change.after.clone())));
        }
    }
}
