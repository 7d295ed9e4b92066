//! `checkpoint`: the working folder as it is now, so that it can be brought back byte for byte.
//!
//! Everything that git would track is kept, by content, so that what did not change costs nothing: `.gitignore` and
//! `.ignore` are honoured, `.git` itself is not touched. What is too large is left out and named. Going back to a checkpoint makes
//! another one first, removes files that did not exist then, and restores the rest.

mod capture; // in reading order
mod environment;
mod restore;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use gantry_core::effect::{ArtifactRef, Failure};
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::plan::Action;
use gantry_core::policy::FailureClass;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub use capture::capture;
pub(crate) use capture::capture_files;
pub use restore::{Prepared, Restored, prepare, restore};

use crate::files::Kept;
use crate::ports::Ports;
use crate::runner::{Ended, Happened, Preview, Runner};
use crate::work::{Place, Work};

/// What the artifact of a checkpoint is called.
pub const MANIFEST: &str = "checkpoint";
/// The input with the hash of the checkpoint to compare with.
pub const SINCE: &str = "since";

/// A working folder at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Every file and link, by path.
    pub(crate) files: BTreeMap<String, Kept>,
    /// Folders without anything in them.
    pub(crate) empty_folders: BTreeSet<String>,
    /// What is not in it, and why.
    pub(crate) left_out: BTreeMap<String, String>,
    /// The machine and its tools.
    pub(crate) environment: BTreeMap<String, String>,
}

impl Manifest {
    /// How many files and links it has.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// What is not in it, and why, by path.
    pub fn left_out(&self) -> &BTreeMap<String, String> {
        &self.left_out
    }

    /// The machine and its tools at that moment.
    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    /// The paths that are not the same in another manifest.
    pub fn changed_since<'m>(&'m self, before: &'m Self) -> BTreeSet<&'m str> {
        let changed = self.files.iter().filter(|(path, kept)| before.files.get(*path) != Some(kept));
        let gone = before.files.keys().filter(|path| !self.files.contains_key(*path));
        changed.map(|(path, _)| path).chain(gone).map(String::as_str).collect()
    }

    /// Keeps the manifest itself.
    pub async fn keep(&self, ports: &Ports) -> Result<ArtifactRef, Failure> {
        let bytes = serde_json::to_vec(self).map_err(|error| Failure::new(FailureClass::Logic, error.to_string()))?;
        Ok(ports.keep_as(MANIFEST, bytes).await?)
    }

    /// Fetches a manifest.
    pub async fn fetch(hash: &str, ports: &Ports) -> Result<Self, String> {
        let bytes = ports.keep.get(hash).await.map_err(|error| error.to_string())?;
        serde_json::from_slice(&bytes).map_err(|error| format!("`{hash}` is no checkpoint: {error}"))
    }
}

/// Keeps the working folder. The input `since` may hold the hash of an earlier checkpoint to compare with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checkpoints;

#[async_trait]
impl Runner for Checkpoints {
    fn names(&self) -> &'static [&'static str] {
        &["checkpoint"]
    }

    fn guard(&self, _work: &Work, _place: &Place) -> Result<(), Failure> {
        Ok(())
    }

    async fn preview(&self, _work: &Work, place: &Place) -> Result<Preview, Failure> {
        let text = format!("would keep `{}` as it is", place.root.display());
        Ok(Preview { text, diff: None })
    }

    async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        Ended::with(run(work, place, ports, stop).await)
    }

    /// Nothing outside changed.
    async fn undo(&self, _work: &Work, _place: &Place, _ports: &Ports, _record: &Value) -> Result<String, String> {
        Ok("a checkpoint changes nothing".to_owned())
    }

    /// Making it again does no harm, so it need not be known.
    async fn happened(&self, _work: &Work, _place: &Place, _ports: &Ports, _stop: &CancellationToken) -> Happened {
        Happened { happened: Some(false), outputs: Outputs::new() }
    }
}

async fn run(work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Result<Success, Failure> {
    let name = match &work.action {
        Action::Checkpoint(checkpoint) => checkpoint.name.clone(),
        _ => String::new(),
    };
    let call = ports.begin("checkpoint", json!({"name": name})).await?;
    let manifest = capture(place, ports, stop).await?;
    let artifact = manifest.keep(ports).await?;
    let since = work.inputs.get(SINCE).or_else(|| work.inputs.get("args")?.get(SINCE)).and_then(Value::as_str);
    let before = match since {
        Some(hash) => Manifest::fetch(hash, ports).await.map_err(|why| Failure::new(FailureClass::Logic, why))?,
        None => Manifest::default(),
    };
    let mut outputs = Outputs::new();
    outputs.insert("name".to_owned(), json!(name));
    outputs.insert("hash".to_owned(), json!(artifact.hash));
    outputs.insert("files".to_owned(), json!(manifest.count()));
    outputs.insert("changed".to_owned(), json!(manifest.changed_since(&before).len()));
    outputs.insert("left_out".to_owned(), json!(manifest.left_out));
    outputs.insert("environment".to_owned(), json!(manifest.environment));
    ports.calls.answered(call, json!({"hash": artifact.hash}));
    Ok(Success { outputs, artifacts: vec![artifact], ..Success::default() })
}
