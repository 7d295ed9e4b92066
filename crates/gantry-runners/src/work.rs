//! One piece of work and the place where it is done.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use gantry_core::effect::{Failure, StartAttempt};
use gantry_core::event::Outputs;
use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::plan::{Action, Output, Tool, Undo};
use gantry_core::policy::{Budget, Policy, Usage};
use gantry_core::time::Duration;
use gantry_llm::gateway::Allowance;
use serde_json::{Map, Value};

use crate::files::Foreseen;
use crate::policy::{Scopes, forbidden};
use crate::secrets::Secrets;

/// Everything that a runner needs to know about one attempt.
#[derive(Clone, Debug)]
pub struct Work {
    /// The plan.
    pub plan: PlanId,
    /// The task.
    pub task: TaskId,
    /// Which attempt.
    pub attempt: AttemptNo,
    /// The idempotency key of the work.
    pub key: String,
    /// What to do.
    pub action: Action,
    /// What to work on, resolved; the arguments of a tool are the object `args`.
    pub inputs: Outputs,
    /// What the attempt before was told or did wrong.
    pub feedback: Option<String>,
    /// What it may spend at most, where that is limited.
    pub reserved: Usage,
    /// What it may spend at most, of every budget around it.
    pub may_spend: Budget,
    /// From which it pays for models, together with others that run at the same time.
    pub purse: Arc<Allowance>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// How often to report that it is alive.
    pub heartbeat: Option<Duration>,
    /// Variables that its process sees.
    pub environment: BTreeMap<String, String>,
    /// How its task is taken back: with `restore`, what is there before has to be kept.
    pub undo: Undo,
    /// What it is for, for those who read.
    pub brief: Arc<Brief>,
}

/// What an attempt may spend.
#[derive(Clone, Debug, Default)]
pub struct Paying {
    /// At most, of every budget around it.
    pub may_spend: Budget,
    /// From which it pays.
    pub purse: Arc<Allowance>,
}

/// What a task is for and what is expected of it, in words: for models, and for people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Brief {
    /// What the plan is to reach.
    pub objective: String,
    /// What holds for the whole plan.
    pub constraints: Vec<String>,
    /// What the task is called.
    pub title: String,
    /// What it is about, as far as its action does not say so.
    pub description: String,
    /// What it is to hand over.
    pub outputs: BTreeMap<String, Output>,
    /// The artifacts that it is to make, by name.
    pub artifacts: Vec<String>,
    /// What its result is checked against.
    pub criteria: Vec<String>,
}

impl Work {
    /// Makes the work of an attempt that the core wishes for.
    pub fn of(plan: PlanId, start: StartAttempt, undo: Undo, paying: Paying, brief: Arc<Brief>) -> Self {
        let StartAttempt { task, attempt, key, action, inputs, feedback, reserved, timeout, heartbeat, environment } =
            start;
        Self {
            plan,
            task,
            attempt,
            key,
            action,
            inputs,
            feedback,
            reserved,
            may_spend: paying.may_spend,
            purse: paying.purse,
            timeout,
            heartbeat,
            environment,
            undo,
            brief,
        }
    }

    /// The same attempt with another action, for a verification or a part of a pipeline.
    #[must_use]
    pub fn doing(&self, action: Action) -> Self {
        Self { action, ..self.clone() }
    }

    /// The same attempt calling one capability with these arguments.
    #[must_use]
    pub fn calling(&self, name: &str, args: Map<String, Value>) -> Self {
        let mut work = self.doing(Action::Tool(Tool { name: name.to_owned(), args: BTreeMap::new() }));
        work.inputs.insert("args".to_owned(), Value::Object(args));
        work
    }

    /// The arguments of the tool that is called.
    pub fn args(&self) -> Map<String, Value> {
        match self.inputs.get("args") {
            Some(Value::Object(args)) => args.clone(),
            Some(_) | None => Map::new(),
        }
    }
}

/// Where work is done, and what is allowed there.
#[derive(Clone, Debug)]
pub struct Place {
    /// The working folder; every path of a plan is inside it.
    pub root: PathBuf,
    /// What the plan may touch.
    pub policy: Arc<Policy>,
    /// What the plans around it may touch, the nearest first: a part may never do what the whole may not.
    pub above: Vec<Arc<Policy>>,
    /// How processes are confined.
    pub sandbox: Sandbox,
    /// What must never be seen.
    pub secrets: Secrets,
    /// Variables that every process sees, from the operator.
    pub environment: BTreeMap<String, String>,
    /// How much is kept, and how long is waited.
    pub limits: Limits,
    /// The engine's own files, wherever they are: in the working folder they are neither kept nor restored.
    pub own_files: Vec<PathBuf>,
    /// What previews see of the previews before them.
    pub foreseen: Foreseen,
}

impl Place {
    /// A folder with the default policy: all of the folder, no network, any command, sandboxed where possible.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            policy: Arc::new(Policy::default()),
            above: Vec::new(),
            sandbox: Sandbox::default(),
            secrets: Secrets::none(),
            environment: BTreeMap::new(),
            limits: Limits::default(),
            own_files: Vec::new(),
            foreseen: Foreseen::default(),
        }
    }

    /// The engine's own files in the working folder, as paths below it.
    pub(crate) fn own_paths(&self) -> BTreeSet<String> {
        let Ok(root) = self.root.canonicalize() else { return BTreeSet::new() };
        let below = |path: &PathBuf| {
            let file = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
            file.strip_prefix(&root).ok()?.to_str().map(str::to_owned)
        };
        self.own_files.iter().filter_map(below).collect()
    }
}

impl Place {
    /// Says no to a path that may not be read here.
    pub(crate) fn may_read(&self, path: &str) -> Result<(), Failure> {
        self.policies().try_for_each(|policy| Scopes::of(policy)?.may_read(path))?;
        self.is_not_own(path)
    }

    /// Says no to a path that may not be written here.
    pub(crate) fn may_write(&self, path: &str) -> Result<(), Failure> {
        self.policies().try_for_each(|policy| Scopes::of(policy)?.may_write(path))?;
        self.is_not_own(path)
    }

    /// Says no to the record: even to open it takes away the locks that this process has on it.
    fn is_not_own(&self, path: &str) -> Result<(), Failure> {
        if !self.own_paths().contains(path) {
            return Ok(());
        }
        Err(forbidden(format!(
            "`{path}` is the record that this plan is kept in, or a part of it; nobody else may open it"
        )))
    }

    /// Every policy that holds here; all of them have to agree.
    pub fn policies(&self) -> impl Iterator<Item = &Policy> {
        std::iter::once(&self.policy).chain(&self.above).map(|policy| &**policy)
    }

    /// Tells whether anything may be sent anywhere.
    pub fn has_network(&self) -> bool {
        self.policies().all(|policy| !policy.network.allow.is_empty())
    }
}

/// How processes are confined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// How much it matters.
    pub mode: SandboxMode,
    /// Folders and files outside the working folder that processes may read and run.
    pub read_also: Vec<PathBuf>,
    /// Folders outside the working folder that processes may write.
    pub write_also: Vec<PathBuf>,
}

/// How much confinement matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxMode {
    /// Without full confinement nothing runs.
    Required,
    /// As much as the kernel can do; what was reached is reported.
    #[default]
    BestEffort,
    /// None.
    Off,
}

/// How much is kept, and how long is waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How much of the end of each stream goes into the outputs.
    pub tail_bytes: usize,
    /// How much of each stream is kept as an artifact; the middle of what is longer is left out.
    pub stream_bytes_max: usize,
    /// How much new output makes a part that is handed in early.
    pub part_bytes: usize,
    /// How long new output waits at most before it is handed in early.
    pub part_every: std::time::Duration,
    /// How long a process has to end after it took too long.
    pub grace: std::time::Duration,
    /// How long it has when someone stopped it: everything is to be still within a second.
    pub cancel_grace: std::time::Duration,
    /// The largest file that is read, written or kept.
    pub file_bytes_max: u64,
    /// How much a checkpoint keeps in all.
    pub checkpoint_bytes_max: u64,
    /// The largest file that is downloaded.
    pub download_bytes_max: u64,
    /// The largest database that is kept before it is changed, so that it can be taken back.
    pub database_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tail_bytes: 8 << 10,
            stream_bytes_max: 16 << 20,
            part_bytes: 256 << 10,
            part_every: std::time::Duration::from_secs(10),
            grace: std::time::Duration::from_secs(2),
            cancel_grace: std::time::Duration::from_millis(400),
            file_bytes_max: 16 << 20,
            checkpoint_bytes_max: 256 << 20,
            download_bytes_max: 4 << 30,
            database_bytes_max: 64 << 20,
        }
    }
}
