//! Artifacts: outputs kept by content hash, found by plan, task, name and version.

use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Hash;

/// The largest blob that is kept, in bytes.
pub const BLOB_BYTES_MAX: u64 = 256 << 20;

/// An artifact as it is handed in; the store gives it its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewArtifact {
    /// The task that made it.
    pub task: TaskId,
    /// What it is called.
    pub name: String,
    /// The hash of its content, whose blob is stored already.
    pub hash: Hash,
    /// How many bytes it has.
    pub bytes: u64,
    /// Its media type, such as `text/markdown`.
    pub media: String,
    /// The attempt that made it.
    pub attempt: AttemptNo,
    /// When.
    pub at: Timestamp,
    /// What made it: a runner, a model, a person.
    pub made_by: String,
}

impl NewArtifact {
    /// Returns the name of the whole that it is a part of, while that still grows: `stdout` for `stdout.part-3`.
    pub fn whole_name(&self) -> Option<&str> {
        let (whole, number) = self.name.rsplit_once(".part-")?;
        number.parse::<u32>().ok().map(|_| whole)
    }
}

/// One version of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRow {
    /// The plan.
    pub plan: PlanId,
    /// 1 for the first of this plan, task and name, then 2, 3, …
    pub version: u32,
    /// Everything else.
    #[serde(flatten)]
    pub artifact: NewArtifact,
}

impl ArtifactRow {
    /// Returns how it is called from anywhere: `plan/task/name@version`.
    pub fn reference(&self) -> String {
        format!("{}/{}/{}", self.plan, self.artifact.task, self.versioned_name())
    }

    /// Returns how it is called within its task: `name@version`.
    pub fn versioned_name(&self) -> String {
        format!("{}@{}", self.artifact.name, self.version)
    }
}
