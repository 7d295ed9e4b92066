//! What whoever starts the engine decides about it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gantry_runners::work::Sandbox;
use gantry_runners::{Limits, Secrets};

/// How this process works on plans.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who sits at it.
    pub operator: String,
    /// How many attempts may run at once, of all plans.
    pub attempts_max: u32,
    /// How many attempts that use a capability may run at once, of all plans, by its name. A plan inside a task
    /// (`plan`) takes no room itself, so that no limit holds it up.
    pub capabilities: BTreeMap<String, u32>,
    /// How processes are confined.
    pub sandbox: Sandbox,
    /// What must never be seen.
    pub secrets: Secrets,
    /// Variables that every process of a task sees.
    pub environment: BTreeMap<String, String>,
    /// How much is kept, and how long is waited.
    pub limits: Limits,
    /// Its own files, such as the record: in a working folder they are neither kept nor restored.
    pub own_files: Vec<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            operator: "operator".to_owned(),
            attempts_max: 1_024,
            capabilities: BTreeMap::new(),
            sandbox: Sandbox::default(),
            secrets: Secrets::none(),
            environment: BTreeMap::new(),
            limits: Limits::default(),
            own_files: Vec::new(),
        }
    }
}
